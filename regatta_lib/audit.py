"""The source audit: how far its two auditors agree, and its classes by cell.

Two AI auditors classed the 150 items apart from each other; a third reader decided where they differ, and some rows were
looked at once more. The final class is that of the last step. All earlier verdicts are kept.
"""

import numpy as np
import pandas as pd

from regatta_lib import records
from regatta_lib.agreement import cohen_kappa
from regatta_lib.items import AUDIT_CLASSES
from regatta_lib.stats import percentile_interval, seeded

CLASSES = list(AUDIT_CLASSES)
PUBLISHED_KEYS = {
    "substance_error": "audit/substance_errors",
    "citation_defect": "audit/citation_defects",
    "source_flag": "audit/source_flags",
    "clean": "audit/clean",
}


def cross_table(audit: pd.DataFrame) -> pd.DataFrame:
    """The 4×4 table of the two auditors: rows first, columns second, in the order of the classes."""
    table = pd.crosstab(audit["first_class"], audit["second_class"])
    return table.reindex(index=CLASSES, columns=CLASSES, fill_value=0).rename_axis(index="first", columns="second")


def kappa_interval(table: np.ndarray, rng: np.random.Generator, resamples: int, level: float) -> tuple[float, float, float]:
    """Percentile bootstrap interval of κ over items, and the share of resamples in which κ is undefined."""
    n, side = int(table.sum()), len(table)
    drawn = rng.multinomial(n, (table / n).ravel(), size=resamples).reshape(-1, side, side)
    values = cohen_kappa(drawn)
    defined = ~np.isnan(values)
    low, high = percentile_interval(values[defined], level)
    return low, high, 1 - defined.mean()


def agreement(audit: pd.DataFrame, seed: int, resamples: int, level: float) -> pd.DataFrame:
    """How far the two auditors agree on the class.

    Columns: scope, of, n, agreed (share), kappa, ci_low, ci_high, undefined (share of resamples without κ). Scopes: all
    requirements, all faults, the requirements of each cell, and each class against the three others.
    """
    items = audit[audit["role"] == "requirement"]
    parts = {("requirements", "all"): cross_table(items), ("faults", "all"): cross_table(audit[audit["role"] == "fault"])}
    parts |= {
        ("cell", cell): cross_table(items[items["cell"] == cell]) for cell in records.CELLS if (items["cell"] == cell).any()
    }
    whole = cross_table(items).to_numpy()
    for position, name in enumerate(CLASSES):
        both, first, second = whole[position, position], whole[position].sum(), whole[:, position].sum()
        parts["class", name] = np.array([[both, first - both], [second - both, whole.sum() - first - second + both]])
    rows = []
    for (scope, of), part in parts.items():
        table = np.asarray(part)
        low, high, undefined = kappa_interval(table, seeded(seed, f"audit/{scope}/{of}"), resamples, level)
        agreed, kappa = np.trace(table) / table.sum(), float(cohen_kappa(table))
        rows.append((scope, of, int(table.sum()), agreed, kappa, low, high, undefined))
    return pd.DataFrame(rows, columns=["scope", "of", "n", "agreed", "kappa", "ci_low", "ci_high", "undefined"])


def class_counts(audit: pd.DataFrame, printed: "pd.Series[str]") -> pd.DataFrame:
    """Requirements by class: the paper's own audit, our two auditors, and the final classes. Each row sums to 125.

    The paper's counts are those it prints: ``printed`` holds the text of each published figure by its key.
    """
    items = audit[audit["role"] == "requirement"]
    counts = {"paper": {name: int(printed[key]) for name, key in PUBLISHED_KEYS.items()}} | {
        name: items[column].value_counts().to_dict()
        for name, column in (("first auditor", "first_class"), ("second auditor", "second_class"), ("final", "audit_class"))
    }
    return pd.DataFrame(counts).T.reindex(columns=CLASSES).fillna(0).astype(int).rename_axis("source").reset_index()


def audit_shares(audit: pd.DataFrame, printed: "pd.Series[str]") -> pd.DataFrame:
    """The numbers of the figure: requirements by class for each cell, all cells (``all``) and the paper's audit (``paper``).

    ``printed`` as of ``class_counts``. Columns: cell, audit_class, n, share (of the row's requirements).
    """
    items = audit[audit["role"] == "requirement"]
    counts = pd.crosstab(items["cell"], items["audit_class"]).reindex(columns=CLASSES, fill_value=0)
    totals = class_counts(audit, printed).set_index("source")
    counts.loc["all"], counts.loc["paper"] = totals.loc["final"], totals.loc["paper"]
    long = counts.rename_axis(columns="audit_class").stack().rename("n").reset_index()
    return long.assign(share=long["n"] / long.groupby("cell")["n"].transform("sum"))
