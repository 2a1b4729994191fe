"""Evaluation cost: what a scan that stops at the first success costs, from the recorded positions (§V-G).

A judge scans a suite's scenarios in order, once per target. A target detected at scenario s takes s calls, one that is
never detected takes all of them. The release records s for faults and not for coverage, so coverage is bounded.
"""

import numpy as np
import numpy.typing as npt
import pandas as pd

from regatta_lib.base import STAGES
from regatta_lib.measures.scores import suite_parts, targets
from regatta_lib.stats import Floats, percentile_interval, spearman, stratified_sums

SCANNED = ("coverage", "design", "execution")


def bound(scenarios: int, requirements: int, faults: int) -> dict[str, int]:
    """The most calls a suite can take: judge calls by judge, their total, and agent calls (1,110 and 150 in the paper).

    >>> most = bound(scenarios=30, requirements=25, faults=5)  # 25 · 30 + 2 · 5 · 30 + 2 · 30
    >>> most["judge"], most["agent"]
    (1110, 150)
    """
    parts = {
        "coverage": requirements * scenarios,
        "design": faults * scenarios,
        "execution": faults * scenarios,
        "specificity": scenarios,
        "adversarial": scenarios,
    }
    return parts | {"judge": sum(parts.values()), "agent": faults * scenarios}


def scans(verdicts: pd.DataFrame, scenarios: int) -> pd.DataFrame:
    """The calls of each scan: one row per suite, judge and target, first draw of the joint arm.

    Columns: suite_id, judge, target, detected (1, 0 or missing), position (of the first success, if recorded), low, high:
    the fewest and most calls that agree with the record. They are equal where the position is known or nothing was
    detected. Retries after errors are not counted.
    """
    chosen = verdicts[verdicts["judge"].isin(SCANNED) & verdicts["arm"].isin(["", "joint"]) & (verdicts["draw"] == 1)]
    success = chosen[chosen["value"] == 1].groupby(["suite_id", "judge", "target"])["scenario"].min().rename("position")
    table = targets(chosen).rename(columns={"value": "detected"}).join(success, on=["suite_id", "judge", "target"])
    found = (table["detected"] == 1).to_numpy(dtype=bool, na_value=False)
    position = table["position"].to_numpy(dtype=float, na_value=np.nan)
    low = np.where(found, np.where(np.isnan(position), 1, position), scenarios)
    high = np.where(found & ~np.isnan(position), position, scenarios)
    table = table.assign(low=low.astype(int), high=high.astype(int))
    return table[["suite_id", "judge", "target", "detected", "position", "low", "high"]]


def suite_costs(verdicts: pd.DataFrame, scenarios: int) -> pd.DataFrame:
    """Calls per suite. Columns: suite_id, generator, strategy, cell, coverage_low, coverage_high, design, execution,
    rating (specificity and adversarial, one call per scenario each), judge_low, judge_high, agent, detected_design,
    detected_execution, unresolved (targets without an answer).

    Each execution-stage judge call reads an agent answer made for it, so agent calls equal execution-stage judge calls.
    """
    table = scans(verdicts, scenarios)
    sums = table.groupby(["suite_id", "judge"])[["low", "high", "detected"]].sum().astype(int).unstack("judge")
    costs = pd.DataFrame(
        {
            "coverage_low": sums["low", "coverage"],
            "coverage_high": sums["high", "coverage"],
            "design": sums["low", "design"],
            "execution": sums["low", "execution"],
            "rating": 2 * scenarios,
            "agent": sums["low", "execution"],
            "detected_design": sums["detected", "design"],
            "detected_execution": sums["detected", "execution"],
            "unresolved": table["detected"].isna().groupby(table["suite_id"]).sum(),
        }
    ).reset_index()
    fixed = costs["design"] + costs["execution"] + costs["rating"]
    costs = costs.assign(judge_low=costs["coverage_low"] + fixed, judge_high=costs["coverage_high"] + fixed)
    costs = costs.join(suite_parts(costs["suite_id"])[["generator", "strategy", "cell"]])
    first = ["suite_id", "generator", "strategy", "cell", "coverage_low", "coverage_high", "design", "execution"]
    return costs[
        [*first, "rating", "judge_low", "judge_high", "agent", "detected_design", "detected_execution", "unresolved"]
    ]


