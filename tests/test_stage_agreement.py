"""V3: decomposition, bias, intervals, one family of tests, and the upper side on a constructed retest."""

import numpy as np
import pandas as pd
import pytest
from historical import RESAMPLES, suite, table, the_pairs, the_table3, the_verdicts, verdict

from regatta_lib.measures import bootstrap_counts, margin, v3_stages
from regatta_lib.measures.v3_stages import per_fault_margin
from regatta_lib.stats import Bootstrap, seeded

BOOTSTRAP = Bootstrap(seed=1, resamples=RESAMPLES, level=0.95)


@pytest.fixture(scope="module")
def extended():
    return v3_stages.table3_extended(the_pairs(), BOOTSTRAP, 2_000).set_index("generator")


def test_the_extended_table_continues_table_iii(extended):
    plain = the_table3(BOOTSTRAP)
    for column in ("pairs", "agreement", "pooled_chance", "per_fault_margin"):
        assert extended[column].to_list() == pytest.approx(plain[column].to_list(), abs=1e-15), column
    assert extended["percentile_low"].to_list() == plain["ci_low"].to_list()
    assert extended["percentile_high"].to_list() == plain["ci_high"].to_list()


def test_agreement_splits_into_pooled_chance_difficulty_and_margin(extended):
    difficulty = extended["per_fault_chance"] - extended["pooled_chance"]
    total = extended["pooled_chance"] + difficulty + extended["per_fault_margin"]
    assert total.to_list() == pytest.approx(extended["agreement"].to_list(), abs=1e-12)
    assert extended["difficulty_share"].to_list() == pytest.approx((difficulty / extended["pooled_margin"]).to_list())
    assert extended["difficulty_share"].round(3).to_dict() == {"gemma26b": 0.895, "qwen72b": 0.800, "sonnet4": 0.837}


def test_a_resample_of_twelve_suites_shrinks_the_margin_by_a_twelfth(extended):
    assert extended["expected_bias"].to_list() == pytest.approx((-extended["per_fault_margin"] / 12).to_list(), abs=1e-15)
    part = the_pairs().query("generator == 'qwen72b'")
    draws = margin(**bootstrap_counts(part, seeded(5, "t"), 40_000)).mean(axis=1)
    error = draws.std() / np.sqrt(len(draws))
    assert draws.mean() == pytest.approx(per_fault_margin(part) * 11 / 12, abs=4 * error)


def test_one_interval_includes_zero_whatever_its_kind(extended):
    for kind in ("percentile", "basic", "bca"):
        spans = (extended[f"{kind}_low"] <= 0) & (extended[f"{kind}_high"] >= 0)
        assert spans.to_dict() == {"gemma26b": True, "qwen72b": False, "sonnet4": False}, kind
    assert (extended["basic_low"] > extended["percentile_low"]).all()  # the shift is taken back


def test_the_same_numbers_on_each_run(extended):
    again = v3_stages.table3_extended(the_pairs(), BOOTSTRAP, 2_000).set_index("generator")
    pd.testing.assert_frame_equal(extended, again)


def test_permutation_keeps_the_rates_and_centres_on_zero():
    part = the_pairs().query("generator == 'sonnet4'")
    null = v3_stages.permuted_margins(part, seeded(1, "t"), 4_000)
    # a random pairing has expected agreement equal to chance, exactly
    assert null.mean() == pytest.approx(0, abs=4 * null.std() / np.sqrt(len(null)))


def test_perfect_agreement_within_faults_is_found_by_the_permutation_test():
    part = the_pairs().query("generator == 'sonnet4'")
    perfect = part.assign(execution=part["design"])
    null = v3_stages.permuted_margins(perfect, seeded(1, "t"), 500)
    assert (null < per_fault_margin(perfect)).all()


def test_the_scheme_matters_and_the_table_says_so():
    found = v3_stages.interval_schemes(the_pairs(), BOOTSTRAP)
    assert len(found) == 3 * 3 * 2
    zero = found.groupby(["generator", "scheme"])["includes_zero"].all()
    assert zero["gemma26b", "suite within cell"] and zero["gemma26b", "suite within generator"]
    assert not zero["gemma26b", "suite within cell and strategy"]
    assert not zero["qwen72b"].any() and not zero["sonnet4"].any()


