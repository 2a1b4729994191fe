import pandas as pd
import pytest

from regatta_lib.measures import VERDICT_TABLE, scores

SUITE = "m.S1.us_fintech.r1"


def verdict(judge, target="", scenario=1, value=0, state="answered", arm="", draw=1):
    return dict(zip(VERDICT_TABLE.columns, (SUITE, judge, target, arm, draw, scenario, state, value), strict=True))


def frame(*rows):
    return pd.DataFrame(rows).astype({"value": "Int64", "scenario": "Int64"})


FULL = [
    verdict("coverage", "FT-01", 1, 0),
    verdict("coverage", "FT-01", 2, 1),
    verdict("coverage", "FT-02", 1, 0),
    verdict("coverage", "FT-02", 2, 0),
    verdict("design", "FT-F1", 1, 1),
    verdict("design", "FT-F2", 1, 0),
    verdict("execution", "FT-F1", 1, 0, arm="joint"),
    verdict("execution", "FT-F2", 1, 1, arm="joint"),
    verdict("specificity", scenario=1, value=5),
    verdict("specificity", scenario=2, value=2),
    verdict("adversarial", "prompt_injection", 1, 1),
    verdict("adversarial", "role_confusion", 1, 0),
    verdict("adversarial", "social_engineering", 1, 0),
]


def only(result):
    assert len(result) == 1
    return result.iloc[0]


def test_scores_by_hand():
    """RC 1 of 2, FDR_d 1 of 2, FDR_e 1 of 2, ISS (5 + 2)/2, AC 1 of 3."""
    row = only(scores.suite_scores(frame(*FULL)))
    assert (row.rc, row.fdr_design, row.fdr_execution, row.iss) == (0.5, 0.5, 0.5, 3.5)
    assert row.ac == pytest.approx(1 / 3)
    assert (row.generator, row.strategy, row.cell, row.replication) == ("m", "S1", "us_fintech", 1)


def test_control_arm_and_later_draws_do_not_enter_the_score():
    extra = [
        verdict("execution", "FT-F1", 1, 1, arm="control"),
        verdict("execution", "FT-F1", 1, 1, arm="single"),
        verdict("execution", "FT-F1", 1, 1, arm="joint", draw=2),
    ]
    assert only(scores.suite_scores(frame(*FULL, *extra))).fdr_execution == 0.5


def test_an_unreadable_reply_is_missing_and_bounded_never_a_no():
    rows = [
        *FULL,
        verdict("coverage", "FT-02", 3, None, "unreadable"),
        verdict("specificity", scenario=3, value=None, state="refused"),
    ]
    missing = only(scores.suite_scores(frame(*rows)))
    assert pd.isna(missing.rc)
    assert pd.isna(missing.iss)
    assert missing.fdr_design == 0.5
    low, high = (only(scores.suite_scores(frame(*rows), bound)) for bound in ("lowest", "highest"))
    assert (low.rc, high.rc) == (0.5, 1.0)
    assert (low.iss, high.iss) == (pytest.approx(8 / 3), pytest.approx(4))


def test_a_yes_settles_a_target_whatever_else_is_unresolved():
    rows = [*FULL, verdict("coverage", "FT-01", 3, None, "truncated")]
    assert only(scores.suite_scores(frame(*rows))).rc == 0.5


def test_targets_count_the_unresolved():
    reduced = scores.targets(frame(verdict("design", "FT-F1", 1, None, "error"), verdict("design", "FT-F1", 2, 0)))
    assert only(reduced).unresolved == 1
    assert pd.isna(only(reduced).value)


def test_stage_pairs_join_both_stages_and_the_category():
    index = pd.DataFrame(
        {"cell": "us_fintech", "item": ["FT-F1", "FT-F2"], "role": "fault", "category": ["threshold_error", "metric_error"]}
    )
    pairs = scores.stage_pairs(frame(*FULL), index)
    assert pairs[["fault_id", "category", "design", "execution"]].to_numpy().tolist() == [
        ["FT-F1", "threshold_error", 1, 0],
        ["FT-F2", "metric_error", 0, 1],
    ]


def test_a_pair_without_a_verdict_at_either_stage_is_unresolved():
    pairs = pd.DataFrame({"design": [1, None, 0, None], "execution": [1, 0, None, None]})
    assert scores.unresolved_pairs(pairs) == 3
    assert scores.unresolved_pairs(pairs.head(1)) == 0
