import json

import pytest
from scripted_study import scenario_item

from regatta_lib.base import ContractError
from regatta_lib.studies import SCENARIO_LINES, Scenario

SUITE = "t.S1.us_insurance.r1"


def scenarios(*numbers, text="m"):
    return [Scenario(SUITE, n, "d", text, "e", None, None) for n in numbers]


def test_rows_are_sorted_and_read_back(tmp_path):
    SCENARIO_LINES.write(scenarios(3, 1, 2), tmp_path / "s.jsonl")
    assert SCENARIO_LINES.read(tmp_path / "s.jsonl") == scenarios(1, 2, 3)


def test_text_is_written_in_normal_form_and_line_separators_do_not_split_rows(tmp_path):
    SCENARIO_LINES.write(scenarios(1, text="e\u0301\u2028a\u0085b\rc"), tmp_path / "s.jsonl")
    assert SCENARIO_LINES.read(tmp_path / "s.jsonl")[0].agent_input == "\u00e9\u2028a\u0085b\rc"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: [rows[1], rows[0]], "row 2 (t.S1.us_insurance.r1, 1) is not sorted after"),
        (lambda rows: [rows[0], rows[0]], "row 2 (t.S1.us_insurance.r1, 1) duplicates"),
        (lambda rows: [rows[0] | {"scenario": "one"}], "row 1, scenario: found 'one'"),
        (lambda rows: [rows[0] | {"adversarial_category": "x"}], "row 1, adversarial_category: found 'x'"),
        (lambda rows: [], "0 rows, expected at least 1"),
    ],
)
def test_a_wrong_file_is_one_clear_line(tmp_path, change, message):
    rows = [json.loads(line) for line in SCENARIO_LINES.text(scenarios(1, 2)).splitlines()]
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in change(rows)))
    with pytest.raises(ContractError) as caught:
        SCENARIO_LINES.read(path)
    assert message in str(caught.value) and str(path) in str(caught.value)


def test_a_line_that_is_no_json_is_named(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_text(SCENARIO_LINES.text(scenarios(1)) + "{torn\n")
    with pytest.raises(ContractError, match="row 2: not JSON"):
        SCENARIO_LINES.read(path)


def test_the_items_of_the_tests_are_scenarios():
    assert scenario_item(1)["slot"] == 1
