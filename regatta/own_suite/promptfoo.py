"""promptfoo's test cases: configurations and test files in YAML, JSON, JSON lines and CSV.

Files are read below the suite's folder only. Assertions in code are kept as text marked ``not judgeable``, never run.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product
from pathlib import Path
from typing import Any, TypeGuard

import yaml

from regatta.own_suite.cases import Draft, Skipped, as_message, at, conversation, listed, plain, printable
from regatta.own_suite.suite_files import RECORDS, SuiteFile, decoded, file_bytes, read_file
from regatta_lib.base import ContractError, ParameterError, as_written

CODE = {"javascript", "python", "ruby", "webhook"}
CODE_FILES = (".js", ".cjs", ".mjs", ".ts", ".py", ".rb")
UNREADABLE = {"latency", "cost", "perplexity", "perplexity-score", "assert-set"}
RUBRICS = {"llm-rubric", "g-eval", "model-graded-closedqa", "factuality", "model-graded-factuality"}
CONTENT = {"contains", "contains-all", "contains-any", "icontains", "icontains-all", "icontains-any", "equals", "regex"}
SHAPES = {f"{verb}-{kind}" for verb in ("is", "contains") for kind in ("html", "json", "sql", "xml")}
SCORE_ASSERTIONS = {
    "similar",
    "levenshtein",
    "bleu",
    "rouge-n",
    "classifier",
    "moderation",
    "pi",
    "guardrails",
    "search-rubric",
}
ANSWER_ASSERTIONS = {"starts-with", "is-refusal", "answer-relevance", "conversation-relevance", "select-best"}
CONTEXTS = {"context-faithfulness", "context-recall", "context-relevance"}
ASSERTION_ALIASES = {"fn": "javascript", "eval": "javascript", "grade": "llm-rubric"}
TYPES = (
    CODE
    | UNREADABLE
    | RUBRICS
    | CONTENT
    | SHAPES
    | SCORE_ASSERTIONS
    | ANSWER_ASSERTIONS
    | CONTEXTS
    | ASSERTION_ALIASES.keys()
)
PREFIXED = re.compile(r"(?P<negated>not-)?(?P<type>[a-z-]+)(\([^)]*\))?(:\s*(?P<value>.*))?", re.S)
OWN_COLUMNS = ("__expected", "__description", "__metadata:", "__metric", "__threshold", "__prefix", "__suffix", "__config:")
VARIABLE = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")


def is_promptfoo(file: SuiteFile) -> bool:
    """Whether the file has promptfoo's structure."""
    return (
        bool({"prompts", "providers", "tests", "defaultTest"} & file.document.keys())
        or any(name.startswith(OWN_COLUMNS) for name in file.header)
        or any(isinstance(row, dict) and "vars" in row for _, row in file.rows)
    )


def rows_of(file: SuiteFile, folder: Path) -> Iterator[tuple[SuiteFile, int, object]]:
    """The tests of a file and of the files it refers to: (file, line, record). A Skipped stands for one that is none."""
    tests = file.document.get("tests")
    for line, row in file.rows or ([(1, tests)] if tests else []):
        if isinstance(row, dict) and "vars" not in row and isinstance(row.get("path"), str):
            row = row["path"]
        if not isinstance(row, str):
            yield file, line, row
            continue
        try:
            found = referred(folder, row)
        except Skipped as problem:
            yield file, line, problem
            continue
        for path in found:
            try:
                inner = _tests_in(folder, path)
            except (Skipped, ContractError, OSError) as problem:
                yield file, line, Skipped(str(problem))
                continue
            yield from ((inner, number, inner_row) for number, inner_row in inner.rows)
            yield from ((inner, number, Skipped(reason)) for number, reason in inner.broken)


def _tests_in(folder: Path, path: Path) -> SuiteFile:
    """A file of tests. Raises Skipped if it is not below ``folder`` or holds none, ContractError if it is unreadable."""
    file = read_file(_below(folder, path))
    if not (file.rows or file.broken):
        raise Skipped(f"{path}: 0 tests, expected at least 1")
    return file


