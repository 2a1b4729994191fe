"""Scan cost: the bound, the record's positions, and what cannot be known."""

import pytest
from historical import RESAMPLES, suite, table, the_scores, the_verdicts, verdict

from regatta_lib.measures import cost
from regatta_lib.stats import seeded


@pytest.fixture(scope="module")
def costs():
    return cost.suite_costs(the_verdicts(), 30)


def test_the_bound_is_the_papers():
    bound = cost.bound(30, 25, 5)
    assert (bound["judge"], bound["agent"]) == (1_110, 150)


def test_scans_stop_at_the_first_success():
    rows = [
        verdict(suite(1), "design", "IN-F1", "", 1, scenario=4),
        verdict(suite(1), "design", "IN-F2", "", 0, scenario=None),
        verdict(suite(1), "coverage", "IN-01", "", 1, scenario=None),
        verdict(suite(1), "coverage", "IN-02", "", 0, scenario=None),
    ]
    found = cost.scans(table(rows), 30).set_index("target")[["low", "high"]]
    assert found.loc["IN-F1"].to_list() == [4, 4]
    assert found.loc["IN-F2"].to_list() == [30, 30]
    assert found.loc["IN-01"].to_list() == [1, 30]  # covered, but the record does not say where
    assert found.loc["IN-02"].to_list() == [30, 30]


def test_a_full_scan_counts_up_to_its_first_success():
    rows = [verdict(suite(1), "design", "IN-F1", "", int(s in (7, 12)), scenario=s) for s in range(1, 31)]
    assert cost.scans(table(rows), 30)["low"].to_list() == [7]


def test_an_unresolved_target_was_scanned_to_the_end():
    rows = [verdict(suite(1), "design", "IN-F1", "", None, scenario=1, state="refused")]
    row = cost.scans(table(rows), 30).iloc[0]
    assert row["low"] == row["high"] == 30
    assert row.isna()["detected"]


def test_every_suite_of_the_record_stays_within_the_bound(costs):
    assert len(costs) == 180
    assert (costs[["design", "execution", "agent"]] <= 150).all().all()
    assert (costs["judge_high"] <= 1_110).all()
    assert (costs["judge_low"] <= costs["judge_high"]).all()
    assert (costs["unresolved"] == 0).all()


def test_calls_add_up_to_the_recorded_positions(costs):
    faults = the_verdicts().query("judge == 'design' and suite_id == 'qwen72b.S4.vn_banking.r2'")
    by_hand = sum(
        int(s) if value == 1 else 30 for s, value in zip(faults["scenario"].fillna(0), faults["value"], strict=True)
    )
    assert costs.set_index("suite_id").loc["qwen72b.S4.vn_banking.r2", "design"] == by_hand


def test_summary(costs):
    found = cost.cost_summary(costs, cost.bound(30, 25, 5)).set_index(["generator", "calls"])
    row = found.loc[("all", "execution")]
    assert (row["suites"], row["bound"], row["least"], row["most"]) == (180, 150, 38, 138)
    assert row["share"] == row["mean"] / 150


def test_cost_falls_with_detection_at_both_stages(costs):
    found = cost.calls_by_detected(costs, the_verdicts(), 30, seeded(1, "t"), RESAMPLES, 0.95)
    assert ((found["least"] <= found["low"]) & (found["low"] <= found["calls"])).all()
    assert ((found["calls"] <= found["high"]) & (found["high"] <= found["most"])).all()
    alone = found["suites"] == 1
    assert (found["low"] == found["high"]).equals(alone)
    assert found.groupby("stage")["suites"].sum().to_dict() == {"design": 180, "execution": 180}
    for _, part in found.groupby("stage"):
        assert part.sort_values("detected")["calls"].is_monotonic_decreasing
    falls = cost.fall_with_quality(costs, the_scores(), seeded(1, "t"), RESAMPLES, 0.95).set_index(["stage", "quality"])
    for stage in ("design", "execution"):
        assert falls.loc[(stage, "faults detected"), "high"] < 0
    assert falls.loc[("design", "coverage, per .10"), "high"] < 0
    other = falls.loc[("execution", "coverage, per .10")]
    assert other["low"] < 0 < other["high"]


def test_slope_is_the_least_squares_one():
    import numpy as np

    x, y = np.array([0.0, 1, 2, 3]), np.array([9.0, 7, 6, 1])
    sums = [4, x.sum(), y.sum(), (x * x).sum(), (x * y).sum()]
    assert cost.slope(sums) == pytest.approx(np.polyfit(x, y, 1)[0])
