"""The source audit for readers: which ground truths are wrong, and all items with links to their sources."""

import html
from pathlib import Path

import pandas as pd

from regatta_lib import paths, schemas
from regatta_lib.instruments import folder_of
from regatta_lib.items import AUDIT_CLASSES

TIERS = {"primary": "P", "official-secondary": "O", "secondary": "S"}


def wrong_ground_truths(audit: pd.DataFrame, root: Path = paths.INSTRUMENTS) -> pd.DataFrame:
    """The faults whose stated ground truth is wrong in whole or part, and what a correct one says.

    Columns: fault, ground_truth (its state), as_written, corrected, authority, confidence.
    """
    rows = []
    for cell in audit["cell"].unique():
        for entry in schemas.read(folder_of(cell, root), "faults").faults:
            if entry.audit.ground_truth != "correct":
                rows.append(
                    {
                        "fault": entry.id,
                        "ground_truth": entry.audit.ground_truth.replace("_", " "),
                        "as_written": entry.as_written.correct_behavior,
                        "corrected": entry.corrected.correct_behavior,
                        "authority": entry.corrected.authority,
                        "confidence": entry.audit.confidence,
                    }
                )
    return pd.DataFrame(rows)


def link(number: int, source: schemas.Source) -> str:
    """A numbered link with the letter of the source's tier; plain text where the source has no lasting address."""
    label, title = f"{TIERS[source.tier]}{number}", html.escape(source.title, quote=True)
    if source.url is None:
        return f'<span title="{title}">{label}</span>'
    address = source.url.replace("github:", "https://github.com/") if source.url.startswith("github:") else source.url
    return f'<a href="{html.escape(address, quote=True)}" title="{title}">{label}</a>'


def items_table(cell: str, root: Path = paths.INSTRUMENTS) -> str:
    """One cell's 30 items as an HTML table: class, confidence, who decided, authority and since when, links to sources.

    P stands for a primary source, O for an official secondary one, S for another secondary one.
    """
    folder = folder_of(cell, root)
    entries = [*schemas.read(folder, "requirements").requirements, *schemas.read(folder, "faults").faults]
    rows = [
        {
            "item": entry.id,
            "topic": html.escape(entry.title if isinstance(entry, schemas.FaultEntry) else entry.area),
            "class": AUDIT_CLASSES[entry.audit.audit_class],
            "confidence": entry.audit.confidence,
            "decided by": entry.audit.decided_by,
            "authority in force": html.escape(entry.corrected.authority),
            "since": entry.corrected.in_force_since or "",
            "sources": " ".join(link(number, source) for number, source in enumerate(entry.audit.sources, start=1)),
        }
        for entry in entries
    ]
    return pd.DataFrame(rows).to_html(index=False, escape=False, border=0, justify="left")


def items_page(cells: list[str], root: Path = paths.INSTRUMENTS) -> str:
    """The tables of several cells below each other, each under the title its ``cell.yaml`` gives."""
    titles = {cell: schemas.read(folder_of(cell, root), "cell").title for cell in cells}
    return "\n".join(f"<h3>{html.escape(title)}</h3>\n{items_table(cell, root)}" for cell, title in titles.items())
