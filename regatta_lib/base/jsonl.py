"""Files of one JSON object a line: the texts of a study (scenarios, episodes, rulings)."""

import json
import unicodedata
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from regatta_lib.base.digest import canonical_json
from regatta_lib.base.errors import ContractError
from regatta_lib.base.files import file_text, write_atomic

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

R = TypeVar("R", bound="DataclassInstance")


@dataclass(frozen=True)
class Lines(Generic[R]):
    """A file whose lines are records of ``row``, identified and sorted by ``key``; canonical JSON, UTF-8, LF."""

    row: type[R]
    key: tuple[str, ...]

    @cached_property
    def _adapter(self) -> TypeAdapter[R]:
        return TypeAdapter(self.row)

    def _key(self, record: R) -> tuple[tuple[bool, Any], ...]:
        return tuple((value is not None, value) for value in (getattr(record, name) for name in self.key))

    def read(self, path: Path) -> list[R]:
        """Read and check a file. Raises ContractError with one line that names the file, the row and the field."""
        rows = []
        text = file_text(path).removesuffix("\n")
        for number, line in enumerate(text.split("\n") if text else [], start=1):
            try:
                rows.append(self._adapter.validate_python(json.loads(line)))
            except ValidationError as error:
                first = error.errors()[0]
                place = ".".join(map(str, first["loc"]))
                raise ContractError(f"{path}: row {number}, {place}: found {first['input']!r}; {first['msg']}") from None
            except ValueError as error:
                raise ContractError(f"{path}: row {number}: not JSON: {error}") from None
        keys = [self._key(row) for row in rows]
        for number, (before, after) in enumerate(pairwise(keys), start=2):
            if after <= before:
                problem = "duplicates" if after == before else "is not sorted after"
                shown = ", ".join(str(value) for _, value in after)
                raise ContractError(f"{path}: row {number} ({shown}) {problem} the row before it by {', '.join(self.key)}")
        if not rows:
            raise ContractError(f"{path}: 0 rows, expected at least 1")
        return rows

    def text(self, rows: Iterable[R]) -> str:
        """The file's text: rows sorted by key, one canonical JSON object a line, in normal form C."""
        text = "".join(f"{canonical_json(asdict(row))}\n" for row in sorted(rows, key=self._key))
        return unicodedata.normalize("NFC", text)

    def write(self, rows: Iterable[R], path: Path) -> None:
        """Sort and write atomically."""
        write_atomic(path, self.text(rows))
