"""Exchange: requests out, answers in, and everything that can be wrong with an answer file."""

import asyncio
import json
from contextlib import aclosing

import pytest

from regatta_lib.models import Exchange, Pending, Replay, Request, Transcripts
from regatta_lib.models.exchange import ExchangeCounts

CALL = "coverage/own.S1.us_insurance.r1/IN-01/s{:02}"


def request(number: int) -> Request:
    params = {"model": "judge", "max_tokens": 50, "messages": [{"role": "user", "content": f"item {number}"}]}
    return Request(CALL.format(number), params)


def ask(folder, *numbers: int):
    """Ask for items through the exchange: the replies (or Pending), the counts, the open requests by item."""

    async def run():
        transcripts = Transcripts(folder / "transcripts")
        async with aclosing(Exchange(folder, transcripts)) as model:
            replies = await asyncio.gather(*(model.complete(request(n)) for n in numbers), return_exceptions=True)
            counts = model.counts()
        transcripts.close()
        return replies, counts

    replies, counts = asyncio.run(run())
    lines = [json.loads(line) for line in (folder / "requests.jsonl").read_text().splitlines()]
    return replies, counts, {line["params"]["messages"][0]["content"]: line["custom_id"] for line in lines}


def message(text: str, **changes) -> dict:
    content = [{"type": "text", "text": text}]
    usage = {"input_tokens": 10, "output_tokens": 2}
    fixed = {"type": "message", "model": "a-model", "content": content, "stop_reason": "end_turn", "usage": usage}
    return fixed | changes


def answers(folder, name: str, *lines: dict | str) -> None:
    text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    (folder / name).write_text(text)


def succeeded(custom_id: str, text: str, **changes) -> dict:
    return {"custom_id": custom_id, "result": {"type": "succeeded", "message": message(text, **changes)}}


def failed(custom_id: str, kind: str) -> dict:
    return {
        "custom_id": custom_id,
        "result": {"type": kind} | ({"error": {"type": "api_error"}} if kind == "errored" else {}),
    }


def test_requests_are_written_in_the_batch_shape_and_in_order(tmp_path):
    replies, counts, opened = ask(tmp_path, 1, 2, 3)
    assert [str(reply) for reply in replies] == [CALL.format(n) for n in (1, 2, 3)]
    assert all(isinstance(reply, Pending) for reply in replies)
    assert counts == ExchangeCounts(pending=3)
    lines = (tmp_path / "requests.jsonl").read_text().splitlines()
    ids = [json.loads(line)["custom_id"] for line in lines]
    assert ids == sorted(ids) and len(set(ids)) == 3
    for line in map(json.loads, lines):
        assert set(line) == {"custom_id", "params"}
        assert len(line["custom_id"]) <= 64 and line["custom_id"].isalnum()
    assert json.loads(lines[0])["params"] == request(int(next(iter(opened)).split()[-1])).params


def test_partial_answers_leave_the_rest_open(tmp_path):
    _, _, opened = ask(tmp_path, 1, 2, 3)
    answers(tmp_path, "answers-1.jsonl", succeeded(opened["item 2"], "yes"))
    replies, counts, still = ask(tmp_path, 1, 2, 3)
    assert counts == ExchangeCounts(answered=1, pending=2)
    assert set(still) == {"item 1", "item 3"}
    assert (replies[1].state, replies[1].text, replies[1].served_model) == ("answered", "yes", "a-model")
    assert (replies[1].attempts, replies[1].maybe_billed, replies[1].requested_model) == (1, 0, "judge")


def test_answers_are_recorded_and_can_be_replayed_without_the_files(tmp_path):
    _, _, opened = ask(tmp_path, 1)
    answers(tmp_path, "answers.jsonl", succeeded(opened["item 1"], "yes"))
    [reply], _, _ = ask(tmp_path, 1)
    (tmp_path / "answers.jsonl").unlink()
    assert asyncio.run(Replay(tmp_path / "transcripts").complete(request(1))) == reply
    [again], counts, still = ask(tmp_path, 1)
    assert (again, counts, still) == (reply, ExchangeCounts(answered=1), {})


def test_repeated_conflicting_unknown_malformed_and_failed_answers_are_counted(tmp_path):
    _, _, opened = ask(tmp_path, 1, 2, 3, 4, 5)
    one, two, three, four, five = (opened[f"item {n}"] for n in range(1, 6))
    answers(
        tmp_path,
        "answers-1.jsonl",
        succeeded(one, "yes"),
        failed(two, "errored"),
        failed(three, "expired"),
        failed(four, "canceled"),
        "{not json",
        "",
        json.dumps({"custom_id": five}),
        json.dumps(["custom_id", "result"]),
        succeeded(five, "yes", content="a text where blocks are due"),
        succeeded("f" * 64, "yes"),
    )
    answers(tmp_path, "answers-2.jsonl", succeeded(one, "yes"), succeeded(one, "no"), succeeded(two, "after all"))
    replies, counts, still = ask(tmp_path, 1, 2, 3, 4, 5)
    assert [getattr(reply, "text", None) for reply in replies] == ["yes", "after all", None, None, None]
    expected = ExchangeCounts(answered=2, pending=3, repeated=1, conflicting=1, unanswered=3, malformed=4, unknown=1)
    assert counts == expected
    assert set(still) == {"item 3", "item 4", "item 5"}
    assert str(counts).startswith("2 answered, 3 pending, 1 repeated, 1 conflicting, 3 unanswered, 4 malformed, 1 unknown")


def test_an_answer_to_an_earlier_stage_of_the_study_is_not_unknown(tmp_path):
    _, _, opened = ask(tmp_path, 1, 2)
    answers(tmp_path, "answers.jsonl", *(succeeded(custom_id, "yes") for custom_id in opened.values()))
    _, counts, _ = ask(tmp_path, 1)
    assert counts == ExchangeCounts(answered=1)


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({"stop_reason": "refusal", "content": []}, "refused"),
        ({"stop_reason": "max_tokens"}, "truncated"),
        ({"content": []}, "empty"),
        ({"usage": None}, "answered"),
    ],
)
def test_states_of_answers(tmp_path, changes, state):
    _, _, opened = ask(tmp_path, 1)
    answers(tmp_path, "answers.jsonl", succeeded(opened["item 1"], "yes", **changes))
    [reply], counts, _ = ask(tmp_path, 1)
    assert (reply.state, counts.answered) == (state, 1)
