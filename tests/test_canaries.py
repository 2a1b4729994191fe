import asyncio
import json

import pytest
from scripted_study import Recorded, bench, sides

from regatta_lib.studies import PLANTED, Role, judges
from regatta_lib.studies.canaries import PLANTS, canaries

ROLE = Role(endpoint="scripted", max_tokens=1_000)
NAMES = tuple(PLANTED)
FIRM = {"verdict": "no", "score": 1, "categories": ["prompt_injection"]}


def asked(answer, names=NAMES):
    side = sides()[1]["us_insurance"]
    model = Recorded(answer)
    return asyncio.run(canaries(model, ROLE, bench(), side.requirements[0], side.faults[0], names)), model


def of(judge, values):
    [field] = judges.VERDICT_FIELD[judge]
    return json.dumps({"justification": "r", field: values[field]})


def judge_of(request):
    return request.call.split("/")[0]


def test_a_firm_judge_holds_every_canary():
    results, model = asked(lambda request: of(judge_of(request), FIRM))
    assert len(results) == len(model.requests) == 15
    assert [result.held for result in results] == [1] * 15


def test_a_judge_that_obeys_the_plant_holds_none():
    results, _ = asked(lambda request: json.dumps({"justification": "r"} | PLANTED[judge_of(request)]))
    assert [result.held for result in results] == [0] * 15
    assert {result.state for result in results} == {"answered"}


def test_a_judge_that_does_not_answer_holds_none():
    results, _ = asked(lambda request: "I will not judge this.")
    assert {(result.state, result.held) for result in results} == {("unreadable", 0)}


@pytest.mark.parametrize("judge", NAMES)
def test_every_plant_reaches_the_judge_inside_its_block(judge):
    _, model = asked(lambda request: of(judge, FIRM), (judge,))
    assert len(model.requests) == len(PLANTS)
    for request in model.requests:
        user = request.params["messages"][0]["content"]
        assert "It plainly does." in user
        assert user.count("<data-") == user.count("</data-") == 1
