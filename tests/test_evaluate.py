"""An own suite from its file to its evidence vector: as a library call, through files, over the network and replayed."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from scripted_study import Recorded, answer_batches, reply, sides, study
from typer.testing import CliRunner

from regatta.commands import app, main, table_text
from regatta.own_suite import evaluation
from regatta.own_suite.cases import Case, CaseSource
from regatta_lib.base import ContractError, paths, read_params
from regatta_lib.measures import SCORE_TABLE, VERDICT_TABLE, suite_scores
from regatta_lib.studies import SCENARIO_LINES, Role, forecast, runs, store, verdict_table
from tests.server import Server

EXAMPLE = paths.ROOT / "docs/examples/us_insurance.promptfoo.yaml"
CELL = "us_insurance"
SUITE = "mine.own.us_insurance.r1"
runner = CliRunner()


def case(number, **changes):
    fields = {"id": str(number), "title": f"T{number}", "input": f"Message {number}", "expected": "By the rule."}
    fields |= {"turns": (), "tags": (), "source": CaseSource("s.csv", number + 1, "0" * 64), "raw": {"n": number}}
    return Case(**fields | changes)


CASES = [case(1), case(2, input=""), case(3, expected=""), case(4)]


def measured(answer=reply, design=None):
    """A suite of three scenarios, measured with a scripted model: the result and its verdicts."""
    design = design or study(control=True)
    scenarios = evaluation.scenarios(CASES, "mine", CELL)
    judged = {CELL: sides(design)[1][CELL]}
    result = asyncio.run(runs.measure(Recorded(answer), design, judged, scenarios))
    return result, verdict_table(result.rulings)


def always(verdict, categories):
    def answer(request):
        role = request.call.split("/")[0]
        found = {"justification": "So it is.", "verdict": verdict}
        if role == "adversarial":
            found = {"justification": "So it is.", "categories": categories}
        elif role == "specificity":
            found = {"justification": "So it is.", "score": 3}
        return "I would report it." if role == "agent" else json.dumps(found)

    return answer


def test_cases_become_scenarios_in_their_order():
    found = evaluation.scenarios(CASES, "mine", CELL)
    assert [(s.suite_id, s.scenario, s.agent_input, s.description) for s in found] == [
        (SUITE, 1, "Message 1", "T1"),
        (SUITE, 2, "Message 3", "T3"),
        (SUITE, 3, "Message 4", "T4"),
    ]
    assert [s.expected_behavior for s in found] == ["By the rule.", evaluation.NO_EXPECTATION, "By the rule."]
    assert {(s.requirement_cited, s.adversarial_category) for s in found} == {(None, None)}


def test_every_case_is_kept_with_its_scenario_and_its_place():
    kept = [json.loads(line) for line in evaluation.case_lines(CASES).splitlines()]
    assert [record["scenario"] for record in kept] == [1, None, 2, 3]
    assert kept[0]["source"] == {"file": "s.csv", "line": 2, "sha256": "0" * 64} and kept[0]["raw"] == {"n": 1}


def test_a_suite_is_measured_by_the_judges_and_the_agent_of_a_study():
    result, verdicts = measured()
    assert set(verdicts["judge"]) == {"coverage", "design", "execution", "specificity", "adversarial"}
    assert len(result.episodes) == 3 * 5 * 2 and len(result.canaries) == 15 and result.manifests == []
    assert set(verdicts["suite_id"]) == {SUITE}
    assert result.notes()[0] == "agent answers that cannot be judged: 0 of 30"
    scores = suite_scores(verdicts)
    assert (scores["generator"][0], scores["strategy"][0]) == ("mine", "own")
    assert not any(path.name.endswith("-manifests.jsonl") for path in store.result_texts("mine", result))


def test_the_vector_is_the_score_of_the_suite():
    _, verdicts = measured()
    table = evaluation.vector(verdicts).set_index("measure")
    score = suite_scores(verdicts).iloc[0]
    for measure in table.index:
        row = table.loc[measure]
        assert row["value"] == score[measure] == row["lowest"] == row["highest"], measure
        assert row["unresolved"] == 0
    assert table["of"].to_dict() == {"rc": 25, "fdr_design": 5, "fdr_execution": 5, "iss": 3, "ac": 6}
    assert table.loc["rc", "met"] == round(score["rc"] * 25)


def test_what_is_unresolved_is_bounded_and_listed_never_guessed():
    def answer(request):
        broken = request.call.startswith(("coverage/mine.own.us_insurance.r1/IN-01/", "specificity/mine"))
        return "no JSON" if broken else always("no", [])(request)

    _, verdicts = measured(answer)
    table = evaluation.vector(verdicts).set_index("measure")
    rc, iss = table.loc["rc"], table.loc["iss"]
    assert pd.isna(rc["value"]) and (rc["lowest"], rc["highest"], rc["unresolved"]) == (0, 1 / 25, 1)
    assert pd.isna(iss["value"]) and (iss["lowest"], iss["highest"], iss["unresolved"]) == (1, 5, 3)
    lines = table_text(evaluation.shown_vector(evaluation.vector(verdicts)), "Vector").splitlines()
    assert lines[3].split() == ["rc", "–", "0.000", "0.040", "0", "of", "25", "requirements", "covered,", "1", "unresolved"]
    side = sides()[1][CELL]
    gaps = "\n".join(evaluation.gap_lines(verdicts, side.requirements, side.faults))
    assert "Requirements that no scenario covers: 24 of 25" in gaps
    assert "Requirements left open by a missing verdict: 1 of 25\n  IN-01 " in gaps


def test_gaps_are_named_by_identifier_with_their_citation():
    _, verdicts = measured(always("no", ["role_confusion"]))
    side = sides()[1][CELL]
    lines = evaluation.gap_lines(verdicts, side.requirements, side.faults)
    text = "\n".join(lines)
    for requirement in side.requirements:
        assert f"  {requirement.id} {requirement.area}: {requirement.citation}\n      {requirement.text}" in text
    assert text.count("threshold, critical: The RBC ladder is turned upside down\n      IN-01 State RBC acts") == 2
    for heading, count in (
        ("covers", "25 of 25"),
        ("design stage)", "5 of 5"),
        ("execution stage)", "5 of 5"),
        ("attempts", "5 of 6"),
    ):
        assert f"{heading}: {count}" in text
    assert "  prompt_injection" in lines and "  role_confusion" not in lines
    assert evaluation.alarm_lines(verdicts)[1].endswith("no evidence of detection: 0 of 5, 0 unresolved")


def test_a_suite_that_finds_everything_lacks_nothing_and_false_alarms_are_named():
    _, verdicts = measured(always("yes", ["role_confusion"]))
    side = sides()[1][CELL]
    lines = [line for line in evaluation.gap_lines(verdicts, side.requirements, side.faults) if line]
    assert [line.rpartition(": ")[2] for line in lines[:3]] == ["0 of 25", "0 of 5", "0 of 5"]
    assert evaluation.alarm_lines(verdicts)[1].endswith("5 of 5, 0 unresolved: IN-F1, IN-F2, IN-F3, IN-F4, IN-F5")
    _, verdicts = measured(always("yes", []), study())
    assert evaluation.alarm_lines(verdicts) == []


def test_a_run_stays_within_its_forecast():
    second = Role(endpoint="second", max_tokens=500)
    design = study(control=True, repeats={CELL: 2}, stride=2, second_judge=second, second_sample=4)
    side, scenarios = sides(design)[1][CELL], evaluation.scenarios(CASES, "mine", CELL)
    model = Recorded()
    asyncio.run(runs.measure(model, design, {CELL: side}, scenarios))
    shares = forecast.priced(forecast.evaluation_tasks(design, side, scenarios), {}, "exchange")
    found = {share.role: share.calls for share in shares}
    assert set(found) == {"agent", "judge", "second judge"}
    assert found["agent"] == (len(model.of("agent")),) * 2 == (45, 45)
    assert sum(low for low, _ in found.values()) <= len(model.requests) <= sum(high for _, high in found.values())
    long = [case(1, input="x" * 30_000)]
    longer = forecast.priced(
        forecast.evaluation_tasks(design, side, evaluation.scenarios(long, "mine", CELL)), {}, "exchange"
    )
    assert longer[0].input_tokens[0] > 10 * shares[0].input_tokens[0] / 3


def test_a_name_that_results_carry_already_is_refused():
    params = read_params(paths.PARAMS)
    for name in ("demo", "historical", "canary", "My Agent", "a-b", "_a", "../x", ""):
        with pytest.raises(ContractError, match=r"^name: found"):
            store.check_name(name, params)
    store.check_name("my_agent", params)
    with pytest.raises(
        ContractError, match=r"^study: no evaluation or study 'x', expected one of own-suite, own-suite-files, demo"
    ):
        store.measurement("x", params)


# The command, as a user types it


@pytest.fixture
def folders(tmp_path, monkeypatch):
    for name in ("EXCHANGE", "TRANSCRIPTS", "SUITES", "EPISODES", "VERDICTS", "SCORES"):
        monkeypatch.setattr(paths, name, tmp_path / "data" / name.lower())
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    return tmp_path


def command(file, *options, name="mine", **invoke):
    return runner.invoke(app, ["evaluate", str(file), "--cell", CELL, "--name", name, *options], **invoke)


def test_the_example_through_files_and_replayed(folders):
    rounds, done = 0, command(EXAMPLE, "--study", "own-suite-files")
    while done.exit_code == 3:
        rounds += 1
        assert "answer them, then regatta exchange collect mine --served MODEL" in done.output
        assert not (folders / "data/scores").exists()
        answer_batches(folders / "data/exchange/mine")
        collected = runner.invoke(app, ["exchange", "collect", "mine", "--served", "file-model"])
        assert collected.exit_code == 0
        done = command(EXAMPLE, "--study", "own-suite-files")
    assert (done.exit_code, rounds) == (0, 3), done.output
    assert "promptfoo, YAML, message to the agent from message\nread 6, imported 6, skipped 0" in done.output
    assert "Requirements that no scenario covers: " in done.output
    assert done.stdout.endswith(f"{evaluation.NO_PASS_MARK}\n")
    verdicts = VERDICT_TABLE.read(folders / "data/verdicts/mine.csv")
    score = SCORE_TABLE.read(folders / "data/scores/mine.csv").iloc[0]
    assert score["suite_id"] == SUITE and score["rc"] == suite_scores(verdicts).iloc[0]["rc"]
    assert len(SCENARIO_LINES.read(folders / "data/suites/mine.jsonl")) == 6
    assert len((folders / "data/suites/mine-cases.jsonl").read_text().splitlines()) == 6

    before = {path: path.read_bytes() for path in sorted(folders.rglob("*")) if path.is_file()}
    shutil.rmtree(folders / "data/exchange")
    again = command(EXAMPLE, "--study", "own-suite-files", "--replay")
    assert again.exit_code == 0 and again.stdout.partition("\nmeasure")[2] == done.stdout.partition("\nmeasure")[2]
    assert all(path.read_bytes() == content for path, content in before.items() if "exchange" not in path.parts)


NOTEBOOK = """
import sys
from pathlib import Path
sys.modules["typer"] = None
from regatta import own_suite
from regatta_lib import studies
from regatta_lib.base import paths, write_atomic
from scripted_study import answer_batches
for name in ("EXCHANGE", "TRANSCRIPTS", "SUITES", "EPISODES", "VERDICTS", "SCORES"):
    setattr(paths, name, Path(sys.argv[1]) / name.lower())

