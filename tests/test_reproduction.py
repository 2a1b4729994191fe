import subprocess

import pytest

from regatta.pipeline import reproduction
from regatta_lib.base import ContractError, RegattaError, paths
from regatta_lib.reproduce import stages


def test_outputs_are_those_of_the_pipeline():
    names = stages.pipeline_outputs(paths.ROOT)
    assert names == sorted(names)
    assert {"dvc.lock", "data/tables/table3.csv", "figures/figure2.png", "data/verification/metrics.json"} <= set(names)


@pytest.fixture
def small(tmp_path):
    (tmp_path / "notebooks/executed").mkdir(parents=True)
    (tmp_path / "dvc.yaml").write_text("stages:\n  a:\n    cmd: x\n    outs:\n      - out.csv:\n          cache: false\n")
    for name in ("out.csv", "dvc.lock", "notebooks/a.ipynb", "notebooks/executed/a.ipynb"):
        (tmp_path / name).write_text("same")
    return tmp_path


def committed(root):
    return reproduction.committed_digests(root, reproduction.committed_files(root))


def test_no_difference_is_an_empty_list(small):
    assert reproduction.committed_files(small) == ["dvc.lock", "notebooks/a.ipynb", "out.csv"]
    assert reproduction.differences(small, committed(small)) == []


def test_a_changed_a_vanished_and_an_absent_output_are_named(small):
    state = committed(small)
    (small / "out.csv").write_text("other")
    (line,) = reproduction.differences(small, state)
    assert line.startswith("out.csv: SHA-256 was ")
    (small / "out.csv").unlink()
    (line,) = reproduction.differences(small, state)
    assert line.endswith("is now missing")
    (line,) = reproduction.differences(small, committed(small))
    assert line.startswith("out.csv: SHA-256 was missing")


def test_a_notebook_that_differs_from_its_run_or_was_not_run_is_named(small):
    state = committed(small)
    (small / "notebooks/executed/a.ipynb").write_text("other")
    assert reproduction.differences(small, state)[0].startswith("notebooks/a.ipynb: SHA-256 was ")
    (small / "notebooks/executed/a.ipynb").unlink()
    assert reproduction.differences(small, state)[0].endswith("is now missing")


def test_files_are_compared_with_the_commit_not_with_what_lies_there(small):
    """A first run that changed a file must not make the second one pass."""
    for command in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", *command], cwd=small, check=True)
    assert reproduction.differences(small, committed(small)) == []
    (small / "out.csv").write_text("changed by a run")
    (line,) = reproduction.differences(small, committed(small))
    assert line.startswith("out.csv: ")


def pipeline(root, **stages):
    """A DVC repository without git whose stages write to a log; {name: (deps, outs, command)}."""
    (root / ".dvc").mkdir()
    (root / ".dvc/config").write_text("[core]\n    analytics = false\n")
    text = "stages:\n"
    for name, (deps, outs, command) in stages.items():
        text += f"  {name}:\n    cmd: {command}\n"
        text += "".join(f"    {kind}: [{', '.join(files)}]\n" for kind, files in (("deps", deps), ("outs", outs)) if files)
    (root / "dvc.yaml").write_text(text)


def test_stages_wait_for_what_they_need_and_dvc_records_them(tmp_path):
    pipeline(
        tmp_path,
        last=(["b", "d"], ["c"], "cat b d/a > c"),
        middle=(["d/a"], ["b"], "cp d/a b"),
        first=([], ["d/a"], "mkdir -p d && echo 1 > d/a"),
    )
    assert reproduction.stage_graph(tmp_path) == {"last": {"middle", "first"}, "middle": {"first"}, "first": set()}
    reproduction.run_pipeline(tmp_path)
    assert (tmp_path / "c").read_text() == "1\n1\n"
    reproduction.record(tmp_path)
    lock = (tmp_path / "dvc.lock").read_text()
    assert all(f"  {name}:" in lock for name in ("first", "middle", "last"))
    assert "no_scm = true" in (tmp_path / ".dvc/config.local").read_text()


