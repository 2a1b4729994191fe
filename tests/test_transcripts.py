"""Transcripts: durable, resumable, complete in their key, packed deterministically."""

import asyncio
import copy
import os

import pytest

from regatta_lib.base import ContractError
from regatta_lib.models import Request, Transcripts, pack_file
from regatta_lib.models import transcripts as module
from regatta_lib.models.transcripts import Outcome, events, request_key, transcript_files

SCHEMA = {"type": "object", "properties": {"verdict": {"type": "string"}}}
PARAMS = {
    "model": "judge",
    "max_tokens": 50,
    "system": "You judge.",
    "messages": [{"role": "user", "content": "item"}],
    "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}, "effort": "low"},
    "temperature": 0.0,
    "thinking": {"type": "disabled"},
}
ENDPOINT = {"protocol": "anthropic", "base_url": "http://127.0.0.1", "model": "m", "structured": "schema", "body": {}}
CALL = "coverage/own.S1.us_insurance.r1/IN-01/s03"
PATH = "own.S1.us_insurance.r1.jsonl"


def record(folder, *outcomes: tuple[str, Outcome | None], suite="own.S1.us_insurance.r1"):
    """Store sent requests, each with its outcome if it has one; the replies."""

    async def run():
        transcripts = Transcripts(folder)
        replies = []
        for key, outcome in outcomes:
            call = f"coverage/{suite}/{key}"
            with transcripts.ledger(call) as ledger:
                transcripts.sent(ledger, key, Request(call, {"model": "judge", "ask": key}), ENDPOINT, "v")
                if outcome:
                    replies.append(await transcripts.outcome(ledger, key, call, "m", outcome))
        transcripts.close()
        return replies

    return asyncio.run(run())


def settled(folder, key):
    transcripts = Transcripts(folder)
    with transcripts.ledger(CALL) as ledger:
        reply = ledger.settled(key)
    transcripts.close()
    return reply


def leaves(value, path=()):
    """The paths of all plain values in nested dicts and lists."""
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for name, part in pairs:
            yield from leaves(part, (*path, name)) if part not in ({}, []) else [(*path, name)]
    else:
        yield path


def flipped(value, path):
    """A copy in which the value at the path is another one."""
    changed = copy.deepcopy(value)
    part = changed
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = "another"
    return changed


def test_any_changed_field_gives_another_key():
    key = request_key(PARAMS, ENDPOINT, "2026-10-21", 1)
    others = [request_key(flipped(PARAMS, path), ENDPOINT, "2026-10-21", 1) for path in leaves(PARAMS)]
    others += [request_key(PARAMS, flipped(ENDPOINT, path), "2026-10-21", 1) for path in leaves(ENDPOINT)]
    others += [request_key({k: v for k, v in PARAMS.items() if k != name}, ENDPOINT, "2026-10-21", 1) for name in PARAMS]
    others += [request_key(PARAMS, ENDPOINT, "2023-06-01", 1), request_key(PARAMS, ENDPOINT, "2026-10-21", 2)]
    assert len(others) == 11 + 5 + 7 + 2
    assert len({key, *others}) == 1 + len(others)
    assert key == request_key(dict(reversed(PARAMS.items())), ENDPOINT, "2026-10-21", 1)


def test_a_reply_is_what_was_stored(tmp_path):
    usage = {"input_tokens": 3, "output_tokens": 4}
    [reply] = record(tmp_path, ("k", Outcome("answered", "Phí là 5 %\nyes", "end_turn", "m-served", usage)))
    assert (reply.text, reply.usage, reply.attempts, reply.maybe_billed) == ("Phí là 5 %\nyes", usage, 1, 0)
    assert settled(tmp_path, "k") == reply
    assert settled(tmp_path, "other") is None


def test_history_is_recounted_from_the_file(tmp_path):
    record(tmp_path, ("k", Outcome("error", error="cut", billed="maybe", final=False)), ("k", None))
    assert settled(tmp_path, "k") is None
    [reply] = record(tmp_path, ("k", Outcome("answered", "yes", "end_turn")))
    assert (reply.attempts, reply.maybe_billed) == (3, 2)
    assert settled(tmp_path, "k") == reply


@pytest.mark.parametrize("kept", [0, 1, 40, -1])
def test_a_torn_last_line_is_skipped_by_readers_and_cut_off_by_the_next_writer(tmp_path, kept):
    record(tmp_path, ("a", Outcome("answered", "yes")), ("b", Outcome("answered", "no")))
    path = tmp_path / PATH
    whole = path.read_bytes()
    start = whole.rstrip(b"\n").rindex(b"\n") + 1
    path.write_bytes(whole[: start + kept] if kept >= 0 else whole[:-1])
    assert [event["event"] for _, event in events(path)] == ["sent", "outcome", "sent"]
    assert settled(tmp_path, "a").text == "yes"
    assert settled(tmp_path, "b") is None
    assert path.read_bytes() == whole[:start]
    record(tmp_path, ("b", Outcome("answered", "no")))
    assert settled(tmp_path, "b").text == "no"


