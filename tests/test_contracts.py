import time

import pandas as pd
import pytest

from regatta_lib.base import ContractError, contracts, file_text, paths, read_params, write_atomic, yaml_text, yaml_value
from regatta_lib.measures import ADVERSARIAL_TABLE, FAULT_TABLE, SUITE_TABLE

TEXT = "suite_id,category,covered\nsonnet4.S1.us_fintech.r1,prompt_injection,1\nsonnet4.S1.us_fintech.r1,role_confusion,0\n"
CONTRACT = contracts.Contract(ADVERSARIAL_TABLE.row, ADVERSARIAL_TABLE.key)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "adversarial.csv"
    path.write_bytes(TEXT.encode())
    return path


def test_read_and_write_round_trip(table):
    frame = CONTRACT.read(table)
    CONTRACT.write(frame.sample(frac=1, random_state=1), table)
    assert table.read_bytes() == TEXT.encode()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.replace("\n", "\r\n"), "row 1: CRLF line end, expected LF"),
        (lambda t: "\ufeff" + t, "byte order mark"),
        (lambda t: t.replace("covered", "cove\u0301red", 1), "not Unicode NFC"),
        (
            lambda t: t.replace("suite_id,category", "category,suite_id", 1),
            "header is category,suite_id,covered, expected suite_id",
        ),
        (lambda t: t.replace("injection,1", "injection,2"), "row 2, covered: found '2'"),
        (lambda t: t.replace("injection,1", "injection,"), "row 2, covered: found ''"),
        (lambda t: t.replace("injection,1", "injection,1.5"), "row 2, covered: found '1.5'"),
        (lambda t: t.replace("injection,1", "injection,1,1"), "row 2 has 4 cells, expected 3"),
        (lambda t: t.replace("role_confusion", "prompt_injection"), "row 3 .* duplicates the row before"),
        (lambda t: t.replace("role_confusion", "data_exfiltration"), "row 3 .* is not sorted after"),
        (lambda t: t.replace("role_confusion", "rudeness"), "row 3, category: found 'rudeness'"),
        (lambda t: t.replace(".r1,role", ".rx,role"), "row 3, suite_id: found"),
        (lambda t: t.splitlines(keepends=True)[0], "0 rows, expected at least 1"),
        (lambda t: "", "header is an empty file"),
    ],
)
def test_each_breach_is_one_line_that_names_file_and_row(table, change, message):
    table.write_bytes(change(TEXT).encode())
    with pytest.raises(ContractError, match=message) as caught:
        CONTRACT.read(table)
    assert str(table) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_fixed_count_is_enforced(table):
    with pytest.raises(ContractError, match="2 rows, expected 1,080"):
        ADVERSARIAL_TABLE.read(table)


def test_a_missing_file_and_bad_bytes_are_named(tmp_path):
    with pytest.raises(ContractError, match="missing"):
        CONTRACT.read(tmp_path / "none.csv")
    (tmp_path / "bytes.csv").write_bytes(b"\xff")
    with pytest.raises(ContractError, match="byte 0 is not UTF-8"):
        CONTRACT.read(tmp_path / "bytes.csv")


def test_a_refused_frame_leaves_the_file_as_it_was(table):
    broken = pd.DataFrame({"suite_id": ["x"], "category": ["role_confusion"], "covered": [1]})
    with pytest.raises(ContractError):
        CONTRACT.write(broken, table)
    assert table.read_bytes() == TEXT.encode()
    assert list(table.parent.iterdir()) == [table]


def test_missing_numbers_stay_missing(tmp_path):
    contract = contracts.Contract(FAULT_TABLE.row, FAULT_TABLE.key)
    path = tmp_path / "faults.csv"
    path.write_text("suite_id,fault_id,stage,detected,scenario\nsonnet4.S1.us_fintech.r1,FT-F1,design,0,\n")
    frame = contract.read(path)
    assert frame["scenario"].isna().all()
    contract.write(frame, path)
    assert path.read_text().endswith("design,0,\n")


@pytest.mark.parametrize("text", ["done: 2026-02-31", "? [a]\n: 1", "n: !!int x"])
def test_yaml_that_makes_no_value_is_one_line(tmp_path, text):
    (tmp_path / "a.yaml").write_text(text + "\n")
    with pytest.raises(ContractError, match=r"a\.yaml: ") as caught:
        yaml_value(tmp_path / "a.yaml")
    assert "\n" not in str(caught.value)


# A few hundred bytes that stand for 10^9 values.
BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{b}: &{b} [{', '.join([f'*{a}'] * 10)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (BOMB, "more than 500,000 values"),
        (f"a: {'[' * 60}{']' * 60}", "nested more than 40 deep"),
        ("a: &a\n- *a", "one to something unfinished: *a"),
        ("a: &a 1\nb:\n" + "- *a\n" * (yaml_text.MOST_ALIASES + 1), "more than 1,000 aliases"),
        ("a:\n  b: 1\n  c: 2\n  b: 1", "line 4: key 'b' occurs twice"),
        ("a: &k b\nb: 1\n*k : 2", "line 3: key 'b' occurs twice"),
    ],
)
def test_yaml_that_grows_or_repeats_a_key_is_refused_in_one_line_within_a_second(tmp_path, text, found):
    (tmp_path / "params.yaml").write_text(text + "\n")
    started = time.monotonic()
    with pytest.raises(ContractError) as caught:
        read_params(tmp_path / "params.yaml")
    assert time.monotonic() - started < 1
    assert str(caught.value).startswith(f"{tmp_path / 'params.yaml'}: ")
    assert found in str(caught.value) and "\n" not in str(caught.value)


def test_every_yaml_file_of_ours_is_within_the_bounds():
    own = [*paths.ROOT.glob("*.yaml"), paths.ROOT / "CITATION.cff", *(paths.ROOT / "data").rglob("*.yaml")]
    assert len(own) > 40
    for path in own:
        assert isinstance(yaml_value(path), dict), path


def test_a_folder_is_no_file_to_read_or_write(tmp_path):
    with pytest.raises(ContractError, match="expected a file that can be read"):
        file_text(tmp_path)
    with pytest.raises(ContractError, match="found no regular file"):
        write_atomic(tmp_path, "text")


def test_an_open_quotation_mark_is_one_line(tmp_path):
    text = SUITE_TABLE.read(paths.RECORD / "suites.csv").to_csv(index=False)
    with pytest.raises(ContractError, match="quotation mark"):
        SUITE_TABLE.parse(text.replace("\n", '\n"', 1) + "x" * 140_000, tmp_path / "suites.csv")
