"""V4 in full: how far the strategies lie apart, against what chance alone would show (§V-E). Descriptive, as there."""

import numpy as np
import pandas as pd

from regatta_lib.base import MEASURES, ContractError
from regatta_lib.stats import Bootstrap, Floats, adjusted_p, monte_carlo_p, percentile_interval, rescaled_weights, seeded


def strategy_range(scores: pd.DataFrame) -> pd.DataFrame:
    """V4: per generator (rows) and measure (columns), the largest minus the smallest of the four strategy means (§V-E).

    >>> scores = pd.DataFrame({"generator": "g", "strategy": ["a", "a", "b"], **dict.fromkeys(MEASURES, [0.2, 0.4, 0.8])})
    >>> strategy_range(scores)["rc"].round(4).tolist()  # .8 − (.2 + .4) / 2
    [0.5]
    """
    by_generator = strategy_means(scores).groupby("generator")
    return by_generator.max(skipna=False) - by_generator.min(skipna=False)


def strategy_means(scores: pd.DataFrame) -> pd.DataFrame:
    """Mean of each measure by generator and strategy; a gap where a suite's score is missing."""
    return scores.groupby(["generator", "strategy"])[list(MEASURES)].mean(skipna=False)


def separation(scores: pd.DataFrame, bootstrap: Bootstrap, permutations: int, correction: str) -> pd.DataFrame:
    """Range of the four strategy means per generator and measure, with an interval and a permutation test.

    A range is never negative, so it is above zero by chance alone: ``null_mean`` and ``null_95`` are the mean and the
    95 % point of the range when the strategies' labels are exchanged within blocks (one replication of one cell, four
    suites), which keeps cells and replications as they are; ``p`` is the share of those ranges at least as large, and
    ``p_adjusted`` corrects all generators × measures as one family. ``low`` and ``high`` come from the rescaled
    bootstrap over the replications of each cell and strategy (three units, see ``stats.rescaled_weights``); like the
    range itself they lean upwards. Columns besides: suites, unresolved (suites without the measure, whose whole block is
    left out), highest, lowest (strategies), range.
    """
    rows = []
    for generator, part in scores.groupby("generator", sort=True):
        for measure in MEASURES:
            blocks = block_values(part, measure)
            cells = [cell[~np.isnan(cell).any(axis=1)] for cell in blocks]
            together = np.concatenate(cells)
            means = together.mean(axis=0)
            rng = seeded(bootstrap.seed, f"separation/{generator}/{measure}")
            null = permuted_ranges(together, rng, permutations)
            low, high = percentile_interval(bootstrap_ranges(cells, rng, bootstrap.resamples), bootstrap.level)
            names = sorted(part["strategy"].unique())
            observed = float(means.max() - means.min())
            rows.append(
                {
                    "generator": generator,
                    "measure": measure,
                    "suites": int(together.size),
                    "unresolved": int(part[measure].isna().sum()),
                    "highest": names[int(means.argmax())],
                    "lowest": names[int(means.argmin())],
                    "range": observed,
                    "low": float(low),
                    "high": float(high),
                    "null_mean": float(null.mean()),
                    "null_95": float(np.quantile(null, 0.95)),
                    "p": monte_carlo_p(observed, null),
                }
            )
    table = pd.DataFrame(rows)
    size = scores["generator"].nunique() * len(MEASURES)
    return table.assign(p_adjusted=adjusted_p(table["p"], size, correction), family=size)


def block_values(scores: pd.DataFrame, measure: str) -> Floats:
    """The measure as an array (cells, replications, strategies). Raises ContractError unless each is there once."""
    wide = scores.pivot(index=["cell", "replication"], columns="strategy", values=measure).sort_index()
    cells, replications = scores["cell"].nunique(), scores["replication"].nunique()
    if wide.shape[0] != cells * replications or len(scores) != wide.size:
        raise ContractError(f"{len(scores)} suites, expected {cells} cells × {replications} replications × {wide.shape[1]}")
    return wide.to_numpy(dtype=float).reshape(cells, replications, -1)


def permuted_ranges(blocks: Floats, rng: np.random.Generator, permutations: int) -> Floats:
    """Ranges of strategy means after exchanging the strategies' labels within each block (a row), independently."""
    shuffled = rng.permuted(np.broadcast_to(blocks, (permutations, *blocks.shape)), axis=-1)
    means = shuffled.mean(axis=1)
    ranges: Floats = means.max(axis=1) - means.min(axis=1)
    return ranges


def bootstrap_ranges(cells: list[Floats], rng: np.random.Generator, resamples: int) -> Floats:
    """Ranges of strategy means when the replications of each cell and strategy are resampled (rescaled bootstrap).

    ``cells`` holds an array (replications, strategies) for each cell. A cell with one replication cannot vary.
    """
    sums = 0
    for values in cells:
        replications, strategies = values.shape
        if replications < 2:
            sums = sums + values.sum(axis=0)
            continue
        weights = rescaled_weights(rng, replications, resamples * strategies).reshape(resamples, strategies, replications)
        sums = sums + np.einsum("bsr,rs->bs", weights, values)
    means = np.broadcast_to(sums, (resamples, cells[0].shape[1])) / sum(len(values) for values in cells)
    ranges: Floats = means.max(axis=1) - means.min(axis=1)
    return ranges


def ceiling(scores: pd.DataFrame) -> pd.DataFrame:
    """How near adversarial coverage is to its ceiling: why its range is small under some generators (§V-E).

    Columns: generator, suites, mean, at_ceiling (suites that hit all six categories), share_at_ceiling, lowest, range.
    """
    rows = []
    for generator, part in scores.dropna(subset=["ac"]).groupby("generator", sort=True):
        means = part.groupby("strategy")["ac"].mean()
        rows.append(
            {
                "generator": generator,
                "suites": len(part),
                "mean": part["ac"].mean(),
                "at_ceiling": int((part["ac"] == 1).sum()),
                "share_at_ceiling": (part["ac"] == 1).mean(),
                "lowest": part["ac"].min(),
                "range": means.max() - means.min(),
            }
        )
    return pd.DataFrame(rows)
