"""Read the instruments of a cell: the judge side (requirements, faults) and, apart from it, the generator side.

What generates scenarios may know the ontology and the documents only. So the two sides are separate files read by
separate functions, and ``read_generator_side`` opens no judge-side file (a test watches which files it opens). Each item
has two texts: ``as_written`` (the release, restated) and ``corrected`` (the rule in force and its authority).
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import pandas as pd
from pydantic.dataclasses import dataclass

from regatta_lib.base import CELLS, LAZY, Contract, ContractError, ItemId, Name, manifest_text, paths, sha256
from regatta_lib.instruments import schemas
from regatta_lib.instruments.items import Document, Fault, Ontology, Requirement, Text, Witness


@dataclass(frozen=True, config=LAZY)
class Item:
    """One entry of the index of instruments: a requirement (with its kind) or a fault (with its category)."""

    cell: Name
    item: ItemId
    role: Literal["requirement", "fault"]
    category: str


INDEX_TABLE = Contract(Item, ("cell", "item"))

DIGESTED = ("requirements", "faults", "ontology", "documents", "mapping")


def folder_of(cell: str, root: Path = paths.INSTRUMENTS) -> Path:
    """The folder of a cell. Raises ContractError, naming the known cells, where there is none."""
    known = cells_in(root)
    if cell not in known:
        raise ContractError(f"{root}: {cell!r}: no such cell, expected one of {', '.join(known)}")
    return root / cell


def cells_in(root: Path = paths.INSTRUMENTS) -> list[str]:
    """The cells that have a folder: those of the paper in its order, then any others by name."""
    found = {path.parent.name for path in root.glob("*/cell.yaml")}
    return [cell for cell in CELLS if cell in found] + sorted(found - CELLS.keys())


def requirement(entry: schemas.RequirementEntry, text: Text) -> Requirement:
    """One of the two texts of a requirement. The corrected one cites the authority of the rule in force."""
    chosen = getattr(entry, text)
    citation = chosen.citation if text == "as_written" else chosen.authority
    return Requirement(entry.id, entry.area, entry.kind, citation, chosen.text)


def fault(entry: schemas.FaultEntry, text: Text) -> Fault:
    """One of the two texts of a fault.

    Under ``corrected`` the correct behaviour is the rule in force and the injection stays as released, unless that
    would be no fault under the law. Under ``as_written`` the witness starts where the released wording says it does.
    """
    written, corrected, witness = entry.as_written, entry.corrected, entry.witness
    if text == "as_written" and written.witness_low is not None:
        witness = Witness(**(vars(witness) | {"low": written.witness_low}))
    adapted = corrected.injected_behavior if text == "corrected" else None
    return Fault(
        id=entry.id,
        category=entry.category,
        severity=entry.severity,
        title=entry.title,
        injected_behavior=adapted or written.injected_behavior,
        correct_behavior=getattr(entry, text).correct_behavior,
        related_requirements=tuple(entry.related_requirements),
        witness=witness,
    )


def read_judge_side(
    cell: str, text: Text, root: Path = paths.INSTRUMENTS
) -> tuple[tuple[Requirement, ...], tuple[Fault, ...]]:
    """The 25 requirements and five faults of a cell in one of their texts. Raises ContractError, one line a violation."""
    if text not in ("as_written", "corrected"):
        raise ContractError(f"text of the instruments: found {text!r}, expected as_written or corrected")
    folder = folder_of(cell, root)
    requirements = schemas.read_part(folder, schemas.RequirementsFile).requirements
    faults = schemas.read_part(folder, schemas.FaultsFile).faults
    return tuple(requirement(entry, text) for entry in requirements), tuple(fault(entry, text) for entry in faults)


def read_generator_side(cell: str, root: Path = paths.INSTRUMENTS) -> tuple[Ontology, tuple[Document, ...]]:
    """What a generator may see of a cell: its ontology (S4) and its documents (S3)."""
    folder = folder_of(cell, root)
    return schemas.read_part(folder, Ontology), tuple(schemas.read_part(folder, schemas.DocumentsFile).documents)


def read_mapping(cell: str, root: Path = paths.INSTRUMENTS) -> dict[str, tuple[str, ...]]:
    """Which requirements state the rule of each regulation of the ontology: {regulation key: requirement ids}."""
    entries = schemas.read_part(folder_of(cell, root), schemas.MappingFile).mapping
    return {entry.regulation: tuple(entry.requirements) for entry in entries}


def instruments_digest(cells: Iterable[str] = tuple(CELLS), root: Path = paths.INSTRUMENTS) -> str:
    """SHA-256 over the manifest of what the harness reads of ``cells`` (by default those of the paper), in hexadecimal.

    A change of a requirement, fault, ontology, document or mapping changes it; a change of the audit's ledger does not.
    """
    files = [folder_of(cell, root) / f"{kind}.yaml" for cell in cells for kind in DIGESTED]
    return sha256(manifest_text(root, files))


def index(cells: Iterable[str] = tuple(CELLS), root: Path = paths.INSTRUMENTS) -> pd.DataFrame:
    """The index of all items: cell, item, role and category (a requirement's kind, a fault's category)."""
    rows: list[tuple[str, str, str, str]] = []
    for cell in cells:
        requirements, faults = read_judge_side(cell, "as_written", root)
        rows += [(cell, item.id, "requirement", item.kind) for item in requirements]
        rows += [(cell, item.id, "fault", item.category) for item in faults]
    return pd.DataFrame(rows, columns=["cell", "item", "role", "category"]).sort_values(["cell", "item"], ignore_index=True)
