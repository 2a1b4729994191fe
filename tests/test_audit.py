import json
import re
import unicodedata
from fractions import Fraction
from io import BytesIO

import matplotlib
import numpy as np
import pandas as pd
import pypdf
import pytest
from matplotlib import font_manager
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

from regatta_lib.base import Contract, paths, read_params, records
from regatta_lib.instruments import (
    AUDIT_AGREEMENT_TABLE,
    AUDIT_CLASSES,
    AUDIT_SHARE_TABLE,
    AUDIT_TABLE,
    CELL_AUDIT_TABLE,
    INDEX_TABLE,
    audit,
    schemas,
)
from regatta_lib.measures import tables
from regatta_lib.present import audit_figure, figures
from regatta_lib.reproduce import printed_figures
from regatta_lib.stats import seeded

WIDTH = 3.5
COLUMN = 3.29
"""Inches: the figure as drawn, and the column of the report that it is printed in."""


@pytest.fixture(scope="module")
def table():
    return audit.audit_table()


def committed(contract: Contract, frame: pd.DataFrame, path, tmp_path):
    contract.write(frame, tmp_path / path.name)
    assert (tmp_path / path.name).read_bytes() == path.read_bytes()


def test_audit_csv_is_derived_from_the_yaml(table, tmp_path):
    committed(AUDIT_TABLE, table, paths.INSTRUMENTS / "audit.csv", tmp_path)
    folder = paths.INSTRUMENTS / "eu_banking"
    committed(CELL_AUDIT_TABLE, audit.audit_table(["eu_banking"]), folder / "audit.csv", tmp_path)
    assert set(AUDIT_TABLE.read(paths.INSTRUMENTS / "audit.csv")["cell"]) == set(records.CELLS)


def test_the_agreement_and_the_figure_behind_numbers_are_derived_too(table, tmp_path):
    base = read_params(paths.PARAMS).base
    agreement = audit.agreement(table, base.seed, base.resamples, base.level)
    committed(AUDIT_AGREEMENT_TABLE, agreement, paths.INSTRUMENTS / "agreement.csv", tmp_path)
    committed(AUDIT_SHARE_TABLE, audit.audit_shares(table, printed_figures()), paths.FIGURES / "audit.csv", tmp_path)


def test_the_counts_are_those_of_the_audit(table):
    counts = audit.class_counts(table, printed_figures()).set_index("source")
    assert counts.loc["paper"].tolist() == [24, 46, 31, 24]
    assert counts.loc["first auditor"].tolist() == [45, 43, 19, 18]
    assert counts.loc["second auditor"].tolist() == [32, 46, 22, 25]
    assert counts.loc["final"].tolist() == [43, 43, 19, 20]
    assert counts.sum(axis=1).tolist() == [125] * 4
    faults = table[table["role"] == "fault"]["audit_class"].value_counts()
    assert list(audit.PUBLISHED_KEYS) == list(AUDIT_CLASSES)
    assert [int(faults[name]) for name in AUDIT_CLASSES] == [10, 4, 8, 3]


def test_the_papers_counts_are_read_from_the_reference(table, tmp_path):
    text = (paths.REFERENCE / "published_values.csv").read_text("utf-8")
    (tmp_path / "published_values.csv").write_text(text.replace("audit/clean,24,", "audit/clean,25,"), encoding="utf-8")
    assert audit.class_counts(table, printed_figures(tmp_path)).set_index("source").loc["paper"].tolist() == [24, 46, 31, 25]


def test_all_verdicts_and_the_reason_are_kept_where_the_auditors_differ(table):
    differ = table[table["agreed"] == "no"]
    assert len(differ) == 23
    assert differ["adjudicated_class"].notna().all() and differ["adjudication"].notna().all()
    assert table[table["agreed"] == "yes"]["adjudicated_class"].isna().all()
    assert table[table["agreed"] == "yes"]["listed_last"].isna().all()
    listed = [max(pair) for pair in zip(differ["first_class"], differ["second_class"], strict=True)]
    assert differ["listed_last"].tolist() == listed, "the views stood in alphabetical order, docs/instruments.md says"
    last = table["recheck_class"].fillna(table["adjudicated_class"]).fillna(table["first_class"])
    assert (table["audit_class"] == last).all()
    assert (table["reviewer_status"] == "AI review only").all()


def test_every_row_states_sources_with_tier_and_address(table):
    one = r"(?:primary|official-secondary|secondary): .+? <(?:https?://\S+|github:\S+|no lasting address)>"
    assert table["sources"].map(lambda text: re.fullmatch(rf"{one}(?: \| {one})*", text) is not None).all()
    assert not re.fullmatch(one, "verified: some text <nowhere>")