def test_the_longest_chain_goes_first():
    graph = {"a": set(), "b": {"a"}, "c": {"b"}, "d": set(), "e": {"d", "c"}}
    assert reproduction.chain_lengths(graph) == {"a": 4, "b": 3, "c": 2, "d": 2, "e": 1}


def test_the_graph_of_this_repository_is_the_documented_chain():
    graph = reproduction.stage_graph(paths.ROOT)
    assert "verdicts" in graph["scores"] and "scores" in graph["tables"] and "tables" in graph["verification"]
    assert {"suites", "episodes"} <= graph["judges"]
    assert graph["verdicts"] == set()


def test_a_failing_stage_is_named_and_nothing_that_waits_for_it_runs(tmp_path):
    pipeline(tmp_path, first=([], ["a"], "exit 3"), second=(["a"], ["b"], "touch b"))
    with pytest.raises(ContractError, match=r"dvc\.yaml: stage first failed \(exit code 3\)"):
        reproduction.run_pipeline(tmp_path)
    assert not (tmp_path / "b").exists()
    assert not (tmp_path / "dvc.lock").exists()


def test_a_stage_that_writes_nothing_does_not_pass_with_an_old_file(tmp_path):
    pipeline(tmp_path, first=([], ["out.csv"], "'true'"))
    (tmp_path / "out.csv").write_text("from an earlier run")
    with pytest.raises(ContractError, match=r"out\.csv: its stage ran but did not write it"):
        reproduction.run_pipeline(tmp_path)


def test_what_was_there_is_put_back_when_a_stage_fails(tmp_path):
    pipeline(tmp_path, first=([], ["a"], "exit 3"), second=(["a"], ["b"], "touch b"))
    (tmp_path / "b").write_text("from an earlier run")
    with pytest.raises(ContractError):
        reproduction.run_pipeline(tmp_path)
    assert (tmp_path / "b").read_text() == "from an earlier run"
    assert not list(tmp_path.glob(".aside-*"))


def test_a_stage_of_this_repository_runs_in_the_worker_and_its_failure_is_one_line(monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(reproduction, "run_stage", asked.append)
    assert reproduction.run_command("python -m regatta_lib stage tables", paths.ROOT) == 0
    assert asked == ["tables"] and capsys.readouterr().out == "stage tables\n"

    def dies(name):
        raise stages.StageError("Kernel died")

    monkeypatch.setattr(reproduction, "run_stage", dies)
    assert reproduction.run_command("python -m regatta_lib stage tables", paths.ROOT) == 2
    assert capsys.readouterr().err == "regatta: Kernel died\n"


def test_every_stage_of_this_repository_is_run_in_a_worker():
    commands = {name: stage["cmd"] for name, stage in stages.stages_in(paths.ROOT).items()}
    assert commands == {name: f"{reproduction.OWN}{name}" for name in commands}


def test_a_refusal_of_dvc_to_record_is_one_line(tmp_path):
    (tmp_path / "dvc.yaml").write_text("stages: 3\n")
    with pytest.raises(RegattaError, match=r"dvc commit failed: .* expected a dictionary, in stages$"):
        reproduction.record(tmp_path)


def test_a_worker_that_dies_is_named(tmp_path, monkeypatch):
    pipeline(tmp_path, first=([], ["a"], "kill -9 $PPID"))
    with pytest.raises(ContractError, match=r"dvc\.yaml: stage first: BrokenProcessPool: "):
        reproduction.run_pipeline(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "foo: 1", "stages:", "stages: {a: 1}"])
def test_a_pipeline_without_stages_is_one_line(tmp_path, text):
    (tmp_path / "dvc.yaml").write_text(text + "\n")
    with pytest.raises(ContractError, match=r"dvc\.yaml: no stages"):
        stages.stages_in(tmp_path)
