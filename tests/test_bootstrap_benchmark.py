"""The vectorised bootstrap and the plain loop of the benchmark give the same numbers, and size does not matter."""

from importlib import import_module

import numpy as np
import pytest
from historical import the_pairs, the_scores

from regatta_lib.measures import resampled_counts, tables
from regatta_lib.stats import Bootstrap


@pytest.fixture(scope="module")
def benchmark():
    return import_module("benchmarks.bootstrap")


def test_the_loop_and_the_arrays_agree(benchmark):
    pairs = the_pairs().astype({"design": int, "execution": int})
    looped, fast = benchmark.plain_loop(pairs, 40), benchmark.vectorised(pairs, 40)
    assert looped.keys() == fast.keys() == {"gemma26b", "qwen72b", "sonnet4"}
    for generator in looped:
        assert np.abs(looped[generator] - fast[generator]).max() < 1e-12


def test_an_enlarged_study_has_other_suites_and_the_same_margins(benchmark):
    from regatta_lib.measures.v3_stages import per_fault_margin

    pairs = the_pairs()
    larger = benchmark.enlarged(pairs, 3)
    assert larger["suite_id"].nunique() == 540
    assert per_fault_margin(larger) == pytest.approx(per_fault_margin(pairs), abs=1e-12)
    narrow, wide = (benchmark.vectorised(study, 400)["qwen72b"].std() for study in (larger, pairs))
    assert narrow == pytest.approx(wide / np.sqrt(3), rel=0.2)


def test_tables_leave_out_an_unresolved_pair():
    pairs = the_pairs()
    missing = pairs.index[pairs["generator"] == "sonnet4"][0]
    pairs.loc[missing, "execution"] = None
    resampled = resampled_counts(pairs, Bootstrap(1, 1_000, 0.95))
    assert tables.table3(pairs, resampled, 0.95).set_index("generator").loc["sonnet4", "pairs"] == 299
    difference = tables.stage_difference(pairs, resampled, 0.95).set_index(["generator", "category"])
    assert difference.loc[("sonnet4", "pooled"), "n"] == 299
    assert tables.table2(pairs).groupby("generator")["n"].sum().to_dict() == {
        "gemma26b": 300,
        "qwen72b": 300,
        "sonnet4": 299,
    }


def test_an_unresolved_score_leaves_a_gap_in_table_iv():
    scores = the_scores()
    scores.loc[(scores["generator"] == "sonnet4") & (scores["strategy"] == "S2"), "rc"] = float("nan")
    gaps = tables.table4(scores).set_index(["generator", "strategy"])["rc"].isna()
    assert gaps[gaps].index.tolist() == [("sonnet4", "S2"), ("sonnet4", "range")]


def test_an_interval_divides_by_the_pairs_that_were_drawn():
    """Where every resolved pair is design-only the difference is 1 in every resample, however many are unresolved."""
    pairs = the_pairs().assign(design=1, execution=0)
    pairs["execution"] = pairs["execution"].astype("Int64").mask(np.random.default_rng(0).random(len(pairs)) < 0.5)
    found = tables.stage_difference(pairs, resampled_counts(pairs, Bootstrap(1, 1_000, 0.95)), 0.95)
    assert (found[["delta", "ci_low", "ci_high"]] == 1).all(axis=None)
    assert (found["n"] < 0.7 * 300).all()