def exact_kappa(counts):
    n = sum(map(sum, counts))
    observed = Fraction(sum(counts[i][i] for i in range(len(counts))), n)
    expected = sum(Fraction(sum(row) * sum(r[i] for r in counts), n * n) for i, row in enumerate(counts))
    return (observed - expected) / (1 - expected)


def test_kappa_of_the_audit_is_that_of_exact_fractions(table):
    cross = audit.cross_table(table[table["role"] == "requirement"])
    assert np.trace(cross) == 104
    agreement = audit.agreement(table, 1, 1000, 0.95).set_index(["scope", "of"])
    by_hand = float(exact_kappa(cross.to_numpy().tolist()))
    assert agreement.loc[("requirements", "all"), "kappa"] == pytest.approx(by_hand, abs=1e-12)
    assert agreement.loc[("requirements", "all"), "kappa"].round(2) == 0.77
    assert agreement.loc[("faults", "all"), "kappa"].round(2) == 0.89
    assert len(agreement) == 2 + 5 + 4
    assert (agreement["ci_low"] <= agreement["kappa"]).all() and (agreement["kappa"] <= agreement["ci_high"]).all()


def test_resamples_in_which_both_auditors_use_one_class_are_counted_not_used():
    nearly = np.array([[9, 0], [0, 1]])
    assert audit.kappa_interval(nearly, seeded(1, "test"), 1000, 0.95)[2] == pytest.approx(0.9**10, abs=0.05)


def test_table1_splits_each_cells_items_into_the_four_classes(table):
    index = INDEX_TABLE.read(paths.INSTRUMENTS / "index.csv")
    table1 = tables.table1(index, table)
    assert list(table1) == ["cell", "items", *AUDIT_CLASSES, "faults"]
    assert (table1["items"] == 25).all() and (table1["faults"] == 5).all()
    assert (table1[list(AUDIT_CLASSES)].sum(axis=1) == table1["items"]).all()
    assert table1[list(AUDIT_CLASSES)].sum().tolist() == [43, 43, 19, 20]
    assert "Citation defect" in tables.latex(table1)
    shifted = table.assign(audit_class=table["audit_class"].replace("clean", "source_flag"))
    assert tables.table1(index, shifted)["clean"].sum() == 0


def test_the_wrong_ground_truths_are_listed_with_what_a_correct_one_says(table):
    wrong = audit.wrong_ground_truths(table)
    assert len(wrong) == 13 and wrong["ground_truth"].value_counts().to_dict() == {"partly incorrect": 12, "incorrect": 1}
    assert wrong.set_index("fault").loc["HC-F4", "ground_truth"] == "incorrect"
    assert (wrong["as_written"] != wrong["corrected"]).all()


def test_the_items_page_links_every_source_and_escapes_text():
    page = audit.items_page(list(records.CELLS))
    sources = [
        source
        for cell in records.CELLS
        for kind in ("requirements", "faults")
        for entry in getattr(schemas.read_part(paths.INSTRUMENTS / cell, schemas.FILES[kind]), kind)
        for source in entry.audit.sources
    ]
    assert page.count("<a href=") == sum(source.url is not None for source in sources)
    assert page.count("<tr") == 150 + 5
    assert "&amp;" in page and '<a href="https://github.com/' in page
    hostile = schemas.AuditSource(tier="primary", title='<script>"x"', url="https://a.org/?q=1&r=2")
    assert audit.link(1, hostile) == ('<a href="https://a.org/?q=1&amp;r=2" title="&lt;script&gt;&quot;x&quot;">P1</a>')


def test_vietnamese_survives_the_csv(table, tmp_path):
    text = "Nghị định 116/2013/NĐ-CP, Điều 20: giao dịch từ 400 triệu đồng, tỷ lệ 5%"
    AUDIT_TABLE.write(table.assign(finding=text), tmp_path / "audit.csv")
    read = AUDIT_TABLE.read(tmp_path / "audit.csv")
    assert (read["finding"] == text).all() and unicodedata.is_normalized("NFC", text)
    entry = schemas.read_part(paths.INSTRUMENTS / "vn_banking", schemas.RequirementsFile).requirements[0]
    assert entry.as_written.citation.startswith("Nghị định 116/2013/NĐ-CP")


def test_the_figure_font_has_every_letter_of_the_instruments():
    face = font_manager.get_font(font_manager.findfont(figures.STYLE["font.family"], fallback_to_default=False))
    known = face.get_charmap().keys()
    letters = {letter for path in paths.INSTRUMENTS.glob("*/*.yaml") for letter in path.read_text("utf-8")} - {"\n"}
    assert {"ị", "ệ", "ồ", "đ", "Đ", "ự"} <= letters
    assert sorted(letter for letter in letters if ord(letter) not in known) == []


