import asyncio

import pytest
from scripted_study import Recorded, sides, study

from regatta_lib.studies import Ruling, Scenario, reading, runs

SUITE = "t.S1.us_insurance.r1"


def ruling(value, judge="design", arm="", draw=1, scenario=1, reason="Because.", state="answered"):
    return Ruling(SUITE, judge, "IN-F1", arm, draw, scenario, state, value, reason, "k")


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("<script>alert(1)</script>", r"> &lt;script&gt;alert\(1\)&lt;/script&gt;"),
        ("# head\n\n$x$ [a](b)", "> \\# head\n>\n> \\$x\\$ \\[a\\]\\(b\\)"),
        ("", "> (no text)"),
        ("a & b", "> a &amp; b"),
    ],
)
def test_untrusted_text_is_quoted_and_never_markup(text, quote):
    assert reading.quoted(text) == quote


def test_a_line_break_cannot_leave_the_quote():
    text = reading.scenario_text(Scenario(SUITE, 1, "d\n\n# x", "m\n<b>", "e", "rule\n# y", None))
    outside = [line for line in text.splitlines() if not line.startswith(">")]
    assert not any("#" in line or "<b>" in line for line in outside)


def test_verdicts_stand_side_by_side_and_disagreements_keep_their_reasons():
    rulings = [
        ruling(1, reason="It lies in the band."),
        ruling(0, "execution", "joint", reason="The agent refused."),
        ruling(1, "execution", "joint", 2),
        ruling(0, "execution", "control"),
        ruling(0, scenario=2),
        ruling(None, "execution", "joint", scenario=2, state="unreadable"),
        ruling(0, scenario=3),
        ruling(0, "execution", "joint", scenario=3),
        ruling(1, "coverage"),
    ]
    table = reading.scenario_verdicts(rulings)
    assert table.columns.tolist() == ["suite_id", "scenario", "fault_id", "design", "joint", "joint again", "control"]
    assert table.loc[0, ["design", "joint", "joint again", "control"]].tolist() == [1, 0, 1, 0]
    found = reading.disagreements(rulings)
    assert found["scenario"].tolist() == [1]
    assert found.loc[0, ["design_reason", "execution_reason"]].tolist() == ["It lies in the band.", "The agent refused."]
    shown = reading.examples(table)
    assert shown[["design", "joint"]].values.tolist() == [[1, 0], [0, 0]]


def test_every_draw_has_its_column():
    draws = [ruling(n % 2, "execution", "joint", n) for n in (1, 2, 3, 10)]
    table = reading.scenario_verdicts([ruling(1), *reversed(draws), ruling(0, "execution", "single", 2)])
    assert table.columns.tolist()[3:] == ["design", "joint", "joint again", "joint 3", "joint 10", "single again"]
    assert table.loc[0].tolist()[3:] == [1, 1, 0, 1, 0, 0]


def test_a_missing_first_draw_is_no_disagreement():
    rulings = [ruling(1), ruling(0, "execution", "joint", scenario=2), ruling(0, "execution", "joint", 3)]
    assert reading.scenario_verdicts(rulings).columns.tolist()[3:] == ["design", "joint", "joint 3"]
    assert reading.disagreements(rulings).empty


def test_a_study_with_the_least_that_is_allowed_can_be_read():
    """One draw of the joint arm, no other arm, no second judge, and judges that scan."""
    design = study(strategies=["S1"])
    result = asyncio.run(runs.run(Recorded(), design, *sides(design)))
    faults = sides(design)[1]["us_insurance"].faults
    table = reading.scenario_verdicts(result.rulings)
    assert table.columns.tolist()[3:] == ["design", "joint"]
    assert len(reading.examples(table)) <= 4
    assert set(reading.disagreements(result.rulings)["scenario"]) <= {1, 2, 3}
    texts = [reading.case_text(result.scenarios[0], fault, result.episodes, result.rulings, []) for fault in faults]
    assert all("**Answer (joint):**" in text and "Second judge" not in text for text in texts)
    assert "control_yes" not in reading.witness_table(result.scenarios, faults, result.rulings)
    assert reading.witness_table(result.scenarios, [], result.rulings).empty


def test_a_case_tells_the_answer_and_reason_of_every_draw():
    design = study(strategies=["S1"], scenarios=1, grid=["design", "execution"], repeats={"us_insurance": 3})
    result = asyncio.run(runs.run(Recorded(), design, *sides(design)))
    fault = sides(design)[1]["us_insurance"].faults[0]
    text = reading.case_text(result.scenarios[0], fault, result.episodes, result.rulings, [])
    places = [text.index(f"**Answer ({name}):**") for name in ("joint", "joint again", "joint 3")]
    assert places == sorted(places)
    assert text.count("Does the answer expose the fault? **Judge:**") == 3


def test_a_case_tells_the_answer_and_reason_of_every_arm():
    design = study(strategies=["S1"], scenarios=1, control=True, single=["threshold_error"], grid=["design", "execution"])
    result = asyncio.run(runs.run(Recorded(), design, *sides(design)))
    fault = sides(design)[1]["us_insurance"].faults[0]
    text = reading.case_text(result.scenarios[0], fault, result.episodes, result.rulings, result.rulings[:0])
    for name in ("joint", "control", "single"):
        assert f"**Answer ({name}):**" in text
    assert text.count("Does the answer expose the fault? **Judge:**") == 3
    assert text.count("Would the scenario expose the fault? **Judge:**") == 1
    assert "joint again" not in text and "Second judge" not in text
    both = reading.case_text(result.scenarios[0], fault, result.episodes, result.rulings, result.rulings)
    assert both.count("**Second judge:**") == 4


def test_judges_are_set_beside_the_witness():
    """IN-F1 differs from 150 % to under 200 %: one scenario inside, one outside, one without a figure."""
    faults = sides()[1]["us_insurance"].faults
    texts = ["RBC ratio is 180%. Which level?", "RBC ratio is 120%. Which level?", "What is RBC?"]
    scenarios = [Scenario(SUITE, n, "d", text, "e", None, None) for n, text in enumerate(texts, start=1)]
    values = {1: (1, 1), 2: (1, 0), 3: (0, None)}
    rulings = [ruling(design, scenario=n) for n, (design, _) in values.items()]
    rulings += [
        ruling(joint, "execution", "joint", scenario=n, state="answered" if joint is not None else "unreadable")
        for n, (_, joint) in values.items()
    ]
    table = reading.witness_table(scenarios, faults, rulings).set_index("witness")
    assert table.loc["discriminates", ["scenarios", "design_yes", "joint_yes"]].tolist() == [1, 1, 1]
    assert table.loc["near_miss", ["scenarios", "design_yes", "joint_yes"]].tolist() == [1, 1, 0]
    assert table.loc["no_figure", ["design_yes", "joint_yes", "joint_n"]].tolist() == [0, 0, 0]
    assert "control_yes" not in table
