"""Which tables and which intervals agree with the printed judge agreement? Exact enumeration, no random numbers (§V-F)."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from regatta_lib.stats.agreement import cohen_kappa
from regatta_lib.stats.consistency import OUTCOME_COLUMNS, exact_kappa, parse, tables, tables_with_kappa
from regatta_lib.stats.resampling import Floats, bca_shares, exact_distribution

Resamples = dict[str, tuple[npt.NDArray[np.int64], Floats, list[tuple[int, ...]]]]


def kappa_intervals(cells: tuple[int, int, int, int], level: float) -> pd.DataFrame:
    """Intervals of κ under every scheme considered, computed exactly over all resamples rather than by simulation.

    Schemes: pairs resampled as they are; pairs resampled within the judge's verdicts (as for a sheet balanced on the
    judge); within the adjudicator's. Each with the percentile, the basic and the BCa interval. Then the large-sample
    interval of Fleiss, Cohen and Everitt (1969). Columns: scheme, method, low, high, undefined (probability that a
    resample's κ is undefined).

    >>> kappa_intervals((2, 0, 0, 2), 0.95)["undefined"].tolist()[0]  # four pairs all of one kind: 2 · (1/2)⁴
    0.125
    """
    from scipy.stats import norm
    from statsmodels.stats.inter_rater import cohens_kappa

    rows = []
    estimate = float_kappa(*cells)
    for scheme, (resampled, probabilities, strata) in resamples(cells).items():
        kappas = cohen_kappa(resampled.reshape(-1, 2, 2))
        known = ~np.isnan(kappas)
        kappas, weights = kappas[known], probabilities[known] / probabilities[known].sum()
        quantile = exact_distribution(kappas, weights)
        low, high = quantile((1 - level) / 2), quantile((1 + level) / 2)
        equal = np.isclose(kappas, estimate, rtol=0, atol=1e-12)
        below = float(weights[(kappas < estimate) & ~equal].sum() + weights[equal].sum() / 2)
        shares = bca_shares(below, [kappa_leave_one_out(cells, stratum) for stratum in strata], level)
        bca = tuple(map(quantile, shares)) if not np.isnan(shares).any() else (np.nan, np.nan)
        undefined = round(float(probabilities[~known].sum()), 12)
        for method, ends in (
            ("percentile", (low, high)),
            ("basic", (2 * estimate - high, 2 * estimate - low)),
            ("BCa", bca),
        ):
            rows.append({"scheme": scheme, "method": method, "low": ends[0], "high": ends[1], "undefined": undefined})
    result = cohens_kappa(np.array(cells).reshape(2, 2))
    reach = norm.ppf((1 + level) / 2) * result.std_kappa
    normal = {"low": float(result.kappa - reach), "high": float(result.kappa + reach)}
    return pd.DataFrame([*rows, {"scheme": "large sample", "method": "normal", **normal, "undefined": 0.0}])


def float_kappa(n11: int, n10: int, n01: int, n00: int) -> float:
    """Cohen's κ of a 2×2 table, NaN where it is undefined."""
    kappa = exact_kappa(n11, n10, n01, n00)
    return float("nan") if kappa is None else float(kappa)


def kappa_leave_one_out(cells: tuple[int, int, int, int], stratum: tuple[int, ...]) -> Floats:
    """κ with each pair of a stratum (positions in ``OUTCOME_COLUMNS``) left out in turn.

    >>> kappa_leave_one_out((2, 0, 0, 2), (0, 3)).tolist()  # agreement stays complete
    [1.0, 1.0, 1.0, 1.0]
    """
    values: list[float] = []
    for position in stratum:
        left = [count - (place == position) for place, count in enumerate(cells)]
        values += [float_kappa(*left)] * cells[position] if cells[position] else []
    return np.array(values)


def resamples(cells: tuple[int, int, int, int]) -> Resamples:
    """Every resample of a 2×2 table with its probability, by scheme.

    Values: outcomes (count, 4), probabilities (count,), and the strata as positions in ``CELLS``.
    """
    from scipy.stats import binom, multinomial

    n = sum(cells)
    outcomes = np.array([outcome for outcome in tables(n) if feasible(outcome, cells)])
    schemes: Resamples = {"pairs": (outcomes, multinomial(n, np.array(cells) / n).pmf(outcomes), [(0, 1, 2, 3)])}
    for name, (yes, no) in {
        "pairs within the judge's verdict": ((0, 1), (2, 3)),
        "pairs within the adjudicator's verdict": ((0, 2), (1, 3)),
    }.items():
        sizes = [sum(cells[position] for position in stratum) for stratum in (yes, no)]
        grids = np.meshgrid(*(np.arange(size + 1) for size in sizes), indexing="ij")
        outcome, probability = np.zeros((grids[0].size, 4), dtype=int), np.ones(grids[0].size)
        for (first, second), size, grid in zip((yes, no), sizes, grids, strict=True):
            outcome[:, first], outcome[:, second] = grid.ravel(), size - grid.ravel()
            probability *= binom.pmf(grid.ravel(), size, cells[first] / max(size, 1))
        schemes[name] = (outcome, probability, [yes, no])
    return schemes


def feasible(outcome: tuple[int, ...], cells: tuple[int, ...]) -> bool:
    """Can a resample of ``cells`` give ``outcome``? Not if it fills a cell that is empty."""
    return all(count == 0 or cell > 0 for count, cell in zip(outcome, cells, strict=True))


def matching_intervals(candidates: pd.DataFrame, low: str, high: str, level: float) -> pd.DataFrame:
    """For each candidate table and scheme, the interval and whether both its ends round to the printed ones."""
    printed_low, printed_high = parse(low), parse(high)
    parts = []
    for row in candidates.to_dict("records"):
        cells = (row["n11"], row["n10"], row["n01"], row["n00"])
        found = kappa_intervals(cells, level).assign(**dict(zip(OUTCOME_COLUMNS, cells, strict=True)), kappa=row["kappa"])
        matches = [printed_low.fits(a) and printed_high.fits(b) for a, b in zip(found["low"], found["high"], strict=True)]
        parts.append(found.assign(matches=matches))
    return pd.concat(parts, ignore_index=True)[
        [*OUTCOME_COLUMNS, "kappa", "scheme", "method", "low", "high", "undefined", "matches"]
    ]


def adjudication(claims: pd.DataFrame, level: float) -> pd.DataFrame:
    """The adjudication of 50 pairs: every table with the printed agreement, disagreements and κ, under every scheme."""
    printed = claims.set_index("key")["printed"]
    n = int(claims.set_index("key")["n"]["adjudication/kappa"])
    disagreeing = int(printed["adjudication/disagreements"])
    candidates = tables_with_kappa(printed["adjudication/kappa"], n, n - disagreeing, disagreeing)
    return matching_intervals(candidates, printed["adjudication/kappa_low"], printed["adjudication/kappa_high"], level)


def probes(claims: pd.DataFrame) -> pd.DataFrame:
    """The 40 probes: how many tables give each printed κ, and which numbers of expert "yes" both judges allow.

    The expert's answers are the same for both judges, so the tables must share the expert's total. Columns: judge, kappa
    (printed), tables, lowest_agreement, highest_agreement, shared (tables whose expert total the other judge allows too).
    """
    printed, n = claims.set_index("key")["printed"], int(claims.set_index("key")["n"]["probes/kappa"])
    agreeing = int(printed["probes/second_judge_agreements"])
    found = {
        "study's judge": (printed["probes/kappa"], tables_with_kappa(printed["probes/kappa"], n)),
        "second judge": (
            printed["probes/second_judge_kappa"],
            tables_with_kappa(printed["probes/second_judge_kappa"], n, agreeing),
        ),
    }
    shared = set.intersection(*(set(part["adjudicator_yes"]) for _, part in found.values()))
    return pd.DataFrame(
        [
            {
                "judge": judge,
                "kappa": kappa,
                "tables": len(part),
                "lowest_agreement": part["agreement"].min(),
                "highest_agreement": part["agreement"].max(),
                "shared": int(part["adjudicator_yes"].isin(shared).sum()),
            }
            for judge, (kappa, part) in found.items()
        ]
    )
