"""Preflight: what an endpoint can do, found out by asking it and never inferred from a status of 200.

One plain request and one with a schema; their attempts are stored like all others, so a resumed run does not pay twice.
"""

import json
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal

from regatta_lib.base import RegattaError
from regatta_lib.models.calls import Body, Reply, Request, Schema
from regatta_lib.models.endpoints import Endpoint
from regatta_lib.models.live import Live
from regatta_lib.models.transcripts import Transcripts

SCHEMA: Schema = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "colour": {"type": "string", "enum": ["red", "green", "blue"]}},
    "required": ["reason", "colour"],
    "additionalProperties": False,
}
REFUSED = ("HTTP 400:", "HTTP 422:")  # the statuses that say "this request is wrong"

# What says nothing about a request: who asks, how often, and whether the server is there.
ELSEWHERE = tuple(f"HTTP {status}:" for status in (401, 402, 403, 408, 409, 425, 429, 503, 504, 529))
ELSEWHERE += ("no answer in time", "connection failed")
Sampling = Literal["accepted", "refused", "provider default"]
Counting = Literal["offered", "not offered here"]
MODES = {"schema": "structured output", "tool": "forced tool", "prompt": "prompt and parse"}


class PreflightError(RegattaError):
    """The endpoint does not answer now, or not to us. The message says why."""


@dataclass(frozen=True)
class Preflight:
    """What was found. ``endpoint`` is the one to run with: its ``structured`` and ``sampling`` are what works there."""

    endpoint: Endpoint
    served_model: str | None
    sampling: Sampling
    count_tokens: Counting
    lifecycle: str

    def __str__(self) -> str:
        return (
            f"{self.endpoint.base_url}: requested {self.endpoint.model}, served {self.served_model or 'not stated'}"
            f" (lifecycle {self.lifecycle}); {MODES[self.endpoint.structured]}; sampling: {self.sampling};"
            f" token counting {self.count_tokens}"
        )


async def probe(endpoint: Endpoint, transcripts: Transcripts) -> Preflight:
    """Ask an endpoint what it can do. Raises PreflightError if it does not answer, or stops answering.

    A server that refuses a schema or tool, or breaks on it while it answers a plain request, doesn't have that feature.
    """
    endpoint = endpoint.model_copy(update={"structured": "schema"})
    plain = await _ask(endpoint, transcripts, "plain")
    sampling: Sampling = "accepted" if endpoint.sampling else "provider default"
    if endpoint.sampling and _failed(plain, REFUSED):
        endpoint, sampling = endpoint.model_copy(update={"sampling": False}), "refused"
        plain = await _ask(endpoint, transcripts, "plain")
    if plain.state == "error":
        raise PreflightError(f"{endpoint.base_url}: {endpoint.model}: {plain.error}")
    for structured in ("schema", "tool", "prompt"):
        endpoint = endpoint.model_copy(update={"structured": structured})
        if structured == "prompt":
            break
        reply = await _ask(endpoint, transcripts, "schema")
        if _follows(reply):
            break
        if _failed(reply, ("HTTP 5",)):
            reply = await _ask(endpoint, transcripts, "plain", draw=2)
        if _failed(reply, ("HTTP 5", *ELSEWHERE)):
            raise PreflightError(f"{endpoint.base_url}: {endpoint.model}: {reply.error}")
    count_tokens, lifecycle = await _extras(endpoint, transcripts)
    return Preflight(endpoint, plain.served_model, sampling, count_tokens, lifecycle)


async def _ask(endpoint: Endpoint, transcripts: Transcripts, kind: str, draw: int = 1) -> Reply:
    """The schema request asks for prose, so that only a server that enforces the schema answers with its JSON."""
    text = "Tell me in a sentence of plain prose which colour you like best, and why."
    params: Body = {"model": "preflight", "max_tokens": 1_024, "messages": [{"role": "user", "content": text}]}
    params |= {"temperature": 0} if kind == "plain" else {}
    params |= {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}} if kind == "schema" else {}
    async with aclosing(Live(endpoint, transcripts)) as model:
        return await model.complete(Request(f"preflight/preflight/{kind}", params, draw))


def _failed(reply: Reply, ways: tuple[str, ...]) -> bool:
    """Is the reply an error that begins in one of these ways?"""
    return reply.state == "error" and (reply.error or "").startswith(ways)


def _follows(reply: Reply) -> bool:
    """Is the reply JSON of the schema?"""
    try:
        answer = json.loads(reply.text)
        colours = SCHEMA["properties"]["colour"]["enum"]
        return reply.state == "answered" and set(answer) == {"reason", "colour"} and answer["colour"] in colours
    except (ValueError, TypeError):
        return False


async def _extras(endpoint: Endpoint, transcripts: Transcripts) -> tuple[Counting, str]:
    """Token counting and the model's lifecycle: optional features, so any failure means that they are not offered."""
    async with aclosing(Live(endpoint, transcripts)) as model:
        if endpoint.protocol == "openai":
            return "not offered here", "unknown"
        absent = (model.sdk.AnthropicError, AttributeError)
        turn = [{"role": "user", "content": "one two three"}]
        try:
            counted = await model.client.messages.count_tokens(model=endpoint.model, messages=turn)
            count_tokens: Counting = "offered" if isinstance(counted.input_tokens, int) else "not offered here"
        except absent:
            count_tokens = "not offered here"
        try:
            found = await model.client.models.retrieve(endpoint.model)
            lifecycle = str(found.lifecycle or "unknown")
        except absent:
            lifecycle = "unknown"
    return count_tokens, lifecycle
