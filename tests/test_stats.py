"""Each statistic against scipy, statsmodels or a result worked out by hand."""

import numpy as np
import pytest
from scipy import stats as scipy_stats
from statsmodels.stats.contingency_tables import mcnemar

from regatta_lib.stats import resampling


def test_weights_count_the_units_drawn():
    weights = resampling.bootstrap_weights(resampling.seeded(1, "t"), 12, 1_000)
    assert weights.shape == (1_000, 12)
    assert (weights.sum(axis=1) == 12).all()
    assert weights.mean() == 1
    assert weights.var() == pytest.approx(11 / 12, abs=0.03)  # binomial(12, 1/12)


def test_resampled_sums_do_not_depend_on_the_block_size():
    values = np.arange(36).reshape(12, 3)
    whole = resampling.resampled_sums(resampling.seeded(1, "t"), values, 500)
    blocks = resampling.resampled_sums(resampling.seeded(1, "t"), values, 500, largest=12 * 7)
    assert whole.shape == (500, 3)
    assert (whole == blocks).all()


def test_rescaled_weights_give_an_unbiased_variance_where_the_plain_bootstrap_loses_a_third():
    values = np.array([0.0, 3.0, 7.0])
    rescaled = resampling.rescaled_weights(resampling.seeded(1, "t"), 3, 200_000) @ values / 3
    plain = resampling.bootstrap_weights(resampling.seeded(2, "t"), 3, 200_000) @ values / 3
    wanted = values.var(ddof=1) / 3
    assert rescaled.var() == pytest.approx(wanted, rel=0.02)
    assert plain.var() == pytest.approx(wanted * 2 / 3, rel=0.02)
    with pytest.raises(ValueError, match="1 unit in a stratum"):
        resampling.rescaled_weights(resampling.seeded(1, "t"), 1, 10)


def test_intervals_against_scipy_on_the_same_replicates():
    sample = np.random.default_rng(3).gamma(2, size=40)
    found = {
        method: scipy_stats.bootstrap(
            (sample,), np.mean, n_resamples=2_000, method=method, rng=np.random.default_rng(4), confidence_level=0.9
        )
        for method in ("percentile", "basic", "BCa")
    }
    replicates = found["BCa"].bootstrap_distribution
    left_out = np.array([np.delete(sample, i).mean() for i in range(len(sample))])
    ours = {
        "percentile": resampling.percentile_interval(replicates, 0.9),
        "basic": resampling.basic_interval(replicates, sample.mean(), 0.9),
        "BCa": resampling.bca_interval(replicates, sample.mean(), [left_out], 0.9),
    }
    for method, interval in ours.items():
        assert tuple(interval) == pytest.approx(tuple(found[method].confidence_interval), abs=1e-9), method


def test_bca_is_undefined_where_nothing_varies():
    assert np.isnan(resampling.bca_interval(np.ones(100), 1.0, [np.ones(10)], 0.95)).all()
    assert np.isnan(resampling.bca_interval(np.full(100, 2.0), 1.0, [np.arange(10.0)], 0.95)).all()


def test_exact_interval_of_none_and_all():
    low, high = resampling.exact_interval(np.array([0, 36, 5]), np.array([36, 36, 10]), 0.95)
    assert low == pytest.approx([0, 0.025 ** (1 / 36), 0.187086], abs=1e-6)  # 5 of 10: published tables, .187 to .813
    assert high == pytest.approx([1 - 0.025 ** (1 / 36), 1, 0.812914], abs=1e-6)


@pytest.mark.parametrize(("b", "c"), [(5, 14), (0, 9), (3, 3), (32, 4)])
def test_exact_mcnemar_against_statsmodels(b, c):
    assert resampling.exact_mcnemar(b, c) == pytest.approx(mcnemar([[7, b], [c, 11]], exact=True).pvalue, abs=1e-12)


def test_exact_mcnemar_without_discordant_pairs_is_one():
    assert resampling.exact_mcnemar(0, 0) == 1


def test_monte_carlo_p_is_never_zero_and_counts_ties():
    assert resampling.monte_carlo_p(5, np.zeros(99)) == 0.01
    assert resampling.monte_carlo_p(0.3, np.array([0.1 + 0.2, 0.1, 0.5])) == 0.75


def test_one_family_is_corrected_once_and_holm_changes_a_p():
    raw = [0.01, 0.04, 0.03]
    assert resampling.adjusted_p(raw, 3) == pytest.approx([0.03, 0.06, 0.06])
    row_by_row = [resampling.adjusted_p([p], 1)[0] for p in raw]  # correcting each alone is no correction
    assert row_by_row == pytest.approx(raw)


def test_a_family_of_another_size_or_with_a_hole_is_refused():
    with pytest.raises(ValueError, match="family of 2 p-values, declared 3"):
        resampling.adjusted_p([0.01, 0.02], 3)
    with pytest.raises(ValueError, match="holds 1 missing"):
        resampling.adjusted_p([0.01, float("nan")], 2)


def test_rank_correlations_against_hand_counts():
    assert resampling.kendall_tau([1, 2, 3, 4, 5], [1, 2, 3, 5, 4]) == pytest.approx(0.8)  # 9 pairs alike, 1 reversed, of 10
    assert resampling.spearman([1, 2, 3, 4], [1, 2, 4, 3]) == pytest.approx(1 - 6 * 2 / (4 * 15))
    assert np.isnan(resampling.kendall_tau([1, 1, 1], [1, 2, 3]))


def test_exact_distribution_inverts_a_binomial():
    outcomes = np.arange(26)
    quantile = resampling.exact_distribution(outcomes, scipy_stats.binom.pmf(outcomes, 25, 0.28))
    for q in (0.025, 0.5, 0.975):
        assert quantile(q) == scipy_stats.binom.ppf(q, 25, 0.28)


def test_sums_over_strata_are_those_of_each_stratum_added_up():
    strata = [np.array([[1], [2]]), np.array([[10], [20], [30]])]
    rng = resampling.seeded(1, "strata")
    expected = sum(resampling.resampled_sums(rng, values, 50) for values in strata)
    assert (resampling.stratified_sums(resampling.seeded(1, "strata"), strata, 50) == expected).all()
