"""V2: order, stability and the verdicts that would have to flip."""

import pandas as pd
import pytest
from historical import RESAMPLES, the_pairs

from regatta_lib.measures import execution_profile, profile_persists, v2_profiles
from regatta_lib.stats import seeded


@pytest.fixture(scope="module")
def profile():
    return v2_profiles.profile_table(the_pairs(), 0.95)


def test_profile_counts(profile):
    row = profile.set_index(["generator", "category"]).loc[("qwen72b", "missing_regulation")]
    assert (row["detected"], row["n"], row["unresolved"], row["rank"]) == (59, 60, 0, 1)
    assert row["rate"] == 59 / 60


def test_flips_needed_undo_the_order_and_no_fewer_do(profile):
    thin = v2_profiles.flips_to_fail(profile).sort_values("flips").iloc[0]
    assert (thin["generator"], thin["above"], thin["below"]) == ("qwen72b", "metric_error", "role_boundary")
    assert (thin["gap"], thin["flips"], thin["n"]) == (3, 4, 60)
    pairs = the_pairs()
    chosen = pairs.index[
        (pairs["generator"] == "qwen72b") & (pairs["category"] == "metric_error") & (pairs["execution"] == 1)
    ]
    fewer = pairs.assign(execution=pairs["execution"].where(~pairs.index.isin(chosen[:2]), 0))
    assert profile_persists(execution_profile(fewer))
    enough = pairs.assign(execution=pairs["execution"].where(~pairs.index.isin(chosen[:4]), 0))
    assert not profile_persists(execution_profile(enough))


def test_unequal_numbers_of_verdicts_are_refused(profile):
    with pytest.raises(ValueError, match="unequal numbers"):
        v2_profiles.flips_to_fail(profile.assign(n=[1, *profile["n"][1:]]))


def test_stability_probabilities(profile):
    found = v2_profiles.stability(the_pairs(), seeded(1, "t"), RESAMPLES).set_index("generator")
    assert found.loc["all", "suites"] == 180
    assert found.loc["all", "top_order"] == pytest.approx(0.99, abs=0.015)
    assert found.loc["all", "bottom_pair"] == pytest.approx(0.60, abs=0.04)
    assert (found["both"] <= found[["top_order", "bottom_pair"]].min(axis=1)).all()
    assert found.loc["all", "both"] <= found.drop("all")["both"].min()


def test_a_profile_without_noise_is_certain():
    """Every suite of both generators detects the same: order and membership hold in all resamples."""
    pairs = the_pairs()
    level = {
        "missing_regulation": 5,
        "threshold_error": 4,
        "metric_error": 3,
        "role_boundary": 1,
        "adversarial_vulnerability": 0,
    }
    cells = {cell: number for number, cell in enumerate(sorted(pairs["cell"].unique()))}
    fixed = pairs.assign(execution=(pairs["cell"].map(cells) < pairs["category"].map(level)).astype(int))
    found = v2_profiles.stability(fixed, seeded(1, "t"), 200)
    assert (found[["top_order", "bottom_pair", "both"]] == 1).all().all()


def test_a_tie_across_the_boundary_counts_as_failing():
    pairs = the_pairs()
    assert v2_profiles.stability(pairs.assign(execution=1), seeded(1, "t"), 50)["both"].max() == 0


def test_rank_agreement_by_hand():
    frame = pd.DataFrame({"a": [5, 4, 3, 2, 1], "b": [5, 4, 3, 1, 2]}, index=list("vwxyz"))
    assert v2_profiles.rank_agreement(frame).iloc[0].to_dict() == {
        "first": "a",
        "second": "b",
        "tau": pytest.approx(0.8),
        "categories": 5,
    }
