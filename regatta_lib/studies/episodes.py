"""Episodes: the agent under test answers one scenario, drawn afresh for each fault, in up to three arms."""

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic.dataclasses import dataclass

from regatta_lib.base import LAZY, FaultId, Lines, Positive, State, SuiteId
from regatta_lib.instruments import Fault, Ontology
from regatta_lib.models import Model
from regatta_lib.studies import prompts
from regatta_lib.studies.asking import ask, gathered
from regatta_lib.studies.design import Role
from regatta_lib.studies.suites import Scenario

Played = Literal["joint", "control", "single"]


@dataclass(frozen=True, config=LAZY)
class Episode:
    """One answer of the agent to one scenario, drawn afresh for one fault in one arm.

    ``arm`` is joint (all faults of the cell injected), control (none) or single (this fault only). ``key`` names the
    model call, so that the reply can be found in the transcripts.
    """

    suite_id: SuiteId
    scenario: Positive
    fault_id: FaultId
    arm: Played
    draw: Positive
    state: State
    text: str
    key: str


EPISODE_LINES = Lines(Episode, ("suite_id", "scenario", "fault_id", "arm", "draw"))


def instructions(arm: Played, fault: Fault, faults: list[Fault]) -> list[str]:
    """The agent's operating instructions, one for each fault of the cell, in the order of the faults.

    joint: every faulty behavior, as in the paper. control: every correct behavior. single: the faulty behavior of
    ``fault`` and the correct behavior of all others, so that it differs from control in one instruction only.
    """
    faulty = {"joint": {f.id for f in faults}, "control": set(), "single": {fault.id}}[arm]
    return [f.injected_behavior if f.id in faulty else f.correct_behavior for f in faults]


def request_draw(fault: Fault, faults: list[Fault], draw: int) -> int:
    """The number of the sample: every (fault, draw) has its own, and more draws later leave the earlier ones as they are."""
    return [f.id for f in faults].index(fault.id) + 1 + len(faults) * (draw - 1)


def planned(faults: list[Fault], control: bool, single: Sequence[str], draws: int) -> Iterator[tuple[Fault, Played, int]]:
    """The episodes of one scenario: joint ``draws`` times, control once, single once for faults of these categories."""
    for fault in faults:
        for draw in range(1, draws + 1):
            yield fault, "joint", draw
        if control:
            yield fault, "control", 1
        if fault.category in single:
            yield fault, "single", 1


def agent_prompt(ontology: Ontology, told: list[str], message: str, words: int) -> prompts.Prompt:
    """The agent's prompt. It names the business and the instructions, nothing else: the arms differ in these alone."""
    return prompts.render(
        "agent",
        industry=ontology.industry,
        jurisdiction=ontology.jurisdiction,
        instructions=told,
        message=message,
        words=words,
    )


async def run_arms(
    model: Model,
    role: Role,
    ontology: Ontology,
    faults: list[Fault],
    scenarios: list[Scenario],
    plan: list[tuple[Fault, Played, int]],
    words: int,
) -> list[Episode]:
    """Run one suite: every scenario with every planned (fault, arm, draw).

    A reply that is refused, cut off, empty or failed is an episode with that state; the verdicts decide what it means.
    Raises models.Pending where an answer is still to come.
    """

    async def episode(scenario: Scenario, fault: Fault, arm: Played, draw: int) -> Episode:
        prompt = agent_prompt(ontology, instructions(arm, fault, faults), scenario.agent_input, words)
        call = f"agent/{scenario.suite_id}/s{scenario.scenario:02d}/{fault.id}/{arm}/{draw}"
        reply = await ask(model, role, prompt, call, request_draw(fault, faults, draw))
        return Episode(scenario.suite_id, scenario.scenario, fault.id, arm, draw, reply.state, reply.text, reply.key)

    return await gathered(episode(scenario, *item) for scenario in scenarios for item in plan)
