"""What tests of live models share: an endpoint on loopback, a request, and a run that sends some."""

import asyncio
import ssl
from contextlib import aclosing

import pytest

from regatta_lib.models import Endpoint, Live, Prices, Request, Transcripts, price_list, totals
from regatta_lib.models.live import Retry
from tests.server import Server

KEY = "sk-planted-5e1f"
PRICES = Prices(input=3.0, output=15.0, date="2026-11-30")
ONCE = (100 * 3.0 + 20 * 15.0) / 1e6
QUICK = Retry(tries=3, first=0.01, ceiling=0.3)
CALL = "coverage/own.S1.us_insurance.r1/IN-01/s03"
PROTOCOLS = pytest.mark.parametrize("protocol", ["anthropic", "openai"])
FOREIGN = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "http_proxy", "https_proxy", "all_proxy")


def plant_key(monkeypatch) -> None:
    """Set the test's own key and no other, so that no test can reach a paid server."""
    monkeypatch.setenv("PLANTED_KEY", KEY)
    for name in FOREIGN:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    # Loopback is not encrypted; loading the certificates of the world would take most of each test's time.
    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", lambda *_, **__: None)


def endpoint(server: Server | str, protocol: str = "anthropic", **changes) -> Endpoint:
    url = server if isinstance(server, str) else server.url
    url += "/v1" if protocol == "openai" else ""
    fixed = {"protocol": protocol, "base_url": url, "key_env": "PLANTED_KEY", "model": "judge", "prices": PRICES}
    return Endpoint(**fixed | {"timeout": 0.4} | changes)


def request(number: int = 0, **changes) -> Request:
    params = {"model": "any", "max_tokens": 50, "messages": [{"role": "user", "content": f"judge item {number}"}]}
    return Request(CALL, params | changes)


def ask(folder, place: Endpoint, *requests: Request, retry: Retry = QUICK):
    """Send requests at once; the replies, and the totals recomputed from the files."""

    async def run():
        transcripts = Transcripts(folder)
        try:
            async with aclosing(Live(place, transcripts, retry)) as model:
                return await asyncio.gather(*(model.complete(one) for one in requests))
        finally:
            transcripts.close()

    replies = asyncio.run(run())
    return replies, totals(folder, price_list({"any": place}))
