"""The commands that run live studies: forecast, run, smoke, pack, and the exchange. ``__main__`` offers them."""

from typing import Annotated

import typer

from regatta_lib import paths


def cost(study: str) -> None:
    """Forecast calls, tokens and price of STUDY, low and high, before anything is sent."""
    typer.echo(_forecast(study)[1])


def run(
    study: str,
    cap: Annotated[float, typer.Option(help="Ask before a run that may cost more dollars.")] = 10.0,
    unresolved: Annotated[float, typer.Option(help="Exit code 1 above this share of rulings without a verdict.")] = 0.05,
) -> None:
    """Run STUDY, going on where an earlier run stopped, and write its results under data/."""
    from regatta_lib.files import write_atomic
    from regatta_lib.forecast import ceiling
    from regatta_lib.params import read_params
    from regatta_lib.studies import definition, output_texts, run_study, shown_scores

    shares, table = _forecast(study)
    typer.echo(table)
    design, price = definition(study), ceiling(shares)
    if design.provider == "live" and (price is None or price > cap):
        typer.confirm(f"This may cost {'an unknown sum' if price is None else f'up to ${price:,.2f}'}. Start?", abort=True)
    calls = sum(share.calls[1] for share in shares)
    result, report = run_study(study, design, read_params(paths.PARAMS).endpoints, calls)
    for path, text in output_texts(study, result).items():
        write_atomic(path, text)
        typer.echo(f"{path.relative_to(paths.ROOT)}: {text.count(chr(10)):,} lines")
    typer.echo("\n".join([*report, *result.notes(), shown_scores(result.rulings)]))
    raise typer.Exit(int(result.unresolved() > unresolved))


def smoke() -> None:
    """Serve the small local model, run the study ``smoke`` on it, and stop it. Its text is worth nothing as evidence."""
    from regatta_lib.params import read_params
    from regatta_lib.smoke import serving

    with serving(read_params(paths.PARAMS).endpoints["local"]):
        run("smoke", unresolved=1.0)


def pack(study: str) -> None:
    """Pack the transcripts of STUDY for the archive: each file is replaced by its compressed form, same bytes every time."""
    from regatta_lib.transcripts import pack as packed

    for plain in sorted((paths.TRANSCRIPTS / study).glob("*.jsonl")):
        size = plain.stat().st_size
        small = packed(plain)
        plain.unlink()
        typer.echo(f"{small.relative_to(paths.ROOT)}: {small.stat().st_size:,} bytes from {size:,}")


def _forecast(study: str):
    from regatta_lib.forecast import forecast, shown
    from regatta_lib.params import read_params
    from regatta_lib.runs import read_sides
    from regatta_lib.studies import definition

    design = definition(study)
    shares = forecast(design, *read_sides(design), read_params(paths.PARAMS).endpoints)
    return shares, shown(shares)


exchange = typer.Typer(no_args_is_help=True, help="Answer a study through files: deal requests out, take replies in.")


@exchange.command("batches")
def exchange_batches(study: str, size: int = 60) -> None:
    """Deal the requests of STUDY that wait for an answer into batches of at most SIZE, under data/exchange/STUDY."""
    from regatta_lib import batches
    from regatta_lib.files import write_atomic
    from regatta_lib.stats import seeded
    from regatta_lib.studies import definition, read_placements, waiting_requests

    design, folder = definition(study), paths.EXCHANGE / study
    waiting, counts = waiting_requests(study, design)
    placements = read_placements(folder)
    first = 1 + max((place.batch for place in placements), default=0)
    new = batches.undealt(folder, placements, waiting)
    dealt = batches.deal(new, size, first, seeded(design.seed, f"batches from {first}"))
    for path, text in batches.batch_texts(folder, dealt, new).items():
        write_atomic(path, text)
    if dealt:
        batches.PLACEMENTS.write(batches.placement_table(placements + dealt), folder / "batches.csv")
    typer.echo(f"{study}: {counts}")
    for kind, numbers in batches.dealt_kinds(dealt).items():
        typer.echo(f"{kind}: {sum(numbers.values()):,} requests in batches {min(numbers):03d} to {max(numbers):03d}")
    if not waiting:
        typer.echo(f"nothing waits; regatta run {study} writes the results")
    elif not dealt:
        typer.echo(f"nothing new to deal; {len(waiting):,} requests wait in batches without answers")


@exchange.command("collect")
def exchange_collect(study: str, served: str = typer.Option(..., help="The name of the model that answered.")) -> None:
    """Turn each replies-NNN.jsonl of STUDY that has no answers-NNN.jsonl yet into one, after checking all of them."""
    from regatta_lib import batches
    from regatta_lib.files import write_atomic
    from regatta_lib.studies import read_placements

    folder = paths.EXCHANGE / study
    texts, notes = batches.collected(folder, read_placements(folder), served)
    for path, text in texts.items():
        write_atomic(path, text)
    for note in notes:
        typer.echo(note)
    typer.echo(f"{len(texts):,} answer files written; served model {served}")
