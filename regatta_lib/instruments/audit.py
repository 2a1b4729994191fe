"""The source audit: how far its two auditors agree, and its classes by cell.

Two AI auditors classed the 150 items apart from each other; a third reader decided where they differ, and some rows were
looked at once more. The final class is that of the last step. All earlier verdicts are kept.
"""

import html
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic.dataclasses import dataclass

from regatta_lib.base import CELLS, LAZY, Contract, ItemId, Name, Share, paths
from regatta_lib.instruments import schemas
from regatta_lib.instruments.items import AUDIT_CLASSES, AuditClass, AuditStep, Confidence, GroundTruth, IsoDate, Line
from regatta_lib.instruments.reading import folder_of
from regatta_lib.stats import cohen_kappa, percentile_interval, seeded


@dataclass(frozen=True, config=LAZY)
class AuditRow:
    """One row of ``audit.csv``: the final verdict on an item, the rule in force, and who said what on the way.

    ``category`` is a requirement's kind or a fault's category. ``auditor`` is the step of the audit that decided;
    ``agreed`` compares the first two, who worked apart; ``listed_last`` is the class of that of their views which the third
    reader saw second. ``sources`` is ``tier: title <address>``, joined by `` | ``.
    """

    cell: Name
    item: ItemId
    role: Literal["requirement", "fault"]
    category: Line
    audit_class: AuditClass
    ground_truth: GroundTruth | None
    finding: Line
    rule: Line
    authority: Line
    in_force_since: IsoDate | None
    supersedes: Line | None
    sources: Line
    confidence: Confidence
    auditor: AuditStep
    reviewer_status: Literal["AI review only"]
    first_class: AuditClass
    second_class: AuditClass | None
    agreed: Literal["yes", "no"] | None
    adjudicated_class: AuditClass | None
    listed_last: AuditClass | None
    recheck_class: AuditClass | None
    adjudication: Line | None


@dataclass(frozen=True, config=LAZY)
class AuditShare:
    """One segment of the audit figure: requirements of one class in a cell, in all (``all``) or in the paper's audit."""

    cell: Name
    audit_class: AuditClass
    n: int
    share: Share


@dataclass(frozen=True, config=LAZY)
class Agreement:
    """How far the two auditors agree on the class within one scope: share agreed and κ with its bootstrap interval.

    ``undefined`` is the share of resamples in which κ does not exist (both auditors constant).
    """

    scope: Literal["requirements", "faults", "cell", "class"]
    of: Name
    n: int
    agreed: Share
    kappa: float
    ci_low: float
    ci_high: float
    undefined: Share


AUDIT_TABLE = Contract(AuditRow, ("cell", "item"), 150)
CELL_AUDIT_TABLE = Contract(AuditRow, ("cell", "item"), 30)
AUDIT_SHARE_TABLE = Contract(AuditShare, ("cell", "audit_class"))
AUDIT_AGREEMENT_TABLE = Contract(Agreement, ("scope", "of"))

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


def kappa_interval(
    table: NDArray[np.int64], rng: np.random.Generator, resamples: int, level: float
) -> tuple[float, float, float]:
    """Percentile bootstrap interval of κ over items, and the share of resamples in which κ is undefined."""
    n, side = int(table.sum()), len(table)
    drawn = rng.multinomial(n, (table / n).ravel(), size=resamples).reshape(-1, side, side)
    values = cohen_kappa(drawn)
    defined = ~np.isnan(values)
    low, high = percentile_interval(values[defined], level)
    return float(low), float(high), float(1 - defined.mean())


def agreement(audit: pd.DataFrame, seed: int, resamples: int, level: float) -> pd.DataFrame:
    """How far the two auditors agree on the class.

    Columns: scope, of, n, agreed (share), kappa, ci_low, ci_high, undefined (share of resamples without κ). Scopes: all
    requirements, all faults, the requirements of each cell, and each class against the three others.
    """
    items = audit[audit["role"] == "requirement"]
    parts: dict[tuple[str, str], pd.DataFrame | NDArray[np.int64]] = {
        ("requirements", "all"): cross_table(items),
        ("faults", "all"): cross_table(audit[audit["role"] == "fault"]),
    }
    parts |= {("cell", cell): cross_table(items[items["cell"] == cell]) for cell in CELLS if (items["cell"] == cell).any()}
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
    long = counts.rename_axis(columns="audit_class").stack().to_frame("n").reset_index()  # type: ignore[operator]  # the stubs lack stack
    return long.assign(share=long["n"] / long.groupby("cell")["n"].transform("sum"))


def sources_text(sources: Iterable[schemas.AuditSource]) -> str:
    """Sources in one cell of a table: ``tier: title <address>``, joined by `` | ``."""
    return " | ".join(f"{s.tier}: {s.title} <{s.url or 'no lasting address'}>" for s in sources)


def audit_rows(cell: str, root: Path = paths.INSTRUMENTS) -> list[dict[str, object]]:
    """The 30 rows of one cell as dictionaries with the fields of ``AuditRow``."""
    folder = folder_of(cell, root)
    entries = schemas.read_entries(folder)
    opinions = schemas.read_part(folder, schemas.LedgerFile).items
    ledger = {item.id: {verdict.step: verdict for verdict in item.verdicts} for item in opinions}
    rows: list[dict[str, object]] = []
    for entry in entries:
        classes = {step: verdict.audit_class for step, verdict in ledger[entry.id].items()}
        second, adjudicated = classes.get("second"), ledger[entry.id].get("adjudicated")
        rows.append(
            {
                "cell": cell,
                "item": entry.id,
                "role": "fault" if isinstance(entry, schemas.FaultEntry) else "requirement",
                "category": entry.category,
                "audit_class": entry.audit.audit_class,
                "ground_truth": entry.audit.ground_truth if isinstance(entry, schemas.FaultEntry) else None,
                "finding": entry.audit.finding,
                "rule": entry.rule,
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


def audit_table(cells: Iterable[str] = tuple(CELLS), root: Path = paths.INSTRUMENTS) -> pd.DataFrame:
    """The audit of ``cells`` (by default the 150 rows of the paper's), sorted by cell and item."""
    rows = [row for cell in cells for row in audit_rows(cell, root)]
    return pd.DataFrame(rows).sort_values(["cell", "item"], ignore_index=True)


TIERS = {"primary": "P", "official-secondary": "O", "secondary": "S"}


def wrong_ground_truths(audit: pd.DataFrame, root: Path = paths.INSTRUMENTS) -> pd.DataFrame:
    """The faults whose stated ground truth is wrong in whole or part, and what a correct one says.

    Columns: fault, ground_truth (its state), as_written, corrected, authority, confidence.
    """
    rows = []
    for cell in audit["cell"].unique():
        for entry in schemas.read_part(folder_of(cell, root), schemas.FaultsFile).faults:
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


def link(number: int, source: schemas.AuditSource) -> str:
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
    entries = schemas.read_entries(folder)
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
    titles = {cell: schemas.read_part(folder_of(cell, root), schemas.CellFile).title for cell in cells}
    return "\n".join(f"<h3>{html.escape(title)}</h3>\n{items_table(cell, root)}" for cell, title in titles.items())
