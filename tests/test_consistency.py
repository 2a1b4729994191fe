"""Consistency of printed statistics: parsing, witnesses, power, and what the declared list says."""

from fractions import Fraction

import pandas as pd
import pytest

from regatta_lib.base import ContractError, paths
from regatta_lib.reproduce import read_published_values
from regatta_lib.stats import consistency, parse
from regatta_lib.stats.consistency import power, witnesses


@pytest.fixture(scope="module")
def claims():
    return consistency.CLAIM_TABLE.read(paths.CONSISTENCY / "claims.csv")


@pytest.fixture(scope="module")
def results(claims):
    return consistency.check_claims(claims).set_index("key")


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
    assert found["executions"].tolist() == [1, 2, 3, pd.NA, pd.NA]
    assert found["missing"].tolist() == [pd.NA, pd.NA, pd.NA, 1, 2]
    assert found["n"].tolist() == [180, 360, 540, 179, 178]


def test_one_kind_of_reading_may_be_left_out():
    found = consistency.readings(".536", 180, range(1, 3), range(1, 1))
    assert found["n"].tolist() == [180, 360] and found["missing"].isna().all()


def test_a_wrong_sum_is_inconsistent(claims):
    wrong = claims[claims["key"] == "abstract/audit"].assign(printed="24+46+31+25")
    assert consistency.check_claims(wrong)["verdict"].to_list() == ["inconsistent"]


def test_the_list_of_claims_is_checked(claims, tmp_path):
    path = tmp_path / "claims.csv"
    path.write_text(claims.to_csv(index=False).replace(",share,", ",shares,", 1), encoding="utf-8")
    with pytest.raises(ContractError, match="kind"):
        consistency.CLAIM_TABLE.read(path)


def test_every_testable_claim_states_its_n(claims):
    assert len(claims) == 38
    assert claims.loc[claims["kind"] != "untestable", "n"].notna().all()


# claim -> the figure of published_values.csv that it restates; the sum restates four
PUBLISHED_KEYS = {
    "abstract/stage_agreement_high": "v3/agreement_highest_percent_whole",
    "abstract/stage_agreement_low": "v3/agreement_lowest_percent_whole",
    "adjudication/agreement": "agreement/rate",
    "adjudication/disagreements": "agreement/disagreements",
    "adjudication/kappa": "agreement/kappa",
    "adjudication/kappa_high": "agreement/kappa_high",
    "adjudication/kappa_low": "agreement/kappa_low",
    "probes/kappa": "probes/kappa",
    "probes/second_judge_agreements": "probes/gpt4o_agreements",
    "probes/second_judge_kappa": "probes/gpt4o_kappa",
    "retest/agreement": "retest/agreement",
    "retest/pooled_chance": "retest/pooled_chance",
    "second_judge/ac_kappa_high": "second_judge/ac_kappa_highest",
    "second_judge/ac_kappa_low": "second_judge/ac_kappa_lowest",
    "second_judge/iss_kappa_high": "second_judge/iss_weighted_kappa_highest",
    "second_judge/iss_kappa_low": "second_judge/iss_weighted_kappa_lowest",
    "v1/cell_mean_us_insurance": "v1/cell_mean/us_insurance",
    "v1/cell_mean_vn_banking": "v1/cell_mean/vn_banking",
    "v1/mean": "v1/mean",
    "v1/median": "v1/median",
    "v1/sd": "v1/sd",
    "v2/missing_regulation_high": "v2/missing_regulation_execution_highest",
    "v2/missing_regulation_low": "v2/missing_regulation_execution_lowest",
    "v3/agreement_gemma26b": "v3/agreement/gemma26b",
    "v3/agreement_gemma26b_percent": "v3/agreement_lowest_percent",
    "v3/agreement_qwen72b": "v3/agreement/qwen72b",
    "v3/agreement_qwen72b_percent": "v3/agreement_highest_percent",
    "v3/agreement_sonnet4": "v3/agreement/sonnet4",
    "v3/delta_gemma26b": "v3/delta/gemma26b",
    "v3/delta_qwen72b": "v3/delta/qwen72b",
    "v3/delta_sonnet4": "v3/delta/sonnet4",
    "v4/detection_range_high": "v4/detection_range_highest",
    "v4/detection_range_low": "v4/detection_range_lowest",
    "v4/rc_range_high": "v4/coverage_range_highest_points",
    "v4/rc_range_low": "v4/coverage_range_lowest_points",
    "v4/specificity_range_high": "v4/specificity_range_highest",
    "v4/specificity_range_low": "v4/specificity_range_lowest",
}
SUM = ("audit/substance_errors", "audit/citation_defects", "audit/source_flags", "audit/clean")


def mistyped(claims):
    """The claims that do not print the figure they restate, to the digit. The reference leaves out the percent sign."""
    printed = read_published_values(paths.REFERENCE).set_index("key")["printed"]
    wrong = []
    for claim in claims.itertuples():
        if claim.kind == "sum":
            same = claim.printed.split("+") == [printed[key] for key in SUM]
        else:
            same = parse(claim.printed.rstrip("%")) == parse(printed[PUBLISHED_KEYS[claim.key]])
        wrong += [] if same else [claim.key]
    return wrong


def test_every_claim_prints_the_figure_it_restates(claims):
    assert set(claims["key"]) == {"abstract/audit", *PUBLISHED_KEYS}
    assert mistyped(claims) == []


@pytest.mark.parametrize(
    ("key", "printed"),
    [("retest/agreement", ".537"), ("v1/mean", ".28"), ("v3/delta_qwen72b", ".17"), ("abstract/audit", "24+46+24+31")],
)
def test_a_mistyped_claim_is_seen_even_where_the_value_is_printed_elsewhere(claims, key, printed):
    assert mistyped(claims.assign(printed=claims["printed"].where(claims["key"] != key, printed))) == [key]
