"""A live study from its definition to its rulings, with any model. What was answered before is never asked again.

Each step is a function of the steps before it, so a step can be run again from the files of the earlier ones.
"""

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TypeVar

from regatta_lib import instruments
from regatta_lib.base import ContractError, cell_of
from regatta_lib.instruments import Document, Fault, Ontology, Requirement
from regatta_lib.models import Model
from regatta_lib.studies import episodes, judges, suites
from regatta_lib.studies.asking import gathered, together
from regatta_lib.studies.canaries import CanaryResult, canaries
from regatta_lib.studies.design import Measurement, Study
from regatta_lib.studies.episodes import Episode
from regatta_lib.studies.rulings import (
    JUDGED_STATES,
    Question,
    Ruling,
    balanced_sample,
    episode_questions,
    judge_suite,
    rule,
    scenario_questions,
)
from regatta_lib.studies.suites import Scenario

SUITES_AT_ONCE = 8
Row = TypeVar("Row", Scenario, Episode)


@dataclass(frozen=True)
class GeneratorSide:
    """What a generator may read of a cell, and the digest of all instruments."""

    ontology: Ontology
    documents: list[Document]
    instruments_digest: str
    withheld: dict[int, tuple[str, ...]]


@dataclass(frozen=True)
class JudgeSide:
    """What the judges and the agent's maker read of a cell."""

    ontology: Ontology
    requirements: list[Requirement]
    faults: list[Fault]


def read_sides(study: Study) -> tuple[dict[str, GeneratorSide], dict[str, JudgeSide]]:
    """The instruments of the study's cells, generator side and judge side apart, {cell: side}."""
    digest = instruments.instruments_digest(study.cells)
    generators = {}
    for cell in study.cells:
        ontology, documents = instruments.read_generator_side(cell)
        keys = [regulation.key for regulation in ontology.regulations]
        withheld = {
            replication: instruments.withhold(cell, replication, keys, study.holdout)
            for replication in range(1, study.replications + 1)
        }
        generators[cell] = GeneratorSide(ontology, list(documents), digest, withheld)
    return generators, {cell: read_bench(study, cell) for cell in study.cells}


def read_bench(study: Measurement, cell: str) -> JudgeSide:
    """The judge side of one cell, in the text of the instruments that the study names."""
    ontology, _ = instruments.read_generator_side(cell)
    requirements, faults = instruments.read_judge_side(cell, study.instruments)
    return JudgeSide(ontology, list(requirements), list(faults))


def plans(study: Study, sides: dict[str, GeneratorSide]) -> list[suites.Plan]:
    """The suites of a study, sorted by identifier. S4 is told which regulations are withheld, by cell and replication."""
    planned = [
        suites.Plan(
            generator=generator,
            strategy=strategy,
            cell=cell,
            replication=replication,
            scenarios=study.scenarios,
            seed=study.seed,
            words=study.words.message,
            withheld=sides[cell].withheld[replication] if strategy == "S4" else (),
        )
        for generator in study.generators
        for strategy in study.strategies
        for cell in study.cells
        for replication in range(1, study.replications + 1)
    ]
    return sorted(planned, key=lambda plan: plan.suite_id)


async def generate(
    model: Model, study: Study, sides: dict[str, GeneratorSide]
) -> tuple[list[Scenario], list[suites.Manifest]]:
    """Write all suites. Raises models.Pending where answers are still to come."""
    jobs = (
        suites.write_suite(
            model,
            study.generators[plan.generator],
            plan,
            sides[plan.cell].ontology,
            sides[plan.cell].documents,
            sides[plan.cell].instruments_digest,
        )
        for plan in plans(study, sides)
    )
    written = await gathered(jobs, SUITES_AT_ONCE)
    return [scenario for scenarios, _ in written for scenario in scenarios], [manifest for _, manifest in written]


