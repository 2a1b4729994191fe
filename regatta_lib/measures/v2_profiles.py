"""V2 in full: is the order of fault categories the same for every generator, and how close is it to failing? (§V-C)"""

from itertools import combinations

import numpy as np
import pandas as pd

from regatta_lib.base import STAGES, ContractError
from regatta_lib.measures.v3_stages import bootstrap_counts
from regatta_lib.stats import exact_interval, kendall_tau


def execution_profile(pairs: pd.DataFrame) -> pd.DataFrame:
    """V2: execution-stage detection rate by fault category (rows) and generator (columns), detected / resolved (§V-C)."""
    return pairs.groupby(["category", "generator"])["execution"].mean().astype(float).unstack()


def profile_persists(profile: pd.DataFrame) -> bool:
    """V2 holds if the top three categories come in the same order, and the bottom two are the same, for all generators.

    >>> profile = pd.DataFrame({"x": [0.9, 0.7, 0.5, 0.3, 0.1], "y": [0.8, 0.7, 0.6, 0.1, 0.2]}, index=list("abcde"))
    >>> profile_persists(profile), profile_persists(profile.assign(y=[0.7, 0.8, 0.6, 0.1, 0.2]))
    (True, False)
    """
    orders = [list(profile[generator].sort_values(ascending=False, kind="stable").index) for generator in profile]
    return all(order[:3] == orders[0][:3] and set(order[3:]) == set(orders[0][3:]) for order in orders)


def profile_table(pairs: pd.DataFrame, level: float) -> pd.DataFrame:
    """Execution-stage detection by generator and category with Clopper–Pearson intervals.

    Each suite has one fault of every category, so the n of a row are different suites. Columns: generator, category,
    rank (1 is the most detected), detected, n, unresolved, rate, low, high.
    """
    grouped = pairs.groupby(["generator", "category"])["execution"]
    table = grouped.agg(detected="sum", n="count", judged="size").astype(int).reset_index()
    low, high = exact_interval(table["detected"].to_numpy(), table["n"].to_numpy(), level)
    rate = table["detected"] / table["n"]
    rank = rate.groupby(table["generator"]).rank(ascending=False, method="min").astype(int)
    table = table.assign(rank=rank, unresolved=table["judged"] - table["n"], rate=rate, low=low, high=high)
    return table[["generator", "category", "rank", "detected", "n", "unresolved", "rate", "low", "high"]]


def reference_order(profile: pd.DataFrame) -> list[str]:
    """The categories from most to least detected, by the mean over generators: the paper's order."""
    return list(profile.mean(axis=1).sort_values(ascending=False).index)


def stability(pairs: pd.DataFrame, rng: np.random.Generator, resamples: int) -> pd.DataFrame:
    """How often the order of the top three and the membership of the bottom pair hold in a cluster bootstrap.

    Suites are drawn within cell and generator. A tie across a boundary counts as not holding. One row per generator and
    one for all together (V2 as a whole needs every generator at once): suites, top_order, bottom_pair, both.
    """
    order = reference_order(execution_profile(pairs))
    held = {}
    for generator, part in pairs.groupby("generator", sort=True):
        counts = bootstrap_counts(part, rng, resamples)
        categories = part.sort_values(["cell", "suite_id", "fault_id"]).drop_duplicates("fault_id")["category"].to_numpy()
        rates = {}
        for category in order:
            chosen = {name: values[:, categories == category].sum(axis=1) for name, values in counts.items()}
            rates[category] = (chosen["n11"] + chosen["n01"]) / sum(chosen.values())
        first, second, third, *bottom = (rates[category] for category in order)
        top = (first > second) & (second > third)
        pair = np.minimum.reduce([first, second, third]) > np.maximum.reduce(bottom)
        held[generator] = (part["suite_id"].nunique(), top, pair)
    tops, bottoms = (np.logical_and.reduce([values[place] for values in held.values()]) for place in (1, 2))
    held["all"] = (pairs["suite_id"].nunique(), tops, bottoms)
    return pd.DataFrame(
        [
            {
                "generator": generator,
                "suites": suites,
                "top_order": float(top.mean()),
                "bottom_pair": float(pair.mean()),
                "both": float((top & pair).mean()),
            }
            for generator, (suites, top, pair) in held.items()
        ]
    )


def rank_agreement(profile: pd.DataFrame) -> pd.DataFrame:
    """Kendall's τ_b between the profiles of each two generators. Columns: first, second, tau, categories.

    >>> rank_agreement(pd.DataFrame({"x": [0.1, 0.2, 0.3], "y": [0.1, 0.3, 0.2]}))["tau"].round(4).tolist()  # (2 − 1) / 3
    [0.3333]
    """
    return pd.DataFrame(
        [
            {"first": a, "second": b, "tau": kendall_tau(profile[a], profile[b]), "categories": len(profile)}
            for a, b in combinations(sorted(profile.columns), 2)
        ]
    )


def flips_to_fail(table: pd.DataFrame) -> pd.DataFrame:
    """What would have to change for V2 to fail: the verdicts that must flip to undo each boundary of the order.

    ``table`` is ``profile_table``. For the boundaries first > second, second > third and third > best of the bottom
    pair: the two categories, the gap in detections, and the fewest flipped verdicts that turn the order around (each
    flip narrows the gap by one; one more than the gap reverses it; equal n is assumed and checked).
    """
    order = reference_order(table.pivot(index="category", columns="generator", values="rate"))
    rows = []
    for generator, part in table.groupby("generator", sort=True):
        if part["n"].nunique() != 1:
            raise ContractError(f"{generator}: categories have unequal numbers of verdicts, expected one number")
        detected = part.set_index("category")["detected"]
        below = [order[1], order[2], str(detected[order[3:]].idxmax())]
        for name, upper, lower in zip(("first", "second", "third"), order, below, strict=False):
            gap = int(detected[upper] - detected[lower])
            rows.append(
                {
                    "generator": generator,
                    "boundary": name,
                    "above": upper,
                    "below": lower,
                    "gap": gap,
                    "flips": gap + 1,
                    "n": int(part["n"].iloc[0]),
                }
            )
    return pd.DataFrame(rows)


def stage_shift(pairs: pd.DataFrame) -> pd.DataFrame:
    """Detections at both stages by generator for the two categories the paper singles out (§V-C).

    Columns: generator, category, design, execution, shift (execution − design), n.
    """
    chosen = pairs[pairs["category"].isin(["adversarial_vulnerability", "metric_error"])].dropna(subset=[*STAGES])
    grouped = chosen.groupby(["generator", "category"])
    rates = grouped[list(STAGES)].mean().astype(float)
    return rates.assign(shift=rates["execution"] - rates["design"], n=grouped.size()).reset_index()
