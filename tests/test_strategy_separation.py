"""V4: ranges, their null, and the ceiling of adversarial coverage."""

import numpy as np
import pandas as pd
import pytest
from historical import RESAMPLES, the_scores

from regatta_lib.measures import strategy_range, v4_strategies
from regatta_lib.stats import Bootstrap, seeded

BOOTSTRAP = Bootstrap(seed=1, resamples=RESAMPLES, level=0.95)


@pytest.fixture(scope="module")
def separation():
    return v4_strategies.separation(the_scores(), BOOTSTRAP, 2_000, "holm")


def test_ranges_are_those_of_table_iv(separation):
    plain = strategy_range(the_scores()).stack()
    found = separation.set_index(["generator", "measure"])["range"]
    assert found.to_dict() == pytest.approx(plain.to_dict(), abs=1e-12)
    assert (separation["suites"] == 60).all() and (separation["family"] == 15).all()


def test_weak_adversarial_coverage_lies_below_its_chance_average(separation):
    rows = separation[separation["measure"] == "ac"].set_index("generator")
    for generator in ("sonnet4", "gemma26b"):
        assert rows.loc[generator, "range"] == pytest.approx(1 / 30)
        assert rows.loc[generator, "range"] < rows.loc[generator, "null_mean"]
    assert rows.loc["qwen72b", "p_adjusted"] < 0.05


def test_permutation_keeps_blocks():
    """Where only blocks differ, exchanging labels within them changes nothing: the range stays 0 and p is 1."""
    values = np.broadcast_to(np.arange(15.0)[:, None], (15, 4))
    assert (v4_strategies.permuted_ranges(values, seeded(1, "t"), 100) < 1e-12).all()


def test_permutation_p_of_a_clear_difference_is_the_smallest_possible():
    scores = the_scores()
    shifted = scores.assign(rc=scores["strategy"].map({"S1": 0.1, "S2": 0.2, "S3": 0.3, "S4": 0.9}))
    rows = v4_strategies.separation(shifted, BOOTSTRAP, 1_000, "holm").query("measure == 'rc'")
    assert rows["p"].to_list() == pytest.approx([1 / 1_001] * 3)
    assert rows["low"].to_list() == pytest.approx([0.8] * 3)


def test_false_positive_rate_of_the_permutation_test_is_nominal():
    rng, rejected = np.random.default_rng(7), 0
    for _ in range(200):
        values = rng.normal(size=(15, 4)) + rng.normal(size=(15, 1))
        means = values.mean(axis=0)
        null = v4_strategies.permuted_ranges(values, rng, 199)
        rejected += (1 + (null >= means.max() - means.min()).sum()) / 200 <= 0.05
    assert 2 <= rejected <= 20  # binomial(200, .05): outside with probability .003


def test_a_missing_score_leaves_out_its_block_and_is_counted():
    scores = the_scores()
    scores.loc[scores["suite_id"] == "sonnet4.S1.us_fintech.r1", "rc"] = None
    row = v4_strategies.separation(scores, BOOTSTRAP, 1_000, "holm").query("generator == 'sonnet4' and measure == 'rc'")
    assert (row["suites"].item(), row["unresolved"].item()) == (56, 1)


def test_a_missing_suite_is_refused():
    with pytest.raises(ValueError, match="expected 5 cells × 3 replications × 4"):
        v4_strategies.separation(the_scores().iloc[1:], BOOTSTRAP, 1_000, "holm")


def test_ceiling():
    found = v4_strategies.ceiling(the_scores()).set_index("generator")
    assert found["at_ceiling"].to_dict() == {"gemma26b": 45, "qwen72b": 8, "sonnet4": 26}
    assert isinstance(found, pd.DataFrame)
