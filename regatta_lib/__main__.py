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

    typer.echo(f"{name}: {run_stage(name).relative_to(paths.ROOT)}")


@app.command("import")
def import_release(folder: Path) -> None:
    """Import the figures of the public release from FOLDER into data/record."""
    from regatta_lib.contracts import write_atomic
    from regatta_lib.release import record_tables

    for name, text in record_tables(folder).items():
        write_atomic(paths.RECORD / name, text)
        typer.echo(f"data/record/{name}: {text.count(chr(10)) - 1:,} rows")


cell = typer.Typer(no_args_is_help=True, help="Add a cell: scaffold its files, check them, freeze their hashes.")
app.add_typer(cell, name="cell")


@cell.command("new")
def cell_new(name: str) -> None:
    """Write the templates of a new cell into data/instruments/NAME. Existing files are never replaced."""
    from regatta_lib.cells import scaffold
    from regatta_lib.contracts import write_atomic

    files, folder = scaffold(name), paths.INSTRUMENTS / name
    if folder.exists():
        raise ContractError(f"{folder}: exists already, expected a new name")
    for file, text in files.items():
        write_atomic(folder / file, text)
    typer.echo(f"{folder}: {len(files)} files; write them in the order of docs/add-a-cell.md, then 'regatta cell check'")


@cell.command("check")
def cell_check(
    path: Path,
    freeze: Annotated[bool, typer.Option(help="If nothing is wrong, write the hashes to SHA256SUMS in PATH.")] = False,
) -> None:
    """Check the cell in PATH. Prints one line for each violation; exit code 1 if there is any."""
    from regatta_lib import cells
    from regatta_lib.contracts import write_atomic

    path = path.resolve()
    lines = [line for line in cells.violations(path) if not (freeze and cells.FROZEN in line)]
    typer.echo("\n".join([*lines, f"{path.name}: {len(lines)} violations"]))
    if lines:
        raise typer.Exit(1)
    if freeze:
        write_atomic(path / cells.FROZEN, cells.freeze(path))
        typer.echo(f"{path / cells.FROZEN}: frozen")


def main() -> None:
    """Run a command. Errors about input are one line on standard error and exit code 2."""
    try:
        app()
    except (ContractError, RuntimeError) as error:
        typer.echo(f"regatta: {error}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
