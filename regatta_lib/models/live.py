"""Live models: requests over the network, through the providers' own SDKs with their retries off.

Retrying is ours because it is counted: an SDK that retries behind the caller's back leaves attempts out of the record and
out of the bill. Every attempt is stored, a call that may have been paid for without an answer is counted, and all calls
to an endpoint share one limiter, so that a "too many requests" slows down all of them and not one.
"""

import asyncio
import email.utils
import json
import os
import random
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from regatta_lib.base import ContractError, optional
from regatta_lib.models.calls import Body, Model, Reply, Request
from regatta_lib.models.endpoints import Endpoint
from regatta_lib.models.protocols import chat_body, malformed, message_body, read_chat, read_message
from regatta_lib.models.transcripts import Billed, Ledger, Outcome, Transcripts, request_key

if TYPE_CHECKING:
    from anthropic import APIStatusError as AnthropicStatusError
    from openai import APIStatusError as OpenAIStatusError

RETRIED = (408, 409, 425, 429)
OVERLOADED = (429, 503, 529)
UNKNOWN = (408, 504)
NOT_SENT = ("ClientConnector", "ConnectionTimeout")
OUT_OF_MONEY = ("spend_limit_reached", "insufficient_quota")


@dataclass(frozen=True)
class Retry:
    """How often a call is sent in one run, and how long to wait before it is sent again, in seconds.

    The wait doubles from ``first``; the server's ``Retry-After`` goes first; neither exceeds ``ceiling``.
    """

    tries: int = 6
    first: float = 0.5
    ceiling: float = 60.0

    def wait(self, attempt: int, asked: float | None) -> float:
        """The wait after the given attempt (from 0); up to a quarter more below the ceiling, so that calls spread out."""
        wanted = asked if asked is not None else self.first * 2**attempt
        return min(wanted * random.uniform(1, 1.25), self.ceiling)


