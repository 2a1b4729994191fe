"""Studies on disk: the definition in params.yaml, the model behind it, and the files its results go to."""

import asyncio
import re
from collections.abc import Callable, Coroutine
from contextlib import aclosing, closing, suppress
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from regatta_lib import models
from regatta_lib.base import ContractError, ParameterError, RegattaError, canonical_json, paths
from regatta_lib.measures import SCORE_TABLE, VERDICT_TABLE, suite_scores
from regatta_lib.models import (
    PLACEMENT_TABLE,
    Collector,
    Endpoint,
    Exchange,
    Live,
    Model,
    Pending,
    Placement,
    Preflight,
    Replay,
    Request,
    Routed,
    Totals,
    Transcripts,
    batch_texts,
    collected,
    dealt_kinds,
    placement_table,
    price_list,
    probe,
    totals,
    undealt,
    watched,
)
from regatta_lib.stats import seeded
from regatta_lib.studies import runs
from regatta_lib.studies.canaries import CANARY_TABLE, CanaryResult
from regatta_lib.studies.design import Definitions, Measurement, Study, read_definitions
from regatta_lib.studies.episodes import EPISODE_LINES
from regatta_lib.studies.judges import unreadable
from regatta_lib.studies.rulings import RULING_LINES, Ruling, verdict_table
from regatta_lib.studies.suites import SCENARIO_LINES, Manifest, Scenario

NAME = re.compile(r"[a-z0-9][a-z0-9_]*")
BATCH = 60
Work = Callable[[Model], Coroutine[None, None, runs.Result]]


class StillWaiting(RegattaError):
    """Answers are still to come through an exchange. The message names its folder."""


def definition(name: str, params_file: Path = paths.PARAMS) -> Study:
    """The definition of a study. Raises ContractError, naming the known studies, where there is none."""
    studies = read_definitions(params_file).studies
    if name not in studies:
        raise ContractError(f"{params_file}: no study {name!r}, expected one of {', '.join(studies)}")
    return studies[name]


def measurement(name: str, params: Definitions) -> Measurement:
    """How an own suite is measured: a section of ``evaluations``, or as a study measures its suites."""
    known = params.evaluations | params.studies
    if name not in known:
        raise ParameterError(f"study: no evaluation or study {name!r}, expected one of {', '.join(known)}", "study")
    return known[name]


def check_name(name: str, params: Definitions) -> None:
    """Refuse a name that is no name, or that a study's results carry already."""
    taken = {params.base.study, *params.studies, "canary"}
    if not NAME.fullmatch(name) or name in taken:
        expected = f"lower-case letters, digits and underscores, and none of {', '.join(sorted(taken))}"
        raise ParameterError(f"name: found {name!r}, expected {expected}", "name")


def read_placements(folder: Path) -> list[Placement]:
    """Where the requests of an exchange were dealt so far."""
    path = folder / "batches.csv"
    rows = PLACEMENT_TABLE.read(path).to_dict("records") if path.is_file() else []
    return [Placement(**{str(column): value for column, value in row.items()}) for row in rows]


def study_folder(root: Path, name: str, expected: str) -> Path:
    """The folder of a study in ``root``. Raises ContractError if there is none of that name."""
    if Path(name).name != name or not (root / name).is_dir():
        raise ContractError(f"{root / name}: missing, expected {expected}")
    return root / name


def whole(study: Study) -> Work:
    """All of a study, from its suites on."""
    generators, judged = runs.read_sides(study)
    return lambda model: runs.run(model, study, generators, judged)


def evaluation(design: Measurement, judged: dict[str, runs.JudgeSide], scenarios: list[Scenario]) -> Work:
    """The measurement of scenarios that somebody else wrote."""
    return lambda model: runs.measure(model, design, judged, scenarios)


def waiting(name: str, work: Work) -> tuple[dict[str, Request], str]:
    """The requests that ``work`` waits for in the exchange of this name, {key: request}, and the exchange's counts."""

    async def advance() -> tuple[dict[str, Request], str]:
        with closing(Transcripts(paths.TRANSCRIPTS / name)) as transcripts:
            model = Exchange(paths.EXCHANGE / name, transcripts)
            async with aclosing(Collector(model)) as collector:
                with suppress(Pending):
                    await work(collector)
                return collector.waiting, str(model.counts())

    return asyncio.run(advance())


