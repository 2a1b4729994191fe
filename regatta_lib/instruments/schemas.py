"""What the YAML files of a cell hold, field by field, and how they are read and checked.

The files are strict: an unknown field, a missing one or a value of another type is a violation, reported as one line
that names the file, the row and the field. Dates are quoted strings.
"""

from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from regatta_lib.base import ContractError, FaultCategory, FaultId, ItemId, Name, yaml_value
from regatta_lib.instruments import items
from regatta_lib.instruments.items import IsoDate, Line

Url = Annotated[str, StringConstraints(pattern=r"^(https?://[^\s<>\"]+|github:[\w.-]+/[\w.-]+)$")]
Step = Literal["scope", "requirements", "ontology", "faults", "audit", "pilot"]
PROTOCOL: tuple[Step, ...] = get_args(Step)
P = TypeVar("P")


class Part(BaseModel):
    """A part of a file: known fields only, each of exactly its type."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class AuditSource(Part):
    """A text that was found and read. ``primary`` is law (third-party copies included), ``official-secondary`` what an
    authority says about it, ``secondary`` anybody else. No ``url``: a text read in a place that has no lasting address."""

    tier: items.Tier
    title: Line
    url: Url | None


class Audit(Part):
    """The final verdict on an item, the step of the audit that gave it, and the sources it rests on."""

    audit_class: items.AuditClass
    decided_by: items.AuditStep
    confidence: items.Confidence
    reviewer_status: Literal["AI review only"]
    finding: Line
    sources: Annotated[list[AuditSource], Field(min_length=1)]


class FaultAudit(Audit):
    """The final verdict on a fault, with the state of its stated ground truth."""

    ground_truth: items.GroundTruth


class WrittenRequirement(Part):
    """The requirement as released: its citation, and what it says in our words."""

    citation: Line
    text: Line


class InForce(Part):
    """The authority of the rule in force, since when it holds, and what it replaced (where known)."""

    authority: Line
    in_force_since: IsoDate | None
    supersedes: Line | None


class CorrectedRequirement(InForce):
    """The rule in force."""

    text: Line


class RequirementEntry(Part):
    """One requirement with both texts and its audit."""

    id: ItemId
    area: Line
    kind: Literal["regulatory", "metric"]
    as_written: WrittenRequirement
    corrected: CorrectedRequirement
    audit: Audit

    @property
    def category(self) -> str:
        """The requirement's kind, which stands where a fault has its category."""
        return self.kind

    @property
    def rule(self) -> str:
        """The rule in force."""
        return self.corrected.text


class WrittenFault(Part):
    """The fault as released, in our words. ``witness_low`` is the lower bound where the released wording moves it."""

    injected_behavior: Line
    correct_behavior: Line
    witness_low: float | None = None


class CorrectedFault(InForce):
    """What a correct agent does under the rule in force.

    ``injected_behavior`` is given only where the released one is no fault under the law; ``injection_note`` says why.
    """

    injected_behavior: Line | None = None
    injection_note: Line | None = None
    correct_behavior: Line


class FaultEntry(Part):
    """One fault with both texts, its witness and its audit."""

    id: FaultId
    category: FaultCategory
    severity: Literal["critical", "high"]
    title: Line
    related_requirements: Annotated[list[ItemId], Field(min_length=1)]
    as_written: WrittenFault
    corrected: CorrectedFault
    witness: items.Witness
    audit: FaultAudit

    @property
    def rule(self) -> str:
        """What a correct agent does under the rule in force."""
        return self.corrected.correct_behavior


class RequirementsFile(Part):
    """``requirements.yaml``"""

    cell: Name
    requirements: Annotated[list[RequirementEntry], Field(min_length=25, max_length=25)]


class FaultsFile(Part):
    """``faults.yaml``"""

    cell: Name
    faults: Annotated[list[FaultEntry], Field(min_length=5, max_length=5)]


class AuditOpinion(Part):
    """One reviewer's verdict in full, kept even where a later step overrules it.

    The second auditor named one address for most items and none for some. ``listed_last``, of the step adjudicated: the
    class of that of the first two views which the third reader saw second.
    """

    step: items.AuditStep
    audit_class: items.AuditClass
    listed_last: items.AuditClass | None = None
    ground_truth: items.GroundTruth | None = None
    confidence: items.Confidence
    reason: Line
    rule: Line
    authority: Line
    note: Line | None = None
    sources: list[AuditSource]


