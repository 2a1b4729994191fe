"""``regatta adjudicate``: sheets for human adjudicators."""

from pathlib import Path
from typing import Annotated

import typer

from regatta.commands.terminal import Command
from regatta_lib.base import paths, write_atomic

group = typer.Typer(no_args_is_help=True, help="Draw and score sheets for human adjudicators.")


@group.command("sample", cls=Command)
def sample(
    study: str,
    stage: Annotated[
        str, typer.Option(help="What to ask about: design (scenarios) or execution (agent answers).")
    ] = "design",
    size: Annotated[int, typer.Option(min=2, help="Number of items, half judged yes and half no.")] = 50,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draw.")] = 20261030,
) -> None:
    """Draw a balanced, blinded sheet of STUDY's verdicts: XLSX and CSV for adjudicators, and the key to keep."""
    from regatta import adjudicate

    drawn = adjudicate.draw(study, stage, size, seed)
    for path, content in drawn.files.items():
        write_atomic(path, content)
        typer.echo(str(path.relative_to(paths.ROOT)))
    typer.echo(drawn.report)


@group.command("score", cls=Command)
def score(
    sheet: Path,
    key: Annotated[Path | None, typer.Option(help="The key; by default the one beside the sheet.")] = None,
) -> None:
    """Compare a filled SHEET (XLSX or CSV) with the judge's verdicts: agreement, and the disagreements by kind."""
    from regatta import adjudicate

    scored = adjudicate.score(sheet, key)
    for path, content in scored.files.items():
        write_atomic(path, content)
    typer.echo(scored.report)
