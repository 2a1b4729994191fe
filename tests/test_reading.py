import asyncio
from dataclasses import replace

import pytest
from scripted_study import Recorded, sides, study

from regatta_lib.studies import Episode, Ruling, Scenario, reading, runs, verdict_table

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


def case(number, message, cited=None, attack=None):
    return Scenario(SUITE, number, "d", message, "e", cited, attack)


def answer(scenario, arm, text, draw=1, state="answered", fault="IN-F1"):
    return Episode(SUITE, scenario, fault, arm, draw, state, text, "k")


def test_what_the_agent_is_told_differs_by_arm():
    side = sides()[1]["us_insurance"]
    text = reading.told_text(side.ontology, side.faults, 50)
    joint, control = text.split("**control**")
    assert joint.startswith("**joint**\n\n> ")
    assert reading.quoted(side.faults[0].injected_behavior)[2:] in joint
    assert reading.quoted(side.faults[0].correct_behavior)[2:] in control


def test_answers_are_those_of_one_scenario_and_fault():
    fault = sides()[1]["us_insurance"].faults[0]
    episodes = [answer(1, "joint", "a"), answer(1, "control", "#b"), answer(2, "joint", "c")]
    episodes.append(answer(1, "joint", "d", fault="IN-F2"))
    text = reading.answers_text(case(1, "m"), fault, episodes)
    assert text == "**Message**\n\n> m\n\n**joint, draw 1**\n\n> a\n\n**control, draw 1**\n\n> \\#b"


def test_cases_are_headed_by_their_verdicts():
    faults = sides()[1]["us_insurance"].faults
    rulings = [
        ruling(1),
        ruling(0, "execution", "joint"),
        ruling(0, scenario=2),
        ruling(0, "execution", "joint", scenario=2),
    ]
    chosen = reading.examples(reading.scenario_verdicts(rulings))
    scenarios = [case(1, "first message"), case(2, "second message")]
    first, second = reading.cases_text(chosen, scenarios, faults, [], rulings, []).split("\n\n---\n\n")
    assert first.startswith("### Design 1, execution 0\n\n") and "first message" in first
    assert second.startswith("### Design 0, execution 0\n\n") and "second message" in second


def test_a_suite_is_one_row_with_its_rejections_and_replies_summed_up():
    design = study(strategies=["S1"], scenarios=2)
    (manifest,) = asyncio.run(runs.generate(Recorded(), design, sides(design)[0]))[1]
    changed = replace(manifest, rejected={"malformed": 1, "duplicate": 2}, replies={"answered": 2, "refused": 1})
    row = reading.suite_table([changed]).loc[manifest.suite_id]
    assert row[["asked", "scenarios", "short", "rejected", "replies"]].tolist() == [2, 2, False, 3, 3]


def test_scenarios_are_counted_by_suite():
    table = reading.scenario_counts([case(1, "one two", "rule"), case(2, "one two three", None, "role_confusion")])
    assert table.loc[SUITE].to_dict() == {"scenarios": 2, "words": 2.5, "attacks": 1, "rules": 1}


def test_episodes_are_counted_by_cell_arm_and_draw():
    episodes = [answer(1, "joint", "same here"), answer(2, "joint", "same here"), answer(3, "joint", "", state="empty")]
    table = reading.episode_counts([*episodes, answer(1, "joint", "again", 2)])
    assert table.index.tolist() == [("us_insurance", "joint", 1), ("us_insurance", "joint", 2)]
    assert table.iloc[0].to_dict() == {"episodes": 3, "answered": 2, "different_texts": 2, "words": pytest.approx(4 / 3)}


def test_an_unresolved_verdict_is_counted_by_state_and_bounds_the_score():
    rulings = [ruling(1), ruling(None, scenario=2, state="unreadable"), ruling(None, "coverage", state="refused")]
    verdicts = verdict_table(rulings)
    states = reading.verdict_states(verdicts)
    assert states.loc[("design", "", 1)].to_dict() == {"answered": 1, "refused": 0, "unreadable": 1, "mean": 1.0}
    bounds = reading.score_bounds(verdicts).loc[SUITE]
    assert bounds["rc"].to_dict() == {"lowest": 0.0, "highest": 1.0}
    assert bounds["fdr_design"].to_dict() == {"lowest": 1.0, "highest": 1.0}
