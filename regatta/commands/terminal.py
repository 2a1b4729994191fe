"""Tables for the terminal: text that reads the same on a screen, in a pipe and in a log."""

from io import StringIO
from numbers import Integral, Real
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    import pandas as pd

# Wider than any table: a width taken from the terminal would cut cells, and differ between a screen and a pipe.
WIDTH = 10_000


def table_text(frame: "pd.DataFrame", title: str, missing: str = "–", digits: int = 3) -> str:
    """A line with the title, then the rows of ``frame`` under its column names: plain text, no colours, no last line end.

    A cell is text, a number, a pair (low, high) of numbers, or missing (None or NaN), shown as ``missing``. Floats get
    ``digits`` decimals. Columns of numbers are aligned at the right, columns of text at the left; nothing is cut.
    """
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    columns = {name: list(frame[name]) for name in frame.columns}
    for name, values in columns.items():
        text = all(isinstance(value, str) for value in values)
        table.add_column(Text(str(name)), justify="left" if text else "right", no_wrap=True)
    for row in zip(*columns.values(), strict=True):
        table.add_row(*(Text(_cell(value, missing, digits)) for value in row))
    screen = StringIO()
    console = Console(file=screen, width=WIDTH, height=1, color_system=None, legacy_windows=False)
    console.print(table)
    lines = [line.rstrip() for line in screen.getvalue().splitlines()]
    return "\n".join([title, *lines])


def _cell(value: object, missing: str, digits: int) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return "–".join(_cell(end, missing, digits) for end in value)
    # Pandas has several values for what is missing: None and those that differ from themselves or have no truth.
    if value is None or not isinstance(value, Real) or value != value:
        return missing
    return f"{value:,}" if isinstance(value, Integral) else f"{value:,.{digits}f}"
