import subprocess
import sys

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpecManager

from regatta_lib.base import ContractError, paths, read_params
from regatta_lib.reproduce import stages


@pytest.fixture
def sandbox(tmp_path, monkeypatch):
    """A notebooks folder of its own, so that a test stage touches nothing else."""
    monkeypatch.setattr(paths, "NOTEBOOKS", tmp_path)
    monkeypatch.setattr(paths, "EXECUTED", tmp_path / "executed")
    return tmp_path


def write(folder, *sources, name="figures"):
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    cells[0].metadata["tags"] = ["parameters"]
    metadata = {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), folder / f"{name}.ipynb")


PARAMETERS = "width: float = 1.0\ndpi: int = 1\nseed: int = 0"


def test_a_stage_runs_with_the_parameters_of_its_section(sandbox):
    write(sandbox, PARAMETERS, "print(width, dpi, seed)")
    notebook = nbformat.read(stages.run_stage("figures"), as_version=4)
    assert notebook.cells[-1].outputs[0].text == "3.5 300 20261030\n"


def test_the_executed_notebook_is_the_same_on_every_run_and_has_no_trace_of_time(sandbox):
    write(sandbox, PARAMETERS, "1 + 1")
    first = stages.run_stage("figures").read_text()
    assert stages.run_stage("figures").read_text() == first
    assert "injected-parameters" not in first
    assert "papermill" not in first
    assert "date" not in first


def test_canonical_is_a_fixed_point(sandbox):
    write(sandbox, PARAMETERS, "1 + 1")
    text = stages.run_stage("figures").read_text()
    assert stages.canonical(nbformat.reads(text, as_version=4)) == text


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            "width: float = 1.0\ndpi: int = 1\nhieght: float = 2.0",
            "parameter 'hieght' is in the notebook but not in params.yaml",
        ),
        ("width: float = 1.0", "parameter 'dpi' is in params.yaml but not in the notebook"),
    ],
)
def test_a_parameter_on_one_side_only_is_an_error(sandbox, parameters, message):
    write(sandbox, parameters)
    with pytest.raises(ContractError, match=message):
        stages.run_stage("figures")


def test_an_unknown_stage_names_the_known_ones(sandbox):
    write(sandbox, "seed: int = 0", name="scores")
    with pytest.raises(ContractError, match="no such stage, expected one of scores"):
        stages.run_stage("scors")


def test_a_notebook_without_a_parameters_cell_is_an_error(sandbox):
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")]), sandbox / "figures.ipynb")
    with pytest.raises(ContractError, match="0 cells tagged 'parameters', expected 1"):
        stages.run_stage("figures")


def test_a_failing_cell_is_one_line_and_leaves_no_executed_notebook(sandbox):
    write(sandbox, PARAMETERS, "raise ValueError('n is 3, expected 4')")
    with pytest.raises(stages.StageError, match=r"figures.ipynb: cell \d: ValueError: n is 3, expected 4"):
        stages.run_stage("figures")
    assert list((sandbox / "executed").iterdir()) == []


def test_a_kernel_that_dies_is_one_line(sandbox):
    write(sandbox, PARAMETERS, "import os; os._exit(1)")
    with pytest.raises(stages.StageError, match=r"figures.ipynb: Kernel died"):
        stages.run_stage("figures")


def test_a_missing_kernel_is_named(sandbox, monkeypatch):
    monkeypatch.setattr(stages, "KERNEL", "julia-1.6")
    with pytest.raises(stages.StageError, match=r"no Jupyter kernel named julia-1\.6; 'make setup' installs it"):
        stages.check_kernel()


def test_the_kernel_of_another_python_is_refused(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/elsewhere/python")
    spec = KernelSpecManager().get_kernel_spec("python3")
    if not spec.argv[0].startswith("/"):
        spec.argv[0] = "/usr/bin/python"
        monkeypatch.setattr(KernelSpecManager, "get_kernel_spec", lambda self, name: spec)
    with pytest.raises(stages.StageError, match="expected /elsewhere/python"):
        stages.check_kernel()


def test_the_command_reports_bad_input_in_one_line_and_exits_2():
    command = [sys.executable, "-m", "regatta_lib", "stage", "nonsense"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=paths.ROOT)
    assert done.returncode == 2
    assert done.stderr.startswith("regatta: ")
    assert done.stderr.count("\n") == 1


def test_declared_parameters_reads_names_only():
    notebook = nbformat.read(paths.NOTEBOOKS / "tables.ipynb", as_version=4)
    assert stages.declared_parameters(notebook, paths.NOTEBOOKS) == {"study", "seed", "resamples", "level"}
    assert read_params(paths.PARAMS).of("tables") == {}


def parameters_cells(*sources):
    cells = [nbformat.v4.new_code_cell(source, metadata={"tags": ["parameters"]}) for source in sources]
    return nbformat.v4.new_notebook(cells=cells)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("seed: int = 0\nlevel = 0.95", {"seed", "level"}),
        ('family: dict = {\n    "fault": 25,\n    "cell": 5,\n}\nseed: int = 0', {"family", "seed"}),
        ("family = dict(\n    fault=25,\n)", {"family"}),
        ("# level = 0.9 was too low\nseed: int = 0  # seed = 1 is for tests", {"seed"}),
        ('formula: str = "a=b"', {"formula"}),
        ("most: int | None = None", {"most"}),
        ("    # nothing = 0", set()),
    ],
)
def test_a_parameter_is_what_python_assigns(source, names):
    assert stages.declared_parameters(parameters_cells(source), paths.NOTEBOOKS / "x.ipynb") == names


@pytest.mark.parametrize(
    ("sources", "problem"),
    [
        ([], "0 cells tagged 'parameters', expected 1"),
        (["a = 1", "b = 2"], "2 cells tagged 'parameters', expected 1"),
        (["a = 1\nb = ["], "the cell tagged 'parameters', line 2: '[' was never closed, expected assignments in Python"),
    ],
)
def test_a_parameters_cell_that_says_nothing_clear_is_one_line(sources, problem):
    with pytest.raises(ContractError) as caught:
        stages.declared_parameters(parameters_cells(*sources), paths.NOTEBOOKS / "x.ipynb")
    assert str(caught.value) == f"{paths.NOTEBOOKS / 'x.ipynb'}: {problem}"


def test_a_path_is_no_stage(sandbox, tmp_path):
    write(tmp_path, PARAMETERS, "1", name="other")
    with pytest.raises(ContractError, match="no such stage"):
        stages.run_stage(str(tmp_path / "other"))
