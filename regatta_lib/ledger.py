"""The ledgers of the source audit, one per cell, as one table."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from regatta_lib import paths, records, schemas
from regatta_lib.instruments import folder_of


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
                "listed_last": adjudicated.listed_last if adjudicated else None,
                "recheck_class": classes.get("recheck"),
                "adjudication": adjudicated.reason if adjudicated else None,
            }
        )
    return rows


def audit_table(cells: Iterable[str] = tuple(records.CELLS), root: Path = paths.INSTRUMENTS) -> pd.DataFrame:
    """The audit of ``cells`` (by default the 150 rows of the paper's), sorted by cell and item."""
    rows = [row for cell in cells for row in audit_rows(cell, root)]
    return pd.DataFrame(rows).sort_values(["cell", "item"], ignore_index=True)
