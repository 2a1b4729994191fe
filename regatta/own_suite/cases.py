"""Cases: the records of a suite that somebody else wrote, in one form whatever file they came from."""

import re
import unicodedata
from dataclasses import dataclass, field

from regatta.own_suite.suite_files import DECODER
from regatta_lib.base import RegattaError, canonical_json

CASE_FIELDS = ("id", "title", "input", "expected", "tags")


class Skipped(RegattaError):
    """This record is no case. The message says why."""


@dataclass(frozen=True)
class CaseSource:
    """Where a case stands: the file's name (as the suite refers to it), the line, and the file's SHA-256."""

    file: str
    line: int
    sha256: str


@dataclass(frozen=True)
class Turn:
    """One turn of a conversation."""

    role: str
    content: str


@dataclass(frozen=True)
class Case:
    """One test of a suite.

    ``id`` is the one given, or the SHA-256 of the canonical record. ``input`` is the message to the agent, ``expected``
    what is expected of the answer; both are empty where the suite has none. ``turns`` is the conversation, if the suite
    has one. ``raw`` is the record as it stands in the file.
    """

    id: str
    title: str
    input: str
    expected: str
    turns: tuple[Turn, ...]
    tags: tuple[str, ...]
    source: CaseSource
    raw: object


@dataclass
class Draft:
    """What one record says, before it has an identifier and a source.

    ``notes`` is what a reader should know of it; ``part`` tells apart the cases of one record.
    """

    input: str = ""
    expected: str = ""
    id: str = ""
    title: str = ""
    turns: tuple[Turn, ...] = ()
    tags: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)
    part: object = None


def plain(value: object) -> str:
    """Any value as text: a text as it stands, nothing for a missing one, a list of texts line by line, else its JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value.replace("\r\n", "\n")).strip()
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "\n".join(plain(item) for item in value)
    return canonical_json(value)


def printable(text: str) -> str:
    """Text of unknown origin that is safe to show in a terminal."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


def listed(value: object, separator: str = ",") -> tuple[str, ...]:
    """A list of texts, given as a list, as JSON, or with separators (not those after a backslash)."""
    if isinstance(value, str):
        parsed = from_json(value)
        separated = re.split(rf"(?<!\\){separator}", value)
        value = parsed if isinstance(parsed, list) else [part.replace(f"\\{separator}", separator) for part in separated]
    return tuple(filter(None, (plain(item) for item in value))) if isinstance(value, list) else ()


def from_json(value: object) -> object:
    """The value of a text that is a JSON list or object, else the value itself. CSV files hold lists so."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return DECODER.decode(value.strip())
        except (ValueError, RecursionError):
            return value
    return value


def any_of(value: object) -> str:
    """An expectation of which one suffices, where a list of texts is given."""
    if isinstance(value, list) and len(value) > 1 and all(isinstance(item, str) for item in value):
        return "One of: " + "; ".join(plain(item) for item in value)
    return plain(value)


def conversation(value: object) -> tuple[Turn, ...]:
    """The turns of a list of ``{"role", "content"}``, given as a list or as JSON; none if it is something else."""
    value = from_json(value)
    if not (isinstance(value, list) and all(isinstance(turn, dict) and "role" in turn for turn in value)):
        return ()
    return tuple(Turn(plain(turn["role"]), _content(turn.get("content"))) for turn in value)


def _content(content: object) -> str:
    """A turn's content: a text, or blocks of which those of text count."""
    if isinstance(content, list) and all(isinstance(block, dict) for block in content):
        return "\n".join(plain(block["text"]) for block in content if "text" in block)
    return plain(content)


def as_message(turns: tuple[Turn, ...]) -> tuple[str, list[str]]:
    """A conversation as one message to a single-turn agent, and what was done to it."""
    said = [turn for turn in turns if turn.role not in ("system", "developer")]
    notes = ["system turn kept, not sent"] if len(said) < len(turns) else []
    if [turn.role for turn in said] in (["user"], ["human"]):
        return said[0].content, notes
    text = "\n\n".join(f"{turn.role.capitalize()}: {turn.content}" for turn in said if turn.content)
    return text, [*notes, "several turns, sent as one message"] if text else notes


def at(record: object, path: str) -> object:
    """The value at a dotted path, for example ``inputs.messages.0.content``; a key may hold dots itself. None if absent."""
    if isinstance(record, dict) and path in record:
        return record[path]
    name, _, rest = path.partition(".")
    if isinstance(record, dict) and name in record:
        inner = record[name]
    elif isinstance(record, list) and name.isdecimal() and int(name) < len(record):
        inner = record[int(name)]
    else:
        return None
    return at(inner, rest) if rest else inner
