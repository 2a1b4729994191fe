"""The pinned values: the rule that enumerates the 2,835 reference values, and how they are read.

The paper gives their number, not a list (§H). The enumeration below has that number on the same data. The pinned file
was written once from the exact computation in ``tests/exact.py``; no code in this package writes ``data/reference``.
"""

from pathlib import Path
from typing import Literal

import pandas as pd
from pydantic import ValidationInfo, field_validator
from pydantic.dataclasses import dataclass

from regatta_lib.base import LAZY, MEASURES, STAGES, Contract, paths


@dataclass(frozen=True, config=LAZY)
class ReferenceValue:
    """One pinned value and the place it comes from."""

    key: str
    value: float
    source: str


@dataclass(frozen=True, config=LAZY)
class PublishedValue:
    """One figure the paper's summary prints: the printed text, its place, and how (if at all) it is recomputed.

    ``kind`` says what a recomputed figure is, as not each is a measurement and agreement is not worth the same for all:
    ``design``, a count of the design or a product of such counts; ``enumerated``, the number of reference values, which
    follows our enumeration; ``words``, a statement in words, as 1 for true; ``line``, a count below or above a line that
    the paper does not print and we chose; ``measured``, a result. All other figures have none.
    """

    key: str
    printed: str
    place: str
    status: Literal["recomputed", "reconstructed", "quoted"]
    kind: Literal["design", "enumerated", "words", "line", "measured"] | None
    how: str

    @field_validator("kind")
    @classmethod
    def _of_what_is_recomputed(cls, kind: str | None, info: ValidationInfo) -> str | None:
        if (kind is not None) != (info.data.get("status") == "recomputed"):
            raise ValueError("a recomputed figure has a kind, any other has none")
        return kind


REFERENCE_TABLE = Contract(ReferenceValue, ("key",), 2_835)
PUBLISHED_TABLE = Contract(PublishedValue, ("key",))

TABLE3_MEASURES = (
    "n11",
    "n10",
    "n01",
    "n00",
    "fdr_design",
    "fdr_execution",
    "delta",
    "agreement",
    "pooled_chance",
    "per_fault_margin",
)


def reference_numbers(
    scores: pd.DataFrame, pairs: pd.DataFrame, table2: pd.DataFrame, table3: pd.DataFrame, table4: pd.DataFrame
) -> dict[str, float]:
    """Enumerate the reference values, {key: value}, from scores, stage pairs and Tables II–IV.

    900 ``suite/<suite>/<measure>``, 1,800 ``suite/<suite>/<stage>/<category>``,
    30 ``table2/<generator>/<category>/<stage>``, 30 ``table3/<generator>/<measure>``,
    60 ``table4/<generator>/<strategy>/<measure>``, 15 ``cells/<generator>/<cell>/rc``.
    """
    values: dict[str, float] = {}
    for row in scores.to_dict("records"):
        values |= {f"suite/{row['suite_id']}/{measure}": row[measure] for measure in MEASURES}
    for row in pairs.to_dict("records"):
        values |= {f"suite/{row['suite_id']}/{stage}/{row['category']}": row[stage] for stage in STAGES}
    for row in table2.to_dict("records"):
        values |= {f"table2/{row['generator']}/{row['category']}/{stage}": row[stage] for stage in STAGES}
    for row in table3.to_dict("records"):
        values |= {f"table3/{row['generator']}/{measure}": row[measure] for measure in TABLE3_MEASURES}
    for row in table4[table4["strategy"] != "range"].to_dict("records"):
        values |= {f"table4/{row['generator']}/{row['strategy']}/{measure}": row[measure] for measure in MEASURES}
    for row in scores.groupby(["generator", "cell"])["rc"].mean().reset_index().to_dict("records"):
        values[f"cells/{row['generator']}/{row['cell']}/rc"] = row["rc"]
    return {key: float(value) for key, value in values.items()}


def read_reference_values(folder: Path) -> pd.DataFrame:
    """The 2,835 pinned values: key, value, source."""
    return REFERENCE_TABLE.read(folder / "reference_values.csv")


def read_published_values(folder: Path) -> pd.DataFrame:
    """The figures that the paper's summary prints: key, printed, place, status, how."""
    return PUBLISHED_TABLE.read(folder / "published_values.csv")


def printed_figures(folder: Path = paths.REFERENCE) -> "pd.Series[str]":
    """The text of each published figure as printed, by its key."""
    return read_published_values(folder).set_index("key")["printed"]
