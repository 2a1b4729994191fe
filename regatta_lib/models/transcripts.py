"""Transcripts: every attempt of every model call, on disk before its result is used.

A study's transcripts are one append-only JSONL file per suite, ``<folder>/<suite_id>.jsonl``, or its packed form
``<suite_id>.jsonl.xz``. A line is one of two events, tied by ``key``:

- ``sent``: the request (``call``, ``params``, ``draw``, ``endpoint``, ``api_version``), written before it leaves;
- ``outcome``: what came of it (the fields of ``Outcome``, and ``requested_model``).

A ``sent`` without ``outcome`` was in flight when a run was stopped, or waits in an exchange. A process killed while it
writes leaves a torn last line: readers skip it, the next writer cuts it off.
"""

import asyncio
import json
import lzma
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal, TypedDict, cast

import filelock

from regatta_lib.base import ContractError, canonical_json, sha256, write_atomic
from regatta_lib.models.calls import Body, Reply, ReplyState, Request, Usage

OPEN_LEDGERS = 16
Billed = Literal["yes", "no", "maybe"]
Place = dict[str, Any]  # where a call goes: the fields of an endpoint that tell it from others


class SentEvent(TypedDict):
    """A line of a transcript: a request is about to leave."""

    event: Literal["sent"]
    key: str
    call: str
    params: Body
    draw: int
    endpoint: Place
    api_version: str


class OutcomeEvent(TypedDict):
    """A line of a transcript: what an attempt came to, see ``Outcome``."""

    event: Literal["outcome"]
    key: str
    call: str
    requested_model: str
    state: ReplyState
    text: str
    stop_reason: str | None
    served_model: str | None
    usage: Usage | None
    error: str | None
    billed: Billed
    final: bool


Event = SentEvent | OutcomeEvent


@dataclass(frozen=True)
class Outcome:
    """What one attempt came to. ``final`` settles the call: it is never sent again, not by a later run either."""

    state: ReplyState
    text: str = ""
    stop_reason: str | None = None
    served_model: str | None = None
    usage: Usage | None = None
    error: str | None = None
    billed: Billed = "yes"
    final: bool = True


def request_key(params: Body, endpoint: Mapping[str, object], api_version: str, draw: int) -> str:
    """What identifies a call: SHA-256 of the canonical JSON of the whole request, where it goes, and the draw."""
    return sha256(canonical_json({"params": params, "endpoint": endpoint, "api_version": api_version, "draw": draw}))


def sent_temperature(params: Body, endpoint: Place) -> float | None:
    """The temperature with which a request leaves for an endpoint, as ``protocols.message_body`` makes its body."""
    asked = params.get("temperature") if endpoint.get("sampling", True) else None
    temperature: float | None = endpoint.get("body", {}).get("temperature", asked)
    return temperature


def suite_of(call: str) -> str:
    """The suite a call belongs to: the second part of its name."""
    return call.split("/")[1]


def _lines(file: IO[bytes], path: Path) -> Iterator[bytes]:
    """The lines of an open transcript. Raises ContractError where its packed form is damaged."""
    try:
        yield from file
    except (lzma.LZMAError, EOFError) as error:
        raise ContractError(f"{path}: not a whole XZ file: {error}") from None


def events(path: Path) -> Iterator[tuple[int, Event]]:
    """The events of a transcript file with their byte offsets, packed or not; a torn last line is left out.

    Raises ContractError for any other line that is no event.
    """
    with lzma.open(path) if path.suffix == ".xz" else path.open("rb") as file:
        offset = 0
        for number, line in enumerate(_lines(file, path), start=1):
            if not line.endswith(b"\n"):
                return
            try:
                event: Event = json.loads(line)
                known = event["event"] in ("sent", "outcome") and isinstance(event["key"], str)
            except (ValueError, TypeError, KeyError):
                known = False
            if not known:
                raise ContractError(f"{path}: row {number}: found {line[:60]!r}, expected a 'sent' or 'outcome' event")
            yield offset, event
            offset += len(line)


