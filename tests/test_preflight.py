"""Preflight: what an endpoint can do is what it did."""

import asyncio

import pytest

from regatta_lib.models import Transcripts, probe
from regatta_lib.models.live import Retry
from regatta_lib.models.preflight import PreflightError
from tests.loopback import KEY, PROTOCOLS, endpoint, plant_key
from tests.server import Server


@pytest.fixture(autouse=True)
def planted_key(monkeypatch):
    plant_key(monkeypatch)


@PROTOCOLS
@pytest.mark.parametrize(
    ("offers", "structured"),
    [({}, "schema"), ({"schema": False}, "tool"), ({"schema": False, "tools": False}, "prompt")],
)
def test_preflight_finds_what_works(tmp_path, protocol, offers, structured):
    with Server() as server:
        server.offers |= offers | {"sampling": False, "count_tokens": "schema" not in offers}
        transcripts = Transcripts(tmp_path)
        found = asyncio.run(probe(endpoint(server, protocol, sampling=True), transcripts))
        sent = len(server.received)
        again = asyncio.run(probe(found.endpoint, transcripts))
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
        asyncio.run(probe(endpoint(server), transcripts))
    transcripts.close()
    assert KEY not in str(stopped.value)


@PROTOCOLS
def test_a_failing_server_has_not_refused_sampling(tmp_path, monkeypatch, protocol):
    """Six 503s end the first preflight without a finding; the next one meets two more and then an answer."""
    monkeypatch.setattr(Retry, "wait", lambda *_: 0.0)
    transcripts = Transcripts(tmp_path)
    with Server(["503"] * (Retry.tries + 2)) as server:
        place = endpoint(server, protocol, sampling=True)
        with pytest.raises(PreflightError, match="judge: HTTP 503"):
            asyncio.run(probe(place, transcripts))
        assert len(server.received) == Retry.tries
        found = asyncio.run(probe(place, transcripts))
        sent = [received.body for received in server.received if received.behaviour == "503"]
    transcripts.close()
    assert (found.sampling, found.endpoint.sampling) == ("accepted", True)
    assert len(sent) == Retry.tries + 2 and all("temperature" in body for body in sent)


@PROTOCOLS
@pytest.mark.parametrize("failure", ["404", "500"])
def test_a_server_that_breaks_on_schemas_and_answers_plain_requests_has_none(tmp_path, monkeypatch, protocol, failure):
    monkeypatch.setattr(Retry, "wait", lambda *_: 0.0)
    transcripts = Transcripts(tmp_path)
    features = {"tools", "response_format", "output_config"}
    with Server(lambda number, body: failure if features & body.keys() else "ok") as server:
        found = asyncio.run(probe(endpoint(server, protocol), transcripts))
    transcripts.close()
    assert found.endpoint.structured == "prompt"


@PROTOCOLS
@pytest.mark.parametrize("failure", ["429", "500", "503"])
def test_a_server_that_stops_answering_has_not_refused_schemas(tmp_path, monkeypatch, protocol, failure):
    monkeypatch.setattr(Retry, "wait", lambda *_: 0.0)
    transcripts = Transcripts(tmp_path)
    with Server(["ok"] + [failure] * 2 * Retry.tries) as server:
        with pytest.raises(PreflightError, match=f"judge: HTTP {failure}"):
            asyncio.run(probe(endpoint(server, protocol), transcripts))
        server.script = lambda number, body: "ok"
        found = asyncio.run(probe(endpoint(server, protocol), transcripts))
    transcripts.close()
    assert found.endpoint.structured == "schema"
