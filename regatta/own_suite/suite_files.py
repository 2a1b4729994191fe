"""Files in which people keep test suites, read as plain records: YAML, JSON, JSON lines and CSV, told apart by content.

What they hold is untrusted. Nothing is executed, no variable of the environment is expanded, no address is opened. Text,
numbers and dates stay as written: ``no``, ``010``, ``1e-5``, ``12:30`` are the texts that stand there.
"""

import csv
import io
import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import yaml

from regatta_lib.base import DEPTH, ContractError, as_written, sha256, unique_keys

BYTES = 10_000_000
RECORDS = 1_000
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab"}
LISTS = ("tests", "goldens")
CONFIG = {"prompts", "providers", "tests"}
SPACE = re.compile(r"[ \t\r\n]*")
YAML_START = re.compile(r"(\s|#[^\n]*\n)*(---|- |[\w-]+ *:(\s|$))")


@dataclass(frozen=True)
class SuiteFile:
    """A file as read. ``rows`` are (line, record); ``document`` is what stands around them, by key.

    ``syntax`` is yaml, json, jsonl or csv; ``header`` the columns of a CSV file. ``broken`` are (line, reason) of lines
    that are no records.
    """

    path: Path
    sha256: str
    syntax: str
    rows: list[tuple[int, object]]
    document: dict[str, Any] = field(default_factory=dict)
    header: tuple[str, ...] = ()
    delimiter: str = ""
    broken: list[tuple[int, str]] = field(default_factory=list)


def read_file(path: Path) -> SuiteFile:
    """Read a suite's file. Raises ContractError, one line that names the file, if no record can be had from it."""
    content = file_bytes(path)
    text = decoded(path, content)
    readers = (_json, _json_lines) if text.lstrip()[:1] in ("{", "[") else (_yaml, _csv)
    parts = next(parts for parts in (read(path, text) for read in readers) if parts is not None)
    found = SuiteFile(path, sha256(content), **parts)
    for line, row in found.rows:
        bounded(path, line, row)
    if len(found.rows) > RECORDS:
        raise ContractError(f"{path}: {len(found.rows):,} records, expected at most {RECORDS:,}")
    if not (found.rows or found.broken or found.document):
        raise ContractError(f"{path}: 0 records, expected at least 1")
    return found


def file_bytes(path: Path) -> bytes:
    """The content of a file. Raises ContractError if it is missing or larger than ``BYTES``."""
    if not path.is_file():
        raise ContractError(f"{path}: missing, expected a file")
    size = path.stat().st_size
    if size > BYTES:
        raise ContractError(f"{path}: {size:,} bytes, expected at most {BYTES:,}")
    return path.read_bytes()


def decoded(path: Path, content: bytes) -> str:
    """UTF-8 text in normal form C, with or without byte order mark, any line end. Raises ContractError naming the byte."""
    try:
        return unicodedata.normalize("NFC", content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        found = f"byte {error.start} (0x{content[error.start]:02x})"
        raise ContractError(f"{path}: {found} is not UTF-8; save the file as UTF-8") from None


def bounded(path: Path, line: int, value: object) -> None:
    """Refuse a value that is nested too deeply."""
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > DEPTH:
            raise ContractError(f"{path}: line {line}: nested more than {DEPTH} deep")
        inner = [list(item.values()) if isinstance(item, dict) else item for item in level if isinstance(item, dict | list)]
        level = [item for items in inner for item in items]


def list_key(document: dict[str, Any]) -> str | None:
    """Where a document keeps its records: under a known key, or in its only list of objects."""
    if CONFIG & document.keys():
        return "tests" if isinstance(document.get("tests"), list) else None
    lists = [key for key, value in document.items() if isinstance(value, list) and value and isinstance(value[0], dict)]
    return next((key for key in LISTS if key in lists), lists[0] if len(lists) == 1 else None)


def _around(document: object, key: str | None) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != key} if isinstance(document, dict) else {}


# Numbers stay as written; NaN and infinities, which exporters write for a missing value, become a missing one.
DECODER = json.JSONDecoder(object_pairs_hook=unique_keys, parse_int=str, parse_float=str, parse_constant=lambda name: None)


def _value(text: str) -> tuple[Any, str]:
    """A JSON value, or None and why it is none."""
    try:
        return DECODER.decode(text), ""
    except RecursionError:
        return None, f"nested more than {DEPTH} deep"
    except ValueError as error:
        return None, str(error)


