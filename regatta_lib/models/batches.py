"""Batches: the open requests of an exchange, dealt out so that an answerer's view is as narrow as possible.

A batch holds one kind of task for one model (so never two stages). Requests to write a suite are alone in their batch; a
batch of agent answers or of judged answers holds each scenario at most once, so never two arms, faults or draws of it.
Within these rules the order is random, by seed. What remains is that an answerer sees its own batch; ``order_check``
shows whether verdicts depend on the place in it.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
from pydantic.dataclasses import dataclass

from regatta_lib.base import Contract, ContractError, Positive, canonical_json, file_text
from regatta_lib.models.calls import Model, Pending, Reply, Request
from regatta_lib.models.exchange import ENDPOINT
from regatta_lib.models.transcripts import request_key

ALONE = ("suite",)
APART = ("agent", "execution")


@dataclass(frozen=True)
class Placement:
    """Where a request of an exchange was dealt: batch, position in it, its key, its kind (task and model) and its call."""

    batch: Positive
    position: Positive
    custom_id: str
    kind: str
    call: str


PLACEMENT_TABLE = Contract(Placement, ("batch", "position"))


class Collector(Model):
    """A model that passes requests on and remembers those that wait: ``waiting`` is {key: request}."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.waiting: dict[str, Request] = {}

    async def complete(self, request: Request) -> Reply:
        try:
            return await self._model.complete(request)
        except Pending:
            self.waiting[request_key(request.params, ENDPOINT, "", request.draw)] = request
            raise

    async def aclose(self) -> None:
        await self._model.aclose()


def kind_of(request: Request) -> str:
    """The kind of task and the model asked, for example ``design demo-model``."""
    return f"{request.call.split('/')[0]} {request.params['model']}"


def apart(request: Request) -> str | None:
    """What may be in a batch only once: for a suite anything, for an answer its scenario, otherwise nothing."""
    role, suite, *rest = request.call.split("/")
    if role in ALONE:
        return ""
    if role in APART:
        return f"{suite}/{next(part for part in rest if part.startswith('s') and part[1:].isdigit())}"
    return None


def deal_batches(waiting: dict[str, Request], size: int, first: int, rng: np.random.Generator) -> list[Placement]:
    """Deal requests into batches of at most ``size``, numbered from ``first``, at random within the rules above."""
    kinds: dict[str, list[str]] = defaultdict(list)
    for key in sorted(waiting):
        kinds[kind_of(waiting[key])].append(key)
    placements = []
    for kind in sorted(kinds):
        keys = [kinds[kind][i] for i in rng.permutation(len(kinds[kind]))]
        for batch in _split(keys, {key: apart(waiting[key]) for key in keys}, size):
            order = [batch[i] for i in rng.permutation(len(batch))]
            placements += [
                Placement(first, position, key, kind, waiting[key].call) for position, key in enumerate(order, start=1)
            ]
            first += 1
    return placements


