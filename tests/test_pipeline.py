"""dvc.yaml, params.yaml and the notebooks name the same things, and the notebooks are readable."""

import json
import re
import tomllib

import nbformat
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from rooms import PACKAGES, code_of, reached
from ruamel.yaml import YAML

from regatta_lib.base import paths, read_params
from regatta_lib.reproduce import stages

PIPELINE = YAML(typ="safe").load((paths.ROOT / "dvc.yaml").read_text(encoding="utf-8"))
STAGES = PIPELINE["stages"]
NOTEBOOKS = sorted(paths.NOTEBOOKS.glob("*.ipynb"))
LOCKS = ["requirements-build.lock", "requirements.lock", "requirements-test.lock"]
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
    assert stale_after_an_edit_of("regatta_lib/present") == {"cost", "figures", "instruments", "validity"}
    assert stale_after_an_edit_of("regatta_lib/report") == {"paper"}
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
    for name in stages.pipeline_outputs(paths.ROOT):
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


def pins(file):
    """The versions of each package in a lock; two where Pythons differ."""
    versions = {}
    for entry in re.split(r"\n(?=\S)", (paths.ROOT / file).read_text(encoding="utf-8").strip()):
        name, _, version = entry.split()[0].partition("==")
        versions.setdefault(canonicalize_name(name), []).append(version)
    return versions


def unmet(requirements, versions):
    """The requirements that a lock does not satisfy."""
    found = [(each, versions.get(canonicalize_name(each.name), [])) for each in map(Requirement, requirements)]
    return [str(each) for each, at in found if not at or not all(each.specifier.contains(version) for version in at)]


def test_the_conda_environment_has_no_packages_beside_the_lock():
    """It brings Python and make; ``make setup`` then installs the same pins as anywhere."""
    text = (paths.ROOT / "environment.yml").read_text(encoding="utf-8")
    assert YAML(typ="safe").load(text)["dependencies"] == ["python=3.11", "pip", "make", "git"]
    assert "make setup" in text


@pytest.mark.parametrize("file", LOCKS)
def test_a_lock_is_hashed_and_names_no_index(file):
    lock = (paths.ROOT / file).read_text(encoding="utf-8")
    assert "://" not in lock
    entries = re.split(r"\n(?=\S)", lock.strip())
    assert all(re.match(r"[a-z0-9.-]+==\S", entry) and "--hash=sha256:" in entry for entry in entries)


def test_the_locks_satisfy_pyproject_and_share_no_package():
    project = tomllib.loads((paths.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    run, test = pins("requirements.lock"), pins("requirements-test.lock")
    for_runs = [text for extra, texts in extras.items() if extra != "test" for text in texts]
    assert unmet([*project["project"]["dependencies"], *for_runs], run) == []
    assert unmet(extras["test"], run | test) == []
    assert run.keys().isdisjoint(test)
    assert {"pytest", "selenium", "hypothesis", "mypy"} <= test.keys()
    build = pins("requirements-build.lock")
    assert unmet(project["build-system"]["requires"], build) == []
    assert build.items() <= run.items()


LINUX = {
    "python_full_version": "3.11.7",
    "sys_platform": "linux",
    "os_name": "posix",
    "implementation_name": "cpython",
    "platform_python_implementation": "CPython",
}


@pytest.mark.parametrize(
    ("file", "said"), [("requirements.lock", "{} packages, 1"), ("requirements-test.lock", "adds {} packages")]
)
def test_the_readme_counts_the_packages_of_the_locks(file, said):
    entries = re.findall(r"^[a-z].*(?= \\$)", (paths.ROOT / file).read_text(encoding="utf-8"), re.M)
    markers = [Requirement(entry).marker for entry in entries]
    number = sum(marker is None or marker.evaluate(LINUX) for marker in markers)
    assert said.format(number) in (paths.ROOT / "README.md").read_text(encoding="utf-8").replace("\n", " ")


def test_the_check_of_the_locks_can_fail():
    versions = {"numpy": ["2.4.6"], "networkx": ["3.6.1", "3.7"]}
    wanted = ["numpy==2.3.*", "networkx>=3.7", "absent", "numpy==2.4.*"]
    assert unmet(wanted, versions) == ["numpy==2.3.*", "networkx>=3.7", "absent"]


def test_nothing_but_what_is_hashed_runs_when_packages_are_installed():
    """Every call of pip refuses to build, but for the two packages without a wheel, and those without an isolated build."""
    makefile = (paths.ROOT / "Makefile").read_text(encoding="utf-8")
    assert len(re.findall(r"pip install", makefile)) == 1
    assert re.search(r"^INSTALL := .*--no-deps --no-build-isolation$", makefile, re.M)
    assert re.search(r"^LOCKED := \$\(INSTALL\) --require-hashes --only-binary=:all:$", makefile, re.M)
    (built,) = re.findall(r"^BUILT := (.+)$", makefile, re.M)
    assert set(built.split(",")) == {"antlr4-python3-runtime", "jsonpath-rw"} & pins("requirements.lock").keys()
    assert all("$(LOCKED)" in line for line in makefile.splitlines() if "--requirement" in line)


def test_metrics_are_numbers():
    metrics = json.loads((paths.VERIFICATION / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["reference"] == {"checked": 2_835, "passed": 2_835}
    assert all(isinstance(count, int) and count > 0 for group in metrics.values() for count in group.values())
