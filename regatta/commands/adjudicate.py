"""``regatta adjudicate``: sheets for human adjudicators."""

from pathlib import Path
from typing import Annotated

import typer

from regatta_lib.base import ContractError, paths, write_atomic

group = typer.Typer(no_args_is_help=True, help="Draw and score sheets for human adjudicators.")


@group.command("sample")
def sample(
    study: str,
    stage: Annotated[
        str, typer.Option(help="What to ask about: design (scenarios) or execution (agent answers).")
    ] = "design",
    size: Annotated[int, typer.Option(min=2, help="Number of items, half judged yes and half no.")] = 50,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draw.")] = 20261030,
) -> None:
    """Draw a balanced, blinded sheet of STUDY's verdicts: XLSX and CSV for adjudicators, and the key to keep."""
    from regatta import adjudicate
    from regatta_lib import instruments
    from regatta_lib.base import csv_text
    from regatta_lib.measures import VERDICTS
    from regatta_lib.stats import seeded
    from regatta_lib.studies import EPISODES, SCENARIOS, definition

    if stage not in adjudicate.QUESTIONS:
        raise ContractError(f"stage is {stage!r}, expected {' or '.join(adjudicate.QUESTIONS)}")
    design = definition(study)
    adjudicate.check_grid(study, design, stage)
    stem = paths.ADJUDICATION / f"{study}.{stage}"
    for old in sorted([*stem.parent.glob(f"{stem.name}.sheet*"), *stem.parent.glob(f"{stem.name}.key*")]):
        raise ContractError(f"{old}: exists already, expected no sheet or key of {stem.name}; move it away to draw anew")
    faults = {cell: instruments.read_judge_side(cell, design.instruments)[1] for cell in design.cells}
    episodes = EPISODES.read(paths.EPISODES / f"{study}.jsonl") if stage == "execution" else None
    texts = adjudicate.texts(SCENARIOS.read(paths.SUITES / f"{study}.jsonl"), faults, episodes)
    verdicts = VERDICTS.read(paths.VERDICTS / f"{study}.csv")
    sheet, key = adjudicate.draw_sample(verdicts, texts, stage, size, seeded(seed, f"adjudicate/{study}/{stage}"))
    instructions = adjudicate.instructions(paths.ROOT / "docs" / "adjudication.md")
    choices = {"answer": adjudicate.ANSWERS, "reason": tuple(adjudicate.REASONS)}
    for name, content in {
        "sheet.xlsx": adjudicate.xlsx_sheet(sheet, instructions, choices),
        "sheet.csv": adjudicate.csv_sheet(sheet),
        "key.csv": csv_text(key),
    }.items():
        write_atomic(stem.with_name(f"{stem.name}.{name}"), content)
        typer.echo(f"{stem.relative_to(paths.ROOT)}.{name}")
    typer.echo(adjudicate.representation_line(adjudicate.representation(key)))
    typer.echo(f"{len(sheet)} items; keep the key away from adjudicators")


@group.command("score")
def score(
    sheet: Path,
    key: Annotated[Path | None, typer.Option(help="The key; by default the one beside the sheet.")] = None,
) -> None:
    """Compare a filled SHEET (XLSX or CSV) with the judge's verdicts: agreement, and the disagreements by kind."""
    import pandas as pd

    from regatta import adjudicate
    from regatta_lib.base import csv_text, read_params
    from regatta_lib.stats import seeded

    base = read_params(paths.PARAMS).base
    filled = adjudicate.read_sheet(sheet)
    drawn, _, copy = sheet.stem.partition(".sheet")
    keys = adjudicate.read_key(key or sheet.with_name(f"{drawn}.key.csv"))
    rng = seeded(base.seed, "adjudicate/score")
    row, disagreements = adjudicate.score_sheet(filled, keys, rng, base.resamples, base.level)
    for name, table in {"score": pd.DataFrame([row]), "disagreements": disagreements}.items():
        write_atomic(sheet.with_name(f"{drawn}{copy}.{name}.csv"), csv_text(table))
    typer.echo(adjudicate.report(row, disagreements, base.level))
