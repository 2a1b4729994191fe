"""Arms: constructed verdicts whose effect, interaction and false-alarm rate are known."""

import pytest
from historical import RESAMPLES, suite, table, the_verdicts, verdict

from regatta_lib.measures import arms
from regatta_lib.stats import seeded


def study():
    """Ten suites, two faults.

    IN-F1: joint detects in 9, control in 1, single in 8. IN-F2: joint, control and single detect in 4 each.
    """
    rows = []
    for n in range(1, 11):
        for fault, detected in {"IN-F1": (n <= 9, n == 1, n <= 8), "IN-F2": (n <= 4, n <= 4, n <= 4)}.items():
            for arm, value in zip(("joint", "control", "single"), detected, strict=True):
                rows.append(verdict(suite(n), "execution", fault, arm, 0, scenario=1))
                rows.append(verdict(suite(n), "execution", fault, arm, int(value), scenario=2))
    return rows


def test_mutation_effect_is_joint_minus_control():
    found = arms.mutation_effect(table(study())).set_index("fault_id")
    first = found.loc["IN-F1"]
    assert (first["pairs"], first["unresolved"], first["first_only"], first["second_only"]) == (10, 0, 8, 0)
    assert (first["first_rate"], first["second_rate"]) == (0.9, 0.1)
    assert first["effect"] == pytest.approx(0.8)
    assert first["p"] == pytest.approx(2 * 0.5**8)
    assert first["p_adjusted"] == pytest.approx(4 * 0.5**8)  # Holm over the two faults
    second = found.loc["IN-F2"]
    assert (second["effect"], second["p"], second["family"]) == (0, 1, 2)


def test_interaction_is_joint_minus_single():
    first = arms.interaction(table(study())).set_index("fault_id").loc["IN-F1"]
    assert first["effect"] == pytest.approx(0.1)
    assert (first["first_only"], first["second_only"]) == (1, 0)


def test_a_negative_interaction_keeps_its_sign():
    rows = [row | {"arm": {"joint": "single", "single": "joint"}.get(row["arm"], row["arm"])} for row in study()]
    assert arms.interaction(table(rows)).set_index("fault_id").loc["IN-F1", "effect"] == pytest.approx(-0.1)


def test_false_alarms_are_what_a_suite_reports_of_the_control():
    found = arms.false_alarms(table(study()), 0.95).set_index("suite_id")
    assert found.loc[suite(1), ["faults", "alarms", "rate"]].to_list() == [2, 2, 1.0]
    assert found.loc[suite(2), ["faults", "alarms", "rate"]].to_list() == [2, 1, 0.5]
    assert found.loc[suite(9), ["faults", "alarms", "rate"]].to_list() == [2, 0, 0.0]
    assert found.loc[suite(9), "high"] == pytest.approx(1 - 0.025**0.5)


def test_unresolved_verdicts_are_counted_and_never_a_no():
    rows = study()
    for row in rows:
        if (row["suite_id"], row["target"], row["arm"], row["scenario"]) == (suite(10), "IN-F1", "control", 1):
            row |= {"state": "refused", "value": None}
    first = arms.mutation_effect(table(rows)).set_index("fault_id").loc["IN-F1"]
    assert (first["pairs"], first["unresolved"]) == (9, 1)
    assert first["effect"] == pytest.approx(1 - 1 / 9)
    alarms = arms.false_alarms(table(rows), 0.95).set_index("suite_id").loc[suite(10)]
    assert (alarms["faults"], alarms["unresolved"]) == (1, 1)


def test_a_detection_stands_beside_an_unreadable_reply():
    """One scenario that exposes the fault settles the target, whatever another scenario's reply was."""
    rows = study()
    for row in rows:
        if (row["suite_id"], row["target"], row["arm"], row["scenario"]) == (suite(1), "IN-F1", "joint", 1):
            row |= {"state": "unreadable", "value": None}
    assert arms.mutation_effect(table(rows)).set_index("fault_id").loc["IN-F1", "unresolved"] == 0


def test_the_second_draw_is_apart():
    rows = study() + [row | {"draw": 2, "value": 1} for row in study()]
    assert arms.mutation_effect(table(rows)).set_index("fault_id").loc["IN-F1", "effect"] == pytest.approx(0.8)


def test_overall_effect_with_interval():
    pairs = arms.arm_pairs(table(study()), "joint", "control")
    found = arms.overall_effect(pairs, seeded(1, "t"), RESAMPLES, 0.95)
    assert (found["suites"], found["pairs"], found["unresolved"]) == (10, 20, 0)
    assert found["effect"] == pytest.approx(0.4)
    assert 0.2 <= found["low"] < 0.4 < found["high"] <= 0.5


def test_a_study_without_arms_has_no_rows():
    assert arms.mutation_effect(the_verdicts()).empty
    assert arms.arm_pairs(the_verdicts(), "joint", "single").empty
