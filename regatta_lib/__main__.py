"""The command line: ``regatta`` or ``python -m regatta_lib``. Each command is a few lines over the library."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from regatta_lib import paths
from regatta_lib.contracts import ContractError

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, help=__doc__)


@app.command()
def stage(name: str) -> None:
    """Execute the notebook of one stage with the parameters of params.yaml."""
    from regatta_lib.stages import run_stage

    typer.echo(f"stage {name}")
    run_stage(name)


@app.command()
def publish() -> None:
    """Replace the committed notebooks by the executed ones, outputs included."""
    from regatta_lib.contracts import write_atomic

    for executed in sorted(paths.EXECUTED.glob("*.ipynb")):
        write_atomic(paths.NOTEBOOKS / executed.name, executed.read_bytes())
        typer.echo(f"notebooks/{executed.name}")


@app.command("import")
def import_release(folder: Path) -> None:
    """Import the figures of the public release from FOLDER into data/record."""
    from regatta_lib.contracts import write_atomic
    from regatta_lib.release import record_tables

    for name, text in record_tables(folder).items():
        write_atomic(paths.RECORD / name, text)
        typer.echo(f"data/record/{name}: {text.count(chr(10)) - 1:,} rows")


@app.command()
def verify(
    folder: Annotated[Path, typer.Argument(help="The repository or unpacked archive to verify.")] = paths.ROOT,
    report: Annotated[Path | None, typer.Option(help="Write every check to this CSV file.")] = None,
) -> None:
    """Recompute every pinned value and output from the record and compare. Exit code 1 on any difference."""
    from regatta_lib import verification
    from regatta_lib.contracts import REPORT

    checks = verification.verify(folder.resolve())
    if report:
        REPORT.write(verification.report(checks), report)
    typer.echo("\n".join(verification.summary(checks)))
    raise typer.Exit(0 if verification.succeeded(checks) else 1)


@app.command()
def reproduce() -> None:
    """Run every offline stage again, verify, and prove that all committed outputs are byte-identical. Exit code 1 if not."""
    from regatta_lib import reproduction, verification

    outputs = reproduction.pipeline_outputs(paths.ROOT)
    before = reproduction.digests(paths.ROOT, outputs)
    reproduction.run_pipeline(paths.ROOT)
    changed = reproduction.differences(paths.ROOT, before)
    checks = verification.verify(paths.ROOT)
    for line in changed:
        typer.echo(f"FAILED {line}")
    compared = len(outputs) + len(list(paths.NOTEBOOKS.glob("*.ipynb")))
    typer.echo(f"{compared - len(changed)} of {compared} committed files byte-identical")
    typer.echo("\n".join(verification.summary(checks)))
    raise typer.Exit(0 if verification.succeeded(checks) and not changed else 1)


@app.command()
def archive() -> None:
    """Write the metadata of the archive, and the archive itself as dist/regatta-VERSION.zip: the same bytes on every run."""
    from regatta_lib import archive
    from regatta_lib.contracts import write_atomic
    from regatta_lib.digest import sha256

    for name, text in archive.metadata_texts(paths.ROOT).items():
        write_atomic(paths.ROOT / name, text)
    top = f"regatta-{archive.citation(paths.ROOT)['version']}"
    names = archive.tracked_files(paths.ROOT)
    content = archive.zipped(paths.ROOT, names, top)
    write_atomic(paths.ROOT / "dist" / f"{top}.zip", content)
    typer.echo(f"dist/{top}.zip: {len(names) + 1:,} files, {len(content):,} bytes, SHA-256 {sha256(content)}")


def main() -> None:
    """Run a command. Errors about input are one line on standard error and exit code 2."""
    try:
        app()
    except (ContractError, RuntimeError) as error:
        typer.echo(f"regatta: {error}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
