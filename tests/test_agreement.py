"""Agreement coefficients against scikit-learn, statsmodels and tables from the literature."""

import numpy as np
import pytest
from historical import RESAMPLES, suite, table, the_pairs, the_table3, verdict
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from regatta_lib.stats import Bootstrap, agreement, seeded

# Agresti's 91 couples (rated 1 to 4 by husband and wife), the example of R's vcd::Kappa: 0.1293 and, linear, 0.2374
COUPLES = np.array([[7, 7, 2, 3], [2, 8, 3, 7], [1, 5, 4, 9], [2, 8, 9, 14]])
# Gwet (2002): 125 items, skewed: agreement .944, κ −.0234, AC1 .9408
SKEWED = np.array([[118, 5], [2, 0]])


def expanded(counts):
    pairs = [(i, j) for i, row in enumerate(counts) for j, n in enumerate(row) for _ in range(n)]
    return [i for i, _ in pairs], [j for _, j in pairs]


def test_tables_from_the_literature():
    assert agreement.cohen_kappa(COUPLES) == pytest.approx(0.1293, abs=5e-5)
    assert agreement.weighted_kappa(COUPLES, (1, 2, 3, 4), "linear") == pytest.approx(0.2374, abs=5e-5)
    assert agreement.percent_agreement(SKEWED) == 0.944
    assert agreement.cohen_kappa(SKEWED) == pytest.approx(-0.0234, abs=5e-5)
    assert agreement.gwet_ac1(SKEWED) == pytest.approx(0.9408, abs=5e-5)
    assert agreement.pabak(SKEWED) == pytest.approx(2 * 0.944 - 1)


@pytest.mark.parametrize("counts", [COUPLES, SKEWED, np.array([[18, 7], [0, 25]])])
def test_kappa_against_scikit_learn_and_statsmodels(counts):
    first, second = expanded(counts)
    labels = list(range(len(counts)))
    ours = float(agreement.cohen_kappa(counts))
    assert ours == pytest.approx(cohen_kappa_score(first, second, labels=labels), abs=1e-12)
    assert ours == pytest.approx(cohens_kappa(counts).kappa, abs=1e-12)
    for weights in agreement.WEIGHTS:
        ours = float(agreement.weighted_kappa(counts, labels, weights))
        assert ours == pytest.approx(cohen_kappa_score(first, second, labels=labels, weights=weights), abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 30), min_size=9, max_size=9).filter(lambda cells: sum(cells) > 1))
def test_any_three_by_three_table_against_scikit_learn(cells):
    counts = np.array(cells).reshape(3, 3)
    if agreement.undefined_reason(counts).startswith("undefined"):
        assert np.isnan(agreement.cohen_kappa(counts))
        return
    first, second = expanded(counts)
    assert agreement.cohen_kappa(counts) == pytest.approx(cohen_kappa_score(first, second, labels=[0, 1, 2]), abs=1e-9)
    assert -1 <= agreement.gwet_ac1(counts) <= 1


def test_kappa_is_defined_wherever_a_rater_used_two_labels_however_rarely():
    counts = np.array([[199_998, 1], [1, 0]])
    assert agreement.cohen_kappa(counts) == pytest.approx(-1 / 199_999, rel=1e-4)
    assert np.isfinite(agreement.weighted_kappa(counts, (0, 1), "linear"))
    assert np.isnan(agreement.cohen_kappa(np.array([[200_000, 0], [0, 0]])))


def test_the_scale_is_declared_and_its_order_matters():
    first, second = [1, 1, 2, 3, 3, 2], [1, 2, 2, 3, 2, 3]
    counts, _ = agreement.contingency(first, second, (1, 2, 3))
    right = float(agreement.weighted_kappa(counts, (1, 2, 3), "quadratic"))
    assert right == pytest.approx(cohen_kappa_score(first, second, labels=[1, 2, 3], weights="quadratic"))
    for labels in ((3, 1, 2), ("low", "mid", "high")):
        with pytest.raises(ValueError, match="expected numbers in scale order"):
            agreement.weighted_kappa(counts, labels, "quadratic")
    with pytest.raises(ValueError, match="'cubic', expected one of linear, quadratic"):
        agreement.weighted_kappa(counts, (1, 2, 3), "cubic")


def test_an_unused_label_of_the_scale_changes_nothing_it_should_not():
    first, second = [1, 1, 2, 5, 5], [1, 2, 2, 5, 2]
    wide, _ = agreement.contingency(first, second, (1, 2, 3, 4, 5))
    narrow, _ = agreement.contingency(first, second, (1, 2, 5))
    assert wide.shape == (5, 5)
    assert agreement.cohen_kappa(wide) == pytest.approx(float(agreement.cohen_kappa(narrow)))
    assert agreement.weighted_kappa(wide, (1, 2, 3, 4, 5), "quadratic") == pytest.approx(
        float(agreement.weighted_kappa(narrow, (1, 2, 5), "quadratic"))
    )


@pytest.mark.parametrize(
    ("first", "second", "labels", "message"),
    [
        ([0, 1], [0], (0, 1), "2 and 1 ratings"),
        ([0, 2], [0, 1], (0, 1), "first rater: 2 is not among"),
        ([0, 1], [0, "1"], (0, 1), "second rater: '1' is not among"),
        ([0], [0], (0, 0), "expected two or more different"),
        ([0], [0], (0,), "expected two or more different"),
    ],
)
def test_wrong_input_is_refused(first, second, labels, message):
    with pytest.raises(ValueError, match=message):
        agreement.contingency(first, second, labels)


@pytest.mark.parametrize("counts", [np.ones((2, 3)), np.ones(4)])
def test_a_table_of_another_shape_is_refused(counts):
    with pytest.raises(ValueError, match="expected \\(…, k, k\\)"):
        agreement.cohen_kappa(counts)


