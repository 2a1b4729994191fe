"""The command line: ``regatta`` or ``python -m regatta_lib``. Each command is a few lines over the library."""

import gc
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from regatta_lib import paths, study_commands
from regatta_lib.files import ContractError, write_atomic

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
    for executed in sorted(paths.EXECUTED.glob("*.ipynb")):
        write_atomic(paths.NOTEBOOKS / executed.name, executed.read_bytes())
        typer.echo(f"notebooks/{executed.name}")


@app.command("import")
def import_release(folder: Path) -> None:
    """Import the figures of the public release from FOLDER into data/record."""
    from regatta_lib.release import record_tables

    for name, text in record_tables(folder).items():
        write_atomic(paths.RECORD / name, text)
        typer.echo(f"data/record/{name}: {text.count(chr(10)) - 1:,} rows")


adjudicate = typer.Typer(no_args_is_help=True, help="Draw and score sheets for human adjudicators.")
app.add_typer(adjudicate, name="adjudicate")


@adjudicate.command("sample")
def adjudicate_sample(
    study: str,
    stage: Annotated[
        str, typer.Option(help="What to ask about: design (scenarios) or execution (agent answers).")
    ] = "design",
    size: Annotated[int, typer.Option(min=2, help="Number of items, half judged yes and half no.")] = 50,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draw.")] = 20261030,
) -> None:
    """Draw a balanced, blinded sheet of STUDY's verdicts: XLSX and CSV for adjudicators, and the key to keep."""
    from regatta_lib import adjudication, instruments, jsonl, sheets
    from regatta_lib.contracts import VERDICTS, csv_text
    from regatta_lib.stats import seeded
    from regatta_lib.studies import definition

    if stage not in adjudication.QUESTIONS:
        raise ContractError(f"stage is {stage!r}, expected {' or '.join(adjudication.QUESTIONS)}")
    design = definition(study)
    adjudication.check_grid(study, design, stage)
    stem = paths.ADJUDICATION / f"{study}.{stage}"
    for old in sorted([*stem.parent.glob(f"{stem.name}.sheet*"), *stem.parent.glob(f"{stem.name}.key*")]):
        raise ContractError(f"{old}: exists already, expected no sheet or key of {stem.name}; move it away to draw anew")
    faults = {cell: instruments.read_judge_side(cell, design.instruments)[1] for cell in design.cells}
    episodes = jsonl.EPISODES.read(paths.EPISODES / f"{study}.jsonl") if stage == "execution" else None
    texts = adjudication.texts(jsonl.SCENARIOS.read(paths.SUITES / f"{study}.jsonl"), faults, episodes)
    verdicts = VERDICTS.read(paths.VERDICTS / f"{study}.csv")
    sheet, key = adjudication.draw_sample(verdicts, texts, stage, size, seeded(seed, f"adjudicate/{study}/{stage}"))
    instructions = adjudication.instructions(paths.ROOT / "docs" / "adjudication.md")
    choices = {"answer": adjudication.ANSWERS, "reason": tuple(adjudication.REASONS)}
    for name, content in {
        "sheet.xlsx": sheets.xlsx_sheet(sheet, instructions, choices),
        "sheet.csv": sheets.csv_sheet(sheet),
        "key.csv": csv_text(key),
    }.items():
        write_atomic(stem.with_name(f"{stem.name}.{name}"), content)
        typer.echo(f"{stem.relative_to(paths.ROOT)}.{name}")
    typer.echo(adjudication.representation_line(adjudication.representation(key)))
    typer.echo(f"{len(sheet)} items; keep the key away from adjudicators")


@adjudicate.command("score")
def adjudicate_score(
    sheet: Path,
    key: Annotated[Path | None, typer.Option(help="The key; by default the one beside the sheet.")] = None,
) -> None:
    """Compare a filled SHEET (XLSX or CSV) with the judge's verdicts: agreement, and the disagreements by kind."""
    import pandas as pd

    from regatta_lib import adjudication, sheets
    from regatta_lib.contracts import csv_text
    from regatta_lib.params import read_params
    from regatta_lib.stats import seeded

    base = read_params(paths.PARAMS).base
    filled = sheets.read_sheet(sheet)
    drawn, _, copy = sheet.stem.partition(".sheet")
    keys = adjudication.read_key(key or sheet.with_name(f"{drawn}.key.csv"))
    rng = seeded(base.seed, "adjudicate/score")
    row, disagreements = adjudication.score_sheet(filled, keys, rng, base.resamples, base.level)
    for name, table in {"score": pd.DataFrame([row]), "disagreements": disagreements}.items():
        write_atomic(sheet.with_name(f"{drawn}{copy}.{name}.csv"), csv_text(table))
    typer.echo(adjudication.report(row, disagreements, base.level))


