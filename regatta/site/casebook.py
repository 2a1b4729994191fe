"""A live study as a book of cases: each scenario with what every judge said of it, and each fault with all answers.

Reads the result files of a study; texts come from models and are untrusted.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from regatta_lib import instruments, studies
from regatta_lib.base import cell_of, read_params
from regatta_lib.instruments import Fault
from regatta_lib.studies import Episode, Ruling, Scenario, answer_name, read_definitions, reading_order

SCENARIO_JUDGES = ("coverage", "specificity", "adversarial")


@dataclass(frozen=True)
class Answer:
    """One answer of the agent: its name by arm and draw, the judge's ruling, and the second judge's where it saw it."""

    arm: str
    episode: Episode
    ruling: Ruling | None
    second: Ruling | None


@dataclass(frozen=True)
class FaultCase:
    """One scenario against one fault: the design ruling and the answers in every arm."""

    fault: Fault
    design: Ruling | None
    second: Ruling | None
    answers: tuple[Answer, ...]

    @property
    def stages(self) -> str:
        """What design and execution (joint arm, first draw) say: both, design, execution, neither; empty if unresolved."""
        first = (answer for answer in self.answers if (answer.episode.arm, answer.episode.draw) == ("joint", 1))
        joint = next((answer.ruling for answer in first), None)
        if self.design is None or joint is None or self.design.value is None or joint.value is None:
            return ""
        return {(1, 1): "both", (1, 0): "design", (0, 1): "execution", (0, 0): "neither"}[self.design.value, joint.value]


@dataclass(frozen=True)
class ScenarioCase:
    """One scenario with its rulings by judge (coverage, specificity, adversarial) and its cases by fault."""

    scenario: Scenario
    rulings: dict[str, list[Ruling]]
    faults: list[FaultCase] = field(default_factory=list)


def pilot_of(root: Path) -> str | None:
    """The study that the notebooks replay, if its results are there."""
    name = read_params(root / "params.yaml").base.pilot
    return name if (root / f"data/verdicts/{name}.jsonl").is_file() else None


def _by_place(rulings: list[Ruling]) -> dict[tuple[object, ...], Ruling]:
    return {(r.suite_id, r.scenario, r.judge, r.target, r.arm, r.draw): r for r in rulings}


def _in_order(answer: Answer) -> tuple[int, int, int]:
    return reading_order("execution", answer.episode.arm, answer.episode.draw)


def read_cases(root: Path, study: str) -> dict[str, list[ScenarioCase]]:
    """All cases of a study, {suite identifier: its scenarios in order}. Raises ContractError for a file that breaks one."""
    data = root / "data"
    text = read_definitions(root / "params.yaml").studies[study].instruments
    rulings = studies.RULING_LINES.read(data / f"verdicts/{study}.jsonl")
    other = data / f"verdicts/{study}-second.jsonl"
    mine, theirs = _by_place(rulings), _by_place(studies.RULING_LINES.read(other) if other.is_file() else [])
    answers = defaultdict(list)
    for episode in studies.EPISODE_LINES.read(data / f"episodes/{study}.jsonl"):
        place = (episode.suite_id, episode.scenario, "execution", episode.fault_id, episode.arm, episode.draw)
        arm = answer_name(episode.arm, episode.draw)
        answers[(*place[:2], episode.fault_id)].append(Answer(arm, episode, mine.get(place), theirs.get(place)))
    said: dict[tuple[str, int], dict[str, list[Ruling]]] = defaultdict(lambda: {judge: [] for judge in SCENARIO_JUDGES})
    for ruling in rulings:
        if ruling.judge in SCENARIO_JUDGES and ruling.scenario is not None:
            said[ruling.suite_id, ruling.scenario][ruling.judge].append(ruling)
    book, faults = defaultdict(list), {}
    for scenario in studies.SCENARIO_LINES.read(data / f"suites/{study}.jsonl"):
        here, cell = (scenario.suite_id, scenario.scenario), cell_of(scenario.suite_id)
        if cell not in faults:
            faults[cell] = instruments.read_judge_side(cell, text, data / "instruments")[1]
        cases = []
        for fault in faults[cell]:
            judged = (*here, "design", fault.id, "", 1)
            given = sorted(answers[(*here, fault.id)], key=_in_order)
            cases.append(FaultCase(fault, mine.get(judged), theirs.get(judged), tuple(given)))
        book[scenario.suite_id].append(ScenarioCase(scenario, said[here], cases))
    return dict(book)
