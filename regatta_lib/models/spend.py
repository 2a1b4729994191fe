"""Spend: tokens to dollars, totals recomputed from the transcripts, and a progress bar that shows both."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tqdm import tqdm

from regatta_lib.base import ContractError
from regatta_lib.models.calls import Model, Reply, Request
from regatta_lib.models.endpoints import Endpoint, Prices
from regatta_lib.models.transcripts import events, transcript_files

CACHE_WRITE, CACHE_READ = 1.25, 0.1
NOWHERE = "", ""  # the place of a call that was not sent to a server: no price list has it
PriceList = dict[tuple[str, str], Prices | None]


def spend(usage: Mapping[str, int] | None, prices: Prices | None) -> float:
    """US dollars for the tokens of one reply; 0 where the tokens or the prices are not known.

    Input = fresh tokens + 1.25 × tokens written to the prompt cache (five minutes) + 0.1 × tokens read from it.
    """
    if not usage or not prices:
        return 0.0
    written, read = usage.get("cache_creation_input_tokens") or 0, usage.get("cache_read_input_tokens") or 0
    tokens = usage["input_tokens"] + CACHE_WRITE * written + CACHE_READ * read
    return (tokens * prices.input + usage["output_tokens"] * prices.output) / 1e6


@dataclass
class Totals:
    """What a study's transcripts add up to.

    ``calls`` by key, ``attempts`` by request sent. ``states`` counts the outcomes of attempts. ``maybe_billed`` counts
    outcomes that left the bill open, ``unfinished`` requests sent without any outcome stored. ``spend`` in US dollars;
    ``unpriced`` counts billed outcomes that are not in it because tokens or price are not known.
    """

    calls: int = 0
    attempts: int = 0
    maybe_billed: int = 0
    unfinished: int = 0
    unpriced: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    spend: float = 0.0
    states: Counter[str] = field(default_factory=Counter)


def price_list(endpoints: Mapping[str, Endpoint]) -> PriceList:
    """The prices of endpoints, {(base_url, model): prices}, by which stored calls are priced.

    Raises ContractError for two endpoints that differ in nothing but their prices there.
    """
    prices: PriceList = {}
    for name, endpoint in endpoints.items():
        place = endpoint.base_url, endpoint.model
        if prices.setdefault(place, endpoint.prices) != endpoint.prices:
            raise ContractError(
                f"endpoints.{name}.prices: found {endpoint.prices}, expected {prices[place]} as of another endpoint with "
                f"base_url {place[0]} and model {place[1]}"
            )
    return prices


def totals(folder: Path, prices: PriceList) -> Totals:
    """Add up a study's transcripts from the files themselves. ``prices`` as of ``price_list``."""
    total = Totals()
    for path in transcript_files(folder):
        places: dict[str, tuple[str, str]] = {}
        for _, event in events(path):
            if event["event"] == "sent":
                places[event["key"]] = event["endpoint"].get("base_url", ""), event["endpoint"].get("model", "")
                total.attempts += 1
                total.unfinished += 1
                continue
            usage, price = event["usage"], prices.get(places.get(event["key"], NOWHERE))
            total.unfinished -= 1
            total.states[event["state"]] += 1
            total.maybe_billed += event["billed"] == "maybe"
            total.unpriced += event["billed"] == "yes" and not (usage and price)
            total.input_tokens += usage["input_tokens"] if usage else 0
            total.output_tokens += usage["output_tokens"] if usage else 0
            total.spend += spend(usage, price)
        total.calls += len(places)
    return total


class Watched(Model):
    """A model whose replies are counted as they come. See ``watched``."""

    def __init__(self, model: Model, prices: Mapping[str, Prices | None], total: int | None) -> None:
        self._model = model
        self._prices = prices
        self._spent = 0.0
        self._bar = tqdm(total=total, unit="call", dynamic_ncols=True)

    async def complete(self, request: Request) -> Reply:
        reply = await self._model.complete(request)
        self._spent += spend(reply.usage, self._prices.get(request.params.get("model", "")))
        self._bar.set_postfix_str(f"${self._spent:,.2f}", refresh=False)
        self._bar.update()
        return reply

    async def aclose(self) -> None:
        self._bar.close()
        await self._model.aclose()


def watched(model: Model, prices: Mapping[str, Prices | None], total: int | None = None) -> Watched:
    """The same model with a progress bar: calls, calls per second, time left, and dollars.

    ``prices`` by the name of the endpoint, which is the ``model`` of a request's ``params``. Replies taken from the
    transcripts of an earlier run count as calls and as dollars too. Dollars are those of each call's last attempt; the
    exact sum is ``totals``.
    """
    return Watched(model, prices, total)
