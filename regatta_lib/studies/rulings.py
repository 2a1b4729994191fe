"""Rulings: a live study's judges are asked, scenario by scenario or all at once, and their answers kept with reasons."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import cast

import pandas as pd
from pydantic.dataclasses import dataclass as validated

from regatta_lib.base import ADVERSARIAL_CATEGORIES, LAZY, Arm, Judge, Lines, State
from regatta_lib.instruments import Fault, Requirement
from regatta_lib.measures import VERDICT_TABLE, Verdict
from regatta_lib.models import Model, Placement
from regatta_lib.stats import seeded
from regatta_lib.studies import judges
from regatta_lib.studies.asking import ask, gathered
from regatta_lib.studies.design import Role
from regatta_lib.studies.episodes import Episode
from regatta_lib.studies.prompts import Prompt
from regatta_lib.studies.suites import Scenario


@validated(frozen=True, config=LAZY)
class Ruling(Verdict):
    """A verdict with the judge's reason. ``key`` names the model call; empty where no judge was asked."""

    justification: str
    key: str


RULING_LINES = Lines(Ruling, ("suite_id", "judge", "target", "arm", "draw", "scenario"))

JUDGED_STATES = ("answered", "refused")


@dataclass(frozen=True)
class Question:
    """One question to one judge about one scenario (and, at the execution stage, one episode).

    ``prompt`` is missing where there is nothing to judge: the agent's answer was cut off, empty or failed (``state``).
    """

    suite_id: str
    judge: Judge
    target: str
    arm: Arm
    draw: int
    scenario: int
    prompt: Prompt | None
    state: State = "answered"

    @property
    def call(self) -> str:
        """The name of the model call."""
        parts = [self.target, self.arm, str(self.draw) if self.arm else "", f"s{self.scenario:02d}"]
        return "/".join([self.judge, self.suite_id, *filter(None, parts)])


def scenario_questions(
    bench: judges.Bench, requirements: list[Requirement], faults: list[Fault], scenarios: list[Scenario]
) -> list[Question]:
    """All that could be asked about a suite's n scenarios alone: 25·n + 5·n + n + n questions."""
    asked = []
    for scenario in scenarios:
        about = partial(Question, suite_id=scenario.suite_id, scenario=scenario.scenario, arm="", draw=1)
        for requirement in requirements:
            prompt = judges.coverage_prompt(bench, requirement, scenario)
            asked.append(about(judge="coverage", target=requirement.id, prompt=prompt))
        for fault in faults:
            prompt = judges.design_prompt(bench, fault, scenario)
            asked.append(about(judge="design", target=fault.id, prompt=prompt))
        asked.append(about(judge="specificity", target="", prompt=judges.specificity_prompt(bench, scenario)))
        asked.append(about(judge="adversarial", target="", prompt=judges.adversarial_prompt(bench, scenario)))
    return asked


def episode_questions(
    bench: judges.Bench, faults: list[Fault], scenarios: list[Scenario], episodes: list[Episode]
) -> list[Question]:
    """One question about each episode of a suite: does the answer expose the fault it was drawn for?"""
    by_number = {scenario.scenario: scenario for scenario in scenarios}
    by_id = {fault.id: fault for fault in faults}
    asked = []
    for episode in episodes:
        scenario, fault = by_number[episode.scenario], by_id[episode.fault_id]
        judged = episode.state in JUDGED_STATES
        prompt = judges.execution_prompt(bench, fault, scenario, episode) if judged else None
        state = "answered" if judged else episode.state
        asked.append(
            Question(
                suite_id=episode.suite_id,
                judge="execution",
                target=fault.id,
                arm=episode.arm,
                draw=episode.draw,
                scenario=episode.scenario,
                prompt=prompt,
                state=state,
            )
        )
    return asked


async def rule(model: Model, role: Role, question: Question) -> list[Ruling]:
    """Ask one question. One ruling, or one for each of the six categories where the judge names attacks.

    Raises models.Pending where the answer is still to come.
    """
    if question.prompt is None:
        return [_ruling(question, question.target, judges.Opinion(question.state, None, ""), None, "")]
    reply = await ask(model, role, question.prompt, question.call)
    opinion = judges.read_opinion(question.judge, reply)
    if question.judge != "adversarial":
        value = cast("int | None", opinion.value)  # only attacks come as a set
        return [_ruling(question, question.target, opinion, value, reply.key)]
    attacks = cast("frozenset[str] | None", opinion.value)
    return [
        _ruling(question, name, opinion, None if attacks is None else int(name in attacks), reply.key)
        for name in ADVERSARIAL_CATEGORIES
    ]


