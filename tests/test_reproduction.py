import pytest

from regatta_lib import paths, reproduction
from regatta_lib.contracts import ContractError


def test_outputs_are_those_of_the_pipeline():
    names = reproduction.pipeline_outputs(paths.ROOT)
    assert names == sorted(names)
    assert {"dvc.lock", "data/tables/table3.csv", "figures/figure2.png", "data/verification/metrics.json"} <= set(names)


@pytest.fixture
def small(tmp_path):
    (tmp_path / "notebooks/executed").mkdir(parents=True)
    (tmp_path / "dvc.yaml").write_text("stages:\n  a:\n    cmd: x\n    outs:\n      - out.csv:\n          cache: false\n")
    for name in ("out.csv", "dvc.lock", "notebooks/a.ipynb", "notebooks/executed/a.ipynb"):
        (tmp_path / name).write_text("same")
    return tmp_path


def before(root):
    return reproduction.digests(root, reproduction.pipeline_outputs(root))


def test_no_difference_is_an_empty_list(small):
    assert reproduction.differences(small, before(small)) == []


def test_a_changed_a_vanished_and_an_absent_output_are_named(small):
    state = before(small)
    (small / "out.csv").write_text("other")
    (line,) = reproduction.differences(small, state)
    assert line.startswith("out.csv: SHA-256 was ")
    (small / "out.csv").unlink()
    (line,) = reproduction.differences(small, state)
    assert line.endswith("is now missing")
    (line,) = reproduction.differences(small, before(small))
    assert line.startswith("out.csv: SHA-256 was missing")


def test_a_notebook_that_differs_from_its_run_or_was_not_run_is_named(small):
    state = before(small)
    (small / "notebooks/executed/a.ipynb").write_text("other")
    assert reproduction.differences(small, state)[0].startswith("notebooks/a.ipynb: its outputs are not those")
    (small / "notebooks/executed/a.ipynb").unlink()
    assert reproduction.differences(small, state)[0].startswith("notebooks/a.ipynb: its outputs are not those")


def test_a_failing_stage_stops_with_one_line(tmp_path):
    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvc/config").write_text("[core]\n    analytics = false\n")
    (tmp_path / "dvc.yaml").write_text("stages:\n  a:\n    cmd: exit 3\n")
    with pytest.raises(ContractError, match="a stage failed"):
        reproduction.run_pipeline(tmp_path)
    assert "no_scm = true" in (tmp_path / ".dvc/config.local").read_text()
