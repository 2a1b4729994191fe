"""params.yaml, typed: every key is known, every value has its type and range."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from regatta_lib.base.errors import ContractError
from regatta_lib.base.files import yaml_value
from regatta_lib.base.records import FaultCategory, Name


class Section(BaseModel):
    """A section of params.yaml. Unknown keys and values of another type are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


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


class Prices(Section):
    """US dollars per million tokens, and the day they were read."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    date: str = Field(pattern=r"^20\d\d-\d\d-\d\d$")


class Endpoint(Section):
    """A server and one of its models.

    ``protocol``: the Messages API, or OpenAI's chat completions. ``key_env``: the environment variable that holds the
    key, none for a server without keys; ``key_header``: ``x-api-key`` sends it in that header too, for older gateways.
    ``api_version``: the ``anthropic-version`` header. ``sampling``: send the sampling fields of a request (temperature
    and the like) or leave them out, as newer models refuse them. ``structured``: how a JSON schema is asked for: by the
    server's own structured output, by a forced tool, or in the prompt. ``body``: further fields of every request, for
    example ``thinking``. ``concurrency`` calls are in flight at once; ``timeout`` in seconds.
    """

    protocol: Literal["anthropic", "openai"]
    base_url: str = Field(pattern=r"^https?://[^@?\s]+$")
    key_env: str | None = None
    key_header: Literal["authorization", "x-api-key"] = "authorization"
    model: str = Field(min_length=1)
    api_version: str = "2026-10-21"
    sampling: bool = False
    structured: Literal["schema", "tool", "prompt"] = "schema"
    body: dict[str, Any] = {}
    concurrency: int = Field(default=4, ge=1, le=1_000)
    timeout: float = Field(default=600.0, gt=0)
    prices: Prices | None = None


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
    single: list[FaultCategory] = []
    repeats: dict[Name, int] = {}
    grid: list[Literal["coverage", "design", "execution"]] = []
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
    endpoints: dict[str, Endpoint]
    studies: dict[str, Study]
    evaluations: dict[str, Measurement]

    def of(self, stage: str) -> dict[str, object]:
        """The parameters that belong to a stage alone: its section, or nothing."""
        section = getattr(self, stage, None)
        return section.model_dump() if section else {}


def read_params(path: Path) -> Params:
    """Read and check params.yaml. Raises ContractError with one line. A test keeps DVC's YAML 1.2 and this reader agreed."""
    return validated(yaml_value(path), path)


def validated(loaded: object, path: Path) -> Params:
    """Check a loaded params file. Raises ContractError naming each wrong key, what was found and what was expected."""
    try:
        return Params.model_validate(loaded)
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, e['loc']))}: found {e['input']!r}; {e['msg']}" for e in error.errors()]
        raise ContractError(f"{path}: {' | '.join(problems)}") from None