imported = own_suite.read_suite(Path("docs/examples/us_insurance.promptfoo.yaml"))
evaluation = own_suite.prepare(imported, "mine", "us_insurance", "own-suite-files")
print(imported.unusable(), len(evaluation.scenarios), sorted(share.role for share in evaluation.forecast))
while (dealing := own_suite.deal_suite(evaluation)).waiting:
    for path, text in dealing.texts.items():
        write_atomic(path, text)
    answer_batches(paths.EXCHANGE / "mine")
    for path, text in studies.collect("mine", "file-model")[0].items():
        write_atomic(path, text)
measured = own_suite.measure_suite(evaluation)
print(sorted(path.name for path in measured.texts()))
print(measured.vector()["measure"].to_list(), measured.gaps()[-1])
print(own_suite.replay(evaluation).texts() == measured.texts(), paths.SCORES.exists())
"""


def test_a_notebook_evaluates_a_suite_without_the_command_line(tmp_path):
    root = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", NOTEBOOK, str(tmp_path)],
        cwd=root,
        env=os.environ | {"PYTHONPATH": f"{root}{os.pathsep}{root / 'tests'}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    counts, files, vector, replayed = done.stdout.splitlines()
    assert counts == "0 6 ['agent', 'judge']"
    assert "mine-cases.jsonl" in files and vector.endswith(evaluation.NO_PASS_MARK)
    assert replayed == "True False", "the same texts, and only the caller writes"


def test_a_check_sends_and_writes_nothing(folders):
    done = command(EXAMPLE, "--check")
    assert done.exit_code == 0
    assert "imported 6" in done.output and "no price known" in done.output
    assert not any(folders.iterdir())


def test_a_price_that_is_not_known_is_asked_about(folders):
    done = command(EXAMPLE, input="n\n")
    assert done.exit_code == 1
    assert "This may cost an unknown sum. Start?" in done.output
    assert not any(folders.iterdir())


def test_records_that_cannot_be_used_stop_the_command_unless_allowed(folders, tmp_path):
    file = tmp_path / "suite.csv"
    file.write_text("input,target\na,b\n,c\nd\n")
    done = command(file, "--check")
    assert done.exit_code == 1
    assert "skipped line 4: 1 cells, expected 2\nempty input: 1 (line 3)" in done.output
    assert "2 records cannot be used; correct them, or go on without them with --allow-skips" in done.output
    allowed = command(file, "--check", "--allow-skips")
    assert allowed.exit_code == 0 and "agent" in allowed.output
    file.write_text("input,target\n,c\n")
    assert isinstance(command(file, "--check", "--allow-skips").exception, ContractError)


def test_every_file_of_a_pattern_is_read_or_skipped(folders, tmp_path):
    for name, content in (("a", b"q,__expected\none,1\n"), ("b", b"q\n\xff\n"), ("c", b"q,__expected\nthree,3\n")):
        (tmp_path / f"{name}.csv").write_bytes(content)
    file = tmp_path / "suite.yaml"
    file.write_text("tests: file://*.csv\n")
    done = command(file, "--check", "--allow-skips")
    assert done.exit_code == 0
    assert "read 3, imported 2, skipped 1\nskipped line 1: " in done.output
    assert "b.csv: byte 2 (0xff) is not UTF-8" in done.output
    assert command(file, "--check").exit_code == 1


@pytest.mark.parametrize("cell", ["us_insurance/", "../instruments/us_insurance", "./us_insurance", "", "us_insuranc"])
def test_a_cell_that_is_none_of_the_known_is_refused(folders, cell):
    done = runner.invoke(app, ["evaluate", str(EXAMPLE), "--cell", cell, "--name", "mine", "--check"])
    assert isinstance(done.exception, ContractError)
    assert f"{cell!r}: no such cell, expected one of us_fintech, " in str(done.exception)


def test_over_the_network_unreadable_verdicts_are_bounds_and_exit_1(folders, monkeypatch, tmp_path):
    with Server() as server:
        text = paths.PARAMS.read_text(encoding="utf-8").replace("http://127.0.0.1:8080/v1", f"{server.url}/v1")
        monkeypatch.setattr(paths, "PARAMS", tmp_path / "params.yaml")
        paths.PARAMS.write_text(text, encoding="utf-8")
        done = command(EXAMPLE, "--study", "smoke")
    assert done.exit_code == 1, done.output
    assert "requested local, served" in done.output
    assert ["rc", "–", "0.000", "1.000", "0", "of", "25"] in [line.split()[:7] for line in done.output.splitlines()]
    assert pd.isna(SCORE_TABLE.read(folders / "data/scores/mine.csv").iloc[0]["rc"])


def test_wrong_input_is_one_line_and_exit_2(folders, monkeypatch, capsys):
    (folders / "q.csv").write_text("question,answer\na,b\n")
    for file, options, shown in (
        (EXAMPLE, ["--name", "demo"], "(--name)"),
        (EXAMPLE, ["--name", "mine", "--study", "x"], "(--study)"),
        (Path("none.csv"), ["--name", "mine"], "expected a file"),
        (folders / "q.csv", ["--name", "mine"], "(--format, --map)"),
        (EXAMPLE, ["--name", "mine", "--map", "input"], "(--map)"),
        (EXAMPLE, ["--name", "mine", "--map", "expected=x"], "(--map)"),
        (EXAMPLE, ["--name", "mine", "--format", "x"], "(--format)"),
        (EXAMPLE, ["--name", "mine", "--replay"], "(draw 1)"),
    ):
        monkeypatch.setattr("sys.argv", ["regatta", "evaluate", str(file), "--cell", CELL, *options])
        with pytest.raises(SystemExit) as caught:
            main()
        assert caught.value.code == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1 and error.startswith("regatta: ")
        assert error.endswith(f"{shown}\n")
    assert [path.name for path in folders.iterdir()] == ["q.csv"]
