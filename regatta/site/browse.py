"""What the site's browsers and its first page show: reference values with their formulas and cells, items, key numbers."""

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd

from regatta_lib.base import cell_of, file_text, read_params
from regatta_lib.instruments import AUDIT_TABLE, INDEX_TABLE
from regatta_lib.measures import FAULT_TABLE, SCORE_TABLE, SUITE_TABLE
from regatta_lib.reproduce import CHECK_TABLE, read_published_values, read_reference_values

FORMULAS = {
    "rc": (
        r"RC(S) = \frac{1}{|R|} \sum_{r \in R} \max_{s \in S}\, \mathrm{covers}(s, r)",
        "share of the cell's 25 requirements",
    ),
    "fdr_design": (
        r"FDR_d(S) = \frac{1}{|F|} \sum_{f \in F} \max_{s \in S}\, \mathrm{would\_expose}(s, f)",
        "share of the cell's 5 faults, judged on the scenario",
    ),
    "fdr_execution": (
        r"FDR_e(S) = \frac{1}{|F|} \sum_{f \in F} \max_{s \in S}\, \mathrm{exposed}(s, y_{fs}, f)",
        "share of the cell's 5 faults, judged on the agent's answer y",
    ),
    "iss": (r"ISS(S) = \frac{1}{|S|} \sum_{s \in S} \mathrm{specificity}(s)", "mean score of 30 scenarios, 1 to 5"),
    "ac": (r"AC(S) = \frac{1}{6} \sum_{c} \max_{s \in S}\, \mathrm{attacks}(s, c)", "share of 6 adversarial categories"),
    "design": (r"\max_{s \in S}\, \mathrm{would\_expose}(s, f)", "1 if any scenario of the suite would expose the fault"),
    "execution": (r"\max_{s \in S}\, \mathrm{exposed}(s, y_{fs}, f)", "1 if any answer of the agent exposed the fault"),
    "table2": (
        r"\frac{1}{n} \sum_{(S, f)} \mathrm{detected}(S, f)",
        "share of the generator's pairs of a suite and the fault of this category",
    ),
    "n11": (r"n_{11}", "pairs of a suite and a fault that both stages detect"),
    "n10": (r"n_{10}", "pairs that only the design stage detects"),
    "n01": (r"n_{01}", "pairs that only the execution stage detects"),
    "n00": (r"n_{00}", "pairs that neither stage detects"),
    "table3/fdr_design": (r"p_d = \frac{n_{11} + n_{10}}{n}", "share detected at the design stage"),
    "table3/fdr_execution": (r"p_e = \frac{n_{11} + n_{01}}{n}", "share detected at the execution stage"),
    "delta": (r"\Delta = p_d - p_e", "design minus execution"),
    "agreement": (r"\frac{n_{11} + n_{00}}{n}", "share of pairs on which the stages say the same"),
    "pooled_chance": (r"p_d\, p_e + (1 - p_d)(1 - p_e)", "agreement expected of independent stages"),
    "per_fault_margin": (
        r"\frac{1}{25} \sum_{f} (\mathrm{agreement}_f - \mathrm{chance}_f)",
        "agreement beyond chance, each fault by itself",
    ),
    "table4": (r"\frac{1}{n} \sum_{S} m(S)", "mean of the measure over the generator's suites under the strategy"),
    "cells": (r"\frac{1}{n} \sum_{S} RC(S)", "mean coverage over the generator's suites of the cell"),
}
TABLE_KEYS = {"table2": ["generator", "category"], "table3": ["generator"], "table4": ["generator", "strategy"]}

DECIMALS = 4
NUMERIC = re.compile(r"-?\d*\.?\d+(e[-+]?\d+)?", re.I)


def shown_column(values: list[str]) -> tuple[bool, list[str]]:
    """Whether a column of a CSV file is one of numbers, and its cells as a page shows them.

    Where a number has more than ``DECIMALS`` decimals, those of the column are rounded to as many (below that: two
    significant digits); a cell of numbers that is empty is an en dash. Other columns stay as they are.
    """
    given = [value for value in values if value]
    if not given or not all(NUMERIC.fullmatch(value) for value in given):
        return False, values
    long = any("e" in value.lower() or len(value.partition(".")[2]) > DECIMALS for value in given)
    return True, [_shortened(value) if long else value or "\N{EN DASH}" for value in values]


def _shortened(value: str) -> str:
    if not value:
        return "\N{EN DASH}"
    if re.fullmatch(r"-?\d+", value):
        return value
    number = float(value)
    return f"{number:.{DECIMALS}f}" if number == 0 or abs(number) >= 10**-DECIMALS else f"{number:.1e}"


def formula_of(key: str) -> str:
    """The entry of ``FORMULAS`` that a reference key is computed by."""
    kind, *_, last = key.split("/")
    if kind == "suite":
        return key.split("/")[2]
    if kind == "table3":
        return f"table3/{last}" if f"table3/{last}" in FORMULAS else last
    return kind


