"""The commands of the live harness, as a user types them."""

import ast
import errno
import json
import os
import re
from contextlib import closing
from importlib import metadata
from typing import Annotated

import pytest
import typer
from scripted_study import reply, scenario_item
from typer.testing import CliRunner

from regatta.archive import citation
from regatta.commands import app, main, study
from regatta.commands.terminal import Command
from regatta.own_suite.cases import Skipped
from regatta_lib import __main__ as library
from regatta_lib.base import ContractError, ParameterError, RegattaError, paths
from regatta_lib.models import MissingTranscript, Pending, Replay, Request, Transcripts, transcripts
from regatta_lib.models.preflight import PreflightError
from regatta_lib.reproduce.stages import StageError
from regatta_lib.studies import StillWaiting, store

ROOT = paths.ROOT
runner = CliRunner()


@pytest.fixture
def folders(tmp_path, monkeypatch):
    for name in ("EXCHANGE", "TRANSCRIPTS", "SUITES", "EPISODES", "VERDICTS", "SCORES"):
        monkeypatch.setattr(paths, name, tmp_path / name.lower())
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    return tmp_path


def test_cost_prints_the_forecast_and_sends_nothing(folders):
    done = runner.invoke(app, ["cost", "demo"])
    assert done.exit_code == 0
    assert "2,375–2,991" in done.output and "no price known" in done.output
    assert not any(folders.iterdir())


def test_an_expensive_run_is_not_started_without_consent(folders):
    done = runner.invoke(app, ["run", "retest"], input="n\n")
    assert done.exit_code == 1
    assert "This may cost an unknown sum. Start?" in done.output
    assert not any(folders.iterdir())


@pytest.mark.parametrize("price", [None, 10.01, float("nan")])
def test_a_run_is_asked_about_unless_it_costs_at_most_the_cap(monkeypatch, price):
    monkeypatch.setattr("regatta_lib.studies.most_dollars", lambda shares: price)
    monkeypatch.setattr("typer.confirm", lambda text, abort: asked.append(text))
    design, asked = store.definition("retest"), []
    study.agree(design, [], 10.0)
    assert len(asked) == 1
    monkeypatch.setattr("regatta_lib.studies.most_dollars", lambda shares: 10.0)
    study.agree(design, [], 10.0)
    assert len(asked) == 1


@pytest.mark.parametrize("option", ["--cap", "--unresolved"])
@pytest.mark.parametrize("words", [["run", "retest"], ["evaluate", "x.csv", "--cell", "us_insurance", "--name", "x"]])
def test_a_limit_that_is_no_number_is_refused(folders, option, words):
    done = runner.invoke(app, [*words, option, "nan"])
    assert isinstance(done.exception, ContractError)
    assert str(done.exception) == f"{option}: found nan, expected a number"
    assert not any(folders.iterdir())


def test_batches_are_dealt_once_and_collected(folders):
    first = runner.invoke(app, ["exchange", "batches", "demo"])
    assert "suite demo-model: 8 requests in batches 001 to 008" in first.output
    files = sorted(path.name for path in (folders / "exchange/demo").glob("batch-*.jsonl"))
    assert files == [f"batch-{n:03d}.jsonl" for n in range(1, 9)]
    again = runner.invoke(app, ["exchange", "batches", "demo"])
    assert "nothing new to deal; 8 requests wait in batches without answers" in again.output
    answer = {"scenarios": [scenario_item(n) for n in range(1, 7)]}
    (folders / "exchange/demo/replies-003.jsonl").write_text(json.dumps({"line": 1, "answer": answer}) + "\n")
    collected = runner.invoke(app, ["exchange", "collect", "demo", "--served", "some-model"])
    assert "replies-003.jsonl: 1 replies, 0 missing, 0 unreadable\n1 answer files written" in collected.output
    assert "1 answered, 7 pending" in runner.invoke(app, ["exchange", "batches", "demo"]).output


def test_a_run_that_waits_for_answers_says_what_to_do(folders):
    done = runner.invoke(app, ["run", "demo"])
    said = "data/exchange/demo: answers are still to come; see regatta exchange batches demo\n"
    assert done.exit_code == 3 and done.stderr.endswith(said.removeprefix("data/"))


def test_an_unknown_study_is_one_line(folders, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["regatta", "exchange", "batches", "demoo"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "missing"),
    [(["pack", "demoo"], "transcripts/demoo"), (["exchange", "collect", "demoo", "--served", "m"], "exchange/demoo")],
)
def test_a_folder_that_is_missing_is_named(folders, words, missing):
    done = runner.invoke(app, words)
    assert isinstance(done.exception, ContractError)
    assert str(done.exception).startswith(f"{folders / missing}: missing, expected ")
    assert not any(folders.iterdir())


def test_a_batch_of_no_requests_is_refused(folders):
    done = runner.invoke(app, ["exchange", "batches", "demo", "--size", "0"])
    assert done.exit_code == 2 and "--size" in done.output
    assert not any(folders.iterdir())


