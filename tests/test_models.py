"""Models: scripted, replay and routed ones, and what importing them brings in."""

import asyncio
import subprocess
import sys

import pytest

from regatta_lib.base import ContractError
from regatta_lib.models import MissingTranscript, Replay, Request, Routed, Scripted, Transcripts, pack_file
from regatta_lib.models.transcripts import Outcome, events, request_key

CALL = "coverage/own.S1.us_insurance.r1/IN-01/s03"
PARAMS = {"model": "judge", "max_tokens": 50, "messages": [{"role": "user", "content": "item"}]}


def complete(model, *args):
    return asyncio.run(model.complete(Request(*args)))


def store(folder, *outcomes: Outcome, endpoint="one", draw=1):
    async def run():
        transcripts = Transcripts(folder)
        key = request_key(PARAMS, {"name": endpoint}, "v", draw)
        with transcripts.ledger(CALL) as ledger:
            for outcome in outcomes:
                transcripts.sent(ledger, key, Request(CALL, PARAMS, draw), {"name": endpoint}, "v")
                reply = await transcripts.outcome(ledger, key, CALL, "m", outcome)
        transcripts.close()
        return reply

    return asyncio.run(run())


def test_scripted_answers_from_a_function_or_a_mapping():
    assert complete(Scripted({CALL: "yes"}), CALL, PARAMS).text == "yes"
    assert complete(Scripted(lambda request: f"draw {request.draw}"), CALL, PARAMS, 3).text == "draw 3"
    assert complete(Scripted({CALL: "  "}), CALL, PARAMS).state == "empty"
    whole = complete(Scripted({CALL: "yes"}), CALL, PARAMS)
    assert complete(Scripted({CALL: whole}), CALL, PARAMS) is whole
    with pytest.raises(KeyError, match="IN-02"):
        complete(Scripted({CALL: "yes"}), CALL.replace("IN-01", "IN-02"), PARAMS)


@pytest.mark.parametrize("packed", [False, True])
def test_replay_gives_what_was_stored(tmp_path, packed):
    stored = store(tmp_path, Outcome("error", error="cut", billed="maybe", final=False), Outcome("refused", final=True))
    if packed:
        path = tmp_path / "own.S1.us_insurance.r1.jsonl"
        pack_file(path)
        path.unlink()
    assert complete(Replay(tmp_path), CALL, PARAMS) == stored
    assert (stored.state, stored.attempts, stored.maybe_billed) == ("refused", 2, 1)


def test_replay_gives_a_last_error_too(tmp_path):
    stored = store(tmp_path, Outcome("error", error="cut", final=False))
    assert complete(Replay(tmp_path), CALL, PARAMS) == stored


@pytest.mark.parametrize(
    "asked",
    [
        (CALL, PARAMS, 2),
        (CALL, PARAMS | {"max_tokens": 51}),
        (CALL, PARAMS | {"temperature": 0}),
        (CALL.replace("us_insurance", "us_fintech"), PARAMS),
    ],
)
def test_replay_raises_on_a_miss_and_names_the_call(tmp_path, asked):
    store(tmp_path, Outcome("answered", "yes"))
    with pytest.raises(MissingTranscript, match=f"no stored reply to {asked[0]}"):
        complete(Replay(tmp_path), *asked)


def test_replay_raises_on_a_request_that_was_never_answered(tmp_path):
    transcripts = Transcripts(tmp_path)
    with transcripts.ledger(CALL) as ledger:
        transcripts.sent(ledger, "k", Request(CALL, PARAMS), {}, "v")
    transcripts.close()
    with pytest.raises(MissingTranscript):
        complete(Replay(tmp_path), CALL, PARAMS)


def test_replay_does_not_choose_between_two_endpoints(tmp_path):
    store(tmp_path, Outcome("answered", "yes"))
    store(tmp_path, Outcome("answered", "no"), endpoint="two")
    with pytest.raises(ContractError, match=f"2 endpoints answered {CALL}"):
        complete(Replay(tmp_path), CALL, PARAMS)


def test_replay_prefers_an_answer_to_the_error_of_another_endpoint(tmp_path):
    stored = store(tmp_path, Outcome("answered", "yes"))
    store(tmp_path, Outcome("error", error="cut", final=False), endpoint="two")
    assert complete(Replay(tmp_path), CALL, PARAMS) == stored


def test_routed_goes_by_the_name_of_the_model():
    model = Routed({"judge": Scripted({CALL: "from the judge"}), "agent": Scripted({CALL: "from the agent"})})
    assert complete(model, CALL, PARAMS).text == "from the judge"
    assert complete(model, CALL, PARAMS | {"model": "agent"}).text == "from the agent"
    with pytest.raises(ContractError, match="no endpoint 'other', expected one of agent, judge"):
        complete(model, CALL, PARAMS | {"model": "other"})


@pytest.mark.parametrize("call", ["coverage", "coverage/../x", "Coverage/a.S1.b.r1", "coverage/a b"])
def test_a_call_name_must_name_its_suite(call):
    with pytest.raises(ValueError, match="should match pattern"):
        Request(call, PARAMS)


def test_offline_use_imports_no_provider():
    code = (
        "import sys; from regatta_lib import models; "
        "print([name for name in ('anthropic', 'openai', 'httpx2', 'aiohttp') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("damage", [lambda content: content[:-9], lambda content: b"x" + content])
def test_a_damaged_packed_transcript_is_named(tmp_path, damage):
    plain = tmp_path / "a.jsonl"
    plain.write_text('{"event":"sent","key":"k"}\n')
    packed = pack_file(plain)
    packed.write_bytes(damage(packed.read_bytes()))
    with pytest.raises(ContractError, match=r"a\.jsonl\.xz: not a whole XZ file: "):
        list(events(packed))
