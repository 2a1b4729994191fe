"""Spend: tokens to dollars, and the progress bar."""

import asyncio
from contextlib import aclosing

import pytest

from regatta_lib.live import Live
from regatta_lib.params import Prices
from regatta_lib.spend import spend, watched
from regatta_lib.transcripts import Transcripts
from tests.loopback import PRICES, QUICK, endpoint, plant_key, request
from tests.server import Server


@pytest.fixture(autouse=True)
def planted_key(monkeypatch):
    plant_key(monkeypatch)


def test_spend_counts_cached_tokens_at_their_own_rates():
    usage = {"input_tokens": 1_000, "output_tokens": 100}
    assert spend(usage, PRICES) == pytest.approx(0.003 + 0.0015)
    cached = usage | {"cache_creation_input_tokens": 1_000, "cache_read_input_tokens": 10_000}
    assert spend(cached, PRICES) == pytest.approx(0.003 + 0.0015 + 0.00375 + 0.003)
    assert spend(None, PRICES) == spend(usage, None) == 0.0


def test_the_progress_bar_shows_calls_and_dollars(tmp_path, capsys):
    async def run(place):
        transcripts = Transcripts(tmp_path)
        async with aclosing(
            watched(Live(place, transcripts, QUICK), {"judge": Prices(input=1e5, output=0, date="2026-11-30")}, 4)
        ) as model:
            await asyncio.gather(*(model.complete(request(n)) for n in range(4)))
        transcripts.close()

    with Server() as server:
        asyncio.run(run(endpoint(server)))
    shown = capsys.readouterr().err
    assert "4/4" in shown and "$40.00" in shown
