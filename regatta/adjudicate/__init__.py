"""Sheets for human adjudicators: draw a blinded sample of verdicts, and score what comes back."""

from regatta.adjudicate.adjudication import (
    ANSWERS,
    QUESTIONS,
    REASONS,
    check_grid,
    draw_sample,
    instructions,
    read_key,
    report,
    representation,
    representation_line,
    score_sheet,
    texts,
)
from regatta.adjudicate.sheets import csv_sheet, read_sheet, xlsx_sheet

__all__ = [
    "ANSWERS", "QUESTIONS", "REASONS", "check_grid", "csv_sheet", "draw_sample", "instructions", "read_key", "read_sheet",
    "report", "representation", "representation_line", "score_sheet", "texts", "xlsx_sheet"
]  # fmt: skip
