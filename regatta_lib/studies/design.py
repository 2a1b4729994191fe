"""What a study is: who writes, answers and judges, how a suite is measured, and the suites that are written."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from regatta_lib.base import FaultCategory, Name, Params, Section, checked_params, paths, yaml_value
from regatta_lib.models import Endpoint


class Role(Section):
    """A model in one role of a study: the endpoint's name, the temperature (none: as the server has it), the cap.

    ``bounded``: the schema of a reply also says how long its texts, how large its numbers and how many its items are.
    For servers that decode by the schema, such as llama.cpp or vLLM: a model too weak to keep to what it is asked then
    still gives a reply of the right form. The Messages API refuses such bounds.
    """

    endpoint: str = Field(pattern=r"^[a-z0-9_-]+$")
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int = Field(ge=16)
    bounded: bool = False


class Words(Section):
    """The longest message to the agent, answer of the agent and reason of a judge that the prompts ask for, in words."""

    message: int = Field(ge=20)
    answer: int = Field(ge=20)
    reason: int = Field(ge=10)


class Measurement(Section):
    """How a suite is measured: who plays the agent, who judges, by which text of the instruments.

    ``provider``: over the network, or through the files of an exchange. The arm ``joint`` always runs, ``repeats`` times
    in the cells named there; ``control`` and ``single`` (faults of these categories) once. The judges in ``grid`` look at
    every scenario; the others scan in order, ``stride`` scenarios at a time, until one succeeds. ``second_judge`` sees
    ``second_sample`` of the design and execution items.
    """

    purpose: str
    provider: Literal["live", "exchange"]
    instruments: Literal["as_written", "corrected"]
    seed: int = Field(ge=0)
    agent: Role
    judge: Role
    second_judge: Role | None = None
    second_sample: int = Field(default=0, ge=0)
    control: bool = False
    single: list[FaultCategory] = Field(default_factory=list)
    repeats: dict[Name, int] = Field(default_factory=dict)
    grid: list[Literal["coverage", "design", "execution"]] = Field(default_factory=list)
    stride: int = Field(default=1, ge=1)
    words: Words

    def roles(self) -> list[Role]:
        """All roles that a model is needed for."""
        return [self.agent, self.judge, *filter(None, [self.second_judge])]


def distinct(values: list[str]) -> list[str]:
    """The list itself. Raises ValueError if a value occurs twice."""
    if len(set(values)) != len(values):
        raise ValueError("a value occurs twice")
    return values


class Study(Measurement):
    """A live study: the suites it has written, and how it measures them.

    ``generators`` maps the name used in suite identifiers to a role. ``holdout``: the share of a cell's regulations
    withheld from S4.
    """

    cells: Annotated[list[Name], AfterValidator(distinct)] = Field(min_length=1)
    strategies: Annotated[list[Literal["S1", "S2", "S3", "S4"]], AfterValidator(distinct)] = Field(min_length=1)
    replications: int = Field(ge=1)
    scenarios: int = Field(ge=1, le=99)
    holdout: float = Field(gt=0, lt=1)
    generators: dict[Name, Role] = Field(min_length=1)

    def roles(self) -> list[Role]:
        """All roles that a model is needed for."""
        return [*self.generators.values(), *super().roles()]


class Definitions(Params):
    """The whole of params.yaml, with what a study needs: endpoints, studies, and evaluations of suites people bring."""

    endpoints: dict[str, Endpoint]
    studies: dict[str, Study]
    evaluations: dict[str, Measurement]


def read_definitions(path: Path = paths.PARAMS) -> Definitions:
    """Read and check params.yaml. Raises ContractError with one line that names each wrong key."""
    return checked_params(yaml_value(path), path, Definitions)
