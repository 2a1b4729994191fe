"""``regatta cost``, ``run``, ``smoke`` and ``pack``: a study of params.yaml."""

from math import isnan
from typing import TYPE_CHECKING, Annotated

import typer

from regatta.commands.terminal import table_text, write_texts
from regatta_lib.base import ContractError, paths

if TYPE_CHECKING:
    from regatta_lib.studies import Measurement, TaskForecast


def cost(study: str) -> None:
    """Forecast calls, tokens and price of STUDY, low and high, before anything is sent."""
    typer.echo(forecast_text(_forecast(study)))


def run(
    study: str,
    cap: Annotated[float, typer.Option(help="Ask before a run that may cost more dollars.")] = 10.0,
    unresolved: Annotated[float, typer.Option(help="Exit code 1 above this share of rulings without a verdict.")] = 0.05,
) -> None:
    """Run STUDY, going on where an earlier run stopped, and write its results under data/."""
    from regatta_lib.studies import StillWaiting, definition, read_definitions, result_texts, run_study, shown_scores

    check_numbers(cap=cap, unresolved=unresolved)
    design, shares = definition(study), _forecast(study)
    typer.echo(forecast_text(shares))
    agree(design, shares, cap)
    calls = sum(share.calls[1] for share in shares)
    try:
        result, report = run_study(study, design, read_definitions(paths.PARAMS).endpoints, calls)
    except StillWaiting as error:
        typer.echo(f"regatta: {error}; see regatta exchange batches {study}", err=True)
        raise typer.Exit(3) from None
    write_texts(result_texts(study, result))
    typer.echo("\n".join([*report, *result.notes()]))
    typer.echo(table_text(shown_scores(result.rulings), "Scores of each suite", missing="unresolved"))
    raise typer.Exit(int(result.unresolved() > unresolved))


def smoke() -> None:
    """Serve the small local model, run the study ``smoke`` on it, and stop it. Its text is worth nothing as evidence."""
    from regatta_lib.models import serving
    from regatta_lib.studies import read_definitions

    with serving(read_definitions(paths.PARAMS).endpoints["local"]):
        run("smoke", unresolved=0.5)


def pack(study: str) -> None:
    """Pack the transcripts of STUDY for the archive: each file is replaced by its compressed form, same bytes every time."""
    from contextlib import closing

    from regatta_lib.models import Transcripts
    from regatta_lib.models import pack_file as packed
    from regatta_lib.studies import study_folder

    folder = study_folder(paths.TRANSCRIPTS, study, "the transcripts of a study that has run")
    # Replies that a run appends to a file after it was read here would go with the file.
    with closing(Transcripts(folder)):
        for plain in sorted(folder.glob("*.jsonl")):
            size = plain.stat().st_size
            small = packed(plain)
            plain.unlink()
            typer.echo(f"{small.relative_to(paths.ROOT)}: {small.stat().st_size:,} bytes from {size:,}")


def check_numbers(**options: float) -> None:
    """Refuse NaN, which no comparison exceeds."""
    for name, value in options.items():
        if isnan(value):
            raise ContractError(f"--{name}: found {value}, expected a number")


def agree(design: "Measurement", shares: "list[TaskForecast]", cap: float) -> None:
    """Ask the user where a live run may cost more than ``cap``. Leaves the command where the answer is no."""
    from regatta_lib.studies import most_dollars

    price = most_dollars(shares)
    if design.provider == "live" and (price is None or not price <= cap):
        typer.confirm(f"This may cost {'an unknown sum' if price is None else f'up to ${price:,.2f}'}. Start?", abort=True)


def _forecast(study: str) -> "list[TaskForecast]":
    from regatta_lib.studies import definition, forecast_study, read_definitions, read_sides

    design = definition(study)
    return forecast_study(design, *read_sides(design), read_definitions(paths.PARAMS).endpoints)


def forecast_text(shares: "list[TaskForecast]") -> str:
    """The table of a forecast, as printed."""
    from regatta_lib.studies import forecast_table

    return table_text(forecast_table(shares), "Forecast, low–high", missing="no price known", digits=2)
