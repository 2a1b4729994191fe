"""``regatta evaluate``: a team's own suite against the instruments of a cell."""

from pathlib import Path
from typing import Annotated

import typer

from regatta.commands.exchange import deal
from regatta.commands.study import agreed_calls, check_numbers, forecast_text, write_texts
from regatta.commands.terminal import table_text
from regatta_lib.base import ContractError, paths


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
    from regatta import own_suite
    from regatta_lib import studies
    from regatta_lib.base import read_params
    from regatta_lib.models import MissingTranscript

    check_numbers(cap=cap, unresolved=unresolved)
    params = read_params(paths.PARAMS)
    studies.check_name(name, params)
    design = studies.measurement(study, params)
    side = studies.read_judge_side(design, cell)
    imported = own_suite.read_suite(file, format, own_suite.mapping_of(map))
    typer.echo("\n".join(imported.report()))
    scenarios = own_suite.scenarios(imported.cases, name, cell)
    lost = imported.read and len(imported.skipped) + len(imported.cases) - len(scenarios)
    if lost and not allow_skips:
        typer.echo(f"{lost:,} records cannot be used; correct them, or go on without them with --allow-skips", err=True)
        raise typer.Exit(1)
    if not scenarios:
        raise ContractError(f"{file}: 0 cases with a message to the agent, expected at least 1")
    shares = studies.priced(studies.evaluation_tasks(design, side, scenarios), params.endpoints, design.provider)
    typer.echo(forecast_text(shares))
    if check:
        return
    work = studies.evaluation(design, {cell: side}, scenarios)
    if replay:
        try:
            result, report = studies.again(name, work), []
        except MissingTranscript as error:
            raise ContractError(str(error)) from None
    else:
        calls = agreed_calls(design, shares, cap)
        if design.provider == "exchange":
            waiting, counts = studies.waiting(name, work)
            typer.echo(f"{name}: {counts}")
            deal(name, design, waiting)
            if waiting:
                typer.echo(f"answer them, then regatta exchange collect {name} --served MODEL, then this command again")
                raise typer.Exit(3)
        result, report = studies.carry_out(name, design, params.endpoints, calls, work)
    cases = {paths.SUITES / f"{name}-cases.jsonl": own_suite.case_lines(imported.cases)}
    write_texts(studies.output_texts(name, result) | cases)
    typer.echo("\n".join([*report, *result.notes(), ""]))
    verdicts = studies.verdict_table(result.rulings)
    typer.echo(table_text(own_suite.shown_vector(own_suite.vector(verdicts)), "Evidence vector"))
    typer.echo("\n".join(own_suite.gap_lines(verdicts, side.requirements, side.faults)))
    typer.echo("\n".join([*own_suite.alarm_lines(verdicts), "", own_suite.NO_PASS_MARK]))
    raise typer.Exit(int(result.unresolved() > unresolved))