def _below(folder: Path, path: Path) -> Path:
    """The path itself. Raises Skipped if it leads out of ``folder``."""
    root = folder.resolve()
    if not path.resolve().is_relative_to(root):
        raise Skipped(f"{path.relative_to(root).as_posix()!r} is not below the suite's folder: not read")
    return path


def referred(folder: Path, reference: str) -> list[Path]:
    """The files that a reference or pattern names. Raises Skipped for code, an address, or what names no file.

    A link may still lead out of ``folder``: open what is found through ``_below`` only.
    """
    name = reference.removeprefix("file://")
    if "://" in name:
        raise Skipped(f"{reference!r} is an address: not opened")
    if re.search(rf"({'|'.join(map(re.escape, CODE_FILES))})(:\w+)?$", name):
        raise Skipped(f"{reference!r} is code: not run")
    root = folder.resolve()
    relative = Path(name)
    if relative.is_absolute() or ".." in relative.parts:
        raise Skipped(f"{reference!r} is not below the suite's folder: not read")
    if "*" in name:
        found = sorted(islice((path for path in root.glob(name) if not path.is_dir()), RECORDS + 1))
    else:
        found = [_below(folder, root / relative)]
    if len(found) > RECORDS:
        raise Skipped(f"{reference!r} names more than {RECORDS:,} files: not read")
    if not found or not ("*" in name or found[0].is_file()):
        raise Skipped(f"{reference!r} names no file")
    return found


def file_value(folder: Path, value: object) -> object:
    """The text of the file that a value refers to, or the value. Raises Skipped as ``referred`` does."""
    if not (isinstance(value, str) and value.startswith("file://")):
        return value
    path = _below(folder, referred(folder, value)[0])
    try:
        return decoded(path, file_bytes(path))
    except ContractError as error:
        raise Skipped(f"{value!r}: {str(error).removeprefix(f'{path}: ')}") from None


def defaults(file: SuiteFile, folder: Path) -> dict[str, Any]:
    """The test from which all others take what they do not say."""
    given = file.document.get("defaultTest") or {}
    if isinstance(given, str):
        try:
            given = as_written(str(file_value(folder, given)))[0]
        except (Skipped, yaml.YAMLError) as problem:
            raise ContractError(f"{file.path}: defaultTest: {' '.join(str(problem).split())}") from None
    if not isinstance(given, dict):
        raise ContractError(f"{file.path}: defaultTest: found {str(given)[:60]!r}, expected an object")
    return given


def as_test(row: object, syntax: str) -> dict[str, Any]:
    """A record as a test; a row of a CSV file is turned into one. Raises Skipped if it is none."""
    if isinstance(row, Skipped):
        raise row
    if not isinstance(row, dict):
        raise Skipped(f"found {str(row)[:60]!r}, expected an object")
    if syntax != "csv":
        return row
    tags = at(row, "__metadata:tags[]") or at(row, "__metadata:tags")
    return {
        "vars": {name: value for name, value in row.items() if not name.startswith("__")},
        "assert": [_from_cell(row[name]) for name in row if name.startswith("__expected") and plain(row[name])],
        "description": row.get("__description"),
        "metadata": {"tags": list(listed(tags))},
    }


def _from_cell(text: str) -> dict[str, Any]:
    """The assertion of a cell: ``llm-rubric: …``, ``similar(0.8): …``, or without a known prefix an equality."""
    found = PREFIXED.fullmatch(text.strip())
    kind = found["type"] if found else ""
    if not found or kind not in TYPES or (found["value"] is None and not kind.startswith("is-")):
        return {"type": "equals", "value": text}
    return {"type": f"{found['negated'] or ''}{ASSERTION_ALIASES.get(kind, kind)}", "value": found["value"] or ""}


