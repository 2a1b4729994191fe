"""``regatta exchange``: answer a study through files."""

from typing import TYPE_CHECKING, Annotated

import typer

from regatta.commands.study import folder_of
from regatta_lib.base import ContractError, paths, write_atomic

if TYPE_CHECKING:
    from regatta_lib.base import Measurement
    from regatta_lib.models import Request


group = typer.Typer(no_args_is_help=True, help="Answer a study through files: deal requests out, take replies in.")


@group.command("batches")
def batches(study: str, size: Annotated[int, typer.Option(min=1, help="The most requests in a batch.")] = 60) -> None:
    """Deal the requests of STUDY that wait for an answer into batches of at most SIZE, under data/exchange/STUDY."""
    from regatta_lib.studies import definition, waiting_requests

    design = definition(study)
    if design.provider != "exchange":
        raise ContractError(
            f"studies.{study}.provider: found {design.provider!r}, expected 'exchange' to answer through files"
        )
    waiting, counts = waiting_requests(study, design)
    typer.echo(f"{study}: {counts}")
    deal(study, design, waiting, size)
    if not waiting:
        typer.echo(f"nothing waits; regatta run {study} writes the results")


def deal(name: str, design: "Measurement", waiting: "dict[str, Request]", size: int = 60) -> None:
    """Deal what waits and is in no batch yet, and say what was dealt."""
    from regatta_lib import models
    from regatta_lib.stats import seeded
    from regatta_lib.studies import read_placements

    folder = paths.EXCHANGE / name
    placements = read_placements(folder)
    first = 1 + max((place.batch for place in placements), default=0)
    new = models.undealt(folder, placements, waiting)
    dealt = models.deal(new, size, first, seeded(design.seed, f"batches from {first}"))
    for path, text in models.batch_texts(folder, dealt, new).items():
        write_atomic(path, text)
    if dealt:
        models.PLACEMENTS.write(models.placement_table(placements + dealt), folder / "batches.csv")
    for kind, numbers in models.dealt_kinds(dealt).items():
        typer.echo(f"{kind}: {sum(numbers.values()):,} requests in batches {min(numbers):03d} to {max(numbers):03d}")
    if waiting and not dealt:
        typer.echo(f"nothing new to deal; {len(waiting):,} requests wait in batches without answers")


@group.command("collect")
def collect(study: str, served: str = typer.Option(..., help="The name of the model that answered.")) -> None:
    """Turn each replies-NNN.jsonl of STUDY that has no answers-NNN.jsonl yet into one, after checking all of them."""
    from regatta_lib import models
    from regatta_lib.studies import read_placements, unreadable

    folder = folder_of(paths.EXCHANGE, study, "an exchange that batches were dealt in")
    texts, notes = models.collected(folder, read_placements(folder), served, unreadable)
    for path, text in texts.items():
        write_atomic(path, text)
    for note in notes:
        typer.echo(note)
    typer.echo(f"{len(texts):,} answer files written; served model {served}")
