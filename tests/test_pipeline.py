"""dvc.yaml, params.yaml and the notebooks name the same things, and the notebooks are readable."""

import json
import re

import nbformat
import pytest
from rooms import PACKAGES, code_of, reached
from ruamel.yaml import YAML

from regatta_lib.base import paths, read_params
from regatta_lib.reproduce import reproduction, stages

PIPELINE = YAML(typ="safe").load((paths.ROOT / "dvc.yaml").read_text(encoding="utf-8"))
STAGES = PIPELINE["stages"]
NOTEBOOKS = sorted(paths.NOTEBOOKS.glob("*.ipynb"))
LINE_LENGTH = 110
IMPORT_LINES = 5


def outs(stage):
    entries = [*stage.get("outs", []), *stage.get("metrics", [])]
    return [entry if isinstance(entry, str) else next(iter(entry)) for entry in entries]


def test_every_stage_has_a_notebook_and_every_notebook_a_stage():
    assert set(STAGES) == {path.stem for path in NOTEBOOKS}


@pytest.mark.parametrize("name", STAGES)
def test_stage_declares_what_it_does_and_needs(name):
    stage = STAGES[name]
    assert stage["desc"]
    assert stage["cmd"] == f"python -m regatta_lib stage {name}"
    assert {f"notebooks/{name}.ipynb", "requirements.lock"} <= set(stage["deps"])
    assert stage["deps"] == sorted(stage["deps"])
    assert outs(stage) == sorted(outs(stage)) or "metrics" in stage
    for kind in ("outs", "metrics"):
        assert all(next(iter(entry.values())) == {"cache": False} for entry in stage.get(kind, []))


@pytest.mark.parametrize("name", STAGES)
def test_stage_depends_on_the_rooms_its_notebook_reaches(name):
    """No more, or an edit of the site makes every table stale; no less, or an edit of a measure makes none."""
    rooms = {room.replace(".", "/") for room in reached(code_of(paths.NOTEBOOKS / f"{name}.ipynb"))}
    assert {dep for dep in STAGES[name]["deps"] if dep.startswith(PACKAGES)} == rooms


def stale_after_an_edit_of(folder):
    return {name for name, stage in STAGES.items() if folder in stage["deps"]}


def test_an_edit_makes_stale_only_what_it_can_change():
    assert stale_after_an_edit_of("regatta_lib/present") == {"cost", "figures", "instruments", "paper", "validity"}
    assert stale_after_an_edit_of("regatta_lib/studies") == {"episodes", "judges", "live", "pilot", "suites"}
    assert stale_after_an_edit_of("regatta_lib/base") == set(STAGES)
    assert not any(dep.startswith("regatta/") or dep in PACKAGES for stage in STAGES.values() for dep in stage["deps"])


@pytest.mark.parametrize("name", STAGES)
def test_stage_lists_every_parameter_of_its_notebook(name):
    path = paths.NOTEBOOKS / f"{name}.ipynb"
    params = read_params(paths.PARAMS)
    declared = stages.declared_parameters(nbformat.read(path, as_version=4), path)
    values = stages.parameters_for(name, params, declared, path)
    listed = set(STAGES[name].get("params", []))
    for parameter in values:
        section = "base" if parameter in params.base.model_dump() else name
        assert listed & {section, f"{section}.{parameter}"}, parameter


@pytest.mark.parametrize("name", STAGES)
def test_the_defaults_in_the_notebook_are_those_of_params(name):
    """A notebook opened by hand, or run by nbval, does what the pipeline does."""
    path = paths.NOTEBOOKS / f"{name}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    cell = next(cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", []))
    defaults = {}
    exec(cell.source, defaults)
    declared = stages.declared_parameters(notebook, path)
    assert {key: defaults[key] for key in declared} == stages.parameters_for(name, read_params(paths.PARAMS), declared, path)


def test_outputs_exist_and_are_not_empty():
    for name in reproduction.pipeline_outputs(paths.ROOT):
        assert (paths.ROOT / name).stat().st_size > 0, name


