"""Add a cell: the six steps of the protocol as a scaffold and as a check.

Steps: scope; 25 requirements from primary sources; an ontology written apart from them; one fault per category with a
witness; a source audit; a pilot, after which the hashes are frozen.
"""

import re
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from regatta.cells import overlap
from regatta_lib import instruments
from regatta_lib.base import CELLS, FAULT_CATEGORIES, ContractError, manifest_text, read_manifest, sha256, yaml_value
from regatta_lib.instruments import fault

FROZEN = "SHA256SUMS"
REQUIRED = ("cell", "requirements", "faults", "ledger", "ontology", "documents", "mapping")


@dataclass(frozen=True)
class Cell:
    """The files of a cell, each read and right by itself. Only a new cell has a pilot."""

    cell: instruments.CellFile
    requirements: instruments.RequirementsFile
    faults: instruments.FaultsFile
    ledger: instruments.LedgerFile
    ontology: instruments.Ontology
    documents: instruments.DocumentsFile
    mapping: instruments.MappingFile
    pilot: instruments.PilotFile | None = None


def scaffold(name: str) -> dict[str, str]:
    """The files of a new cell, {file name: text}, with one example entry each and TODO where a person has to write.

    Raises ContractError for a name that is no lower-case identifier or belongs to the paper.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name) or name in CELLS:
        raise ContractError(f"cell name: found {name!r}, expected a new name such as eu_banking")
    templates = resources.files("regatta.cells") / "templates"
    names = [f"{kind}.yaml" for kind in (*REQUIRED, "pilot")]
    return {file: (templates / file).read_text("utf-8").replace("CELL", name) for file in names}


def cell_violations(folder: Path) -> list[str]:
    """Everything that keeps a cell from being used, one line each: file, row, field, what was found and expected."""
    parts: dict[str, Any] = {}
    lines: list[str] = []
    for kind in [*REQUIRED, *(["pilot"] if folder.name not in CELLS else [])]:
        path = folder / f"{kind}.yaml"
        try:
            parts[kind], problems = instruments.violations(instruments.FILES[kind], path, yaml_value(path))
        except ContractError as error:
            parts[kind], problems = None, [str(error)]
        lines += problems
        if parts[kind] is not None and parts[kind].cell != folder.name:
            lines.append(f"{path}: cell: found {parts[kind].cell!r}; expected {folder.name!r}, the name of the folder")
    if lines:
        return lines
    found = Cell(**parts)
    return [
        *_identifiers(folder, found),
        *_protocol(folder, found.cell),
        *_witnesses(folder, found.faults.faults),
        *_ledger(folder, found),
        *_mapping(folder, found),
        *_independence(folder, found),
        *(_pilot(folder, found, found.pilot) if found.pilot else []),
        *_frozen(folder),
    ]


def freeze(folder: Path) -> str:
    """The manifest of a cell's YAML files, to be kept as ``SHA256SUMS`` in its folder (``sha256sum -c`` checks it)."""
    return manifest_text(folder, sorted(folder.glob("*.yaml")))


def _line(folder: Path, kind: str, row: str, field: str, value: object, expected: str) -> str:
    return f"{folder / kind}.yaml: {row}, {field}: found {value!r}; expected {expected}"


def _identifiers(folder: Path, found: Cell) -> list[str]:
    requirements, faults = found.requirements.requirements, found.faults.faults
    prefix, fault_prefix = requirements[0].id.partition("-")[0], faults[0].id.partition("-")[0]
    lines = []
    for kind, identifiers, expected in (
        ("requirements", [entry.id for entry in requirements], [f"{prefix}-{number:02d}" for number in range(1, 26)]),
        ("faults", [entry.id for entry in faults], [f"{fault_prefix}-F{number}" for number in range(1, 6)]),
    ):
        for position, (found_id, name) in enumerate(zip(identifiers, expected, strict=True), start=1):
            if found_id != name:
                lines.append(_line(folder, kind, f"row {position}", "id", found_id, name))
    known = {entry.id for entry in requirements}
    for entry in faults:
        for related in entry.related_requirements:
            if related not in known:
                lines.append(_line(folder, "faults", entry.id, "related_requirements", related, "a requirement of the cell"))
    for category in FAULT_CATEGORIES:
        count = sum(entry.category == category for entry in faults)
        if count != 1:
            lines.append(_line(folder, "faults", "all rows", "category", f"{count} of {category}", "1"))
    return lines


def _protocol(folder: Path, cell: instruments.CellFile) -> list[str]:
    lines = [
        _line(folder, "cell", f"protocol row {position}", "step", step.step, name)
        for position, (step, name) in enumerate(zip(cell.protocol, instruments.PROTOCOL, strict=True), start=1)
        if step.step != name
    ]
    lines += [_line(folder, "cell", step.step, "done", None, "a date") for step in cell.protocol if step.done is None]
    texts = {path.name: path.read_text("utf-8") for path in sorted(folder.glob("*.yaml"))}
    return lines + [f"{folder / name}: TODO is still in the text" for name, text in texts.items() if "TODO" in text]


def _witnesses(folder: Path, faults: list[instruments.FaultEntry]) -> list[str]:
    lines = []
    for entry in faults:
        witness, bounds = entry.witness, [entry.witness.low, entry.witness.high]
        numeric = any(bound is not None for bound in bounds)
        if numeric != (witness.unit is not None) or numeric != (witness.variable is not None):
            lines.append(
                _line(
                    folder,
                    "faults",
                    entry.id,
                    "witness.unit",
                    witness.unit,
                    "a unit and a variable just where there are bounds",
                )
            )
        if witness.low is not None and witness.high is not None and witness.low >= witness.high:
            lines.append(_line(folder, "faults", entry.id, "witness.low", witness.low, f"less than high ({witness.high})"))
        if witness.stated and not numeric:
            lines.append(_line(folder, "faults", entry.id, "witness.stated", True, "false without an interval"))
    return lines


