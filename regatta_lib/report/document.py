"""The report's numbers and its PDF. Every digit in the prose of ``paper/report.typ`` comes from a file of results.

A number is a cell of a table, or a count of its rows. It carries its text, as printed, and its source, as the report's
appendix states it. ``paper/numbers.json`` holds them all; an unknown key stops the build.
"""

import csv
import io
import json
import re
from collections import Counter
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

from regatta_lib.base import CELLS, FAULT_CATEGORIES, GENERATORS, STRATEGIES, ContractError, file_text

REPORT_SOURCE = "paper/report.typ"
RELEASED = 1_795_996_800
"""The PDF's time stamp in seconds since 1970, fixed so that the same numbers give the same bytes: 2026-11-30."""

STANDARDS = ["a-2a", "ua-1"]
"""PDF/A for archives, PDF/UA for screen readers: the compiler refuses a figure without a description."""

SIGNIFICANT = 0.05
P_VALUES = ("p", "p_adjusted", "mcnemar_p", "permutation_p")
INTERVALS = [f"{kind}_{side}" for kind in ("ci", "percentile", "basic", "bca") for side in ("low", "high")]
AGREEMENTS = ("agreement", "pooled_chance", "per_fault_chance", "per_fault_margin", "pooled_margin")
BOOTSTRAP_SHARES = ("top_order", "bottom_pair", "both")
DIGITS = dict.fromkeys(("mean", "calls", "slope", "position"), 1) | dict.fromkeys(
    (*P_VALUES, *INTERVALS, *AGREEMENTS, *BOOTSTRAP_SHARES), 3
)
"""Decimals by column; all others have two."""

PUBLISHED = "data/reference/published_values.csv"


@dataclass(frozen=True)
class Quoted:
    """A number as printed, and where it stands: file, row, column."""

    text: str
    source: str


@dataclass(frozen=True)
class Table:
    """A CSV file whose numeric cells can be quoted as ``prefix/<key values>/<column>``.

    ``digits`` overrides the decimals of a column; with ``counts``, whole numbers above one are counts stored as floats.
    ``blank`` is what an empty cell is quoted as; without it, empty cells can't be quoted.
    """

    prefix: str
    path: str
    key: tuple[str, ...]
    counts: bool = False
    digits: tuple[tuple[str, int], ...] = ()
    blank: str | None = None


@dataclass(frozen=True)
class Tally:
    """Rows of a CSV file counted by the values of ``columns``: ``prefix/<values>``; with no columns, all rows."""

    prefix: str
    path: str
    columns: tuple[str, ...] = ()


QUOTED_TABLES = (
    Table("table1", "data/tables/table1.csv", ("cell",)),
    Table("table2", "data/tables/table2.csv", ("generator", "category")),
    Table("table3", "data/tables/table3.csv", ("generator",)),
    Table("table3x", "data/tables/table3_extended.csv", ("generator",)),
    Table("table4", "data/tables/table4.csv", ("generator", "strategy")),
    Table("figure2", "figures/figure2.csv", ("generator", "category")),
    Table("audit_agreement", "data/instruments/agreement.csv", ("scope", "of"), digits=(("ci_low", 2), ("ci_high", 2))),
    Table("audit_share", "figures/audit.csv", ("cell", "audit_class")),
    Table("v1", "data/validity/difficulty.csv", ("statistic",), counts=True),
    Table("areas", "data/validity/area_test.csv", ("group",)),
    Table("v2", "data/validity/stability.csv", ("generator",)),
    Table("flips", "data/validity/flips.csv", ("generator", "boundary")),
    Table("v4", "data/validity/separation.csv", ("generator", "measure")),
    Table("stages", "data/agreement/stages.csv", ("generator",)),
    Table("cost", "data/cost/summary.csv", ("generator", "calls")),
    Table("quality", "data/cost/quality.csv", ("stage", "quality"), digits=(("low", 1), ("high", 1))),
    Table("by_detected", "data/cost/by_detected.csv", ("stage", "detected")),
)
PILOT_TABLE = Table("pilot", "data/pilot/summary.csv", ("quantity",), counts=True, blank="undefined")
"""Quoted if the file is there: a study with arms needs a model behind it, the rest of the report does not."""

