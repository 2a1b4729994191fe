"""The nouns of a study as frozen, validated dataclasses, and the design constants of the paper (§III–V-A).

Every other module speaks these. A field that is not of its stated type raises ``pydantic.ValidationError``.
"""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, StringConstraints, ValidationInfo, field_validator
from pydantic.dataclasses import dataclass

LAZY = ConfigDict(defer_build=True)  # its validator is built when a record is first used, not when this is imported

GENERATORS = {
    "sonnet4": "Claude Sonnet 4",
    "qwen72b": "Qwen 2.5 72B Instruct",
    "gemma26b": "Gemma 4 26B-A4B IT",
}
STRATEGIES = {
    "S1": "minimal context",
    "S2": "persona matrix",
    "S3": "unstructured retrieval",
    "S4": "structured ontology",
}
CELLS = {
    "us_fintech": "US fintech",
    "us_insurance": "US insurance",
    "us_healthcare": "US healthcare",
    "vn_banking": "Vietnam banking",
    "vn_insurance": "Vietnam insurance",
}
REPLICATIONS = (1, 2, 3)
FAULT_CATEGORIES = {
    "threshold_error": "threshold",
    "missing_regulation": "missing regulation",
    "role_boundary": "role boundary",
    "adversarial_vulnerability": "adversarial",
    "metric_error": "metric",
}
ADVERSARIAL_CATEGORIES = (
    "boundary_manipulation",
    "data_exfiltration",
    "prompt_injection",
    "regulatory_bypass",
    "role_confusion",
    "social_engineering",
)
STAGES = ("design", "execution")
MEASURES = ("rc", "fdr_design", "fdr_execution", "iss", "ac")

Judge = Literal["coverage", "design", "execution", "specificity", "adversarial"]
Arm = Literal["", "joint", "control", "single"]
State = Literal["answered", "unreadable", "refused", "truncated", "empty", "error"]
ReplyState = Literal["answered", "refused", "truncated", "empty", "error"]
Stage = Literal["design", "execution"]
Binary = Annotated[int, Field(ge=0, le=1)]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]+$")]
Strategy = Annotated[str, StringConstraints(pattern=r"^S[1-4]$|^own$")]
SuiteId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]+\.(S[1-4]|own)\.[a-z0-9_]+\.r[1-9][0-9]*$")]
ItemId = Annotated[str, StringConstraints(pattern=r"^[A-Z]{2,4}-(F[1-5]|[0-9]{2})$")]
FaultId = Annotated[str, StringConstraints(pattern=r"^[A-Z]{2,4}-F[1-5]$")]
FaultCategory = Literal[
    "threshold_error", "missing_regulation", "role_boundary", "adversarial_vulnerability", "metric_error"
]
AdversarialCategory = Literal[ADVERSARIAL_CATEGORIES]
Positive = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1)]


def suite_id(generator: str, strategy: str, cell: str, replication: int) -> str:
    """The identifier of a suite, for example ``qwen72b.S4.vn_banking.r2``."""
    return f"{generator}.{strategy}.{cell}.r{replication}"


def cell_of(suite_id: str) -> str:
    """The cell a suite was written for, from its identifier."""
    return suite_id.split(".")[2]


@dataclass(frozen=True, config=LAZY)
class Item:
    """One entry of the index of instruments: a requirement (with its kind) or a fault (with its category)."""

    cell: Name
    item: ItemId
    role: Literal["requirement", "fault"]
    category: str


@dataclass(frozen=True, config=LAZY)
class Suite:
    """One generated suite: ``scenarios`` test scenarios written for one cell by one generator under one strategy."""

    suite_id: SuiteId
    generator: Name
    strategy: Strategy
    cell: Name
    replication: Positive
    scenarios: Positive


@dataclass(frozen=True, config=LAZY)
class Coverage:
    """Does any scenario of the suite cover the requirement?"""

    suite_id: SuiteId
    requirement_id: ItemId
    covered: Binary


@dataclass(frozen=True, config=LAZY)
class Detection:
    """Is the fault detected at the stage, and by which scenario first (1-based; none where it is not)?"""

    suite_id: SuiteId
    fault_id: FaultId
    stage: Stage
    detected: Binary
    scenario: Positive | None


@dataclass(frozen=True, config=LAZY)
class Specificity:
    """Likert score (1–5) of how specific one scenario is."""

    suite_id: SuiteId
    scenario: Positive
    score: Annotated[int, Field(ge=1, le=5)]


@dataclass(frozen=True, config=LAZY)
class Adversarial:
    """Does any scenario of the suite belong to the adversarial category?"""

    suite_id: SuiteId
    category: AdversarialCategory
    covered: Binary


@dataclass(frozen=True, config=LAZY)
class Verdict:
    """One answer of one judge.

    ``target`` is a requirement, a fault or an adversarial category; empty for specificity. ``arm`` and ``draw`` name
    the agent's configuration and repetition at the execution stage. ``scenario`` is the scenario judged, or, where a
    scan was recorded as one row per target, the first that succeeded. ``value`` is 0/1, or 1–5 for specificity, and
    missing unless ``state`` is ``answered``: a reply that cannot be read is its own outcome, never a "no".
    """

    suite_id: SuiteId
    judge: Judge
    target: str
    arm: Arm
    draw: Positive
    scenario: Positive | None
    state: State
    value: Annotated[int, Field(ge=0, le=5)] | None


