"""Models: one ``complete`` call, whoever answers it.

``Scripted`` answers from a function or a mapping (tests), ``Replay`` from stored transcripts, ``Exchange`` through files,
``Live`` over the network; ``Routed`` sends each request to the model its ``params`` name. In ten lines::

    transcripts = Transcripts(paths.TRANSCRIPTS / "mine")
    async with aclosing(Live(endpoint, transcripts)) as model:
        reply = await model.complete(Request("coverage/own.S1.us_insurance.r1/IN-01/s03", params))
    print(reply.state, reply.text)
"""

import asyncio
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path

from regatta_lib.base import ContractError, canonical_json, sha256
from regatta_lib.models.calls import Body, MissingTranscript, Model, Reply, ReplyState, Request
from regatta_lib.models.transcripts import History, OutcomeEvent, events, request_key, suite_of, transcript_files

SUITES_KEPT = 16  # more than a run works on at once, or each would be read again for every question


class Scripted(Model):
    """A model that answers with ``answers(request)`` or ``answers[request.call]``: a text, or a whole ``Reply``."""

    def __init__(self, answers: Callable[[Request], str | Reply] | Mapping[str, str | Reply]) -> None:
        self._answer = answers if callable(answers) else lambda request: answers[request.call]

    async def complete(self, request: Request) -> Reply:
        await asyncio.sleep(0)
        answer = self._answer(request)
        if isinstance(answer, Reply):
            return answer
        name = request.params.get("model", "scripted")
        key = request_key(request.params, {"protocol": "scripted"}, "", request.draw)
        state: ReplyState = "answered" if answer.strip() else "empty"
        return Reply(
            request.call, key, state, answer, "end_turn", name, name, None, 1, 0, None, request.params.get("temperature")
        )

    async def aclose(self) -> None:
        """Nothing to close."""


class Replay(Model):
    """A model that answers from stored transcripts only. A request they do not hold raises ``MissingTranscript``."""

    def __init__(self, folder: Path) -> None:
        self._files = {path.name.partition(".jsonl")[0]: path for path in transcript_files(folder)}
        self._folder = folder
        self._of_suite = lru_cache(maxsize=SUITES_KEPT)(self._read)

    async def complete(self, request: Request) -> Reply:
        suite = suite_of(request.call)
        replies = self._of_suite(suite).get(_question(request.params, request.draw), []) if suite in self._files else []
        if not replies:
            raise MissingTranscript(f"{self._folder}: no stored reply to {request.call} (draw {request.draw})")
        if len(replies) > 1:
            raise ContractError(f"{self._files[suite]}: {len(replies)} endpoints answered {request.call}, expected 1")
        return replies[0]

    async def aclose(self) -> None:
        """Nothing to close."""

    def _read(self, suite: str) -> dict[str, list[Reply]]:
        questions: dict[str, str] = {}
        histories: dict[str, History] = {}
        last: dict[str, OutcomeEvent] = {}
        for offset, event in events(self._files[suite]):
            key = event["key"]
            histories.setdefault(key, History()).add(offset, event)
            if event["event"] == "sent":
                questions[key] = _question(event["params"], event["draw"])
            else:
                last[key] = event
        found: dict[str, list[tuple[bool, Reply]]] = {}
        for key, event in last.items():
            history = histories[key]
            found.setdefault(questions[key], []).append((history.settled, history.reply(event)))
        return {
            question: [reply for settled, reply in replies if settled] or [replies[-1][1]]
            for question, replies in found.items()
        }


def _question(params: Body, draw: int) -> str:
    """What a replay goes by: the request without the place it was sent to."""
    return sha256(canonical_json([params, draw]))


class Routed(Model):
    """A model that sends each request to ``models[request.params["model"]]``."""

    def __init__(self, models: Mapping[str, Model]) -> None:
        self._models = models

    async def complete(self, request: Request) -> Reply:
        name = request.params.get("model")
        if name is None or name not in self._models:
            known = ", ".join(sorted(self._models))
            raise ContractError(f"{request.call}: no endpoint {name!r}, expected one of {known}")
        return await self._models[name].complete(request)

    async def aclose(self) -> None:
        for model in self._models.values():
            await model.aclose()
