"""Adjudicators' sheets as CSV and XLSX, written so that no text runs as a formula, and read back as people save them."""

import csv
import io
import re
import unicodedata
import zipfile
from pathlib import Path

import pandas as pd
from openpyxl import Workbook, load_workbook
from openpyxl.cell import Cell, MergedCell
from openpyxl.styles import Alignment, Font
from openpyxl.worksheet.datavalidation import DataValidation

from regatta_lib.base import ZIP_DATE, ContractError

FORMULA = "=+-@\t\r＝＋－＠"
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]")
LONGEST = 32_767  # characters a spreadsheet cell holds
SHEET, INSTRUCTIONS = "sheet", "instructions"
WIDTHS = {"item": 10, "answer": 12, "reason": 16}


def without_marks(text: str) -> str:
    """Text in normal form C with control characters replaced. Raises ContractError if no cell could hold it."""
    text = CONTROL.sub("\ufffd", unicodedata.normalize("NFC", text))
    if len(text) > LONGEST:
        raise ContractError(f"sheet: a text of {len(text):,} characters, a spreadsheet cell holds {LONGEST:,}")
    return text


def inert(text: str) -> str:
    """Plain text that a spreadsheet will not run: an apostrophe goes before a first character that starts a formula."""
    text = without_marks(text)
    return f"'{text}" if text.lstrip(" \n").startswith(tuple(FORMULA)) else text


def restored(text: str) -> str:
    """The text before ``inert``."""
    return text[1:] if text.startswith("'") and text[1:].lstrip(" \n").startswith(tuple(FORMULA)) else text


def csv_sheet(sheet: pd.DataFrame) -> bytes:
    """The sheet as UTF-8 CSV. It starts with a byte order mark: without one, Excel garbles Vietnamese."""
    inert_sheet = sheet.astype(str).map(inert)
    return inert_sheet.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_ALL).encode("utf-8-sig")


def xlsx_sheet(sheet: pd.DataFrame, instructions: str, choices: dict[str, tuple[str, ...]]) -> bytes:
    """The sheet as a workbook: instructions first, then the items, with lists to choose from in the columns of ``choices``.

    Every cell is stored as text. The same sheet gives the same bytes: times inside the file are fixed.
    """
    book = Workbook()
    first = book.worksheets[0]
    first.title = INSTRUCTIONS
    for number, line in enumerate(instructions.splitlines(), start=1):
        _text(first.cell(number, 1), line)
    first.column_dimensions["A"].width = 110
    items = book.create_sheet(SHEET)
    for column, name in enumerate(sheet.columns, start=1):
        header = items.cell(1, column)
        _text(header, name)
        header.font = Font(bold=True)
        letter = header.column_letter
        items.column_dimensions[letter].width = WIDTHS.get(name, 36)
        if name in choices:
            offered = DataValidation(type="list", formula1=f'"{",".join(choices[name])}"', allow_blank=True)
            items.add_data_validation(offered)
            offered.add(f"{letter}2:{letter}{len(sheet) + 1}")
        for row, value in enumerate(sheet[name].astype(str), start=2):
            _text(items.cell(row, column), value)
    items.freeze_panes = "B2"
    buffer = io.BytesIO()
    book.save(buffer)
    return _fixed_times(buffer.getvalue())


def _text(cell: Cell | MergedCell, value: str) -> None:
    cell.value = without_marks(value)
    cell.data_type = "s"  # openpyxl would take a leading "=" for a formula
    cell.quotePrefix = True
    cell.alignment = Alignment(wrap_text=True, vertical="top")


def _fixed_times(content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        for name in sorted(source.namelist()):
            data = source.read(name)
            if name == "docProps/core.xml":
                data = re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", b"1980-01-01T00:00:00Z", data)
            target.writestr(zipfile.ZipInfo(name, ZIP_DATE), data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def read_sheet(path: Path) -> pd.DataFrame:
    """Read a filled sheet, CSV (any of ``, ; tab``, with or without byte order mark, any line end) or XLSX, all as text.

    Raises ContractError, naming the file, if it is neither, is not UTF-8, a row has another number of cells, or a column
    occurs twice.
    """
    if not path.is_file():
        raise ContractError(f"{path}: missing, expected a filled sheet")
    if path.suffix.casefold() == ".xlsx":
        try:
            book = load_workbook(path, read_only=False, data_only=True)
        except Exception as error:  # whatever its parsers make of a file that is none
            raise ContractError(f"{path}: not an XLSX file: {error}") from None
        if SHEET not in book.sheetnames:
            raise ContractError(f"{path}: no worksheet {SHEET!r}, found {', '.join(book.sheetnames)}")
        rows = [["" if value is None else str(value) for value in row] for row in book[SHEET].iter_rows(values_only=True)]
    elif path.suffix.casefold() == ".csv":
        try:
            text = path.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ContractError(f"{path}: byte {error.start} is not UTF-8; save it as 'CSV UTF-8'") from None
        first_line = text.partition("\n")[0]
        delimiter = max(",;\t", key=first_line.count)
        try:
            rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
        except csv.Error as error:
            raise ContractError(f"{path}: not a CSV file: {error}") from None
    else:
        raise ContractError(f"{path}: expected a file ending .csv or .xlsx")
    rows = [row for row in rows if any(row)]
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise ContractError(f"{path}: row {number} has {len(row)} cells, expected {len(rows[0])}")
    header = rows[0] if rows else []
    twice = next((name for name in header if name and header.count(name) > 1), None)
    if twice is not None:
        raise ContractError(f"{path}: column {twice!r} occurs twice, expected once")
    frame = pd.DataFrame(rows[1:], columns=rows[0] if rows else None, dtype=str)
    return frame.map(lambda value: restored(unicodedata.normalize("NFC", value)))