def test_the_transcripts_of_a_running_study_are_not_packed(folders):
    folder = folders / "transcripts/demo"
    with closing(Transcripts(folder)) as running:
        with running.ledger("coverage/own.S1.us_insurance.r1/IN-01/s03") as ledger:
            running.sent(ledger, "k", Request("coverage/own.S1.us_insurance.r1/IN-01/s03", {}), {}, "")
        before = ledger.path.read_bytes()
        refused = runner.invoke(app, ["pack", "demo"])
        assert str(refused.exception) == f"{folder}: another run is writing here; wait for it or stop it"
        assert [path.name for path in folder.glob("*.jsonl*")] == [ledger.path.name]
        assert ledger.path.read_bytes() == before
    assert "own.S1.us_insurance.r1.jsonl.xz: " in runner.invoke(app, ["pack", "demo"]).output


def test_no_run_starts_while_transcripts_are_packed(folders, monkeypatch):
    folder = folders / "transcripts/demo"
    folder.mkdir(parents=True)
    (folder / "own.S1.us_insurance.r1.jsonl").write_text('{"event":"sent","key":"k"}\n')

    original = transcripts.pack_file

    def pack(path):
        with pytest.raises(ContractError, match="another run is writing here"):
            Transcripts(folder)
        return original(path)

    monkeypatch.setattr("regatta_lib.models.pack_file", pack)
    packed = runner.invoke(app, ["pack", "demo"])
    assert packed.exit_code == 0 and packed.output.count(".jsonl.xz: ") == 1
    Transcripts(folder).close()


def test_packed_transcripts_replay(folders):
    design = store.definition("demo")
    runner.invoke(app, ["exchange", "batches", "demo"])
    waiting, _ = store.waiting("demo", store.whole(design))
    placements = store.read_placements(folders / "exchange/demo")
    for place in placements:
        text = reply(waiting[place.custom_id])
        path = folders / f"exchange/demo/replies-{place.batch:03d}.jsonl"
        path.write_text(json.dumps({"line": 1, "answer": text}) + "\n")
    runner.invoke(app, ["exchange", "collect", "demo", "--served", "m"])
    store.waiting("demo", store.whole(design))
    packed = runner.invoke(app, ["pack", "demo"])
    assert packed.output.count(".jsonl.xz: ") == 9, "eight suites and the canaries"
    assert not [*(folders / "transcripts/demo").glob("*.jsonl")]
    import asyncio

    request = waiting[placements[0].custom_id]
    assert asyncio.run(Replay(folders / "transcripts/demo").complete(request)).text == reply(request)
    with pytest.raises(Exception, match="unpack it"), Transcripts(folders / "transcripts/demo").ledger(request.call):
        pass


def test_no_batch_is_dealt_over_another(folders):
    runner.invoke(app, ["exchange", "batches", "demo"])
    batch = folders / "exchange/demo/batch-001.jsonl"
    asked = batch.read_text()
    (folders / "exchange/demo/batches.csv").unlink()
    again = runner.invoke(app, ["exchange", "batches", "demo"])
    assert "batch-001.jsonl: found, expected no batch that batches.csv does not list" in str(again.exception)
    assert batch.read_text() == asked


def test_half_a_character_pair_is_refused_before_anything_is_written(folders):
    runner.invoke(app, ["exchange", "batches", "demo"])
    folder = folders / "exchange/demo"
    (folder / "replies-001.jsonl").write_text(json.dumps({"line": 1, "answer": "fine"}) + "\n")
    (folder / "replies-002.jsonl").write_text('{"line": 1, "answer": "\\ud800"}\n')
    refused = runner.invoke(app, ["exchange", "collect", "demo", "--served", "m"])
    assert "replies-002.jsonl: row 1" in str(refused.exception)
    assert not [*folder.glob("answers-*.jsonl")]


def test_a_live_study_is_not_dealt_in_batches(folders):
    refused = runner.invoke(app, ["exchange", "batches", "replication"])
    assert "studies.replication.provider: found 'live', expected 'exchange'" in str(refused.exception)
    assert not any(folders.iterdir())


def test_packing_replaces_no_packed_file(folders):
    folder = folders / "transcripts/p"
    folder.mkdir(parents=True)
    (folder / "a.jsonl").write_text('{"event":"sent","key":"new"}\n')
    (folder / "a.jsonl.xz").write_bytes(b"old")
    refused = runner.invoke(app, ["pack", "p"])
    assert "a.jsonl.xz: found beside its plain form" in str(refused.exception)
    assert (folder / "a.jsonl.xz").read_bytes() == b"old" and (folder / "a.jsonl").is_file()


@pytest.mark.parametrize("name", ["/etc", "../suites", ""])
def test_only_a_plain_name_is_a_study(folders, name):
    refused = runner.invoke(app, ["pack", name])
    assert "expected the transcripts of a study" in str(refused.exception)


def test_an_error_of_the_system_is_one_line(folders, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["regatta", "site", str(folders / "file")])
    (folders / "file").write_text("")
    monkeypatch.setattr("regatta.site.build", lambda root: {"a/index.html": b""})
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and str(folders / "file") in error


