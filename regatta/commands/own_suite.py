"""``regatta evaluate``: a team's own suite against the instruments of a cell."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regatta.commands.exchange import write_batches
from regatta.commands.study import agree, check_numbers, forecast_text
from regatta.commands.terminal import table_text, write_texts

if TYPE_CHECKING:
    from regatta.own_suite import Evaluation, Measured


def evaluate(
    file: Path,
    cell: Annotated[str, typer.Option(help="The cell whose instruments the suite is held against.")],
    name: Annotated[str, typer.Option(help="A name for the suite: letters, digits, underscores. Results carry it.")],
    study: Annotated[str, typer.Option(help="Who answers and judges: a section of evaluations or studies.")] = "own-suite",
    format: Annotated[str | None, typer.Option(help="The format, where it is not to be found by structure.")] = None,
    mapping: Annotated[
        str | None, typer.Option("--map", help="Where fields are: input=…,expected=…,id=…,title=…,tags=…")
    ] = None,
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

    check_numbers(cap=cap, unresolved=unresolved)
    imported = own_suite.read_suite(file, format, own_suite.mapping_of(mapping))
    typer.echo("\n".join(imported.report()))
    if imported.unusable() and not allow_skips:
        advice = "correct them, or go on without them with --allow-skips"
        typer.echo(f"{imported.unusable():,} records cannot be used; {advice}", err=True)
        raise typer.Exit(1)
    evaluation = own_suite.prepare(imported, name, cell, study)
    typer.echo(forecast_text(evaluation.forecast))
    if not check:
        measured = own_suite.replay(evaluation) if replay else _asked(evaluation, cap)
        write_texts(measured.texts())
        typer.echo("\n".join([*measured.notes(), ""]))
        typer.echo(table_text(own_suite.shown_vector(measured.vector()), "Evidence vector"))
        typer.echo("\n".join(measured.gaps()))
        raise typer.Exit(int(measured.result.unresolved() > unresolved))


def _asked(evaluation: "Evaluation", cap: float) -> "Measured":
    """The suite measured. Leaves the command with exit code 3 where answers through files are still to come."""
    from regatta import own_suite

    agree(evaluation.design, evaluation.forecast, cap)
    if evaluation.design.provider == "exchange":
        dealing = own_suite.deal_suite(evaluation)
        write_batches(dealing)
        if dealing.waiting:
            collect = f"regatta exchange collect {evaluation.name} --served MODEL"
            typer.echo(f"answer them, then {collect}, then this command again")
            raise typer.Exit(3)
    return own_suite.measure_suite(evaluation)
