"""Witnesses: does a scenario state a figure on which a faulty and a correct agent must differ?

The check reads the figures of the witness's unit from the scenario's own text, in English and Vietnamese spelling, and
needs no model. It does not know what a figure stands for: a scenario that mentions a $12,000 cheque is inside the
interval of a cash limit. So "discriminates" is a necessary sign of a good scenario, never a sufficient one.

Not read: numbers in words ("twelve thousand", "mười ngày"), amounts without a currency (but triệu and tỷ imply dong,
whatever they count), months and years as days, other currencies, and figures that first have to be worked out.
"""

import re
import unicodedata
from decimal import Decimal
from functools import cache
from itertools import pairwise
from typing import Literal

from regatta_lib.instruments.items import Unit, Witness

WitnessOutcome = Literal["discriminates", "near_miss", "no_figure"]

GAPS = "\u0020\u00a0\u2009\u202f"
NUMBER = rf"\d{{1,3}}(?:(?P<group>[.,'’{GAPS}])\d{{3}})(?:(?P=group)\d{{3}})*(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)?"
ENGLISH = {
    "thousand": 10**3, "k": 10**3, "million": 10**6, "mn": 10**6, "m": 10**6,
    "billion": 10**9, "bn": 10**9, "b": 10**9, "trillion": 10**12,
}  # fmt: skip
VIETNAMESE = {
    "nghìn tỷ": 10**12, "nghìn tỉ": 10**12, "ngàn tỷ": 10**12, "ngàn tỉ": 10**12,
    "nghìn": 10**3, "ngàn": 10**3, "triệu": 10**6, "tr": 10**6, "tỷ": 10**9, "tỉ": 10**9,
}  # fmt: skip
SCALES = ENGLISH | VIETNAMESE
IMPLY_DONG = VIETNAMESE.keys() - {"nghìn", "ngàn"}
SIGNS = {"usd": r"US\$|USD|\$", "vnd": "VNĐ|VND|₫", "eur": "EUR|€"}
CURRENCIES = {"usd": r"(?:US )?dollars?|đô la(?: Mỹ)?|đô", "vnd": "đồng|(?:Vietnamese )?dong|đ", "eur": "euros?"}
BEFORE = {
    "days": r"days? |ngày thứ ",
    "level": r"(?:ESI(?: level)?|level|mức(?: độ)?|cấp(?: độ)?)(?:: ?| |-)",
    "ratio": r"(?:ratio|tỷ lệ|tỷ số|hệ số)(?: (?:of|is|là|=) |: ?| )",
}
AFTER = {
    "percent": r"%|per ?cent|pct|phần trăm",
    "days": r"(?:(?:business|working|banking|calendar|consecutive|full|more)[ -])?days?|ngày|weeks?|tuần|DPD",
    "ratio": r"times|x|lần",
}
RANGE = re.compile(rf"[{GAPS}]*(?:[-–—]|to|and|or|đến|tới|và|hoặc)[{GAPS}]*", re.IGNORECASE)
SPAN = re.compile(rf"[{GAPS}]*(?:[-–—]|to|đến|tới)[{GAPS}]*", re.IGNORECASE)


def number(text: str, scale: str = "", money: bool = True) -> Decimal:
    """The value of a written number, before its scale word is applied.

    With two kinds of separator the last is the decimal one, and a repeated separator groups thousands. A single one is
    decimal unless exactly three digits follow; then it groups thousands, except a full stop before an English scale
    word (1.250 billion) or in a figure that is no money (99.875 %), and a comma before a Vietnamese one (1,250 tỷ).
    """
    digits = re.sub(rf"['’{GAPS}]", "", text)
    marks = re.findall("[.,]", digits)
    decimal = marks[-1] if len(set(marks)) == 2 or len(marks) == 1 else ""
    if len(marks) == 1 and re.fullmatch(r"[1-9]\d{0,2}[.,]\d{3}", digits):
        point = decimal == "." and (scale in ENGLISH or not money)
        decimal = decimal if point or (decimal == "," and scale in VIETNAMESE) else ""
    whole, _, part = digits.partition(decimal) if decimal else (digits, "", "")
    return Decimal(re.sub("[.,]", "", whole) + (f".{part}" if part else ""))