def test_vietnamese_survives_a_pdf_figure():
    text = "Nghị định 116: một tỷ đồng"
    with matplotlib.rc_context(figures.STYLE):
        figure = Figure(figsize=(4, 1))
        figure.text(0.05, 0.5, text)
        buffer = BytesIO()
        figure.savefig(buffer, format="pdf", metadata={"CreationDate": None})
    assert text in unicodedata.normalize("NFC", pypdf.PdfReader(buffer).pages[0].extract_text())


def test_the_figure_is_the_same_bytes_on_every_run_and_as_committed(table, tmp_path):
    shares = audit.audit_shares(table, printed_figures())
    for name in ("first", "second"):
        figures.save(audit_figure.figure_audit(shares, WIDTH), tmp_path, name, 72)
    for suffix in ("svg", "pdf", "png"):
        assert (tmp_path / f"first.{suffix}").read_bytes() == (tmp_path / f"second.{suffix}").read_bytes()
    figures.save(audit_figure.figure_audit(shares, WIDTH), tmp_path, "committed", 300)
    assert (tmp_path / "committed.svg").read_bytes() == (paths.FIGURES / "audit.svg").read_bytes()


def test_the_figure_prints_each_count_once(table):
    figure = audit_figure.figure_audit(audit.audit_shares(table, printed_figures()), WIDTH)
    shown = [int(text.get_text()) for text in figure.axes[0].texts]
    assert sum(shown) == 3 * 125
    assert [line.get_text() for line in figure.legends[0].get_texts()] == list(AUDIT_CLASSES.values())


def test_the_type_of_the_figure_is_legible_in_the_report(table):
    notebook = (paths.NOTEBOOKS / "instruments.ipynb").read_text("utf-8")
    assert f"present.figure_audit(shares, {WIDTH})" in notebook
    texts = audit_figure.figure_audit(audit.audit_shares(table, printed_figures()), WIDTH).findobj(Text)
    assert min(text.get_fontsize() for text in texts if text.get_text()) * COLUMN / WIDTH > 6


def test_the_shades_of_the_classes_differ_in_grey():
    grey = [0.299 * r + 0.587 * g + 0.114 * b for r, g, b in map(to_rgb, audit_figure.CLASS_COLORS.values())]
    assert grey == sorted(grey) and min(np.diff(grey)) > 0.1


def test_the_figures_printed_in_prose_are_those_of_the_data(table):
    cells = json.loads((paths.NOTEBOOKS / "instruments.ipynb").read_text("utf-8"))["cells"]
    prose = "".join(line for cell in cells if cell["cell_type"] == "markdown" for line in cell["source"])
    docs = (paths.ROOT / "docs" / "instruments.md").read_text("utf-8")
    counts = {
        source: " / ".join(map(str, row))
        for source, *row in audit.class_counts(table, printed_figures()).itertuples(index=False)
    }
    for source in ("paper", "final", "second auditor"):
        assert counts[source] in prose, source
    items, faults = (table[table["role"] == role] for role in ("requirement", "fault"))
    cross = audit.cross_table(items)
    serious = cross.loc["substance_error"].sum() - cross.loc["substance_error", "substance_error"]
    milder = cross["substance_error"].sum() - cross.loc["substance_error", "substance_error"]
    assert f"{np.trace(cross)} of 125 requirements and on {np.trace(audit.cross_table(faults))} of 25 faults" in prose
    assert f"Of the {125 - np.trace(cross)} requirements" in prose
    assert f"{serious + milder} involve *substance error*, and in {serious} of these" in prose
    vietnam = (items["cell"].str.startswith("vn_") & (items["audit_class"] == "substance_error")).sum()
    assert f"{vietnam} of our {(items['audit_class'] == 'substance_error').sum()} substance errors" in prose
    for name in AUDIT_CLASSES:
        row = f"| {(items['audit_class'] == name).sum()} | {(faults['audit_class'] == name).sum()} |"
        assert re.search(rf"\| {AUDIT_CLASSES[name]} \|.*{re.escape(row)}", docs), name
    states = table["ground_truth"].value_counts()
    assert f"`correct` ({states['correct']}), `partly_incorrect` ({states['partly_incorrect']}) or" in docs
    assert f"{(table['auditor'] == 'recheck').sum()} rows were looked at again" in docs
    (low,) = table[table["confidence"] == "low"]["item"]
    assert f"One row has low confidence ({low}); {(table['confidence'] == 'medium').sum()} have medium." in docs
    assert f"decided the {(table['agreed'] == 'no').sum()} rows on which they differ" in docs
