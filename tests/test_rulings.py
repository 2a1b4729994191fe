import asyncio
import json
from dataclasses import replace

import pytest
from scripted_study import Recorded, bench, sides

from regatta_lib.base import ADVERSARIAL_CATEGORIES
from regatta_lib.measures import VERDICT_TABLE, suite_scores, targets
from regatta_lib.models import Reply
from regatta_lib.studies import Episode, Role, Scenario, verdict_table
from regatta_lib.studies.rulings import balanced_sample, episode_questions, judge_suite, rule, scan, scenario_questions

SUITE = "tester.S1.us_insurance.r1"
ROLE = Role(endpoint="scripted", max_tokens=1_000)


@pytest.fixture(scope="module")
def side():
    return sides()[1]["us_insurance"]


def scenarios(count=3):
    return [Scenario(SUITE, n, f"d{n}", f"m{n}", "e", None, None) for n in range(1, count + 1)]


def episodes(side, state="answered", arm="joint", draw=1):
    return [Episode(SUITE, s.scenario, f.id, arm, draw, state, "text", "k") for s in scenarios() for f in side.faults]


def coverage(side, count=3):
    asked = scenario_questions(bench(), side.requirements[:1], [], scenarios(count))
    return [question for question in asked if question.judge == "coverage"]


def says(*by_scenario):
    """A judge that answers a scan by scenario number: yes, no, or a reply that is no answer."""
    texts = {"yes": '{"justification": "r", "verdict": "yes"}', "no": '{"justification": "r", "verdict": "no"}'}

    def answer(request):
        said = by_scenario[int(request.call[-2:]) - 1]
        if said in ("refused", "error"):
            return Reply(request.call, request.call, said, "", None, "m", "m", None, 1, 0, None)
        return texts.get(said, said)

    return Recorded(answer)


def scanned(side, model, stride=1):
    return asyncio.run(scan(model, ROLE, coverage(side, 3), stride))


def test_all_questions_of_a_suite_are_as_many_as_the_paper_counts(side):
    thirty = scenarios(30)
    asked = scenario_questions(bench(), side.requirements, side.faults, thirty)
    ran = [Episode(SUITE, s.scenario, f.id, "joint", 1, "answered", "t", "k") for s in thirty for f in side.faults]
    assert len(ran) == 150
    assert len(asked) + len(episode_questions(bench(), side.faults, thirty, ran)) == 1_110


def test_every_question_has_a_call_of_its_own(side):
    asked = scenario_questions(bench(), side.requirements, side.faults, scenarios())
    ran = [*episodes(side), *episodes(side, arm="control"), *episodes(side, draw=2)]
    asked += episode_questions(bench(), side.faults, scenarios(), ran)
    calls = [question.call for question in asked]
    assert len(set(calls)) == len(calls)
    assert f"execution/{SUITE}/IN-F1/joint/2/s03" in calls and f"coverage/{SUITE}/IN-01/s01" in calls


def test_a_scan_stops_at_the_first_success(side):
    model = says("no", "yes", "yes")
    assert [ruling.value for ruling in scanned(side, model)] == [0, 1]
    assert len(model.requests) == 2


def test_a_scan_in_waves_asks_a_whole_wave(side):
    model = says("yes", "no", "no")
    assert [ruling.value for ruling in scanned(side, model, stride=2)] == [1, 0]


def test_a_grid_asks_about_every_scenario(side):
    model = says("yes", "yes", "yes")
    rulings = asyncio.run(judge_suite(model, ROLE, coverage(side), ["coverage"], 1))
    assert [ruling.value for ruling in rulings] == [1, 1, 1]


@pytest.mark.parametrize(
    ("said", "states", "value"),
    [
        (("no", "no", "no"), ["answered"] * 3, 0),
        (("no", "maybe", "no"), ["answered", "unreadable", "answered"], None),
        (("refused", "no", "yes"), ["refused", "answered", "answered"], 1),
        (("error", "error", "error"), ["error"] * 3, None),
    ],
)
def test_an_unresolved_verdict_neither_stops_a_scan_nor_counts_as_no(side, said, states, value):
    rulings = scanned(side, says(*said))
    assert [ruling.state for ruling in rulings] == states
    reduced = targets(verdict_table(rulings))["value"].astype(object)
    assert reduced.where(reduced.notna(), None).tolist() == [value]