TALLIES = (
    Tally("published", PUBLISHED, ("status",)),
    Tally("published_kind", PUBLISHED, ("kind",)),
    Tally("published_all", PUBLISHED),
    Tally("audit", "data/instruments/audit.csv", ("role", "audit_class")),
    Tally("second", "data/instruments/audit.csv", ("role", "second_class")),
    Tally("ground_truth", "data/instruments/audit.csv", ("role", "ground_truth")),
    Tally("confidence", "data/instruments/audit.csv", ("confidence",)),
    Tally("auditors_agree", "data/instruments/audit.csv", ("agreed",)),
    Tally("audit_all", "data/instruments/audit.csv"),
    Tally("consistency", "data/consistency/results.csv", ("verdict",)),
    Tally("reconstruction", "data/agreement/reconstruction.csv", ("matches",)),
    Tally("reconstruction_all", "data/agreement/reconstruction.csv"),
    Tally("reconstructed", "data/reference/reconstructed_tables.csv", ("claim",)),
    Tally("intervals", "data/validity/margin_intervals.csv", ("generator", "includes_zero")),
    Tally("intervals_of", "data/validity/margin_intervals.csv", ("generator",)),
    Tally("extremes", "data/validity/items.csv", ("cell", "covered")),
    Tally("suites", "data/record/suites.csv", ("generator", "strategy")),
    Tally("record/coverage", "data/record/coverage.csv"),
    Tally("record/faults", "data/record/faults.csv"),
    Tally("record/specificity", "data/record/specificity.csv"),
    Tally("record/adversarial", "data/record/adversarial.csv"),
)


def rows(root: Path, path: str) -> list[dict[str, str]]:
    """The rows of a CSV file as texts. Raises ContractError if it is missing or empty."""
    read = list(csv.DictReader(io.StringIO(file_text(root / path), newline="")))
    if not read:
        raise ContractError(f"{root / path}: 0 rows, expected at least 1")
    return read


def rounded(text: str, digits: int) -> str:
    """A number in decimal text with so many decimals, halves away from zero, as in the tables of the report (style.typ)."""
    return f"{Decimal(text).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP) + 0:f}"


def as_printed(text: str, column: str, digits: dict[str, int] = DIGITS, counts: bool = False) -> str | None:
    """A cell as it is printed: counts with commas, rates with the decimals of their column, None for a text."""
    try:
        value = float(text)
    except ValueError:
        return None
    if re.fullmatch(r"-?\d+", text) or (counts and value.is_integer() and value > 1):
        printed = f"{int(value):,}"
    elif column in P_VALUES and value < 0.001:
        printed = "< 0.001"
    else:
        printed = rounded(text, digits.get(column, 2))
    return printed.replace("-", "\N{MINUS SIGN}")


def _key(*parts: str) -> str:
    return "/".join(re.sub(r"[^A-Za-z0-9./]+", "_", part).strip("_") for part in parts)


def cells(root: Path, table: Table) -> dict[str, Quoted]:
    """Every numeric cell of a table under its key."""
    found: dict[str, Quoted] = {}
    for row in rows(root, table.path):
        names = [row[column] for column in table.key]
        for column in row.keys() - set(table.key):
            printed = (
                as_printed(row[column], column, DIGITS | dict(table.digits), table.counts) if row[column] else table.blank
            )
            if printed is not None:
                place = f"{table.path}: {', '.join(names)}: {column}"
                found[f"{table.prefix}/{_key(*names, column)}"] = Quoted(printed, place)
    return found


def tallies(root: Path, tally: Tally) -> dict[str, Quoted]:
    """The numbers of rows of a table by the values of some columns; rows with an empty value are left out."""
    counted = Counter(tuple(row[column] for column in tally.columns) for row in rows(root, tally.path))
    found = {}
    for values, count in counted.items():
        if all(values):
            where = ", ".join(f"{column} = {value}" for column, value in zip(tally.columns, values, strict=True))
            source = f"{tally.path}: rows where {where}" if where else f"{tally.path}: rows"
            found["/".join([tally.prefix, *(_key(value) for value in values)])] = Quoted(f"{count:,}", source)
    return found


def printed_values(root: Path) -> dict[str, Quoted]:
    """The figures that the original paper prints, as it prints them: ``printed/<key>``."""
    return {
        f"printed/{row['key']}": Quoted(
            row["printed"].replace("-", "\N{MINUS SIGN}"), f"{PUBLISHED}: {row['key']} ({row['status']})"
        )
        for row in rows(root, PUBLISHED)
    }


def settings(root: Path, resamples: int, level: float) -> dict[str, Quoted]:
    """Counts of checks, how intervals are made, and the names of what is studied."""
    path = "data/verification/metrics.json"
    found = {
        f"checks/{group}/{kind}": Quoted(f"{count:,}", f"{path}: {group}: {kind}")
        for group, counts in json.loads(file_text(root / path)).items()
        for kind, count in counts.items()
    }
    found["params/resamples"] = Quoted(f"{resamples:,}", "params.yaml: base.resamples")
    found["params/level"] = Quoted(f"{level:.0%}".replace("%", "\N{NO-BREAK SPACE}%"), "params.yaml: base.level")
    names = GENERATORS | STRATEGIES | CELLS | FAULT_CATEGORIES
    return found | {f"name/{name}": Quoted(title, f"regatta_lib/base/records.py: {name}") for name, title in names.items()}


