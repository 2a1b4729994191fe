import asyncio
import json
import shutil
from dataclasses import replace

import pytest
from scripted_study import Recorded, reply, sides, study

from regatta.commands import table_text
from regatta_lib.base import ContractError, paths, sha256
from regatta_lib.measures import SCORE_TABLE, VERDICT_TABLE
from regatta_lib.models import Exchange, MissingTranscript, Pending, Transcripts, batches
from regatta_lib.stats import seeded
from regatta_lib.studies import EPISODE_LINES, RULING_LINES, SCENARIO_LINES, Role, judges, prompts, runs, store, suites

RECORDED_SCHEMAS = [
    "3b132197655eb286",
    "8cc09b004b14ed3f",
    "8cc09b004b14ed3f",
    "8cc09b004b14ed3f",
    "ac596efdd282859c",
    "b9ecee73b2df47d4",
]
SECOND = Role(endpoint="second", max_tokens=500)
DESIGN = study(control=True, single=["threshold_error"], grid=["design", "execution"], second_judge=SECOND, second_sample=12)


def run(model, design=DESIGN):
    return asyncio.run(runs.run(model, design, *sides(design)))


@pytest.fixture(scope="module")
def result():
    return run(Recorded())


def test_a_whole_study_has_every_part(result):
    assert len(result.scenarios) == 2 * 3
    assert len(result.episodes) == 6 * 11
    assert len(result.second) == 12
    assert len(result.canaries) == 15
    assert sum(ruling.judge == "execution" for ruling in result.rulings) == 66
    assert sum(ruling.judge == "design" for ruling in result.rulings) == 30
    assert [manifest.withheld == [] for manifest in result.manifests] == [True, False]
    assert {(m.asked, m.short) for m in result.manifests} == {(3, False)}


def test_the_same_study_gives_the_same_bytes_in_whatever_order_replies_come(result):
    class Shuffled(Recorded):
        async def complete(self, request):
            for _ in range(len(request.call) * 7 % 5):
                await asyncio.sleep(0)
            return await super().complete(request)

    again = run(Shuffled())
    assert store.result_texts("t", again) == store.result_texts("t", result)


def test_the_output_files_keep_their_contracts(result, tmp_path):
    for path, text in store.result_texts("t", result).items():
        target = tmp_path / path.parent.name / path.name
        target.parent.mkdir(exist_ok=True)
        target.write_text(text, encoding="utf-8")
    assert SCENARIO_LINES.read(tmp_path / "suites/t.jsonl") == result.scenarios
    assert len(EPISODE_LINES.read(tmp_path / "episodes/t.jsonl")) == 66
    assert len(RULING_LINES.read(tmp_path / "verdicts/t.jsonl")) == len(VERDICT_TABLE.read(tmp_path / "verdicts/t.csv"))
    assert len(SCORE_TABLE.read(tmp_path / "scores/t.csv")) == 2
    manifest = json.loads((tmp_path / "suites/t-manifests.jsonl").read_text().splitlines()[1])
    assert manifest["withheld"] and manifest["instruments_digest"] and manifest["prompt_digest"] and manifest["seed"] == 7


def test_scores_are_shown_by_suite_and_a_missing_one_is_unresolved(result):
    _, head, _, *rows = table_text(store.shown_scores(result.rulings), "Scores", missing="unresolved").splitlines()
    assert head.split() == ["suite", "rc", "fdr_design", "fdr_execution", "iss", "ac"]
    assert [row.split()[0] for row in rows] == ["tester.S1.us_insurance.r1", "tester.S4.us_insurance.r1"]
    cut = [replace(one, state="truncated", value=None) if one.judge == "design" else one for one in result.rulings]
    table = table_text(store.shown_scores(cut), "Scores", missing="unresolved")
    [(rc, design), *_] = [row.split()[1:3] for row in table.splitlines()[3:]]
    assert (rc, design) == (rows[0].split()[1], "unresolved")


def test_what_needs_a_warning_is_noted(result):
    assert result.notes()[0] == "short suites: 0 of 2"
    short = replace(result.manifests[0], short=True)
    failed = replace(result.episodes[0], state="empty")
    unread = replace(result.rulings[0], state="unreadable", value=None)
    notes = replace(result, manifests=[short], episodes=[failed], rulings=[unread], canaries=[]).notes()
    assert result.unresolved() == 0
    assert replace(result, rulings=[unread, *result.rulings[:3]]).unresolved() == 0.25
    assert notes == [
        f"short suites: 1 of 1 ({short.suite_id})",
        "agent answers that cannot be judged: 1 of 1",
        "rulings without a verdict: 1 of 1",
        "canaries held: 0 of 0",
    ]


def test_temperature_is_sent_only_where_the_study_states_one():
    for temperature in (None, 0.3):
        model = Recorded()
        role = Role(endpoint="scripted", temperature=temperature, max_tokens=400)
        run(model, study(agent=role, scenarios=1))
        assert {request.params.get("temperature") for request in model.of("agent")} == {temperature}
        assert {request.params["max_tokens"] for request in model.of("agent")} == {400}
        assert all("temperature" not in request.params for request in model.of("coverage"))


def test_bounds_are_sent_only_for_a_bounded_role_and_change_nothing_else():
    def sent(bounded):
        role = Role(endpoint="scripted", max_tokens=1_000, bounded=bounded)
        model = Recorded()
        run(model, study(strategies=["S1"], scenarios=1, generators={"tester": role}, judge=role))
        return {(request.call, request.draw): request.params for request in model.requests}

    plain, bounded = sent(False), sent(True)
    assert plain.keys() == bounded.keys()
    for asked, params in plain.items():
        with_bounds = bounded[asked]
        assert params == prompts.without_bounds(with_bounds)
        assert (params == with_bounds) == asked[0].startswith("agent/")


