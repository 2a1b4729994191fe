"""The library's own commands, ``python -m regatta_lib``: run a stage, verify. ``regatta`` offers them too."""

import gc
import os
import sys
import traceback
from pathlib import Path
from typing import Annotated

import typer

from regatta_lib.base import RegattaError, hint, paths

REPORT_TO = "to the authors named in CITATION.cff"
EXIT_CODES = """Exit codes:
0 done
1 a check failed, too much is missing, or you declined
2 wrong input, or a file, endpoint or stage that fails: one line says which
3 answers are still to come through an exchange
70 a bug: the last line says where to report it
130 stopped from the keyboard"""

app = typer.Typer(
    add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, help=f"{__doc__}\n\n{EXIT_CODES}"
)


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
    gc.disable()  # collecting frees nothing that the end of the command does not; benchmarks/startup.py says what it takes
    from regatta_lib import reproduce

    checks = reproduce.verify(folder.resolve())
    if report:
        reproduce.CHECK_TABLE.write(reproduce.report_rows(checks), report)
    typer.echo("\n".join(reproduce.summary(checks)))
    gc.freeze()  # leaving Python collects once more, unless there is nothing to look at
    raise typer.Exit(0 if reproduce.succeeded(checks) else 1)


def run(commands: typer.Typer) -> None:
    """Run a command, and leave Python with its exit code: those of ``EXIT_CODES``.

    Only what a user can act on is one line on standard error: a RegattaError, an extra that is not installed, or what the
    system says of a file.
    """
    try:
        commands()
    except RegattaError as error:
        typer.echo(f"regatta: {' '.join(str(error).splitlines())}", err=True)
        sys.exit(2)
    except OSError as error:
        typer.echo(f"regatta: {error.filename or 'system'}: {error.strerror or error}", err=True)
        sys.exit(2)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and (missing := hint(error.name or "")):
            typer.echo(f"regatta: {missing}", err=True)
            sys.exit(2)
        traceback.print_exc()
        typer.echo(f"this is a bug in regatta {_version()}; please report it with the lines above: {REPORT_TO}", err=True)
        sys.exit(70)


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("regatta")
    except PackageNotFoundError:
        return "that is not installed"


if __name__ == "__main__":
    run(app)
