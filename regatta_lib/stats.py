"""Statistics on arrays. Random generators are passed in; intervals state their method."""

import numpy as np

from regatta_lib.digest import sha256


def bootstrap_weights(rng: np.random.Generator, clusters: int, resamples: int) -> np.ndarray:
    """How often each of ``clusters`` units is drawn in each resample: integers of shape (resamples, clusters).

    Resamples of sums need these weights alone: one matrix product instead of index arrays per statistic.
    """
    drawn = rng.integers(0, clusters, size=(resamples, clusters))
    cell = drawn + clusters * np.arange(resamples)[:, None]
    return np.bincount(cell.ravel(), minlength=resamples * clusters).reshape(resamples, clusters)


def percentile_interval(replicates: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Percentile bootstrap interval over the first axis: the (1 ± level)/2 quantiles of the replicates."""
    low, high = np.quantile(replicates, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return low, high


def seeded(seed: int, purpose: str) -> np.random.Generator:
    """A generator of its own for each purpose, so that adding one analysis never changes another's numbers."""
    return np.random.default_rng([seed, int(sha256(purpose)[:16], 16)])
