import csv

import pytest

from regatta.site import browse, markup
from regatta_lib.base import paths, records


@pytest.fixture(scope="module")
def rows():
    return browse.reference_rows(paths.ROOT)


def cell_text(path, row, column):
    with (paths.ROOT / path).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[row][column - 1]


def test_all_values_are_there(rows):
    groups = [row["group"] for row in rows]
    assert (groups.count("reference"), groups.count("printed")) == (2_835, 95)
    assert len({(row["group"], row["key"]) for row in rows}) == len(rows)
    assert {row["status"] for row in rows if row["group"] == "reference"} == {"passed"}
    printed = [row["status"] for row in rows if row["group"] == "printed"]
    assert {status: printed.count(status) for status in set(printed)} == {"passed": 60, "reconstructed": 6, "quoted": 29}


def test_every_reference_value_has_a_formula_and_every_formula_a_value(rows):
    assert {row["formula"] for row in rows if row["group"] == "reference"} == set(browse.FORMULAS)
    assert all(markup.formula(latex).count("<math") == 1 for latex, _ in browse.FORMULAS.values())


def test_the_cell_named_holds_the_value(rows):
    """All 2,820 values that one cell of a file holds; the other 15 are means over rows."""
    tables = {}
    found = [row for row in rows if row["row"]]
    assert len(found) == 2_820
    assert {row["key"].split("/")[0] for row in rows if row["group"] == "reference" and not row["row"]} == {"cells"}
    for row in found:
        if row["path"] not in tables:
            with (paths.ROOT / row["path"]).open(encoding="utf-8", newline="") as file:
                tables[row["path"]] = list(csv.reader(file))
        cell = tables[row["path"]][row["row"]][row["column"] - 1]
        assert float(cell) == pytest.approx(float(row["value"]), rel=1e-13, abs=1e-13), row["key"]
    assert len(tables) == 5


@pytest.mark.parametrize(
    ("key", "formula"),
    [
        ("suite/qwen72b.S4.vn_banking.r2/rc", "rc"),
        ("suite/qwen72b.S4.vn_banking.r2/design/metric_error", "design"),
        ("table2/qwen72b/metric_error/design", "table2"),
        ("table3/qwen72b/fdr_design", "table3/fdr_design"),
        ("table3/qwen72b/n11", "n11"),
        ("table4/qwen72b/S1/iss", "table4"),
        ("cells/qwen72b/us_fintech/rc", "cells"),
    ],
)
def test_the_formula_of_a_key(key, formula):
    assert browse.formula_of(key) == formula


@pytest.mark.parametrize(
    ("values", "numeric", "shown"),
    [
        (["0.21666666666666667", "0.25", "1.0", "22"], True, ["0.2167", "0.2500", "1.0000", "22"]),
        (["0.25", "", "1"], True, ["0.25", "–", "1"]),
        (["1.6168121721594925e-07", "-0.5", "0.0"], True, ["1.6e-07", "-0.5000", "0.0000"]),
        (["0.123456", "S1"], False, ["0.123456", "S1"]),
        (["", ""], False, ["", ""]),
    ],
)
def test_a_column_of_a_file_is_shown_with_one_number_of_decimals(values, numeric, shown):
    assert browse.shown_column(values) == (numeric, shown)


def test_key_numbers():
    numbers = browse.key_numbers(paths.ROOT)
    assert numbers["suites"] == 180
    assert numbers["scenarios"] == 5_400
    assert (numbers["requirements"], numbers["faults"]) == (125, 25)
    assert sum(numbers["status"].values()) == numbers["printed"] == 95
    assert set(numbers["agreement"]) == set(records.GENERATORS)
    assert sum(numbers["classes"].values()) == 125
    assert (numbers["level"], numbers["drawn"]) == (0.95, {"category": 60, "pooled": 300})


def test_what_the_first_page_says_in_words_is_so():
    for row in browse.key_numbers(paths.ROOT)["agreement"].values():
        assert row["agreement"] > row["pooled_chance"]
        assert row["per_fault_margin"] < (row["agreement"] - row["pooled_chance"]) / 2