def derived(root: Path) -> dict[str, Quoted]:
    """Counts that need more than one column: each says in its source how it is made."""
    tests, audit, items = "data/validity/mcnemar.csv", "data/instruments/audit.csv", "data/validity/items.csv"
    rebuilt = "data/agreement/reconstruction.csv"
    mcnemar = rows(root, tests)
    raw, adjusted = (sum(float(row[p]) < SIGNIFICANT for row in mcnemar) for p in ("p", "p_adjusted"))
    decided = [row for row in rows(root, audit) if row["agreed"] == "no"]
    rechecked = [row for row in rows(root, audit) if row["recheck_class"]]
    changed = [row for row in rechecked if row["recheck_class"] != (row["adjudicated_class"] or row["first_class"])]
    later = [row for row in decided if row["adjudicated_class"] == row["listed_last"]]
    never = max(float(row["high"]) for row in rows(root, items) if row["covered"] == "0")
    tables = {tuple(row[count] for count in ("n11", "n10", "n01", "n00")) for row in rows(root, rebuilt)}
    found = {
        "mcnemar/tests": (len(mcnemar), f"{tests}: rows"),
        "mcnemar/line": (SIGNIFICANT, "regatta_lib/report/document.py: SIGNIFICANT"),
        "mcnemar/raw": (raw, f"{tests}: rows with p below the line"),
        "mcnemar/adjusted": (adjusted, f"{tests}: rows with p_adjusted below the line"),
        "audit/adjudicated_later": (len(later), f"{audit}: agreed = no, adjudicated_class the one in listed_last"),
        "audit/rechecked": (len(rechecked), f"{audit}: rows with a recheck_class"),
        "audit/rechecked_disputed": (sum(row in decided for row in rechecked), f"{audit}: rechecked rows where agreed = no"),
        "audit/recheck_changed": (len(changed), f"{audit}: recheck_class unlike adjudicated_class, or first_class without"),
        "never_covered/high": (f"{never:.2f}", f"{items}: covered = 0: high"),
        "reconstruction/tables": (len(tables), f"{rebuilt}: different n11, n10, n01, n00"),
    }
    separated = rows(root, separation := "data/validity/separation.csv")
    detection = [float(row["p_adjusted"]) for row in separated if row["measure"] in ("fdr_design", "fdr_execution")]
    place = f"{separation}: fdr_design, fdr_execution: rows"
    null = next(column for column in separated[0] if re.fullmatch(r"null_\d+", column))
    found["v4/null_level"] = (f"{null[5:]}\N{NO-BREAK SPACE}%", f"{separation}: name of the column {null}")
    found["separating/detection_of"] = (len(detection), place)
    found["separating/detection"] = (sum(p < SIGNIFICANT for p in detection), f"{place} with p_adjusted below the line")
    for row in rows(root, quality := "data/cost/quality.csv"):
        if row["quality"] == "faults detected":
            source = f"{quality}: {row['stage']}, faults detected: slope, sign turned"
            found[f"saved/{row['stage']}"] = (f"{-float(row['slope']):.1f}", source)
    return {key: Quoted(str(value), source) for key, (value, source) in found.items()}


def fewest(root: Path) -> dict[str, Quoted]:
    """The least number of executions of each pair, and of pairs left out, that could give the printed retest agreement.

    Both with their counts; without those of a kind of reading of which none fits.
    """
    found, path = {}, "data/consistency/readings.csv"
    for kind in ("executions", "missing"):
        fitting = {int(row[kind]): row["counts"] for row in rows(root, path) if row[kind] and row["counts"]}
        if fitting:
            least = min(fitting)
            place = f"{path}: {kind} = {least}"
            found[f"readings/{kind}"] = Quoted(str(least), place)
            found[f"readings/{kind}_counts"] = Quoted(fitting[least], f"{place}: counts")
    return found


def numbers(root: Path, resamples: int, level: float) -> dict[str, Quoted]:
    """Everything that the report may quote, by key. ``resamples`` and ``level`` are those behind the intervals."""
    found = printed_values(root) | settings(root, resamples, level) | derived(root) | fewest(root)
    for table in (*QUOTED_TABLES, *([PILOT_TABLE] if (root / PILOT_TABLE.path).is_file() else [])):
        found |= cells(root, table)
    for tally in TALLIES:
        found |= tallies(root, tally)
    return dict(sorted(found.items()))


def numbers_text(found: dict[str, Quoted]) -> str:
    """The text of ``paper/numbers.json``: {key: {text, source}}, sorted by key."""
    return json.dumps({key: vars(number) for key, number in found.items()}, ensure_ascii=False, indent=1) + "\n"


def pdf(root: Path) -> bytes:
    """The report as PDF, from the sources and results below ``root``. The same files give the same bytes.

    Only the fonts inside the typst package are used. Raises ContractError, with the compiler's message, for an unknown
    key, a missing file or an error in the source.
    """
    import typst

    try:
        return typst.compile(  # type: ignore[call-overload, no-any-return]  # wants each standard as a literal
            root / REPORT_SOURCE,
            root=root,
            format="pdf",
            ignore_system_fonts=True,
            font_paths=[],
            timestamp=RELEASED,
            pdf_standards=STANDARDS,
        )
    except typst.TypstError as error:
        raise ContractError(f"{root / REPORT_SOURCE}: {' '.join(str(error).split())}") from None