def input_variable(file: SuiteFile, tests: list[dict[str, Any]], folder: Path) -> str:
    """The variable that is the user's message: the only one, or the only one in the user's part of the prompts.

    Raises ContractError, listing the variables, if that leaves none or several.
    """
    names = dict.fromkeys(name for test in tests if isinstance(test.get("vars"), dict) for name in test["vars"])
    prompts = file.document.get("prompts") or []
    texts = [_user_part(folder, prompt) for prompt in (prompts if isinstance(prompts, list) else [prompts])]
    used = {name for text in texts for name in VARIABLE.findall(text)}
    chosen = [name for name in names if name in used] if len(names) > 1 else list(names)
    if tests and len(chosen) != 1:
        raise ParameterError(
            f"{file.path}: which variable is the user's message? found {printable(', '.join(names)) or 'none'}; "
            "say it by a mapping input=NAME",
            "mapping",
        )
    return "".join(chosen)


def _user_part(folder: Path, prompt: object) -> str:
    prompt = (prompt.get("raw") or prompt.get("id")) if isinstance(prompt, dict) else prompt
    try:
        text = plain(file_value(folder, prompt))
    except Skipped:
        return ""
    return "\n".join(turn.content for turn in conversation(text) if turn.role == "user") or text


def drafts(test: dict[str, Any], default: dict[str, Any], variable: str, folder: Path) -> list[Draft]:
    """The cases of one test: one for each combination where a variable is a list of texts. Raises Skipped."""
    own, common = test.get("vars") or {}, default.get("vars") or {}
    if not (isinstance(own, dict) and isinstance(common, dict)):
        raise Skipped(f"vars: found {str(own)[:60]!r}, expected an object")
    variables: dict[str, Any] = {name: file_value(folder, value) for name, value in (common | own).items()}
    several = [name for name, value in variables.items() if _choices(value)]
    combinations = list(islice(product(*(variables[name] for name in several)), RECORDS + 1))
    if len(combinations) > RECORDS:
        raise Skipped(f"more than {RECORDS:,} combinations of its variables")
    about = test.get("metadata")
    tags = listed(about.get("tags")) if isinstance(about, dict) else ()
    asserted = [*_list(default.get("assert")), *_list(test.get("assert"))]
    made = []
    for values in combinations:
        chosen = variables | dict(zip(several, values, strict=True))
        lines = [line for assertion in asserted for line in expectation(assertion, chosen, folder)]
        marked = [line.startswith("not judgeable") for line in lines]
        value = at(chosen, variable.removeprefix("vars."))
        turns = conversation(value)
        message, notes = as_message(turns) if turns else (plain(value), [])
        if any(marked):
            notes = [*notes, "only assertions that are not judgeable" if all(marked) else "some assertions not judgeable"]
        draft = Draft(message, "\n".join(lines), "", plain(test.get("description")), turns, tags)
        made.append(replace(draft, notes=notes, part=list(values) or None))
    return made


def _choices(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def expectation(assertion: object, variables: dict[str, Any], folder: Path) -> list[str]:
    """An assertion as lines a judge can read; those in code or about time and price are marked ``not judgeable``."""
    if not isinstance(assertion, dict):
        return [f"not judgeable: {plain(assertion)}"]
    kind = plain(assertion.get("type"))
    base = kind.removeprefix("not-")
    if base == "assert-set":
        return [line for inner in _list(assertion.get("assert")) for line in expectation(inner, variables, folder)]
    value = assertion.get("value", assertion.get("threshold") if base in UNREADABLE else None)
    try:
        value = file_value(folder, value)
    except Skipped as problem:
        return [f"not judgeable ({kind}): {problem}"]
    value = ", ".join(value) if _choices(value) else plain(value)
    value = VARIABLE.sub(lambda found: plain(variables.get(found[1], found[0])), value)
    if base in CODE or base not in TYPES or base in UNREADABLE:
        return [f"not judgeable ({kind}): {value}"]
    return [value if kind in RUBRICS else f"{kind}: {value}".removesuffix(": ")]
