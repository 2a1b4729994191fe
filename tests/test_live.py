"""Live models against a server on loopback: state, counts and spend of everything a server may do."""

import asyncio
import email.utils
import json
import logging
import time
from contextlib import aclosing

import pytest

from regatta_lib.contracts import ContractError
from regatta_lib.live import Live, Retry, _retry_after
from regatta_lib.params import Endpoint, Prices
from regatta_lib.preflight import PreflightError, preflight
from regatta_lib.records import Request
from regatta_lib.spend import spend, totals, watched
from regatta_lib.transcripts import Transcripts, events
from tests.server import TEXTS, USAGE, VERDICT, Server

KEY = "sk-planted-5e1f"
PRICES = Prices(input=3.0, output=15.0, date="2026-11-30")
ONCE = (100 * 3.0 + 20 * 15.0) / 1e6
QUICK = Retry(tries=3, first=0.01, ceiling=0.3)
CALL = "coverage/own.S1.us_insurance.r1/IN-01/s03"
PROTOCOLS = pytest.mark.parametrize("protocol", ["anthropic", "openai"])


@pytest.fixture(autouse=True)
def planted_key(monkeypatch):
    monkeypatch.setenv("PLANTED_KEY", KEY)
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_AUTH_TOKEN", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


def endpoint(server: Server | str, protocol: str = "anthropic", **changes) -> Endpoint:
    url = server if isinstance(server, str) else server.url
    url += "/v1" if protocol == "openai" else ""
    fixed = {"protocol": protocol, "base_url": url, "key_env": "PLANTED_KEY", "model": "judge", "prices": PRICES}
    return Endpoint(**fixed | {"timeout": 0.4} | changes)


def request(number: int = 0, **changes) -> Request:
    params = {"model": "any", "max_tokens": 50, "messages": [{"role": "user", "content": f"judge item {number}"}]}
    return Request(CALL, params | changes)


def ask(folder, place: Endpoint, *requests: Request, retry: Retry = QUICK):
    """Send requests at once; the replies, and the totals recomputed from the files."""

    async def run():
        transcripts = Transcripts(folder)
        try:
            async with aclosing(Live(place, transcripts, retry)) as model:
                return await asyncio.gather(*(model.complete(one) for one in requests))
        finally:
            transcripts.close()

    replies = asyncio.run(run())
    return replies, totals(folder, {"judge": PRICES})


ANSWERED = ["ok", "fenced", "two verdicts", "prose", "think", "planted", "cut json"]


@PROTOCOLS
@pytest.mark.parametrize("behaviour", ANSWERED)
def test_whatever_an_answer_says_is_kept_as_it_is(tmp_path, protocol, behaviour):
    with Server([behaviour]) as server:
        [reply], total = ask(tmp_path, endpoint(server, protocol), request())
    assert (reply.state, reply.text, reply.error) == ("answered", TEXTS[behaviour], None)
    assert (reply.attempts, reply.maybe_billed, len(server.received)) == (1, 0, 1)
    assert (reply.requested_model, reply.served_model, reply.stop_reason) == ("judge", "judge-served", "end_turn")
    assert (reply.usage["input_tokens"], reply.usage["output_tokens"]) == USAGE
    assert (total.calls, total.attempts, total.unfinished) == (1, 1, 0)
    assert total.spend == pytest.approx(ONCE)


# behaviours in turn -> state, attempts, maybe billed, replies paid for
ROUNDS = {
    "a full queue": (["429", "ok"], "answered", 2, 0, 1),
    "a full queue that says when": (["429 retry after", "ok"], "answered", 2, 0, 1),
    "overloaded": (["529", "ok"], "answered", 2, 0, 1),
    "a server error": (["500", "ok"], "answered", 2, 0, 1),
    "a gateway that gave up": (["504", "ok"], "answered", 2, 1, 1),
    "a page of HTML": (["html", "ok"], "answered", 2, 1, 1),
    "half a body": (["half body", "ok"], "answered", 2, 1, 1),
    "a cut connection": (["cut", "ok"], "answered", 2, 1, 1),
    "a connection cut midway": (["cut midway", "ok"], "answered", 2, 1, 1),
    "no answer in time": (["slow", "ok"], "answered", 2, 1, 1),
    "wrong types": (["wrong types", "ok"], "answered", 2, 1, 1),
    "no reason to stop": (["no stop", "ok"], "answered", 2, 1, 1),
    "errors to the end": (["500"] * 3, "error", 3, 0, 0),
    "cuts to the end": (["cut"] * 3, "error", 3, 3, 0),
    "wrong types to the end": (["wrong types"] * 3, "error", 3, 3, 0),
    "a bad request": (["400"], "error", 1, 0, 0),
    "no more money": (["spend limit"], "error", 1, 0, 0),
    "truncated once": (["truncated", "ok"], "answered", 2, 0, 2),
    "truncated again": (["truncated", "truncated"], "truncated", 2, 0, 2),
    "truncated, then an error": (["truncated", "500", "ok"], "answered", 3, 0, 2),
    "a refusal": (["refusal"], "refused", 1, 0, 1),
    "nothing said": (["empty"], "empty", 1, 0, 1),
}