def _ledger(folder: Path, found: Cell) -> list[str]:
    both: list[instruments.RequirementEntry | instruments.FaultEntry] = [
        *found.requirements.requirements,
        *found.faults.faults,
    ]
    entries = {entry.id: entry for entry in both}
    ledger = {item.id: item.verdicts for item in found.ledger.items}
    lines = [
        _line(folder, "ledger", name, "id", name, "each item of the cell once")
        for name in sorted(entries.keys() ^ ledger.keys())
    ]
    for name in entries.keys() & ledger.keys():
        entry, steps = entries[name], [verdict.step for verdict in ledger[name]]
        order = [step for step in ("first", "second", "adjudicated", "recheck") if step in steps]
        if steps != order or steps[0] != "first":
            lines.append(
                _line(
                    folder,
                    "ledger",
                    name,
                    "step",
                    steps,
                    "first, second, adjudicated, recheck in this order, each at most once",
                )
            )
            continue
        classes = {verdict.step: verdict.audit_class for verdict in ledger[name]}
        if classes.get("second", classes["first"]) != classes["first"] and "adjudicated" not in steps:
            expected = f"adjudicated after second: first says {classes['first']}, second {classes['second']}"
            lines.append(_line(folder, "ledger", name, "step", steps, expected))
        last = next(verdict for verdict in reversed(ledger[name]) if verdict.step != "second")
        final: dict[str, tuple[object, object]] = {
            "decided_by": (entry.audit.decided_by, last.step),
            "audit_class": (entry.audit.audit_class, last.audit_class),
            "confidence": (entry.audit.confidence, last.confidence),
            "rule": (entry.rule, last.rule),
            "finding": (entry.audit.finding, last.reason),
            "authority": (entry.corrected.authority, last.authority),
            "sources": (entry.audit.sources, last.sources),
        }
        kind = "faults" if isinstance(entry, instruments.FaultEntry) else "requirements"
        for field, (value, decided) in final.items():
            if value != decided:
                shown = "another list" if field == "sources" else value
                lines.append(_line(folder, kind, name, field, shown, f"what the ledger's deciding step ({last.step}) says"))
    return lines


def _mapping(folder: Path, found: Cell) -> list[str]:
    keys, known = (
        [item.key for item in found.ontology.regulations],
        {item.id for item in found.requirements.requirements},
    )
    mapped = [entry.regulation for entry in found.mapping.mapping]
    lines = (
        []
        if mapped == keys
        else [_line(folder, "mapping", "all rows", "regulation", mapped, f"the ontology's, in order: {keys}")]
    )
    for entry in found.mapping.mapping:
        lines += [
            _line(folder, "mapping", entry.regulation, "requirements", name, "a requirement of the cell")
            for name in entry.requirements
            if name not in known
        ]
    for metric in found.ontology.metrics:
        if metric.regulation is not None and metric.regulation not in keys:
            lines.append(
                _line(folder, "ontology", metric.key, "regulation", metric.regulation, "a regulation of the ontology")
            )
    return lines


def _independence(folder: Path, found: Cell) -> list[str]:
    """No run of eight words may stand on both sides: the ontology is written apart from the requirements."""
    judge = [text for entry in found.requirements.requirements for text in (entry.as_written.text, entry.corrected.text)]
    for entry in found.faults.faults:
        judge += [entry.as_written.correct_behavior, entry.corrected.correct_behavior, entry.as_written.injected_behavior]
    passages = [(f"{document.id}", document.text, "documents") for document in found.documents.documents]
    passages += [(item.key, item.constraint, "ontology") for item in found.ontology.regulations]
    return [
        _line(folder, kind, row, "text", run, f"no run of {overlap.LENGTH} words shared with the judge side")
        for row, text, kind in passages
        for run in overlap.shared_runs(text, judge)
    ]


def _pilot(folder: Path, found: Cell, pilot: instruments.PilotFile) -> list[str]:
    faults = {entry.id: fault(entry, "corrected") for entry in found.faults.faults}
    names = [entry.fault for entry in pilot.pilot]
    lines = [] if names == list(faults) else [_line(folder, "pilot", "all rows", "fault", names, f"{list(faults)}")]
    for entry in pilot.pilot:
        if entry.fault in faults and instruments.executable(faults[entry.fault].witness):
            for expected in ("discriminates", "near_miss"):
                outcome = instruments.check_witness(faults[entry.fault].witness, getattr(entry, expected))
                if outcome != expected:
                    lines.append(_line(folder, "pilot", entry.fault, expected, outcome, f"the witness to say {expected}"))
    return lines


def _frozen(folder: Path) -> list[str]:
    if not (folder / FROZEN).is_file():
        return []
    frozen = read_manifest(folder / FROZEN)
    present = {path.name: sha256(path.read_bytes()) for path in folder.glob("*.yaml")}
    return [
        f"{folder / name}: SHA-256 found {present.get(name)}; expected {frozen.get(name)} as frozen in {FROZEN}"
        for name in sorted(frozen.keys() | present.keys())
        if frozen.get(name) != present.get(name)
    ]