class LedgerEntry(Part):
    """All verdicts on one item, in the order in which they were given."""

    id: ItemId
    verdicts: Annotated[list[AuditOpinion], Field(min_length=1)]


class LedgerFile(Part):
    """``ledger.yaml``"""

    cell: Name
    items: Annotated[list[LedgerEntry], Field(min_length=30, max_length=30)]


class DocumentsFile(Part):
    """``documents.yaml``"""

    cell: Name
    documents: Annotated[list[items.Document], Field(min_length=1)]


class MappingEntry(Part):
    """Which requirements state the rule of one regulation of the ontology; often none. The reason says why."""

    regulation: Name
    requirements: list[ItemId]
    reason: Line


class MappingFile(Part):
    """``mapping.yaml``"""

    cell: Name
    mapping: Annotated[list[MappingEntry], Field(min_length=1)]


class ProtocolStep(Part):
    """One step of the protocol for adding a cell: when it was done, and how."""

    step: Step
    done: IsoDate | None
    note: Line


class CellFile(Part):
    """``cell.yaml``"""

    cell: Name
    title: Line
    jurisdiction: Line
    scope: Line
    as_of: IsoDate
    limits: Line
    protocol: Annotated[list[ProtocolStep], Field(min_length=len(PROTOCOL), max_length=len(PROTOCOL))]


class PilotEntry(Part):
    """Two hand-written scenarios for one fault: one in which the agents must differ, one in which they must not."""

    fault: FaultId
    discriminates: Line
    near_miss: Line


class PilotFile(Part):
    """``pilot.yaml``"""

    cell: Name
    pilot: Annotated[list[PilotEntry], Field(min_length=5, max_length=5)]


FILES: dict[str, type[Any]] = {
    "cell": CellFile,
    "requirements": RequirementsFile,
    "faults": FaultsFile,
    "ledger": LedgerFile,
    "ontology": items.Ontology,
    "documents": DocumentsFile,
    "mapping": MappingFile,
    "pilot": PilotFile,
}
IDENTIFIERS = ("id", "key", "regulation", "fault", "step")
KIND_OF = {part: kind for kind, part in FILES.items()}
ADAPTERS: dict[type[Any], TypeAdapter[Any]] = {}


def _row_and_field(loaded: Any, loc: tuple[int | str, ...]) -> str:
    """The row (its list, its position from 1 and its identifier) and the field that an error is about."""
    here, shown = loaded, list[str]()
    for part in loc:
        inside = part in here if isinstance(here, dict) else isinstance(here, list) and int(part) < len(here)
        here = here[part] if inside else None
        if isinstance(part, int):
            named = [here[key] for key in IDENTIFIERS if key in here] if isinstance(here, dict) else []
            shown.append(f"row {part + 1}{f' ({named[0]})' if named else ''}")
        else:
            shown.append(str(part))
    return ", ".join(shown) or "file"


def violations(part: type[P], path: Path, loaded: object) -> tuple[P | None, list[str]]:
    """Check the loaded content of a file. Returns it as the ``part`` that it should be, or one line for each violation."""
    adapter = ADAPTERS.setdefault(part, TypeAdapter(part))
    try:
        return adapter.validate_python(loaded), []
    except ValidationError as error:
        lines = []
        for problem in error.errors():
            value = problem["input"]
            found = f"a {type(value).__name__}" if isinstance(value, (dict, list)) else repr(value)
            lines.append(f"{path}: {_row_and_field(loaded, problem['loc'])}: found {found[:80]}; {problem['msg']}")
        return None, lines


def read_part(folder: Path, part: type[P]) -> P:
    """Read and check one file of a cell's folder, say ``RequirementsFile``. Raises ContractError, one line a violation."""
    path = folder / f"{KIND_OF[part]}.yaml"
    content, lines = violations(part, path, yaml_value(path))
    if content is None:
        raise ContractError("\n".join(lines))
    return content


def read_entries(folder: Path) -> list[RequirementEntry | FaultEntry]:
    """The 25 requirements and then the five faults of a cell's folder. Raises ContractError, one line a violation."""
    return [*read_part(folder, RequirementsFile).requirements, *read_part(folder, FaultsFile).faults]