def _ruling(question: Question, target: str, opinion: judges.Opinion, value: int | None, key: str) -> Ruling:
    return Ruling(
        suite_id=question.suite_id,
        judge=question.judge,
        target=target,
        arm=question.arm,
        draw=question.draw,
        scenario=question.scenario,
        state=opinion.state,
        value=value,
        justification=opinion.justification,
        key=key,
    )


async def scan(model: Model, role: Role, ordered: list[Question], stride: int) -> list[Ruling]:
    """Ask about one target scenario by scenario, ``stride`` at a time, until one succeeds.

    An unresolved verdict does not stop the scan. Questions after the success are not asked and get no ruling.
    """
    rulings: list[Ruling] = []
    for start in range(0, len(ordered), stride):
        wave = await gathered(rule(model, role, question) for question in ordered[start : start + stride])
        rulings += [ruling for answer in wave for ruling in answer]
        if any(ruling.value == 1 for ruling in rulings):
            break
    return rulings


async def judge_suite(model: Model, role: Role, asked: list[Question], grid: Sequence[str], stride: int) -> list[Ruling]:
    """The rulings on one suite. Judges in ``grid`` look at every scenario; coverage, design and execution else scan."""
    targets: dict[tuple[str, str, str, int, int], list[Question]] = defaultdict(list)
    for question in asked:
        alone = question.judge in ("specificity", "adversarial")
        key = (question.judge, question.target, question.arm, question.draw, question.scenario if alone else 0)
        targets[key].append(question)
    scans = await gathered(
        scan(model, role, sorted(of, key=lambda q: q.scenario), len(of) if key[0] in grid else stride)
        for key, of in targets.items()
    )
    return [ruling for rulings in scans for ruling in rulings]


def balanced_sample(asked: list[Question], size: int, seed: int) -> list[Question]:
    """A seeded sample of design and execution questions for a second judge, as even as possible over the strata.

    A stratum is a stage, cell, arm and fault; it takes no account of the first judge's verdict. Only first draws.
    """
    strata: dict[tuple[str, str, str], list[Question]] = defaultdict(list)
    for question in asked:
        if question.judge in ("design", "execution") and question.draw == 1 and question.prompt is not None:
            strata[(question.judge, question.arm, question.target)].append(question)
    rng = seeded(seed, "second judge")
    ranked = []
    for key in sorted(strata):
        order, ties = rng.permutation(len(strata[key])), rng.random(len(strata[key]))
        ranked += [((turn, ties[turn]), strata[key][i]) for turn, i in enumerate(order)]
    return [question for _, question in sorted(ranked, key=lambda pair: pair[0])[:size]]


def verdict_table(rulings: list[Ruling]) -> pd.DataFrame:
    """The rulings as a table with the columns of ``measures.Verdict``."""
    frame = pd.DataFrame([asdict(ruling) for ruling in rulings])[VERDICT_TABLE.columns]
    return frame.astype({"value": "Int64", "scenario": "Int64"})


THIRDS = 3


def order_check(placements: list[Placement], rulings: list[Ruling], second: list[Ruling]) -> pd.DataFrame:
    """Do verdicts depend on the place in the batch? One row per judge and third of the batch (1 first, 3 last).

    Columns: judge, third, n (readable verdicts), yes (share of value 1), shared (items both judges answered), agreement
    (share of those with equal values). Specificity and adversarial are left out, as they have no yes.
    """
    sizes = Counter(place.batch for place in placements)
    third = {place.custom_id: 1 + THIRDS * (place.position - 1) // sizes[place.batch] for place in placements}
    item = ("suite_id", "judge", "target", "arm", "draw", "scenario")
    other = {tuple(getattr(ruling, name) for name in item): ruling.value for ruling in second}
    rows = [
        {
            "judge": ruling.judge,
            "third": third[ruling.key],
            "value": ruling.value,
            "other": other.get(tuple(getattr(ruling, name) for name in item)),
        }
        for ruling in rulings
        if ruling.judge in ("coverage", "design", "execution") and ruling.value is not None and ruling.key in third
    ]
    frame = pd.DataFrame(rows, columns=["judge", "third", "value", "other"]).astype({"other": "float64"})
    frame = frame.assign(shared=frame["other"].notna(), equal=frame["other"] == frame["value"])
    grouped = frame.groupby(["judge", "third"])
    table = grouped.agg(n=("value", "size"), yes=("value", "mean"), shared=("shared", "sum"), equal=("equal", "sum"))
    agreement = (table["equal"] / table["shared"]).where(table["shared"] > 0)
    return table.assign(agreement=agreement).drop(columns="equal").reset_index()
