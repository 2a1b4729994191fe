"""The commands that run live studies: forecast, run, smoke, pack, and the exchange. ``__main__`` offers them."""

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regatta_lib import paths
from regatta_lib.files import ContractError, write_atomic

if TYPE_CHECKING:
    from regatta_lib.forecast import Share
    from regatta_lib.params import Measurement
    from regatta_lib.records import Request


def cost(study: str) -> None:
    """Forecast calls, tokens and price of STUDY, low and high, before anything is sent."""
    typer.echo(_forecast(study)[1])


def run(
    study: str,
    cap: Annotated[float, typer.Option(help="Ask before a run that may cost more dollars.")] = 10.0,
    unresolved: Annotated[float, typer.Option(help="Exit code 1 above this share of rulings without a verdict.")] = 0.05,
) -> None:
    """Run STUDY, going on where an earlier run stopped, and write its results under data/."""
    from regatta_lib.params import read_params
    from regatta_lib.studies import definition, output_texts, run_study, shown_scores
    from regatta_lib.terminal import table_text

    _check_numbers(cap=cap, unresolved=unresolved)
    shares, table = _forecast(study)
    typer.echo(table)
    design = definition(study)
    calls = _agreed(design, shares, cap)
    result, report = run_study(study, design, read_params(paths.PARAMS).endpoints, calls)
    _write(output_texts(study, result))
    typer.echo("\n".join([*report, *result.notes()]))
    typer.echo(table_text(shown_scores(result.rulings), "Scores of each suite", missing="unresolved"))
    raise typer.Exit(int(result.unresolved() > unresolved))


def evaluate(
    file: Path,
    cell: Annotated[str, typer.Option(help="The cell whose instruments the suite is held against.")],
    name: Annotated[str, typer.Option(help="A name for the suite: letters, digits, underscores. Results carry it.")],
    study: Annotated[str, typer.Option(help="Who answers and judges: a section of evaluations or studies.")] = "own-suite",
    format: Annotated[str | None, typer.Option(help="The format, where it is not to be found by structure.")] = None,
    map: Annotated[str | None, typer.Option(help="Where fields are: input=…,expected=…,id=…,title=…,tags=…")] = None,
    allow_skips: Annotated[bool, typer.Option(help="Go on without the records that cannot be used.")] = False,
    check: Annotated[bool, typer.Option(help="Show what is imported and the forecast; send and write nothing.")] = False,
    replay: Annotated[bool, typer.Option(help="Answer from the stored transcripts only.")] = False,
    cap: Annotated[float, typer.Option(help="Ask before a run that may cost more dollars.")] = 10.0,
    unresolved: Annotated[float, typer.Option(help="Exit code 1 above this share of rulings without a verdict.")] = 0.05,
) -> None:
    """Hold the suite in FILE against the instruments of CELL: an evidence vector, and what the suite lacks.

    Exit codes: 0 done, 1 records skipped or too many verdicts missing, 2 wrong input, 3 answers still to come.
    """
    from regatta_lib import evaluation, forecast, studies
    from regatta_lib.importers import mapping_of, read_suite
    from regatta_lib.models import MissingTranscript
    from regatta_lib.params import read_params
    from regatta_lib.rulings import verdict_table
    from regatta_lib.runs import read_judge_side
    from regatta_lib.terminal import table_text

    _check_numbers(cap=cap, unresolved=unresolved)
    params = read_params(paths.PARAMS)
    studies.check_name(name, params)
    design = studies.measurement(study, params)
    side = read_judge_side(design, cell)
    imported = read_suite(file, format, mapping_of(map))
    typer.echo("\n".join(imported.report()))
    scenarios = evaluation.scenarios(imported.cases, name, cell)
    lost = imported.read and len(imported.skipped) + len(imported.cases) - len(scenarios)
    if lost and not allow_skips:
        typer.echo(f"{lost:,} records cannot be used; correct them, or go on without them with --allow-skips", err=True)
        raise typer.Exit(1)
    if not scenarios:
        raise ContractError(f"{file}: 0 cases with a message to the agent, expected at least 1")
    shares = forecast.priced(forecast.evaluation_tasks(design, side, scenarios), params.endpoints, design.provider)
    typer.echo(_forecast_text(shares))
    if check:
        return
    work = studies.evaluation(design, {cell: side}, scenarios)
    if replay:
        try:
            result, report = studies.again(name, work), []
        except MissingTranscript as error:
            raise ContractError(str(error)) from None
    else:
        calls = _agreed(design, shares, cap)
        if design.provider == "exchange":
            waiting, counts = studies.waiting(name, work)
            typer.echo(f"{name}: {counts}")
            _deal(name, design, waiting)
            if waiting:
                typer.echo(f"answer them, then regatta exchange collect {name} --served MODEL, then this command again")
                raise typer.Exit(3)
        result, report = studies.carry_out(name, design, params.endpoints, calls, work)
    cases = {paths.SUITES / f"{name}-cases.jsonl": evaluation.case_lines(imported.cases)}
    _write(studies.output_texts(name, result) | cases)
    typer.echo("\n".join([*report, *result.notes(), ""]))
    verdicts = verdict_table(result.rulings)
    typer.echo(table_text(evaluation.shown_vector(evaluation.vector(verdicts)), "Evidence vector"))
    typer.echo("\n".join(evaluation.gap_lines(verdicts, side.requirements, side.faults)))
    typer.echo("\n".join([*evaluation.alarm_lines(verdicts), "", evaluation.NO_PASS_MARK]))
    raise typer.Exit(int(result.unresolved() > unresolved))