class Limiter:
    """At most ``concurrency`` calls in flight, and a pause shared by all of them."""

    def __init__(self, concurrency: int) -> None:
        self._slots = asyncio.Semaphore(concurrency)
        self._resume = 0.0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait for a free place and for the end of a pause."""
        async with self._slots:
            while (left := self._resume - time.monotonic()) > 0:
                await asyncio.sleep(left)
            yield

    def pause(self, seconds: float) -> None:
        """Let no further call leave for this long."""
        self._resume = max(self._resume, time.monotonic() + seconds)


@dataclass(frozen=True)
class Attempt:
    """One time a request was sent: what came of it, whether to try again, and what the server said about when."""

    outcome: Outcome
    again: bool = False
    overloaded: bool = False
    retry_after: float | None = None


class Live(Model):
    """The model behind one endpoint. Raises ContractError if its key is not in the environment."""

    def __init__(self, endpoint: Endpoint, transcripts: Transcripts, retry: Retry | None = None) -> None:
        self.endpoint = endpoint
        self._transcripts = transcripts
        self._retry = retry or Retry()
        self._limiter = Limiter(endpoint.concurrency)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._place = endpoint.model_dump(include={"protocol", "base_url", "model", "sampling", "structured", "body"})
        self.sdk, self.client = _client(endpoint, transcripts)

    async def complete(self, request: Request) -> Reply:
        """The reply to a request: the stored one if the call is settled, else what sending it comes to."""
        key = request_key(request.params, self._place, self.endpoint.api_version, request.draw)
        lock = self._locks.setdefault(key, asyncio.Lock())
        with self._transcripts.ledger(request.call) as ledger:
            async with lock:
                return ledger.settled(key) or await self._ask(ledger, key, request)

    async def aclose(self) -> None:
        """Close the connections."""
        await self.client.close()

    async def _ask(self, ledger: Ledger, key: str, request: Request) -> Reply:
        body = message_body(request.params, self.endpoint)
        for number in range(self._retry.tries):
            cut_before = ledger.history(key).truncated > 0
            async with self._limiter.slot():
                self._transcripts.sent(ledger, key, request, self._place, self.endpoint.api_version)
                attempt = await self._send(body | {"max_tokens": body["max_tokens"] * (2 if cut_before else 1)})
                wait = self._retry.wait(number, attempt.retry_after)
                if attempt.overloaded and attempt.again:
                    self._limiter.pause(wait)
            outcome = attempt.outcome
            once_more = outcome.stop_reason == "max_tokens" and not cut_before
            if once_more:
                outcome = replace(outcome, final=False)
            reply = await self._transcripts.outcome(ledger, key, request.call, self.endpoint.model, outcome)
            if not (attempt.again or once_more) or number == self._retry.tries - 1:
                break
            if attempt.again and not attempt.overloaded:
                await asyncio.sleep(wait)
        return reply

    async def _send(self, body: Body) -> Attempt:
        """Send a Messages body once. Whatever goes wrong on the way is an outcome, not an exception."""
        chat = self.endpoint.protocol == "openai"
        create = (self.client.chat.completions if chat else self.client.messages).with_raw_response.create
        body = chat_body(body) if chat else body
        named = {name: body[name] for name in ("model", "max_tokens", "messages")}
        rest = {name: value for name, value in body.items() if name not in named}
        try:
            raw = await create(**named, extra_body=rest, timeout=self.endpoint.timeout)
        except self.sdk.APIStatusError as error:
            return _refused(error)
        except self.sdk.APIConnectionError as error:
            text = "no answer in time" if isinstance(error, self.sdk.APITimeoutError) else "connection failed"
            causes = _causes(error)
            billed: Billed = "no" if any(name.startswith(NOT_SENT) for name in causes) else "maybe"
            failed = Outcome("error", error=f"{text} ({', '.join(causes)})", billed=billed, final=False)
            return Attempt(failed, again=True)
        content = raw.http_response.content
        try:
            answer = json.loads(content)
        except ValueError:
            return Attempt(malformed(content.decode("utf-8", "replace")), again=True)
        outcome = read_chat(answer) if chat else read_message(answer)
        return Attempt(outcome, again=outcome.state == "error")


def _client(endpoint: Endpoint, transcripts: Transcripts) -> tuple[ModuleType, Any]:
    """The SDK an endpoint needs and a client for it, with the key from the environment and from nowhere else.

    Over aiohttp: the SDKs' default transport looks at every idle connection on every call, which costs more than the
    durable transcripts do. A redirect is not followed: no API sends one, and the key must not go where it points.

    The client is of either SDK, whose calls have no type in common.
    """
    key = os.environ.get(endpoint.key_env, "") if endpoint.key_env else "none"
    if not key:
        raise ContractError(f"{endpoint.base_url}: environment variable {endpoint.key_env} is not set, expected its key")
    transcripts.hide(key)
    optional("aiohttp")  # where it is missing, the SDKs name an extra of their own
    options: dict[str, Any] = {"api_key": key, "base_url": endpoint.base_url, "max_retries": 0, "timeout": endpoint.timeout}
    if endpoint.protocol == "openai":
        import openai

        return openai, openai.AsyncOpenAI(**options, http_client=openai.DefaultAioHttpClient(follow_redirects=False))
    import anthropic

    headers = {"anthropic-version": endpoint.api_version}
    if endpoint.key_header == "x-api-key":
        headers["x-api-key"] = key
    http_client = anthropic.DefaultAioHttpClient(follow_redirects=False)
    return anthropic, anthropic.AsyncAnthropic(**options, default_headers=headers, http_client=http_client)


def _causes(error: BaseException) -> list[str]:
    """The names of the exceptions behind an exception, outermost first."""
    names = []
    cause = error.__cause__
    while cause:
        names.append(type(cause).__name__)
        cause = cause.__cause__
    return names


def _refused(error: "AnthropicStatusError | OpenAIStatusError") -> Attempt:
    """An HTTP error status. It costs nothing, except that a gateway's timeout leaves the outcome open."""
    status, text = error.status_code, " ".join(str(error.body or error.message).split())[:300]
    outcome = Outcome("error", error=f"HTTP {status}: {text}", billed="maybe" if status in UNKNOWN else "no", final=False)
    out_of_money = any(code in json.dumps(error.body, default=str) for code in OUT_OF_MONEY)
    again = (status in RETRIED or status >= 500) and not out_of_money
    return Attempt(outcome, again, status in OVERLOADED, _retry_after(error.response.headers))


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds a server asks to wait (a number or a date), or None if it says nothing that can be read."""
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
        except ValueError:
            return None
    return max(seconds, 0.0) if seconds == seconds else None
