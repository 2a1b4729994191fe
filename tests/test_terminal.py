"""Tables for the terminal are the same text everywhere, aligned and whole."""

import unicodedata

import pandas as pd
import pytest

from regatta.commands import table_text

ROWS = pd.DataFrame(
    {
        "name": ["a", "Ngân hàng Việt Nam"],
        "count": [7, 12_345],
        "share": [0.5, float("nan")],
        "range": [(1, 2_000), None],
        "note": ["[bold]kept[/bold] :smile:", "x"],
    }
)


def test_a_table_is_this_text():
    assert table_text(ROWS, "Two rows", missing="unresolved", digits=2).splitlines() == [
        "Two rows",
        "name                  count        share        range   note",
        "─────────────────────────────────────────────────────────────────────────────────",
        "a                         7         0.50      1–2,000   [bold]kept[/bold] :smile:",
        "Ngân hàng Việt Nam   12,345   unresolved   unresolved   x",
    ]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_vietnamese_letters_take_the_room_of_others(form):
    names = ["Ngân hàng Nhà nước Việt Nam", "Bộ Y tế", "plain"]
    frame = pd.DataFrame({"name": [unicodedata.normalize(form, name) for name in names], "of": [1, 22, 333]})
    lines = [unicodedata.normalize("NFC", line) for line in table_text(frame, "Names").splitlines()[1:]]
    assert len({len(line) for line in [lines[0], *lines[2:]]}) == 1


@pytest.mark.parametrize("variables", [{"COLUMNS": "20"}, {"FORCE_COLOR": "1", "TERM": "dumb"}, {"TTY_COMPATIBLE": "1"}])
def test_the_text_is_whole_and_plain_whatever_the_terminal(monkeypatch, variables):
    wide = ROWS.assign(note=["y" * 500, "z"])
    before = table_text(wide, "Wide")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert table_text(wide, "Wide") == before
    assert "y" * 500 in before and "\x1b" not in before


@pytest.mark.parametrize("value", [None, float("nan"), pd.NA, pd.NaT])
def test_what_is_missing_is_never_a_number(value):
    assert table_text(pd.DataFrame({"x": pd.Series([value], dtype=object)}), "One", missing="open").split()[-1] == "open"


def test_a_table_without_rows_is_its_head():
    assert table_text(ROWS.head(0), "None").splitlines()[1].split() == list(ROWS.columns)