@dataclass(frozen=True)
class Dealing:
    """What was dealt to an exchange: nothing is written yet.

    ``waiting`` counts the requests without an answer, dealt before or now. ``texts`` are the files to write, {path: text},
    in this order: the batches, then the list of all batches. ``lines`` say what the exchange holds and what was dealt.
    """

    waiting: int
    texts: dict[Path, str]
    lines: list[str]


def deal_study(name: str, size: int = BATCH) -> Dealing:
    """Deal the requests of a study. See ``deal``. Raises ContractError for a study that is not answered through files."""
    study = definition(name)
    if study.provider != "exchange":
        raise ContractError(
            f"studies.{name}.provider: found {study.provider!r}, expected 'exchange' to answer through files"
        )
    return deal(name, study, whole(study), size)


def deal(name: str, study: Measurement, work: Work, size: int = BATCH) -> Dealing:
    """Deal what ``work`` waits for and no batch holds into batches of at most ``size`` requests, in the exchange ``name``.

    Answers that are there are taken into the transcripts on the way. Raises ContractError where a batch has been written
    that the list of batches does not have.
    """
    folder = paths.EXCHANGE / name
    requests, counts = waiting(name, work)
    placements = read_placements(folder)
    first = 1 + max((place.batch for place in placements), default=0)
    new = undealt(folder, placements, requests)
    dealt = models.deal_batches(new, size, first, seeded(study.seed, f"batches from {first}"))
    texts = batch_texts(folder, dealt, new)
    if dealt:
        listing = folder / "batches.csv"
        texts[listing] = PLACEMENT_TABLE.text(placement_table(placements + dealt), listing)
    return Dealing(len(requests), texts, [f"{name}: {counts}", *_dealt_lines(dealt, len(requests))])


def _dealt_lines(dealt: list[Placement], waits: int) -> list[str]:
    if waits and not dealt:
        return [f"nothing new to deal; {waits:,} requests wait in batches without answers"]
    return [
        f"{kind}: {sum(numbers.values()):,} requests in batches {min(numbers):03d} to {max(numbers):03d}"
        for kind, numbers in dealt_kinds(dealt).items()
    ]


def collect(name: str, served: str) -> tuple[dict[Path, str], list[str]]:
    """The answer files to write for the replies that came to the batches of ``name``, {path: text}, and a note on each.

    ``served`` is the model that answered. Raises ContractError, before anything is written, where no exchange has that
    name or a reply file breaks its form.
    """
    folder = study_folder(paths.EXCHANGE, name, "an exchange that batches were dealt in")
    return collected(folder, read_placements(folder), served, unreadable)


def endpoints_of(name: str, study: Measurement, endpoints: dict[str, Endpoint]) -> dict[str, Endpoint]:
    """The live endpoints that a study's roles name. Raises ContractError for one that params.yaml does not have."""
    names = sorted({role.endpoint for role in study.roles()})
    unknown = sorted(set(names) - endpoints.keys())
    if unknown:
        raise ContractError(f"studies.{name}: no endpoint {unknown[0]!r}, expected one of {', '.join(endpoints)}")
    return {endpoint: endpoints[endpoint] for endpoint in names}


async def found_endpoints(used: dict[str, Endpoint], transcripts: Transcripts) -> dict[str, Preflight]:
    """What each live endpoint can do, asked before the study starts. Raises PreflightError if one does not answer."""
    return {name: await probe(endpoint, transcripts) for name, endpoint in used.items()}


def run_study(name: str, study: Study, endpoints: dict[str, Endpoint], calls: int) -> tuple[runs.Result, list[str]]:
    """Run a study to its end. See ``carry_out``."""
    return carry_out(name, study, endpoints, calls, whole(study))


