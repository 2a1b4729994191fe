"""The nouns of the instruments as frozen, validated dataclasses: what a cell's requirements, faults and context are."""

from typing import Annotated, Literal

from pydantic import ConfigDict, StrictBool, StrictFloat, StringConstraints
from pydantic.dataclasses import dataclass

from regatta_lib.base import LAZY, FaultCategory, FaultId, ItemId, Name

AUDIT_CLASSES = {
    "substance_error": "substance error",
    "citation_defect": "citation defect",
    "source_flag": "source flag",
    "clean": "clean",
}

AuditClass = Literal["substance_error", "citation_defect", "source_flag", "clean"]
AuditStep = Literal["first", "second", "adjudicated", "recheck"]
Confidence = Literal["high", "medium", "low"]
GroundTruth = Literal["correct", "partly_incorrect", "incorrect"]
Text = Literal["as_written", "corrected"]
Tier = Literal["primary", "official-secondary", "secondary"]
Unit = Literal["usd", "vnd", "eur", "percent", "days", "level", "ratio"]
IsoDate = Annotated[str, StringConstraints(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
Line = Annotated[str, StringConstraints(pattern=r"^\S(.*\S)?$")]
STRICT = ConfigDict(extra="forbid", defer_build=True)


@dataclass(frozen=True, config=LAZY)
class Requirement:
    """A requirement as the judge reads it: what it asks, and the text cited (or the authority in force) for it."""

    id: ItemId
    area: Line
    kind: Literal["regulatory", "metric"]
    citation: Line
    text: Line


@dataclass(frozen=True, config=STRICT)
class Witness:
    """When must a faulty and a correct agent answer differently?

    For a numeric fault the bounds enclose the values of ``variable`` (in ``unit``: whole dong, dollars or euros,
    percent, days) on which they differ; a missing bound is open. ``stated`` tells whether a scenario states that figure
    itself; a figure that has to be worked out first cannot be read from the text.
    """

    prose: Line
    variable: Line | None
    unit: Unit | None
    stated: StrictBool
    low: StrictFloat | None
    high: StrictFloat | None
    low_inclusive: StrictBool
    high_inclusive: StrictBool
    correct_answer: Line
    faulty_answer: Line
    near_miss: Line


@dataclass(frozen=True, config=LAZY)
class Fault:
    """A fault that is put into the agent, what a correct agent does instead, and the witness that tells them apart."""

    id: FaultId
    category: FaultCategory
    severity: Literal["critical", "high"]
    title: Line
    injected_behavior: Line
    correct_behavior: Line
    related_requirements: tuple[ItemId, ...]
    witness: Witness


@dataclass(frozen=True, config=STRICT)
class Document:
    """A passage that a generator may retrieve (S3)."""

    id: Annotated[str, StringConstraints(pattern=r"^[A-Z]{2,4}-D[1-9]$")]
    title: Line
    text: Line


@dataclass(frozen=True, config=STRICT)
class OntologyRole:
    """One role of the ontology's role layer: what it does, may do, passes on and must not do, and its vocabulary."""

    role: Line
    responsibilities: tuple[Line, ...]
    may: tuple[Line, ...]
    must_escalate: tuple[Line, ...]
    must_not: tuple[Line, ...]
    vocabulary: tuple[Line, ...]


@dataclass(frozen=True, config=STRICT)
class Regulation:
    """One regulation of the ontology's domain layer, the unit that a holdout withholds."""

    key: Name
    instrument: Line
    constraint: Line


@dataclass(frozen=True, config=STRICT)
class Metric:
    """One metric of the domain layer. ``regulation`` is the key of the regulation it repeats, if it repeats one."""

    key: Name
    definition: Line
    unit: Line
    threshold: Line | None
    regulation: Name | None


@dataclass(frozen=True, config=STRICT)
class Workflow:
    """One workflow of the ontology's interaction layer."""

    workflow: Line
    steps: tuple[Line, ...]
    approvals: tuple[Line, ...]
    adversarial_surface: tuple[Line, ...]


@dataclass(frozen=True, config=STRICT)
class Ontology:
    """The structured context of a cell (S4): roles, domain (regulations, metrics, entities) and interaction."""

    cell: Name
    industry: Line
    jurisdiction: Line
    agent_role: Line
    roles: tuple[OntologyRole, ...]
    regulations: tuple[Regulation, ...]
    metrics: tuple[Metric, ...]
    entities: tuple[Line, ...]
    workflows: tuple[Workflow, ...]
