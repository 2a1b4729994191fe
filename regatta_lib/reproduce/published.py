"""The paper's printed figures, recomputed: one number per key of ``published_values.csv`` with status ``recomputed``."""

import itertools
from typing import Annotated, Literal

import pandas as pd
from pydantic import Field
from pydantic.dataclasses import dataclass

from regatta_lib import measures
from regatta_lib.base import GENERATORS, LAZY, STAGES, Contract, Share
from regatta_lib.stats import parse, tables_with_kappa


@dataclass(frozen=True, config=LAZY)
class ReconstructedTable:
    """One 2×2 table of two raters that is consistent with a printed agreement and κ (§V-F)."""

    claim: Literal["adjudication", "probes_gpt4o"]
    n11: Annotated[int, Field(ge=0)]
    n10: Annotated[int, Field(ge=0)]
    n01: Annotated[int, Field(ge=0)]
    n00: Annotated[int, Field(ge=0)]
    agreement: Share
    kappa: float


RECONSTRUCTED_TABLE = Contract(ReconstructedTable, ("claim", "n11", "n10", "n01", "n00"))

TOP_THREE = ["missing_regulation", "threshold_error", "metric_error"]
BOTTOM_PAIR = {"role_boundary", "adversarial_vulnerability"}
WEAK_RANGE = 0.05
NEAR_CEILING = 0.85


def _same(counts: pd.Series) -> int:
    """The one value of a series; a design constant that varies has none, and then fails every comparison."""
    return int(counts.iloc[0]) if counts.nunique() == 1 else -1


def design_constants(index: pd.DataFrame, suites: pd.DataFrame) -> dict[str, float]:
    """Counts of the design (§I, §III, §V-A) and the bound on calls (§V-G), from the instruments and the suites."""
    items, faults = (index[index["role"] == role] for role in ("requirement", "fault"))
    per_cell = {role: _same(part.groupby("cell").size()) for role, part in (("items", items), ("faults", faults))}
    scenarios = _same(suites["scenarios"])
    cells = index["cell"].unique()
    retest = int((suites["cell"] == "us_insurance").sum())
    return {
        "design/items": len(items),
        "design/cells": len(cells),
        "design/cells_vietnam": sum(cell.startswith("vn_") for cell in cells),
        "design/jurisdictions": len({cell.split("_")[0] for cell in cells}),
        "design/items_per_cell": per_cell["items"],
        "design/faults": len(faults),
        "design/faults_per_cell": per_cell["faults"],
        "design/fault_categories": faults["category"].nunique(),
        "design/stages": len(STAGES),
        "design/generators": suites["generator"].nunique(),
        "design/strategies": suites["strategy"].nunique(),
        "design/replications": suites["replication"].nunique(),
        "design/suites": len(suites),
        "design/suites_per_generator": _same(suites.groupby("generator").size()),
        "design/scenarios_per_suite": scenarios,
        "design/scenarios": int(suites["scenarios"].sum()),
        "audit/faults_misstated_of": len(faults),
        "retest/suites": retest,
        "retest/pairs": retest * per_cell["faults"],
        "cost/judge_calls": scenarios * (per_cell["items"] + per_cell["faults"] * len(STAGES) + 2),
        "cost/agent_calls": scenarios * per_cell["faults"],
    }


def difficulty_figures(difficulty: pd.DataFrame) -> dict[str, float]:
    """V1 (§V-B): summary of the items' coverage shares."""
    share = difficulty["share"]
    cells = difficulty.groupby("cell")["share"].mean()
    return {
        "v1/mean": share.mean(),
        "v1/median": share.median(),
        "v1/sd": share.std(),
        "v1/never_covered": int((share == 0).sum()),
        "v1/over_90_percent": int((share > 0.90).sum()),
        "v1/under_a_quarter": int((share < 0.25).sum()),
        "v1/cell_mean/us_insurance": cells["us_insurance"],
        "v1/cell_mean/vn_banking": cells["vn_banking"],
        "v1/cell_mean_lowest": cells.min(),
        "v1/cell_mean_highest": cells.max(),
    }


