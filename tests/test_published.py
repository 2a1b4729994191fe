"""Printed figures: what is recomputed agrees at printed precision; what can't be is marked as such."""

import pytest

from regatta_lib.base import ContractError, paths
from regatta_lib.reproduce import PUBLISHED_TABLE, published, reference, verification


@pytest.fixture(scope="module")
def figures(frames):
    return verification.recompute_figures(frames)[1]


PUBLISHED = reference.read_published_values(paths.REFERENCE)
RECOMPUTED = PUBLISHED[PUBLISHED["status"] == "recomputed"]


@pytest.mark.parametrize(
    "row", list(RECOMPUTED.itertuples()), ids=list(RECOMPUTED["key"] + " (" + RECOMPUTED["place"] + ")")
)
def test_recomputed_figure_agrees_at_printed_precision(row, figures):
    assert published.agrees(row.printed, figures[row.key])


def test_nothing_is_recomputed_that_is_not_listed(figures):
    assert set(figures) == set(RECOMPUTED["key"])


def test_statuses_and_their_reasons():
    assert PUBLISHED["status"].value_counts().to_dict() == {"recomputed": 60, "quoted": 29, "reconstructed": 6}
    assert (PUBLISHED["how"].str.len() > 5).all()
    assert (PUBLISHED["place"].str.len() > 3).all()


@pytest.mark.parametrize(
    ("row", "other", "error"),
    [
        (
            "recomputed,measured,median of p_r",
            "recomputed,,median of p_r",
            "row 64, kind: found None.*has a kind, any other",
        ),
        ("quoted,,one expert", "quoted,measured,one expert", "row 2, kind: found 'measured'.*has a kind, any other"),
        ("recomputed,measured,median of p_r", "recomputed,counted,median of p_r", "row 64, kind: found 'counted'"),
    ],
)
def test_what_is_recomputed_and_nothing_else_has_a_kind(row, other, error):
    path = paths.REFERENCE / "published_values.csv"
    text = path.read_text(encoding="utf-8")
    assert row in text
    with pytest.raises(ContractError, match=error):
        PUBLISHED_TABLE.parse(text.replace(row, other), path)


@pytest.mark.parametrize(
    ("printed", "value", "expected"),
    [
        ("0.34", 0.342667, True),
        ("0.34", 0.3451, False),
        ("0.34", 0.335, True),
        ("0.34", 0.345, True),
        ("-0.17", -0.16667, True),
        ("-0.17", 0.16667, False),
        ("+0.09", 0.09, True),
        ("5,400", 5400, True),
        ("5,400", 5401, False),
        ("66.3", 66.3333, True),
        ("66", 66.6, False),
    ],
)
def test_agrees_is_rounding_to_the_printed_place(printed, value, expected):
    assert published.agrees(printed, value) is expected


def test_adjudication_tables_are_all_that_fit_and_only_those():
    """50 pairs, 43 agreements, seven judge-only: kappa = (p_o - p_e)/(1 - p_e) by hand for n11 = 25 is .72 exactly."""
    printed = PUBLISHED.set_index("key")["printed"].to_dict()
    tables = published.reconstructed_tables(printed).query("claim == 'adjudication'")
    assert (tables["n10"] == 7).all()
    assert (tables["n01"] == 0).all()
    assert (tables[["n11", "n10", "n01", "n00"]].sum(axis=1) == 50).all()
    by_hand = (43 / 50 - (32 * 25 + 18 * 25) / 2500) / (1 - (32 * 25 + 18 * 25) / 2500)
    assert by_hand == pytest.approx(0.72)
    assert tables.set_index("n11")["kappa"][25] == pytest.approx(by_hand)
    for n11 in set(range(44)) - set(tables["n11"]):
        first, second = n11 + 7, n11
        chance = (first * second + (50 - first) * (50 - second)) / 2500
        assert chance == 1 or not published.agrees("0.72", (0.86 - chance) / (1 - chance))


def test_reconstruction_follows_the_printed_figures():
    printed = PUBLISHED.set_index("key")["printed"].to_dict()
    fewer = published.reconstructed_tables(printed | {"agreement/disagreements": "6"})
    assert (fewer.query("claim == 'adjudication'")["agreement"] == 44 / 50).all()
