"""V3 in full: do the stages agree more than chance and less than repeated executions do? (§V-D, Table III extended)"""

import numpy as np
import numpy.typing as npt
import pandas as pd

from regatta_lib.base import STAGES, ContractError
from regatta_lib.measures.scores import suite_parts, targets
from regatta_lib.stats import (
    Bootstrap,
    Floats,
    Numbers,
    adjusted_p,
    basic_interval,
    bca_interval,
    exact_mcnemar,
    monte_carlo_p,
    percentile_interval,
    resampled_sums,
    seeded,
    stratified_sums,
)

OUTCOMES = ("n11", "n10", "n01", "n00")


def margin(n11: Numbers, n10: Numbers, n01: Numbers, n00: Numbers) -> Floats:
    """V3: agreement minus chance, chance = p_d p_e + (1 − p_d)(1 − p_e), for arrays of 2×2 counts of any one shape.

    Computed as 2 (n11 n00 − n10 n01) / n², to which the difference reduces: twice the covariance of the two verdicts.
    NaN where a table is empty.

    >>> round(float(margin(*map(np.array, (20, 5, 10, 15)))), 4)  # agreement .7 − chance .5
    0.2
    """
    total = np.asarray(n11 + n10 + n01 + n00, dtype=float)
    with np.errstate(invalid="ignore"):
        excess: Floats = 2 * (n11 * n00 - n10 * n01) / (total * total)
    return excess


def stage_counts(pairs: pd.DataFrame) -> dict[str, npt.NDArray[np.int64]]:
    """Indicators of the four outcomes of each pair, as integer arrays: both stages detect (n11), design only (n10), …

    A pair with a missing verdict is in none of the four.
    """
    resolved = pairs[list(STAGES)].notna().all(axis=1).to_numpy(dtype=int)
    design, execution = (pairs[stage].fillna(0).to_numpy(dtype=int) for stage in STAGES)
    return {
        "n11": resolved * design * execution,
        "n10": resolved * design * (1 - execution),
        "n01": resolved * (1 - design) * execution,
        "n00": resolved * (1 - design) * (1 - execution),
    }


def bootstrap_counts(pairs: pd.DataFrame, rng: np.random.Generator, resamples: int) -> dict[str, Floats]:
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
    """V3: the mean over faults of that fault's own margin, so that fault difficulty can't pass for agreement.

    Σ_f margin_f / faults (§V-D). The stages agree on nothing here but which fault is the easier one:

    >>> pairs = pd.DataFrame({"fault_id": ["a", "a", "b", "b"], "design": [1, 1, 0, 0], "execution": [1, 1, 0, 0]})
    >>> per_fault_margin(pairs), float(margin(*(np.array(n) for n in (2, 0, 0, 2))))  # per fault, pooled
    (0.0, 0.5)
    """
    counts = pairs.assign(**stage_counts(pairs)).groupby("fault_id")[list(OUTCOMES)].sum()
    return float(margin(*(counts[name].to_numpy() for name in OUTCOMES)).mean())


ResampledCounts = dict[str, dict[str, Floats]]


def resampled_counts(pairs: pd.DataFrame, bootstrap: Bootstrap) -> ResampledCounts:
    """Per generator the 2×2 counts per fault in each resample of suites: ``bootstrap_counts``.

    The intervals of Table III and Figure 2 come from the same resamples.
    """
    return {
        str(generator): bootstrap_counts(part, seeded(bootstrap.seed, f"table3/{generator}"), bootstrap.resamples)
        for generator, part in pairs.groupby("generator")
    }


SCHEMES = {
    "suite within cell": ["cell"],
    "suite within cell and strategy": ["cell", "strategy"],
    "suite within generator": [],
}


