import asyncio
import json
import math
from contextlib import aclosing, closing
from dataclasses import replace
from itertools import pairwise

import pytest
from scripted_study import Recorded, asked_slots, reply, scenario_item, sides, study

from regatta_lib import instruments
from regatta_lib.models import Live, Replay, Transcripts, probe
from regatta_lib.studies import Role, prompts, runs, suites
from tests.loopback import QUICK, endpoint, plant_key
from tests.server import Server

ROLE = Role(endpoint="scripted", max_tokens=1_000)


@pytest.fixture(scope="module")
def source():
    return sides()[0]["us_insurance"]


def plan(strategy="S1", scenarios=3, withheld=()):
    return suites.Plan("tester", strategy, "us_insurance", 1, scenarios, 7, 60, withheld)


def generate(source, answer, **design):
    model = Recorded(answer)
    made = suites.write_suite(model, ROLE, plan(**design), source.ontology, source.documents, "digest")
    return *asyncio.run(made), model.requests


def listed(*items):
    return json.dumps({"scenarios": [*items]})


def test_a_whole_suite_takes_one_call(source):
    scenarios, manifest, requests = generate(source, reply)
    assert [scenario.scenario for scenario in scenarios] == [1, 2, 3]
    assert {scenario.suite_id for scenario in scenarios} == {"tester.S1.us_insurance.r1"}
    assert len(requests) == 1
    assert requests[0].call == "suite/tester.S1.us_insurance.r1/round1"
    assert (manifest.asked, manifest.scenarios, manifest.short) == (3, 3, False)
    assert manifest.prompt_digest == prompts.digest("suite_S1")
    assert manifest.instruments_digest == "digest"
    assert manifest.keys and manifest.served_models == ["scripted"]


def test_a_bounded_schema_asks_for_these_slots_and_no_others():
    schema = suites.suite_schema([2, 5], 60)["properties"]["scenarios"]
    assert (schema["minItems"], schema["maxItems"]) == (2, 2)
    fields = schema["items"]["properties"]
    assert tuple(fields) == suites.SCENARIO_FIELDS
    assert fields["slot"] == {"type": "integer", "minimum": 2, "maximum": 5}
    assert fields["agent_input"] == {"type": "string", "minLength": 20, "maxLength": 600}


def test_only_the_missing_scenarios_are_asked_again(source):
    def answer(request):
        slots = asked_slots(request)
        return listed(*[scenario_item(slot) for slot in slots if slot != 2 or len(slots) == 1])

    scenarios, manifest, requests = generate(source, answer)
    assert [asked_slots(request) for request in requests] == [[1, 2, 3], [2]]
    second = requests[1].params["messages"][0]["content"]
    assert "- Case 1" in second and "- Case 3" in second and "exactly 1 scenarios" in second
    assert len(scenarios) == 3 and not manifest.short
    assert manifest.replies == {"answered": 2}


def test_a_suite_that_stays_short_is_flagged_and_not_padded(source):
    scenarios, manifest, requests = generate(source, lambda request: listed(scenario_item(1)))
    assert len(scenarios) == 1
    assert (manifest.scenarios, manifest.short) == (1, True)
    assert manifest.rejected == {"malformed": 0, "unasked": 0, "duplicate": 2}
    assert len(requests) == suites.ROUNDS
    assert [request.draw for request in requests] == [1, 2, 3]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"agent_input": "  "}, "malformed"),
        ({"agent_input": None}, "malformed"),
        ({"slot": "1"}, "malformed"),
        ({"slot": True}, "malformed"),
        ({"adversarial_category": "phishing"}, "malformed"),
        ({"extra": 1}, "malformed"),
        ({"slot": 9}, "unasked"),
        ({"agent_input": "message  2"}, "duplicate"),
        ({"slot": 2}, "duplicate"),
    ],
)
def test_what_is_wrong_with_a_scenario_is_counted(change, reason):
    items = [scenario_item(2), scenario_item(1) | change]
    accepted, rejected = suites.accept(items, plan(), {1, 2, 3}, [])
    assert [scenario.scenario for scenario in accepted] == [2]
    assert rejected == {"malformed": 0, "unasked": 0, "duplicate": 0} | {reason: 1}