@PROTOCOLS
@pytest.mark.parametrize("name", ROUNDS)
def test_states_counts_and_spend(tmp_path, protocol, name):
    script, state, attempts, maybe_billed, paid = ROUNDS[name]
    with Server(script) as server:
        [reply], total = ask(tmp_path, endpoint(server, protocol), request())
    assert (reply.state, reply.attempts, reply.maybe_billed) == (state, attempts, maybe_billed)
    assert len(server.received) == attempts
    assert (total.calls, total.attempts, total.maybe_billed, total.unfinished) == (1, attempts, maybe_billed, 0)
    assert total.spend == pytest.approx(paid * ONCE)
    assert (reply.error is not None) == (state == "error" or (state == "refused" and protocol == "anthropic"))
    assert reply.text == (VERDICT if state == "answered" else "I can" if state == "truncated" else "")


@PROTOCOLS
def test_a_truncated_reply_is_asked_for_once_more_with_twice_the_cap(tmp_path, protocol):
    with Server(["truncated", "truncated"]) as server:
        ask(tmp_path, endpoint(server, protocol), request())
    assert [received.body["max_tokens"] for received in server.received] == [50, 100]


@PROTOCOLS
def test_an_unexpected_reason_to_stop_is_an_error(tmp_path, protocol):
    with Server(["pause"] * 3) as server:
        [reply], total = ask(tmp_path, endpoint(server, protocol), request())
    assert (reply.state, reply.attempts) == ("error", 3)
    assert "unexpected reason: 'pause" in reply.error
    assert total.spend == pytest.approx(3 * ONCE)


@PROTOCOLS
def test_a_reply_without_token_counts_is_kept_and_counted_as_unpriced(tmp_path, protocol):
    with Server(["no usage"]) as server:
        [reply], total = ask(tmp_path, endpoint(server, protocol), request())
    assert (reply.state, reply.usage, total.unpriced, total.spend) == ("answered", None, 1, 0.0)


def test_a_refusal_keeps_its_category(tmp_path):
    with Server(["refusal"]) as server:
        [reply], _ = ask(tmp_path, endpoint(server), request())
    assert reply.error == "refused: cyber"


def test_a_server_that_is_not_there_has_cost_nothing(tmp_path):
    [reply], total = ask(tmp_path, endpoint("http://127.0.0.1:9"), request())
    assert (reply.state, reply.attempts, reply.maybe_billed, total.spend) == ("error", 3, 0, 0.0)
    assert reply.error.startswith("connection failed (ConnectError, ClientConnectorError")


def test_retry_after_is_obeyed_up_to_the_ceiling(tmp_path):
    started = time.monotonic()
    with Server(["429 retry after", "ok"]) as server:
        ask(tmp_path / "a", endpoint(server), request())
        asked = time.monotonic() - started
    with Server(["429 for hours", "ok"]) as server:
        [reply], _ = ask(tmp_path / "b", endpoint(server), request())
    assert reply.state == "answered"
    assert 0.2 <= asked < 2
    assert 0.5 <= time.monotonic() - started < 4


def test_retry_after_is_read_as_seconds_or_as_a_date():
    assert _retry_after({"retry-after": "12"}) == 12
    assert _retry_after({"retry-after": "-3"}) == 0
    assert 50 < _retry_after({"retry-after": email.utils.formatdate(time.time() + 60, usegmt=True)}) <= 60
    assert _retry_after({"retry-after": "soon"}) is None
    assert _retry_after({"retry-after": "nan"}) is None
    assert _retry_after({}) is None


