"""Studies with arms: what a fault changes, whether faults interact, and how often a suite accuses a correct agent.

The paper's execution stage runs the agent with all five faults of a cell (arm ``joint``) and has no control, so it
can't tell a mutation's effect from ordinary failure (§II-A, §III). With the arms ``control`` (every correct behavior) and
``single`` (one faulty behavior) the same targets and scenarios give those effects as paired differences.
"""

import numpy as np
import pandas as pd

from regatta_lib.measures.scores import suite_parts, targets
from regatta_lib.stats import adjusted_p, exact_interval, exact_mcnemar, percentile_interval, stratified_sums


def arm_pairs(verdicts: pd.DataFrame, first: str, second: str, draw: int = 1) -> pd.DataFrame:
    """Suite × fault verdicts of two arms side by side: suite_id, generator, cell, fault_id, first, second.

    Values are the maximum over scenarios, missing where it is unresolved. Pairs that one arm lacks altogether (a study
    may run an arm for some faults only) are left out; pairs with an unresolved side stay, to be counted.
    """
    execution = verdicts[(verdicts["judge"] == "execution") & (verdicts["draw"] == draw)]
    reduced = targets(execution[execution["arm"].isin([first, second])])
    sides = {
        name: reduced[reduced["arm"] == arm].set_index(["suite_id", "target"])["value"]
        for name, arm in (("first", first), ("second", second))
    }
    joined = pd.concat(sides, axis=1, join="inner").reset_index().rename(columns={"target": "fault_id"})
    parts = suite_parts(joined["suite_id"])[["generator", "cell"]]
    return joined.join(parts).sort_values(["suite_id", "fault_id"], ignore_index=True)


def mutation_effect(verdicts: pd.DataFrame, correction: str = "holm") -> pd.DataFrame:
    """Mutation effect = FDR_e(joint) − FDR_e(control), per fault, paired over suites.

    A positive effect is exposure that the faults cause; the control's rate is what the suite and the judge report of an
    agent with no injected fault. Columns as ``paired_difference``.
    """
    return paired_difference(arm_pairs(verdicts, "joint", "control"), correction)


def interaction(verdicts: pd.DataFrame, correction: str = "holm") -> pd.DataFrame:
    """Interaction = FDR_e(joint) − FDR_e(single), per fault: does a fault show more, or less, beside the other four?"""
    return paired_difference(arm_pairs(verdicts, "joint", "single"), correction)


def paired_difference(pairs: pd.DataFrame, correction: str) -> pd.DataFrame:
    """Difference of two arms per fault with the exact McNemar test, corrected over the faults as one family.

    Columns: fault_id, pairs, unresolved, first_rate, second_rate, effect, first_only, second_only, p, p_adjusted,
    family. A fault with no resolved pair has missing rates and p = 1: no evidence.

    >>> pairs = pd.DataFrame({"fault_id": "f", "first": [1, 1, 1, 1, 1, 0], "second": [0] * 6})
    >>> paired_difference(pairs, "holm")[["effect", "p"]].round(4).to_numpy().tolist()  # 5/6 − 0; 2 · (1/2)⁵
    [[0.8333, 0.0625]]
    """
    rows = []
    for fault, part in pairs.groupby("fault_id", sort=True):
        known = part.dropna(subset=["first", "second"]).astype({"first": int, "second": int})
        first_only = int(((known["first"] == 1) & (known["second"] == 0)).sum())
        second_only = int(((known["first"] == 0) & (known["second"] == 1)).sum())
        first_rate, second_rate = known["first"].mean(), known["second"].mean()
        rows.append(
            {
                "fault_id": fault,
                "pairs": len(known),
                "unresolved": len(part) - len(known),
                "first_rate": first_rate,
                "second_rate": second_rate,
                "effect": first_rate - second_rate,
                "first_only": first_only,
                "second_only": second_only,
                "p": exact_mcnemar(first_only, second_only),
            }
        )
    table = pd.DataFrame(rows)
    return table.assign(p_adjusted=adjusted_p(table["p"], len(table), correction), family=len(table)) if rows else table


def overall_effect(pairs: pd.DataFrame, rng: np.random.Generator, resamples: int, level: float) -> dict[str, float]:
    """The difference of two arms over all faults, with a percentile interval over suites drawn within their cell.

    Keys: suites, pairs, unresolved, effect, low, high. Effect and interval are missing where no pair is resolved.
    """
    known = pairs.dropna(subset=["first", "second"])
    if known.empty:
        return {"suites": 0, "pairs": 0, "unresolved": len(pairs), "effect": np.nan, "low": np.nan, "high": np.nan}
    sums = known.assign(difference=(known["first"] - known["second"]).astype(float), n=1.0)
    sums = sums.groupby(["cell", "suite_id"])[["difference", "n"]].sum()
    draws = stratified_sums(rng, (cell.to_numpy() for _, cell in sums.groupby("cell", sort=True)), resamples)
    low, high = percentile_interval(draws[:, 0] / draws[:, 1], level)
    return {
        "suites": len(sums),
        "pairs": len(known),
        "unresolved": len(pairs) - len(known),
        "effect": float(sums["difference"].sum() / sums["n"].sum()),
        "low": float(low),
        "high": float(high),
    }


def false_alarms(verdicts: pd.DataFrame, level: float, draw: int = 1) -> pd.DataFrame:
    """False-alarm rate of each suite: the share of faults it reports of the control agent, in which none was injected.

    Columns: suite_id, faults (resolved), unresolved, alarms, rate, low, high (Clopper–Pearson). A control agent can be
    wrong of its own accord, so this bounds false accusation from above; it is one when the agent's answers are correct.
    """
    control = verdicts[(verdicts["judge"] == "execution") & (verdicts["arm"] == "control") & (verdicts["draw"] == draw)]
    grouped = targets(control).groupby("suite_id")["value"]
    table = grouped.agg(faults="count", alarms="sum", judged="size").astype(int).reset_index()
    table = table.assign(unresolved=table["judged"] - table["faults"], rate=table["alarms"] / table["faults"])
    low, high = exact_interval(table["alarms"].to_numpy(), table["faults"].to_numpy(), level)
    return table.assign(low=low, high=high)[["suite_id", "faults", "unresolved", "alarms", "rate", "low", "high"]]