def test_a_missing_field_and_an_item_that_is_no_object_are_malformed():
    item = scenario_item(1)
    del item["requirement_cited"]
    accepted, rejected = suites.accept([item, "text", None, 3], plan(), {1}, [])
    assert accepted == [] and rejected["malformed"] == 4


def test_a_cut_off_reply_keeps_its_whole_scenarios(source):
    whole = listed(*[scenario_item(slot) for slot in (1, 2, 3)])

    def answer(request):
        return whole[: whole.rindex("Message 3")] if len(asked_slots(request)) == 3 else listed(scenario_item(3, " new"))

    scenarios, manifest, requests = generate(source, answer)
    assert [asked_slots(request) for request in requests] == [[1, 2, 3], [3]]
    assert scenarios[2].agent_input == "Message 3 new"
    assert not manifest.short


@pytest.mark.parametrize("text", ["", "I cannot help with that.", "[]", '{"scenarios": "none"}', '{"scenarios": {}}'])
def test_a_reply_without_scenarios_leaves_the_suite_short(source, text):
    scenarios, manifest, _ = generate(source, lambda request: text)
    assert scenarios == [] and manifest.short and manifest.scenarios == 0


def test_thirty_slots_of_s2_meet_every_pair_once(source):
    slots = suites.context(plan("S2", 30), source.ontology, source.documents)["slots"]
    assert len({(slot["persona"], slot["situation"]) for slot in slots}) == 30
    six = suites.context(plan("S2", 6), source.ontology, source.documents)["slots"]
    assert {slot["persona"] for slot in six} == set(suites.PERSONAS)
    assert {slot["situation"] for slot in six} == set(suites.SITUATIONS)


def test_retrieval_finds_the_passage_that_speaks_of_the_query(source):
    documents = source.documents
    for document in documents:
        assert document in suites.passages(documents, [document.title])[0], document.title
    assert suites.passages(documents, ["zzz qqq"]) == [documents[: suites.PASSAGES_PER_SLOT]]


# The two documents of eight, by number, chosen for each duty of a cell's roles in order: as bm25s 0.3.16 chose them.
CHOSEN = {
    "us_fintech": "58 27 15 38 37 12 12 27 17 16 15 15 58 58 24 57",
    "us_insurance": "16 15 15 12 12 57 67 16 68 23 15 12 25 12 15 12 12 12 26 28",
    "us_healthcare": "17 67 38 67 67 14 23 57 14 46 12 47 36 56 15 78",
    "vn_banking": "23 27 17 18 78 13 45 16 35 12 12 28 16 48 16 12",
    "vn_insurance": "15 12 17 17 35 15 57 16 67 67 18 15 46 16 46 78",
    "eu_banking": "46 57 68 18 18 12 18 68 12 14 12 46 26 38 45 16",
}


def test_the_passages_of_every_duty_of_every_cell_are_pinned():
    assert list(CHOSEN) == instruments.cells_in()
    for cell, pinned in CHOSEN.items():
        ontology, documents = instruments.read_generator_side(cell)
        found = suites.passages(documents, [duty for role in ontology.roles for duty in role.responsibilities])
        numbers = ["".join(str(documents.index(document) + 1) for document in chosen) for chosen in found]
        assert numbers == pinned.split(), cell


def test_bm25_is_the_formula():
    """Worked by hand: N = 3, mean length 2; "fee" is in two documents, "late" twice in one of four tokens."""
    idf = {1: math.log(1 + 2.5 / 1.5), 2: math.log(1 + 1.5 / 2.5)}
    long, short = 1.5 * (0.25 + 0.75 * 4 / 2), 1.5 * (0.25 + 0.75 * 1 / 2)
    fee, late = [idf[2] / (1 + long), idf[2] / (1 + short), 0], [idf[1] * 2 / (2 + long), 0, 0]
    documents = ["The late, LATE fee: x waived", "Fee", "Refund"]
    assert suites.bm25(documents, "a late fee") == pytest.approx([f + w for f, w in zip(fee, late, strict=True)])
    assert suites.bm25(documents, "fee fee") == pytest.approx([2 * score for score in fee])
    assert suites.bm25(documents, "the unknown") == [0, 0, 0]