def test_all_calls_share_one_limit_and_one_pause(tmp_path):
    arrivals = []

    def script(number, body):
        arrivals.append(time.monotonic())
        return "429 retry after" if number == 0 else "ok"

    with Server(script, latency=0.02) as server:
        replies, _ = ask(tmp_path, endpoint(server, concurrency=3), *(request(n) for n in range(12)))
    assert {reply.state for reply in replies} == {"answered"}
    assert server.peak == 3
    assert sum(reply.attempts for reply in replies) == 13
    before = [moment for moment in arrivals if moment < arrivals[0] + 0.2]
    assert len(before) <= 5  # those in flight when the 429 came, and none after it


def test_the_wait_grows_and_never_passes_the_ceiling():
    retry = Retry(first=1, ceiling=10)
    assert 1 <= retry.wait(0, None) <= 1.25
    assert 4 <= retry.wait(2, None) <= 5
    assert 10 <= retry.wait(9, None) <= 12.5
    assert 10 <= retry.wait(0, 7_200.0) <= 12.5


@PROTOCOLS
def test_a_settled_call_is_not_sent_again_and_an_error_is(tmp_path, protocol):
    with Server(["ok", "400"]) as server:
        place = endpoint(server, protocol, concurrency=1)
        first, _ = ask(tmp_path, place, request(1), request(2))
        second, total = ask(tmp_path, place, request(1), request(2))
    assert [reply.state for reply in first] == ["answered", "error"]
    assert second[0] == first[0]
    assert (second[1].state, second[1].attempts) == ("answered", 2)
    assert (len(server.received), total.attempts, total.calls) == (3, 3, 2)


def test_equal_requests_at_once_are_sent_once_and_other_draws_apart(tmp_path):
    again = Request(CALL, request().params, draw=2)
    with Server(latency=0.02) as server:
        replies, _ = ask(tmp_path, endpoint(server), request(), request(), again)
    assert len(server.received) == 2
    assert replies[0] == replies[1]
    assert replies[2].key != replies[0].key


def test_what_is_sent_over_the_messages_protocol(tmp_path):
    with Server() as server:
        place = endpoint(server, key_header="x-api-key", body={"thinking": {"type": "disabled"}})
        ask(tmp_path / "a", place, request(temperature=0.3, system="You judge."))
        old = place.model_copy(update={"sampling": True, "api_version": "2023-06-01"})
        ask(tmp_path / "b", old, request(temperature=0.3, max_tokens=50_000))
    new, old = server.received
    assert new.path == "/v1/messages"
    assert new.headers["anthropic-version"] == "2026-10-21"
    assert (new.headers["Authorization"], new.headers["x-api-key"]) == (f"Bearer {KEY}", KEY)
    assert new.body == {
        "model": "judge",
        "max_tokens": 50,
        "system": "You judge.",
        "messages": [{"role": "user", "content": "judge item 0"}],
        "thinking": {"type": "disabled"},
    }
    assert old.headers["anthropic-version"] == "2023-06-01"
    assert (old.body["temperature"], old.body["max_tokens"]) == (0.3, 50_000)


def test_what_is_sent_over_the_chat_protocol(tmp_path):
    schema = {"type": "object", "properties": {"verdict": {"type": "string"}}}
    asked = request(system="You judge.", output_config={"format": {"type": "json_schema", "schema": schema}}, temperature=0)
    with Server() as server:
        place = endpoint(server, "openai", sampling=True)
        ask(tmp_path / "a", place, asked)
        ask(tmp_path / "b", place.model_copy(update={"structured": "tool"}), asked)
        ask(tmp_path / "c", place.model_copy(update={"structured": "prompt"}), asked)
    plain, tool, prompt = (received.body for received in server.received)
    assert plain["messages"][0] == {"role": "system", "content": "You judge."}
    assert plain["response_format"]["json_schema"]["schema"] == schema
    assert plain["temperature"] == 0
    assert tool["tools"][0]["function"]["parameters"] == schema
    assert tool["tool_choice"] == {"type": "function", "function": {"name": "answer"}}
    assert "response_format" not in tool and "response_format" not in prompt
    assert json.dumps(schema) in prompt["messages"][0]["content"]


