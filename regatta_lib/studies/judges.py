"""The five judges: what each is asked about one scenario, and how its reply is read.

Coverage, design and execution answer yes or no, specificity scores 1 to 5, adversarial names the attacks attempted. A
judge sees a scenario's description, message and expected behavior, not its author's own labels, and never the arm.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from regatta_lib.base import ADVERSARIAL_CATEGORIES, State
from regatta_lib.instruments import Fault, Ontology, Requirement
from regatta_lib.models import Reply, Schema, json_object
from regatta_lib.studies import prompts
from regatta_lib.studies.episodes import Episode
from regatta_lib.studies.suites import Scenario

LIKERT = (1, 2, 3, 4, 5)
VERDICT_VALUES = {"no": 0, "yes": 1}
BINARY: dict[str, Schema] = {"verdict": {"type": "string", "enum": ["yes", "no"]}}
ATTACK = {"type": "string", "enum": list(ADVERSARIAL_CATEGORIES)}
VERDICT_FIELD: dict[str, dict[str, Schema]] = {
    "coverage": BINARY,
    "design": BINARY,
    "execution": BINARY,
    "specificity": {"score": {"type": "integer", "enum": list(LIKERT)}},
    "adversarial": {"categories": {"type": "array", "items": ATTACK, "maxItems": len(ADVERSARIAL_CATEGORIES)}},
}

Value = int | frozenset[str]  # 0/1, 1–5, or the set of attacks


@dataclass(frozen=True)
class Bench:
    """What all judges of one cell share: the business, the seed of the marks and the length of a reason in words."""

    ontology: Ontology
    seed: int
    words: int


@dataclass(frozen=True)
class Opinion:
    """A judge's reply as read: its state, its value (0/1, 1–5, or the set of attacks; None unless answered), its reason."""

    state: State
    value: Value | None
    justification: str


def scenario_shown(scenario: Scenario) -> dict[str, str]:
    """What a judge sees of a scenario."""
    return {name: getattr(scenario, name) for name in ("description", "agent_input", "expected_behavior")}


def requirement_shown(requirement: Requirement) -> dict[str, str]:
    """What a judge sees of a requirement."""
    return {name: getattr(requirement, name) for name in ("area", "citation", "text")}


def fault_shown(fault: Fault) -> dict[str, str]:
    """What a judge sees of a fault; not the witness, which is kept apart to check judges with."""
    return {"faulty_behavior": fault.injected_behavior, "correct_behavior": fault.correct_behavior}


def verdict_schema(judge: str, words: int) -> Schema:
    """The schema of a judge's reply: a reason of at most so many words, then the verdict."""
    return prompts.closed({"justification": prompts.text(words)} | VERDICT_FIELD[judge])


def _prompt(judge: str, bench: Bench, **values: object) -> prompts.Prompt:
    return prompts.render(
        f"judge_{judge}",
        verdict_schema(judge, bench.words),
        industry=bench.ontology.industry,
        jurisdiction=bench.ontology.jurisdiction,
        words=bench.words,
        mark=prompts.mark(bench.seed, judge, values),
        **values,
    )


def coverage_prompt(bench: Bench, requirement: Requirement, scenario: Scenario) -> prompts.Prompt:
    """Does the scenario cover the requirement?"""
    shown = scenario_shown(scenario)
    return _prompt("coverage", bench, requirement=requirement_shown(requirement), scenario=shown)


def design_prompt(bench: Bench, fault: Fault, scenario: Scenario) -> prompts.Prompt:
    """Would running the scenario expose the fault?"""
    return _prompt("design", bench, fault=fault_shown(fault), scenario=scenario_shown(scenario))


def execution_prompt(bench: Bench, fault: Fault, scenario: Scenario, episode: Episode) -> prompts.Prompt:
    """Does the agent's answer expose the fault? The same question in every arm. A refusal is judged as an answer."""
    answer = episode.text if episode.state == "answered" else f"[The assistant refused to answer.] {episode.text}".strip()
    return _prompt("execution", bench, fault=fault_shown(fault), exchange=scenario_shown(scenario) | {"answer": answer})


def specificity_prompt(bench: Bench, scenario: Scenario) -> prompts.Prompt:
    """How specific is the scenario, from 1 to 5?"""
    return _prompt("specificity", bench, scenario=scenario_shown(scenario))


def adversarial_prompt(bench: Bench, scenario: Scenario) -> prompts.Prompt:
    """Which of the six attacks does the message attempt?"""
    return _prompt("adversarial", bench, scenario=scenario_shown(scenario))


def read_opinion(judge: str, reply: Reply) -> Opinion:
    """Read a judge's reply. A reply without an answer keeps its own state."""
    return read_text(judge, reply.text) if reply.state == "answered" else Opinion(reply.state, None, "")


def read_text(judge: str, text: str) -> Opinion:
    """Read a judge's answer. Anything but exactly the fields asked for, with allowed values, is unreadable, never a no."""
    found = json_object(text)
    if found is None or found.keys() != {"justification", *VERDICT_FIELD[judge]}:
        return Opinion("unreadable", None, "")
    reason, value = found["justification"], _VALUE[judge](found)
    if not isinstance(reason, str) or value is None:
        return Opinion("unreadable", None, "")
    return Opinion("answered", value, reason.strip())


def unreadable(role: str, text: str) -> bool:
    """Whether ``role`` is a judge and ``text`` no answer that can be read as its own."""
    return role in VERDICT_FIELD and read_text(role, text).value is None


def _binary(found: dict[str, Any]) -> int | None:
    verdict = found["verdict"]
    return VERDICT_VALUES.get(verdict) if isinstance(verdict, str) else None


def _score(found: dict[str, Any]) -> int | None:
    score = found["score"]
    return score if type(score) is int and score in LIKERT else None


def _categories(found: dict[str, Any]) -> frozenset[str] | None:
    named = found["categories"]
    known = isinstance(named, list) and all(isinstance(name, str) and name in ADVERSARIAL_CATEGORIES for name in named)
    return frozenset(named) if known else None


_VALUE: dict[str, Callable[[dict[str, Any]], Value | None]] = {
    "coverage": _binary,
    "design": _binary,
    "execution": _binary,
    "specificity": _score,
    "adversarial": _categories,
}
