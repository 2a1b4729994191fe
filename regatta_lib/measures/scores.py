"""From verdicts to scores: one evidence vector per suite, and the pairs of stage verdicts per fault (§III)."""

from typing import Annotated, Literal

import pandas as pd
from pydantic import Field
from pydantic.dataclasses import dataclass

from regatta_lib.base import LAZY, Contract, Name, Positive, Share, Strategy, SuiteId


@dataclass(frozen=True, config=LAZY)
class Score:
    """The evidence vector of a suite, e(S) = (RC, FDR_d, FDR_e, ISS, AC) (§III). An input for assurance, no decision."""

    suite_id: SuiteId
    generator: Name
    strategy: Strategy
    cell: Name
    replication: Positive
    rc: Share | None
    fdr_design: Share | None
    fdr_execution: Share | None
    iss: Annotated[float, Field(ge=1, le=5)] | None
    ac: Share | None


SCORE_TABLE = Contract(Score, ("suite_id",))

MEASURE_OF = {
    "coverage": "rc",
    "design": "fdr_design",
    "execution": "fdr_execution",
    "specificity": "iss",
    "adversarial": "ac",
}
LIKERT_ENDS = {"lowest": 1, "highest": 5}


def targets(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Reduce scenario verdicts to one value per suite, judge, target, arm and draw: the maximum over scenarios.

    A target with a "yes" is 1. One without, but with an unresolved verdict, is missing: it could be either. All others
    are 0. Specificity keeps one row per scenario. Columns: suite_id, judge, target, arm, draw, value, unresolved.

    >>> verdicts = pd.DataFrame({"target": ["f1", "f1", "f2"], "scenario": [1, 2, 1], "value": [0, 1, 0]}).assign(
    ...     suite_id="g.s.c.r1", judge="design", arm="", draw=1, state="answered")
    >>> targets(verdicts)["value"].tolist()  # f1 is detected by its second scenario
    [1, 0]
    """
    unit = verdicts["target"].where(verdicts["judge"] != "specificity", verdicts["scenario"].astype("string"))
    keys = ["suite_id", "judge", "target", "arm", "draw"]
    reduced = (
        verdicts.assign(target=unit, unresolved=(verdicts["state"] != "answered").astype(int))
        .groupby(keys, as_index=False)
        .agg(value=("value", "max"), unresolved=("unresolved", "sum"))
    )
    unknown = (reduced["unresolved"] > 0) & (reduced["value"].isna() | (reduced["value"] == 0))
    return reduced.assign(value=reduced["value"].mask(unknown))


def suite_scores(verdicts: pd.DataFrame, unresolved: Literal["missing", "lowest", "highest"] = "missing") -> pd.DataFrame:
    """The evidence vector e(S) = (RC, FDR_d, FDR_e, ISS, AC) of every suite (§III), columns of ``Score``.

    RC is the share of requirements covered by some scenario, FDR_d and FDR_e the shares of faults detected by some
    scenario, ISS the mean Likert score, AC the share of adversarial categories hit. Execution means the first draw of
    the joint arm. A measure with an unresolved target is missing, or bounded by counting it as the lowest or highest.

    >>> verdicts = pd.DataFrame({"target": ["f1", "f1", "f2"], "scenario": [1, 2, 1], "value": [0, 1, 0]}).assign(
    ...     suite_id="g.s.c.r1", judge="design", arm="", draw=1, state="answered")
    >>> suite_scores(verdicts)["fdr_design"].tolist()  # one fault of two
    [0.5]
    """
    reduced = targets(verdicts)
    reduced = reduced[(reduced["draw"] == 1) & reduced["arm"].isin(["", "joint"])]
    if unresolved != "missing":
        likert = LIKERT_ENDS[unresolved]
        bound = reduced["judge"].map(lambda judge: likert if judge == "specificity" else int(unresolved == "highest"))
        reduced = reduced.assign(value=reduced["value"].fillna(bound))
    grouped = reduced.groupby(["suite_id", "judge"])["value"]
    means = (grouped.sum() / grouped.size()).where(grouped.count() == grouped.size()).astype("float64")
    wide = means.unstack("judge").rename(columns=MEASURE_OF).reindex(columns=list(MEASURE_OF.values())).reset_index()
    return wide.join(suite_parts(wide["suite_id"]))[SCORE_TABLE.columns]


def suite_parts(suite_ids: pd.Series) -> pd.DataFrame:
    """Split suite identifiers into generator, strategy, cell and replication (an integer), on the same index."""
    parts = suite_ids.str.extract(r"^(?P<generator>[^.]+)\.(?P<strategy>[^.]+)\.(?P<cell>[^.]+)\.r(?P<replication>\d+)$")
    return parts.astype({"replication": int})


def stage_pairs(verdicts: pd.DataFrame, index: pd.DataFrame) -> pd.DataFrame:
    """One row per suite and fault with both stages' verdicts (0, 1 or missing): the unit of Tables II and III.

    Columns: suite_id, generator, strategy, cell, replication, fault_id, category, design, execution; sorted by suite
    and fault. ``index`` is the index of instruments, which gives each fault its category.
    """
    reduced = targets(verdicts)
    staged = reduced[
        reduced["judge"].isin(["design", "execution"]) & reduced["arm"].isin(["", "joint"]) & (reduced["draw"] == 1)
    ]
    wide = staged.pivot(index=["suite_id", "target"], columns="judge", values="value").reset_index()
    wide = wide.rename(columns={"target": "fault_id"}).rename_axis(columns=None)
    category = index[index["role"] == "fault"].set_index("item")["category"]
    wide = wide.join(suite_parts(wide["suite_id"])).assign(category=wide["fault_id"].map(category))
    return wide[
        ["suite_id", "generator", "strategy", "cell", "replication", "fault_id", "category", "design", "execution"]
    ].sort_values(["suite_id", "fault_id"], ignore_index=True)


def unresolved_pairs(pairs: pd.DataFrame) -> int:
    """How many rows of ``stage_pairs`` lack the verdict of a stage, or of both."""
    return int(pairs[["design", "execution"]].isna().any(axis=1).sum())