@app.command()
def verify(
    folder: Annotated[Path, typer.Argument(help="The repository or unpacked archive to verify.")] = paths.ROOT,
    report: Annotated[Path | None, typer.Option(help="Write every check to this CSV file.")] = None,
) -> None:
    """Recompute every pinned value and output from the record and compare. Exit code 1 on any difference."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # on matrices this small a second thread waits more than it works
    gc.disable()  # collecting would free nothing that the end of the command does not, and take a fifth of its time
    from regatta_lib import verification
    from regatta_lib.contracts import REPORT

    checks = verification.verify(folder.resolve())
    if report:
        REPORT.write(verification.report(checks), report)
    typer.echo("\n".join(verification.summary(checks)))
    gc.freeze()  # leaving Python collects once more, unless there is nothing to look at
    raise typer.Exit(0 if verification.succeeded(checks) else 1)


@app.command()
def site(
    folder: Annotated[Path, typer.Argument(help="Where to write; files there are replaced.")] = paths.ROOT / "site",
) -> None:
    """Build the static site from the executed notebooks, the documents and the data. Opens offline: FOLDER/index.html."""
    from regatta_lib.site import build

    files = build(paths.ROOT)
    for name, content in files.items():
        write_atomic(folder / name, content)
    typer.echo(f"{folder / 'index.html'}: {sum(name.endswith('.html') for name in files)} pages, {len(files)} files")


@app.command()
def reproduce() -> None:
    """Run every offline stage again, verify, and prove that all committed outputs are byte-identical. Exit code 1 if not."""
    from concurrent.futures import ThreadPoolExecutor

    from regatta_lib import reproduction, verification

    names = reproduction.committed_files(paths.ROOT)
    committed = reproduction.committed_digests(paths.ROOT, names)
    reproduction.run_pipeline(paths.ROOT)
    with ThreadPoolExecutor() as pool:
        recorded = pool.submit(reproduction.record, paths.ROOT)
        checks = verification.verify(paths.ROOT)
        recorded.result()
    changed = reproduction.differences(paths.ROOT, committed)
    for line in changed:
        typer.echo(f"FAILED {line}")
    typer.echo(f"{len(names) - len(changed)} of {len(names)} committed files byte-identical")
    typer.echo("\n".join(verification.summary(checks)))
    raise typer.Exit(0 if verification.succeeded(checks) and not changed else 1)


@app.command()
def archive() -> None:
    """Write the metadata of the archive, and the archive itself as dist/regatta-VERSION.zip: the same bytes on every run."""
    from regatta_lib import archive
    from regatta_lib.digest import sha256

    archive.check_pins(paths.ROOT)
    for name, text in archive.metadata_texts(paths.ROOT).items():
        write_atomic(paths.ROOT / name, text)
    top = f"regatta-{archive.citation(paths.ROOT)['version']}"
    names = archive.tracked_files(paths.ROOT)
    content = archive.zipped(paths.ROOT, names, top)
    write_atomic(paths.ROOT / "dist" / f"{top}.zip", content)
    typer.echo(f"dist/{top}.zip: {len(names) + 1:,} files, {len(content):,} bytes, SHA-256 {sha256(content)}")


@app.command()
def pin() -> None:
    """Write data/reference/SHA256SUMS anew, after a reviewed change of what it covers."""
    from regatta_lib import archive, digest

    text = archive.pinned_manifest(paths.ROOT)
    write_atomic(paths.ROOT / digest.PINS, text)
    typer.echo(f"{digest.PINS}: {len(text.splitlines())} files")


cell = typer.Typer(no_args_is_help=True, help="Add a cell: scaffold its files, check them, freeze their hashes.")
app.add_typer(cell, name="cell")


@cell.command("new")
def cell_new(name: str) -> None:
    """Write the templates of a new cell into data/instruments/NAME. Existing files are never replaced."""
    from regatta_lib.cells import scaffold

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

    path = path.resolve()
    lines = [line for line in cells.violations(path) if not (freeze and cells.FROZEN in line)]
    typer.echo("\n".join([*lines, f"{path.name}: {len(lines)} violations"]))
    if lines:
        raise typer.Exit(1)
    if freeze:
        write_atomic(path / cells.FROZEN, cells.freeze(path))
        typer.echo(f"{path / cells.FROZEN}: frozen")


for command in (study_commands.cost, study_commands.run, study_commands.evaluate, study_commands.smoke, study_commands.pack):
    app.command()(command)
app.add_typer(study_commands.exchange, name="exchange")


def main() -> None:
    """Run a command. Errors about input and files are one line on standard error and exit code 2."""
    try:
        app()
    except (ContractError, RuntimeError) as error:
        typer.echo(f"regatta: {error}", err=True)
        sys.exit(2)
    except OSError as error:
        typer.echo(f"regatta: {error.filename or 'system'}: {error.strerror or error}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
