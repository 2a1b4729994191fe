"""The library's own commands, ``python -m regatta_lib``: run a stage, verify. ``regatta`` offers them too."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from regatta_lib.base import ContractError, hint, paths

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, help=__doc__)


@app.command()
def stage(name: str) -> None:
    """Execute the notebook of one stage with the parameters of params.yaml."""
    from regatta_lib.reproduce import run_stage

    typer.echo(f"stage {name}")
    run_stage(name)


@app.command()
def verify(
    folder: Annotated[Path, typer.Argument(help="The repository or unpacked archive to verify.")] = paths.ROOT,
    report: Annotated[Path | None, typer.Option(help="Write every check to this CSV file.")] = None,
) -> None:
    """Recompute every pinned value and output from the record and compare. Exit code 1 on any difference."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # on matrices this small a second thread waits more than it works
    from regatta_lib import reproduce

    checks = reproduce.verify(folder.resolve())
    if report:
        reproduce.REPORT.write(reproduce.report(checks), report)
    typer.echo("\n".join(reproduce.summary(checks)))
    raise typer.Exit(0 if reproduce.succeeded(checks) else 1)


def run(commands: typer.Typer) -> None:
    """Run a command. Errors about input, files and missing extras are one line on standard error and exit code 2."""
    try:
        commands()
    except ModuleNotFoundError as error:
        if (text := hint(error.name or "")) is None:
            raise
        typer.echo(f"regatta: {text}", err=True)
        sys.exit(2)
    except (ContractError, RuntimeError) as error:
        typer.echo(f"regatta: {error}", err=True)
        sys.exit(2)
    except OSError as error:
        typer.echo(f"regatta: {error.filename or 'system'}: {error.strerror or error}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    run(app)