def by_suite(rows: list[Row]) -> dict[str, list[Row]]:
    """Rows grouped by suite, suites in order."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.suite_id].append(row)
    return dict(sorted(groups.items()))


async def act(model: Model, study: Measurement, sides: dict[str, JudgeSide], scenarios: list[Scenario]) -> list[Episode]:
    """Run the agent on all scenarios. Raises models.Pending where answers are still to come."""

    async def suite(suite_id: str, of: list[Scenario]) -> list[Episode]:
        cell = cell_of(suite_id)
        side = sides[cell]
        plan = [*episodes.planned(side.faults, study.control, study.single, study.repeats.get(cell, 1))]
        return await episodes.run_arms(model, study.agent, side.ontology, side.faults, of, plan, study.words.answer)

    ran = await gathered((suite(*item) for item in by_suite(scenarios).items()), SUITES_AT_ONCE)
    return [episode for of_suite in ran for episode in of_suite]


def bench(study: Measurement, ontology: Ontology) -> judges.Bench:
    """What the judges of a cell share."""
    return judges.Bench(ontology, study.seed, study.words.reason)


def about_scenarios(study: Measurement, side: JudgeSide, scenarios: list[Scenario]) -> list[Question]:
    """All questions about the scenarios of one suite."""
    return scenario_questions(bench(study, side.ontology), side.requirements, side.faults, scenarios)


def about_episodes(study: Measurement, side: JudgeSide, scenarios: list[Scenario], ran: list[Episode]) -> list[Question]:
    """All questions about the episodes of one suite."""
    return episode_questions(bench(study, side.ontology), side.faults, scenarios, ran)


async def judge_scenarios(
    model: Model, study: Measurement, sides: dict[str, JudgeSide], scenarios: list[Scenario]
) -> list[Ruling]:
    """Coverage, design, specificity and adversarial rulings on all suites. Raises models.Pending."""

    async def suite(suite_id: str, of: list[Scenario]) -> list[Ruling]:
        asked = about_scenarios(study, sides[cell_of(suite_id)], of)
        return await judge_suite(model, study.judge, asked, study.grid, study.stride)

    ruled = await gathered((suite(*item) for item in by_suite(scenarios).items()), SUITES_AT_ONCE)
    return [ruling for of_suite in ruled for ruling in of_suite]


async def judge_episodes(
    model: Model, study: Measurement, sides: dict[str, JudgeSide], scenarios: list[Scenario], ran: list[Episode]
) -> list[Ruling]:
    """Execution rulings on all suites. Raises models.Pending where answers are still to come."""
    written = by_suite(scenarios)

    async def suite(suite_id: str, of: list[Episode]) -> list[Ruling]:
        asked = about_episodes(study, sides[cell_of(suite_id)], written[suite_id], of)
        return await judge_suite(model, study.judge, asked, study.grid, study.stride)

    ruled = await gathered((suite(*item) for item in by_suite(ran).items()), SUITES_AT_ONCE)
    return [ruling for of_suite in ruled for ruling in of_suite]


async def second_opinions(
    model: Model, study: Measurement, sides: dict[str, JudgeSide], scenarios: list[Scenario], ran: list[Episode]
) -> list[Ruling]:
    """The second judge's rulings on its sample; none without a second judge. Raises models.Pending."""
    if study.second_judge is None:
        return []
    answers = by_suite(ran)
    asked: list[Question] = []
    for suite_id, of in by_suite(scenarios).items():
        side = sides[cell_of(suite_id)]
        asked += [question for question in about_scenarios(study, side, of) if question.judge == "design"]
        asked += about_episodes(study, side, of, answers[suite_id])
    sample = balanced_sample(asked, study.second_sample, study.seed)
    sample.sort(key=lambda question: question.suite_id)  # a replay then reads each suite's transcript once
    ruled = await gathered(rule(model, study.second_judge, question) for question in sample)
    return [ruling for answer in ruled for ruling in answer]


async def watch(model: Model, study: Measurement, sides: dict[str, JudgeSide], names: tuple[str, ...]) -> list[CanaryResult]:
    """Ask the judges in ``names`` the canaries, in the first cell of the study. Raises models.Pending."""
    side = next(iter(sides.values()))
    of = bench(study, side.ontology)
    return await canaries(model, study.judge, of, side.requirements[0], side.faults[0], names)


@dataclass(frozen=True)
class Result:
    """All that a study came to."""

    scenarios: list[Scenario]
    manifests: list[suites.Manifest]
    episodes: list[Episode]
    rulings: list[Ruling]
    second: list[Ruling]
    canaries: list[CanaryResult]

    def unresolved(self) -> float:
        """The share of rulings without a verdict."""
        return sum(ruling.state != "answered" for ruling in self.rulings) / max(len(self.rulings), 1)

    def notes(self) -> list[str]:
        """What a reader must know before the numbers: short suites, unresolved answers and rulings, canaries."""
        short = [manifest.suite_id for manifest in self.manifests if manifest.short]
        named = f" ({', '.join(short)})" if short else ""
        answers = sum(episode.state not in JUDGED_STATES for episode in self.episodes)
        rulings = sum(ruling.state != "answered" for ruling in self.rulings)
        held = sum(result.held for result in self.canaries)
        return [
            *([f"short suites: {len(short)} of {len(self.manifests)}{named}"] if self.manifests else []),
            f"agent answers that cannot be judged: {answers:,} of {len(self.episodes):,}",
            f"rulings without a verdict: {rulings:,} of {len(self.rulings):,}",
            f"canaries held: {held} of {len(self.canaries)}",
        ]


async def run(model: Model, study: Study, generators: dict[str, GeneratorSide], judged: dict[str, JudgeSide]) -> Result:
    """Run a study to its end. Canaries are asked among the real questions to the same judge.

    Raises models.Pending where answers are still to come through an exchange, after all that can be asked was asked,
    and ContractError if no suite has a scenario.
    """
    scenarios, manifests = await generate(model, study, generators)
    if not scenarios:
        replies = {state: count for manifest in manifests for state, count in manifest.replies.items()}
        raise ContractError(f"0 readable scenarios in {len(manifests)} suites (replies: {replies}), expected at least 1")
    return replace(await measure(model, study, judged, scenarios), manifests=manifests)


async def measure(model: Model, study: Measurement, judged: dict[str, JudgeSide], scenarios: list[Scenario]) -> Result:
    """Run the agent on scenarios that are there already, and the judges on both. Raises models.Pending like ``run``."""

    async def about_answers() -> tuple[list[Episode], list[Ruling], list[Ruling], list[CanaryResult]]:
        ran = await act(model, study, judged, scenarios)
        ruled = await together(
            judge_episodes(model, study, judged, scenarios, ran),
            second_opinions(model, study, judged, scenarios, ran),
            watch(model, study, judged, ("execution",)),
        )
        return ran, *ruled

    (ran, of_episodes, second, watched), of_scenarios, also_watched = await together(
        about_answers(),
        judge_scenarios(model, study, judged, scenarios),
        watch(model, study, judged, ("coverage", "design", "specificity", "adversarial")),
    )
    return Result(scenarios, [], ran, of_scenarios + of_episodes, second, watched + also_watched)
