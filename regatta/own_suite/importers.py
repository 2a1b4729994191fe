"""Importers: a suite in the format its team keeps it in, as cases. The format is told by structure, not by suffix.

promptfoo, Inspect and DeepEval by their own rules; Braintrust, OpenAI evals, Giskard and plain tables by their columns;
any other with a mapping. Everything imported is untrusted text; see ``suite_files`` for what is never done with it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from regatta.own_suite import promptfoo
from regatta.own_suite.cases import (
    CASE_FIELDS,
    Case,
    CaseSource,
    Draft,
    Skipped,
    any_of,
    as_message,
    at,
    conversation,
    from_json,
    listed,
    plain,
    printable,
)
from regatta.own_suite.suite_files import RECORDS, SuiteFile, read_file
from regatta_lib.base import ContractError, ParameterError, canonical_json, sha256

Drafts = Callable[[object, str], list[Draft]]


@dataclass(frozen=True)
class Keys:
    """Under which keys a format keeps input and expectation; the first that a record has counts."""

    input: tuple[str, ...]
    expected: tuple[str, ...]


SIMPLE = {
    "inspect": Keys(("input",), ("target",)),
    "deepeval": Keys(("input", "scenario"), ("expected_output", "expectedOutput", "expected_outcome", "expectedOutcome")),
    "openai": Keys(("input",), ("ideal",)),
    "giskard": Keys(("question",), ("reference_answer",)),
    "plain": Keys(("input",), ("expected",)),
}
FORMATS = ("promptfoo", *SIMPLE)
TITLES = ("title", "name", "description")


@dataclass(frozen=True)
class Imported:
    """A suite as imported.

    ``skipped`` are (place, reason) of records that are no cases, ``notes`` (place, note) of cases that need a look; a
    place is a line, with the file's name where it is another file. ``read`` counts the records found; ``input`` is the
    key under which the message to the agent was looked for.
    """

    format: str
    syntax: str
    delimiter: str
    input: str
    read: int
    cases: list[Case]
    skipped: list[tuple[str, str]]
    notes: list[tuple[str, str]]

    def unusable(self) -> int:
        """How many of the records have no message to the agent, or are no cases."""
        return len(self.skipped) + sum(not case.input for case in self.cases)

    def report(self) -> list[str]:
        """What was read, imported and skipped, as lines; notes grouped by what they say."""
        grouped: dict[str, list[str]] = defaultdict(list)
        for place, note in self.notes:
            grouped[note].append(place)
        separated = f", delimiter {self.delimiter}" if self.delimiter else ""
        return [
            printable(f"{self.format}, {self.syntax.upper()}{separated}, message to the agent from {self.input}"),
            f"read {self.read:,}, imported {len(self.cases):,}, skipped {len(self.skipped):,}",
            *(printable(f"skipped {place}: {reason}") for place, reason in self.skipped),
            *(printable(f"{note}: {len(places):,} ({', '.join(places)})") for note, places in grouped.items()),
        ]


def read_suite(path: Path, format: str | None = None, mapping: dict[str, str] | None = None) -> Imported:
    """Import the suite in ``path``.

    ``format`` is one of ``FORMATS``, by default found by structure; ``mapping`` says by dotted path where ``input``,
    ``expected``, ``id``, ``title`` and ``tags`` are. Raises ContractError, one line, if the file cannot be read or its
    columns leave open what is what.
    """
    mapping = mapping or {}
    if format not in (None, *FORMATS):
        raise ParameterError(f"format: found {format!r}, expected one of {', '.join(FORMATS)}", "format")
    file = read_file(path)
    format = format or detected(file, mapping)
    rows = list(promptfoo.rows_of(file, path.parent) if format == "promptfoo" else _rows(file))
    records = [row for _, _, row in rows if not isinstance(row, Skipped)]
    _check_mapping(file, records, mapping)
    if format == "promptfoo":
        key, drafts = _promptfoo(file, rows, mapping)
    else:
        key, drafts = mapping.get("input", " or ".join(SIMPLE[format].input)), _columns(SIMPLE[format], mapping)
    cases, skipped, notes = [], [(f"line {line}", reason) for line, reason in file.broken], []
    for source, line, row in rows:
        name = path.name if source is file else source.path.relative_to(path.parent.resolve()).as_posix()
        place = f"line {line}" if source is file else f"{name} line {line}"
        try:
            for draft in drafts(row, source.syntax):
                cases.append(_case(draft, CaseSource(name, line, source.sha256), row))
                notes += [(place, note) for note in draft.notes]
        except Skipped as reason:
            skipped.append((place, str(reason)))
    if len(cases) > RECORDS:
        raise ContractError(f"{path}: {len(cases):,} cases, expected at most {RECORDS:,}")
    notes += _doubts(cases, name_of=path.name)
    return Imported(format, file.syntax, file.delimiter, key, len(rows) + len(file.broken), cases, skipped, notes)


def mapping_of(text: str | None) -> dict[str, str]:
    """The mapping of ``input=question,expected=answer``. Raises ContractError for another form."""
    pairs = [pair.partition("=") for pair in (text or "").split(",") if text]
    for name, equals, path in pairs:
        if name.strip() not in CASE_FIELDS or not (equals and path.strip()):
            shown = f"{name}{equals}{path}"
            expected = f"FIELD=PATH with FIELD one of {', '.join(CASE_FIELDS)}"
            raise ParameterError(f"mapping: found {shown!r}, expected {expected}", "mapping")
    return {name.strip(): path.strip() for name, _, path in pairs}


def detected(file: SuiteFile, mapping: dict[str, str]) -> str:
    """The format of a file by its structure. Raises ContractError, listing the columns, if none or several fit."""
    if promptfoo.is_promptfoo(file):
        return "promptfoo"
    keys = set(columns(file))
    fitting = [name for name, of in SIMPLE.items() if keys & set(of.input) and keys & set(of.expected)]
    if len(fitting) == 1:
        return fitting[0]
    if "input" in mapping:
        return "plain"
    fits = " and ".join(fitting) or "no known format"
    found = ", ".join(columns(file)) or "none"
    advice = "say what they are by format, or by a mapping input=…,expected=…"
    raise ParameterError(f"{file.path}: fits {fits}; columns found: {found}; {advice}", "format", "mapping")


def columns(file: SuiteFile) -> list[str]:
    """The columns of a CSV file, or the keys of all records."""
    keys = file.header or dict.fromkeys(key for _, row in file.rows if isinstance(row, dict) for key in row)
    return [printable(key) for key in keys]


def _rows(file: SuiteFile) -> Iterator[tuple[SuiteFile, int, object]]:
    return ((file, line, row) for line, row in file.rows)


def _check_mapping(file: SuiteFile, records: list[object], mapping: dict[str, str]) -> None:
    """Refuse a path that no record has."""
    for path in mapping.values():
        if all(_mapped(row, path) is None for row in records):
            found = ", ".join(columns(file))
            raise ParameterError(f"{file.path}: mapping: no record has {path!r}; columns found: {found}", "mapping")


def _mapped(row: object, path: str) -> object:
    found = at(row, path)
    return at(row, f"vars.{path}") if found is None else found


def _first(row: dict[str, Any], keys: tuple[str, ...]) -> object:
    return next((row[key] for key in keys if row.get(key) not in (None, "")), None)


def _overridden(draft: Draft, row: object, mapping: dict[str, str]) -> Draft:
    """The draft with the fields that the mapping names."""
    for name, path in mapping.items():
        value = _mapped(row, path)
        if name == "input":
            turns = conversation(value)
            message, notes = as_message(turns) if turns else (plain(value), [])
            draft = replace(draft, input=message, turns=turns, notes=notes)
        elif name == "tags":
            draft = replace(draft, tags=listed(value))
        else:
            draft = replace(draft, **{name: any_of(value)})  # type: ignore[arg-type]  # FIELDS' other names are texts
    return draft


def _columns(keys: Keys, mapping: dict[str, str]) -> Drafts:
    """How a record becomes a draft in a format that keeps input and expectation under two keys."""
    return lambda row, syntax: [_simple(row, keys, mapping)]


def _simple(row: object, keys: Keys, mapping: dict[str, str]) -> Draft:
    """The draft of one such record. Raises Skipped if it is no object."""
    if not isinstance(row, dict):
        raise Skipped(f"found {str(row)[:60]!r}, expected an object")
    value = _first(row, keys.input)
    turns = conversation(row.get("turns")) or conversation(value)
    message, notes = as_message(turns) if turns else (plain(value), [])
    if turns and not message:
        message = plain(value)
    if choices := listed(row.get("choices")):
        message += "".join(f"\n{chr(ord('A') + number)}) {choice}" for number, choice in enumerate(choices))
    expected = any_of(from_json(_first(row, keys.expected)))
    if tools := _tools(row.get("expected_tools", row.get("expectedTools"))):
        expected = f"{expected}\nTools expected: {', '.join(tools)}".strip()
    tags = listed(row.get("tags"))
    draft = Draft(message, expected, plain(row.get("id")), plain(_first(row, TITLES)), turns, tags, notes)
    return _overridden(draft, row, mapping)


def _tools(value: object) -> tuple[str, ...]:
    """The names of the tools expected, given as names, as objects with a name, or joined by semicolons."""
    found = from_json(value)
    if isinstance(found, list):
        return tuple(plain(tool.get("name")) if isinstance(tool, dict) else plain(tool) for tool in found)
    return listed(found, ";")


def _promptfoo(file: SuiteFile, rows: list[tuple[SuiteFile, int, object]], mapping: dict[str, str]) -> tuple[str, Drafts]:
    """The variable that holds the message, and how a record of a promptfoo suite becomes drafts."""
    folder = file.path.parent
    default = promptfoo.defaults(file, folder)
    tests = [promptfoo.as_test(row, source.syntax) for source, _, row in rows if isinstance(row, dict)]
    variable = mapping.get("input") or promptfoo.input_variable(file, [default, *tests], folder)
    rest = {name: path for name, path in mapping.items() if name != "input"}

    def drafts(row: object, syntax: str) -> list[Draft]:
        found = promptfoo.drafts(promptfoo.as_test(row, syntax), default, variable, folder)
        return [_overridden(draft, row, rest) for draft in found]

    return variable, drafts


def _case(draft: Draft, source: CaseSource, raw: object) -> Case:
    """The case of a draft. Raises Skipped for text that no file can hold."""
    try:
        canonical_json([asdict(draft), raw]).encode("utf-8")
    except ValueError:
        raise Skipped("holds half a character, which no text file can") from None
    given = draft.id or sha256(canonical_json(raw if draft.part is None else [raw, draft.part]))
    return Case(given, draft.title, draft.input, draft.expected, draft.turns, draft.tags, source, raw)


def _doubts(cases: list[Case], name_of: str) -> list[tuple[str, str]]:
    """Cases that are kept but need a look: equal identifiers, nothing to send, nothing expected."""
    first: dict[str, str] = {}
    found = []
    for case in cases:
        place = f"line {case.source.line}" if case.source.file == name_of else f"{case.source.file} line {case.source.line}"
        if case.id in first:
            found.append((place, f"duplicate id {case.id[:40]!r}, first at {first[case.id]}"))
        first.setdefault(case.id, place)
        found += [(place, f"empty {name}") for name in ("input", "expected") if not getattr(case, name)]
    return found
