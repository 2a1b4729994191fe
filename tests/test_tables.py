import pandas as pd
import pytest

from regatta_lib.base import records
from regatta_lib.measures import margin, resampled_counts, tables
from regatta_lib.stats import Bootstrap


def pairs_of(*outcomes, generator="g"):
    """Pairs of one fault in one cell, one suite each, from (design, execution) outcomes."""
    rows = [
        {
            "suite_id": f"{generator}.S1.us_fintech.r{number}",
            "generator": generator,
            "strategy": "S1",
            "cell": "us_fintech",
            "replication": number,
            "fault_id": "FT-F1",
            "category": "threshold_error",
            "design": design,
            "execution": execution,
        }
        for number, (design, execution) in enumerate(outcomes, start=1)
    ]
    return pd.DataFrame(rows)


def table3(pairs, seed=1):
    return tables.table3(pairs, resampled_counts(pairs, Bootstrap(seed, 2_000, 0.95)), 0.95)


def test_table3_by_hand():
    """Four pairs 11, 10, 01, 00: agreement 1/2, p_d = p_e = 1/2, chance 1/2, margin 0."""
    row = table3(pairs_of((1, 1), (1, 0), (0, 1), (0, 0))).iloc[0]
    assert [row[n] for n in ("n11", "n10", "n01", "n00")] == [1, 1, 1, 1]
    assert (row.fdr_design, row.fdr_execution, row.delta, row.agreement, row.pooled_chance) == (0.5, 0.5, 0.0, 0.5, 0.5)
    assert row.per_fault_margin == 0


def test_margin_is_one_half_for_perfect_agreement_at_even_odds():
    assert margin(n11=3, n10=0, n01=0, n00=3) == 0.5


def test_tables_have_the_contract_columns(frames):
    assert list(frames["table2"]) == ["generator", "category", "design", "execution", "n"]
    assert list(frames["table3"])[:6] == ["generator", "pairs", "n11", "n10", "n01", "n00"]
    assert list(frames["table3"])[6:] == [
        "fdr_design",
        "fdr_execution",
        "delta",
        "agreement",
        "pooled_chance",
        "per_fault_margin",
        "ci_low",
        "ci_high",
    ]
    assert list(frames["table4"]) == ["generator", "strategy", *records.MEASURES]
    assert (frames["table4"]["strategy"] == "range").sum() == 3


def test_intervals_hold_the_estimate_and_do_not_depend_on_row_order(frames):
    pairs = frames["pairs"]
    first = table3(pairs)
    assert ((first["ci_low"] <= first["per_fault_margin"]) & (first["per_fault_margin"] <= first["ci_high"])).all()
    pd.testing.assert_frame_equal(first, table3(pairs.sample(frac=1, random_state=3)))
    other = table3(pairs, seed=2)
    assert not first["ci_low"].equals(other["ci_low"])


def test_figure2_pooled_is_the_delta_of_table3(frames):
    pooled = frames["figure2"].query("category == 'pooled'").set_index("generator")["delta"]
    assert pooled.to_dict() == frames["table3"].set_index("generator")["delta"].to_dict()
    assert (frames["figure2"]["n"] == [60] * 5 + [300] + [60] * 5 + [300] + [60] * 5 + [300]).all()


def test_latex_is_booktabs_in_reading_order(frames):
    text = tables.latex(frames["table4"])
    lines = text.splitlines()
    assert lines[:2] == [r"\begin{tabular}{llrrrrr}", r"\toprule"]
    assert lines[4].startswith("Claude Sonnet 4 & S1 & 0.41 & 0.59 &")
    assert lines[8].startswith("Claude Sonnet 4 & range & 0.15")
    assert text.endswith("\\bottomrule\n\\end{tabular}\n")


def test_empty_pairs_give_no_table():
    with pytest.raises(KeyError):
        table3(pd.DataFrame())
