"""Verdicts: what the judges said. The historical study replays the released ones in the form live studies produce."""

from typing import Annotated

import pandas as pd
from pydantic import Field
from pydantic.dataclasses import dataclass

from regatta_lib.base import LAZY, Arm, Contract, Judge, Positive, State, SuiteId


@dataclass(frozen=True, config=LAZY)
class Verdict:
    """One answer of one judge.

    ``target`` is a requirement, a fault or an adversarial category; empty for specificity. ``arm`` and ``draw`` name
    the agent's configuration and repetition at the execution stage. ``scenario`` is the scenario judged, or, where a
    scan was recorded as one row per target, the first that succeeded. ``value`` is 0/1, or 1–5 for specificity, and
    missing unless ``state`` is ``answered``: a reply that cannot be read is its own outcome, never a "no".
    """

    suite_id: SuiteId
    judge: Judge
    target: str
    arm: Arm
    draw: Positive
    scenario: Positive | None
    state: State
    value: Annotated[int, Field(ge=0, le=5)] | None


VERDICT_TABLE = Contract(Verdict, ("suite_id", "judge", "target", "arm", "draw", "scenario"))


def replay_record(record: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """The verdicts of the released record as one table with the columns of ``Verdict``.

    The release scanned each target until the first success, so there is one row per suite and target; ``scenario`` is
    the first that succeeded, where the release names it (it does for faults, not for coverage).
    """
    faults = record["faults"]
    parts = [
        record["coverage"].rename(columns={"requirement_id": "target", "covered": "value"}).assign(judge="coverage"),
        faults.rename(columns={"fault_id": "target", "stage": "judge", "detected": "value"}).assign(
            arm=faults["stage"].map({"design": "", "execution": "joint"})
        ),
        record["specificity"].rename(columns={"score": "value"}).assign(judge="specificity"),
        record["adversarial"].rename(columns={"category": "target", "covered": "value"}).assign(judge="adversarial"),
    ]
    verdicts = pd.concat(parts, ignore_index=True).assign(draw=1, state="answered")
    verdicts = verdicts.fillna({"target": "", "arm": ""})
    return verdicts[VERDICT_TABLE.columns].sort_values(list(VERDICT_TABLE.key), na_position="first", ignore_index=True)
