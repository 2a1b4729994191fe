"""Adjudicators' sheets: nothing runs as a formula, Vietnamese survives, and what people save can be read back."""

import io
import zipfile

import pandas as pd
import pytest
from openpyxl import load_workbook

from regatta.adjudicate import sheets
from regatta_lib.base import ContractError

VIETNAMESE = "Ngân hàng phải báo cáo giao dịch từ 400.000.000 đồng"
DANGEROUS = ['=HYPERLINK("http://x.example","a")', "+1+1", "-2", "@SUM(A1)", "\t=1", "\r=1", "＝1+1", " =1", "\n@x"]


def sheet(texts):
    return pd.DataFrame({"item": [f"item-{n:03d}" for n in range(len(texts))], "message": texts, "answer": ""})


def test_no_cell_of_the_csv_starts_like_a_formula_and_the_text_comes_back(tmp_path):
    path = tmp_path / "s.csv"
    path.write_bytes(sheets.csv_sheet(sheet(DANGEROUS)))
    raw = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    assert all(text.startswith("'") for text in raw["message"])
    found = sheets.read_sheet(path)["message"]
    assert [" ".join(text.split()) for text in found] == [" ".join(text.split()) for text in DANGEROUS]


def test_the_check_would_notice_a_formula():
    assert sheets.inert("=1") == "'=1" and sheets.inert("plain = text") == "plain = text"
    assert sheets.restored("'quoted' word") == "'quoted' word"


def test_every_cell_of_the_workbook_is_text():
    content = sheets.xlsx_sheet(sheet(DANGEROUS), "Read this.\n=2+2", {"answer": ("yes", "no")})
    book = load_workbook(io.BytesIO(content))
    assert book.sheetnames == ["instructions", "sheet"]
    types = {cell.data_type for page in book for row in page.iter_rows() for cell in row if cell.value is not None}
    assert types == {"s"}
    assert book["sheet"]["B2"].value == DANGEROUS[0]
    assert book["sheet"].data_validations.dataValidation[0].formula1 == '"yes,no"'


def test_an_assigned_formula_would_be_seen():
    book = load_workbook(io.BytesIO(sheets.xlsx_sheet(sheet(["a"]), "x", {})))
    book["sheet"]["B2"].value = "=1+1"
    assert book["sheet"]["B2"].data_type == "f"


def test_the_workbook_is_the_same_bytes_twice():
    first, again = (sheets.xlsx_sheet(sheet([VIETNAMESE]), "x", {"answer": ("yes",)}) for _ in range(2))
    assert first == again


def test_the_csv_starts_with_a_byte_order_mark_and_keeps_vietnamese(tmp_path):
    content = sheets.csv_sheet(sheet([VIETNAMESE]))
    assert content.startswith(b"\xef\xbb\xbf")
    path = tmp_path / "s.csv"
    path.write_bytes(content)
    assert sheets.read_sheet(path)["message"].to_list() == [VIETNAMESE]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_csv_as_people_save_it(tmp_path, delimiter, ends, encoding):
    text = ends.join([delimiter.join(["item", "message", "answer"]), delimiter.join(["item-000", VIETNAMESE, "yes"]), ""])
    path = tmp_path / "s.csv"
    path.write_bytes(text.encode(encoding))
    assert sheets.read_sheet(path).iloc[0].to_list() == ["item-000", VIETNAMESE, "yes"]


def test_decomposed_letters_are_composed(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("item,answer\nitem-000,có".replace("ó", "o\u0301"), encoding="utf-8")
    assert sheets.read_sheet(path)["answer"].to_list() == ["có"]


def test_words_that_look_missing_stay_words(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("item,answer\nNA,None\n", encoding="utf-8")
    assert sheets.read_sheet(path).iloc[0].to_list() == ["NA", "None"]


def test_xlsx_as_people_save_it(tmp_path):
    book = load_workbook(io.BytesIO(sheets.xlsx_sheet(sheet([VIETNAMESE, "=1"]), "x", {"answer": ("yes", "no")})))
    book["sheet"]["C2"].value = "Yes"
    book["sheet"]["C5"].value = None
    path = tmp_path / "s.xlsx"
    book.save(path)
    found = sheets.read_sheet(path)
    assert found["answer"].to_list() == ["Yes", ""]
    assert found["message"].to_list() == [VIETNAMESE, "=1"]


def broken_workbook():
    """A zip whose list of contents is no XML."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("[Content_Types].xml", "<Types")
    return packed.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("s.csv", b"item,answer\na\n", "row 2 has 1 cells, expected 2"),
        ("s.csv", "item,answer\né,1\n".encode("cp1252"), "is not UTF-8; save it as 'CSV UTF-8'"),
        ("s.xlsx", b"item,answer", "not an XLSX file"),
        ("s.xlsx", broken_workbook(), "not an XLSX file"),
        ("s.csv", b"item,answer\na," + b"x" * 200_000 + b"\n", "not a CSV file: field larger than field limit"),
        ("s.csv", b"item,answer,reason,answer\na,yes,,no\n", "column 'answer' occurs twice, expected once"),
        ("s.csv", b"item,reason,reason\na,,other\n", "column 'reason' occurs twice, expected once"),
        ("s.ods", b"", "expected a file ending .csv or .xlsx"),
    ],
)
def test_unreadable_files_are_named(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ContractError, match=f"{name}.*{message}"):
        sheets.read_sheet(path)


def test_a_missing_file_and_an_overlong_text(tmp_path):
    with pytest.raises(ContractError, match="missing, expected a filled sheet"):
        sheets.read_sheet(tmp_path / "none.csv")
    with pytest.raises(ContractError, match="32,768 characters"):
        sheets.without_marks("x" * 32_768)


def test_control_characters_are_replaced_and_line_breaks_kept():
    assert sheets.without_marks("a\x00b\x1fc\nd") == "a\ufffdb\ufffdc\nd"
