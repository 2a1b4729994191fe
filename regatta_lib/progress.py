"""Progress of a run: calls, rate, time left and spend, as replies come in."""

from collections.abc import Mapping

from tqdm import tqdm

from regatta_lib.models import Model
from regatta_lib.params import Endpoint
from regatta_lib.records import Reply, Request

MILLION = 1_000_000


def spent(reply: Reply, endpoint: Endpoint | None) -> float | None:
    """The price in dollars of the last attempt of a reply; None where the price or the token counts are not known."""
    if endpoint is None or endpoint.prices is None or reply.usage is None:
        return None
    written = reply.usage["input_tokens"] + reply.usage.get("cache_creation_input_tokens", 0)
    read = reply.usage.get("cache_read_input_tokens", 0)
    return ((written + read) * endpoint.prices.input + reply.usage["output_tokens"] * endpoint.prices.output) / MILLION


class Watched:
    """A model whose replies move a bar. Stored replies count too, so the spend shown is that of the whole study.

    ``calls`` and ``dollars`` are the sums so far; ``unpriced`` counts replies without a known price, ``unsettled`` those
    that ended without an answer (error, refused, cut off, empty), ``maybe_billed`` the attempts of unknown outcome.
    """

    def __init__(self, model: Model, endpoints: Mapping[str, Endpoint], bar: tqdm) -> None:
        self._model, self._endpoints, self._bar = model, endpoints, bar
        self.calls = self.unpriced = self.unsettled = self.maybe_billed = 0
        self.dollars = 0.0

    async def complete(self, request: Request) -> Reply:
        reply = await self._model.complete(request)
        price = spent(reply, self._endpoints.get(request.params["model"]))
        self.calls += 1
        self.unpriced += price is None
        self.unsettled += reply.state != "answered"
        self.maybe_billed += reply.maybe_billed
        self.dollars += price or 0.0
        self._bar.set_postfix_str(str(self), refresh=False)
        self._bar.update()
        return reply

    async def aclose(self) -> None:
        await self._model.aclose()

    def __str__(self) -> str:
        parts = [f"${self.dollars:,.2f}"]
        for name in ("unpriced", "unsettled", "maybe_billed"):
            if count := getattr(self, name):
                parts.append(f"{count:,} {name.replace('_', ' ')}")
        return ", ".join(parts)
