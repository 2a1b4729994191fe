import asyncio
import json
from collections import Counter, defaultdict

import pytest
from scripted_study import Recorded, reply, sides, study

from regatta_lib.base import ContractError
from regatta_lib.models import PLACEMENT_TABLE, Pending, Placement, batches
from regatta_lib.stats import seeded
from regatta_lib.studies import Ruling, order_check, runs
from regatta_lib.studies.judges import unreadable

DESIGN = study(strategies=["S1", "S2"], scenarios=4, control=True, single=["threshold_error"], repeats={"us_insurance": 2})


class Waiting(Recorded):
    """A model whose answers to some roles are still to come."""

    def __init__(self, roles):
        super().__init__(reply)
        self._roles = roles

    async def complete(self, request):
        if request.call.split("/")[0] in self._roles:
            raise Pending(request.call)
        return await super().complete(request)


def waiting(*roles):
    collector = batches.Collector(Waiting(roles))
    with pytest.raises(Pending):
        asyncio.run(runs.run(collector, DESIGN, *sides(DESIGN)))
    return collector.waiting


@pytest.fixture(scope="module")
def agent_and_judges():
    return waiting("agent", "design", "coverage", "specificity", "adversarial")


def dealt(requests, size=60, first=1, seed=1):
    return batches.deal_batches(requests, size, first, seeded(seed, "batches"))


def in_batches(placements):
    grouped = defaultdict(list)
    for place in placements:
        grouped[place.batch].append(place)
    return grouped


def test_all_that_can_be_asked_is_collected(agent_and_judges):
    roles = Counter(request.call.split("/")[0] for request in agent_and_judges.values())
    assert roles["agent"] == 8 * 16
    assert roles["design"] == 2 * 5 + 3, "no grid: the first scenario of each scan, and the canaries"
    assert len(agent_and_judges) == sum(roles.values())


def test_every_request_is_dealt_once_into_batches_of_one_kind(agent_and_judges):
    placements = dealt(agent_and_judges, size=20)
    assert sorted(place.custom_id for place in placements) == sorted(agent_and_judges)
    for number, places in in_batches(placements).items():
        assert len({place.kind for place in places}) == 1
        assert len(places) <= 20
        assert [place.position for place in places] == [*range(1, len(places) + 1)], number


def test_no_batch_of_answers_holds_a_scenario_twice(agent_and_judges):
    for requests in (agent_and_judges, waiting("execution")):
        for places in in_batches(dealt(requests)).values():
            groups = [batches.apart(requests[place.custom_id]) for place in places]
            once = [group for group in groups if group is not None]
            assert len(set(once)) == len(once)


def test_the_scenario_of_a_call_is_found_for_agent_and_judge():
    requests = waiting("agent") | waiting("execution")
    calls = {request.call: batches.apart(request) for request in requests.values()}
    assert calls["agent/tester.S1.us_insurance.r1/s02/IN-F3/joint/1"] == "tester.S1.us_insurance.r1/s02"
    assert calls["execution/tester.S1.us_insurance.r1/IN-F3/joint/1/s01"] == "tester.S1.us_insurance.r1/s01"


def test_a_suite_is_alone_in_its_batch():
    assert {len(places) for places in in_batches(dealt(waiting("suite"))).values()} == {1}


def test_the_deal_is_seeded_and_numbered_on(agent_and_judges):
    first = dealt(agent_and_judges)
    assert first == dealt(dict(reversed(agent_and_judges.items())))
    assert first != dealt(agent_and_judges, seed=2)
    assert min(place.batch for place in dealt(agent_and_judges, first=7)) == 7


def test_a_batch_line_is_a_message_batches_request(agent_and_judges, tmp_path):
    placements = dealt(agent_and_judges)
    texts = batches.batch_texts(tmp_path, placements, agent_and_judges)
    for number, places in in_batches(placements).items():
        lines = [json.loads(line) for line in texts[tmp_path / f"batch-{number:03d}.jsonl"].splitlines()]
        assert [line["custom_id"] for line in lines] == [place.custom_id for place in places]
        assert all(line.keys() == {"custom_id", "params"} and line["params"]["messages"] for line in lines)
        assert all(len(line["custom_id"]) == 64 for line in lines)


def test_what_waits_in_an_unanswered_batch_is_not_dealt_again(agent_and_judges, tmp_path):
    placements = dealt(agent_and_judges)
    assert batches.undealt(tmp_path, placements, agent_and_judges) == {}
    batches.answers_file(tmp_path, placements[0].batch).write_text("")
    left = batches.undealt(tmp_path, placements, agent_and_judges)
    assert set(left) == {place.custom_id for place in placements if place.batch == placements[0].batch}


def places(kind="design demo", count=3):
    return [Placement(1, n, f"k{n}", kind, f"design/{n}") for n in range(1, count + 1)]


def collect(tmp_path, *lines, kind="design demo"):
    text = "".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines)
    (tmp_path / "replies-001.jsonl").write_text(text, encoding="utf-8")
    (tmp_path / "batch-001.jsonl").write_text("".join(f'{{"custom_id": "k{n}", "params": {{}}}}\n' for n in (1, 2, 3)))
    return batches.collected(tmp_path, places(kind), "served-model", unreadable)