def cost_summary(costs: pd.DataFrame, most: dict[str, int]) -> pd.DataFrame:
    """Mean, least and most calls per suite against the bound, for each generator and for all.

    Columns: generator, calls (design, execution, agent, judge_low, judge_high), suites, mean, least, most, bound, share
    (mean / bound), unresolved.
    """
    limits = {
        name: most[name.removesuffix("_low").removesuffix("_high")]
        for name in ("design", "execution", "agent", "judge_low", "judge_high")
    }
    rows = []
    for generator, part in [*costs.groupby("generator", sort=True), ("all", costs)]:
        for name, limit in limits.items():
            rows.append(
                {
                    "generator": generator,
                    "calls": name,
                    "suites": len(part),
                    "mean": part[name].mean(),
                    "least": int(part[name].min()),
                    "most": int(part[name].max()),
                    "bound": limit,
                    "share": part[name].mean() / limit,
                    "unresolved": int(part["unresolved"].sum()),
                }
            )
    return pd.DataFrame(rows)


def calls_by_detected(
    costs: pd.DataFrame, verdicts: pd.DataFrame, scenarios: int, rng: np.random.Generator, resamples: int, level: float
) -> pd.DataFrame:
    """How the calls of a stage fall with the number of faults a suite detects there, and why.

    Columns: stage, detected, suites, calls (mean), low, high (percentile interval of the mean over suites within
    generator and cell), least, most, position (mean position of the detected faults). A detected fault saves
    scenarios − position calls, so part of the fall is arithmetic; that positions themselves come earlier in better
    suites would be the rest, and is what ``position`` shows.
    """
    table = scans(verdicts, scenarios).set_index("suite_id")
    rows = []
    for stage in STAGES:
        detected, calls = costs[f"detected_{stage}"], costs[stage]
        values = sorted(detected.unique())
        chosen = np.stack([detected == value for value in values], axis=1)
        parts = np.concatenate([chosen, chosen * calls.to_numpy()[:, None]], axis=1)
        sums = stratified_sums(rng, (parts[part] for part in _strata(costs)), resamples)
        drawn, total = np.split(sums, 2, axis=1)
        positions = table.loc[table["judge"] == stage, "position"]
        for place, value in enumerate(values):
            own = calls[detected == value]
            defined = drawn[:, place] > 0
            low, high = percentile_interval(total[defined, place] / drawn[defined, place], level)
            rows.append(
                {
                    "stage": stage,
                    "detected": value,
                    "suites": len(own),
                    "calls": own.mean(),
                    "low": float(low),
                    "high": float(high),
                    "least": own.min(),
                    "most": own.max(),
                    "position": positions[positions.index.isin(costs["suite_id"][detected == value])].mean(),
                }
            )
    return pd.DataFrame(rows)


def _strata(costs: pd.DataFrame) -> list[npt.NDArray[np.intp]]:
    """The rows of each generator and cell, within which suites are resampled."""
    indices = costs.groupby(["generator", "cell"], sort=True).indices
    return [np.asarray(rows) for _, rows in sorted(indices.items())]


def fall_with_quality(
    costs: pd.DataFrame, scores: pd.DataFrame, rng: np.random.Generator, resamples: int, level: float
) -> pd.DataFrame:
    """Does the cost fall as quality rises, stage by stage?

    Two readings of quality: the faults detected at that stage (which ends scans, so the fall is partly arithmetic) and
    the suite's requirement coverage (scored by another judge). Columns: stage, quality, suites, spearman, slope (calls
    per unit of quality: one more fault detected, or .10 more coverage), low, high (percentile interval of the slope
    over suites within generator and cell).
    """
    joined = costs.merge(scores[["suite_id", "rc"]], on="suite_id", validate="one_to_one").dropna(subset=["rc"])
    rows = []
    for stage in STAGES:
        for quality, x in (("faults detected", joined[f"detected_{stage}"]), ("coverage, per .10", joined["rc"] * 10)):
            y = joined[stage].astype(float)
            x = x.astype(float)
            parts = np.stack([np.ones(len(x)), x, y, x * x, x * y], axis=1)
            draws = stratified_sums(rng, (parts[part] for part in _strata(joined)), resamples)
            low, high = percentile_interval(slope(draws), level)
            rows.append(
                {
                    "stage": stage,
                    "quality": quality,
                    "suites": len(x),
                    "spearman": spearman(x, y),
                    "slope": float(slope(parts.sum(axis=0))),
                    "low": float(low),
                    "high": float(high),
                }
            )
    return pd.DataFrame(rows)


def slope(sums: Floats) -> Floats:
    """Least-squares slope from the sums n, Σx, Σy, Σx², Σxy along the last axis.

    (n Σxy − Σx Σy) / (n Σx² − (Σx)²)

    >>> float(slope(np.array([2, 1, 3, 1, 3])))  # the line through (0, 0) and (1, 3)
    3.0
    """
    n, x, y, xx, xy = np.moveaxis(np.asarray(sums), -1, 0)
    slopes: Floats = (n * xy - x * y) / (n * xx - x * x)
    return slopes
