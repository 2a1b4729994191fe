"""V1: shares, intervals, areas and held-out requirements on the record and on constructed studies."""

import numpy as np
import pandas as pd
import pytest
from historical import RESAMPLES, suite, table, the_index, the_verdicts, verdict

from regatta_lib.base import ContractError, paths
from regatta_lib.measures import item_difficulty, v1_items
from regatta_lib.stats import seeded


@pytest.fixture(scope="module")
def areas():
    return v1_items.AREA_TABLE.read(paths.VALIDITY / "areas.csv")


@pytest.fixture(scope="module")
def items(areas):
    return v1_items.difficulty_table(the_verdicts(), the_index(), areas, 0.95)


def test_every_requirement_has_one_area(areas):
    requirements = the_index().query("role == 'requirement'")["item"]
    assert sorted(areas["item"]) == sorted(requirements)
    assert areas["group"].value_counts().to_dict() == {
        "other": 41,
        "aml_privacy": 34,
        "prudential": 27,
        "administrative": 19,
        "disclosure": 4,
    }


def test_difficulty_table_counts_by_generator_add_up(items):
    assert len(items) == 125
    assert (items["suites"] == 36).all()
    assert (items["unresolved"] == 0).all()
    by_generator = items[["covered_sonnet4", "covered_qwen72b", "covered_gemma26b"]]
    assert (by_generator.sum(axis=1) == items["covered"]).all()
    assert ((items["low"] <= items["share"]) & (items["share"] <= items["high"])).all()


def test_a_requirement_without_an_area_is_named(areas):
    with pytest.raises(ContractError, match="no row for FT-01"):
        v1_items.difficulty_table(the_verdicts(), the_index(), areas[areas["item"] != "FT-01"], 0.95)


def test_unresolved_suites_leave_the_share_and_are_counted():
    rows = [verdict(suite(n), "coverage", "IN-01", "", n % 2) for n in range(1, 5)]
    rows.append(verdict(suite(5), "coverage", "IN-01", "", None, state="refused"))
    row = item_difficulty(table(rows), the_index()).iloc[0]
    assert (row["suites"], row["covered"], row["share"], row["unresolved"]) == (4, 2, 0.5, 1)


def test_one_covering_scenario_is_enough_whatever_the_others_say():
    rows = [verdict(suite(1), "coverage", "IN-01", "", value, scenario=s) for s, value in ((1, 0), (2, 1), (3, 0))]
    assert item_difficulty(table(rows), the_index()).iloc[0]["share"] == 1


def test_summary_is_the_same_on_each_run_and_its_intervals_hold_the_value(items):
    first = v1_items.difficulty_summary(the_verdicts(), items, seeded(1, "t"), RESAMPLES, 0.95)
    again = v1_items.difficulty_summary(the_verdicts(), items, seeded(1, "t"), RESAMPLES, 0.95)
    pd.testing.assert_frame_equal(first, again)
    held = first[first["statistic"] != "never covered"]
    assert ((held["low"] <= held["value"]) & (held["value"] <= held["high"])).all()
    assert first.set_index("statistic").loc["never covered", ["low", "high"]].isna().all()


def test_area_test_is_fishers_on_the_declared_groups(items):
    found = v1_items.area_test(items)
    groups = found.set_index("group")["never"].to_dict()
    assert [groups[name] for name in ("aml_privacy", "disclosure", "prudential", "administrative", "other")] == [
        4,
        3,
        8,
        4,
        3,
    ]
    comparison = found.iloc[-1]
    assert comparison["odds_ratio"] == pytest.approx((15 / 35) / (4 / 30))
    assert comparison["p"] == pytest.approx(0.0645, abs=1e-4)


def test_the_bootstrap_of_the_mean_has_the_error_of_its_formula(items):
    """Suites within cell: the variance of a cell mean is the variance of the suites' own means over 36."""
    matrix = v1_items.coverage_matrix(the_verdicts())
    found = v1_items.difficulty_summary(the_verdicts(), items, seeded(1, "t"), 4_000, 0.95).set_index("statistic")
    banking = matrix.xs("vn_banking", level="cell").dropna(axis=1).mean(axis=1)
    error = banking.std(ddof=0) / np.sqrt(36)
    width = found.loc["mean of vn_banking", "high"] - found.loc["mean of vn_banking", "low"]
    assert width == pytest.approx(2 * 1.96 * error, rel=0.06)


def test_difficulty_is_summed_up_by_cell():
    items = pd.DataFrame({"cell": ["a", "a", "a", "b"], "item": list("wxyz"), "share": [0.0, 0.5, 1.0, 0.0]})
    table = v1_items.difficulty_by_cell(items.assign(unresolved=[0, 2, 1, 0]))
    assert table.loc["a"].to_dict() == {
        "requirements": 3,
        "unresolved": 3,
        "mean": 0.5,
        "median": 0.5,
        "sd": 0.5,
        "never": 1,
    }
    assert table.loc["b", ["requirements", "never"]].tolist() == [1, 1]
