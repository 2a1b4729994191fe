"""The worked example of CONTRIBUTING.md works: its listings are formatted, and run in the modules that they name."""

import doctest
import re
import subprocess
import sys
from importlib import import_module
from textwrap import dedent

import exact
import pytest
from historical import the_pairs

from regatta_lib import measures
from regatta_lib.base import paths
from regatta_lib.reproduce import verification

CONTRIBUTING = (paths.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
LISTINGS = dict(re.findall(r"^ *```python\n *# (\S+)\n(.*?)^ *```", CONTRIBUTING, re.M | re.S))
FORMULA, SECOND, TESTS, NOTEBOOK, VERIFICATION = (
    "regatta_lib/measures/v3_stages.py",
    "tests/exact.py",
    "tests/test_stage_agreement.py",
    "notebooks/validity.ipynb",
    "regatta_lib/reproduce/verification.py",
)


def run(place, **more):
    """What a listing leaves behind when it runs in the module that it names, which itself stays as it is."""
    module = place.removesuffix(".py").removeprefix("tests/").replace("/", ".")
    names = vars(import_module(module)).copy() if place.endswith(".py") else {}
    names |= more
    exec(compile(dedent(LISTINGS[place]), place, "exec"), names)
    return names


@pytest.fixture
def added(monkeypatch):
    """The library and the second computation with what the example adds to them."""
    formula = run(FORMULA)
    for name in ("DETECTED_TWICE", "detected_twice"):
        monkeypatch.setattr(measures, name, formula[name], raising=False)
    monkeypatch.setattr(exact, "detected_twice", run(SECOND)["detected_twice"], raising=False)
    return formula


def test_there_is_a_listing_for_each_place():
    assert LISTINGS.keys() == {FORMULA, SECOND, TESTS, NOTEBOOK, VERIFICATION}
    assert all((paths.ROOT / place).is_file() for place in LISTINGS)


@pytest.mark.parametrize("place", LISTINGS)
def test_a_listing_is_formatted(place):
    call = [sys.executable, "-m", "ruff", "format", "--check", "--stdin-filename", "listing.py", "-"]
    done = subprocess.run(call, input=dedent(LISTINGS[place]), text=True, capture_output=True, cwd=paths.ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_example_in_the_docstring_holds(added):
    [example] = doctest.DocTestFinder().find(added["detected_twice"], "detected_twice", module=False, globs=added)
    assert doctest.DocTestRunner().run(example) == doctest.TestResults(failed=0, attempted=2)


def test_the_tests_of_the_example_pass(added):
    tests = {name for name in run(TESTS) if name in LISTINGS[TESTS] and name.startswith("test_")}
    assert len(tests) == LISTINGS[TESTS].count("def test_") == 2
    for name in tests:
        run(TESTS, measures=measures, exact=exact, paths=paths)[name]()


def test_the_tests_of_the_example_can_fail(added, monkeypatch):
    table = measures.detected_twice(the_pairs())
    monkeypatch.setattr(measures, "detected_twice", lambda pairs: table.assign(twice=0.5))
    for name in re.findall(r"def (test_\w+)", LISTINGS[TESTS]):
        with pytest.raises(AssertionError):
            run(TESTS, measures=measures, exact=exact, paths=paths)[name]()


def test_the_notebook_writes_what_verification_computes_again(added, monkeypatch, tmp_path, frames):
    monkeypatch.setattr(paths, "VALIDITY", tmp_path)
    run(NOTEBOOK, measures=measures, paths=paths, pairs=frames["pairs"])
    texts = run(VERIFICATION, texts={}, frames=frames)["texts"]
    assert texts == {"data/validity/detected_twice.csv": (tmp_path / "detected_twice.csv").read_text(encoding="utf-8")}
    assert {"texts", "frames"} <= set(verification.output_texts.__code__.co_varnames)


def test_the_room_still_lacks_the_example():
    """If it were real, the example would no longer show what has to be added."""
    assert not hasattr(measures, "detected_twice") and not hasattr(exact, "detected_twice")
