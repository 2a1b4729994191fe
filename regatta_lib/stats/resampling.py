"""Statistics on arrays. Random generators are passed in; intervals state their method.

SciPy, statsmodels and pingouin are imported where they are used: together they take seconds, and most of what the
verification needs is counting.
"""

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from regatta_lib.base import sha256

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.float64 | np.integer]


@dataclass(frozen=True)
class Bootstrap:
    """How intervals are made: seed of the generator, number of resamples, nominal level."""

    seed: int
    resamples: int
    level: float


def seeded(seed: int, purpose: str) -> np.random.Generator:
    """A generator of its own for each purpose, so that adding one analysis never changes another's numbers."""
    return np.random.default_rng([seed, int(sha256(purpose)[:16], 16)])


def bootstrap_weights(rng: np.random.Generator, clusters: int, resamples: int) -> npt.NDArray[np.intp]:
    """How often each of ``clusters`` units is drawn in each resample: integers of shape (resamples, clusters).

    Resamples of sums need these weights alone: one matrix product instead of index arrays per statistic.
    """
    drawn = rng.integers(0, clusters, size=(resamples, clusters))
    cell = drawn + clusters * np.arange(resamples)[:, None]
    return np.bincount(cell.ravel(), minlength=resamples * clusters).reshape(resamples, clusters)


def rescaled_weights(rng: np.random.Generator, clusters: int, resamples: int) -> Floats:
    """Weights of the rescaled bootstrap of Rao and Wu (1988): n − 1 of n units are drawn, each counting n / (n − 1).

    With three units per stratum the plain bootstrap understates the variance of a mean by a third; this one doesn't.
    Floats of shape (resamples, clusters), each row summing to ``clusters``.

    >>> rescaled_weights(np.random.default_rng(1), clusters=3, resamples=2).sum(axis=1).tolist()
    [3.0, 3.0]
    """
    if clusters < 2:
        raise ValueError(f"{clusters} unit in a stratum, expected at least 2: its variance cannot be estimated")
    drawn = rng.multinomial(clusters - 1, np.full(clusters, 1 / clusters), size=resamples)
    return drawn.astype(float) * (clusters / (clusters - 1))


