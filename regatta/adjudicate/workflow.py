"""Adjudication from a study's files to its sheets, and from a filled sheet to its score. Nothing is written here."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from regatta.adjudicate import adjudication, sheets
from regatta_lib import instruments
from regatta_lib.base import ContractError, ParameterError, csv_text, paths, read_params
from regatta_lib.measures import VERDICT_TABLE
from regatta_lib.stats import seeded
from regatta_lib.studies import EPISODE_LINES, SCENARIO_LINES, Study, definition


@dataclass(frozen=True)
class Sheet:
    """Files to write, {path: content}, and what to say of them, as text."""

    files: dict[Path, str | bytes]
    report: str


def draw(study: str, stage: str, size: int, seed: int) -> Sheet:
    """Draw a balanced, blinded sheet of a study's verdicts: XLSX and CSV for adjudicators, and the key to keep.

    Raises ParameterError for a stage there is none of or too large a size, and ContractError for a study that stopped at
    the first yes, or where a sheet or key of this study and stage is there already.
    """
    if stage not in adjudication.QUESTIONS:
        raise ParameterError(f"stage: found {stage!r}, expected {' or '.join(adjudication.QUESTIONS)}", "stage")
    design = definition(study)
    adjudication.check_grid(study, design, stage)
    stem = paths.ADJUDICATION / f"{study}.{stage}"
    _check_free(stem)
    verdicts = VERDICT_TABLE.read(paths.VERDICTS / f"{study}.csv")
    rng = seeded(seed, f"adjudicate/{study}/{stage}")
    sheet, key = adjudication.draw_sample(verdicts, _texts(study, design, stage), stage, size, rng)
    instructions = adjudication.sheet_instructions(paths.ROOT / "docs" / "adjudication.md")
    choices = {"answer": adjudication.ANSWERS, "reason": tuple(adjudication.REASONS)}
    files: dict[Path, str | bytes] = {
        stem.with_name(f"{stem.name}.sheet.xlsx"): sheets.xlsx_sheet(sheet, instructions, choices),
        stem.with_name(f"{stem.name}.sheet.csv"): sheets.csv_sheet(sheet),
        stem.with_name(f"{stem.name}.key.csv"): csv_text(key),
    }
    represented = adjudication.representation_line(adjudication.representation(key))
    return Sheet(files, f"{represented}\n{len(sheet)} items; keep the key away from adjudicators")


def _check_free(stem: Path) -> None:
    """Refuse to draw over a sheet or key: what is filled in already would belong to other items."""
    for old in sorted([*stem.parent.glob(f"{stem.name}.sheet*"), *stem.parent.glob(f"{stem.name}.key*")]):
        raise ContractError(f"{old}: exists already, expected no sheet or key of {stem.name}; move it away to draw anew")


def _texts(study: str, design: Study, stage: str) -> pd.DataFrame:
    """What adjudicators read of each verdict of a study."""
    faults = {cell: instruments.read_judge_side(cell, design.instruments)[1] for cell in design.cells}
    episodes = EPISODE_LINES.read(paths.EPISODES / f"{study}.jsonl") if stage == "execution" else None
    return adjudication.texts(SCENARIO_LINES.read(paths.SUITES / f"{study}.jsonl"), faults, episodes)


def score(sheet: Path, key: Path | None = None) -> Sheet:
    """Compare a filled sheet with the judge's verdicts: agreement, and the disagreements by kind, beside the sheet.

    ``key`` is by default the one beside the sheet. Raises ContractError for a sheet or key that cannot be read, or that
    do not belong together.
    """
    base = read_params(paths.PARAMS).base
    filled = sheets.read_sheet(sheet)
    drawn, _, copy = sheet.stem.partition(".sheet")
    keys = adjudication.read_key(key or sheet.with_name(f"{drawn}.key.csv"))
    rng = seeded(base.seed, "adjudicate/score")
    row, disagreements = adjudication.score_sheet(filled, keys, rng, base.resamples, base.level)
    tables = {"score": pd.DataFrame([row]), "disagreements": disagreements}
    files: dict[Path, str | bytes] = {
        sheet.with_name(f"{drawn}{copy}.{name}.csv"): csv_text(table) for name, table in tables.items()
    }
    return Sheet(files, adjudication.score_text(row, disagreements, base.level))
