"""Consistency of printed statistics: parsing, witnesses, power, and what the declared list says."""

from fractions import Fraction

import pandas as pd
import pytest

from regatta_lib import consistency, paths
from regatta_lib.consistency import parse, power, witnesses
from regatta_lib.contracts import ContractError
from regatta_lib.reference import read_published_values


@pytest.fixture(scope="module")
def claims():
    return consistency.CLAIMS.read(paths.CONSISTENCY / "claims.csv")


@pytest.fixture(scope="module")
def results(claims):
    return consistency.check(claims).set_index("key")


@pytest.mark.parametrize(
    ("printed", "value", "half"),
    [
        (".536", Fraction(536, 1000), Fraction(1, 2000)),
        ("66.3%", Fraction(663, 1000), Fraction(1, 2000)),
        ("69%", Fraction(69, 100), Fraction(1, 200)),
        ("+.09", Fraction(9, 100), Fraction(1, 200)),
        ("−.17", Fraction(-17, 100), Fraction(1, 200)),
        ("-.17", Fraction(-17, 100), Fraction(1, 200)),
        ("1,110", Fraction(1110), Fraction(1, 2)),
        ("0.50", Fraction(1, 2), Fraction(1, 200)),
    ],
)
def test_printed_numbers(printed, value, half):
    assert (parse(printed).value, parse(printed).half) == (value, half)


@pytest.mark.parametrize("printed", ["", ".", "%", "a", "1.2.3", "about .5", "1 110"])
def test_what_is_no_printed_number_is_refused(printed):
    with pytest.raises(ValueError, match="not a printed number"):
        parse(printed)


def test_witnesses_are_all_integers_that_round_right():
    for n in (7, 40, 180, 300):
        for printed in (".50", ".536", ".86", ".663"):
            target = parse(printed)
            assert witnesses(target, n) == [k for k in range(n + 1) if target.fits(Fraction(k, n))]


def test_halves_may_round_either_way():
    assert witnesses(parse(".13"), 8) == [1] and witnesses(parse(".12"), 8) == [1]  # 1/8 = .125


def test_power_is_zero_where_every_value_fits():
    assert power(parse(".50"), 100) == 0
    assert power(parse(".50"), 10) == pytest.approx(90 / 101)


def test_spans_of_the_kinds():
    assert witnesses(parse("−.17"), 300, "difference") == [-52, -51, -50]
    assert witnesses(parse("−.17"), 300, "share") == []
    assert witnesses(parse("4.50"), 2, "likert_mean") == [9]
    assert witnesses(parse("5.50"), 2, "likert_mean") == []


def test_the_retest_agreement_is_no_share_of_180(results):
    row = results.loc["retest/agreement"]
    assert (row["verdict"], row["counts"]) == ("inconsistent", 0)
    assert row["witness"] == "96/180 = .5333, 97/180 = .5389"
    assert (results["verdict"] == "inconsistent").sum() == 1


def test_counts_of_the_historical_figures_are_those_of_the_record(results):
    for key, witness in {
        "v3/agreement_sonnet4": "203/300",
        "v3/agreement_qwen72b": "208/300",
        "v3/agreement_gemma26b": "199/300",
        "v2/missing_regulation_low": "57/60",
        "v2/missing_regulation_high": "59/60",
        "v1/median": "10/36",
        "adjudication/agreement": "43/50",
    }.items():
        assert (results.loc[key, "verdict"], results.loc[key, "witness"]) == ("consistent", witness), key


def test_a_value_with_no_power_is_not_called_consistent(results):
    assert results.loc["v1/mean", "verdict"] == "no power"
    assert (results.loc[results["verdict"] == "no power", "power"] == 0).all()


def test_chance_is_a_product_of_two_margins(results):
    target = parse(".549")
    found = consistency.chance_witnesses(target, 180)
    assert len(found) == results.loc["retest/pooled_chance", "counts"] == 36
    assert all(target.fits(Fraction(a * b + (180 - a) * (180 - b), 180**2)) for a, b in found)


def test_readings_that_could_give_the_retest_agreement():
    found = consistency.readings(".536", 180, range(1, 4), range(1, 3)).set_index("reading")
    assert found["possible"].to_dict() == {
        "1 executions of each pair": False,
        "2 executions of each pair": True,
        "3 executions of each pair": False,
        "1 pairs without a verdict": True,
        "2 pairs without a verdict": False,
    }
    assert found.loc["2 executions of each pair", "counts"] == "193"


def test_a_wrong_sum_is_inconsistent(claims):
    wrong = claims[claims["key"] == "abstract/audit"].assign(printed="24+46+31+25")
    assert consistency.check(wrong)["verdict"].to_list() == ["inconsistent"]


def test_the_list_of_claims_is_checked(claims, tmp_path):
    path = tmp_path / "claims.csv"
    path.write_text(claims.to_csv(index=False).replace(",share,", ",shares,", 1), encoding="utf-8")
    with pytest.raises(ContractError, match="kind"):
        consistency.CLAIMS.read(path)


def test_claims_agree_with_the_seed_of_the_paper(claims):
    """Every claim with a number stands for something the summary prints; keys are unique and sorted by the contract."""
    assert len(claims) == 38
    assert isinstance(claims, pd.DataFrame)
    assert claims.loc[claims["kind"] != "untestable", "n"].notna().all()


def test_every_tested_number_is_among_the_published_ones(claims):
    """The claims restate printed numbers; each must stand, to the digit, in the list of what the paper prints."""
    published = read_published_values(paths.REFERENCE)
    known = {parse(text).value for text in published["printed"] if consistency.NUMBER.fullmatch(text)}
    for claim in claims.query("kind != 'sum'").itertuples():
        value = parse(claim.printed).value
        assert {value, 100 * value} & known, claim.key


def test_a_mistyped_claim_would_be_seen(claims):
    published = read_published_values(paths.REFERENCE)
    known = {parse(text).value for text in published["printed"] if consistency.NUMBER.fullmatch(text)}
    assert not {parse(".537").value, 100 * parse(".537").value} & known