class Cells:
    """Finds the cell of a data file that holds a reference value."""

    def __init__(self, root: Path):
        self.files = {
            "scores": ("data/scores/historical.csv", SCORE_TABLE.read(root / "data/scores/historical.csv"), ["suite_id"]),
            "faults": (
                "data/record/faults.csv",
                FAULT_TABLE.read(root / "data/record/faults.csv"),
                ["suite_id", "fault_id", "stage"],
            ),
        }
        for name, keys in TABLE_KEYS.items():
            path = f"data/tables/{name}.csv"
            self.files[name] = (path, pd.read_csv(root / path), keys)
        self.rows = {
            name: {key: number for number, key in enumerate(frame[keys].itertuples(index=False, name=None), start=1)}
            for name, (_, frame, keys) in self.files.items()
        }
        index = INDEX_TABLE.read(root / "data/instruments/index.csv")
        faults = index[index["role"] == "fault"]
        self.fault = {(row.cell, row.category): row.item for row in faults.itertuples()}

    def place(self, name: str, row: tuple[object, ...], column: str) -> tuple[str, int, int]:
        """The path of a file, and the row and the column in it, both from 1."""
        path, frame, _ = self.files[name]
        return path, self.rows[name][row], list(frame.columns).index(column) + 1

    def of(self, key: str) -> tuple[str, int, int]:
        """The cell behind a reference key; row and column are 0 for a mean over rows that no file holds."""
        kind, *parts = key.split("/")
        if kind == "suite" and len(parts) == 2:
            return self.place("scores", (parts[0],), parts[1])
        if kind == "suite":
            suite, stage, category = parts
            return self.place("faults", (suite, self.fault[cell_of(suite), category], stage), "detected")
        if kind == "cells":
            return self.files["scores"][0], 0, 0
        *row, column = parts
        return self.place(kind, tuple(row), column)


def reference_rows(root: Path) -> list[dict[str, Any]]:
    """The pinned and the printed values, one dictionary each, pinned ones first.

    Fields: group (reference or printed), key, value, recomputed, status, source, formula (its name in ``FORMULAS``, or
    none), path, row and column of the cell behind it (row 0: no single cell; no path: none).
    """
    report = CHECK_TABLE.read(root / "data/verification/report.csv").set_index("key").to_dict("index")
    cells = Cells(root)
    rows = []
    for entry in read_reference_values(root / "data/reference").to_dict("records"):
        key = entry["key"]
        found = report[f"reference/{key}"]
        path, row, column = cells.of(key)
        rows.append(
            {
                "group": "reference",
                "key": key,
                "value": found["expected"],
                "recomputed": found["recomputed"],
                "status": found["status"],
                "source": entry["source"],
                "formula": formula_of(key),
                "path": path,
                "row": row,
                "column": column,
            }
        )
    for entry in read_published_values(root / "data/reference").to_dict("records"):
        found = report.get(f"published/{entry['key']}", {"recomputed": "", "status": entry["status"]})
        rows.append(
            {
                "group": "printed",
                "key": entry["key"],
                "value": entry["printed"],
                "recomputed": found["recomputed"],
                "status": found["status"],
                "source": f"{entry['place']}: {entry['how']}",
                "formula": None,
                "path": None,
                "row": 0,
                "column": 0,
            }
        )
    return rows


def key_numbers(root: Path) -> dict[str, object]:
    """The numbers of the first page, all read from the data files; shares and scores unrounded."""
    suites = SUITE_TABLE.read(root / "data/record/suites.csv")
    tables = {name: pd.read_csv(root / f"data/tables/{name}.csv") for name in ("table1", "table3")}
    published = read_published_values(root / "data/reference")
    audit = AUDIT_TABLE.read(root / "data/instruments/audit.csv")
    items, faults = (audit[audit["role"] == role] for role in ("requirement", "fault"))
    drawn = pd.read_csv(root / "figures/figure2.csv").set_index("category")["n"]
    return {
        "level": read_params(root / "params.yaml").base.level,
        "drawn": {"category": int(drawn.drop("pooled").iloc[0]), "pooled": int(drawn["pooled"].iloc[0])},
        "suites": len(suites),
        "scenarios": int(suites["scenarios"].sum()),
        "requirements": int(tables["table1"]["items"].sum()),
        "faults": int(tables["table1"]["faults"].sum()),
        "verdicts": file_text(root / "data/verdicts/historical.csv").count("\n") - 1,
        "checks": json.loads((root / "data/verification/metrics.json").read_text(encoding="utf-8")),
        "printed": len(published),
        "status": published["status"].value_counts().to_dict(),
        "agreement": tables["table3"].set_index("generator").to_dict("index"),
        "classes": items["audit_class"].value_counts().to_dict(),
        "agreed": int((items["agreed"] == "yes").sum()),
        "wrong_truths": int((faults["ground_truth"] != "correct").sum()),
    }
