"""Live models against a server on loopback: state, counts and spend of everything a server may do."""

import email.utils
import logging
import time

import pytest

from regatta_lib.base import ContractError
from regatta_lib.models import Request
from regatta_lib.models.live import Retry, _retry_after
from regatta_lib.models.transcripts import events
from tests.loopback import CALL, KEY, ONCE, PROTOCOLS, ask, endpoint, plant_key, request
from tests.server import TEXTS, USAGE, VERDICT, Server


@pytest.fixture(autouse=True)
def planted_key(monkeypatch):
    plant_key(monkeypatch)


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
    "a redirect": (["redirect"], "error", 1, 0, 0),
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
    assert 9 <= Retry(first=9, ceiling=10).wait(0, None) <= 10
    assert retry.wait(9, None) == 10
    assert retry.wait(0, 7_200.0) == 10


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


def test_credentials_of_the_environment_are_not_used(tmp_path, monkeypatch):
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "sk-of-somebody-else")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    with Server() as server:
        ask(tmp_path / "a", endpoint(server), request())
        ask(tmp_path / "b", endpoint(server, "openai", key_env=None), request())
    assert [received.headers["Authorization"] for received in server.received] == [f"Bearer {KEY}", "Bearer none"]
    assert all("sk-of-somebody-else" not in str(received.headers) for received in server.received)


def test_half_a_character_in_a_cut_text_does_not_stop_the_run(tmp_path):
    with Server(["say half a pair: \ud83d"]) as server:
        [reply], _ = ask(tmp_path, endpoint(server), request())
    assert (reply.state, reply.text) == ("answered", "half a pair: ?")


def test_a_missing_key_is_named_and_nothing_is_sent(tmp_path, monkeypatch):
    monkeypatch.delenv("PLANTED_KEY")
    with Server() as server, pytest.raises(ContractError, match="environment variable PLANTED_KEY is not set"):
        ask(tmp_path, endpoint(server), request())
    assert server.received == []


def test_an_address_that_holds_a_password_is_refused():
    with pytest.raises(ValueError, match="base_url"):
        endpoint("http://user:secret@127.0.0.1")


def test_the_request_is_on_record_before_its_outcome(tmp_path):
    with Server() as server:
        ask(tmp_path, endpoint(server), request())
    [path] = tmp_path.glob("*.jsonl")
    kinds = [event["event"] for _, event in events(path)]
    assert (path.stem, kinds) == ("own.S1.us_insurance.r1", ["sent", "outcome"])
