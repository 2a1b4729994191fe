import unicodedata
from decimal import Decimal
from functools import cache

import pytest

from regatta_lib.instruments import reading, witnesses
from regatta_lib.instruments.items import Witness

USD = {
    "$12,000": [12000],
    "$12k": [12000],
    "$12K": [12000],
    "$ 12,000": [12000],
    "US$12,000": [12000],
    "USD 12,000": [12000],
    "USD12,000": [12000],
    "usd 12000": [12000],
    "12,000 USD": [12000],
    "12.000 USD": [12000],
    "12,000.50 USD": [Decimal("12000.5")],
    "12.000,50 USD": [Decimal("12000.5")],
    "12,000$": [12000],
    "12,000 dollars": [12000],
    "12,000 US dollars": [12000],
    "12 thousand dollars": [12000],
    "12,000 đô la Mỹ": [12000],
    "12.000 đô": [12000],
    "$1.2 million": [1200000],
    "$1.2M": [1200000],
    "$1.2m": [1200000],
    "$1.25mn": [1250000],
    "$1,250,000": [1250000],
    "$1.250.000": [1250000],
    "$2bn": [2 * 10**9],
    "$2 billion": [2 * 10**9],
    "$1.250 billion": [1250000000],
    "$2.5B": [2500000000],
    "USD 3 trillion": [3 * 10**12],
    "$9,999.99": [Decimal("9999.99")],
    "$0.50": [Decimal("0.5")],
    "$10,000-$15,000": [10000, 15000],
    "$10,000–15,000": [10000, 15000],
    "$10,000 to 15,000": [10000, 15000],
    "between $10,000 and $15,000": [10000, 15000],
    "$5-10 million": [5000000, 10000000],
    "$5,000 to $1 million": [5000, 1000000],
    "10,000 to 15,000 USD": [10000, 15000],
    "three deposits of $4,000, $4,500 and $3,900": [4000, 4500, 3900],
    "a (USD 12,000) deposit": [12000],
    "$12,000, then": [12000],
    "$12,000.": [12000],
    "5 triệu USD": [5000000],
    "1,5 triệu đô la": [1500000],
    "a $12,000 cash deposit": [12000],
    "a $7,500-per-month income": [7500],
    "12'000 USD": [12000],
    "twelve thousand dollars": [],
    "12,000": [],
    "31 CFR 1010.311": [],
    "EUR 12,000": [],
    "400.000.000 đồng": [],
    "12,000 customers paid $30": [30],
}
VND = {
    "400.000.000 đồng": [400000000],
    "400,000,000 VND": [400000000],
    "400 000 000 VND": [400000000],
    "400\u00a0000\u00a0000 VND": [400000000],
    "VND 400,000,000": [400000000],
    "VND400,000,000": [400000000],
    "VND 400 million": [400000000],
    "400 million VND": [400000000],
    "400 million dong": [400000000],
    "400M VND": [400000000],
    "VND400m": [400000000],
    "400 triệu": [400000000],
    "400 triệu đồng": [400000000],
    "400 triệu VND": [400000000],
    "420 triệu": [420000000],
    "420tr": [420000000],
    "420tr đồng": [420000000],
    "1,2 tỷ": [1200000000],
    "1.2 tỷ": [1200000000],
    "1,2 tỉ đồng": [1200000000],
    "1,250 tỷ": [1250000000],
    "1.250 tỷ đồng": [1250 * 10**9],
    "1 tỷ 200 triệu": [1200000000],
    "1 tỷ 200 triệu đồng": [1200000000],
    "2 tỷ rưỡi": [2500000000],
    "3 triệu rưỡi": [3500000],
    "2 nghìn tỷ đồng": [2 * 10**12],
    "500 nghìn đồng": [500000],
    "500 ngàn đồng": [500000],
    "500k đồng": [500000],
    "500.000đ": [500000],
    "500.000 ₫": [500000],
    "₫500.000": [500000],
    "500.000 VNĐ": [500000],
    "400-500 triệu đồng": [400000000, 500000000],
    "từ 400 đến 500 triệu đồng": [400000000, 500000000],
    "400 triệu đến 500 triệu": [400000000, 500000000],
    "400 and 500 million VND": [400000000, 500000000],
    "VND 3 billion": [3 * 10**9],
    "VND 1.3 trillion": [1300 * 10**9],
    "dưới 400.000.000 VND/ngày": [400000000],
    "ba lần nộp 150 triệu, 150 triệu và 120 triệu": [150000000, 150000000, 120000000],
    "350.000.000 đồng tiền mặt": [350000000],
    "399.999.999 đồng": [399999999],
    "500 nghìn": [],
    "400 million": [],
    "Nghị định 116/2013/NĐ-CP, Điều 20": [],
    "4 triệu USD": [],
    "bốn trăm triệu đồng": [],
}
EUR = {
    "EUR 45": [45],
    "EUR 42.50": [Decimal("42.5")],
    "€45": [45],
    "€ 45,50": [Decimal("45.5")],
    "45,50 €": [Decimal("45.5")],
    "45 euros": [45],
    "45 euro": [45],
    "EUR 15 000": [15000],
    "EUR 15.000": [15000],
    "€15,000": [15000],
    "EUR 110 million": [110000000],
    "€110m": [110000000],
    "€1.5bn": [1500000000],
    "EUR 30 to EUR 50": [30, 50],
    "EUR 30-50": [30, 50],
    "$45": [],
}
PERCENT = {
    "15%": [15],
    "15 %": [15],
    "15 percent": [15],
    "15 per cent": [15],
    "15pct": [15],
    "15 phần trăm": [15],
    "12,5%": [Decimal("12.5")],
    "12.5 %": [Decimal("12.5")],
    "99.875%": [Decimal("99.875")],
    "1,250%": [1250],
    "180%": [180],
    "80-100%": [80, 100],
    "80 to 100 percent": [80, 100],
    "between 80% and 100%": [80, 100],
    "tỷ lệ 85%": [85],
    "0.75%": [Decimal("0.75")],
    "15": [],
}
DAYS = {
    "10 ngày": [10],
    "10 days": [10],
    "1 day": [1],
    "30 calendar days": [30],
    "10 business days": [10],
    "10 working days": [10],
    "10-day": [10],
    "10-business-day": [10],
    "ten (10) days": [10],
    "quá hạn 15 ngày": [15],
    "15 ngày làm việc": [15],
    "15 days past due": [15],
    "15 DPD": [15],
    "day 21": [21],
    "Day 10": [10],
    "ngày thứ 21": [21],
    "2 weeks": [14],
    "3 tuần": [21],
    "10 to 30 days": [10, 30],
    "10–30 ngày": [10, 30],
    "từ 10 đến 30 ngày": [10, 30],
    "day 10 to 30": [10, 30],
    "360 days": [360],
    "1,095 days": [1095],
    "ngày 15/3/2026": [],
    "ten days": [],
    "mười ngày": [],
    "3 months": [],
}
LEVEL = {
    "ESI 2": [2],
    "ESI level 2": [2],
    "ESI-2": [2],
    "Level 1": [1],
    "level: 3": [3],
    "cấp độ 4": [4],
    "mức 5": [5],
    "ESI": [],
    "2 nurses": [],
}
RATIO = {
    "0.85x": [Decimal("0.85")],
    "1.5 times": [Decimal("1.5")],
    "0,85 lần": [Decimal("0.85")],
    "ratio of 0.8": [Decimal("0.8")],
    "tỷ lệ là 0,8": [Decimal("0.8")],
    "0.8": [],
}
TABLE = [
    (unit, text, values)
    for unit, cases in {
        "usd": USD, "vnd": VND, "eur": EUR, "percent": PERCENT, "days": DAYS, "level": LEVEL, "ratio": RATIO,
    }.items()
    for text, values in cases.items()
]  # fmt: skip