@pytest.mark.parametrize(
    ("counts", "kappa", "reason"),
    [
        ([[9, 0], [0, 0]], None, "undefined: constant ratings"),
        ([[0, 0], [0, 0]], None, "undefined: no pair with both ratings"),
        ([[7, 0], [2, 0]], 0, "one rater constant, κ = 0 by construction"),
        ([[0, 9], [0, 0]], 0, "both raters constant, κ = 0 by construction"),
        ([[5, 1], [2, 4]], 0.5, ""),
    ],
)
def test_undefined_cases_say_why(counts, kappa, reason):
    counts = np.array(counts)
    assert agreement.undefined_reason(counts) == reason
    found = float(agreement.cohen_kappa(counts))
    assert np.isnan(found) if kappa is None else found == pytest.approx(kappa)


def row_of(first, second, **changes):
    settings = {
        "labels": (0, 1),
        "clusters": range(len(first)),
        "rng": seeded(1, "t"),
        "resamples": RESAMPLES,
        "level": 0.95,
    }
    return agreement.rater_agreement(first, second, **(settings | changes))


def test_all_coefficients_stand_side_by_side_with_the_table():
    row = row_of(*expanded([[25, 0], [7, 18]]))
    assert (row["t_0_0"], row["t_0_1"], row["t_1_0"], row["t_1_1"]) == (25, 0, 7, 18)
    assert (row["pairs"], row["unresolved"], row["clusters"]) == (50, 0, 50)
    assert (row["agreement"], row["prevalence_first"], row["prevalence_second"]) == (0.86, 0.5, 0.36)
    assert row["kappa"] == pytest.approx(0.72)
    assert row["pabak"] == pytest.approx(0.72)
    assert row["kappa_low"] < 0.72 < row["kappa_high"]
    assert row["note"] == ""


def test_unresolved_pairs_are_counted_and_not_rated():
    row = row_of([0, 1, None, 1], [0, 1, 1, float("nan")])
    assert (row["pairs"], row["unresolved"]) == (2, 2)


def test_constant_ratings_give_a_reason_and_no_interval():
    row = row_of([1, 1, 1], [1, 1, 1])
    assert np.isnan(row["kappa"]) and np.isnan(row["kappa_low"])
    assert row["note"] == "undefined: constant ratings"
    assert row["undefined_resamples"] == 1
    assert row["agreement"] == 1 and row["ac1"] == 1


def test_the_share_of_undefined_resamples_is_shown():
    """30 pairs, 28 yes–yes, one each of the others: a resample is constant with probability (28/30)^30 or so."""
    row = row_of([1] * 28 + [1, 0], [1] * 28 + [0, 1], resamples=20_000)
    assert row["undefined_resamples"] == pytest.approx((28 / 30) ** 30, abs=0.01)


def test_whole_clusters_are_resampled():
    """Ten identical copies in each of five clusters carry the information of five pairs, so the interval is as wide."""
    first, second = [0, 0, 1, 1, 1], [0, 1, 1, 1, 0]
    few = row_of(first, second)
    many = row_of(first * 10, second * 10, clusters=list(range(5)) * 10)
    assert (few["kappa_low"], few["kappa_high"]) == (many["kappa_low"], many["kappa_high"])
    naive = row_of(first * 10, second * 10)
    assert naive["kappa_high"] - naive["kappa_low"] < many["kappa_high"] - many["kappa_low"]


def test_stage_coefficients_agree_with_table_iii():
    found = agreement.stage_coefficients(the_pairs(), seeded(1, "t"), RESAMPLES, 0.95).set_index("generator")
    plain = the_table3(Bootstrap(1, 1_000, 0.95))
    for generator, row in plain.iterrows():
        assert found.loc[generator, "t_1_1"] == row["n11"] and found.loc[generator, "t_1_0"] == row["n10"]
        chance = row["pooled_chance"]
        assert found.loc[generator, "kappa"] == pytest.approx((row["agreement"] - chance) / (1 - chance))


def judges():
    """Two judges over four suites: three design verdicts alike and one not; specificity one step apart once."""
    first, second = [], []
    for n in range(1, 5):
        first.append(verdict(suite(n), "design", "IN-F1", "", n % 2))
        second.append(verdict(suite(n), "design", "IN-F1", "", 1 if n == 4 else n % 2))
        first.append(verdict(suite(n), "specificity", "", "", n))
        second.append(verdict(suite(n), "specificity", "", "", 5 if n == 4 else n))
    return first, second


def test_two_judges_are_compared_verdict_by_verdict():
    first, second = judges()
    found = agreement.compare_judges(table(first), table(second), seeded(1, "t"), RESAMPLES, 0.95).set_index("judge")
    design, specificity = found.loc["design"], found.loc["specificity"]
    assert (design["pairs"], design["agreement"], design["kappa"]) == (4, 0.75, 0.5)
    assert (design["t_0_1"], specificity["weights"]) == (1, "quadratic")
    expected = cohen_kappa_score([1, 2, 3, 4], [1, 2, 3, 5], labels=[1, 2, 3, 4, 5], weights="quadratic")
    assert specificity["kappa"] == pytest.approx(expected)


def test_what_only_one_judge_read_and_what_neither_answered_is_counted():
    first, second = judges()
    second[0] |= {"state": "refused", "value": None}
    found = agreement.compare_judges(table(first), table(second[:-2]), seeded(1, "t"), RESAMPLES, 0.95).set_index("judge")
    design = found.loc["design"]
    assert (design["pairs"], design["unresolved"], design["first_only"], design["second_only"]) == (2, 1, 1, 0)
