"""Two independent computations of the 2,835 reference values, and the pinned file, agree on all of them."""

from collections import Counter

from exact import exact_values

from regatta_lib.base import paths
from regatta_lib.reproduce import reference


def test_the_exact_and_the_pandas_path_and_the_pinned_file_agree(frames):
    exact = exact_values(paths.RECORD, paths.INSTRUMENTS / "index.csv")
    recomputed = reference.reference_numbers(*(frames[name] for name in ("scores", "pairs", "table2", "table3", "table4")))
    pinned = reference.read_reference_values(paths.REFERENCE)
    assert len(pinned) == 2_835
    assert set(pinned["key"]) == set(exact) == set(recomputed)
    for row in pinned.itertuples():
        value, source = exact[row.key]
        assert row.value == float(value), row.key
        assert row.source == source, row.key
        assert abs(recomputed[row.key] - value) <= abs(value) * 1e-14, row.key


def test_the_enumeration_is_the_documented_one(frames):
    keys = list(reference.reference_numbers(*(frames[name] for name in ("scores", "pairs", "table2", "table3", "table4"))))
    shape = Counter((key.split("/")[0], key.count("/")) for key in keys)
    assert shape == {
        ("suite", 2): 900,
        ("suite", 3): 1_800,
        ("table2", 3): 30,
        ("table3", 2): 30,
        ("table4", 3): 60,
        ("cells", 3): 15,
    }


def test_counts_are_whole_numbers():
    pinned = reference.read_reference_values(paths.REFERENCE)
    counts = pinned[pinned["key"].str.match(r"table3/.*/n\d\d$")]["value"]
    assert len(counts) == 12
    assert (counts % 1 == 0).all()
    assert counts.sum() == 900


def test_every_value_has_a_source():
    assert (reference.read_reference_values(paths.REFERENCE)["source"].str.len() > 10).all()