@PROTOCOLS
@pytest.mark.parametrize("behaviour", ["leak", f"say the key is {KEY}"])
def test_a_key_never_leaves_the_process(tmp_path, protocol, behaviour, caplog, capfd, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_LOG", "debug")
    caplog.set_level(logging.DEBUG)
    with Server([behaviour]) as server:
        place = endpoint(server, protocol)
        [reply], _ = ask(tmp_path, place, request())
    assert KEY in server.received[0].headers["Authorization"]
    assert "[hidden]" in f"{reply.text}{reply.error}"
    printed = capfd.readouterr()
    stored = "".join(path.read_text() for path in tmp_path.rglob("*.jsonl"))
    assert stored and "[hidden]" in stored
    for text in (stored, repr(reply), repr(place), caplog.text, printed.out, printed.err):
        assert KEY not in text


def test_a_missing_key_is_named_and_nothing_is_sent(tmp_path, monkeypatch):
    monkeypatch.delenv("PLANTED_KEY")
    with Server() as server, pytest.raises(ContractError, match="environment variable PLANTED_KEY is not set"):
        ask(tmp_path, endpoint(server), request())
    assert server.received == []


def test_an_address_that_holds_a_password_is_refused():
    with pytest.raises(ValueError, match="base_url"):
        endpoint("http://user:secret@127.0.0.1")


@PROTOCOLS
@pytest.mark.parametrize(
    ("offers", "structured"),
    [({}, "schema"), ({"schema": False}, "tool"), ({"schema": False, "tools": False}, "prompt")],
)
def test_preflight_finds_what_works(tmp_path, protocol, offers, structured):
    with Server() as server:
        server.offers |= offers | {"sampling": False, "count_tokens": "schema" not in offers}
        transcripts = Transcripts(tmp_path)
        found = asyncio.run(preflight(endpoint(server, protocol, sampling=True), transcripts))
        sent = len(server.received)
        again = asyncio.run(preflight(found.endpoint, transcripts))
        transcripts.close()
    counted = protocol == "anthropic" and "schema" not in offers
    assert (found.endpoint.structured, found.endpoint.sampling, found.sampling) == (structured, False, "refused")
    assert found.count_tokens == ("offered" if counted else "not offered here")
    assert found.served_model == "judge-served"
    assert found.lifecycle == ("active" if protocol == "anthropic" else "unknown")
    assert again.endpoint == found.endpoint and len(server.received) == sent
    assert "requested judge, served judge-served" in str(found)


def test_preflight_stops_at_an_endpoint_that_refuses(tmp_path):
    transcripts = Transcripts(tmp_path)
    with Server(["leak"]) as server, pytest.raises(PreflightError, match="judge: HTTP 401") as stopped:
        asyncio.run(preflight(endpoint(server), transcripts))
    transcripts.close()
    assert KEY not in str(stopped.value)


def test_spend_counts_cached_tokens_at_their_own_rates():
    usage = {"input_tokens": 1_000, "output_tokens": 100}
    assert spend(usage, PRICES) == pytest.approx(0.003 + 0.0015)
    cached = usage | {"cache_creation_input_tokens": 1_000, "cache_read_input_tokens": 10_000}
    assert spend(cached, PRICES) == pytest.approx(0.003 + 0.0015 + 0.00375 + 0.003)
    assert spend(None, PRICES) == spend(usage, None) == 0.0


def test_the_progress_bar_shows_calls_and_dollars(tmp_path, capsys):
    async def run(place):
        transcripts = Transcripts(tmp_path)
        async with aclosing(
            watched(Live(place, transcripts, QUICK), {"judge": Prices(input=1e5, output=0, date="2026-11-30")}, 4)
        ) as model:
            await asyncio.gather(*(model.complete(request(n)) for n in range(4)))
        transcripts.close()

    with Server() as server:
        asyncio.run(run(endpoint(server)))
    shown = capsys.readouterr().err
    assert "4/4" in shown and "$40.00" in shown


def test_the_request_is_on_record_before_its_outcome(tmp_path):
    with Server() as server:
        ask(tmp_path, endpoint(server), request())
    [path] = tmp_path.glob("*.jsonl")
    kinds = [event["event"] for _, event in events(path)]
    assert (path.stem, kinds) == ("own.S1.us_insurance.r1", ["sent", "outcome"])
