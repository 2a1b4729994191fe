"""Statistics on arrays. Random generators are passed in; intervals state their method."""

import numpy as np

from regatta_lib.digest import sha256


def bootstrap_weights(rng: np.random.Generator, clusters: int, resamples: int) -> np.ndarray:
    """How often each of ``clusters`` units is drawn in each resample: integers of shape (resamples, clusters).

    Drawing n units with replacement is a multinomial draw of n; a statistic of sums then needs no index arrays.
    """
    return rng.multinomial(clusters, np.full(clusters, 1 / clusters), size=resamples)


def percentile_interval(replicates: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Percentile bootstrap interval over the first axis: the (1 ± level)/2 quantiles of the replicates."""
    low, high = np.quantile(replicates, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return low, high


def seeded(seed: int, purpose: str) -> np.random.Generator:
    """A generator of its own for each purpose, so that adding one analysis never changes another's numbers."""
    return np.random.default_rng([seed, int(sha256(purpose)[:16], 16)])