def carry_out(
    name: str, study: Measurement, endpoints: dict[str, Endpoint], calls: int, work: Work
) -> tuple[runs.Result, list[str]]:
    """Do ``work`` to its end with a progress bar over at most ``calls`` calls. Returns the result and a report of lines.

    The report says in which mode each endpoint ran, which model was requested and which served, and what the transcripts
    add up to. A stopped run goes on where it stopped. Raises StillWaiting where answers are still to come through an
    exchange.
    """
    used = {} if study.provider == "exchange" else endpoints_of(name, study, endpoints)
    prices = price_list(used)

    async def asked(transcripts: Transcripts) -> tuple[runs.Result, list[str]]:
        if study.provider == "exchange":
            report: list[str] = []
            model: Model = Exchange(paths.EXCHANGE / name, transcripts)
        else:
            found = await found_endpoints(used, transcripts)
            report = [f"{alias}: {what}" for alias, what in found.items()]
            model = Routed({alias: Live(what.endpoint, transcripts) for alias, what in found.items()})
        async with aclosing(watched(model, {alias: place.prices for alias, place in used.items()}, calls)) as counted:
            try:
                return await work(counted), report
            except Pending:
                raise StillWaiting(f"{paths.EXCHANGE / name}: answers are still to come") from None

    folder = paths.TRANSCRIPTS / name
    with closing(Transcripts(folder)) as transcripts:
        result, report = asyncio.run(asked(transcripts))
    return result, [*report, *bill(totals(folder, prices))]


def bill(total: Totals) -> list[str]:
    """What a study's transcripts add up to, as lines."""
    states = ", ".join(f"{count:,} {state}" for state, count in sorted(total.states.items()))
    return [
        f"{total.calls:,} calls, {total.attempts:,} attempts ({states})",
        f"{total.input_tokens:,} input and {total.output_tokens:,} output tokens, ${total.spend:,.2f}; without a known price"
        f" {total.unpriced:,}, maybe billed {total.maybe_billed:,}, sent without an outcome {total.unfinished:,}",
    ]


def replayed(name: str, study: Study) -> runs.Result:
    """A study from its stored transcripts, offline. Raises models.MissingTranscript for a call they do not hold."""
    return again(name, whole(study))


def again(name: str, work: Work) -> runs.Result:
    """``work`` with the stored transcripts of this name instead of a model. Raises models.MissingTranscript."""
    return asyncio.run(work(Replay(paths.TRANSCRIPTS / name)))


def ruling_texts(stem: Path, rulings: list[Ruling]) -> dict[Path, str]:
    """Rulings as two files: the verdicts (CSV, the contract of all studies) and, with the reasons, JSON lines."""
    return {
        stem.with_suffix(".csv"): VERDICT_TABLE.text(verdict_table(rulings), stem.with_suffix(".csv")),
        stem.with_suffix(".jsonl"): RULING_LINES.text(rulings),
    }


def shown_scores(rulings: list[Ruling]) -> pd.DataFrame:
    """The scores of each suite as rows for the terminal: suite and measures, missing where a verdict that matters is."""
    scores = suite_scores(verdict_table(rulings)).rename(columns={"suite_id": "suite"})
    return scores[["suite", "rc", "fdr_design", "fdr_execution", "iss", "ac"]]


def canary_table(results: list[CanaryResult]) -> pd.DataFrame:
    """The canaries as a table with the columns of ``canaries.CanaryResult``."""
    return pd.DataFrame([vars(result) for result in results])[CANARY_TABLE.columns]


def canary_texts(name: str, results: list[CanaryResult]) -> dict[Path, str]:
    """The file of a study's canaries, {path: text}."""
    path = paths.VERDICTS / f"{name}-canaries.csv"
    return {path: CANARY_TABLE.text(canary_table(results), path)}


def manifest_lines(manifests: list[Manifest]) -> str:
    """The manifests of a study's suites, one canonical JSON object a line, sorted by suite."""
    ordered = sorted(manifests, key=lambda manifest: manifest.suite_id)
    return "".join(f"{canonical_json(vars(manifest))}\n" for manifest in ordered)


def result_texts(name: str, result: runs.Result) -> dict[Path, str]:
    """The result files of a study, {path: text}; the same result gives the same bytes."""
    verdicts = verdict_table(result.rulings)
    texts = {
        paths.SUITES / f"{name}.jsonl": SCENARIO_LINES.text(result.scenarios),
        paths.EPISODES / f"{name}.jsonl": EPISODE_LINES.text(result.episodes),
        paths.SCORES / f"{name}.csv": SCORE_TABLE.text(suite_scores(verdicts), paths.SCORES / f"{name}.csv"),
    }
    texts |= ruling_texts(paths.VERDICTS / name, result.rulings) | canary_texts(name, result.canaries)
    if result.manifests:
        texts[paths.SUITES / f"{name}-manifests.jsonl"] = manifest_lines(result.manifests)
    if result.second:
        texts |= ruling_texts(paths.VERDICTS / f"{name}-second", result.second)
    return texts