def test_the_table_is_large_and_covers_both_languages():
    assert len(TABLE) >= 120
    assert sum(any(letter in text for letter in "đươàáảồệầăâ") for _, text, _ in TABLE) >= 40


@pytest.mark.parametrize(("unit", "text", "values"), TABLE)
def test_figures_are_read_as_they_are_spelled(unit, text, values):
    assert list(witnesses.figures(text, unit)) == values
    assert list(witnesses.figures(f"Tại quầy, at the counter: {text} / case", unit)) == values


SENTENCES = [
    ("usd", "She wires USD 10,000 and waits 15 days.", [10000]),
    ("days", "She wires USD 10,000 and waits 15 days.", [15]),
    ("vnd", "Khách gửi 420 triệu tiền mặt và 1.000 USD trong 3 ngày.", [420000000]),
    ("usd", "Khách gửi 420 triệu tiền mặt và 1.000 USD trong 3 ngày.", [1000]),
    ("percent", "Under 31 CFR 1010.311 the ratio is 180% of $5 million.", [180]),
    ("vnd", "Hạn mức: dưới 500 triệu; 500 triệu–2 tỷ; trên 2 tỷ.", [500000000, 500000000, 2 * 10**9, 2 * 10**9]),
    ("eur", "Tier 1 is EUR 400 million, Tier 2 EUR 100 million, exposure EUR 110 million.", [4 * 10**8, 10**8, 11 * 10**7]),
]


