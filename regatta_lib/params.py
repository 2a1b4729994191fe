"""params.yaml, typed: every key is known, every value has its type and range."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from ruamel.yaml import YAML, YAMLError

from regatta_lib.contracts import ContractError, file_text


class Section(BaseModel):
    """A section of params.yaml. Unknown keys and values of another type are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Base(Section):
    """What several stages share: the study, and how intervals are made."""

    study: str = Field(pattern=r"^[a-z][a-z0-9_-]*$")
    seed: int = Field(ge=0)
    resamples: int = Field(ge=1_000)
    level: float = Field(gt=0.5, lt=1)


class Instruments(Section):
    """Which text of the instruments the harness uses, and their version."""

    text: Literal["as_written", "corrected"]
    version: str = Field(pattern=r"^[0-9]+\.[0-9]+\.[0-9]+$")


class Figures(Section):
    """Column width in inches, and the resolution of the PNG in dots per inch."""

    width: float = Field(gt=2, lt=10)
    dpi: int = Field(ge=72, le=1_200)


class Validity(Section):
    """Permutations of the tests, the correction for multiplicity, the declared family of McNemar tests (kind: number of
    tests), and the size of the figures as in ``Figures``."""

    permutations: int = Field(ge=1_000)
    correction: Literal["bonf", "holm", "sidak"]
    family: dict[Literal["fault", "generator_category"], int]
    width: float = Field(gt=2, lt=10)
    dpi: int = Field(ge=72, le=1_200)


class Consistency(Section):
    """How far the search for another number of comparisons goes: repeated executions, and pairs without a verdict."""

    most_executions: int = Field(ge=1, le=100)
    most_missing: int = Field(ge=0, le=100)


class Cost(Section):
    """Scenarios of a suite, requirements and faults of a cell, and the size of the figure as in ``Figures``."""

    scenarios: int = Field(ge=1)
    requirements: int = Field(ge=1)
    faults: int = Field(ge=1)
    width: float = Field(gt=2, lt=10)
    dpi: int = Field(ge=72, le=1_200)


class Params(Section):
    """The whole of params.yaml."""

    base: Base
    instruments: Instruments
    figures: Figures
    validity: Validity
    consistency: Consistency
    cost: Cost

    def of(self, stage: str) -> dict[str, object]:
        """The parameters that belong to a stage alone: its section, or nothing."""
        section = getattr(self, stage, None)
        return section.model_dump() if section else {}


def read_params(path: Path) -> Params:
    """Read and check params.yaml (YAML 1.2, as DVC reads it). Raises ContractError with one line per file."""
    try:
        loaded = YAML(typ="safe").load(file_text(path))
    except YAMLError as error:
        raise ContractError(f"{path}: {' '.join(str(error).split())}") from None
    return validated(loaded, path)


def validated(loaded: object, path: Path) -> Params:
    """Check a loaded params file. Raises ContractError naming each wrong key, what was found and what was expected."""
    try:
        return Params.model_validate(loaded)
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, e['loc']))}: found {e['input']!r}; {e['msg']}" for e in error.errors()]
        raise ContractError(f"{path}: {' | '.join(problems)}") from None
