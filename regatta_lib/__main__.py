"""The command line: ``regatta`` or ``python -m regatta_lib``. Each command is a few lines over the library."""

import sys
from pathlib import Path

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


def main() -> None:
    """Run a command. Errors about input are one line on standard error and exit code 2."""
    try:
        app()
    except (ContractError, RuntimeError) as error:
        typer.echo(f"regatta: {error}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