def _json(path: Path, text: str) -> dict[str, Any] | None:
    """The file as one JSON value; None if it is rather JSON lines."""
    value, problem = _value(text)
    if problem:
        if "Extra data" in problem or isinstance(_value(text.lstrip().partition("\n")[0])[0], dict):
            return None
        raise ContractError(f"{path}: not JSON: {problem}")
    key = list_key(value) if isinstance(value, dict) else None
    if isinstance(value, dict) and key is None:
        whole = {"rows": [], "document": value} if CONFIG & value.keys() else {"rows": [(1, value)]}
        return {"syntax": "json"} | whole
    lines = [text.count("\n", 0, place) + 1 for place in _places(text, key)]
    rows = value if key is None else value[key]
    return {"syntax": "json", "rows": list(zip(lines, rows, strict=True)), "document": _around(value, key)}


def _past_space(text: str, at: int) -> int:
    return cast(re.Match[str], SPACE.match(text, at)).end()  # matches even where no space is


def _places(text: str, key: str | None) -> list[int]:
    """Where the records of a valid JSON text start: the elements of its array, or of the array under ``key``."""
    at = _past_space(text, 0)
    if key is not None:
        at = next(place for name, place in _members(text, at) if name == key)
    return [place for _, place in _members(text, at)]


def _members(text: str, at: int) -> Iterator[tuple[str | None, int]]:
    """The key (in an object) and the place of each value of the array or object that starts at ``at``."""
    keyed = text[at] == "{"
    at = _past_space(text, at + 1)
    while text[at] not in "]}":
        key = None
        if keyed:
            key, at = DECODER.raw_decode(text, at)
            at = _past_space(text, _past_space(text, at) + 1)
        yield key, at
        at = _past_space(text, DECODER.raw_decode(text, at)[1])
        at = _past_space(text, at + (text[at] == ","))


def _json_lines(path: Path, text: str) -> dict[str, Any]:
    rows, broken = [], []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            value, problem = _value(line.strip())
            if problem:
                broken.append((number, f"not JSON: {problem}"))
            else:
                rows.append((number, value))
    return {"syntax": "jsonl", "rows": rows, "broken": broken}


def _yaml(path: Path, text: str) -> dict[str, Any] | None:
    """The file as YAML; None if it is no list of records and no mapping, or is no YAML and doesn't look like it either."""
    try:
        value, node = as_written(text)
    except yaml.YAMLError as error:
        if YAML_START.match(text):
            raise ContractError(f"{path}: not YAML: {' '.join(str(error).split())}") from None
        return None
    nodes = node.value if node else []
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        rows, children, key = value, nodes, None
    elif isinstance(value, dict) and (key := list_key(value)):
        rows, children = value[key], next(child.value for name, child in nodes if name.value == key)
    elif isinstance(value, dict) and CONFIG & value.keys():
        return {"syntax": "yaml", "rows": [], "document": value}
    else:
        return None
    lines = [child.start_mark.line + 1 for child in children]
    return {"syntax": "yaml", "rows": list(zip(lines, rows, strict=True)), "document": _around(value, key)}


def _delimiter(text: str) -> str:
    """The separator that occurs most often in the first record outside quotes."""
    counts, quoted = dict.fromkeys(DELIMITERS, 0), False
    for character in text.lstrip("\r\n"):
        if character == '"':
            quoted = not quoted
        elif character in "\r\n" and not quoted:
            break
        elif character in counts and not quoted:
            counts[character] += 1
    return max(counts, key=lambda separator: counts[separator])


def _csv(path: Path, text: str) -> dict[str, Any]:
    delimiter = _delimiter(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows, broken, before = [], [], 0
    header: list[str] = []
    try:
        for cells in reader:
            line, before = before + 1, reader.line_num
            if not any(cell.strip() for cell in cells):
                continue
            if not header:
                header = [cell.strip() for cell in cells]
            elif len(cells) == len(header):
                rows.append((line, dict(zip(header, cells, strict=True))))
            else:
                broken.append((line, f"{len(cells)} cells, expected {len(header)}"))
    except csv.Error as error:
        raise ContractError(f"{path}: line {reader.line_num}: not CSV: {error}") from None
    twice = next((name for name in header if header.count(name) > 1), None)
    if twice is not None:
        raise ContractError(f"{path}: column {twice!r} occurs twice")
    return {
        "syntax": "csv",
        "rows": rows,
        "header": tuple(header),
        "delimiter": DELIMITERS[delimiter],
        "broken": broken,
    }
