"""The file contracts: which columns a table has, what identifies a row, how many rows there must be.

Tables are UTF-8 (NFC) CSV with LF line ends and a header, sorted by their key columns, floats in shortest round-trip
form. Reading checks all of it, so that a wrong file is one clear line and never a wrong number.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, get_args, get_origin

import pandas as pd
from pydantic import TypeAdapter, ValidationError

from regatta_lib.base.errors import ContractError
from regatta_lib.base.files import file_text, write_atomic


def csv_text(frame: pd.DataFrame) -> str:
    """The canonical CSV form of a frame: no index, LF, missing values empty, floats in shortest round-trip form."""
    return frame.to_csv(index=False, lineterminator="\n")


NULLABLE = {int: "Int64", float: "float64", str: "str"}


def _plain(annotation: type) -> type:
    """The type under an Annotated."""
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def _sortable(value: object) -> tuple[bool, object]:
    """A missing value sorts before all others."""
    return value is not None, value


@dataclass(frozen=True)
class Contract:
    """A table whose rows are records of ``row``, identified and sorted by ``key``, ``count`` rows long if that is fixed."""

    row: type[Any]
    key: tuple[str, ...]
    count: int | None = None

    @cached_property
    def columns(self) -> list[str]:
        return [field.name for field in fields(self.row)]

    @cached_property
    def _adapter(self) -> TypeAdapter[list[Any]]:
        return TypeAdapter(list[self.row])  # type: ignore[name-defined]  # a type known at run time only

    def parse(self, text: str, path: Path) -> pd.DataFrame:
        """Check the text of a CSV file against the contract and return its rows as a frame."""
        try:
            lines = list(csv.reader(io.StringIO(text, newline="")))
        except csv.Error as error:
            raise ContractError(f"{path}: {error}; is there a quotation mark too many?") from None
        if not lines or lines[0] != self.columns:
            found = ",".join(lines[0]) if lines else "an empty file"
            raise ContractError(f"{path}: header is {found}, expected {','.join(self.columns)}")
        for number, cells in enumerate(lines[1:], start=2):
            if len(cells) != len(self.columns):
                raise ContractError(f"{path}: row {number} has {len(cells)} cells, expected {len(self.columns)}")
        raw: list[dict[str, object]] = [dict(zip(self.columns, cells, strict=True)) for cells in lines[1:]]
        for row in raw:
            row.update({name: None for name in self._optional if row[name] == ""})
        return self.frame(raw, path)

    def frame(self, rows: Sequence[Mapping[Any, object]], path: Path) -> pd.DataFrame:
        """Check rows against the contract and return them as a frame with one column per field.

        Raises ContractError for a value of the wrong type or range, a duplicated key, rows out of order, no rows at
        all, or a number of rows other than ``count``.
        """
        try:
            checked = self._adapter.validate_python(rows)
        except ValidationError as error:
            first = error.errors()[0]
            index, *place = first["loc"]
            raise ContractError(
                f"{path}: row {int(index) + 2}, {'.'.join(map(str, place[:1]))}: found {first['input']!r}; {first['msg']}"
            ) from None
        values = [[getattr(r, name) for r in checked] for name in self.key]
        keys = list(zip(*(map(_sortable, v) if None in v else v for v in values), strict=True))
        for index in range(1, len(keys)):
            if keys[index] <= keys[index - 1]:
                problem = "duplicates" if keys[index] == keys[index - 1] else "is not sorted after"
                shown = ", ".join(str(getattr(checked[index], name)) for name in self.key)
                raise ContractError(
                    f"{path}: row {index + 2} ({shown}) {problem} the row before it by {', '.join(self.key)}"
                )
        if not checked or (self.count is not None and len(checked) != self.count):
            expected = "at least 1" if self.count is None else f"{self.count:,}"
            raise ContractError(f"{path}: {len(checked):,} rows, expected {expected}")
        frame = pd.DataFrame({name: [getattr(r, name) for r in checked] for name in self.columns})
        return frame.astype({name: NULLABLE.get(kind, "str") for name, kind in self._optional.items()})

    @cached_property
    def _optional(self) -> dict[str, type]:
        """The fields that may be missing, with their plain type."""
        unions = {f.name: get_args(f.type) for f in fields(self.row) if NoneType in get_args(f.type)}
        return {name: _plain(args[0]) for name, args in unions.items()}

    def read(self, path: Path) -> pd.DataFrame:
        """Read and check a file. Raises ContractError with one line that names the file and the row."""
        return self.parse(file_text(path), path)

    def text(self, frame: pd.DataFrame, path: Path) -> str:
        """Sort by the key, check, and return the canonical text of the file ``path``."""
        ordered = frame[self.columns].sort_values(list(self.key), na_position="first", kind="stable")
        rows = ordered.astype(object).where(ordered.notna(), None).to_dict("records")
        return csv_text(self.frame(rows, path))

    def write(self, frame: pd.DataFrame, path: Path) -> None:
        """Write the canonical text atomically."""
        write_atomic(path, self.text(frame, path))