def table3_extended(pairs: pd.DataFrame, bootstrap: Bootstrap, permutations: int) -> pd.DataFrame:
    """Table III with chance taken apart, the bias of the bootstrap, and three intervals side by side.

    Per generator: suites, pairs, unresolved, agreement, pooled_chance, per_fault_chance (mean over faults of the chance
    agreement at that fault's own rates), pooled_margin, per_fault_margin, difficulty_share = (per-fault − pooled chance)
    / pooled margin, the part of the agreement above pooled chance that fault difficulty alone gives; kappa; mcnemar_p
    (exact, not corrected: see ``mcnemar_family``); permutation_p of the per-fault margin; then bias (mean of the
    replicates − estimate), expected_bias, and percentile, basic and BCa intervals of the per-fault margin.

    A plug-in margin is twice a covariance with divisor n, so a resample of n suites shrinks it by (1 − 1/n) on average:
    expected_bias = −Σ_f margin_f / n_f / faults. The estimate itself is short of the population's by the same factor.
    """
    rows, resampled = [], resampled_counts(pairs, bootstrap)
    for generator, part in pairs.groupby("generator"):
        counts = {name: int(values.sum()) for name, values in stage_counts(part).items()}
        n11, n10, n01, n00 = (counts[name] for name in OUTCOMES)
        n, agreement = sum(counts.values()), (n11 + n00) / sum(counts.values())
        estimate, pooled = per_fault_margin(part), float(margin(*map(np.asarray, counts.values())))
        draws = margin(**resampled[str(generator)]).mean(axis=1)
        defined = draws[~np.isnan(draws)]
        low, high = map(float, percentile_interval(defined, bootstrap.level))
        basic_low, basic_high = basic_interval(defined, estimate, bootstrap.level)
        bca_low, bca_high = bca_interval(defined, estimate, margin_leave_one_out(part), bootstrap.level)
        null = permuted_margins(part, seeded(bootstrap.seed, f"permute/{generator}"), permutations)
        rows.append(
            {
                "generator": generator,
                "suites": part["suite_id"].nunique(),
                "pairs": n,
                "unresolved": len(part) - n,
                "agreement": agreement,
                "pooled_chance": agreement - pooled,
                "per_fault_chance": mean_fault_agreement(part) - estimate,
                "pooled_margin": pooled,
                "per_fault_margin": estimate,
                "difficulty_share": 1 - estimate / pooled,
                "kappa": pooled / (1 - (agreement - pooled)),
                "mcnemar_p": exact_mcnemar(n10, n01),
                "permutation_p": monte_carlo_p(estimate, null),
                "bias": float(defined.mean()) - estimate,
                "expected_bias": -expected_shrinkage(part),
                "percentile_low": low,
                "percentile_high": high,
                "basic_low": basic_low,
                "basic_high": basic_high,
                "bca_low": bca_low,
                "bca_high": bca_high,
                "undefined_resamples": 1 - len(defined) / len(draws),
            }
        )
    return pd.DataFrame(rows)


def fault_counts(pairs: pd.DataFrame) -> pd.DataFrame:
    """The 2×2 counts of each fault, rows in order of fault identifier."""
    return pairs.assign(**stage_counts(pairs)).groupby("fault_id")[list(OUTCOMES)].sum()


def mean_fault_agreement(pairs: pd.DataFrame) -> float:
    """The mean over faults of the share of suites on which the stages agree."""
    counts = fault_counts(pairs)
    return float(((counts["n11"] + counts["n00"]) / counts.sum(axis=1)).mean())


def expected_shrinkage(pairs: pd.DataFrame) -> float:
    """The mean over faults of margin_f / n_f: what a resample loses on average."""
    counts = fault_counts(pairs)
    return float((margin(*(counts[name].to_numpy() for name in OUTCOMES)) / counts.sum(axis=1).to_numpy()).mean())


def margin_leave_one_out(pairs: pd.DataFrame) -> list[Floats]:
    """The per-fault margin with each suite left out in turn, one array per cell: the jackknife of the BCa interval."""
    counts, values = fault_counts(pairs), []
    for _, cell in pairs.sort_values(["cell", "suite_id", "fault_id"]).groupby("cell", sort=True):
        indicators = cell.assign(**stage_counts(cell))
        left = []
        for _, suite in indicators.groupby("suite_id", sort=True):
            rest = counts.sub(suite.set_index("fault_id")[list(OUTCOMES)], fill_value=0)
            left.append(float(margin(*(rest[name].to_numpy() for name in OUTCOMES)).mean()))
        values.append(np.array(left))
    return values


