"""The four measurement diagnostics V1–V4 (§III, §V-B to §V-E)."""

import numpy as np
import pandas as pd

from regatta_lib import records
from regatta_lib.scores import targets
from regatta_lib.stats import resampled_sums

OUTCOMES = ("n11", "n10", "n01", "n00")


def item_difficulty(verdicts: pd.DataFrame, index: pd.DataFrame) -> pd.DataFrame:
    """V1: p_r, the share of a cell's suites that cover requirement r.

    Columns: cell, item, suites (with a verdict), covered, share, unresolved (suites without a verdict, left out of the
    share). A requirement that no suite was judged on has no row.
    """
    reduced = targets(verdicts[verdicts["judge"] == "coverage"])
    counts = reduced.groupby("target")["value"].agg(suites="count", covered="sum", judged="size")
    items = index[index["role"] == "requirement"][["cell", "item"]]
    items = items.join(counts.astype(int), on="item", how="inner")
    items = items.assign(share=items["covered"] / items["suites"], unresolved=items["judged"] - items["suites"])
    return items.drop(columns="judged").reset_index(drop=True)


def execution_profile(pairs: pd.DataFrame) -> pd.DataFrame:
    """V2: execution-stage detection rate by fault category (rows) and generator (columns)."""
    return pairs.groupby(["category", "generator"])["execution"].mean().astype(float).unstack()


def profile_persists(profile: pd.DataFrame) -> bool:
    """V2 holds if the top three categories come in the same order, and the bottom two are the same, for all generators."""
    orders = [list(profile[generator].sort_values(ascending=False, kind="stable").index) for generator in profile]
    return all(order[:3] == orders[0][:3] and set(order[3:]) == set(orders[0][3:]) for order in orders)


def margin(n11: np.ndarray, n10: np.ndarray, n01: np.ndarray, n00: np.ndarray) -> np.ndarray:
    """V3: agreement minus chance, chance = p_d p_e + (1 − p_d)(1 − p_e), for arrays of 2×2 counts of any one shape.

    Computed as 2 (n11 n00 − n10 n01) / n², to which the difference reduces: twice the covariance of the two verdicts.
    NaN where a table is empty.
    """
    total = np.asarray(n11 + n10 + n01 + n00, dtype=float)
    with np.errstate(invalid="ignore"):
        return 2 * (n11 * n00 - n10 * n01) / (total * total)


def stage_counts(pairs: pd.DataFrame) -> dict[str, np.ndarray]:
    """Indicators of the four outcomes of each pair, as integer arrays: both stages detect (n11), design only (n10), …

    A pair with a missing verdict is in none of the four.
    """
    resolved = pairs[list(records.STAGES)].notna().all(axis=1).to_numpy(dtype=int)
    design, execution = (pairs[stage].fillna(0).to_numpy(dtype=int) for stage in records.STAGES)
    return {
        "n11": resolved * design * execution,
        "n10": resolved * design * (1 - execution),
        "n01": resolved * (1 - design) * execution,
        "n00": resolved * (1 - design) * (1 - execution),
    }


def bootstrap_counts(pairs: pd.DataFrame, rng: np.random.Generator, resamples: int) -> dict[str, np.ndarray]:
    """2×2 counts per fault under a cluster bootstrap that resamples suites within their cell.

    The suite is the independent unit: its five faults are drawn together. Returns arrays of shape (resamples, faults),
    the faults in order of cell and identifier.
    """
    ordered = pairs.sort_values(["cell", "suite_id", "fault_id"], ignore_index=True)
    indicators = np.stack(list(stage_counts(ordered).values()), axis=-1)
    parts = []
    for _, rows in ordered.groupby("cell", sort=True).indices.items():
        suites = ordered["suite_id"].iloc[rows].nunique()
        sums = resampled_sums(rng, indicators[rows].reshape(suites, -1, len(OUTCOMES)), resamples)
        parts.append(sums.reshape(resamples, -1, len(OUTCOMES)))
    counts = np.concatenate(parts, axis=1)
    return {name: counts[..., position] for position, name in enumerate(OUTCOMES)}


def per_fault_margin(pairs: pd.DataFrame) -> float:
    """V3: the mean over faults of that fault's own margin, so that fault difficulty can't pass for agreement."""
    counts = pairs.assign(**stage_counts(pairs)).groupby("fault_id")[list(OUTCOMES)].sum()
    return float(margin(*(counts[name].to_numpy() for name in OUTCOMES)).mean())


def strategy_range(scores: pd.DataFrame) -> pd.DataFrame:
    """V4: per generator (rows) and measure (columns), the largest minus the smallest of the four strategy means."""
    by_generator = strategy_means(scores).groupby("generator")
    return by_generator.max(skipna=False) - by_generator.min(skipna=False)


def strategy_means(scores: pd.DataFrame) -> pd.DataFrame:
    """Mean of each measure by generator and strategy; a gap where a suite's score is missing."""
    return scores.groupby(["generator", "strategy"])[list(records.MEASURES)].mean(skipna=False)
