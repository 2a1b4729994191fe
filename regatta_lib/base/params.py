"""params.yaml, typed: every key is known, every value has its type and range."""

from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from regatta_lib.base.errors import ContractError
from regatta_lib.base.files import yaml_value


class Section(BaseModel):
    """A section of params.yaml. Unknown keys and values of another type are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


S = TypeVar("S", bound=Section)


class Base(Section):
    """What several stages share: the study, the live study whose texts are shown, and how intervals are made."""

    study: str = Field(pattern=r"^[a-z][a-z0-9_-]*$")
    pilot: str = Field(pattern=r"^[a-z][a-z0-9_-]*$")
    seed: int = Field(ge=0)
    resamples: int = Field(ge=1_000)
    level: float = Field(gt=0.5, lt=1)


class Instruments(Section):
    """The version of the instruments."""

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
    """The whole of params.yaml, but what only a study needs: ``studies.Definitions`` checks endpoints, studies, evaluations.

    So a definition that is wrong stops its study, and no table.
    """

    base: Base
    instruments: Instruments
    figures: Figures
    validity: Validity
    consistency: Consistency
    cost: Cost
    endpoints: dict[str, Any]
    studies: dict[str, Any]
    evaluations: dict[str, Any]

    def of(self, stage: str) -> dict[str, object]:
        """The parameters that belong to a stage alone: its section, or nothing."""
        section = getattr(self, stage, None)
        return section.model_dump() if section else {}


def read_params(path: Path) -> Params:
    """Read and check params.yaml. Raises ContractError with one line. A test keeps DVC's YAML 1.2 and this reader agreed."""
    return checked_params(yaml_value(path), path, Params)


def checked_params(loaded: object, path: Path, kind: type[S]) -> S:
    """Check a loaded params file. Raises ContractError naming each wrong key, what was found and what was expected."""
    try:
        return kind.model_validate(loaded)
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, e['loc']))}: found {e['input']!r}; {e['msg']}" for e in error.errors()]
        raise ContractError(f"{path}: {' | '.join(problems)}") from None