def test_a_torn_line_longer_than_the_search_step_is_cut_off_too(tmp_path):
    record(tmp_path, ("a", Outcome("answered", "yes")))
    path = tmp_path / PATH
    whole = path.read_bytes()
    path.write_bytes(whole + b"x" * 200_000)
    assert settled(tmp_path, "a").text == "yes"
    assert path.read_bytes() == whole


@pytest.mark.parametrize("line", [b"not json\n", b'{"event":"sent"}\n', b'{"event":"guess","key":"k"}\n', b"[]\n"])
def test_any_other_bad_line_is_an_error_that_names_it(tmp_path, line):
    record(tmp_path, ("a", Outcome("answered", "yes")))
    path = tmp_path / PATH
    path.write_bytes(line + path.read_bytes())
    with pytest.raises(ContractError, match=r"own\.S1\.us_insurance\.r1\.jsonl: row 1: found"):
        settled(tmp_path, "a")


def test_an_outcome_is_on_the_disk_before_it_is_returned_and_waits_are_shared(tmp_path, monkeypatch):
    synced = []

    def fsync(descriptor):
        synced.append(os.fstat(descriptor).st_size)

    monkeypatch.setattr(module.os, "fsync", fsync)

    async def one(transcripts, number):
        call = f"{CALL}/{number}"
        with transcripts.ledger(call) as ledger:
            await transcripts.outcome(ledger, str(number), call, "m", Outcome("answered", "yes"))
            stored = (tmp_path / PATH).read_bytes()
            assert synced and synced[-1] >= stored.index(call.encode())

    async def run():
        transcripts = Transcripts(tmp_path)
        await asyncio.gather(*(one(transcripts, number) for number in range(50)))
        transcripts.close()

    asyncio.run(run())
    assert 1 <= len(synced) < 10


def test_a_disk_that_fails_stops_the_call(tmp_path, monkeypatch):
    def fsync(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.os, "fsync", fsync)
    with pytest.raises(OSError, match="No space left"):
        record(tmp_path, ("a", Outcome("answered", "yes")))


def test_one_writer_at_a_time(tmp_path):
    transcripts = Transcripts(tmp_path)
    with pytest.raises(ContractError, match="another run is writing here"):
        Transcripts(tmp_path)
    transcripts.close()
    Transcripts(tmp_path).close()


def test_few_files_stay_open_and_none_in_use_is_closed(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "OPEN_LEDGERS", 2)
    transcripts = Transcripts(tmp_path)
    with transcripts.ledger("coverage/a.S1.x.r1") as used:
        for name in "bcde":
            with transcripts.ledger(f"coverage/{name}.S1.x.r1"):
                pass
        assert set(transcripts._ledgers) == {"a.S1.x.r1", "e.S1.x.r1"}
        with transcripts.ledger("coverage/a.S1.x.r1") as again:
            assert again is used
    transcripts.close()


def test_packing_gives_the_same_bytes_in_whatever_order_replies_came(tmp_path):
    outcomes = [("b", Outcome("error", error="cut", final=False)), ("b", Outcome("answered", "no")), ("a", Outcome("empty"))]
    record(tmp_path / "one", *outcomes)
    record(tmp_path / "two", outcomes[2], *outcomes[:2])
    one, two = pack_file(tmp_path / "one" / PATH), pack_file(tmp_path / "two" / PATH)
    assert one.read_bytes() == two.read_bytes()
    assert [event["key"] for _, event in events(one)] == ["a", "a", "b", "b", "b", "b"]
    with pytest.raises(ContractError, match="found beside its packed form"):
        transcript_files(tmp_path / "one")


def test_a_packed_file_is_not_written_beside(tmp_path):
    record(tmp_path, ("a", Outcome("answered", "yes")))
    pack_file(tmp_path / PATH)
    (tmp_path / PATH).unlink()
    with pytest.raises(ContractError, match="unpack it with 'xz -d'"):
        settled(tmp_path, "a")


def test_what_is_hidden_is_hidden_everywhere_and_placeholders_are_not(tmp_path):
    transcripts = Transcripts(tmp_path)
    transcripts.hide('sk-"quoted"-1234')
    transcripts.hide("EMPTY")
    with transcripts.ledger(CALL) as ledger:
        asked = Request(CALL, {"model": "m", "messages": 'sk-"quoted"-1234 and EMPTY'})
        transcripts.sent(ledger, "k", asked, ENDPOINT, "v")
    transcripts.close()
    [(_, event)] = events(tmp_path / PATH)
    assert event["params"]["messages"] == "[hidden] and EMPTY"
