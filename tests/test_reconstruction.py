"""Reconstruction of the adjudication by enumeration, checked against a plain enumeration and a simulation."""

from itertools import product

import numpy as np
import pytest

from regatta_lib.base import paths
from regatta_lib.stats import cohen_kappa, consistency, reconstruction, seeded


@pytest.fixture(scope="module")
def claims():
    return consistency.CLAIM_TABLE.read(paths.CONSISTENCY / "claims.csv")


def test_tables_are_all_compositions():
    assert len(list(consistency.tables(40))) == 43 * 42 * 41 // 6
    plain = {t for t in product(range(6), repeat=4) if sum(t) == 5 and t[0] + t[3] == 4 and t[1] == 1}
    assert set(consistency.tables(5, agreeing=4, judge_only=1)) == plain


def test_exact_kappa_is_kappa():
    for cells in [(18, 7, 0, 25), (9, 3, 6, 22), (1, 1, 1, 1)]:
        assert float(consistency.exact_kappa(*cells)) == pytest.approx(float(cohen_kappa(np.array(cells).reshape(2, 2))))
    assert consistency.exact_kappa(5, 0, 0, 0) is None


def test_the_eight_tables_of_the_adjudication():
    found = consistency.tables_with_kappa(".72", 50, 43, 7)
    assert found["n11"].to_list() == [17, 18, 19, 20, 23, 24, 25, 26]
    assert (found["n01"] == 0).all() and (found["agreement"] == 0.86).all()
    exact = found[found["n11"] == 18].iloc[0]
    assert (exact["kappa"], exact["judge_yes"], exact["adjudicator_yes"]) == (0.72, 25, 18)


def test_the_printed_interval_fits_one_scheme_of_the_balanced_table(claims):
    found = reconstruction.adjudication(claims, 0.95)
    matching = found[found["matches"]]
    assert {(row.n11, row.scheme) for row in matching.itertuples()} == {
        (18, "pairs within the judge's verdict"),
        (25, "pairs within the adjudicator's verdict"),
    }
    assert set(matching["method"]) == {"percentile", "BCa"}
    assert (matching["low"].round(9) == 0.52).all() and (matching["high"].round(9) == 0.88).all()


def test_the_exact_intervals_against_simulation():
    cells = (18, 7, 0, 25)
    found = reconstruction.kappa_intervals(cells, 0.95).set_index(["scheme", "method"])
    rng = seeded(1, "t")
    pairs = cohen_kappa(rng.multinomial(50, np.array(cells) / 50, size=100_000).reshape(-1, 2, 2))
    simulated = np.quantile(pairs, [0.025, 0.975], method="inverted_cdf")
    assert found.loc[("pairs", "percentile"), ["low", "high"]].to_list() == pytest.approx(simulated.tolist(), abs=0.012)
    hits = rng.binomial(25, 18 / 25, size=100_000)
    within = cohen_kappa(np.stack([hits, 25 - hits, 0 * hits, 0 * hits + 25], axis=1).reshape(-1, 2, 2))
    simulated = np.quantile(within, [0.025, 0.975], method="inverted_cdf")
    exact = found.loc[("pairs within the judge's verdict", "percentile"), ["low", "high"]].to_list()
    assert exact == pytest.approx(simulated.tolist(), abs=1e-9)


@pytest.mark.parametrize("cells", [(18, 7, 0, 25), (9, 3, 6, 22), (3, 1, 1, 0)])
def test_probabilities_of_each_scheme_add_up(cells):
    for scheme, (outcomes, probabilities, strata) in reconstruction.resamples(cells).items():
        assert probabilities.sum() == pytest.approx(1), scheme
        assert (outcomes.sum(axis=1) == sum(cells)).all()
        assert sorted(position for stratum in strata for position in stratum) == [0, 1, 2, 3]


def test_the_probes_are_consistent_with_one_expert(claims):
    found = reconstruction.probes(claims).set_index("judge")
    assert found["tables"].to_dict() == {"study's judge": 54, "second judge": 8}
    assert (found["shared"] == 8).all()
    assert found.loc["second judge", "lowest_agreement"] == found.loc["second judge", "highest_agreement"] == 0.775


def test_a_table_without_a_kappa_is_nan_and_no_error():
    values = reconstruction.kappa_leave_one_out((1, 1, 0, 0), (0, 1, 2, 3))
    assert values[0] == 0 and np.isnan(values[1])
