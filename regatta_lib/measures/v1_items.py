"""V1 in full: how hard each requirement is to cover, with uncertainty, and by area (§V-B)."""

from collections.abc import Callable
from typing import Literal

import numpy as np
import pandas as pd
from pydantic.dataclasses import dataclass

from regatta_lib.base import Contract, ContractError, ItemId
from regatta_lib.measures.scores import suite_parts, targets
from regatta_lib.stats import Floats, exact_interval, percentile_interval, resampled_sums


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


def difficulty_by_cell(items: pd.DataFrame) -> pd.DataFrame:
    """The shares of ``item_difficulty`` summed up by cell (the index).

    Columns: requirements, unresolved (verdicts), then mean, median and sd of the shares, and how many are 0 (never).
    """
    shares = {"mean": ("share", "mean"), "median": ("share", "median"), "sd": ("share", "std"), "never": ("never", "sum")}
    groups = items.assign(never=items["share"] == 0).groupby("cell")
    return groups.agg(requirements=("item", "size"), unresolved=("unresolved", "sum"), **shares)


RARELY, NEARLY_ALWAYS = 0.25, 0.9
CORE = "aml_privacy"
PAPER_AREAS = ("disclosure", "prudential", "administrative")


@dataclass(frozen=True)
class Area:
    """The area a requirement belongs to, as its checklist names it, and the group it falls in for ``area_test``.

    ``aml_privacy``: money laundering, customer identification, sanctions, privacy and data security. ``disclosure``:
    documents and notices owed to a customer. ``prudential``: capital, liquidity, reserves, limits and other financial
    ratios. ``administrative``: filing, licensing, reporting, records and governance. ``other``: everything else.
    """

    item: ItemId
    area: str
    group: Literal["aml_privacy", "disclosure", "prudential", "administrative", "other"]


AREA_TABLE = Contract(Area, ("item",))


def difficulty_table(verdicts: pd.DataFrame, index: pd.DataFrame, areas: pd.DataFrame, level: float) -> pd.DataFrame:
    """Each requirement's share with a Clopper–Pearson interval, its area, and the covering suites by generator.

    Columns: cell, item, area, group, suites, unresolved, covered, share, low, high, then covered_<generator>. The
    interval treats a cell's suites as exchangeable draws. They are drawn under fixed strategies and generators, which
    makes the interval too wide rather than too narrow. Raises ContractError if a requirement has no area.
    """
    items = item_difficulty(verdicts, index).merge(areas, on="item", how="left", validate="one_to_one")
    if items["group"].isna().any():
        raise ContractError(f"areas: no row for {items.loc[items['group'].isna(), 'item'].iloc[0]}, expected one per item")
    low, high = exact_interval(items["covered"].to_numpy(), items["suites"].to_numpy(), level)
    by_generator = coverage_matrix(verdicts).groupby("generator").sum().T.astype(int).add_prefix("covered_")
    items = items.assign(low=low, high=high).join(by_generator, on="item")
    first = ["cell", "item", "area", "group", "suites", "unresolved", "covered", "share", "low", "high"]
    return items[[*first, *by_generator.columns]]


def coverage_matrix(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Coverage verdicts, suites in rows (index: generator, strategy, cell, suite_id) and requirements in columns.

    1 and 0; missing where the suite belongs to another cell or the verdict is unresolved.
    """
    reduced = targets(verdicts[verdicts["judge"] == "coverage"])
    wide = reduced.pivot(index="suite_id", columns="target", values="value").astype(float)
    parts = suite_parts(wide.index.to_series())
    return wide.set_index([parts["generator"], parts["strategy"], parts["cell"]], append=True).reorder_levels(
        ["generator", "strategy", "cell", "suite_id"]
    )


SUMMARIES: dict[str, Callable[[Floats], Floats]] = {
    "mean": lambda shares: shares.mean(axis=-1),
    "median": lambda shares: np.median(shares, axis=-1),
    "sd": lambda shares: shares.std(axis=-1, ddof=1),
    "never covered": lambda shares: (shares == 0).sum(axis=-1),
    "over 90 %": lambda shares: (shares > NEARLY_ALWAYS).sum(axis=-1),
    "under 25 %": lambda shares: (shares < RARELY).sum(axis=-1),
}


def difficulty_summary(
    verdicts: pd.DataFrame, items: pd.DataFrame, rng: np.random.Generator, resamples: int, level: float
) -> pd.DataFrame:
    """The published summary figures of V1 and the cell means, with percentile intervals of a cluster bootstrap.

    Suites are drawn within their cell, all requirements of a suite together. Columns: statistic, value, low, high, items.
    The number of items never covered has no interval: an item that the sample never covers is never covered by a
    resample either, and others join it, so all replicates lie above the estimate. The standard deviation over items is
    biased upwards by sampling noise.
    """
    matrix = coverage_matrix(verdicts)
    replicates: dict[str, Floats] = {}
    for cell, part in matrix.groupby("cell", sort=True):
        values = part[items.loc[items["cell"] == cell, "item"]].to_numpy()
        known = ~np.isnan(values)
        sums = resampled_sums(rng, np.concatenate([np.nan_to_num(values), known], axis=1), resamples)
        covered, suites = np.split(sums, 2, axis=1)
        replicates[str(cell)] = covered / suites
    everything = np.concatenate([replicates[cell] for cell in sorted(replicates)], axis=1)
    ordered = items.sort_values(["cell", "item"])
    rows: list[tuple[str, float | Floats, Floats, int]] = [
        (name, statistic(ordered["share"].to_numpy()), statistic(everything), len(ordered))
        for name, statistic in SUMMARIES.items()
    ]
    for cell, part in ordered.groupby("cell", sort=True):
        rows.append((f"mean of {cell}", part["share"].mean(), replicates[str(cell)].mean(axis=1), len(part)))
    return pd.DataFrame(
        [
            {"statistic": name, "value": float(value), **dict(zip(("low", "high"), interval, strict=True)), "items": count}
            for name, value, draws, count in rows
            for interval in [(np.nan, np.nan) if name == "never covered" else map(float, percentile_interval(draws, level))]
        ]
    )


def area_test(items: pd.DataFrame) -> pd.DataFrame:
    """Are the never-covered requirements concentrated in the areas the paper names? (§V-B)

    One row per group: items, never covered, over 90 %, mean share; then the comparison of the named groups together
    with the AML/privacy core: odds ratio and two-sided p of Fisher's exact test on "never covered". Items are the unit;
    that they sit in five cells of unlike difficulty is not modelled.
    """
    from scipy.stats import fisher_exact

    flagged = items.assign(never=items["covered"] == 0, nearly_always=items["share"] > NEARLY_ALWAYS)
    columns = {"items": ("item", "size"), "never": ("never", "sum"), "nearly_always": ("nearly_always", "sum")}
    groups = flagged.groupby("group").agg(**columns, mean_share=("share", "mean")).reset_index()
    named, core = (flagged[flagged["group"].isin(chosen)] for chosen in (PAPER_AREAS, (CORE,)))
    table = [[int(part["never"].sum()), int((~part["never"]).sum())] for part in (named, core)]
    result = fisher_exact(np.array(table))
    comparison = {
        "group": f"{' + '.join(PAPER_AREAS)} against {CORE}",
        "items": len(named) + len(core),
        "never": table[0][0] + table[1][0],
        "nearly_always": int(named["nearly_always"].sum() + core["nearly_always"].sum()),
        "odds_ratio": float(result.statistic),
        "p": float(result.pvalue),
    }
    return pd.concat([groups, pd.DataFrame([comparison])], ignore_index=True)