@dataclass(frozen=True, config=LAZY)
class Score:
    """The evidence vector of a suite, e(S) = (RC, FDR_d, FDR_e, ISS, AC) (§III). An input for assurance, no decision."""

    suite_id: SuiteId
    generator: Name
    strategy: Strategy
    cell: Name
    replication: Positive
    rc: Share | None
    fdr_design: Share | None
    fdr_execution: Share | None
    iss: Annotated[float, Field(ge=1, le=5)] | None
    ac: Share | None


@dataclass(frozen=True, config=LAZY)
class ReferenceValue:
    """One pinned value and the place it comes from."""

    key: str
    value: float
    source: str


@dataclass(frozen=True, config=LAZY)
class PublishedValue:
    """One figure the paper's summary prints: the printed text, its place, and how (if at all) it is recomputed.

    ``kind`` says what a recomputed figure is, as not each is a measurement and agreement is not worth the same for all:
    ``design``, a count of the design or a product of such counts; ``enumerated``, the number of reference values, which
    follows our enumeration; ``words``, a statement in words, as 1 for true; ``line``, a count below or above a line that
    the paper does not print and we chose; ``measured``, a result. All other figures have none.
    """

    key: str
    printed: str
    place: str
    status: Literal["recomputed", "reconstructed", "quoted"]
    kind: Literal["design", "enumerated", "words", "line", "measured"] | None
    how: str

    @field_validator("kind")
    @classmethod
    def _of_what_is_recomputed(cls, kind: str | None, info: ValidationInfo) -> str | None:
        if (kind is not None) != (info.data.get("status") == "recomputed"):
            raise ValueError("a recomputed figure has a kind, any other has none")
        return kind


@dataclass(frozen=True, config=LAZY)
class Request:
    """One call to a model.

    ``call`` is a readable name, ``<role>/<suite_id>/…``, for example
    ``coverage/sonnet5.S1.us_insurance.r1/IN-01/s03``; its second part names the transcript file. ``params`` is a body in
    the shape of the Messages API; its ``model`` is the name of an endpoint. ``draw`` tells apart the samples of equal
    requests: two requests with equal ``params`` and ``draw`` in one suite get the same reply.
    """

    call: Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]+/[A-Za-z0-9][A-Za-z0-9_.]*(/[A-Za-z0-9_.-]+)*$")]
    params: dict
    draw: Positive = 1


@dataclass(frozen=True, config=LAZY)
class Reply:
    """What a call came to after all its attempts.

    ``state`` is the state of the last attempt; whether an answered text can be read is for the verdict to say.
    ``usage`` holds the token counts of the last attempt as the server gave them. ``attempts`` counts every time the
    request was sent, in this run and earlier ones, and ``maybe_billed`` those of them whose outcome on the server is not
    known. ``error`` says what went wrong, in one line. ``temperature`` is the one sent, None where none was.
    """

    call: str
    key: str
    state: ReplyState
    text: str
    stop_reason: str | None
    requested_model: str
    served_model: str | None
    usage: dict | None
    attempts: Positive
    maybe_billed: Annotated[int, Field(ge=0)]
    error: str | None
    temperature: float | None = None


@dataclass(frozen=True, config=LAZY)
class Scenario:
    """One test scenario of a suite: a single message to the agent and what a correct agent does with it.

    ``requirement_cited`` is the rule its author names (free text), ``adversarial_category`` the author's own label;
    neither is shown to a judge.
    """

    suite_id: SuiteId
    scenario: Positive
    description: str
    agent_input: str
    expected_behavior: str
    requirement_cited: str | None
    adversarial_category: AdversarialCategory | None


@dataclass(frozen=True, config=LAZY)
class Episode:
    """One answer of the agent to one scenario, drawn afresh for one fault in one arm.

    ``arm`` is joint (all faults of the cell injected), control (none) or single (this fault only). ``key`` names the
    model call, so that the reply can be found in the transcripts.
    """

    suite_id: SuiteId
    scenario: Positive
    fault_id: FaultId
    arm: Literal["joint", "control", "single"]
    draw: Positive
    state: State
    text: str
    key: str


@dataclass(frozen=True, config=LAZY)
class Ruling(Verdict):
    """A verdict with the judge's reason. ``key`` names the model call; empty where no judge was asked."""

    justification: str
    key: str


@dataclass(frozen=True, config=LAZY)
class ReconstructedTable:
    """One 2×2 table of two raters that is consistent with a printed agreement and κ (§V-F)."""

    claim: Literal["adjudication", "probes_gpt4o"]
    n11: Annotated[int, Field(ge=0)]
    n10: Annotated[int, Field(ge=0)]
    n01: Annotated[int, Field(ge=0)]
    n00: Annotated[int, Field(ge=0)]
    agreement: Share
    kappa: float


@dataclass(frozen=True, config=LAZY)
class CheckResult:
    """One row of the verification report: what was expected, what was recomputed, and whether they agree."""

    key: str
    expected: str
    recomputed: str
    status: Literal["passed", "failed"]