def smoke() -> None:
    """Serve the small local model, run the study ``smoke`` on it, and stop it. Its text is worth nothing as evidence."""
    from regatta_lib.params import read_params
    from regatta_lib.smoke import serving

    with serving(read_params(paths.PARAMS).endpoints["local"]):
        run("smoke", unresolved=0.5)


def pack(study: str) -> None:
    """Pack the transcripts of STUDY for the archive: each file is replaced by its compressed form, same bytes every time."""
    from contextlib import closing

    from regatta_lib.transcripts import Transcripts
    from regatta_lib.transcripts import pack as packed

    folder = _there(paths.TRANSCRIPTS, study, "the transcripts of a study that has run")
    # Replies that a run appends to a file after it was read here would go with the file.
    with closing(Transcripts(folder)):
        for plain in sorted(folder.glob("*.jsonl")):
            size = plain.stat().st_size
            small = packed(plain)
            plain.unlink()
            typer.echo(f"{small.relative_to(paths.ROOT)}: {small.stat().st_size:,} bytes from {size:,}")


def _there(root: Path, study: str, expected: str) -> Path:
    """The folder of a study in ``root``. Raises ContractError if there is none of that name."""
    if Path(study).name != study or not (root / study).is_dir():
        raise ContractError(f"{root / study}: missing, expected {expected}")
    return root / study


def _check_numbers(**options: float) -> None:
    """Refuse NaN, which no comparison exceeds."""
    for name, value in options.items():
        if isnan(value):
            raise ContractError(f"--{name}: found {value}, expected a number")


def _agreed(design: "Measurement", shares: "list[Share]", cap: float) -> int:
    """The most calls of a forecast, after asking where a live run may cost more than ``cap``."""
    from regatta_lib.forecast import ceiling

    price = ceiling(shares)
    if design.provider == "live" and (price is None or not price <= cap):
        typer.confirm(f"This may cost {'an unknown sum' if price is None else f'up to ${price:,.2f}'}. Start?", abort=True)
    return sum(share.calls[1] for share in shares)


def _write(texts: dict[Path, str]) -> None:
    for path, text in texts.items():
        write_atomic(path, text)
        typer.echo(f"{path.relative_to(paths.ROOT)}: {text.count(chr(10)):,} lines")


def _forecast(study: str) -> "tuple[list[Share], str]":
    from regatta_lib.forecast import forecast
    from regatta_lib.params import read_params
    from regatta_lib.runs import read_sides
    from regatta_lib.studies import definition

    design = definition(study)
    shares = forecast(design, *read_sides(design), read_params(paths.PARAMS).endpoints)
    return shares, _forecast_text(shares)


def _forecast_text(shares: "list[Share]") -> str:
    from regatta_lib.forecast import shown
    from regatta_lib.terminal import table_text

    return table_text(shown(shares), "Forecast, low–high", missing="no price known", digits=2)


exchange = typer.Typer(no_args_is_help=True, help="Answer a study through files: deal requests out, take replies in.")


@exchange.command("batches")
def exchange_batches(
    study: str, size: Annotated[int, typer.Option(min=1, help="The most requests in a batch.")] = 60
) -> None:
    """Deal the requests of STUDY that wait for an answer into batches of at most SIZE, under data/exchange/STUDY."""
    from regatta_lib.studies import definition, waiting_requests

    design = definition(study)
    if design.provider != "exchange":
        raise ContractError(
            f"studies.{study}.provider: found {design.provider!r}, expected 'exchange' to answer through files"
        )
    waiting, counts = waiting_requests(study, design)
    typer.echo(f"{study}: {counts}")
    _deal(study, design, waiting, size)
    if not waiting:
        typer.echo(f"nothing waits; regatta run {study} writes the results")


def _deal(name: str, design: "Measurement", waiting: "dict[str, Request]", size: int = 60) -> None:
    """Deal what waits and is in no batch yet, and say what was dealt."""
    from regatta_lib import batches
    from regatta_lib.stats import seeded
    from regatta_lib.studies import read_placements

    folder = paths.EXCHANGE / name
    placements = read_placements(folder)
    first = 1 + max((place.batch for place in placements), default=0)
    new = batches.undealt(folder, placements, waiting)
    dealt = batches.deal(new, size, first, seeded(design.seed, f"batches from {first}"))
    for path, text in batches.batch_texts(folder, dealt, new).items():
        write_atomic(path, text)
    if dealt:
        batches.PLACEMENTS.write(batches.placement_table(placements + dealt), folder / "batches.csv")
    for kind, numbers in batches.dealt_kinds(dealt).items():
        typer.echo(f"{kind}: {sum(numbers.values()):,} requests in batches {min(numbers):03d} to {max(numbers):03d}")
    if waiting and not dealt:
        typer.echo(f"nothing new to deal; {len(waiting):,} requests wait in batches without answers")


@exchange.command("collect")
def exchange_collect(study: str, served: str = typer.Option(..., help="The name of the model that answered.")) -> None:
    """Turn each replies-NNN.jsonl of STUDY that has no answers-NNN.jsonl yet into one, after checking all of them."""
    from regatta_lib import batches
    from regatta_lib.studies import read_placements

    folder = _there(paths.EXCHANGE, study, "an exchange that batches were dealt in")
    texts, notes = batches.collected(folder, read_placements(folder), served)
    for path, text in texts.items():
        write_atomic(path, text)
    for note in notes:
        typer.echo(note)
    typer.echo(f"{len(texts):,} answer files written; served model {served}")
