"""``regatta exchange``: answer a study through files."""

from typing import TYPE_CHECKING, Annotated

import typer

from regatta.commands.terminal import Command
from regatta_lib.base import write_atomic

if TYPE_CHECKING:
    from regatta_lib.studies import Dealing

group = typer.Typer(no_args_is_help=True, help="Answer a study through files: deal requests out, take replies in.")


@group.command("batches", cls=Command)
def batches(study: str, size: Annotated[int, typer.Option(min=1, help="The most requests in a batch.")] = 60) -> None:
    """Deal the requests of STUDY that wait for an answer into batches of at most SIZE, under data/exchange/STUDY."""
    from regatta_lib.studies import deal_study

    dealing = deal_study(study, size)
    write_batches(dealing)
    if not dealing.waiting:
        typer.echo(f"nothing waits; regatta run {study} writes the results")


def write_batches(dealing: "Dealing") -> None:
    """Write what was dealt, and say it."""
    for path, text in dealing.texts.items():
        write_atomic(path, text)
    typer.echo("\n".join(dealing.lines))


@group.command("collect", cls=Command)
def collect(study: str, served: str = typer.Option(..., help="The name of the model that answered.")) -> None:
    """Turn each replies-NNN.jsonl of STUDY that has no answers-NNN.jsonl yet into one, after checking all of them."""
    from regatta_lib import studies

    texts, notes = studies.collect(study, served)
    for path, text in texts.items():
        write_atomic(path, text)
    typer.echo("\n".join([*notes, f"{len(texts):,} answer files written; served model {served}"]))
