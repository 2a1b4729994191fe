"""A study with arms in one table: what the faults change, false alarms, retest, second judge, planted verdicts."""

from typing import Annotated

import pandas as pd
from pydantic import Field
from pydantic.dataclasses import dataclass

from regatta_lib import agreement, arms, scores, stage_agreement, tables
from regatta_lib.contracts import Contract
from regatta_lib.stats import seeded


@dataclass(frozen=True)
class Quantity:
    """One quantity of a study: its value over ``n`` resolved units, with an interval where it has one."""

    quantity: str
    value: float | None
    low: float | None
    high: float | None
    n: Annotated[int, Field(ge=0)]
    unresolved: Annotated[int, Field(ge=0)]


SUMMARY = Contract(Quantity, ("quantity",))


def summary(
    verdicts: pd.DataFrame,
    second: pd.DataFrame,
    canaries: pd.DataFrame,
    index: pd.DataFrame,
    bootstrap: tables.Bootstrap,
) -> pd.DataFrame:
    """The quantities of a study with one generator, in the columns of ``Quantity``.

    ``verdicts`` holds the arms joint, control and single, ``second`` the second judge's verdicts on a sample, ``canaries``
    the items with a planted verdict (columns of ``canaries.CanaryResult``). n counts suites (``suites``), fault–suite
    pairs (stages, arms, retest), items (``second_judge/…``) or canaries. Intervals are percentile intervals over suites
    within their cell.
    """
    pairs = scores.stage_pairs(verdicts, index)
    missing = int(pairs[["design", "execution"]].isna().any(axis=1).sum())
    stages = tables.table3(pairs, bootstrap).to_dict("records")[0]
    retest = stage_agreement.repeated_execution(verdicts, bootstrap).to_dict("records")[0]
    n, again = stages["pairs"], retest["pairs"]
    alarms = arms.false_alarms(verdicts, bootstrap.level)
    faults = int(alarms["faults"].sum())
    rows = [
        ("suites", verdicts["suite_id"].nunique(), None, None, verdicts["suite_id"].nunique(), 0),
        ("verdicts", len(verdicts), None, None, int(verdicts["value"].notna().sum()), int(verdicts["value"].isna().sum())),
        *((name, stages[name], None, None, n, missing) for name in ("fdr_design", "fdr_execution", "pooled_chance")),
        ("stage_agreement", stages["agreement"], None, None, n, missing),
        ("per_fault_margin", stages["per_fault_margin"], stages["ci_low"], stages["ci_high"], n, missing),
        ("false_alarms", alarms["alarms"].sum() / faults, None, None, faults, int(alarms["unresolved"].sum())),
        ("retest_agreement", retest["retest_agreement"], None, None, again, retest["unresolved"]),
        ("retest_stage_agreement", retest["stage_agreement"], None, None, again, retest["unresolved"]),
        ("retest_excess", retest["excess"], retest["low"], retest["high"], again, retest["unresolved"]),
        ("canaries_held", canaries["held"].mean(), None, None, len(canaries), 0),
    ]
    for name, other in (("mutation_effect", "control"), ("interaction", "single")):
        rng = seeded(bootstrap.seed, f"pilot/{name}")
        effect = arms.overall_effect(arms.arm_pairs(verdicts, "joint", other), rng, bootstrap.resamples, bootstrap.level)
        rows.append((name, *(effect[key] for key in ("effect", "low", "high", "pairs", "unresolved"))))
    rng = seeded(bootstrap.seed, "pilot/judges")
    sampled = verdicts[verdicts["judge"].isin(second["judge"])]
    for row in agreement.compare_judges(sampled, second, rng, bootstrap.resamples, bootstrap.level).to_dict("records"):
        kappa = (row["kappa"], row["kappa_low"], row["kappa_high"])
        rows.append((f"second_judge/{row['judge']}", *kappa, row["pairs"], row["unresolved"]))
    return pd.DataFrame(rows, columns=SUMMARY.columns).sort_values("quantity", ignore_index=True)
