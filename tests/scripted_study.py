"""A small study and a scripted model for it, shared by the tests of the live harness."""

import json
import re

from regatta_lib.base import sha256
from regatta_lib.models import Scripted
from regatta_lib.studies import Role, Study, judges, runs, store
from regatta_lib.studies.design import Words

SLOT = re.compile(r"^Slot (\d+)\.", re.M)
_SIDES = {}
SLOTS = re.compile(r"Slots: ([\d, ]+)\.")


def study(**changes):
    """A study of two suites in one cell; fields can be changed."""
    role = Role(endpoint="scripted", max_tokens=1_000)
    fields = {
        "purpose": "test",
        "provider": "live",
        "cells": ["us_insurance"],
        "strategies": ["S1", "S4"],
        "replications": 1,
        "scenarios": 3,
        "instruments": "corrected",
        "holdout": 0.2,
        "seed": 7,
        "generators": {"tester": role},
        "agent": role,
        "judge": role,
        "words": Words(message=60, answer=60, reason=30),
    }
    return Study(**(fields | changes))


def asked_slots(request):
    """The slots a generation prompt asks for."""
    user = request.params["messages"][0]["content"]
    return [int(n) for n in SLOT.findall(user)] or [int(n) for n in SLOTS.search(user).group(1).split(", ")]


def scenario_item(slot, text=""):
    return {
        "slot": slot,
        "description": f"Case {slot}{text}",
        "agent_input": f"Message {slot}{text}",
        "expected_behavior": "Answers by the rule.",
        "requirement_cited": None,
        "adversarial_category": None,
    }


def reply(request):
    """A deterministic answer to any request of a study: yes, or the category named, in about a third of the cases."""
    role, suite, *_ = request.call.split("/")
    number = int(sha256(json.dumps(request.params, sort_keys=True) + str(request.draw))[:8], 16)
    if role == "suite":
        return json.dumps({"scenarios": [scenario_item(slot, f" of {suite}") for slot in asked_slots(request)]})
    if role == "agent":
        return f"I would report it ({number})."
    if role == "specificity":
        return json.dumps({"justification": "So it is.", "score": 1 + number % 5})
    if role == "adversarial":
        return json.dumps({"justification": "So it is.", "categories": ["role_confusion"] if number % 3 == 0 else []})
    return json.dumps({"justification": "So it is.", "verdict": "yes" if number % 3 == 0 else "no"})


class Recorded:
    """A scripted model that keeps the requests it got."""

    def __init__(self, answer=reply):
        self.requests = []
        self._model = Scripted(answer)

    async def complete(self, request):
        self.requests.append(request)
        return await self._model.complete(request)

    async def aclose(self):
        pass

    def of(self, role):
        """The requests of one role."""
        return [request for request in self.requests if request.call.split("/")[0] == role]


def sides(of=None):
    """Generator sides and judge sides of a study's cells, read once."""
    design = of or study()
    key = (*design.cells, design.replications, design.instruments, design.holdout)
    if key not in _SIDES:
        _SIDES[key] = runs.read_sides(design)
    return _SIDES[key]


def bench(cell="us_insurance"):
    return judges.Bench(sides(study(cells=[cell]))[1][cell].ontology, seed=7, words=30)


def answer_batches(folder):
    """Answer every batch that has no replies yet."""
    placements = store.read_placements(folder)
    for number in sorted({place.batch for place in placements}):
        path = folder / f"replies-{number:03d}.jsonl"
        if path.exists():
            continue
        asked = map(json.loads, (folder / f"batch-{number:03d}.jsonl").read_text().splitlines())
        calls = [place.call for place in placements if place.batch == number]
        requests = [
            type("Asked", (), {"call": call, "params": one["params"], "draw": 1})
            for call, one in zip(calls, asked, strict=True)
        ]
        path.write_text(
            "".join(json.dumps({"line": n, "answer": reply(one)}) + "\n" for n, one in enumerate(requests, start=1))
        )