def test_the_lock_names_every_stage_with_relative_paths():
    lock = (paths.ROOT / "dvc.lock").read_text(encoding="utf-8")
    assert set(YAML(typ="safe").load(lock)["stages"]) == set(STAGES)
    assert not re.search(r"path: [/~]", lock)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_narrative_with_outputs_and_no_logic(path):
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    text = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
    assert notebook.cells[0].cell_type == "markdown"
    assert notebook.cells[0].source.startswith("# ")
    assert "**Question.**" in notebook.cells[0].source
    assert len(code) <= 12
    assert len(text) >= 2
    assert sum(len(cell.source.splitlines()) for cell in code) <= 60
    assert not re.search(r"^\s*(def|class) ", "\n".join(cell.source for cell in code), re.M)
    assert any(cell.outputs for cell in code)
    assert all(cell.execution_count for cell in code)
    assert not any(
        output.output_type == "error" or output.get("name") == "stderr" for cell in code for output in cell.outputs
    )
    assert path.read_text(encoding="utf-8") == stages.canonical(notebook)


def ragged(notebook):
    """What a reader of the code has to put up with: more import lines than five, or lines of over 110 characters."""
    lines = [line for cell in notebook.cells if cell.cell_type == "code" for line in cell.source.splitlines()]
    imports = [line for line in lines if re.match(r"\s*(import|from)\s", line)]
    return [line for line in lines if len(line) > LINE_LENGTH] + imports[IMPORT_LINES:]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_code_of_a_notebook_fits_a_page_and_imports_little(path):
    assert ragged(nbformat.read(path, as_version=4)) == []


def test_a_long_line_and_a_sixth_import_are_seen():
    long, fitting = f"x = {'1' * 107}", f"y = {'1' * 106}"
    imports = "import a\nimport b\nfrom c import d\nimport e\nimport f"
    code, prose = nbformat.v4.new_code_cell, nbformat.v4.new_markdown_cell
    tidy = [prose("w" * 200), code(imports), code(fitting)]
    assert ragged(nbformat.v4.new_notebook(cells=tidy)) == []
    assert ragged(nbformat.v4.new_notebook(cells=[*tidy, code(long), code("from g import h")])) == [long, "from g import h"]


def test_notebooks_name_no_machine():
    for path in NOTEBOOKS:
        assert str(paths.ROOT) not in path.read_text(encoding="utf-8")
        assert "0x7f" not in path.read_text(encoding="utf-8")


def test_the_conda_environment_resolves_to_the_same_lock():
    environment = YAML(typ="safe").load((paths.ROOT / "environment.yml").read_text(encoding="utf-8"))
    (pip,) = [entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict)]
    assert pip == ["--require-hashes", "--requirement requirements.lock"]
    pinned = [entry for entry in environment["dependencies"] if isinstance(entry, str) and "=" in entry]
    assert pinned == ["python=3.11"]


def test_the_lock_is_hashed_names_no_index_and_satisfies_pyproject():
    import tomllib

    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    lock = (paths.ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert "http" not in re.sub(r"^\S*http\S*==|httpcore|httpx|-http", "", lock, flags=re.M)
    entries = re.split(r"\n(?=\S)", lock.strip())
    assert all("--hash=sha256:" in entry for entry in entries)
    versions = {}
    for entry in entries:
        name, _, version = entry.split()[0].partition("==")
        versions.setdefault(canonicalize_name(name), []).append(version)
    project = tomllib.loads((paths.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for text in [*project["dependencies"], *project["optional-dependencies"]["test"]]:
        requirement = Requirement(text)
        found = versions[canonicalize_name(requirement.name)]
        assert all(requirement.specifier.contains(version) for version in found), text


def test_metrics_are_numbers():
    metrics = json.loads((paths.VERIFICATION / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["reference"] == {"checked": 2_835, "passed": 2_835}
    assert all(isinstance(count, int) and count > 0 for group in metrics.values() for count in group.values())
