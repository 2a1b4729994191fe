"""The pinned values: the rule that enumerates the 2,835 reference values, and how they are read.

The paper gives their number, not a list (§H). The enumeration below has that number on the same data. The pinned file
was written once from the exact computation in ``tests/exact.py``; no code in this package writes ``data/reference``.
"""

from pathlib import Path

import pandas as pd

from regatta_lib import paths, records
from regatta_lib.contracts import PUBLISHED_VALUES, REFERENCE_VALUES

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


def recompute(
    scores: pd.DataFrame, pairs: pd.DataFrame, table2: pd.DataFrame, table3: pd.DataFrame, table4: pd.DataFrame
) -> dict[str, float]:
    """Enumerate the reference values, {key: value}, from scores, stage pairs and Tables II–IV.

    900 ``suite/<suite>/<measure>``, 1,800 ``suite/<suite>/<stage>/<category>``,
    30 ``table2/<generator>/<category>/<stage>``, 30 ``table3/<generator>/<measure>``,
    60 ``table4/<generator>/<strategy>/<measure>``, 15 ``cells/<generator>/<cell>/rc``.
    """
    values: dict[str, float] = {}
    for row in scores.to_dict("records"):
        values |= {f"suite/{row['suite_id']}/{measure}": row[measure] for measure in records.MEASURES}
    for row in pairs.to_dict("records"):
        values |= {f"suite/{row['suite_id']}/{stage}/{row['category']}": row[stage] for stage in records.STAGES}
    for row in table2.to_dict("records"):
        values |= {f"table2/{row['generator']}/{row['category']}/{stage}": row[stage] for stage in records.STAGES}
    for row in table3.to_dict("records"):
        values |= {f"table3/{row['generator']}/{measure}": row[measure] for measure in TABLE3_MEASURES}
    for row in table4[table4["strategy"] != "range"].to_dict("records"):
        values |= {f"table4/{row['generator']}/{row['strategy']}/{measure}": row[measure] for measure in records.MEASURES}
    for (generator, cell), coverage in scores.groupby(["generator", "cell"])["rc"].mean().items():
        values[f"cells/{generator}/{cell}/rc"] = coverage
    return {key: float(value) for key, value in values.items()}


def read_reference_values(folder: Path) -> pd.DataFrame:
    """The 2,835 pinned values: key, value, source."""
    return REFERENCE_VALUES.read(folder / "reference_values.csv")


def read_published_values(folder: Path) -> pd.DataFrame:
    """The figures that the paper's summary prints: key, printed, place, status, how."""
    return PUBLISHED_VALUES.read(folder / "published_values.csv")


def printed_figures(folder: Path = paths.REFERENCE) -> "pd.Series[str]":
    """The text of each published figure as printed, by its key."""
    return read_published_values(folder).set_index("key")["printed"]
