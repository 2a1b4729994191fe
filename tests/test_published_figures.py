"""Every figure of the paper that the record determines, at printed precision, by name and place.

Places are those of arXiv:2610.30924v1. Figures of the current-model retest, the second judge and the human labels are
not here: the public release does not hold what they are made of. Those consistent with a list of tables are in
test_consistency.py and test_reconstruction.py.
"""

from fractions import Fraction

import pytest
from historical import RESAMPLES, the_index, the_pairs, the_scores, the_table3, the_verdicts

from regatta_lib.base import paths
from regatta_lib.measures import (
    NEARLY_ALWAYS,
    cost,
    execution_profile,
    item_difficulty,
    profile_persists,
    read_record,
    reference_order,
    strategy_range,
)
from regatta_lib.measures.v1_items import RARELY
from regatta_lib.stats import Bootstrap, consistency

ITEMS = item_difficulty(the_verdicts(), the_index())
SHARES = ITEMS["share"]
CELLS = ITEMS.groupby("cell")["share"].mean()
PAIRS, SCORES = the_pairs(), the_scores()
TABLE3 = the_table3(Bootstrap(20261030, RESAMPLES, 0.95))
PROFILE = execution_profile(PAIRS)
DESIGN = PAIRS.groupby(["category", "generator"])["design"].mean().astype(float).unstack()
RANGES = strategy_range(SCORES)
DETECTION = RANGES[["fdr_design", "fdr_execution"]]
INDEX = the_index()
SUITES = read_record(paths.RECORD)["suites"]
PER_CELL = INDEX.groupby(["role", "cell"]).size().groupby("role").max()
BOUND = cost.bound(SUITES["scenarios"].max(), PER_CELL["requirement"], PER_CELL["fault"])

FIGURES = [
    ("checklist items", "Abstract; §I p. 1", "125", (INDEX["role"] == "requirement").sum()),
    ("items of a cell", "§III p. 2", "25", INDEX.query("role == 'requirement'").groupby("cell").size().min()),
    ("faults", "Abstract; §I p. 1", "25", (INDEX["role"] == "fault").sum()),
    ("faults of a cell", "§III p. 2", "5", INDEX.query("role == 'fault'").groupby("cell").size().max()),
    ("fault categories", "Abstract; §I p. 1", "5", INDEX.query("role == 'fault'")["category"].nunique()),
    ("cells", "Abstract; §I p. 1", "5", INDEX["cell"].nunique()),
    ("cells under Vietnamese law", "§I p. 1", "2", INDEX.query("cell.str.startswith('vn')")["cell"].nunique()),
    ("suites", "Abstract; §V-A p. 3", "180", len(SUITES)),
    ("scenarios", "Abstract; §V-A p. 3", "5,400", SUITES["scenarios"].sum()),
    ("scenarios of a suite", "§III p. 2", "30", SUITES["scenarios"].max()),
    ("suites of a generator", "§V-A p. 3", "60", SUITES.groupby("generator").size().max()),
    ("generators", "Abstract; §V-A p. 3", "3", SUITES["generator"].nunique()),
    ("strategies", "§V-A p. 3", "4", SUITES["strategy"].nunique()),
    ("replications", "§V-A p. 3", "3", SUITES["replication"].nunique()),
    ("US insurance suites of the retest", "§V-D p. 4", "36", (SUITES["cell"] == "us_insurance").sum()),
    ("US insurance pairs of the retest", "§V-D p. 4", "180", (PAIRS["cell"] == "us_insurance").sum()),
    ("mean item coverage", "§V-B p. 3", ".34", SHARES.mean()),
    ("median item coverage", "§V-B p. 3", ".28", SHARES.median()),
    ("SD of item coverage", "§V-B p. 3", ".31", SHARES.std(ddof=1)),
    ("items never covered", "§V-B p. 3", "22", (SHARES == 0).sum()),
    ("items over 90 %", "§V-B p. 4", "5", (SHARES > NEARLY_ALWAYS).sum()),
    ("items under a quarter", "§V-B p. 4", "60", (SHARES < RARELY).sum()),
    ("lowest cell mean, US insurance", "§V-B p. 4", ".28", CELLS["us_insurance"]),
    ("highest cell mean, Vietnam banking", "§V-B p. 4", ".42", CELLS["vn_banking"]),
    ("missing regulation at execution, lowest", "§V-C p. 4", ".95", PROFILE.loc["missing_regulation"].min()),
    ("missing regulation at execution, highest", "§V-C p. 4", ".98", PROFILE.loc["missing_regulation"].max()),
    ("lowest historical agreement", "Abstract", "66%", TABLE3["agreement"].min()),
    ("highest historical agreement", "Abstract", "69%", TABLE3["agreement"].max()),
    ("lowest historical agreement", "§V-D p. 4", "66.3%", TABLE3["agreement"].min()),
    ("highest historical agreement", "§V-D p. 4", "69.3%", TABLE3["agreement"].max()),
    ("agreement, frontier generator", "§V-D p. 4", ".677", TABLE3.loc["sonnet4", "agreement"]),
    ("agreement, 72B", "§V-D p. 4", ".693", TABLE3.loc["qwen72b", "agreement"]),
    ("agreement, 26B", "§V-D p. 4", ".663", TABLE3.loc["gemma26b", "agreement"]),
    ("pooled difference, frontier generator", "§V-D p. 4", "+.09", TABLE3.loc["sonnet4", "delta"]),
    ("pooled difference, 72B", "§V-D p. 4", "−.17", TABLE3.loc["qwen72b", "delta"]),
    ("pooled difference, 26B", "§V-D p. 4", "+.04", TABLE3.loc["gemma26b", "delta"]),
    ("smallest coverage range", "§V-E p. 4", "14%", RANGES["rc"].min()),
    ("largest coverage range", "§V-E p. 4", "16%", RANGES["rc"].max()),
    ("smallest specificity range", "§V-E p. 4", ".24", RANGES["iss"].min()),
    ("largest specificity range", "§V-E p. 4", ".53", RANGES["iss"].max()),
    ("smallest detection range", "§V-E p. 4", ".08", DETECTION.min().min()),
    ("largest detection range", "§V-E p. 4", ".20", DETECTION.max().max()),
    ("judge calls of a suite at most", "§V-G p. 5", "1,110", BOUND["judge"]),
    ("agent calls of a suite at most", "§V-G p. 5", "150", BOUND["agent"]),
]


