"""Verification: everything published is recomputed from the record and compared, value by value and file by file.

Needs neither DVC nor git nor a network. Nothing passes by being absent: a missing file, an empty table or a value
that can't be recomputed is a failed check.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from math import isclose
from pathlib import Path
from typing import Literal

import pandas as pd
from pydantic.dataclasses import dataclass as validated

from regatta_lib import instruments, measures, stats
from regatta_lib.base import LAZY, Contract, ContractError, csv_text, file_text, read_manifest, read_params, sha256
from regatta_lib.reproduce import published, reference
from regatta_lib.reproduce.published import RECONSTRUCTED_TABLE
from regatta_lib.reproduce.reference import REFERENCE_TABLE
from regatta_lib.reproduce.stages import pipeline_outputs


@validated(frozen=True, config=LAZY)
class CheckResult:
    """One row of the verification report: what was expected, what was recomputed, and whether they agree."""

    key: str
    expected: str
    recomputed: str
    status: Literal["passed", "failed"]


CHECK_TABLE = Contract(CheckResult, ("key",))

PINS = "data/reference/SHA256SUMS"
PINNED_FOLDERS = ("data/instruments", "data/record", "data/reference")
GROUPS = {
    "sha256": "pinned files",
    "reference": "reference values",
    "published": "printed figures",
    "reconstructed": "reconstructed tables",
    "output": "outputs",
}
PINNED_INPUTS = {"data/consistency/claims.csv", "data/validity/areas.csv"}
TEXT_SUFFIXES = (".csv", ".jsonl", ".md", ".tex", ".yaml", ".svg")
MADE_LATER = ("data/verification/", "paper/", "dvc.lock")
TOLERANCE = 1e-14
NOTHING = "nothing"


@dataclass(frozen=True)
class Check:
    """One comparison. ``source`` says where the expected value comes from."""

    group: str
    key: str
    expected: str
    found: str
    source: str
    passed: bool

    def __str__(self) -> str:
        return f"{self.group} {self.key}: expected {self.expected}, found {self.found} ({self.source})"


def _compare(group: str, key: str, expected: str, found: str, source: str) -> Check:
    return Check(group, key, expected, found, source, expected == found)


def in_pinned_folders(root: Path) -> set[str]:
    """Every file below the folders of which all is pinned, but hidden files and the manifest of the pins itself."""
    below = (path for folder in PINNED_FOLDERS for path in (root / folder).rglob("*"))
    names = {path.relative_to(root).as_posix() for path in below if path.is_file() and path.name[0] != "."}
    return names - {PINS}


def pinned_files(root: Path) -> Iterator[Check]:
    """Every file that SHA256SUMS lists has the digest it lists, and everything that must be listed is.

    That is every file below the pinned folders, the two inputs made by hand, and every output of the pipeline but those
    made after this check.
    """
    listed = read_manifest(root / PINS)
    due = in_pinned_folders(root) | PINNED_INPUTS
    due |= {name for name in pipeline_outputs(root) if not name.startswith(MADE_LATER)}
    for name in sorted(listed.keys() | due):
        content = (root / name).read_bytes() if (root / name).is_file() else None
        found = "no such file" if content is None else sha256(content)
        if content and b"\r\n" in content and name.endswith(TEXT_SUFFIXES):
            found += " with CRLF line ends; a checkout that converts line ends changes every digest"
        yield _compare("sha256", name, listed.get(name, "not listed"), found, PINS)


def recompute(root: Path) -> dict[str, pd.DataFrame]:
    """The whole chain from the record to the tables: verdicts, scores, pairs, table1 to table4, figure2, and inputs.

    The source audit is read, not derived again: its digest is pinned, and the stage ``instruments`` derives it.

    Raises ContractError where an input breaks its contract.
    """
    params = read_params(root / "params.yaml").base
    bootstrap = stats.Bootstrap(params.seed, params.resamples, params.level)
    index = instruments.INDEX_TABLE.read(root / "data/instruments/index.csv")
    audited = instruments.AUDIT_TABLE.read(root / "data/instruments/audit.csv")
    record = measures.read_record(root / "data/record")
    replayed = measures.replay_record(record)
    suites = measures.suite_scores(replayed)
    pairs = measures.stage_pairs(replayed, index)
    resampled = measures.resampled_counts(pairs, bootstrap)
    return {
        "index": index,
        "audit": audited,
        "suites": record["suites"],
        "verdicts": replayed,
        "scores": suites,
        "pairs": pairs,
        "table1": measures.table1(index, audited),
        "table2": measures.table2(pairs),
        "table3": measures.table3(pairs, resampled, params.level),
        "table4": measures.table4(suites),
        "figure2": measures.stage_difference(pairs, resampled, params.level),
    }


def recompute_figures(frames: dict[str, pd.DataFrame]) -> tuple[dict[str, float], dict[str, float]]:
    """The reference values and the printed figures that follow from the frames of ``recompute``, each {key: number}."""
    values = reference.reference_numbers(*(frames[name] for name in ("scores", "pairs", "table2", "table3", "table4")))
    figures = (
        published.design_constants(frames["index"], frames["suites"])
        | published.difficulty_figures(measures.item_difficulty(frames["verdicts"], frames["index"]))
        | published.profile_figures(frames["pairs"], frames["table2"])
        | published.agreement_figures(frames["table3"])
        | published.separation_figures(frames["scores"])
        | {"availability/reference_values": len(values)}
    )
    return values, figures


def reference_values(root: Path, recomputed: dict[str, float]) -> Iterator[Check]:
    """The 2,835 pinned values against the recomputed ones, to a relative 1e-14: only the order of summation may differ."""
    pinned = reference.read_reference_values(root / "data/reference")
    for key, value, source in zip(pinned["key"], pinned["value"], pinned["source"], strict=True):
        found = recomputed.get(key)
        passed = found is not None and isclose(found, value, rel_tol=TOLERANCE, abs_tol=TOLERANCE / 10)
        yield Check("reference", key, repr(value), NOTHING if found is None else repr(found), source, passed)
    for key in sorted(recomputed.keys() - set(pinned["key"])):
        yield Check("reference", key, NOTHING, repr(recomputed[key]), "recomputed, but not pinned", False)


def published_values(root: Path, recomputed: dict[str, float]) -> Iterator[Check]:
    """The printed figures that the record determines, each at its printed precision."""
    pinned = reference.read_published_values(root / "data/reference").query("status == 'recomputed'")
    for key, printed, place in zip(pinned["key"], pinned["printed"], pinned["place"], strict=True):
        found = recomputed.get(key)
        passed = found is not None and published.agrees(printed, found)
        yield Check("published", key, printed, NOTHING if found is None else repr(float(found)), place, passed)
    for key in sorted(recomputed.keys() - set(pinned["key"])):
        yield Check("published", key, NOTHING, repr(float(recomputed[key])), "recomputed, but not pinned as such", False)


def reconstructed(root: Path) -> Iterator[Check]:
    """The tables consistent with the printed agreements: the pinned list against a fresh enumeration."""
    path = root / "data/reference/reconstructed_tables.csv"
    printed = reference.printed_figures(root / "data/reference")
    ordered = published.reconstructed_tables(printed).sort_values(list(RECONSTRUCTED_TABLE.key))
    fresh = ordered[RECONSTRUCTED_TABLE.columns]
    pinned = RECONSTRUCTED_TABLE.read(path)
    yield from _row_checks(
        "reconstructed", path.name, csv_text(fresh), csv_text(pinned), "enumeration of published.reconstructed_tables"
    )


def output_texts(root: Path, frames: dict[str, pd.DataFrame]) -> dict[str, str]:
    """The committed text outputs that follow from the record and the instruments alone, {path below the root: text}."""
    shares = instruments.audit_shares(frames["audit"], reference.printed_figures(root / "data/reference"))
    texts = {
        "figures/audit.csv": csv_text(shares.sort_values(["cell", "audit_class"])),
        "data/verdicts/historical.csv": csv_text(frames["verdicts"]),
        "data/scores/historical.csv": csv_text(frames["scores"]),
        "figures/figure2.csv": csv_text(frames["figure2"]),
    }
    for name in ("table1", "table2", "table3", "table4"):
        texts[f"data/tables/{name}.csv"] = csv_text(frames[name])
        texts[f"data/tables/{name}.tex"] = measures.latex(frames[name])
    return texts


def outputs(root: Path, frames: dict[str, pd.DataFrame]) -> Iterator[Check]:
    """Each committed text output against its recomputed text, byte for byte."""
    for name, expected in output_texts(root, frames).items():
        yield from _row_checks(
            "output", name, expected, file_text(root / name), "recomputed from the record and the instruments"
        )


def _row_checks(group: str, name: str, expected: str, found: str, source: str) -> Iterator[Check]:
    """One check for a text that agrees; otherwise one per differing row, the end of the last line included."""
    if expected == found:
        yield Check(group, name, f"{expected.count(chr(10)):,} rows", f"{found.count(chr(10)):,} rows", source, True)
        return
    lines = zip_longest(expected.split("\n"), found.split("\n"), fillvalue="no row")
    for number, (wanted, line) in enumerate(lines, start=1):
        if wanted != line:
            yield Check(group, f"{name} row {number}", wanted, line, source, False)


def verify(root: Path) -> list[Check]:
    """Run all checks on the repository or archive at ``root``. An unreadable input is itself a failed check."""
    checks: list[Check] = []

    def run(group: str, producer: Callable[[], Iterator[Check]]) -> None:
        try:
            checks.extend(producer())
        except ValueError as error:
            checks.append(Check(group, f"input {len(checks)}", "a readable input", str(error), "file contract", False))

    values: dict[str, float] = {}
    figures: dict[str, float] = {}
    run("sha256", lambda: pinned_files(root))
    try:
        frames = recompute(root)
    except ContractError as error:
        checks.append(Check("output", "record", "a readable input", str(error), "file contract", False))
    else:
        values, figures = recompute_figures(frames)
        run("output", lambda: outputs(root, frames))
    run("reference", lambda: reference_values(root, values))
    run("published", lambda: published_values(root, figures))
    run("reconstructed", lambda: reconstructed(root))
    return checks


def summary(checks: list[Check]) -> list[str]:
    """What the verifier prints: each failure, the counts per group, and how many reference values were reproduced."""
    lines = [f"FAILED {check}" for check in checks if not check.passed]
    lines.append(f"{'group':24}{'checked':>9}{'passed':>9}{'failed':>9}")
    for group, title in GROUPS.items():
        own = [check.passed for check in checks if check.group == group]
        lines.append(f"{title:24}{len(own):9,}{sum(own):9,}{len(own) - sum(own):9,}")
    values = [check.passed for check in checks if check.group == "reference"]
    expected = REFERENCE_TABLE.count or 0
    lines.append(f"{sum(values)} of {max(expected, len(values))} reference values reproduced")
    return lines


def succeeded(checks: list[Check]) -> bool:
    """True only if every group ran at least one check, all 2,835 values were compared, and nothing failed."""
    ran = {check.group for check in checks}
    values = sum(check.group == "reference" for check in checks)
    return ran == set(GROUPS) and values == REFERENCE_TABLE.count and all(check.passed for check in checks)


def report_rows(checks: list[Check]) -> pd.DataFrame:
    """The checks as the rows of ``data/verification/report.csv``: key, expected, recomputed, status."""
    rows = [
        {
            "key": f"{check.group}/{check.key}",
            "expected": check.expected,
            "recomputed": check.found,
            "status": "passed" if check.passed else "failed",
        }
        for check in checks
    ]
    return pd.DataFrame(rows)


def metrics(checks: list[Check]) -> dict[str, dict[str, int]]:
    """Counts per group for ``dvc metrics show``: {group: {checked, passed}}."""
    return {
        group: {
            "checked": sum(check.group == group for check in checks),
            "passed": sum(check.group == group and check.passed for check in checks),
        }
        for group in GROUPS
    }