def test_a_tie_is_exact_whatever_the_order_of_the_words():
    words = ["claim", "notice", "hour", "loss", "assessment", "caller", "fraud"]
    filler = [f"{word} {other}" for word, other in pairwise(words)]
    scores = suites.bm25([*filler, " ".join(words), " ".join(reversed(words))], " ".join(words))
    assert scores[-1] == scores[-2] > max(scores[:-2])


def test_equal_passages_are_taken_in_the_order_of_the_documents():
    """Two documents of 85 words share two words each with the query, one of them another but as rare: an exact tie."""
    _, documents = instruments.read_generator_side("vn_insurance")
    query = "Guide the caller within 1 hour of notice and organise loss assessment within 24 hours."
    scores = suites.bm25([f"{document.title} {document.text}" for document in documents], query)
    assert scores[6] == scores[7]
    assert suites.passages(documents, [query]) == [[documents[3], documents[6]]]


def test_s3_shows_only_retrieved_passages_and_depends_on_the_suite(source):
    first = suites.context(plan("S3", 2), source.ontology, source.documents)
    used = {name for slot in first["slots"] for name in slot["passages"]}
    assert {document["id"] for document in first["documents"]} == used
    other = suites.context(replace(plan("S3", 2), replication=2), source.ontology, source.documents)
    assert [slot["query"] for slot in other["slots"]] != [slot["query"] for slot in first["slots"]]


def test_s4_is_not_shown_what_is_withheld(source):
    withheld = source.withheld[1]
    assert withheld
    of = plan("S4", withheld=withheld)
    values = suites.context(of, source.ontology, source.documents)
    prompt = suites.generation_prompt(of, source.ontology, values, [])
    for regulation in source.ontology.regulations:
        assert (regulation.constraint in prompt.user) == (regulation.key not in withheld), regulation.key


@pytest.mark.parametrize(
    ("offers", "place", "sent"),
    [
        (True, {"sampling": True}, 0.3),
        (True, {"sampling": False}, None),
        (False, {"sampling": True}, None),
        (True, {"sampling": False, "body": {"temperature": 1.0}}, 1.0),
    ],
    ids=["accepted", "left out", "refused at the preflight", "set by the endpoint"],
)
def test_the_manifest_records_the_temperature_that_was_sent(source, tmp_path, monkeypatch, offers, place, sent):
    plant_key(monkeypatch)
    role = Role(endpoint="any", temperature=0.3, max_tokens=1_000)

    def written(model):
        return suites.write_suite(model, role, plan(), source.ontology, source.documents, "digest")

    async def run(server, transcripts):
        found = await probe(endpoint(server, **place), transcripts)
        async with aclosing(Live(found.endpoint, transcripts, QUICK)) as model:
            return await written(model)

    with Server() as server, closing(Transcripts(tmp_path)) as transcripts:
        server.offers["sampling"] = offers
        _, manifest = asyncio.run(run(server, transcripts))
        assert {received.body.get("temperature") for received in server.received[-suites.ROUNDS :]} == {sent}
    assert manifest.temperature == sent
    assert asyncio.run(written(Replay(tmp_path)))[1] == manifest


def test_no_generation_prompt_holds_text_of_the_judge_side():
    """No run of eight words of a requirement or fault reaches a generator, except what its own material says."""
    design = study(cells=["us_insurance", "vn_banking"], strategies=["S1", "S2", "S3", "S4"], scenarios=30)
    generators, judged = sides(design)
    for of in runs.plans(design, generators):
        source, side = generators[of.cell], judged[of.cell]
        values = suites.context(of, source.ontology, source.documents)
        shown = word_runs(suites.generation_prompt(of, source.ontology, values, []).user)
        own = word_runs(" ".join(map(str, [source.ontology, *source.documents])))
        for item in [*side.requirements, *side.faults]:
            for field in ("text", "injected_behavior", "correct_behavior", "title"):
                assert not (word_runs(getattr(item, field, "")) & shown) - own, (of.suite_id, item.id)


def test_the_judge_side_check_can_fail():
    side = sides()[1]["us_insurance"]
    leaked = f"Business: insurance. {side.faults[0].injected_behavior} Write scenarios."
    assert word_runs(side.faults[0].injected_behavior) & word_runs(leaked)


def word_runs(text, length=8):
    words = text.casefold().split()
    return {tuple(words[i : i + length]) for i in range(len(words) - length + 1)}