def test_unresolved_verdicts_bound_the_score_instead_of_moving_it(side):
    """Three of five faults: one detected, one not, one unreadable; two more not: between 1/5 and 2/5."""
    plan = {"IN-F1": "yes", "IN-F2": "maybe"}
    answers = {"yes": '{"justification": "r", "verdict": "yes"}', "no": '{"justification": "r", "verdict": "no"}'}
    model = Recorded(lambda request: answers.get(plan.get(request.call.split("/")[2], "no"), "maybe"))
    asked = [q for q in scenario_questions(bench(), [], side.faults, scenarios(1)) if q.judge == "design"]
    table = verdict_table(asyncio.run(judge_suite(model, ROLE, asked, [], 1)))
    assert suite_scores(table)["fdr_design"].isna().all()
    assert suite_scores(table, "lowest")["fdr_design"].tolist() == [0.2]
    assert suite_scores(table, "highest")["fdr_design"].tolist() == [0.4]


@pytest.mark.parametrize("state", ["truncated", "empty", "error"])
def test_an_agent_answer_that_is_none_is_not_judged(side, state):
    model = says("yes", "yes", "yes")
    asked = episode_questions(bench(), side.faults, scenarios(), episodes(side, state))
    rulings = asyncio.run(judge_suite(model, ROLE, asked, ["execution"], 1))
    assert model.requests == []
    assert {(ruling.state, ruling.value, ruling.key) for ruling in rulings} == {(state, None, "")}
    assert len(rulings) == 15


def test_a_refusal_of_the_agent_is_judged(side):
    model = says("no", "no", "no")
    asked = episode_questions(bench(), side.faults, scenarios(), episodes(side, "refused"))
    assert len(asyncio.run(judge_suite(model, ROLE, asked, ["execution"], 1))) == len(model.requests) == 15


def test_one_adversarial_answer_gives_six_rulings(side):
    model = Recorded(lambda request: json.dumps({"justification": "r", "categories": ["role_confusion"]}))
    asked = [q for q in scenario_questions(bench(), [], [], scenarios(1)) if q.judge == "adversarial"]
    rulings = asyncio.run(rule(model, ROLE, asked[0]))
    assert {ruling.target: ruling.value for ruling in rulings} == {
        name: int(name == "role_confusion") for name in ADVERSARIAL_CATEGORIES
    }
    unread = asyncio.run(rule(Recorded(lambda request: "none"), ROLE, asked[0]))
    assert [(ruling.state, ruling.value) for ruling in unread] == [("unreadable", None)] * 6


def test_the_table_meets_the_contract_of_all_studies(side, tmp_path):
    rulings = scanned(side, says("no", "maybe", "yes"))
    VERDICT_TABLE.write(verdict_table(rulings), tmp_path / "v.csv")
    read = VERDICT_TABLE.read(tmp_path / "v.csv")
    assert read["state"].tolist() == ["answered", "unreadable", "answered"]
    assert read["value"].isna().tolist() == [False, True, False]


def test_the_second_judges_sample_is_balanced_seeded_and_blind_to_verdicts(side):
    asked = scenario_questions(bench(), side.requirements, side.faults, scenarios())
    for arm in ("joint", "control"):
        asked += episode_questions(bench(), side.faults, scenarios(), episodes(side, arm=arm))
    asked += episode_questions(bench(), side.faults, scenarios(), episodes(side, draw=2))
    sample = balanced_sample(asked, 30, seed=1)
    strata = [(question.judge, question.arm, question.target) for question in sample]
    assert {strata.count(stratum) for stratum in strata} == {2} and len(set(strata)) == 15
    assert all(question.draw == 1 for question in sample)
    assert sample == balanced_sample([*reversed(asked)][::-1], 30, seed=1)
    assert sample != balanced_sample(asked, 30, seed=2)
    assert len(balanced_sample(asked, 10_000, seed=1)) == 45
    unanswered = [replace(question, prompt=None) for question in asked]
    assert balanced_sample(unanswered, 30, seed=1) == []
