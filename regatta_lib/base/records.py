"""The nouns of a study as frozen, validated dataclasses, and the design constants of the paper (§III–V-A).

Every other module speaks these. A field that is not of its stated type raises ``pydantic.ValidationError``.
"""

from typing import Annotated, Literal, get_args

from pydantic import ConfigDict, Field, StringConstraints

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
STAGES = ("design", "execution")
MEASURES = ("rc", "fdr_design", "fdr_execution", "iss", "ac")

Judge = Literal["coverage", "design", "execution", "specificity", "adversarial"]
Arm = Literal["", "joint", "control", "single"]
State = Literal["answered", "unreadable", "refused", "truncated", "empty", "error"]
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
AdversarialCategory = Literal[
    "boundary_manipulation",
    "data_exfiltration",
    "prompt_injection",
    "regulatory_bypass",
    "role_confusion",
    "social_engineering",
]
ADVERSARIAL_CATEGORIES: tuple[AdversarialCategory, ...] = get_args(AdversarialCategory)
Positive = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1)]


def suite_id(generator: str, strategy: str, cell: str, replication: int) -> str:
    """The identifier of a suite, for example ``qwen72b.S4.vn_banking.r2``."""
    return f"{generator}.{strategy}.{cell}.r{replication}"


def cell_of(suite_id: str) -> str:
    """The cell a suite was written for, from its identifier."""
    return suite_id.split(".")[2]