def resampled_sums(rng: np.random.Generator, values: Numbers, resamples: int, largest: int = 100_000) -> Floats:
    """Bootstrap sums over units: the rows of ``values`` (units, columns) are drawn with replacement and added up.

    Returns floats of shape (resamples, columns). Weights are made in blocks of at most ``largest`` numbers, so memory
    does not grow with units × resamples; the numbers do not depend on the block size. Sums of integers are exact.

    >>> resampled_sums(np.random.default_rng(1), np.array([[1, 7], [1, 7]]), resamples=2).tolist()
    [[2.0, 14.0], [2.0, 14.0]]
    """
    units = len(values)
    columns = values.reshape(units, -1).astype(float)
    step = max(1, largest // units)
    blocks = [
        bootstrap_weights(rng, units, min(step, resamples - start)).astype(float) @ columns
        for start in range(0, resamples, step)
    ]
    return np.concatenate(blocks)


def stratified_sums(rng: np.random.Generator, strata: Iterable[Numbers], resamples: int) -> Floats:
    """``resampled_sums`` within each stratum, added up over the strata (Davison and Hinkley 1997).

    >>> stratified_sums(np.random.default_rng(1), [np.array([[1], [1]]), np.array([[5]])], resamples=2).tolist()
    [[7.0], [7.0]]
    """
    return reduce(operator.add, (resampled_sums(rng, values, resamples) for values in strata))


def percentile_interval(replicates: Floats, level: float) -> tuple[Floats, Floats]:
    """Percentile bootstrap interval over the first axis: the (1 ± level)/2 quantiles of the replicates
    (Davison and Hinkley 1997).

    >>> [float(end) for end in percentile_interval(np.arange(101.0), level=0.5)]
    [25.0, 75.0]
    """
    low, high = np.quantile(replicates, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return low, high


def basic_interval(replicates: Floats, estimate: float, level: float) -> tuple[float, float]:
    """Basic bootstrap interval: the percentile interval reflected at the estimate, which removes a shift in location.

    (2 θ − high, 2 θ − low) for the estimate θ and the ends of the percentile interval (Davison and Hinkley 1997).

    >>> basic_interval(np.arange(101.0), estimate=40, level=0.5)  # 80 − 75, 80 − 25
    (5.0, 55.0)
    """
    low, high = percentile_interval(replicates, level)
    return float(2 * estimate - high), float(2 * estimate - low)


def bca_shares(below: float, jackknife: Sequence[Floats], level: float) -> Floats:
    """The two quantiles that a bias-corrected and accelerated interval takes of the replicates (Efron 1987).

    ``below`` is the share of replicates under the estimate (half of those equal to it counted in). ``jackknife`` holds,
    per stratum, the statistic with each unit left out in turn; with one stratum this is the textbook acceleration, with
    several the moments are summed over strata. NaN where all replicates lie on one side or the jackknife doesn't vary.

    Φ(z₀ + (z₀ + z) / (1 − a (z₀ + z))), z₀ = Φ⁻¹(below), z the normal quantiles of (1 ± level)/2, a = Σ m³ / 6 (Σ m²)^1.5
    for m = jackknife mean − jackknife value.

    >>> bca_shares(0.5, [np.array([1.0, 2.0, 3.0])], level=0.9).round(3).tolist()  # no bias, no skew: the percentiles
    [0.05, 0.95]
    """
    moved = [part.mean() - part for part in jackknife]
    cubed = sum(float((part**3).sum()) / len(part) ** 3 for part in moved)
    squared = sum(float((part**2).sum()) / len(part) ** 2 for part in moved)
    if not 0 < below < 1 or squared == 0:
        return np.array([np.nan, np.nan])
    from scipy import stats as distributions

    bias, acceleration = distributions.norm.ppf(below), cubed / (6 * squared**1.5)
    ends = bias + distributions.norm.ppf([(1 - level) / 2, (1 + level) / 2])
    shares: Floats = distributions.norm.cdf(bias + ends / (1 - acceleration * ends))
    return shares


def bca_interval(replicates: Floats, estimate: float, jackknife: Sequence[Floats], level: float) -> tuple[float, float]:
    """Bias-corrected and accelerated bootstrap interval (Efron 1987), see ``bca_shares``; (NaN, NaN) where undefined.

    >>> ends = bca_interval(np.arange(101.0), 50, [np.array([1.0, 2.0, 3.0])], level=0.5)
    >>> [round(end, 3) for end in ends]  # no bias, no skew: the percentile interval
    [25.0, 75.0]
    """
    close = np.isclose(replicates, estimate, rtol=0, atol=1e-12)
    below = ((replicates < estimate) & ~close).mean() + close.mean() / 2
    shares = bca_shares(float(below), jackknife, level)
    if np.isnan(shares).any():
        return float("nan"), float("nan")
    low, high = np.quantile(replicates, shares)
    return float(low), float(high)


def exact_interval(successes: Numbers, trials: Numbers, level: float) -> tuple[Floats, Floats]:
    """Interval of a proportion by Clopper and Pearson (1934), element by element: its coverage is at least ``level``.

    NaN where there are no trials.

    The (1 − level)/2 quantile of Beta(x, n − x + 1) and the (1 + level)/2 quantile of Beta(x + 1, n − x).

    >>> low, high = exact_interval(np.array([0]), np.array([10]), level=0.95)
    >>> float(low[0]), round(float(high[0]), 4)  # 1 − .025^(1/10)
    (0.0, 0.3085)
    """
    from statsmodels.stats.proportion import proportion_confint

    with np.errstate(invalid="ignore"):  # 0 / 0, where there are no trials
        low, high = proportion_confint(successes, trials, alpha=1 - level, method="beta")
    return np.asarray(low), np.asarray(high)


def exact_mcnemar(first_only: int, second_only: int) -> float:
    """Exact two-sided McNemar test: are the two kinds of discordant pair equally likely? 1 where there is none.

    p = min(1, 2 P(X ≤ min(b, c))), X binomial with b + c trials and probability 1/2 (McNemar 1947, exact form).

    >>> round(exact_mcnemar(5, 0), 6)  # 2 · (1/2)⁵
    0.0625
    """
    discordant = first_only + second_only
    from scipy import stats as distributions

    return float(distributions.binomtest(first_only, discordant, 0.5).pvalue) if discordant else 1.0


def monte_carlo_p(observed: float, null: Floats) -> float:
    """One-sided Monte Carlo p-value (1 + #{null ≥ observed}) / (1 + draws), never 0 (Phipson and Smyth 2010).

    Values that differ only by rounding of floats count as equal.

    >>> monte_carlo_p(3, np.array([1.0, 2.0, 3.0, 4.0]))  # (1 + 2) / (1 + 4)
    0.6
    """
    return float((1 + (null >= observed - 1e-12).sum()) / (1 + len(null)))


def kendall_tau(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Kendall's τ_b of two rankings, ties allowed; NaN where one of them is constant.

    τ_b = (C − D) / √((C + D + T₁)(C + D + T₂)): concordant and discordant pairs, pairs tied on one side only (Kendall 1938,
    without ties).

    >>> round(kendall_tau([1, 2, 3], [1, 3, 2]), 4)  # (2 − 1) / 3
    0.3333
    """
    from scipy import stats as distributions

    return float(distributions.kendalltau(np.asarray(first, float), np.asarray(second, float), variant="b").statistic)


def spearman(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Spearman's rank correlation; NaN where one side is constant.

    Pearson's correlation of the ranks, ties at their mean rank; without ties 1 − 6 Σ d² / (n (n² − 1)).

    >>> round(spearman([1, 2, 3], [1, 3, 2]), 4)  # 1 − 6 · 2 / (3 · 8)
    0.5
    """
    from scipy import stats as distributions

    return float(distributions.spearmanr(np.asarray(first, float), np.asarray(second, float)).statistic)


def adjusted_p(p_values: npt.ArrayLike, family_size: int, method: str = "holm") -> Floats:
    """Correct one declared family of p-values, once.

    Raises ValueError if the family does not have its declared size or holds a missing value: pingouin leaves missing
    values out, which would shrink the family without a word.

    Holm (1979): of m sorted p-values the i-th becomes min(1, max over j ≤ i of (m − j + 1) p_j).

    >>> adjusted_p([0.01, 0.04, 0.03], family_size=3).round(4).tolist()  # 3 · .01; 2 · .03, which also lifts .04
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p_values, dtype=float)
    if len(values) != family_size:
        raise ValueError(f"family of {len(values)} p-values, declared {family_size}")
    if np.isnan(values).any():
        raise ValueError(f"family holds {int(np.isnan(values).sum())} missing p-values, expected 0")
    if family_size == 1:
        return values
    from pingouin import multicomp

    return np.asarray(multicomp(values.tolist(), method=method)[1], dtype=float)


def exact_distribution(outcomes: Floats, probabilities: Floats) -> Callable[[float], float]:
    """The inverse distribution function of a discrete variable: the least outcome with P(X ≤ x) ≥ q."""
    order = np.argsort(outcomes, kind="stable")
    cumulated = np.cumsum(probabilities[order])
    return lambda q: float(outcomes[order][min(int(np.searchsorted(cumulated, q - 1e-12)), len(order) - 1)])