@pytest.mark.parametrize(("unit", "text", "values"), SENTENCES)
def test_figures_of_one_unit_are_told_from_others_in_a_sentence(unit, text, values):
    assert list(witnesses.figures(text, unit)) == values


def test_decomposed_vietnamese_is_read_like_composed():
    assert witnesses.figures(unicodedata.normalize("NFD", "1,2 tỷ đồng"), "vnd") == (Decimal("1200000000.0"),)


@cache
def faults(text: str) -> list:
    return [fault for cell in reading.cells_in() for fault in reading.read_judge_side(cell, text)[1]]


def witness_of(fault_id: str, text: str = "corrected") -> Witness:
    return next(fault.witness for fault in faults(text) if fault.id == fault_id)


EDGES = [
    ("FT-F1", "a cash deposit of $10,000", "near_miss"),
    ("FT-F1", "a cash deposit of $10,000.01", "discriminates"),
    ("FT-F1", "a cash deposit of $15,000", "discriminates"),
    ("FT-F1", "a cash deposit of $15,001", "near_miss"),
    ("FT-F1", "a large cash deposit", "no_figure"),
    ("FT-F2", "activity of $5,000 in all", "discriminates"),
    ("FT-F2", "odd activity of $1,200 in total", "near_miss"),
    ("IN-F1", "the RBC ratio is 150%", "discriminates"),
    ("IN-F1", "the RBC ratio is 200%", "near_miss"),
    ("IN-F3", "settle for $50,000", "near_miss"),
    ("IN-F3", "settle for $2 million", "discriminates"),
    ("HC-F5", "expected: ESI level 2", "discriminates"),
    ("HC-F5", "expected: ESI level 3", "near_miss"),
    ("BV-F1", "nộp 400 triệu đồng tiền mặt", "discriminates"),
    ("BV-F1", "nộp 399,9 triệu đồng tiền mặt", "near_miss"),
    ("BV-F1", "nộp 500.000.001 đồng tiền mặt", "near_miss"),
    ("BV-F3", "khoản vay 1,2 tỷ", "discriminates"),
    ("BV-F5", "quá hạn 10 ngày", "discriminates"),
    ("BV-F5", "quá hạn 9 ngày", "near_miss"),
    ("BV-F5", "quá hạn 31 ngày", "near_miss"),
    ("IVN-F1", "the margin is 80% of the minimum", "discriminates"),
    ("IVN-F1", "the margin is 100% of the minimum", "near_miss"),
    ("IVN-F3", "a claim of VND 200 million", "discriminates"),
    ("IVN-F3", "a claim of VND 90 million", "near_miss"),
    ("IVN-F4", "on day 21 after receipt", "discriminates"),
    ("IVN-F4", "on day 30 after receipt", "near_miss"),
    ("EB-F1", "a remote payment of EUR 30", "near_miss"),
    ("EB-F1", "a remote payment of EUR 50", "discriminates"),
    ("EB-F5", "the exposure is EUR 125 million", "discriminates"),
    ("EB-F5", "the exposure is EUR 100 million", "near_miss"),
]


@pytest.mark.parametrize(("fault_id", "text", "outcome"), EDGES)
def test_the_bounds_of_each_witness_are_applied_with_their_inclusivity(fault_id, text, outcome):
    assert witnesses.check_witness(witness_of(fault_id), text) == outcome


def test_every_executable_witness_is_tried_at_its_edges():
    executable = {fault.id for fault in faults("corrected") if witnesses.executable(fault.witness)}
    assert executable == {fault_id for fault_id, _, _ in EDGES}
    assert len(executable) == 13


def test_the_released_wording_moves_the_lower_bound_of_the_debt_group_fault():
    text = "quá hạn 10 ngày"
    assert witnesses.check_witness(witness_of("BV-F5", "as_written"), text) == "near_miss"
    assert witnesses.check_witness(witness_of("BV-F5", "corrected"), text) == "discriminates"


@pytest.mark.parametrize("fault_id", ["FT-F5", "IN-F5", "IVN-F5", "FT-F3"])
def test_a_witness_on_a_derived_figure_or_without_interval_is_not_executable(fault_id):
    assert witnesses.check_witness(witness_of(fault_id), "housing costs of $1,800 and a ratio of 0.8 or 105%") is None
