"""The examples in docstrings run and give what they show; every function that returns a number or an array has one."""

import doctest
import importlib
import inspect
import typing
from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest
import rooms

from regatta_lib import measures, stats

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
NO_EXAMPLE: dict[str, str] = {}  # front-door functions that need no example: name and reason


def modules_with_examples() -> list[str]:
    """The modules of both packages that show an example, found in their text: collecting the tests imports none."""
    return [
        ".".join(path.relative_to(rooms.ROOT).with_suffix("").parts).removesuffix(".__init__")
        for package in rooms.PACKAGES
        for path in sorted((rooms.ROOT / package).rglob("*.py"))
        if ">>> " in path.read_text(encoding="utf-8")
    ]


def report(module: ModuleType) -> tuple[str, int]:
    """What doctest says of a module's failing examples, and the number of examples run."""
    runner, said = doctest.DocTestRunner(optionflags=FLAGS, verbose=False), []
    for test in doctest.DocTestFinder(exclude_empty=True).find(module):
        runner.run(test, out=said.append)
    return "".join(said), runner.tries


def numeric(function: Callable[..., object]) -> bool:
    """Whether a function's return annotation is a float, a tuple or an array."""
    returned = inspect.signature(function).return_annotation
    return returned is float or (typing.get_origin(returned) or returned) in (tuple, np.ndarray)


def without_example(room: ModuleType) -> set[str]:
    """Functions at a front door that return a number or an array and show no example."""
    offered = {name: value for name in room.__all__ if inspect.isfunction(value := getattr(room, name))}
    return {name for name, value in offered.items() if numeric(value) and ">>> " not in (inspect.getdoc(value) or "")}


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_give_what_they_show(name: str) -> None:
    said, tries = report(importlib.import_module(name))
    assert tries, f"{name}: no example was found in a docstring"
    assert not said, said


@pytest.mark.parametrize("room", [stats, measures], ids=lambda room: room.__name__)
def test_every_number_at_a_front_door_has_an_example(room: ModuleType) -> None:
    assert without_example(room) - NO_EXAMPLE.keys() == set()


def test_exemptions_are_still_needed() -> None:
    assert NO_EXAMPLE.keys() <= without_example(stats) | without_example(measures)


def made_up_room(docstring: str) -> ModuleType:
    room = ModuleType("room")
    exec(f"def half(x: float) -> float:\n    {docstring!r}\n    return x / 2\n__all__ = ['half']", room.__dict__)
    return room


def test_a_wrong_value_fails() -> None:
    said, tries = report(made_up_room(">>> half(3)\n1.4\n"))
    assert tries == 1
    assert "Expected:\n    1.4\nGot:\n    1.5" in said
    assert report(made_up_room(">>> half(3)\n1.5\n")) == ("", 1)


def test_a_missing_example_is_found() -> None:
    assert without_example(made_up_room("Half of x.")) == {"half"}
    assert without_example(made_up_room("Half of x.\n\n>>> half(3)\n1.5\n")) == set()
