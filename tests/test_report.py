"""The report's numbers, the absence of typed ones, and the PDF."""

import io
import json
import re
import shutil

import pandas as pd
import pypdf
import pytest
import typst
from ruamel.yaml import YAML

from regatta_lib.base import ContractError, csv_text, paths, read_params
from regatta_lib.instruments import INDEX_TABLE
from regatta_lib.measures import SUITE_TABLE
from regatta_lib.report import document as report
from regatta_lib.reproduce import published
from regatta_lib.stats import consistency

SOURCE = "\n".join((paths.PAPER / name).read_text(encoding="utf-8") for name in ("report.typ", "pilot.typ"))
COUNTED = r"two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fifteen|sixteen|twenty|thirty|hundred"
NAMED = r"V[1-4](–V[1-4])?|S[1-4]"
"""The only digits that prose may hold: names of the diagnostics and of the strategies."""


@pytest.fixture(scope="module")
def numbers():
    base = read_params(paths.PARAMS).base
    return report.numbers(paths.ROOT, base.resamples, base.level)


@pytest.fixture(scope="module")
def pdf():
    return report.pdf(paths.ROOT)


def typed_numbers(source: str) -> list[str]:
    """Digits and number words in the prose of a Typst source: not in code, symbols (n11), file names, keys or labels."""
    prose = re.sub(r"//.*", "", source)
    prose = re.sub(r"`[^`]*`", "", prose)
    prose = re.sub(r"#?n[01]{2}\b", "", prose)
    prose = re.sub(r'"[^"\n]*"', "", prose)
    prose = re.sub(r"(@|<)[a-z-]+>?", "", prose)
    prose = re.sub(r"#?\b(let|set|show|import)\b.*", "", prose)
    prose = re.sub(r"\b[\d.]+(em|pt|cm|fr|%)", "", prose)
    prose = re.sub(r"^\s*\(.*\), (none|[0-3])\),$|, [0-3]\),$", "", prose, flags=re.M)
    prose = re.sub(rf"\b({NAMED})\b", "", prose)
    return re.findall(rf"\w*\d[\w.,]*|\b(?:{COUNTED})\b", prose, flags=re.I)


def test_no_number_is_typed_into_the_prose():
    assert typed_numbers(SOURCE) == []


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("It agrees on 0.86 of the pairs.", ["0.86"]),
        ("There are Seven disagreements.", ["Seven"]),
        ('All #n("a/b") of 2,835 values.', ["2,835"]),
        ("In 2026 the law changed.", ["2026"]),
        ("V1–V4 and S3 are names, V5 is none.", ["V5"]),
        ('#n("table3/sonnet4/n11") and @table-two with #n11 in `data/tables/table3.csv`', []),
    ],
)
def test_the_scan_for_typed_numbers_can_fail(sentence, found):
    assert [text.rstrip(".,") for text in typed_numbers(sentence)] == found


def test_the_committed_numbers_are_those_of_the_results(numbers):
    assert (paths.PAPER / "numbers.json").read_text(encoding="utf-8") == report.numbers_text(numbers)
    assert list(numbers) == sorted(numbers)


def test_every_number_names_a_file_that_exists(numbers):
    files = {number.source.partition(": ")[0] for number in numbers.values()}
    assert all((paths.ROOT / name).is_file() for name in files), files


