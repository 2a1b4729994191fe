"""The source audit as a table, how far its two auditors agree, and its classes by cell.

Two AI auditors classed the 150 items apart from each other; a third reader decided where they differ, and some rows were
looked at once more. The final class is that of the last step. All earlier verdicts are kept.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from regatta_lib import paths, records, schemas
from regatta_lib.instruments import folder_of
from regatta_lib.items import AUDIT_CLASSES
from regatta_lib.reference import read_published_values
from regatta_lib.stats import percentile_interval, seeded

CLASSES = list(AUDIT_CLASSES)
PUBLISHED_KEYS = {
    "substance_error": "audit/substance_errors",
    "citation_defect": "audit/citation_defects",
    "source_flag": "audit/source_flags",
    "clean": "audit/clean",
}


def sources_text(sources: Iterable[schemas.Source]) -> str:
    """Sources in one cell of a table: ``tier: title <address>``, joined by `` | ``."""
    return " | ".join(f"{s.tier}: {s.title} <{s.url or 'no lasting address'}>" for s in sources)


def audit_rows(cell: str, root: Path = paths.INSTRUMENTS) -> list[dict[str, object]]:
    """The 30 rows of one cell as dictionaries with the fields of ``items.AuditRow``."""
    folder = folder_of(cell, root)
    entries = [*schemas.read(folder, "requirements").requirements, *schemas.read(folder, "faults").faults]
    ledger = {item.id: {verdict.step: verdict for verdict in item.verdicts} for item in schemas.read(folder, "ledger").items}
    rows = []
    for entry in entries:
        is_fault = isinstance(entry, schemas.FaultEntry)
        classes = {step: verdict.audit_class for step, verdict in ledger[entry.id].items()}
        second, adjudicated = classes.get("second"), ledger[entry.id].get("adjudicated")
        rows.append(
            {
                "cell": cell,
                "item": entry.id,
                "role": "fault" if is_fault else "requirement",
                "category": entry.category if is_fault else entry.kind,
                "audit_class": entry.audit.audit_class,
                "ground_truth": entry.audit.ground_truth if is_fault else None,
                "finding": entry.audit.finding,
                "rule": entry.corrected.correct_behavior if is_fault else entry.corrected.text,
                "authority": entry.corrected.authority,
                "in_force_since": entry.corrected.in_force_since,
                "supersedes": entry.corrected.supersedes,
                "sources": sources_text(entry.audit.sources),
                "confidence": entry.audit.confidence,
                "auditor": entry.audit.decided_by,
                "reviewer_status": entry.audit.reviewer_status,
                "first_class": classes["first"],
                "second_class": second,
                "agreed": None if second is None else "yes" if second == classes["first"] else "no",
                "adjudicated_class": classes.get("adjudicated"),
                "recheck_class": classes.get("recheck"),
                "adjudication": adjudicated.reason if adjudicated else None,
            }
        )
    return rows


def audit_table(cells: Iterable[str] = tuple(records.CELLS), root: Path = paths.INSTRUMENTS) -> pd.DataFrame:
    """The audit of ``cells`` (by default the 150 rows of the paper's), sorted by cell and item."""
    rows = [row for cell in cells for row in audit_rows(cell, root)]
    return pd.DataFrame(rows).sort_values(["cell", "item"], ignore_index=True)


def cross_table(audit: pd.DataFrame) -> pd.DataFrame:
    """The 4×4 table of the two auditors: rows first, columns second, in the order of the classes."""
    table = pd.crosstab(audit["first_class"], audit["second_class"])
    return table.reindex(index=CLASSES, columns=CLASSES, fill_value=0).rename_axis(index="first", columns="second")


def kappa(table: np.ndarray) -> float:
    """Cohen's κ = (p_o − p_e) / (1 − p_e) of a square table of counts; NaN where both raters use one class only."""
    if np.trace(table.sum(axis=0)[:, None] * table.sum(axis=1)) == table.sum() ** 2:
        return float("nan")
    from statsmodels.stats.inter_rater import cohens_kappa  # over a second to import; verification needs none of it

    return float(cohens_kappa(table, return_results=False))


def kappa_interval(table: np.ndarray, rng: np.random.Generator, resamples: int, level: float) -> tuple[float, float, float]:
    """Percentile bootstrap interval of κ over items, and the share of resamples in which κ is undefined."""
    n, side = int(table.sum()), len(table)
    drawn = rng.multinomial(n, (table / n).ravel(), size=resamples).reshape(-1, side, side)
    observed = np.trace(drawn, axis1=1, axis2=2) / n
    expected = (drawn.sum(axis=2) * drawn.sum(axis=1)).sum(axis=1) / n**2
    defined = expected < 1
    values = (observed[defined] - expected[defined]) / (1 - expected[defined])
    low, high = percentile_interval(values, level)
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
        rows.append((scope, of, int(table.sum()), np.trace(table) / table.sum(), kappa(table), low, high, undefined))
    return pd.DataFrame(rows, columns=["scope", "of", "n", "agreed", "kappa", "ci_low", "ci_high", "undefined"])


def class_counts(audit: pd.DataFrame, folder: Path = paths.REFERENCE) -> pd.DataFrame:
    """Requirements by class: the paper's own audit, our two auditors, and the final classes. Each row sums to 125.

    The paper's counts are those it prints, from ``published_values.csv`` in ``folder``.
    """
    items = audit[audit["role"] == "requirement"]
    printed = read_published_values(folder).set_index("key")["printed"]
    counts = {"paper": {name: int(printed[key]) for name, key in PUBLISHED_KEYS.items()}} | {
        name: items[column].value_counts().to_dict()
        for name, column in (("first auditor", "first_class"), ("second auditor", "second_class"), ("final", "audit_class"))
    }
    return pd.DataFrame(counts).T.reindex(columns=CLASSES).fillna(0).astype(int).rename_axis("source").reset_index()


def audit_shares(audit: pd.DataFrame, folder: Path = paths.REFERENCE) -> pd.DataFrame:
    """The numbers of the figure: requirements by class for each cell, all cells (``all``) and the paper's audit (``paper``).

    Columns: cell, audit_class, n, share (of the row's requirements).
    """
    items = audit[audit["role"] == "requirement"]
    counts = pd.crosstab(items["cell"], items["audit_class"]).reindex(columns=CLASSES, fill_value=0)
    totals = class_counts(audit, folder).set_index("source")
    counts.loc["all"], counts.loc["paper"] = totals.loc["final"], totals.loc["paper"]
    long = counts.rename_axis(columns="audit_class").stack().rename("n").reset_index()
    return long.assign(share=long["n"] / long.groupby("cell")["n"].transform("sum"))
