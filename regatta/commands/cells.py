"""``regatta cell``: add a cell to the instruments."""

from pathlib import Path
from typing import Annotated

import typer

from regatta_lib.base import ContractError, paths, write_atomic

group = typer.Typer(no_args_is_help=True, help="Add a cell: scaffold its files, check them, freeze their hashes.")


@group.command("new")
def new(name: str) -> None:
    """Write the templates of a new cell into data/instruments/NAME. Existing files are never replaced."""
    from regatta.cells import scaffold

    files, folder = scaffold(name), paths.INSTRUMENTS / name
    if folder.exists():
        raise ContractError(f"{folder}: exists already, expected a new name")
    for file, text in files.items():
        write_atomic(folder / file, text)
    typer.echo(f"{folder}: {len(files)} files; write them in the order of docs/add-a-cell.md, then 'regatta cell check'")


@group.command("check")
def check(
    path: Path,
    freeze: Annotated[bool, typer.Option(help="If nothing is wrong, write the hashes to SHA256SUMS in PATH.")] = False,
) -> None:
    """Check the cell in PATH. Prints one line for each violation; exit code 1 if there is any."""
    from regatta import cells

    path = path.resolve()
    lines = [line for line in cells.cell_violations(path) if not (freeze and cells.FROZEN in line)]
    typer.echo("\n".join([*lines, f"{path.name}: {len(lines)} violations"]))
    if lines:
        raise typer.Exit(1)
    if freeze:
        write_atomic(path / cells.FROZEN, cells.freeze(path))
        typer.echo(f"{path / cells.FROZEN}: frozen")
