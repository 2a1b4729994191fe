"""Forecast: how many calls, tokens and dollars a study comes to, before anything is sent.

Calls follow from the design. Tokens are characters of the rendered prompts divided by a number of characters per token
(low and high), plus the reply: low a third of the words asked for, high the cap. A live call whose reply is cut off is
sent once more with twice the cap, so its high end is two prompts and three caps. Prices are those of params.yaml.
"""

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import pandas as pd

from regatta_lib.models import Endpoint
from regatta_lib.studies import episodes, judges, suites
from regatta_lib.studies.asking import request_params
from regatta_lib.studies.canaries import PLANTED, PLANTS
from regatta_lib.studies.design import Measurement, Role, Study
from regatta_lib.studies.episodes import Episode
from regatta_lib.studies.prompts import Prompt
from regatta_lib.studies.runs import GeneratorSide, JudgeSide, bench, plans
from regatta_lib.studies.suites import Scenario

CHARACTERS_PER_TOKEN = (5.0, 3.0)
WRITTEN_PER_WORD = 7
TOKENS_PER_WORD = 1.4

# The prompts and caps that one live call may come to: see live.Live._ask.
CUT_OFF_ONCE = (2, 3)
MILLION = 1_000_000
Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class TaskForecast:
    """The part of a forecast that one role asks of one endpoint; (low, high) pairs. No price: the endpoint has none."""

    role: str
    endpoint: str
    calls: tuple[int, int]
    input_tokens: tuple[int, int]
    output_tokens: tuple[int, int]
    dollars: tuple[float, float] | None


@dataclass(frozen=True)
class Task:
    """Calls of one kind: the role that makes them, how many, a typical prompt, and the words the reply should have."""

    role: str
    by: Role
    calls: tuple[int, int]
    prompt: Prompt
    words: int


def tasks(study: Study, generators: dict[str, GeneratorSide], judged: dict[str, JudgeSide]) -> Iterator[Task]:
    """The tasks of a study, suite by suite."""
    n, words = study.scenarios, study.words
    for plan in plans(study, generators):
        source = generators[plan.cell]
        values = suites.context(plan, source.ontology, source.documents)
        prompt = suites.generation_prompt(plan, source.ontology, values, [])
        yield Task("generator", study.generators[plan.generator], (1, suites.ROUNDS), prompt, n * (words.message + 110))
        scenario = filler(plan.suite_id, 20 * WRITTEN_PER_WORD, words.message * WRITTEN_PER_WORD, 40 * WRITTEN_PER_WORD)
        last = yield from suite_tasks(study, judged[plan.cell], scenario, n)
    yield from study_tasks(study, last)


def filler(suite_id: str, description: int, message: int, expected: int) -> Scenario:
    """A scenario that stands for others: texts of so many characters."""
    return Scenario(suite_id, 1, "x" * description, "x" * message, "x" * expected, None, None)


def suite_tasks(study: Measurement, side: JudgeSide, scenario: Scenario, n: int) -> Generator[Task, None, Prompt]:
    """The tasks of a suite of ``n`` scenarios like this one, once it is there. Returns the prompt of the last judge."""
    words, cell = study.words, side.ontology.cell
    fault, of = side.faults[0], bench(study, side.ontology)
    planned = [*episodes.planned(side.faults, study.control, study.single, study.repeats.get(cell, 1))]
    told = episodes.instructions("joint", fault, side.faults)
    prompt = episodes.agent_prompt(side.ontology, told, scenario.agent_input, words.answer)
    yield Task("agent", study.agent, (n * len(planned), n * len(planned)), prompt, words.answer)
    text = "x" * WRITTEN_PER_WORD * words.answer
    answer = Episode(scenario.suite_id, 1, fault.id, "joint", 1, "answered", text, "")
    last = judges.execution_prompt(of, fault, scenario, answer)
    scans = {
        "coverage": (len(side.requirements), judges.coverage_prompt(of, side.requirements[0], scenario)),
        "design": (len(side.faults), judges.design_prompt(of, fault, scenario)),
        "execution": (len(planned), last),
    }
    for judge, (targets, prompt) in scans.items():
        fewest = n if judge in study.grid else min(study.stride, n)
        yield Task("judge", study.judge, (targets * fewest, targets * n), prompt, words.reason)
    yield Task("judge", study.judge, (n, n), judges.specificity_prompt(of, scenario), words.reason)
    yield Task("judge", study.judge, (n, n), judges.adversarial_prompt(of, scenario), words.reason)
    return last


