"""The terminal: errors with the options of a command, files written, and tables that read the same wherever they go."""

from io import StringIO
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer.core import TyperCommand

from regatta_lib.base import ParameterError, paths, write_atomic

if TYPE_CHECKING:
    import pandas as pd

# Wider than any table: a width taken from the terminal would cut cells, and differ between a screen and a pipe.
UNLIMITED = 10_000


class Command(TyperCommand):
    """A command that adds its options to an error about their parameters: ``mapping: found … (--map)``."""

    def invoke(self, ctx: Any) -> Any:  # typer keeps the type of a context to itself
        """Run the command. Raises the errors that it raises."""
        try:
            return super().invoke(ctx)
        except ParameterError as error:
            of_name = {param.name: param.opts[0] for param in self.params if param.param_type_name == "option"}
            options = [of_name[name] for name in error.parameters if name in of_name]
            shown = f" ({', '.join(options)})" if options else ""
            raise ParameterError(f"{error}{shown}", *error.parameters) from None


def write_texts(texts: dict[Path, str]) -> None:
    """Write files, and say of each how many lines it has."""
    for path, text in texts.items():
        write_atomic(path, text)
        typer.echo(f"{path.relative_to(paths.ROOT)}: {text.count(chr(10)):,} lines")


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
    console = Console(file=screen, width=UNLIMITED, height=1, color_system=None, legacy_windows=False)
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
