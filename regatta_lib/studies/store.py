"""Studies on disk: the definition in params.yaml, the model behind it, and the files its results go to."""

import asyncio
import re
from collections.abc import Callable, Coroutine
from contextlib import aclosing, closing, suppress
from pathlib import Path

import pandas as pd

from regatta_lib.base import ContractError, Endpoint, Measurement, Params, Study, canonical_json, paths, read_params
from regatta_lib.measures import SCORES, VERDICTS, suite_scores
from regatta_lib.models import (
    PLACEMENTS,
    Collector,
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
    price_list,
    probe,
    totals,
    watched,
)
from regatta_lib.studies import runs
from regatta_lib.studies.canaries import CANARIES, CanaryResult
from regatta_lib.studies.episodes import EPISODES
from regatta_lib.studies.rulings import RULINGS, Ruling, verdict_table
from regatta_lib.studies.suites import SCENARIOS, Manifest, Scenario

NAME = re.compile(r"[a-z0-9][a-z0-9_]*")
Work = Callable[[Model], Coroutine[None, None, runs.Result]]


def definition(name: str, params_file: Path = paths.PARAMS) -> Study:
    """The definition of a study. Raises ContractError, naming the known studies, where there is none."""
    studies = read_params(params_file).studies
    if name not in studies:
        raise ContractError(f"{params_file}: no study {name!r}, expected one of {', '.join(studies)}")
    return studies[name]


def measurement(name: str, params: Params) -> Measurement:
    """How an own suite is measured: a section of ``evaluations``, or as a study measures its suites."""
    known = params.evaluations | params.studies
    if name not in known:
        raise ContractError(f"--study: no evaluation or study {name!r}, expected one of {', '.join(known)}")
    return known[name]


def check_name(name: str, params: Params) -> None:
    """Refuse a name that is no name, or that a study's results carry already."""
    taken = {params.base.study, *params.studies, "canary"}
    if not NAME.fullmatch(name) or name in taken:
        expected = f"lower-case letters, digits and underscores, and none of {', '.join(sorted(taken))}"
        raise ContractError(f"--name: found {name!r}, expected {expected}")


def read_placements(folder: Path) -> list[Placement]:
    """Where the requests of an exchange were dealt so far."""
    path = folder / "batches.csv"
    return [Placement(**row) for row in PLACEMENTS.read(path).to_dict("records")] if path.is_file() else []


def whole(study: Study) -> Work:
    """All of a study, from its suites on."""
    generators, judged = runs.read_sides(study)
    return lambda model: runs.run(model, study, generators, judged)


def evaluation(design: Measurement, judged: dict[str, runs.JudgeSide], scenarios: list[Scenario]) -> Work:
    """The measurement of scenarios that somebody else wrote."""
    return lambda model: runs.measure(model, design, judged, scenarios)


def waiting_requests(name: str, study: Study) -> tuple[dict[str, Request], str]:
    """The requests of a study that wait for an answer through its exchange, {key: request}, and the exchange's counts."""
    return waiting(name, whole(study))


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
    add up to. A stopped run goes on where it stopped. Raises RuntimeError where answers are still to come through an
    exchange.
    """
    used = {} if study.provider == "exchange" else endpoints_of(name, study, endpoints)
    prices = price_list(used)

    async def asked(transcripts: Transcripts) -> tuple[runs.Result, list[str]]:
        if study.provider == "exchange":
            report, model = [], Exchange(paths.EXCHANGE / name, transcripts)
        else:
            found = await found_endpoints(used, transcripts)
            report = [f"{alias}: {what}" for alias, what in found.items()]
            model = Routed({alias: Live(what.endpoint, transcripts) for alias, what in found.items()})
        async with aclosing(watched(model, {alias: place.prices for alias, place in used.items()}, calls)) as counted:
            try:
                return await work(counted), report
            except Pending:
                raise RuntimeError(f"{name}: answers are still to come; see regatta exchange batches {name}") from None

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
        stem.with_suffix(".csv"): VERDICTS.text(verdict_table(rulings), stem.with_suffix(".csv")),
        stem.with_suffix(".jsonl"): RULINGS.text(rulings),
    }


def shown_scores(rulings: list[Ruling]) -> pd.DataFrame:
    """The scores of each suite as rows for the terminal: suite and measures, missing where a verdict that matters is."""
    scores = suite_scores(verdict_table(rulings)).rename(columns={"suite_id": "suite"})
    return scores[["suite", "rc", "fdr_design", "fdr_execution", "iss", "ac"]]


def canary_table(results: list[CanaryResult]) -> pd.DataFrame:
    """The canaries as a table with the columns of ``records.CanaryResult``."""
    return pd.DataFrame([vars(result) for result in results])[CANARIES.columns]


def canary_texts(name: str, results: list[CanaryResult]) -> dict[Path, str]:
    """The file of a study's canaries, {path: text}."""
    path = paths.VERDICTS / f"{name}-canaries.csv"
    return {path: CANARIES.text(canary_table(results), path)}


def manifest_lines(manifests: list[Manifest]) -> str:
    """The manifests of a study's suites, one canonical JSON object a line, sorted by suite."""
    ordered = sorted(manifests, key=lambda manifest: manifest.suite_id)
    return "".join(f"{canonical_json(vars(manifest))}\n" for manifest in ordered)


def output_texts(name: str, result: runs.Result) -> dict[Path, str]:
    """The result files of a study, {path: text}; the same result gives the same bytes."""
    verdicts = verdict_table(result.rulings)
    texts = {
        paths.SUITES / f"{name}.jsonl": SCENARIOS.text(result.scenarios),
        paths.EPISODES / f"{name}.jsonl": EPISODES.text(result.episodes),
        paths.SCORES / f"{name}.csv": SCORES.text(suite_scores(verdicts), paths.SCORES / f"{name}.csv"),
    }
    texts |= ruling_texts(paths.VERDICTS / name, result.rulings) | canary_texts(name, result.canaries)
    if result.manifests:
        texts[paths.SUITES / f"{name}-manifests.jsonl"] = manifest_lines(result.manifests)
    if result.second:
        texts |= ruling_texts(paths.VERDICTS / f"{name}-second", result.second)
    return texts
