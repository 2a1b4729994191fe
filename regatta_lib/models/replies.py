"""Reading a model's reply: the JSON object it was asked for, wherever a chatty model put it.

The raw text is tried first, then the inside of one outer code fence, then the last complete object in the text. What an
answer may be is checked afterwards, on that object alone: narrowing the search instead would let an earlier mention win.
"""

import json
from collections.abc import Iterator
from typing import Any

from regatta_lib.base import canonical_json, unique_keys


def _writable(value: object) -> bool:
    """Whether a text file can hold it: an escape can make half a character, which UTF-8 has no form for."""
    try:
        return bool(canonical_json(value).encode("utf-8"))
    except ValueError:
        return False


_DECODER = json.JSONDecoder(object_pairs_hook=unique_keys)


def objects(text: str) -> Iterator[dict[str, Any]]:
    """The complete JSON objects of a text, in order; an object inside a complete one is part of that one.

    Where the outermost object is cut off, the complete ones inside it are found: a truncated list keeps its whole items.
    """
    start = text.find("{")
    while start >= 0:
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            if _writable(value):
                yield value
        start = text.find("{", end)


def unfenced(text: str) -> str:
    """The inside of a code fence that encloses the whole text; otherwise the text."""
    stripped = text.strip()
    opening, newline, rest = stripped.partition("\n")
    if newline and opening.startswith("```") and "`" not in opening[3:] and rest.rstrip().endswith("```"):
        return rest.rstrip()[:-3].strip()
    return stripped


def json_object(text: str) -> dict[str, Any] | None:
    """The object a reply consists of, or the last complete one in it, or None. A key given twice makes it unreadable."""
    for candidate in (text, unfenced(text)):
        try:
            value = _DECODER.decode(candidate.strip())
        except (ValueError, RecursionError):
            continue
        return value if isinstance(value, dict) and _writable(value) else None
    return next(reversed([*objects(text)]), None)