def test_the_declared_family_of_forty_is_corrected_once():
    found = v3_stages.mcnemar_family(the_pairs(), {"fault": 25, "generator_category": 15}, "holm")
    assert len(found) == 40 and (found["family"] == 40).all()
    smallest = found.sort_values("p").iloc[0]
    assert (smallest["item"], smallest["design_only"], smallest["execution_only"]) == ("FT-F4", 21, 0)
    assert smallest["p"] == pytest.approx(2 * 0.5**21)
    assert smallest["p_adjusted"] == pytest.approx(40 * 2 * 0.5**21)
    assert ((found["p"] < 0.05).sum(), (found["p_adjusted"] < 0.05).sum()) == (22, 10)


def test_a_family_of_another_size_is_refused():
    with pytest.raises(ValueError, match="family fault: 25 tests, declared 24"):
        v3_stages.mcnemar_family(the_pairs(), {"fault": 24}, "holm")


def test_an_unresolved_pair_is_counted_and_left_out(extended):
    pairs = the_pairs()
    pairs.loc[pairs.index[0], "execution"] = pd.NA  # a pair of the 26B generator
    row = v3_stages.table3_extended(pairs, BOOTSTRAP, 1_000).set_index("generator").loc["gemma26b"]
    assert (row["pairs"], row["unresolved"]) == (299, 1)
    assert row["percentile_low"] < row["per_fault_margin"] < row["percentile_high"]
    family = v3_stages.mcnemar_family(pairs, {"fault": 25, "generator_category": 15}, "holm")
    assert family.groupby("kind")["unresolved"].sum().to_dict() == {"fault": 1, "generator_category": 1}


def retest(stage_flips: int, retest_flips: int):
    """Ten suites, one fault: design and first execution differ in ``stage_flips``, the executions in ``retest_flips``."""
    rows = []
    for n in range(1, 11):
        first = n % 2
        rows.append(verdict(suite(n), "design", "IN-F1", "", 1 - first if n <= stage_flips else first))
        rows.append(verdict(suite(n), "execution", "IN-F1", "joint", first, draw=1))
        rows.append(verdict(suite(n), "execution", "IN-F1", "joint", 1 - first if n > 10 - retest_flips else first, draw=2))
    return rows


def test_the_upper_side_holds_when_executions_agree_more_than_stages():
    row = v3_stages.repeated_execution(table(retest(3, 1)), BOOTSTRAP).iloc[0]
    assert (row["pairs"], row["suites"], row["unresolved"]) == (10, 10, 0)
    assert (row["stage_agreement"], row["retest_agreement"]) == (0.7, 0.9)
    assert row["excess"] == pytest.approx(0.2)
    assert row["above_chance"] and row["below_retest"]


def test_the_upper_side_fails_when_they_do_not():
    row = v3_stages.repeated_execution(table(retest(1, 3)), BOOTSTRAP).iloc[0]
    assert row["excess"] == pytest.approx(-0.2)
    assert not row["below_retest"]


def test_a_pair_without_all_three_verdicts_is_counted():
    rows = retest(3, 1)
    rows[2] |= {"state": "truncated", "value": None}
    row = v3_stages.repeated_execution(table(rows), BOOTSTRAP).iloc[0]
    assert (row["pairs"], row["unresolved"]) == (9, 1)


def test_pairs_that_were_not_run_again_are_not_unresolved():
    once = [verdict(suite(n), "design", "IN-F1", "", 1) for n in (21, 22)]
    once += [verdict(suite(n), "execution", "IN-F1", "joint", 0) for n in (21, 22)]
    row = v3_stages.repeated_execution(table(retest(3, 1) + once), BOOTSTRAP).iloc[0]
    assert (row["pairs"], row["unresolved"], row["stage_agreement"]) == (10, 0, 0.7)


def test_the_record_has_no_repeated_execution():
    assert v3_stages.repeated_execution(the_verdicts(), BOOTSTRAP).empty
