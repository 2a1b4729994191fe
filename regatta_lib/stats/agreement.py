"""Agreement of two raters: percent, Cohen's κ, weighted κ, AC1, PABAK and prevalence, always side by side (§V-F).

The coefficients work on arrays of contingency tables of shape (…, k, k), first rater in rows, so that one function serves
an estimate and ten thousand resamples. An undefined coefficient is NaN; ``agreement`` says why.
"""

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from regatta_lib.stats.resampling import Floats, Numbers, percentile_interval, resampled_sums

WEIGHTS = ("linear", "quadratic")


def contingency(
    first: Collection[object], second: Collection[object], labels: Sequence[object]
) -> tuple[npt.NDArray[np.int64], int]:
    """Cross-tabulate two raters over the declared labels. Returns the k × k table and the number of unresolved pairs.

    A pair is unresolved if either rating is missing. Raises ValueError for lists of unequal length, repeated labels, or
    a rating that is not among the labels: the scale is declared, never inferred from the data.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} and {len(second)} ratings, expected as many of each rater")
    if len(set(labels)) != len(labels) or len(labels) < 2:
        raise ValueError(f"labels are {list(labels)}, expected two or more different ones")
    ratings = pd.DataFrame({"first": pd.Series(list(first), dtype=object), "second": pd.Series(list(second), dtype=object)})
    known = ratings[ratings.notna().all(axis=1)]
    position = {label: place for place, label in enumerate(labels)}
    for side in ("first", "second"):
        for value in known[side]:
            if value not in position:
                raise ValueError(f"{side} rater: {value!r} is not among the declared labels {list(labels)}")
    table = np.zeros((len(labels), len(labels)), dtype=int)
    np.add.at(table, (known["first"].map(position).astype(int), known["second"].map(position).astype(int)), 1)
    return table, len(ratings) - len(known)


def _shares(table: Numbers) -> tuple[Floats, Floats, Floats]:
    """Cell shares and both margins; NaN for an empty table."""
    table = np.asarray(table, dtype=float)
    if table.ndim < 2 or table.shape[-1] != table.shape[-2]:
        raise ValueError(f"table of shape {table.shape}, expected (…, k, k)")
    total = table.sum(axis=(-2, -1), keepdims=True)
    shares: Floats = table / np.where(total == 0, np.nan, total)
    return shares, shares.sum(axis=-1), shares.sum(axis=-2)


def _same_label(table: Numbers) -> npt.NDArray[np.bool_]:
    """Whether both raters use one and the same label throughout: one cell of the diagonal holds all pairs."""
    table = np.asarray(table)
    same: npt.NDArray[np.bool_] = np.diagonal(table, axis1=-2, axis2=-1).max(axis=-1) == table.sum(axis=(-2, -1))
    return same


def percent_agreement(table: Numbers) -> Floats:
    """p_o, the share of pairs with equal ratings: Σ p_ii over the diagonal (§V-F).

    >>> round(float(percent_agreement(np.array([[20, 5], [10, 15]]))), 4)  # 35 of 50
    0.7
    """
    agreed: Floats = np.trace(_shares(table)[0], axis1=-2, axis2=-1)
    return agreed


def weighted_kappa(table: Numbers, labels: Sequence[float], weights: str) -> Floats:
    """Weighted κ = 1 − Σ v p / Σ v e (Cohen 1968) with v = |i − j| (linear) or (i − j)² (quadratic) of the label values.

    ``e`` is the product of the margins. Labels must be numbers in scale order: a weight between unordered words means
    nothing. NaN where both raters use one and the same label throughout.

    >>> table = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 1]])
    >>> round(float(weighted_kappa(table, (1, 2, 3), "linear")), 4)  # 1 − (1/4) / (14/16)
    0.7143
    """
    if weights not in WEIGHTS:
        raise ValueError(f"weights are {weights!r}, expected one of {', '.join(WEIGHTS)}")
    if not all(isinstance(label, int | float) for label in labels) or list(labels) != sorted(labels):
        raise ValueError(f"labels are {list(labels)}, expected numbers in scale order for a weighted κ")
    values = np.asarray(labels, dtype=float)
    distance = np.abs(values[:, None] - values[None, :]) ** (1 if weights == "linear" else 2)
    shares, rows, columns = _shares(table)
    observed = (distance * shares).sum(axis=(-2, -1))
    expected = (distance * rows[..., :, None] * columns[..., None, :]).sum(axis=(-2, -1))
    kappa: Floats = 1 - observed / np.where(_same_label(table), np.nan, expected)
    return kappa


def cohen_kappa(table: Numbers) -> Floats:
    """Cohen's κ = (p_o − p_e) / (1 − p_e), p_e = Σ of the products of margins (Cohen 1960).

    NaN where both raters use one and the same label throughout (p_e = 1). 0 by construction where one rater is constant.

    >>> round(float(cohen_kappa(np.array([[20, 5], [10, 15]]))), 4)  # (.7 − .5) / (1 − .5)
    0.4
    """
    shares, rows, columns = _shares(table)
    observed, expected = np.trace(shares, axis1=-2, axis2=-1), (rows * columns).sum(axis=-1)
    kappa: Floats = (observed - expected) / np.where(_same_label(table), np.nan, 1 - expected)
    return kappa


def gwet_ac1(table: Numbers) -> Floats:
    """Gwet's AC1 (2008): chance p_e = Σ π_k (1 − π_k) / (k − 1), π_k the mean of both raters' shares. Always defined.

    AC1 = (p_o − p_e) / (1 − p_e). With 80% agreement on a rare label κ is −.11 and AC1 is (.8 − .18) / .82:

    >>> round(float(gwet_ac1(np.array([[80, 10], [10, 0]]))), 4)
    0.7561
    """
    shares, rows, columns = _shares(table)
    mean = (rows + columns) / 2
    expected = (mean * (1 - mean)).sum(axis=-1) / (shares.shape[-1] - 1)
    ac1: Floats = (np.trace(shares, axis1=-2, axis2=-1) - expected) / (1 - expected)
    return ac1


def pabak(table: Numbers) -> Floats:
    """Prevalence- and bias-adjusted κ: (k p_o − 1) / (k − 1), which for two labels is 2 p_o − 1 (Byrt et al. 1993).

    >>> round(float(pabak(np.array([[80, 10], [10, 0]]))), 4)  # 2 · .8 − 1
    0.6
    """
    k: int = np.asarray(table).shape[-1]
    return (k * percent_agreement(table) - 1) / (k - 1)


def undefined_reason(table: npt.NDArray[np.int64]) -> str:
    """Why κ of a table is undefined or 0 by construction; empty if neither."""
    if not table.sum():
        return "undefined: no pair with both ratings"
    constant = [(table.sum(axis=axis) > 0).sum() == 1 for axis in (1, 0)]
    if all(constant):
        same = np.trace(table) == table.sum()
        return "undefined: constant ratings" if same else "both raters constant, κ = 0 by construction"
    return "one rater constant, κ = 0 by construction" if any(constant) else ""


def rater_agreement(
    first: Collection[object],
    second: Collection[object],
    labels: Sequence[float],
    clusters: Collection[object],
    rng: np.random.Generator,
    resamples: int,
    level: float,
    weights: str | None = None,
) -> dict[str, object]:
    """All coefficients for one pair of raters, with bootstrap intervals over the independent unit.

    ``clusters`` names the unit each pair belongs to (a suite, or the pair itself); whole units are resampled. Keys:
    pairs, unresolved, clusters, agreement, kappa (weighted if ``weights``), kappa_low, kappa_high, ac1, ac1_low, ac1_high,
    pabak, prevalence_first, prevalence_second (share of the last label), undefined_resamples (share of resamples whose
    κ is undefined, left out of its interval), note (why κ is undefined or 0 by construction), and the cells of the table
    as ``t_<first label>_<second label>``.
    """
    table, unresolved = contingency(first, second, labels)
    coefficient = cohen_kappa if weights is None else lambda tables: weighted_kappa(tables, labels, weights)
    per_cluster = cluster_tables(first, second, labels, clusters)
    row = {
        "pairs": int(table.sum()),
        "unresolved": unresolved,
        "clusters": len(per_cluster),
        "agreement": float(percent_agreement(table)),
        "kappa": float(coefficient(table)),
        "kappa_low": np.nan,
        "kappa_high": np.nan,
        "ac1": float(gwet_ac1(table)),
        "ac1_low": np.nan,
        "ac1_high": np.nan,
        "pabak": float(pabak(table)),
        "prevalence_first": float(_shares(table)[1][-1]),
        "prevalence_second": float(_shares(table)[2][-1]),
        "undefined_resamples": np.nan,
        "note": undefined_reason(table),
    }
    if table.sum() and len(per_cluster) > 1:
        tables = resampled_sums(rng, per_cluster, resamples).reshape(resamples, len(labels), len(labels))
        kappas = coefficient(tables)
        defined = kappas[~np.isnan(kappas)]
        row["undefined_resamples"] = 1 - len(defined) / resamples
        if len(defined):
            row["kappa_low"], row["kappa_high"] = map(float, percentile_interval(defined, level))
        row["ac1_low"], row["ac1_high"] = map(float, percentile_interval(gwet_ac1(tables), level))
    cells = {f"t_{a}_{b}": int(table[i, j]) for i, a in enumerate(labels) for j, b in enumerate(labels)}
    return row | cells


def cluster_tables(
    first: Collection[object], second: Collection[object], labels: Sequence[object], clusters: Collection[object]
) -> npt.NDArray[np.int64]:
    """The contingency table of each cluster, shape (clusters, k, k), clusters in sorted order."""
    frame = pd.DataFrame({"first": list(first), "second": list(second), "cluster": list(clusters)}, dtype=object)
    return np.stack(
        [contingency(part["first"], part["second"], labels)[0] for _, part in frame.groupby("cluster", sort=True)]
    )


def compare_judges(
    first: pd.DataFrame, second: pd.DataFrame, rng: np.random.Generator, resamples: int, level: float
) -> pd.DataFrame:
    """Agreement of two judges over the same verdicts, one row per judge function; suites are the independent unit.

    ``first`` and ``second`` are verdict tables. Verdicts are matched on suite, judge, target, arm, draw and scenario, so
    both must have judged the same scenarios; what only one of them judged is counted (first_only, second_only), and an
    unresolved verdict of either is counted, never read as "no". Specificity uses quadratic weights on the scale 1–5.
    """
    keys = ["suite_id", "judge", "target", "arm", "draw", "scenario"]
    merged = first.merge(second, on=keys, how="outer", suffixes=("_first", "_second"), indicator=True, validate="1:1")
    rows = []
    for judge, part in merged.groupby("judge", sort=True):
        both = part[part["_merge"] == "both"]
        likert = judge == "specificity"
        one, other = (
            [None if pd.isna(value) else int(value) for value in both[f"value_{side}"]] for side in ("first", "second")
        )
        labels = (1, 2, 3, 4, 5) if likert else (0, 1)
        row = rater_agreement(one, other, labels, both["suite_id"], rng, resamples, level, "quadratic" if likert else None)
        only = {
            f"{side}_only": int((part["_merge"] == name).sum())
            for side, name in (("first", "left_only"), ("second", "right_only"))
        }
        rows.append({"judge": judge, "weights": "quadratic" if likert else "", **only, **row})
    return pd.DataFrame(rows)


def stage_coefficients(pairs: pd.DataFrame, rng: np.random.Generator, resamples: int, level: float) -> pd.DataFrame:
    """The two stages as two raters, per generator: what V3's agreement looks like under every coefficient."""
    rows = []
    for generator, part in pairs.groupby("generator", sort=True):
        design, execution = ([None if pd.isna(v) else int(v) for v in part[stage]] for stage in ("design", "execution"))
        row = rater_agreement(design, execution, (0, 1), part["suite_id"], rng, resamples, level)
        rows.append({"generator": generator, **row})
    return pd.DataFrame(rows)