def _split(keys: list[str], once: dict[str, str | None], size: int) -> list[list[str]]:
    """As few batches as the rules allow, about equally full."""
    times: Counter[str | None] = Counter(group for group in once.values() if group is not None)
    batches: list[list[str]] = [[] for _ in range(max(-(-len(keys) // size), *times.values(), 1))]
    held: list[set[str | None]] = [set() for _ in batches]
    # The groups that need the most batches choose first; sorting is stable, so the rest stays in its random order.
    for key in sorted(keys, key=lambda key: -times[once[key]]):
        group = once[key]
        free = [i for i in range(len(batches)) if group is None or group not in held[i]]
        chosen = min(free, key=lambda i: len(batches[i]))
        if len(batches[chosen]) >= size:
            batches.append([])
            held.append(set())
            chosen = len(batches) - 1
        batches[chosen].append(key)
        held[chosen].add(group)
    return [batch for batch in batches if batch]


def batch_file(folder: Path, number: int) -> Path:
    """Where a batch's requests are."""
    return folder / f"batch-{number:03d}.jsonl"


def replies_file(folder: Path, number: int) -> Path:
    """Where an answerer puts its replies to a batch, in the simple form."""
    return folder / f"replies-{number:03d}.jsonl"


def answers_file(folder: Path, number: int) -> Path:
    """Where the answers to a batch are, in the result shape of the Message Batches API."""
    return folder / f"answers-{number:03d}.jsonl"


def batch_texts(folder: Path, placements: list[Placement], waiting: dict[str, Request]) -> dict[Path, str]:
    """The batch files, {path: text}: requests in the shape of the Message Batches API, in the order dealt.

    Raises ContractError if one is there already: its answers would go to other requests.
    """
    texts: dict[Path, str] = defaultdict(str)
    for place in placements:
        line = canonical_json({"custom_id": place.custom_id, "params": waiting[place.custom_id].params})
        texts[batch_file(folder, place.batch)] += f"{line}\n"
    for path in texts:
        if path.exists():
            raise ContractError(f"{path}: found, expected no batch that batches.csv does not list; was that file lost?")
    return dict(texts)


def undealt(folder: Path, placements: list[Placement], waiting: dict[str, Request]) -> dict[str, Request]:
    """The waiting requests that no batch without answers holds: new ones, and those an answered batch left out."""
    out = {place.custom_id for place in placements if not answers_file(folder, place.batch).is_file()}
    return {key: request for key, request in waiting.items() if key not in out}


@dataclass(frozen=True)
class Replies:
    """The replies to one batch by line of the batch, and the lines without one."""

    by_line: dict[int, str]
    missing: list[int]


def read_replies(path: Path, requests: int) -> Replies:
    """Read replies in the simple form, one ``{"line": 3, "answer": …}`` a line; a JSON answer may be given as an object.

    Raises ContractError for a line of another form, outside 1 to ``requests``, or answered twice.
    """
    found: dict[int, str] = {}
    for number, text in enumerate(file_text(path).split("\n"), start=1):
        if not text.strip():
            continue
        try:
            reply = json.loads(text)
            line, answer = reply["line"], reply["answer"]
            known = reply.keys() == {"line", "answer"} and type(line) is int and isinstance(answer, str | dict)
            canonical_json(answer).encode("utf-8")  # half of a character pair can't be stored
        except (ValueError, TypeError, KeyError, AttributeError):
            known = False
        if not known:
            raise ContractError(f'{path}: row {number}: found {text[:60]!r}, expected {{"line": 3, "answer": …}}')
        if not 1 <= line <= requests:
            raise ContractError(f"{path}: row {number}: line is {line}, expected 1 to {requests}")
        if line in found:
            raise ContractError(f"{path}: row {number}: line {line} is answered twice")
        found[line] = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    return Replies(found, [line for line in range(1, requests + 1) if line not in found])


def result_lines(keys: list[str], replies: Replies, served: str) -> str:
    """Replies in the result shape of the Message Batches API, in the order of the batch. Token counts are not known."""
    lines = []
    for line, key in enumerate(keys, start=1):
        if line in replies.by_line:
            message = {
                "type": "message",
                "role": "assistant",
                "model": served,
                "content": [{"type": "text", "text": replies.by_line[line]}],
                "stop_reason": "end_turn",
            }
            lines.append(canonical_json({"custom_id": key, "result": {"type": "succeeded", "message": message}}))
    return "".join(f"{line}\n" for line in lines)


def collected(
    folder: Path, placements: list[Placement], served: str, unreadable: Callable[[str, str], bool]
) -> tuple[dict[Path, str], list[str]]:
    """The answer files that can be made of new reply files, {path: text}, and one note on each.

    A note counts the replies, the requests left out and the replies that cannot be read: ``unreadable(role, text)`` says
    which, for the role (the first part of a call) they were asked in. Raises ContractError for
    a reply file that breaks the simple form or belongs to no batch, before anything is written.
    """
    batch_places: dict[int, list[Placement]] = defaultdict(list)
    for place in placements:
        batch_places[place.batch].append(place)
    known = {replies_file(folder, number) for number in batch_places}
    for path in sorted(folder.glob("replies-*.jsonl")):
        if path not in known:
            raise ContractError(f"{path}: no such batch, expected one of 1 to {max(batch_places, default=0)}")
    texts, notes = {}, []
    for number, places in sorted(batch_places.items()):
        source, target = replies_file(folder, number), answers_file(folder, number)
        if source.is_file() and not target.is_file():
            _check_dealt(folder, number, places)
            replies = read_replies(source, len(places))
            texts[target] = result_lines([place.custom_id for place in places], replies, served)
            role = places[0].kind.split()[0]
            lost = [line for line, text in replies.by_line.items() if unreadable(role, text)]
            notes.append(
                f"{source.name}: {len(replies.by_line):,} replies, {len(replies.missing):,} missing"
                f"{f' (lines {numbers_text(replies.missing)})' if replies.missing else ''}, {len(lost):,} unreadable"
                f"{f' (lines {numbers_text(lost)})' if lost else ''}"
            )
    return texts, notes


def _check_dealt(folder: Path, number: int, places: list[Placement]) -> None:
    """Answers are tied to requests by line: raises ContractError unless batches.csv and the batch file name the same."""
    path = batch_file(folder, number)
    lines = file_text(path).splitlines()
    try:
        asked = [json.loads(line)["custom_id"] for line in lines]
    except (ValueError, TypeError, KeyError) as error:
        raise ContractError(f"{path}: found {error}, expected a request with a custom_id on each line") from None
    dealt = [(place.position, place.custom_id) for place in places]
    if dealt != list(enumerate(asked, start=1)):
        raise ContractError(f"{folder / 'batches.csv'}: batch {number}: its requests are not those of {path.name}, in order")


def numbers_text(numbers: list[int]) -> str:
    """A list of numbers as text."""
    return ", ".join(map(str, sorted(numbers)))


def placement_table(placements: list[Placement]) -> pd.DataFrame:
    """The placements as the table of ``batches.csv``."""
    return pd.DataFrame([asdict(place) for place in placements])


def dealt_kinds(placements: list[Placement]) -> dict[str, Counter[int]]:
    """For each kind of task the batches and their sizes, {kind: {batch: requests}}."""
    kinds: dict[str, Counter[int]] = defaultdict(Counter)
    for place in placements:
        kinds[place.kind][place.batch] += 1
    return dict(kinds)
