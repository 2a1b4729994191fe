"""Do integer counts exist that give the printed statistics? (the GRIM test of Brown and Heathers 2017, and its kin)

A share of n things can only be k/n. If no integer k gives the printed digits, the number of things, the digits or the
statistic is not what it is said to be. Where n is large against the printed precision every value fits and the test has
no power: the table says so.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass as plain_dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Literal

import pandas as pd
from pydantic.dataclasses import dataclass

from regatta_lib.base import LAZY, Contract, Positive

Kind = Literal["share", "difference", "likert_mean", "likert_difference", "sum", "chance", "untestable"]

# the integers k that k/n may have, as multiples of n; every multiple of 1/n between them is possible
BOUNDS = {"share": (0, 1), "difference": (-1, 1), "likert_mean": (1, 5), "likert_difference": (-4, 4)}
OUTCOME_COLUMNS = ("n11", "n10", "n01", "n00")
PRINTED_NUMBER = re.compile(r"([+−-]?)(\d{0,3}(?:,\d{3})*)(?:\.(\d+))?( ?%)?")


@dataclass(frozen=True, config=LAZY)
class Claim:
    """One printed statistic: what is printed, where, of how many things, and what kind of statistic it is.

    ``n`` is the number of things it is a share or mean of; missing where the paper's summary doesn't say.
    """

    key: str
    printed: str
    place: str
    kind: Kind
    n: Positive | None
    unit: str


CLAIM_TABLE = Contract(Claim, ("key",))


@plain_dataclass(frozen=True)
class Printed:
    """A printed number: its exact value and half a unit of its last digit."""

    value: Fraction
    half: Fraction

    def fits(self, value: Fraction | float) -> bool:
        """Does ``value`` round to what is printed? Halves may round either way; the noise of a float does not count."""
        exact = Fraction(value).limit_denominator(10**9) if isinstance(value, float) else value
        return abs(exact - self.value) <= self.half


def parse(printed: str) -> Printed:
    """Read a printed number such as ``.536``, ``66.3%``, ``−.17`` or ``1,110``. Raises ValueError for anything else.

    >>> parse(".5")  # anything from .45 to .55
    Printed(value=Fraction(1, 2), half=Fraction(1, 20))
    """
    match = PRINTED_NUMBER.fullmatch(printed)
    if match is None or not (match[2] or match[3]):
        raise ValueError(f"{printed!r} is not a printed number")
    decimals = match[3] or ""
    scale = Fraction(1, 10 ** len(decimals)) * (Fraction(1, 100) if match[4] else 1)
    digits = int((match[2].replace(",", "") or "0") + decimals)
    return Printed((-1 if match[1] in ("−", "-") and match[1] else 1) * digits * scale, scale / 2)


def witnesses(printed: Printed, n: int, kind: str = "share") -> list[int]:
    """All integers k for which k/n rounds to the printed value, within the range that the kind allows.

    >>> witnesses(parse(".536"), 180), witnesses(parse(".536"), 360)  # 193/360 = .5361
    ([], [193])
    """
    low, high = BOUNDS[kind]
    first = max(low * n, ceil((printed.value - printed.half) * n))
    last = min(high * n, floor((printed.value + printed.half) * n))
    return list(range(first, last + 1))


def power(printed: Printed, n: int, kind: str = "share") -> float:
    """The share of printable values, at this precision and in this range, that no integer gives: 0 means no test.

    >>> round(power(parse(".5"), n=1), 4)  # of .0, .1, …, 1.0 only .0 and 1.0 are k/1: 9 of 11 are not
    0.8182
    """
    low, high = (Fraction(bound) for bound in BOUNDS[kind])
    unit = 2 * printed.half
    values = [low + step * unit for step in range(int((high - low) / unit) + 1)]
    return sum(not witnesses(Printed(value, printed.half), n, kind) for value in values) / len(values)


def chance_witnesses(printed: Printed, n: int) -> list[tuple[int, int]]:
    """All (a, b), a ≤ b, with a·b/n² + (n − a)(n − b)/n² rounding to the printed pooled chance.

    >>> chance_witnesses(parse(".50"), 2)
    [(0, 1), (1, 1), (1, 2)]
    """
    return [
        (a, b) for a in range(n + 1) for b in range(a, n + 1) if printed.fits(Fraction(a * b + (n - a) * (n - b), n * n))
    ]


def tables(n: int, agreeing: int | None = None, judge_only: int | None = None) -> Iterator[tuple[int, int, int, int]]:
    """All 2×2 tables (n11, n10, n01, n00) of n pairs: judge yes first, adjudicator yes second.

    ``agreeing`` fixes n11 + n00, ``judge_only`` fixes n10.
    """
    for n11 in range(n + 1):
        for n10 in range(n - n11 + 1) if judge_only is None else [judge_only]:
            for n01 in range(n - n11 - n10 + 1):
                n00 = n - n11 - n10 - n01
                if n00 >= 0 and (agreeing is None or n11 + n00 == agreeing):
                    yield n11, n10, n01, n00


def exact_kappa(n11: int, n10: int, n01: int, n00: int) -> Fraction | None:
    """Cohen's κ of a 2×2 table as a fraction, (p_o − p_e) / (1 − p_e) (Cohen 1960); None where it is undefined.

    >>> exact_kappa(20, 5, 10, 15)  # (.7 − .5) / (1 − .5)
    Fraction(2, 5)
    """
    n = n11 + n10 + n01 + n00
    expected = Fraction((n11 + n10) * (n11 + n01) + (n01 + n00) * (n10 + n00), n * n)
    return None if expected == 1 else (Fraction(n11 + n00, n) - expected) / (1 - expected)


def tables_with_kappa(printed: str, n: int, agreeing: int | None = None, judge_only: int | None = None) -> pd.DataFrame:
    """All 2×2 tables of n pairs whose κ rounds to the printed one.

    Columns: n11, n10, n01, n00, kappa, agreement, judge_yes, adjudicator_yes.

    >>> tables_with_kappa("1.00", n=3)[[*OUTCOME_COLUMNS]].to_numpy().tolist()
    [[1, 0, 0, 2], [2, 0, 0, 1]]
    """
    target = parse(printed)
    rows = []
    for cells in tables(n, agreeing, judge_only):
        kappa = exact_kappa(*cells)
        if kappa is not None and target.fits(kappa):
            n11, n10, n01, n00 = cells
            rows.append(
                {
                    **dict(zip(OUTCOME_COLUMNS, cells, strict=True)),
                    "kappa": float(kappa),
                    "agreement": (n11 + n00) / n,
                    "judge_yes": n11 + n10,
                    "adjudicator_yes": n11 + n01,
                }
            )
    return pd.DataFrame(rows, columns=[*OUTCOME_COLUMNS, "kappa", "agreement", "judge_yes", "adjudicator_yes"])


def check_claims(claims: pd.DataFrame) -> pd.DataFrame:
    """The consistency table: one row per claim with its verdict.

    Columns: key, printed, place, kind, n, unit, verdict, counts (number of integer solutions), witness (their range, or
    the nearest misses), power. Verdicts: ``consistent``; ``no power`` (every printable value has counts);
    ``inconsistent``; ``not testable`` (no n, or not a ratio of counts).
    """
    rows = []
    for claim in claims.to_dict("records"):
        row: dict[str, object] = {"verdict": "not testable", "counts": None, "witness": "", "power": None}
        if claim["kind"] == "sum":
            terms = [int(term) for term in claim["printed"].split("+")]
            row |= {
                "verdict": "consistent" if sum(terms) == claim["n"] else "inconsistent",
                "counts": int(sum(terms) == claim["n"]),
                "witness": f"sum = {sum(terms)}",
            }
        elif claim["kind"] == "chance":
            found = chance_witnesses(parse(claim["printed"]), int(claim["n"]))
            row |= {
                "verdict": "consistent" if found else "inconsistent",
                "counts": len(found),
                "witness": "pairs of marginal counts" if found else "",
            }
        elif claim["kind"] != "untestable":
            row |= ratio_row(parse(claim["printed"]), int(claim["n"]), claim["kind"])
        rows.append(claim | row)
    return pd.DataFrame(rows).astype({"n": "Int64", "counts": "Int64"})


def ratio_row(printed: Printed, n: int, kind: str) -> dict[str, object]:
    """Verdict, number of solutions, witness and power of one ratio of counts."""
    found, strength = witnesses(printed, n, kind), power(printed, n, kind)
    if not found:
        return {"verdict": "inconsistent", "counts": 0, "witness": nearest(printed, n), "power": strength}
    shown = f"{found[0]}/{n}" if len(found) == 1 else f"{found[0]}/{n} to {found[-1]}/{n}"
    return {
        "verdict": "consistent" if strength else "no power",
        "counts": len(found),
        "witness": shown,
        "power": strength,
    }


def nearest(printed: Printed, n: int) -> str:
    """The two neighbouring fractions of a printed value that none gives.

    >>> nearest(parse(".536"), 180)
    '96/180 = .5333, 97/180 = .5389'
    """
    below = floor(printed.value * n)
    return ", ".join(f"{k}/{n} = {k / n:.4f}".replace("0.", ".") for k in (below, below + 1))


def readings(printed: str, pairs: int, repetitions: range, missing: range) -> pd.DataFrame:
    """Which numbers of comparisons could give a printed share that ``pairs`` single pairs cannot?

    Two kinds of reading: each pair compared with R repeated executions (n = R · pairs), and some pairs without a verdict
    left out (n = pairs − m). Columns: reading (in words), executions (R) and missing (m), each missing for the other kind
    of reading, n, counts, possible.

    >>> readings(".536", 180, repetitions=range(1, 3), missing=range(0))["counts"].tolist()
    ['', '193']
    """
    target = parse(printed)
    tried: list[tuple[str, int | None, int | None, int]]
    tried = [(f"{r} executions of each pair", r, None, r * pairs) for r in repetitions]
    tried += [(f"{m} pairs without a verdict", None, m, pairs - m) for m in missing]
    table = pd.DataFrame(tried, columns=["reading", "executions", "missing", "n"])
    found = [witnesses(target, n) for n in table["n"]]
    counts = [", ".join(map(str, integers)) for integers in found]
    table = table.assign(counts=counts, possible=[bool(integers) for integers in found])
    return table.astype({"executions": "Int64", "missing": "Int64"})