def test_simple_replies_become_result_lines_in_the_order_of_the_batch(tmp_path):
    verdict = {"justification": "é", "verdict": "no"}
    texts, notes = collect(tmp_path, {"line": 3, "answer": json.dumps(verdict)}, {"line": 1, "answer": verdict})
    lines = [json.loads(line) for line in texts[tmp_path / "answers-001.jsonl"].splitlines()]
    assert [line["custom_id"] for line in lines] == ["k1", "k3"]
    message = lines[0]["result"]["message"]
    assert json.loads(message["content"][0]["text"]) == verdict
    assert (message["model"], message["stop_reason"], lines[0]["result"]["type"]) == (
        "served-model",
        "end_turn",
        "succeeded",
    )
    assert notes == ["replies-001.jsonl: 2 replies, 1 missing (lines 2), 0 unreadable"]


def test_unreadable_judge_replies_are_counted_and_kept(tmp_path):
    texts, notes = collect(tmp_path, {"line": 1, "answer": "yes"}, {"line": 2, "answer": {"verdict": "yes"}})
    assert len(texts[tmp_path / "answers-001.jsonl"].splitlines()) == 2
    assert notes == ["replies-001.jsonl: 2 replies, 1 missing (lines 3), 2 unreadable (lines 1, 2)"]
    assert collect(tmp_path, {"line": 1, "answer": "prose"}, kind="agent demo")[1][0].endswith("0 unreadable")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("not json\n", "row 1: found 'not json'"),
        ({"line": 4, "answer": "x"}, "line is 4, expected 1 to 3"),
        ({"line": 0, "answer": "x"}, "line is 0, expected 1 to 3"),
        ({"line": "1", "answer": "x"}, "row 1: found"),
        ({"line": True, "answer": "x"}, "row 1: found"),
        ({"line": 1}, "row 1: found"),
        ({"line": 1, "answer": None}, "row 1: found"),
        ({"line": 1, "answer": "x", "note": "y"}, "row 1: found"),
        ('{"line": 1, "answer": "x"}\n{"line": 1, "answer": "x"}\n', "line 1 is answered twice"),
    ],
)
def test_a_reply_file_of_another_form_stops_the_collection(tmp_path, line, message):
    with pytest.raises(ContractError, match=r"replies-001.jsonl: ") as caught:
        collect(tmp_path, line)
    assert message in str(caught.value)


@pytest.mark.parametrize("asked", [("k1", "k2"), ("k2", "k1", "k3"), ("k1", "k2", "k4")])
def test_answers_are_not_tied_to_requests_of_another_order(tmp_path, asked):
    """Replies name lines of the batch file, so batches.csv must list the same requests in the same order."""
    assert collect(tmp_path, {"line": 1, "answer": "x"})[0]
    (tmp_path / "batch-001.jsonl").write_text("".join(json.dumps({"custom_id": key}) + "\n" for key in asked))
    with pytest.raises(ContractError, match=r"batches\.csv: batch 1: its requests are not those of batch-001\.jsonl"):
        batches.collected(tmp_path, places(), "m", unreadable)
    with pytest.raises(ContractError, match="in order"):
        batches.collected(tmp_path, places()[1:], "m", unreadable)
    (tmp_path / "batch-001.jsonl").unlink()
    with pytest.raises(ContractError, match=r"batch-001\.jsonl: missing"):
        batches.collected(tmp_path, places(), "m", unreadable)


def test_replies_to_no_batch_stop_the_collection(tmp_path):
    (tmp_path / "replies-009.jsonl").write_text('{"line": 1, "answer": "x"}\n')
    with pytest.raises(ContractError, match=r"replies-009.jsonl: no such batch, expected one of 1 to 1"):
        batches.collected(tmp_path, places(), "m", unreadable)


def test_collected_replies_are_not_collected_twice(tmp_path):
    (tmp_path / "answers-001.jsonl").write_text("")
    assert collect(tmp_path, {"line": 1, "answer": "x"}) == ({}, [])


def ruling(number, value, judge="design"):
    return Ruling("t.S1.us_insurance.r1", judge, "IN-F1", "", 1, number, "answered", value, "r", f"k{number}")


def test_the_order_check_compares_thirds_of_the_batch():
    """Six items: yes, yes, no, no, no, no; the second judge saw items 1, 2 and 6 and differs on 2."""
    placed = [Placement(1, n, f"k{n}", "design demo", "c") for n in range(1, 7)]
    rulings = [ruling(n, int(n <= 2)) for n in range(1, 7)]
    table = order_check(placed, rulings, [ruling(1, 1), ruling(2, 0), ruling(6, 0)])
    assert table["third"].tolist() == [1, 2, 3]
    assert table["n"].tolist() == [2, 2, 2]
    assert table["yes"].tolist() == [1.0, 0.0, 0.0]
    assert table["shared"].tolist() == [2, 0, 1]
    assert table["agreement"].fillna(-1).tolist() == [0.5, -1.0, 1.0]


def test_placements_keep_their_contract(tmp_path):
    PLACEMENT_TABLE.write(batches.placement_table(places()), tmp_path / "batches.csv")
    assert [Placement(**row) for row in PLACEMENT_TABLE.read(tmp_path / "batches.csv").to_dict("records")] == places()
