import asyncio

import pytest
from scripted_study import Recorded, sides

from regatta_lib.models import Reply
from regatta_lib.studies import Role, Scenario, episodes

SUITE = "tester.S1.us_insurance.r1"
ROLE = Role(endpoint="scripted", max_tokens=1_000)
SCENARIOS = [Scenario(SUITE, n, "d", f"message {n}", "e", None, None) for n in (1, 2)]


@pytest.fixture(scope="module")
def side():
    return sides()[1]["us_insurance"]


def run(side, answer, *, control=True, single=("threshold_error",), draws=2):
    model = Recorded(answer)
    plan = [*episodes.planned(side.faults, control, [*single], draws)]
    ran = asyncio.run(episodes.run_arms(model, ROLE, side.ontology, side.faults, SCENARIOS, plan, 60))
    return ran, model.requests


def test_the_arms_differ_in_the_faults_they_inject(side):
    faulty, correct = ([getattr(f, name) for f in side.faults] for name in ("injected_behavior", "correct_behavior"))
    fault = side.faults[1]
    assert episodes.instructions("joint", fault, side.faults) == faulty
    assert episodes.instructions("control", fault, side.faults) == correct
    single = episodes.instructions("single", fault, side.faults)
    assert [i for i, (one, other) in enumerate(zip(single, correct, strict=True)) if one != other] == [1]
    assert single[1] == faulty[1]


def test_the_plan_counts_every_arm_and_draw(side):
    plan = [*episodes.planned(side.faults, True, ["threshold_error"], 2)]
    arms = [arm for _, arm, _ in plan]
    assert (arms.count("joint"), arms.count("control"), arms.count("single")) == (10, 5, 1)
    assert [*episodes.planned(side.faults, False, [], 1)] == [(fault, "joint", 1) for fault in side.faults]


def test_every_fault_and_draw_is_asked_afresh(side):
    ran, requests = run(side, lambda request: f"answer {request.draw}")
    assert len(ran) == len(requests) == 2 * 16
    joint = [r for r in requests if "/s01/" in r.call and "/joint/" in r.call]
    assert len({str(request.params) for request in joint}) == 1
    assert sorted(request.draw for request in joint) == [*range(1, 11)]


def test_more_draws_later_leave_the_earlier_ones_as_they_are(side):
    one = {fault.id: episodes.request_draw(fault, side.faults, 1) for fault in side.faults}
    two = {fault.id: episodes.request_draw(fault, side.faults, 2) for fault in side.faults}
    assert sorted(one.values()) == [1, 2, 3, 4, 5] and sorted(two.values()) == [6, 7, 8, 9, 10]


def test_the_agent_sees_the_message_and_its_instructions_and_nothing_of_the_scenario_else(side):
    _, requests = run(side, lambda request: "ok", draws=1)
    for request in requests:
        assert request.params["messages"] == [{"role": "user", "content": f"message {int(request.call.split('/')[2][1:])}"}]
        assert "output_config" not in request.params and "temperature" not in request.params
        for fault in side.faults:
            assert fault.title not in request.params["system"]


@pytest.mark.parametrize("state", ["refused", "truncated", "empty", "error"])
def test_an_answer_that_is_none_keeps_its_state(side, state):
    ran, _ = run(side, lambda request: Reply(request.call, "k", state, "", None, "m", "m", None, 1, 0, None), draws=1)
    assert {(episode.state, episode.text) for episode in ran} == {(state, "")}
