"""The library's own commands, ``python -m regatta_lib``: run a stage, verify, reproduce. ``regatta`` offers them too."""

import gc
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from regatta_lib.base import RegattaError, paths, write_atomic

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
def publish() -> None:
    """Replace the committed notebooks by the executed ones, outputs included."""
    for executed in sorted(paths.EXECUTED.glob("*.ipynb")):
        write_atomic(paths.NOTEBOOKS / executed.name, executed.read_bytes())
        typer.echo(f"notebooks/{executed.name}")


@app.command("import")
def import_release(folder: Path) -> None:
    """Import the figures of the public release from FOLDER into data/record."""
    from regatta_lib.reproduce import record_tables

    for name, text in record_tables(folder).items():
        write_atomic(paths.RECORD / name, text)
        typer.echo(f"data/record/{name}: {text.count(chr(10)) - 1:,} rows")


@app.command()
def verify(
    folder: Annotated[Path, typer.Argument(help="The repository or unpacked archive to verify.")] = paths.ROOT,
    report: Annotated[Path | None, typer.Option(help="Write every check to this CSV file.")] = None,
) -> None:
    """Recompute every pinned value and output from the record and compare. Exit code 1 on any difference."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # on matrices this small a second thread waits more than it works
    gc.disable()  # collecting would free nothing that the end of the command does not, and take a fifth of its time
    from regatta_lib import reproduce

    checks = reproduce.verify(folder.resolve())
    if report:
        reproduce.REPORT.write(reproduce.report(checks), report)
    typer.echo("\n".join(reproduce.summary(checks)))
    gc.freeze()  # leaving Python collects once more, unless there is nothing to look at
    raise typer.Exit(0 if reproduce.succeeded(checks) else 1)


@app.command()
def reproduce() -> None:
    """Run every offline stage again, verify, and prove that all committed outputs are byte-identical. Exit code 1 if not."""
    from concurrent.futures import ThreadPoolExecutor

    from regatta_lib import reproduce

    names = reproduce.committed_files(paths.ROOT)
    committed = reproduce.committed_digests(paths.ROOT, names)
    reproduce.run_pipeline(paths.ROOT)
    with ThreadPoolExecutor() as pool:
        recorded = pool.submit(reproduce.record, paths.ROOT)
        checks = reproduce.verify(paths.ROOT)
        recorded.result()
    changed = reproduce.differences(paths.ROOT, committed)
    for line in changed:
        typer.echo(f"FAILED {line}")
    typer.echo(f"{len(names) - len(changed)} of {len(names)} committed files byte-identical")
    typer.echo("\n".join(reproduce.summary(checks)))
    raise typer.Exit(0 if reproduce.succeeded(checks) and not changed else 1)


@app.command()
def pin() -> None:
    """Write data/reference/SHA256SUMS anew, after a reviewed change of what it covers."""
    from regatta_lib.reproduce import PINS, pinned_manifest

    text = pinned_manifest(paths.ROOT)
    write_atomic(paths.ROOT / PINS, text)
    typer.echo(f"{PINS}: {len(text.splitlines())} files")


def run(commands: typer.Typer) -> None:
    """Run a command, and leave Python with its exit code: those of ``EXIT_CODES``.

    Only what a user can act on is one line on standard error: a RegattaError, or what the system says of a file.
    """
    try:
        commands()
    except RegattaError as error:
        typer.echo(f"regatta: {' '.join(str(error).splitlines())}", err=True)
        sys.exit(2)
    except OSError as error:
        typer.echo(f"regatta: {error.filename or 'system'}: {error.strerror or error}", err=True)
        sys.exit(2)
    except Exception:
        import traceback

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