OWN_ERRORS = (
    RegattaError,
    ContractError,
    ParameterError,
    StageError,
    PreflightError,
    MissingTranscript,
    StillWaiting,
    Skipped,
)


def as_program(monkeypatch, capsys, raised):
    """Exit code and standard error of ``regatta site`` where building the site raises an error."""

    def build(root):
        raise raised

    monkeypatch.setattr("sys.argv", ["regatta", "site"])
    monkeypatch.setattr("regatta.site.build", build)
    with pytest.raises(SystemExit) as caught:
        main()
    return caught.value.code, capsys.readouterr().err


@pytest.mark.parametrize("kind", OWN_ERRORS, ids=lambda kind: kind.__name__)
def test_an_own_error_is_one_line(folders, monkeypatch, capsys, kind):
    code, error = as_program(monkeypatch, capsys, kind("x.csv: row 3: found a\nb, expected c"))
    assert (code, error) == (2, "regatta: x.csv: row 3: found a b, expected c\n")


@pytest.mark.parametrize(
    ("number", "file", "shown"),
    [(errno.EACCES, "a.csv", "a.csv: Permission denied"), (errno.ENOSPC, None, "system: No space left on device")],
)
def test_what_the_system_says_of_a_file_is_one_line(folders, monkeypatch, capsys, number, file, shown):
    assert as_program(monkeypatch, capsys, OSError(number, os.strerror(number), file)) == (2, f"regatta: {shown}\n")


def test_a_program_that_is_stopped_shows_no_traceback(folders, monkeypatch, capsys):
    assert as_program(monkeypatch, capsys, KeyboardInterrupt()) == (130, "")


def test_a_bug_of_what_is_not_installed_is_still_shown(folders, monkeypatch, capsys):
    def version(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", version)
    code, error = as_program(monkeypatch, capsys, ValueError("n is 3"))
    assert code == 70 and "ValueError: n is 3\nthis is a bug in regatta that is not installed; please" in error


def test_the_library_speaks_of_parameters_never_of_options():
    """Whoever calls it from a notebook has no options; the command adds them."""
    rooms = [path for name in ("regatta", "regatta_lib") for path in (ROOT / name).rglob("*.py")]
    for path in (path for path in rooms if path.parent.name != "commands" and path.name != "__main__.py"):
        raised = [ast.unparse(node) for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Raise)]
        assert not [line for line in raised if re.search(r"(^|[^<\w-])--[a-z]", line)], path


def test_a_command_adds_its_options_to_an_error_about_parameters():
    def command(mapping: Annotated[str, typer.Option("--map")] = "", max_size: int = 3, study: str = typer.Argument("")):
        raise ParameterError(f"mapping: found {mapping!r}", *mapping.split())

    one = typer.Typer()
    one.command(cls=Command)(command)
    for parameters, shown in (
        ("mapping", " (--map)"),
        ("max_size mapping", " (--max-size, --map)"),
        ("study", ""),
        ("elsewhere", ""),
    ):
        error = runner.invoke(one, ["--map", parameters]).exception
        assert isinstance(error, ParameterError)
        assert str(error) == f"mapping: found {parameters!r}{shown}" and error.parameters == (*parameters.split(),)


def test_every_own_error_is_known_as_one():
    """All exceptions the packages define; ``Pending`` is control flow, and a bug where nobody catches it."""
    code = "".join(path.read_text("utf-8") for name in ("regatta", "regatta_lib") for path in (ROOT / name).rglob("*.py"))
    defined = set(re.findall(r"^class (\w+)\(.*(?:Error|Exception)\b.*\):", code, re.M))
    assert defined - {"Pending"} == {kind.__name__ for kind in OWN_ERRORS}


@pytest.mark.parametrize("bug", [ValueError("n is 3"), RuntimeError("loop"), KeyError("k"), Pending("agent/x")], ids=repr)
def test_a_bug_shows_its_traceback_and_where_to_report_it(folders, monkeypatch, capsys, bug):
    code, error = as_program(monkeypatch, capsys, bug)
    *lines, last = error.splitlines()
    assert code == 70
    assert lines[0] == "Traceback (most recent call last):" and "    raise raised" in lines
    assert type(bug).__name__ in lines[-1]
    version = citation(ROOT)["version"]
    address = "to the authors named in CITATION.cff"
    assert last == f"this is a bug in regatta {version}; please report it with the lines above: {address}"


@pytest.mark.parametrize("program", ["regatta", "regatta_lib"])
def test_the_help_lists_the_exit_codes(program):
    said = runner.invoke({"regatta": app, "regatta_lib": library.app}[program], ["--help"], env={"COLUMNS": "200"}).output
    for line in library.EXIT_CODES.splitlines():
        assert line in said


def test_the_documents_list_the_exit_codes_of_the_help():
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", (ROOT / "docs/run-a-study.md").read_text("utf-8"), re.M)
    assert [code for code, _ in rows] == re.findall(r"^\d+", library.EXIT_CODES, re.M)