def permuted_margins(pairs: pd.DataFrame, rng: np.random.Generator, permutations: int) -> Floats:
    """The per-fault margin when each suite's execution verdicts are given to another suite of its cell, at random.

    The five verdicts of a suite stay together and every fault keeps both its rates, so only the pairing is broken: the
    null says that the stages know nothing of each other beyond the fault. Faults with an unresolved pair are permuted
    over their resolved rates only approximately; without unresolved pairs the test is exact.
    """
    margins = []
    for _, cell in pairs.sort_values(["cell", "suite_id", "fault_id"]).groupby("cell", sort=True):
        suites = cell["suite_id"].nunique()
        verdicts = (cell[stage].to_numpy(dtype=float, na_value=np.nan) for stage in ("design", "execution"))
        design, execution = (values.reshape(suites, -1) for values in verdicts)
        shuffled = execution[rng.permuted(np.tile(np.arange(suites), (permutations, 1)), axis=1)]
        known = ~np.isnan(shuffled) & ~np.isnan(design)
        d, e = np.where(known, design, 0), np.where(known, shuffled, 0)
        n = known.sum(axis=1)
        both, first, second = (d * e).sum(axis=1), d.sum(axis=1), e.sum(axis=1)
        margins.append(margin(both, first - both, second - both, n - first - second + both))
    means: Floats = np.concatenate(margins, axis=1).mean(axis=1)
    return means


def interval_schemes(pairs: pd.DataFrame, bootstrap: Bootstrap) -> pd.DataFrame:
    """The per-fault margin's intervals under several resampling schemes, to see which statement depends on the choice.

    Columns: generator, scheme, method (percentile or basic), low, high, includes_zero, resamples. The schemes are the
    keys of ``SCHEMES``; "suite within generator" lets the number of suites per cell vary, so faults of rarely drawn
    cells weigh the same with fewer suites.
    """
    rows = []
    for generator, part in pairs.groupby("generator"):
        estimate = per_fault_margin(part)
        for scheme, strata in SCHEMES.items():
            rng = seeded(bootstrap.seed, f"schemes/{generator}/{scheme}")
            draws = margin(**counts_by_scheme(part, strata, rng, bootstrap.resamples)).mean(axis=1)
            draws = draws[~np.isnan(draws)]
            for method, interval in (
                ("percentile", percentile_interval(draws, bootstrap.level)),
                ("basic", basic_interval(draws, estimate, bootstrap.level)),
            ):
                low, high = map(float, interval)
                rows.append(
                    {
                        "generator": generator,
                        "scheme": scheme,
                        "method": method,
                        "low": low,
                        "high": high,
                        "includes_zero": bool(low <= 0 <= high),
                        "resamples": len(draws),
                    }
                )
    return pd.DataFrame(rows)


def counts_by_scheme(pairs: pd.DataFrame, strata: list[str], rng: np.random.Generator, resamples: int) -> dict[str, Floats]:
    """2×2 counts per fault (resamples × faults) when suites are drawn within the given strata."""
    faults = pd.Index(sorted(pairs["fault_id"].unique()))
    counts = np.zeros((resamples, len(faults), len(OUTCOMES)))
    for _, stratum in pairs.groupby(strata) if strata else [((), pairs)]:
        wide = stratum.assign(**stage_counts(stratum)).pivot(index="suite_id", columns="fault_id", values=list(OUTCOMES))
        present = wide["n11"].columns
        values = np.stack([wide[name].fillna(0).to_numpy() for name in OUTCOMES], axis=-1)
        sums = resampled_sums(rng, values, resamples).reshape(resamples, len(present), len(OUTCOMES))
        counts[:, faults.get_indexer(present)] += sums
    return {name: counts[..., position] for position, name in enumerate(OUTCOMES)}


