"""The four measurement diagnostics V1–V4 (§III, §V-B to §V-E)."""

import numpy as np
import pandas as pd

from regatta_lib import records
from regatta_lib.stats import bootstrap_weights, percentile_interval


def item_difficulty(verdicts: pd.DataFrame, index: pd.DataFrame) -> pd.DataFrame:
    """V1: p_r, the share of a cell's suites that cover requirement r. Columns: cell, item, suites, covered, share."""
    covered = verdicts[verdicts["judge"] == "coverage"].groupby("target")["value"].agg(suites="size", covered="sum")
    items = index[index["role"] == "requirement"][["cell", "item"]]
    items = items.join(covered.astype(int), on="item", how="inner")
    return items.assign(share=items["covered"] / items["suites"]).reset_index(drop=True)


def execution_profile(pairs: pd.DataFrame) -> pd.DataFrame:
    """V2: execution-stage detection rate by fault category (rows) and generator (columns)."""
    return pairs.groupby(["category", "generator"])["execution"].mean().astype(float).unstack()


def profile_persists(profile: pd.DataFrame) -> bool:
    """V2 holds if the top three categories come in the same order, and the bottom two are the same, for all generators."""
    orders = [list(profile[generator].sort_values(ascending=False, kind="stable").index) for generator in profile]
    return all(order[:3] == orders[0][:3] and set(order[3:]) == set(orders[0][3:]) for order in orders)


def margin(n11: np.ndarray, n10: np.ndarray, n01: np.ndarray, n00: np.ndarray) -> np.ndarray:
    """V3: agreement minus chance, chance = p_d p_e + (1 − p_d)(1 − p_e), for arrays of 2×2 counts of any one shape."""
    total = n11 + n10 + n01 + n00
    design, execution = (n11 + n10) / total, (n11 + n01) / total
    return (n11 + n00) / total - (design * execution + (1 - design) * (1 - execution))


def stage_counts(pairs: pd.DataFrame) -> dict[str, np.ndarray]:
    """Indicators of the four outcomes of each pair, as integer arrays: both stages detect (n11), design only (n10), …"""
    design, execution = (pairs[stage].to_numpy(dtype=int) for stage in records.STAGES)
    return {
        "n11": design * execution,
        "n10": design * (1 - execution),
        "n01": (1 - design) * execution,
        "n00": (1 - design) * (1 - execution),
    }


def bootstrap_counts(pairs: pd.DataFrame, rng: np.random.Generator, resamples: int) -> dict[str, np.ndarray]:
    """2×2 counts per fault under a cluster bootstrap that resamples suites within their cell.

    The suite is the independent unit: its five faults are drawn together. Returns arrays of shape (resamples, faults),
    the faults in order of cell and identifier.
    """
    parts: dict[str, list[np.ndarray]] = {name: [] for name in ("n11", "n10", "n01", "n00")}
    for _, cell in pairs.sort_values(["cell", "suite_id", "fault_id"]).groupby("cell", sort=True):
        suites = cell["suite_id"].nunique()
        weights = bootstrap_weights(rng, suites, resamples)
        for name, indicator in stage_counts(cell).items():
            parts[name].append(weights @ indicator.reshape(suites, -1))
    return {name: np.concatenate(arrays, axis=1) for name, arrays in parts.items()}


def per_fault_margin(pairs: pd.DataFrame) -> float:
    """V3: the mean over faults of that fault's own margin, so that fault difficulty can't pass for agreement."""
    counts = pairs.assign(**stage_counts(pairs)).groupby("fault_id")[["n11", "n10", "n01", "n00"]].sum()
    return float(margin(*(counts[name].to_numpy() for name in ("n11", "n10", "n01", "n00"))).mean())


def per_fault_margin_interval(
    pairs: pd.DataFrame, rng: np.random.Generator, resamples: int, level: float
) -> tuple[float, float]:
    """Percentile interval of ``per_fault_margin`` under the cluster bootstrap of ``bootstrap_counts``."""
    low, high = percentile_interval(margin(**bootstrap_counts(pairs, rng, resamples)).mean(axis=1), level)
    return float(low), float(high)


def strategy_range(scores: pd.DataFrame) -> pd.DataFrame:
    """V4: per generator (rows) and measure (columns), the largest minus the smallest of the four strategy means."""
    means = scores.groupby(["generator", "strategy"])[list(records.MEASURES)].mean()
    return means.groupby("generator").agg(lambda column: column.max() - column.min())