@pytest.mark.parametrize(("name", "place", "printed", "value"), FIGURES, ids=[f"{f[0]} ({f[1]})" for f in FIGURES])
def test_printed_figure(name, place, printed, value):
    assert consistency.parse(printed).fits(Fraction(float(value)).limit_denominator(10**9)), (name, place, printed, value)


def test_a_wrong_digit_would_be_seen():
    assert not consistency.parse(".35").fits(Fraction(float(SHARES.mean())))


def test_order_of_the_categories_at_execution():
    """§V-C p. 4: missing regulation > threshold > metric; role boundary and adversarial form the floor pair."""
    order = reference_order(PROFILE)
    assert order[:3] == ["missing_regulation", "threshold_error", "metric_error"]
    assert set(order[3:]) == {"role_boundary", "adversarial_vulnerability"}
    assert profile_persists(PROFILE)


def test_adversarial_falls_and_metric_rises_for_all_three_generators():
    """§V-C p. 4, Table II."""
    shift = PROFILE - DESIGN
    assert (shift.loc["adversarial_vulnerability"] < 0).all()
    assert (shift.loc["metric_error"] > 0).all()


def test_agreement_clears_pooled_chance_and_one_margin_includes_zero():
    """§V-D p. 4 and §VI p. 5: per-fault margins are small, and the 26B generator's interval spans zero."""
    assert (TABLE3["agreement"] > TABLE3["pooled_chance"]).all()
    assert (TABLE3["per_fault_margin"] < TABLE3["agreement"] - TABLE3["pooled_chance"]).all()
    spans = (TABLE3["ci_low"] <= 0) & (TABLE3["ci_high"] >= 0)
    assert spans[spans].index.to_list() == ["gemma26b"]


def test_lowest_and_highest_cells():
    """§V-B p. 4: cell means range from US insurance to Vietnam banking."""
    assert (CELLS.idxmin(), CELLS.idxmax()) == ("us_insurance", "vn_banking")


def test_adversarial_coverage_is_weak_under_the_frontier_and_26b_generators():
    """§V-E p. 4: the two smallest ranges of adversarial-category coverage."""
    assert RANGES["ac"].nsmallest(2).index.to_list() == ["gemma26b", "sonnet4"]
    assert RANGES["ac"].nsmallest(2).max() < 0.04 < RANGES.loc["qwen72b", "ac"]


def test_printed_adjudication_has_consistent_counts():
    """§V-F p. 5 and abstract: agreement .86 of 50, κ .72, seven disagreements; 31 of 40 probes with κ .50; κ .75."""
    assert len(consistency.tables_with_kappa(".72", 50, 43, 7)) == 8
    assert len(consistency.tables_with_kappa(".50", 40, 31)) == 8
    assert len(consistency.tables_with_kappa(".75", 40)) == 54
