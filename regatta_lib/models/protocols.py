"""Protocols: a request as the body a server expects, and a server's answer as an ``Outcome``.

Two protocols: the Messages API, in which requests are written, and OpenAI's chat completions, to and from which they are
translated. Answers are untrusted: a body that is not what its protocol says is an ``error``, never a text.
"""

import json
from dataclasses import replace
from typing import Any

from regatta_lib.models.calls import Body, Schema, Usage
from regatta_lib.models.endpoints import Endpoint
from regatta_lib.models.transcripts import Outcome

SAMPLING = ("temperature", "top_p", "top_k")
TOOL = "answer"
STOPS = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal", "tool_calls": "tool_use"}
USAGE = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens"}
TOKENS = set(USAGE.values())


def message_body(params: Body, endpoint: Endpoint) -> Body:
    """The Messages body of a request: the endpoint's model and extra fields, sampling and schema as it takes them."""
    body = {name: value for name, value in params.items() if endpoint.sampling or name not in SAMPLING}
    body |= endpoint.body | {"model": endpoint.model}
    schema = schema_of(body)
    if schema and endpoint.structured != "schema":
        body = body | {"output_config": {k: v for k, v in body["output_config"].items() if k != "format"}}
        if not body["output_config"]:
            del body["output_config"]
        if endpoint.structured == "tool":
            tool = {"name": TOOL, "description": "Give the answer.", "input_schema": schema}
            body |= {"tools": [tool], "tool_choice": {"type": "tool", "name": TOOL}}
        else:
            wanted = f"Answer with one JSON object and nothing else. Its JSON schema: {json.dumps(schema)}"
            body["system"] = "\n\n".join(part for part in (plain_text(body.get("system", "")), wanted) if part)
    return body


def schema_of(params: Body) -> Schema | None:
    """The JSON schema a request asks its answer to follow, or None."""
    schema: Schema | None = params.get("output_config", {}).get("format", {}).get("schema")
    return schema


def chat_body(message: Body) -> Body:
    """A Messages body as a chat-completions body."""
    body = {name: value for name, value in message.items() if name not in ("system", "messages", "output_config", "tools")}
    system = [{"role": "system", "content": plain_text(message["system"])}] if message.get("system") else []
    body["messages"] = system + [
        {"role": turn["role"], "content": plain_text(turn["content"])} for turn in message["messages"]
    ]
    if schema := schema_of(message):
        wanted = {"name": TOOL, "schema": schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": wanted}
    if "tools" in message:
        tool = message["tools"][0]
        called = {"name": tool["name"], "description": tool["description"], "parameters": tool["input_schema"]}
        body["tools"] = [{"type": "function", "function": called}]
        body["tool_choice"] = {"type": "function", "function": {"name": tool["name"]}}
    return body


def plain_text(content: str | list[dict[str, Any]]) -> str:
    """The text of a message's content, given as one string or as text blocks."""
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


def read_message(message: Any) -> Outcome:
    """What a Messages answer came to. A tool's input counts as text: it is the structured answer."""
    try:
        if message["type"] != "message":
            return malformed(message)
        blocks = message["content"]
        text = "".join(block["text"] for block in blocks if block["type"] == "text")
        called = [block["input"] for block in blocks if block["type"] == "tool_use"]
        text = json.dumps(called[0], ensure_ascii=False) if called else text
        details = message.get("stop_details") or {}
        return outcome(text, message["stop_reason"], message["model"], message.get("usage"), details.get("category"))
    except (KeyError, TypeError, AttributeError):
        return malformed(message)


def read_chat(completion: Any) -> Outcome:
    """What a chat-completions answer came to, in the words of the Messages API."""
    try:
        choice = completion["choices"][0]
        message = choice["message"]
        text = message.get("content") or ""
        if message.get("tool_calls"):
            text = message["tool_calls"][0]["function"]["arguments"]
        stop = "refusal" if message.get("refusal") else STOPS.get(choice["finish_reason"], choice["finish_reason"])
        counts = completion.get("usage")
        usage = {new: counts[old] for old, new in USAGE.items()} if counts else None
        return outcome(text or message.get("refusal") or "", stop, completion["model"], usage)
    except (KeyError, TypeError, AttributeError, IndexError):
        return malformed(completion)


def outcome(text: str, stop: str, model: str, usage: Usage | None, refusal: str | None = None) -> Outcome:
    """The state of a well-formed answer by why it stopped, then by whether it says anything. Raises TypeError if it is not.

    Token counts may be missing, as some servers give none; wrong ones are refused. Only whole numbers are kept of them.
    """
    if usage is not None:
        usage = {name: count for name, count in usage.items() if type(count) is int}
        if not usage.keys() >= TOKENS:
            raise TypeError
    if not all(isinstance(value, str) for value in (text, stop, model)):
        raise TypeError
    found = Outcome("answered" if text.strip() else "empty", text, stop, model, usage)
    if stop == "refusal":
        return replace(found, state="refused", error=f"refused: {refusal}" if refusal else None)
    if stop in ("max_tokens", "model_context_window_exceeded"):
        return replace(found, state="truncated")
    if stop not in ("end_turn", "stop_sequence", "tool_use"):
        return replace(found, state="error", error=f"stopped for an unexpected reason: {stop!r}", final=False)
    return found


def malformed(found: object) -> Outcome:
    """An answer that is not what its protocol says. It may have cost something."""
    shown = " ".join(str(found).split())[:200]
    return Outcome("error", error=f"not an answer of its protocol: {shown}", billed="maybe", final=False)