def profile_figures(pairs: pd.DataFrame, table2: pd.DataFrame) -> dict[str, float]:
    """V2 (§V-C, Table II): persistence of the execution profile, and the moves between the stages."""
    profile = measures.execution_profile(pairs)
    orders = [list(profile[generator].sort_values(ascending=False).index) for generator in profile]
    missing = profile.loc["missing_regulation"].to_numpy()
    change = (table2["execution"] - table2["design"]).groupby(table2["category"])
    return {
        "v2/order_persists": int(measures.profile_persists(profile)),
        "v2/top_three_as_printed": int(all(order[:3] == TOP_THREE for order in orders)),
        "v2/bottom_pair_as_printed": int(all(set(order[3:]) == BOTTOM_PAIR for order in orders)),
        "v2/missing_regulation_execution_lowest": missing.min(),
        "v2/missing_regulation_execution_highest": missing.max(),
        "v2/adversarial_falls": int((change.get_group("adversarial_vulnerability") < 0).sum()),
        "v2/metric_rises": int((change.get_group("metric_error") > 0).sum()),
    }


def agreement_figures(table3: pd.DataFrame) -> dict[str, float]:
    """V3 (§V-D, Table III, Figure 2): agreement, its comparison with chance, and the difference of the stages."""
    by = table3.set_index("generator")
    percent = 100 * by["agreement"]
    spans = (by["ci_low"] <= 0) & (by["ci_high"] >= 0)
    return {
        "v3/agreement_lowest_percent": percent.min(),
        "v3/agreement_highest_percent": percent.max(),
        "v3/agreement_lowest_percent_whole": percent.min(),
        "v3/agreement_highest_percent_whole": percent.max(),
        "v3/generators_above_pooled_chance": int((by["agreement"] > by["pooled_chance"]).sum()),
        "v3/margins_spanning_zero": int(spans.sum()),
        "v3/gemma26b_margin_spans_zero": int(spans["gemma26b"]),
    } | {
        f"v3/{measure}/{generator}": by.loc[generator, measure]
        for measure, generator in itertools.product(("agreement", "delta"), GENERATORS)
    }


def separation_figures(scores: pd.DataFrame) -> dict[str, float]:
    """V4 (§V-E, Table IV): the ranges of the strategy means over the generators; AC near its ceiling (§V-F)."""
    ranges = measures.strategy_range(scores)
    detection = ranges[["fdr_design", "fdr_execution"]]
    return {
        "v4/coverage_range_lowest_points": 100 * ranges["rc"].min(),
        "v4/coverage_range_highest_points": 100 * ranges["rc"].max(),
        "v4/specificity_range_lowest": ranges["iss"].min(),
        "v4/specificity_range_highest": ranges["iss"].max(),
        "v4/detection_range_lowest": detection.min(axis=None),
        "v4/detection_range_highest": detection.max(axis=None),
        "v4/adversarial_weak_generators": int((ranges["ac"] < WEAK_RANGE).sum()),
        "second_judge/ac_near_ceiling_generators": int((scores.groupby("generator")["ac"].mean() > NEAR_CEILING).sum()),
    }


def agrees(printed: str, value: float) -> bool:
    """Whether a number rounds to the printed text, by the one rule of ``stats.parse(printed).fits``."""
    return parse(printed).fits(float(value))


def reconstructed_tables(printed: "pd.Series[str]") -> pd.DataFrame:
    """All tables behind the two agreement checks of §V-F, from their printed figures (keys of published_values.csv).

    The expert adjudication is one-sided: its seven disagreements were all credited by the judge, rejected by the expert.
    Columns: those of ``stats.tables_with_kappa``, and claim.
    """
    pairs, disagreements = int(printed["agreement/pairs"]), int(printed["agreement/disagreements"])
    probes, agreements = int(printed["probes/count"]), int(printed["probes/gpt4o_agreements"])
    claims = {
        "adjudication": tables_with_kappa(printed["agreement/kappa"], pairs, pairs - disagreements, disagreements),
        "probes_gpt4o": tables_with_kappa(printed["probes/gpt4o_kappa"], probes, agreements),
    }
    return pd.concat([table.assign(claim=claim) for claim, table in claims.items()], ignore_index=True)