@dataclass(slots=True)
class History:
    """What a ledger holds about one key; ``last`` is the byte offset of the latest outcome."""

    sent: int = 0
    outcomes: int = 0
    maybe_billed: int = 0
    truncated: int = 0
    settled: bool = False
    last: int = -1
    temperature: float | None = None

    def add(self, offset: int, event: Event) -> None:
        """Count one more event."""
        if event["event"] == "sent":
            self.sent += 1
            self.temperature = sent_temperature(event["params"], event["endpoint"])
            return
        self.outcomes += 1
        self.maybe_billed += event["billed"] == "maybe"
        self.truncated += event["state"] == "truncated"
        self.settled, self.last = event["final"], offset

    def reply(self, event: OutcomeEvent) -> Reply:
        """The reply a call has after its latest outcome. A request sent and never answered may have been billed."""
        return Reply(
            call=event["call"],
            key=event["key"],
            state=event["state"],
            text=event["text"],
            stop_reason=event["stop_reason"],
            requested_model=event["requested_model"],
            served_model=event["served_model"],
            usage=event["usage"],
            error=event["error"],
            attempts=max(self.sent, 1),
            maybe_billed=self.maybe_billed + max(self.sent - self.outcomes, 0),
            temperature=self.temperature,
        )


class Ledger:
    """The transcript file of one suite, open for appending. Texts stay on disk; only counts and offsets are kept."""

    def __init__(self, path: Path) -> None:
        if (packed := path.with_name(f"{path.name}.xz")).exists():
            raise ContractError(f"{packed}: packed; unpack it with 'xz -d' to add to it")
        self.path = path
        self.users = 0
        self._histories: dict[str, History] = {}
        self._file = path.open("a+b")
        self._end = 0
        for self._end, event in events(path):
            self._history(event["key"]).add(self._end, event)
        self._end = _cut_torn_line(self._file)
        self._waiting: list[asyncio.Future[None]] = []
        self._syncing: asyncio.Task[None] | None = None

    def _history(self, key: str) -> History:
        return self._histories.setdefault(key, History())

    def history(self, key: str) -> History:
        """What is known about a key; all zero for one never sent."""
        return self._histories.get(key, History())

    def settled(self, key: str) -> Reply | None:
        """The reply of a call that needs no further attempt, or None."""
        history = self.history(key)
        if not history.settled:
            return None
        with self.path.open("rb") as file:
            file.seek(history.last)
            return history.reply(json.loads(file.readline()))

    def append(self, line: str) -> Event:
        """Write one event to the operating system: it survives the death of this process, not yet of the machine."""
        content = line.encode("utf-8", "replace") + b"\n"  # half a character pair, as a cut text may end in, turns into "?"
        event: Event = json.loads(content)
        self._file.write(content)
        self._file.flush()
        self._history(event["key"]).add(self._end, event)
        self._end += len(content)
        return event

    async def synced(self) -> None:
        """Return when all that was appended is on the disk. Callers that wait together share one fsync."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        if self._syncing is None:
            self._syncing = asyncio.create_task(self._sync())
        await waiter

    async def _sync(self) -> None:
        while self._waiting:
            waiters, self._waiting = self._waiting, []
            failure: Exception | None = None
            try:
                await asyncio.to_thread(os.fsync, self._file.fileno())
            except (OSError, ValueError) as error:
                failure = error
            for waiter in waiters:
                if not waiter.done():
                    waiter.set_exception(failure) if failure else waiter.set_result(None)
        self._syncing = None

    def close(self) -> None:
        self._file.close()


def _cut_torn_line(file: BinaryIO) -> int:
    """Cut off what follows the last line end. Returns the length of the file."""
    end = file.seek(0, os.SEEK_END)
    while end:
        start = max(end - 65_536, 0)
        file.seek(start)
        found = file.read(end - start).rfind(b"\n")
        if found >= 0:
            end = start + found + 1
            break
        end = start
    file.truncate(end)
    file.seek(end)
    return end


class Transcripts:
    """The transcripts of one study, open for writing by one process at a time.

    Raises ContractError if another process holds them. Texts given to ``hide`` are replaced by ``[hidden]`` in all that
    is written, and so in all that is returned.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._lock = filelock.FileLock(folder / ".lock", timeout=0)
        try:
            self._lock.acquire()
        except filelock.Timeout:
            raise ContractError(f"{folder}: another run is writing here; wait for it or stop it") from None
        self._ledgers: dict[str, Ledger] = {}
        self._hidden: set[str] = set()

    def hide(self, secret: str) -> None:
        """Never write this text. One shorter than eight characters is a placeholder such as ``EMPTY``, no secret."""
        if len(secret) >= 8:
            self._hidden.add(canonical_json(secret)[1:-1])

    @contextmanager
    def ledger(self, call: str) -> Iterator[Ledger]:
        """The ledger of the suite a call belongs to. The longest unused one is closed when many are open."""
        suite = suite_of(call)
        ledger = self._ledgers.pop(suite, None) or Ledger(self.folder / f"{suite}.jsonl")
        self._ledgers[suite] = ledger
        ledger.users += 1
        try:
            yield ledger
        finally:
            ledger.users -= 1
            idle = [name for name, other in self._ledgers.items() if not other.users]
            for name in idle[: max(len(self._ledgers) - OPEN_LEDGERS, 0)]:
                self._ledgers.pop(name).close()

    def sent(self, ledger: Ledger, key: str, request: Request, endpoint: Place, api_version: str) -> None:
        """Note that a request is about to leave."""
        where = {"endpoint": endpoint, "api_version": api_version}
        asked = {"call": request.call, "params": request.params, "draw": request.draw}
        ledger.append(self._line({"event": "sent", "key": key} | asked | where))

    async def outcome(self, ledger: Ledger, key: str, call: str, requested_model: str, outcome: Outcome) -> Reply:
        """Store what an attempt came to. Returns, once it is on the disk, the reply that was stored."""
        names = {"event": "outcome", "key": key, "call": call, "requested_model": requested_model}
        stored = cast("OutcomeEvent", ledger.append(self._line(names | vars(outcome))))  # the event that was passed in
        await ledger.synced()
        return ledger.history(key).reply(stored)

    def _line(self, event: dict[str, Any]) -> str:
        line = canonical_json(event)
        for secret in self._hidden:
            line = line.replace(secret, "[hidden]")
        return line

    def close(self) -> None:
        """Close all files and let other processes write."""
        for ledger in self._ledgers.values():
            ledger.close()
        self._ledgers.clear()
        self._lock.release()


def transcript_files(folder: Path) -> list[Path]:
    """A study's transcript files, packed or not, sorted by name. A suite that has both is an error."""
    files = sorted([*folder.glob("*.jsonl"), *folder.glob("*.jsonl.xz")])
    for plain in files:
        if plain.with_name(f"{plain.name}.xz") in files:
            raise ContractError(f"{plain}: found beside its packed form, expected one of them")
    return files


def pack_file(path: Path) -> Path:
    """Write the packed form of a transcript file beside it: events sorted by key, in their order within a key.

    The same events give the same bytes, whatever order the replies came in.
    """
    packed = path.with_name(f"{path.name}.xz")
    if packed.exists():
        raise ContractError(f"{packed}: found beside its plain form, expected one of them")
    ordered = sorted((event for _, event in events(path)), key=lambda event: event["key"])
    content = "".join(f"{canonical_json(event)}\n" for event in ordered).encode("utf-8")
    write_atomic(packed, lzma.compress(content, preset=6))
    return packed
