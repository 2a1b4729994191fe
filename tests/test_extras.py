"""A package that is not installed is one line that names its extra; whatever else is missing stays a traceback."""

import subprocess
import sys
import tomllib
from importlib.metadata import metadata
from importlib.util import find_spec

import papermill
import pytest
from packaging.requirements import Requirement

from regatta_lib.base import extras, paths
from regatta_lib.reproduce import stages

PROJECT = tomllib.loads((paths.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = {
    extra: [Requirement(text).name for text in texts]
    for extra, texts in PROJECT["optional-dependencies"].items()
    if extra != "test"
}
COMMANDS = {
    ("stage", "tables"): ("papermill", "pipeline"),
    ("cost", "replication"): ("tqdm", "live"),
    ("adjudicate", "score", "x.xlsx"): ("openpyxl", "live"),
    ("site",): ("mistune", "site"),
    ("archive",): ("mlcroissant", "archive"),
}


def without(module, code):
    """Run code in a Python that has no such module."""
    start = f"import sys; sys.modules[{module!r}] = None; "
    return subprocess.run([sys.executable, "-c", start + code], cwd=paths.ROOT, capture_output=True, text=True, check=False)


def command(words):
    return f"sys.argv[1:] = {list(words)}; from regatta.__main__ import main; main()"


def test_the_installed_metadata_names_the_extras_of_pyproject():
    assert set(metadata("regatta").get_all("Provides-Extra")) == set(PROJECT["optional-dependencies"]), "run 'make setup'"


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_without_its_extra_ends_with_one_line_that_names_it(words):
    module, extra = COMMANDS[words]
    done = without(module, command(words))
    expected = f"{module} is not installed; it comes with the extra '{extra}': pip install 'regatta[{extra}]'"
    assert (done.returncode, done.stderr) == (2, f"regatta: {expected}\n")


def test_every_extra_of_a_command_has_a_case():
    """``report`` is used by a notebook alone: a test below."""
    assert {extra for _, extra in COMMANDS.values()} == set(EXTRAS) - {"report"}


@pytest.mark.parametrize(("extra", "package"), [(extra, name) for extra, names in EXTRAS.items() for name in names])
def test_a_package_of_an_extra_is_found_by_the_name_it_is_imported_by(extra, package):
    module = extras.module_of(package)
    assert find_spec(module)
    assert extra in extras.extras_with(module)
    assert f"pip install 'regatta[{extra}]'" in extras.hint(module)


@pytest.mark.parametrize(
    "words", [("--help",), ("verify",), ("cell", "check", "data/instruments/eu_banking"), ("evaluate", "--help")]
)
def test_what_needs_no_extra_runs_in_a_core_install(words):
    """pygments is there all the same: typer needs it."""
    packages = {extras.module_of(name): None for names in EXTRAS.values() for name in names if name != "pygments"}
    done = without("tests", f"sys.modules.update({packages}); {command(words)}")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_package_of_two_extras_names_both():
    assert extras.hint("jinja2") == (
        "jinja2 is not installed; it comes with the extra 'live' or 'site': "
        "pip install 'regatta[live]' or pip install 'regatta[site]'"
    )


@pytest.mark.parametrize("module", ["rdflib", "numpy", "papermill.exceptions", "nowhere", ""])
def test_a_module_of_no_extra_has_no_hint(module):
    """A part of another package, the core, a submodule of a package that is there, an unknown module."""
    assert extras.hint(module) is None


@pytest.mark.parametrize("module", ["rdflib", "papermill.exceptions"])
def test_a_foreign_missing_module_stays_a_traceback(module):
    words = ("archive",) if module == "rdflib" else ("stage", "tables")
    done = without(module, command(words))
    assert done.returncode == 70
    assert done.stderr.startswith("Traceback") and f"import of {module} halted" in done.stderr.splitlines()[-2]
    assert done.stderr.splitlines()[-1].startswith("this is a bug in regatta")


def test_a_caller_of_the_library_gets_the_line_too():
    code = "from regatta.archive import metadata_texts; from regatta_lib.base import paths; metadata_texts(paths.ROOT)"
    done = without("mlcroissant", code)
    assert done.stderr.splitlines()[-1].removeprefix("ModuleNotFoundError: ") == (
        "mlcroissant is not installed; it comes with the extra 'archive': pip install 'regatta[archive]'"
    )


@pytest.mark.parametrize("module", ["aiohttp", "anthropic"])
def test_a_live_model_without_a_package_names_the_extra(module):
    """The SDKs would answer a missing aiohttp with the name of an extra of theirs."""
    endpoint = "N(key_env=None, protocol='anthropic', base_url='http://127.0.0.1', timeout=1)"
    start = "from types import SimpleNamespace as N; from regatta_lib.models import live; "
    code = f"{start}live._client({endpoint}, N(hide=id))"
    done = without(module, f"import regatta_lib.__main__ as m; m.run(lambda: exec({code!r}))")
    assert done.stderr == (
        f"regatta: {module} is not installed; it comes with the extra 'live': pip install 'regatta[live]'\n"
    )


def test_an_import_that_fails_deeper_is_not_said_to_be_the_package():
    done = without("rdflib", "from regatta_lib.base.extras import optional; optional('mlcroissant')")
    assert "import of rdflib halted" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("typst", "typst is not installed; it comes with the extra 'report': pip install 'regatta[report]'"),
        ("nowhere", "ModuleNotFoundError: No module named 'nowhere'"),
    ],
)
def test_a_stage_whose_notebook_lacks_a_package_names_its_extra(module, said, monkeypatch):
    text = f"No module named '{module}'"

    def fails(*arguments, **options):
        raise papermill.exceptions.PapermillExecutionError(1, 3, "", "ModuleNotFoundError", text, [])

    monkeypatch.setattr(papermill, "execute_notebook", fails)
    with pytest.raises(stages.StageError) as caught:
        stages.run_stage("paper")
    assert str(caught.value) == f"{paths.NOTEBOOKS / 'paper.ipynb'}: cell 3: {said}"


def test_where_regatta_is_not_installed_no_extra_is_known(monkeypatch):
    def absent(name):
        raise extras.PackageNotFoundError(name)

    monkeypatch.setattr(extras, "metadata", absent)
    assert extras.hint("typst") is None
