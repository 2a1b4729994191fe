"""Protocols: the bodies that leave, in both protocols and all three ways to ask for a schema."""

import json

import pytest

from tests.loopback import KEY, ask, endpoint, plant_key, request
from tests.server import Server


@pytest.fixture(autouse=True)
def planted_key(monkeypatch):
    plant_key(monkeypatch)


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


def test_a_change_in_any_of_what_shapes_the_call_asks_anew(tmp_path):
    asked = request(temperature=0)
    changes = [
        {},
        {"model": "other"},
        {"sampling": True},
        {"structured": "tool"},
        {"body": {"thinking": {"type": "disabled"}}},
        {"api_version": "2023-06-01"},
    ]
    with Server() as server:
        for change in (*changes, *changes):
            ask(tmp_path, endpoint(server, **change), asked)
        ask(tmp_path, endpoint(server, timeout=5.0, concurrency=1), asked)
    assert len(server.received) == len(changes)