def study_tasks(study: Measurement, prompt: Prompt) -> Iterator[Task]:
    """The tasks that come once: canaries and the second judge's sample, each about as long as ``prompt``."""
    canaries = len(PLANTED) * len(PLANTS)
    yield Task("judge", study.judge, (canaries, canaries), prompt, study.words.reason)
    if study.second_judge is not None:
        yield Task("second judge", study.second_judge, (study.second_sample,) * 2, prompt, study.words.reason)


def evaluation_tasks(study: Measurement, side: JudgeSide, scenarios: list[Scenario]) -> Iterator[Task]:
    """The tasks of measuring scenarios that are there already, by the mean length of their texts."""
    n = len(scenarios)
    lengths = [
        -(-sum(map(len, texts)) // n) for texts in zip(*(judges.scenario_shown(s).values() for s in scenarios), strict=True)
    ]
    last = yield from suite_tasks(study, side, filler(scenarios[0].suite_id, *lengths), n)
    yield from study_tasks(study, last)


def characters(role: Role, prompt: Prompt) -> int:
    """The characters a request sends as text, its schema included."""
    params = request_params(role, prompt)
    return len(params["system"]) + len(params["messages"][0]["content"]) + len(str(params.get("output_config", "")))


def forecast_study(
    study: Study,
    generators: dict[str, GeneratorSide],
    judged: dict[str, JudgeSide],
    endpoints: dict[str, Endpoint],
) -> list[TaskForecast]:
    """Calls, tokens and price of a study by role and endpoint, low and high. See ``priced``."""
    return priced(tasks(study, generators, judged), endpoints, study.provider)


def priced(todo: Iterable[Task], endpoints: dict[str, Endpoint], provider: str) -> list[TaskForecast]:
    """Calls, tokens and price of tasks by role and endpoint, low and high.

    High counts every scan to its end, every re-ask of a suite and every reply at its cap, over the network also every
    reply cut off once; only repeated attempts after failures can exceed it. Low counts every scan that stops early as
    stopped after its first wave.
    """
    prompts, caps = CUT_OFF_ONCE if provider == "live" else (1, 1)
    sums: dict[tuple[str, str], list[float]] = {}
    for task in todo:
        total = sums.setdefault((task.role, task.by.endpoint), [0] * 6)
        text = characters(task.by, task.prompt)
        sent = (text, text * prompts)
        replies = (task.words * TOKENS_PER_WORD / 3, task.by.max_tokens * caps)
        for end in (0, 1):
            total[end] += task.calls[end]
            total[2 + end] += task.calls[end] * sent[end] / CHARACTERS_PER_TOKEN[end]
            total[4 + end] += task.calls[end] * replies[end]
    return [_task(*key, [round(value) for value in total], endpoints) for key, total in sorted(sums.items())]


def _task(role: str, endpoint: str, total: list[int], endpoints: dict[str, Endpoint]) -> TaskForecast:
    calls, sent, received = ((total[i], total[i + 1]) for i in (0, 2, 4))
    prices = endpoints[endpoint].prices if endpoint in endpoints else None
    if prices is None:
        return TaskForecast(role, endpoint, calls, sent, received, None)
    low, high = ((sent[i] * prices.input + received[i] * prices.output) / MILLION for i in (0, 1))
    return TaskForecast(role, endpoint, calls, sent, received, (low, high))


def most_dollars(shares: list[TaskForecast]) -> float | None:
    """The high end of the price, or None where some price is not known."""
    dollars = _dollars(shares)
    return None if dollars is None else sum(high for _, high in dollars)


def forecast_table(shares: list[TaskForecast]) -> pd.DataFrame:
    """A forecast as rows for the terminal, the last row for all: role, endpoint, then (low, high) pairs.

    Dollars are missing where some price is not known.
    """
    dollars = _dollars(shares)
    total = TaskForecast(
        "all",
        "",
        _summed([share.calls for share in shares]),
        _summed([share.input_tokens for share in shares]),
        _summed([share.output_tokens for share in shares]),
        None if dollars is None else _summed(dollars),
    )
    frame = pd.DataFrame([vars(share) for share in (*shares, total)], dtype=object)
    return frame.rename(columns={"input_tokens": "input tokens", "output_tokens": "output tokens"})


def _dollars(shares: list[TaskForecast]) -> list[tuple[float, float]] | None:
    """The price of each share, or None where some price is not known."""
    known = [share.dollars for share in shares if share.dollars is not None]
    return known if len(known) == len(shares) else None


def _summed(pairs: list[tuple[Number, Number]]) -> tuple[Number, Number]:
    return sum(low for low, _ in pairs), sum(high for _, high in pairs)
