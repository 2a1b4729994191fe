"""Spend: tokens to dollars, and the progress bar."""

import asyncio
from contextlib import aclosing, closing

import pytest
from scripted_study import study

from regatta_lib.base import ContractError, paths
from regatta_lib.models import Live, Prices, Routed, Transcripts, price_list, totals, watched
from regatta_lib.models.spend import spend
from regatta_lib.studies import Role
from regatta_lib.studies.store import carry_out
from tests.loopback import ONCE, PRICES, QUICK, endpoint, plant_key, request
from tests.server import Server

DEAR = Prices(input=3_000.0, output=15_000.0, date="2026-11-30")


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
            watched(Live(place, transcripts, QUICK), {"any": Prices(input=1e5, output=0, date="2026-11-30")}, 4)
        ) as model:
            await asyncio.gather(*(model.complete(request(n)) for n in range(4)))
        transcripts.close()

    with Server() as server:
        asyncio.run(run(endpoint(server)))
    shown = capsys.readouterr().err
    assert "4/4" in shown and "$40.00" in shown


def test_two_servers_of_one_model_are_priced_apart(tmp_path, capsys):
    """A thousand times the price at the second server, which answers one call of three."""

    async def run(used, transcripts):
        model = Routed({name: Live(place, transcripts, QUICK) for name, place in used.items()})
        async with aclosing(watched(model, {name: place.prices for name, place in used.items()}, 3)) as counted:
            for number, name in enumerate(("cheap", "dear", "cheap")):
                await counted.complete(request(number, model=name))

    with Server() as one, Server() as two, closing(Transcripts(tmp_path)) as transcripts:
        used = {"cheap": endpoint(one), "dear": endpoint(two, prices=DEAR)}
        asyncio.run(run(used, transcripts))
    for prices in (used, dict(reversed(used.items()))):
        assert totals(tmp_path, price_list(prices)).spend == pytest.approx(1_002 * ONCE)
    assert f"${1_002 * ONCE:,.2f}" in capsys.readouterr().err


def test_a_run_prices_its_endpoints_apart(tmp_path, monkeypatch):
    """A study whose judge is the agent's model at another server: the bill is that of each role's own server."""
    monkeypatch.setattr(paths, "TRANSCRIPTS", tmp_path)
    free = Prices(input=0.0, output=0.0, date="2026-11-30")
    role = {"max_tokens": 100}

    async def work(model):
        for name in ("one", "two", "two"):
            await model.complete(request(0, model=name))

    with Server() as one, Server() as two:
        used = {"one": endpoint(one, prices=free), "two": endpoint(two, prices=DEAR)}
        design = study(
            agent=Role(endpoint="one", **role),
            judge=Role(endpoint="two", **role),
            generators={"g": Role(endpoint="two", **role)},
        )
        _, report = carry_out("t", design, used, 3, work)
    assert "$1.80; without a known price 0" in report[-1], "the two questions of the preflight and one call"


def test_one_model_at_one_server_has_one_price():
    one = endpoint("http://127.0.0.1:1")
    other = one.model_copy(update={"prices": PRICES.model_copy(update={"output": 1.0}), "api_version": "2023-06-01"})
    with pytest.raises(
        ContractError, match=r"^endpoints.b.prices: found .*output=1.0.*, expected .*output=15.0.* model judge$"
    ):
        price_list({"a": one, "b": other})
    assert price_list({"a": one, "b": one}) == {("http://127.0.0.1:1", "judge"): PRICES}