@cache
def _pattern(unit: Unit) -> re.Pattern[str]:
    """Numbers with what stands directly before and after them, for one unit (all currencies together for money)."""
    money = unit in SIGNS
    signs, names = "|".join(SIGNS.values()), "|".join(CURRENCIES.values())
    before = signs if money else BEFORE.get(unit, "(?!)")
    # A sign directly before the next number belongs to that one: "Tier 2 EUR 100 million".
    after = rf"(?:{signs})(?![{GAPS}]?\d)|{names}" if money else AFTER.get(unit, "(?!)")
    words = "|".join(sorted(SCALES, key=len, reverse=True)) if money else "(?!)"
    return re.compile(
        rf"(?:(?<![^\W\d_])(?P<before>{before})[{GAPS}]?|(?<![\w.,]))(?P<number>{NUMBER})"
        rf"(?:[{GAPS}]?(?P<scale>{words})(?![^\W_])(?P<half>[{GAPS}]rưỡi)?)?"
        rf"(?:\)?[{GAPS}-]?(?P<after>{after})(?![^\W_]))?",
        re.IGNORECASE,
    )


def _unit(match: re.Match[str], unit: Unit) -> str:
    """The unit written at a number, or an empty text where none is."""
    mark = match["before"] or match["after"]
    if unit not in SIGNS:
        return unit if mark else ""
    if mark:
        return next(name for name in SIGNS if re.fullmatch(f"{SIGNS[name]}|{CURRENCIES[name]}", mark, re.IGNORECASE))
    return "vnd" if (match["scale"] or "").lower() in IMPLY_DONG else ""


def figures(text: str, unit: Unit) -> tuple[Decimal, ...]:
    """The figures of one unit that a text states, in order: whole dollars, dong or euros, percent, days, level, ratio.

    In a range the unit and the scale word may stand once ("400-500 triệu đồng", "$5 to 10 million"); a large and a
    small scale in a row make one figure ("1 tỷ 200 triệu"); a week is seven days.
    """
    text = unicodedata.normalize("NFC", text)
    matches = list(_pattern(unit).finditer(text))
    units = [_unit(match, unit) for match in matches]
    scales = [(match["scale"] or "").lower() for match in matches]
    for here, (match, following) in enumerate(pairwise(matches)):
        between = text[match.end() : following.start()]
        if RANGE.fullmatch(between):
            if not units[here] and not following["before"]:
                units[here] = units[here + 1]
            if not scales[here] and number(match["number"]) < 1000:
                scales[here] = scales[here + 1]
        if SPAN.fullmatch(between) and not units[here + 1]:
            units[here + 1] = units[here]
    values: list[Decimal] = []
    for here, match in enumerate(matches):
        value = number(match["number"], scales[here], unit in SIGNS) * SCALES.get(scales[here], 1)
        if match["half"]:
            value += Decimal(SCALES[scales[here]]) / 2
        if (match["after"] or "").lower().startswith(("week", "tuần")):
            value *= 7
        joined = here and text[matches[here - 1].end() : match.start()].strip(GAPS) == "" and not match["before"]
        if joined and values and scales[here] and SCALES[scales[here]] < SCALES.get(scales[here - 1], 0):
            values[-1] += value
        elif units[here] == unit:
            values.append(value)
    return tuple(values)


def inside(witness: Witness, value: Decimal) -> bool:
    """Does the value lie between the bounds of the witness? A missing bound is open."""
    above = witness.low is None or value > witness.low or (witness.low_inclusive and value == witness.low)
    below = witness.high is None or value < witness.high or (witness.high_inclusive and value == witness.high)
    return above and below


def executable(witness: Witness) -> bool:
    """Can the witness be checked in a text: has it an interval on a figure that scenarios state themselves?"""
    return witness.unit is not None and witness.stated


def check_witness(witness: Witness, text: str) -> WitnessOutcome | None:
    """Do the figures of a scenario's text satisfy the witness? None where the witness is not executable.

    ``discriminates``: some figure of the unit lies in the interval; ``near_miss``: there are figures, but none does;
    ``no_figure``: the text states none.
    """
    if not executable(witness) or witness.unit is None:
        return None
    stated = figures(text, witness.unit)
    if not stated:
        return "no_figure"
    return "discriminates" if any(inside(witness, value) for value in stated) else "near_miss"
