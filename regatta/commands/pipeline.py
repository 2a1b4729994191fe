"""``regatta reproduce`` and ``regatta publish``: the whole pipeline, and its notebooks."""

import typer

from regatta_lib.base import paths, write_atomic


def reproduce() -> None:
    """Run every offline stage again, verify, and prove that all committed outputs are byte-identical. Exit code 1 if not."""
    from concurrent.futures import ThreadPoolExecutor

    from regatta import pipeline
    from regatta_lib import reproduce

    names = pipeline.committed_files(paths.ROOT)
    committed = pipeline.committed_digests(paths.ROOT, names)
    pipeline.run_pipeline(paths.ROOT)
    with ThreadPoolExecutor() as pool:
        recorded = pool.submit(pipeline.record, paths.ROOT)
        checks = reproduce.verify(paths.ROOT)
        recorded.result()
    changed = pipeline.differences(paths.ROOT, committed)
    for line in changed:
        typer.echo(f"FAILED {line}")
    typer.echo(f"{len(names) - len(changed)} of {len(names)} committed files byte-identical")
    typer.echo("\n".join(reproduce.summary(checks)))
    raise typer.Exit(0 if reproduce.succeeded(checks) and not changed else 1)


def publish() -> None:
    """Replace the committed notebooks by the executed ones, outputs included."""
    for executed in sorted(paths.EXECUTED.glob("*.ipynb")):
        write_atomic(paths.NOTEBOOKS / executed.name, executed.read_bytes())
        typer.echo(f"notebooks/{executed.name}")
