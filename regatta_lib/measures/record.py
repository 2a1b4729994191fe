"""The record of the released study: its five tables, one row type and one file contract each (design constants of §V-A)."""

from pathlib import Path
from typing import Annotated

import pandas as pd
from pydantic import Field
from pydantic.dataclasses import dataclass

from regatta_lib.base import (
    CELLS,
    GENERATORS,
    LAZY,
    REPLICATIONS,
    STRATEGIES,
    AdversarialCategory,
    Binary,
    Contract,
    ContractError,
    FaultId,
    ItemId,
    Name,
    Positive,
    Stage,
    Strategy,
    SuiteId,
    suite_id,
)

# The public release that the record was imported from.
REPOSITORY = "frank-luongt/faos-research"
COMMIT = "5b9516c366ebffa37a0064aef4460c27b1a1a643"


@dataclass(frozen=True, config=LAZY)
class Suite:
    """One generated suite: ``scenarios`` test scenarios written for one cell by one generator under one strategy."""

    suite_id: SuiteId
    generator: Name
    strategy: Strategy
    cell: Name
    replication: Positive
    scenarios: Positive


@dataclass(frozen=True, config=LAZY)
class Coverage:
    """Does any scenario of the suite cover the requirement?"""

    suite_id: SuiteId
    requirement_id: ItemId
    covered: Binary


@dataclass(frozen=True, config=LAZY)
class Detection:
    """Is the fault detected at the stage, and by which scenario first (1-based; none where it is not)?"""

    suite_id: SuiteId
    fault_id: FaultId
    stage: Stage
    detected: Binary
    scenario: Positive | None


@dataclass(frozen=True, config=LAZY)
class Specificity:
    """Likert score (1–5) of how specific one scenario is."""

    suite_id: SuiteId
    scenario: Positive
    score: Annotated[int, Field(ge=1, le=5)]


@dataclass(frozen=True, config=LAZY)
class Adversarial:
    """Does any scenario of the suite belong to the adversarial category?"""

    suite_id: SuiteId
    category: AdversarialCategory
    covered: Binary


SUITE_TABLE = Contract(Suite, ("suite_id",), 180)
COVERAGE_TABLE = Contract(Coverage, ("suite_id", "requirement_id"), 4_500)
FAULT_TABLE = Contract(Detection, ("suite_id", "fault_id", "stage"), 1_800)
SPECIFICITY_TABLE = Contract(Specificity, ("suite_id", "scenario"), 5_400)
ADVERSARIAL_TABLE = Contract(Adversarial, ("suite_id", "category"), 1_080)
RECORD_TABLES = {
    "suites": SUITE_TABLE,
    "coverage": COVERAGE_TABLE,
    "faults": FAULT_TABLE,
    "specificity": SPECIFICITY_TABLE,
    "adversarial": ADVERSARIAL_TABLE,
}


def read_record(folder: Path) -> dict[str, pd.DataFrame]:
    """Read and check the five record tables, and that each row belongs to one of the 180 suites."""
    record = {name: contract.read(folder / f"{name}.csv") for name, contract in RECORD_TABLES.items()}
    suites = record["suites"]
    expected = pd.MultiIndex.from_product([GENERATORS, STRATEGIES, CELLS, REPLICATIONS])
    ids = [suite_id(*combination) for combination in expected]
    for name, frame in record.items():
        strangers = sorted(set(frame["suite_id"].unique()) ^ set(ids))
        if strangers:
            raise ContractError(
                f"{folder / name}.csv: {strangers[0]}: suite missing or unknown, expected the {len(ids)} of the study"
            )
    names = suites[["generator", "strategy", "cell", "replication"]].itertuples(index=False)
    for suite, combination in zip(suites["suite_id"], names, strict=True):
        if suite != suite_id(*combination):
            raise ContractError(f"{folder / 'suites.csv'}: {suite}: its columns say {suite_id(*combination)}")
    return record
