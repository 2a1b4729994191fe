"""Exchange: models that answer through files, for closed networks and for systems without a supported API.

``<folder>/requests.jsonl`` holds the open requests in the shape of the Message Batches API, one ``{"custom_id",
"params"}`` a line; ``<folder>/answers*.jsonl`` are read back in its result shape, ``{"custom_id", "result": {"type":
"succeeded", "message": …}}``, in any order and in any number of files. ``custom_id`` is the request's key.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from regatta_lib.base import canonical_json, write_atomic
from regatta_lib.models.calls import Body, Model, Pending, Reply, Request
from regatta_lib.models.protocols import read_message
from regatta_lib.models.transcripts import Transcripts, events, request_key, transcript_files

ENDPOINT = {"protocol": "exchange"}
UNANSWERED = ("errored", "canceled", "expired")


@dataclass
class ExchangeCounts:
    """What an exchange holds. Requests: ``answered`` and ``pending`` in this run.

    Answer lines: ``repeated`` (the same answer again), ``conflicting`` (another answer to the same request: the first
    is kept), ``unanswered`` (errored, canceled or expired: the request stays open), ``malformed`` (no result line, or no
    message in it: the request stays open) and ``unknown`` (an answer to a request this study never made).
    """

    answered: int = 0
    pending: int = 0
    repeated: int = 0
    conflicting: int = 0
    unanswered: int = 0
    malformed: int = 0
    unknown: int = 0

    def __str__(self) -> str:
        return ", ".join(f"{count:,} {name}" for name, count in asdict(self).items())


class Exchange(Model):
    """A model that answers through the files of ``folder``. A request without an answer yet raises ``Pending``."""

    def __init__(self, folder: Path, transcripts: Transcripts) -> None:
        self._folder = folder
        self._transcripts = transcripts
        self._open: dict[str, Body] = {}
        self._asked: set[str] = set()
        self._counts = ExchangeCounts()
        self._answers: dict[str, Any] = {}
        for custom_id, message in self._read_answers():
            kept = self._answers.setdefault(custom_id, message)
            if kept is not message:
                self._counts.repeated += kept == message
                self._counts.conflicting += kept != message

    async def complete(self, request: Request) -> Reply:
        """The answer to a request. Raises Pending if there is none yet; ``aclose`` then lists the request as open."""
        key = request_key(request.params, ENDPOINT, "", request.draw)
        self._asked.add(key)
        with self._transcripts.ledger(request.call) as ledger:
            reply = ledger.settled(key)
            if reply is None:
                if not ledger.history(key).sent:
                    self._transcripts.sent(ledger, key, request, ENDPOINT, "")
                if key not in self._answers:
                    self._open[key] = request.params
                    raise Pending(request.call)
                outcome = read_message(self._answers[key])
                name = request.params.get("model", "exchange")
                reply = await self._transcripts.outcome(ledger, key, request.call, name, outcome)
        return reply

    def counts(self) -> ExchangeCounts:
        """What has been asked and answered so far."""
        known = set(self._asked)
        if not known.issuperset(self._answers):
            known.update(event["key"] for path in transcript_files(self._transcripts.folder) for _, event in events(path))
        found = asdict(self._counts) | {"answered": len(self._asked) - len(self._open), "pending": len(self._open)}
        return ExchangeCounts(**found | {"unknown": len(self._answers.keys() - known)})

    async def aclose(self) -> None:
        """Write the open requests, sorted by their key."""
        lines = (canonical_json({"custom_id": key, "params": self._open[key]}) for key in sorted(self._open))
        write_atomic(self._folder / "requests.jsonl", "".join(f"{line}\n" for line in lines))

    def _read_answers(self) -> Iterator[tuple[str, Any]]:
        """The messages of the answer files, in the order of file names and lines. Counts the lines without one."""
        for path in sorted(self._folder.glob("answers*.jsonl")):
            for line in path.read_bytes().splitlines():
                try:
                    answer = json.loads(line)
                    custom_id, result = answer["custom_id"], answer["result"]
                    kind, message = result["type"], result.get("message")
                except (ValueError, TypeError, KeyError, AttributeError):
                    self._counts.malformed += bool(line.strip())
                    continue
                if kind in UNANSWERED:
                    self._counts.unanswered += 1
                elif kind != "succeeded" or not isinstance(custom_id, str) or read_message(message).state == "error":
                    self._counts.malformed += 1
                else:
                    yield custom_id, message