def test_the_schemas_without_bounds_are_those_of_the_recorded_requests():
    """A stored reply is found by the whole request, so another schema would lose every recording."""
    schemas = [suites.suite_schema([1, 2], 60), *(judges.verdict_schema(judge, 30) for judge in judges.VERDICT_FIELD)]
    plain = [json.dumps(prompts.without_bounds(schema)) for schema in schemas]
    assert [sha256(text)[:16] for text in plain] == RECORDED_SCHEMAS


def test_a_suite_without_scenarios_is_noted_and_has_no_verdicts():
    def answer(request):
        return "no scenarios today" if request.call.startswith("suite/tester.S4") else reply(request)

    found = run(Recorded(answer))
    assert found.notes()[0] == "short suites: 1 of 2 (tester.S4.us_insurance.r1)"
    assert {ruling.suite_id for ruling in found.rulings} == {"tester.S1.us_insurance.r1"}


def test_a_study_without_any_scenario_is_one_clear_error():
    model = Recorded(lambda request: "no scenarios today")
    with pytest.raises(ContractError, match=r"0 readable scenarios in 2 suites \(replies: \{'answered': 3\}\)"):
        run(model)
    assert not model.of("agent")


def test_an_error_that_is_no_pending_is_raised_and_stops_the_run():
    def answer(request):
        if request.call.startswith("agent/"):
            raise ContractError("no credit")
        return reply(request)

    model = Recorded(answer)
    with pytest.raises(ContractError, match="no credit"):
        run(model, study(scenarios=30))
    assert len(model.of("agent")) < 600


def answer_all(folder, placements):
    """Answer every batch that has no replies yet, as an answerer would: from the batch file alone."""
    requests = {place.custom_id: place.call for place in placements}
    for path in sorted(folder.glob("batch-*.jsonl")):
        replies = folder / path.name.replace("batch", "replies")
        if replies.exists():
            continue
        lines = []
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            asked = json.loads(line)
            text = reply(type("Asked", (), {"call": requests[asked["custom_id"]], "params": asked["params"], "draw": 1}))
            lines.append(json.dumps({"line": number, "answer": text}) + "\n")
        replies.write_text("".join(lines))


def test_a_study_through_files_ends_and_replays_byte_for_byte(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "EXCHANGE", tmp_path / "exchange")
    monkeypatch.setattr(paths, "TRANSCRIPTS", tmp_path / "transcripts")
    design = DESIGN.model_copy(update={"provider": "exchange"})
    folder, placements, rounds = paths.EXCHANGE / "t", [], 0
    while True:
        waiting, _ = store.waiting("t", store.whole(design))
        if not waiting:
            break
        rounds += 1
        new = batches.undealt(folder, placements, waiting)
        dealt = batches.deal_batches(new, 60, len(placements) + 1, seeded(rounds, "test"))
        for path, text in batches.batch_texts(folder, dealt, new).items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        placements += dealt
        answer_all(folder, placements)
        for path, text in batches.collected(folder, placements, "file-model", judges.unreadable)[0].items():
            path.write_text(text, encoding="utf-8")
    assert rounds == 4, "suites; answers and scenario verdicts; answer verdicts; the rest of the coverage scan"
    result, report = store.run_study("t", design, {}, 500)
    assert result.manifests[0].served_models == ["file-model"]
    assert report[0].startswith(f"{len(placements):,} calls, {len(placements):,} attempts")
    shutil.rmtree(paths.EXCHANGE)
    replayed = store.replayed("t", design)
    assert store.result_texts("t", replayed) == store.result_texts("t", result)


def test_a_replay_without_the_reply_names_the_call(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "TRANSCRIPTS", tmp_path)
    with pytest.raises(MissingTranscript, match=r"suite/tester\.S"):
        store.replayed("t", DESIGN)


def test_a_run_that_waits_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "EXCHANGE", tmp_path / "exchange")
    monkeypatch.setattr(paths, "TRANSCRIPTS", tmp_path / "transcripts")
    design = DESIGN.model_copy(update={"provider": "exchange"})
    with pytest.raises(store.StillWaiting, match=r"exchange/t: answers are still to come$"):
        store.run_study("t", design, {}, 500)


def test_nothing_that_was_answered_is_asked_again(tmp_path):
    """The first pass waits; the second, with the suites answered, leaves them alone."""

    async def passes():
        transcripts = Transcripts(tmp_path / "transcripts")
        model = Exchange(tmp_path, transcripts)
        with pytest.raises(Pending):
            await runs.run(model, DESIGN, *sides(DESIGN))
        await model.aclose()
        transcripts.close()

    asyncio.run(passes())
    before = (tmp_path / "transcripts/tester.S1.us_insurance.r1.jsonl").read_text()
    asyncio.run(passes())
    assert (tmp_path / "transcripts/tester.S1.us_insurance.r1.jsonl").read_text() == before


def test_an_unknown_study_or_endpoint_is_named():
    with pytest.raises(ContractError, match=r"no study 'demoo', expected one of demo, "):
        store.definition("demoo")
    with pytest.raises(ContractError, match=r"studies\.t: no endpoint 'scripted', expected one of local"):
        store.endpoints_of("t", study(), {"local": None})