def mcnemar_family(pairs: pd.DataFrame, family: dict[str, int], correction: str) -> pd.DataFrame:
    """Exact McNemar tests of design against execution, corrected once as the one family that is declared.

    ``family`` gives the expected number of tests of each kind: ``fault`` (each fault over all generators' suites) and
    ``generator_category`` (each category within a generator). Within a test every pair comes from another suite.
    Columns: kind, generator, item, pairs, unresolved, design_only, execution_only, delta, p, p_adjusted, family.
    Raises ContractError if the data give another number of tests than declared.
    """
    keys = {"fault": ["fault_id"], "generator_category": ["generator", "category"]}
    counted = pairs.assign(**stage_counts(pairs))
    rows: list[dict[str, object]] = []
    for kind, size in family.items():
        before = len(rows)
        for key, part in counted.groupby(keys[kind], sort=True):
            n = int(part[list(OUTCOMES)].to_numpy().sum())
            design_only, execution_only = int(part["n10"].sum()), int(part["n01"].sum())
            rows.append(
                {
                    "kind": kind,
                    "generator": key[0] if kind == "generator_category" else "all",
                    "item": key[-1],
                    "pairs": n,
                    "unresolved": len(part) - n,
                    "design_only": design_only,
                    "execution_only": execution_only,
                    "delta": (design_only - execution_only) / n,
                    "p": exact_mcnemar(design_only, execution_only),
                }
            )
        if len(rows) - before != size:
            raise ContractError(f"family {kind}: {len(rows) - before} tests, declared {size}")
    table = pd.DataFrame(rows)
    total = sum(family.values())
    return table.assign(p_adjusted=adjusted_p(table["p"], total, correction), family=total)


def repeated_execution(verdicts: pd.DataFrame, bootstrap: Bootstrap) -> pd.DataFrame:
    """The upper side of V3: agreement of two executions of the same pair against agreement of the two stages.

    For studies whose joint arm was run twice (draws 1 and 2), if only in one cell: pairs that were not run a second time
    are left out. Of the others, those without all three verdicts are counted as unresolved. Per generator: suites,
    pairs, unresolved, stage_agreement (design with draw 1), pooled_chance, retest_agreement, excess = retest − stage
    agreement (V3's upper inequality holds if it is positive), low, high (percentile interval over suites within cell),
    above_chance, below_retest. Empty for a study without a second draw; shares are missing where no pair is resolved.
    """
    staged = verdicts["judge"].isin(["design", "execution"]) & verdicts["arm"].isin(["", "joint"])
    reduced = targets(verdicts[staged & ((verdicts["judge"] == "execution") | (verdicts["draw"] == 1))])
    again = reduced.loc[reduced["draw"] == 2, ["suite_id", "target"]]
    if again.empty:
        return pd.DataFrame()
    reduced = reduced[reduced["draw"] <= 2].merge(again, on=["suite_id", "target"])
    name = reduced["judge"].where(reduced["judge"] == "design", "draw" + reduced["draw"].astype(str))
    wide = reduced.assign(name=name).pivot(index=["suite_id", "target"], columns="name", values="value").reset_index()
    wide = wide.join(suite_parts(wide["suite_id"]))
    names, rows = ["design", "draw1", "draw2"], []
    for generator, part in wide.groupby("generator", sort=True):
        known = part[names].notna().all(axis=1)
        complete = part[known].astype(dict.fromkeys(names, int))
        n = len(complete)
        stage = (complete["design"] == complete["draw1"]).astype(int)
        retest = (complete["draw1"] == complete["draw2"]).astype(int)
        p_d, p_e = complete["design"].mean(), complete["draw1"].mean()
        chance = p_d * p_e + (1 - p_d) * (1 - p_e)
        sums = complete.assign(excess=retest - stage, n=1).groupby(["cell", "suite_id"])[["excess", "n"]].sum()
        low, high = np.array(np.nan), np.array(np.nan)
        if n:
            rng = seeded(bootstrap.seed, f"repeated_execution/{generator}")
            strata = (cell.to_numpy() for _, cell in sums.groupby("cell", sort=True))
            draws = stratified_sums(rng, strata, bootstrap.resamples)
            low, high = percentile_interval(draws[:, 0] / draws[:, 1], bootstrap.level)
        rows.append(
            {
                "generator": generator,
                "suites": complete["suite_id"].nunique(),
                "pairs": n,
                "unresolved": int((~known).sum()),
                "stage_agreement": stage.mean(),
                "pooled_chance": chance,
                "retest_agreement": retest.mean(),
                "excess": retest.mean() - stage.mean(),
                "low": float(low),
                "high": float(high),
                "above_chance": bool(stage.mean() > chance),
                "below_retest": bool(stage.mean() < retest.mean()),
            }
        )
    return pd.DataFrame(rows)
