import asyncio

import pytest
from scripted_study import Recorded, sides, study

from regatta_lib.base import paths
from regatta_lib.measures import cost
from regatta_lib.models import Endpoint, Prices
from regatta_lib.studies import Role, forecast, read_definitions, runs, store

ENDPOINT = Endpoint(
    protocol="anthropic", base_url="http://localhost", model="m", prices=Prices(input=3.0, output=15.0, date="2026-01-01")
)


def shares(design, endpoints=None):
    return forecast.forecast_study(design, *sides(design), endpoints or {"scripted": ENDPOINT})


def calls(design):
    return {share.role: share.calls for share in shares(design)}


def test_the_bound_of_the_paper_is_computed():
    most = cost.bound(scenarios=30, requirements=25, faults=5)
    assert (most["judge"], most["agent"]) == (1_110, 150)


def test_the_high_end_is_the_bound():
    design = study(strategies=["S1"], scenarios=30)
    found = calls(design)
    most = cost.bound(scenarios=30, requirements=25, faults=5)
    assert found["agent"] == (most["agent"], most["agent"])
    assert found["judge"][1] == most["judge"] + 15
    assert found["judge"][0] == 25 + 5 + 5 + 30 + 30 + 15
    assert found["generator"] == (1, 3)


@pytest.mark.parametrize("scenarios", [1, 3])
def test_a_real_run_stays_within_the_forecast(scenarios):
    second = Role(endpoint="second", max_tokens=500)
    design = study(
        scenarios=scenarios,
        control=True,
        single=["role_boundary"],
        repeats={"us_insurance": 3},
        grid=["design"],
        stride=2,
        second_judge=second,
        second_sample=7,
    )
    model = Recorded()
    asyncio.run(runs.run(model, design, *sides(design)))
    found = calls(design)
    low, high = (sum(pair[end] for pair in found.values()) for end in (0, 1))
    assert low <= len(model.requests) <= high
    assert found["agent"] == (len(model.of("agent")),) * 2
    assert found["second judge"] == (7, 7)


def test_price_follows_from_tokens():
    for share in shares(study(strategies=["S1"])):
        low = (share.input_tokens[0] * 3 + share.output_tokens[0] * 15) / 1e6
        assert share.dollars[0] == pytest.approx(low)
        assert share.dollars[0] < share.dollars[1]
    judge = {share.role: share for share in shares(study(strategies=["S1"]))}["judge"]
    assert judge.output_tokens[1] == judge.calls[1] * 3 * 1_000


def test_the_high_end_counts_a_cut_off_reply_over_the_network_only():
    """A cut-off reply of a live call is paid for, and asked for again with twice the cap: two prompts, three caps."""
    for live, files in zip(shares(study()), shares(study(provider="exchange")), strict=True):
        assert live.calls == files.calls
        assert (live.input_tokens[0], live.output_tokens[0]) == (files.input_tokens[0], files.output_tokens[0])
        assert live.input_tokens[1] == pytest.approx(2 * files.input_tokens[1], abs=1)
        assert live.output_tokens[1] == 3 * files.output_tokens[1]


def test_an_unknown_price_is_not_zero():
    design = study(strategies=["S1"])
    unknown = shares(design, {"other": ENDPOINT})
    assert {share.dollars for share in unknown} == {None}
    assert forecast.most_dollars(unknown) is None
    assert set(forecast.forecast_table(unknown)["dollars"]) == {None}
    assert forecast.most_dollars(shares(design)) > 0


def test_a_forecast_ends_with_the_sums_of_its_shares():
    found = shares(study())
    *rows, last = forecast.forecast_table(found).to_dict("records")
    assert [(row["role"], row["calls"], row["dollars"]) for row in rows] == [(s.role, s.calls, s.dollars) for s in found]
    assert last["role"] == "all"
    for column, name in (("calls", "calls"), ("input tokens", "input_tokens"), ("output tokens", "output_tokens")):
        assert last[column] == tuple(sum(getattr(share, name)[end] for share in found) for end in (0, 1))
    assert last["dollars"][1] == forecast.most_dollars(found)


def test_a_price_of_zero_is_known():
    free = ENDPOINT.model_copy(update={"prices": Prices(input=0.0, output=0.0, date="2026-01-01")})
    assert forecast.most_dollars(shares(study(strategies=["S1"]), {"scripted": free})) == 0


@pytest.mark.parametrize("name", ["demo", "smoke", "replication", "retest"])
def test_every_study_in_the_parameters_can_be_forecast(name):
    design = store.definition(name)
    found = forecast.forecast_study(design, *runs.read_sides(design), read_definitions(paths.PARAMS).endpoints)
    suites = len(design.generators) * len(design.strategies) * len(design.cells) * design.replications
    assert suites == {"demo": 8, "smoke": 2, "replication": 180, "retest": 36}[name]
    assert sum(share.calls[0] for share in found if share.role == "generator") == suites


def test_the_demo_asks_for_what_its_documentation_says():
    found = {share.role: share.calls for share in shares(store.definition("demo"), {"x": ENDPOINT})}
    assert found["agent"] == (648, 648)
    assert found["judge"][1] == 1_203 + 243 + 102 + 651
    assert found["second judge"] == (120, 120)
    text = (paths.ROOT / "docs/exchange.md").read_text(encoding="utf-8")
    dealt = (paths.ROOT / "data/exchange/demo/batches.csv").read_text(encoding="utf-8").count("\n") - 1
    assert f"**{dealt:,}**" in text or f"{dealt:,} answers" in text
    assert dealt <= 8 + 648 + found["judge"][1] + 120 == 2_975