def test_every_file_behind_a_number_or_a_picture_is_an_input_of_the_stage(numbers):
    stage = YAML(typ="safe").load((paths.ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]["paper"]
    style = (paths.PAPER / "style.typ").read_text(encoding="utf-8")
    files = {number.source.partition(": ")[0] for number in numbers.values()} - {"params.yaml"}
    files |= {name[1:] for name in re.findall(r'"(/[a-z0-9_/]+\.[a-z]+)"', SOURCE + style)}
    files |= {f"paper/{path.name}" for path in paths.PAPER.iterdir()} - {"paper/numbers.json", "paper/report.pdf"}
    inside = {name for name in files if any(name == dep or name.startswith(f"{dep}/") for dep in stage["deps"])}
    assert sorted(files - inside) == []


def test_the_pdf_is_the_committed_one_and_the_same_twice(pdf):
    assert (paths.PAPER / "report.pdf").read_bytes() == pdf
    assert report.pdf(paths.ROOT) == pdf


def test_the_pdf_needs_no_font_of_the_system(pdf):
    fonts = set()
    for page in pypdf.PdfReader(io.BytesIO(pdf)).pages:
        for font in page["/Resources"].get("/Font", {}).values():
            fonts.add(font.get_object()["/BaseFont"].partition("+")[2].partition("-")[0])
    assert fonts == {"LibertinusSerif", "DejaVuSansMono"}


def test_the_pdf_states_archival_and_accessibility_standards(pdf):
    assert b"<pdfaid:part>2</pdfaid:part><pdfaid:conformance>A</pdfaid:conformance>" in pdf
    assert b"<pdfuaid:part>1</pdfuaid:part>" in pdf


@pytest.mark.parametrize(
    ("table", "digits"), [("table2", 2), ("table3", 2), ("table3", 3), ("table3_extended", 3), ("table4", 2)]
)
def test_the_tables_of_the_pdf_round_as_the_latex_fragments_do(tmp_path, table, digits):
    """Typst rounds decimal text, Python the exact binary value: the rule must not show."""
    values = [
        float(cell)
        for row in report.rows(paths.ROOT, f"data/tables/{table}.csv")
        for cell in row.values()
        if re.fullmatch(r"-?\d+\.\d+", cell)
    ]
    (tmp_path / "values.json").write_text(json.dumps(values), encoding="utf-8")
    for name in ("style.typ", "numbers.json"):
        (tmp_path / name).write_bytes((paths.PAPER / name).read_bytes())
    source = f'#import "style.typ": fixed\n#metadata(json("values.json").map(value => fixed(value, {digits}))) <shown>'
    (tmp_path / "main.typ").write_text(source, encoding="utf-8")
    (shown,) = json.loads(typst.query(tmp_path / "main.typ", "<shown>", field="value"))
    expected = [f"{value:.{digits}f}" for value in values]
    assert [text.replace("\N{MINUS SIGN}", "-") for text in shown] == [
        text.removeprefix("-") if float(text) == 0 else text for text in expected
    ]


def test_quotation_of_an_unknown_key_stops_the_build(tmp_path):
    (tmp_path / "paper").mkdir()
    for name in ("style.typ", "numbers.json"):
        (tmp_path / "paper" / name).write_bytes((paths.PAPER / name).read_bytes())
    quoting = '#import "style.typ": n\n#n("{}")<x>'
    (tmp_path / report.REPORT_SOURCE).write_text(quoting.format("table3/sonnet4/agreemint"), encoding="utf-8")
    with pytest.raises(ContractError, match="no number with the key table3/sonnet4/agreemint"):
        report.pdf(tmp_path)


def test_the_pilot_is_reported_if_it_was_run(numbers):
    run = (paths.VERDICTS / "demo.csv").is_file()
    assert (paths.ROOT / report.PILOT_TABLE.path).is_file() == run
    assert ("pilot/mutation_effect/value" in numbers) == run


def test_the_recomputed_figures_are_told_apart_by_what_they_are(numbers):
    found = {key.partition("/")[2]: int(number.text) for key, number in numbers.items() if key.startswith("published_kind/")}
    assert found == {"design": 21, "enumerated": 1, "words": 4, "line": 2, "measured": 32}
    assert sum(found.values()) == int(numbers["checks/published/checked"].text)
    design = published.design_constants(
        INDEX_TABLE.read(paths.INSTRUMENTS / "index.csv"), SUITE_TABLE.read(paths.RECORD / "suites.csv")
    )
    rows = report.rows(paths.ROOT, report.PUBLISHED)
    assert {row["key"] for row in rows if row["kind"] == "design"} == set(design)
    badges = (paths.ROOT / "docs/artifact-badges.md").read_text(encoding="utf-8")
    assert (
        "{measured} measured results, {design} counts of the design, {words} statements in words, "
        "{line} counts against a line that we chose, {enumerated} that follows our enumeration"
    ).format(**found) in badges


@pytest.fixture
def results(tmp_path):
    """A copy of the files that the numbers come from, to be altered."""
    for name in ("data", "figures"):
        ignored = shutil.ignore_patterns("transcripts", "exchange", "episodes", "suites", "verdicts")
        shutil.copytree(paths.ROOT / name, tmp_path / name, ignore=ignored)
    shutil.copytree(paths.RECORD, tmp_path / "data/record", dirs_exist_ok=True)
    return tmp_path


def reworded(path, columns):
    """Put other words into every cell of some columns of a CSV file."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    for column in columns:
        table[column] = [f"other words {number}" for number in range(len(table))]
    path.write_text(csv_text(table), encoding="utf-8")


@pytest.mark.parametrize(
    ("path", "columns"),
    [
        (report.PUBLISHED, ["how"]),
        ("data/consistency/readings.csv", ["reading"]),
        ("data/instruments/audit.csv", ["finding", "rule", "authority", "sources", "adjudication"]),
    ],
)
def test_no_number_rests_on_the_words_of_a_cell(results, numbers, path, columns):
    reworded(results / path, columns)
    base = read_params(paths.PARAMS).base
    assert report.numbers(results, base.resamples, base.level) == numbers


def test_the_view_that_was_listed_last_is_read_from_its_column(results, numbers):
    path = results / "data/instruments/audit.csv"
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    chosen = table["listed_last"].ne("") & (table["listed_last"] == table["adjudicated_class"])
    assert int(numbers["audit/adjudicated_later"].text) == chosen.sum()
    row = chosen.idxmax()
    first, second = table.loc[row, ["first_class", "second_class"]]
    table.loc[row, "listed_last"] = first if table.loc[row, "listed_last"] == second else second
    path.write_text(csv_text(table), encoding="utf-8")
    assert int(report.derived(results)["audit/adjudicated_later"].text) == chosen.sum() - 1


def test_the_fewest_executions_and_missing_pairs_are_those_of_the_least_row_that_fits(tmp_path):
    path = tmp_path / "data/consistency/readings.csv"
    path.parent.mkdir(parents=True)
    table = consistency.readings(".536", 180, range(1, 6), range(1, 13))
    path.write_text(csv_text(table[::-1]), encoding="utf-8")
    found = report.fewest(tmp_path)
    assert {key: number.text for key, number in found.items()} == {
        "readings/executions": "2",
        "readings/executions_counts": "193",
        "readings/missing": "1",
        "readings/missing_counts": "96",
    }
    assert found["readings/executions"].source == "data/consistency/readings.csv: executions = 2"
    path.write_text(csv_text(table[table["missing"].isna()]), encoding="utf-8")
    assert set(report.fewest(tmp_path)) == {"readings/executions", "readings/executions_counts"}


def test_the_second_look_of_the_audit_is_counted(numbers):
    keys = ("audit/rechecked", "audit/rechecked_disputed", "audit/recheck_changed")
    assert [numbers[key].text for key in keys] == ["49", "15", "0"]
    documented = (paths.ROOT / "docs/instruments.md").read_text(encoding="utf-8")
    assert f"{numbers['audit/rechecked'].text} rows were looked at again" in documented


@pytest.mark.parametrize(
    ("text", "digits", "printed"),
    [("0.125", 2, "0.13"), ("-0.125", 2, "-0.13"), ("0.285", 2, "0.29"), ("-0.001", 2, "0.00"), ("1e-7", 3, "0.000")],
)
def test_prose_and_tables_round_halves_away_from_zero(tmp_path, text, digits, printed):
    assert report.rounded(text, digits) == printed
    for name in ("style.typ", "numbers.json"):
        (tmp_path / name).write_bytes((paths.PAPER / name).read_bytes())
    (tmp_path / "main.typ").write_text(f'#import "style.typ": fixed\n#metadata(fixed({text}, {digits})) <shown>', "utf-8")
    (shown,) = json.loads(typst.query(tmp_path / "main.typ", "<shown>", field="value"))
    assert shown.replace("\N{MINUS SIGN}", "-") == printed


@pytest.mark.parametrize(
    ("text", "column", "counts", "printed"),
    [
        ("2835", "n", False, "2,835"),
        ("0.6766666666666666", "agreement", False, "0.677"),
        ("0.8370110330992977", "difficulty_share", False, "0.84"),
        ("-0.16666666666666666", "delta", False, "−0.17"),
        ("-0.125", "value", True, "−0.13"),
        ("1.6168121721594925e-07", "mcnemar_p", False, "< 0.001"),
        ("22.0", "value", True, "22"),
        ("1.0", "value", True, "1.00"),
        ("96.43333333333334", "mean", False, "96.4"),
        ("S3", "highest", False, None),
        ("", "p", False, None),
    ],
)
def test_cells_are_printed_by_their_kind(text, column, counts, printed):
    assert report.as_printed(text, column, counts=counts) == printed


def test_tallies_count_rows_by_value_and_leave_out_empty_ones(tmp_path):
    (tmp_path / "a.csv").write_text("role,truth\nfault,correct\nfault,correct\nrequirement,\n", encoding="utf-8")
    by_truth = report.tallies(tmp_path, report.Tally("t", "a.csv", ("role", "truth")))
    assert {key: number.text for key, number in by_truth.items()} == {"t/fault/correct": "2"}
    assert report.tallies(tmp_path, report.Tally("t", "a.csv"))["t"].text == "3"


def test_an_empty_cell_is_quoted_only_where_the_table_says_how(tmp_path):
    (tmp_path / "a.csv").write_text("name,low\nkappa,\n", encoding="utf-8")
    assert report.cells(tmp_path, report.Table("t", "a.csv", ("name",))) == {}
    (number,) = report.cells(tmp_path, report.Table("t", "a.csv", ("name",), blank="undefined")).values()
    assert (number.text, number.source) == ("undefined", "a.csv: kappa: low")


def test_an_empty_table_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("role,truth\n", encoding="utf-8")
    with pytest.raises(ContractError, match=r"a\.csv: 0 rows, expected at least 1"):
        report.rows(tmp_path, "a.csv")


def test_numbers_json_holds_text_and_source():
    stored = json.loads((paths.PAPER / "numbers.json").read_text(encoding="utf-8"))
    assert stored["checks/reference/passed"] == {
        "source": "data/verification/metrics.json: reference: passed",
        "text": "2,835",
    }
