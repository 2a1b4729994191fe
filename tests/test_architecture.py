"""The house: two packages of rooms with front doors, imports that point one way, a thin core, and documents that say so."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib

import pytest
from rooms import PACKAGES, ROOMS, ROOT, code_of, imports, reached

CORE = ("base", "stats", "instruments", "measures", "present", "reproduce")
CORE_LINES = 5_500
SDKS = ("anthropic", "openai")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
DOCUMENTED = [path for path in MODULES if path.name != "__init__.py"]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]


def named(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("package", PACKAGES)
def test_only_rooms_lie_at_the_top_of_a_package(package):
    assert sorted(path.name for path in (ROOT / package).glob("*.py")) == ["__init__.py", "__main__.py"]
    assert (ROOT / package / "py.typed").is_file()


def lint(root):
    command = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"
    return subprocess.run([sys.executable, "-c", command], cwd=root, capture_output=True, text=True)


def test_the_import_contracts_hold():
    done = lint(ROOT)
    assert done.returncode == 0, done.stdout
    assert f"Contracts: {len(CONTRACTS)} kept, 0 broken." in done.stdout


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    root = tmp_path_factory.mktemp("house")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, root / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", root)
    return root


BROKEN = {
    "layers": ("regatta_lib/stats/resampling.py", "from regatta_lib import measures"),
    "measuring-knows-no-model": ("regatta_lib/measures/scores.py", "from regatta_lib import models"),
    "studies-draw-nothing": ("regatta_lib/studies/store.py", "from regatta_lib import present"),
    "library-below-application": ("regatta_lib/base/files.py", "from regatta import archive"),
    "application-rooms": ("regatta/site/pages.py", "from regatta import archive"),
    "commands-on-top": ("regatta/archive/bundle.py", "from regatta import commands"),
    "no-circles": ("regatta_lib/models/calls.py", "from regatta_lib.models import exchange"),
    "providers": ("regatta_lib/reproduce/reference.py", "import anthropic"),
}


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: contract["id"])
def test_each_import_contract_can_fail(contract, copied):
    file, line = BROKEN[contract["id"]]
    path = copied / file
    before = path.read_text("utf-8")
    path.write_text(f"{before}\n\ndef broken():\n    {line}\n", encoding="utf-8")
    done = lint(copied)
    path.write_text(before, encoding="utf-8")
    assert done.returncode == 1
    assert re.search(rf"{re.escape(contract['name'])} BROKEN", done.stdout), done.stdout


def past_the_door(name, own_room):
    """Whether an import goes past the front door of another room: ``regatta_lib.stats.resampling.seeded``."""
    parts = name.split(".")
    room = ".".join(parts[:2])
    return (
        room in ROOMS and room != own_room and (ROOT / "/".join(parts[:3])).with_suffix(".py").is_file() and len(parts) > 3
    )


USERS = [*MODULES, *sorted((ROOT / "benchmarks").glob("*.py")), *sorted((ROOT / "notebooks").glob("*.ipynb"))]


@pytest.mark.parametrize("path", USERS, ids=named)
def test_rooms_are_entered_by_their_front_door(path):
    source = code_of(path) if path.suffix == ".ipynb" else path.read_text("utf-8")
    own_room = ".".join(path.relative_to(ROOT).parts[:2])
    assert [name for name in sorted(imports(source)) if past_the_door(name, own_room)] == []


def test_going_past_a_front_door_is_seen():
    found = imports("from regatta_lib.stats.resampling import seeded\nfrom regatta_lib.stats import seeded")
    assert [past_the_door(name, "regatta_lib.measures") for name in sorted(found)] == [True, False]
    assert not past_the_door("regatta_lib.stats.resampling.seeded", "regatta_lib.stats")


@pytest.mark.parametrize("room", ROOMS)
def test_a_front_door_names_all_that_it_offers(room):
    tree = ast.parse((ROOT / room.replace(".", "/") / "__init__.py").read_text("utf-8"))
    assert ast.get_docstring(tree)
    offered = [ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign)]
    imported = {alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert [set(names) for names in offered] == [imported]


@pytest.mark.parametrize("path", DOCUMENTED, ids=named)
def test_modules_and_their_public_names_are_documented(path):
    tree = ast.parse(path.read_text("utf-8"))
    assert ast.get_docstring(tree)
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{path.stem}.{node.name}"


def test_the_core_stays_thin():
    lines = {room: sum(len(path.read_text("utf-8").splitlines()) for path in core_modules(room)) for room in CORE}
    assert sum(lines.values()) <= CORE_LINES, lines


def core_modules(room):
    return (ROOT / "regatta_lib" / room).glob("*.py")


def test_every_room_of_the_library_is_reached_by_a_notebook():
    from_notebooks = set().union(*(reached(code_of(path)) for path in (ROOT / "notebooks").glob("*.ipynb")))
    assert {room for room in ROOMS if room.startswith("regatta_lib.")} == from_notebooks


def test_every_module_of_the_library_is_behind_its_front_door():
    """A module that its room's front door reaches neither directly nor through the room's modules is out of reach."""
    for room in (room for room in ROOMS if room.startswith("regatta_lib.")):
        folder = ROOT / room.replace(".", "/")
        modules = {path.stem: path.read_text("utf-8") for path in folder.glob("*.py")}
        found, waiting = set(), {"__init__"}
        while waiting:
            name = waiting.pop()
            found.add(name)
            own = {part[2] for part in (item.split(".") for item in imports(modules[name])) if ".".join(part[:2]) == room}
            waiting |= (own & modules.keys()) - found
        assert found == modules.keys(), room


def test_importing_the_library_imports_no_provider_sdk():
    names = ", ".join(room for room in ROOMS)
    code = f"import sys, {names}; print([m for m in {SDKS} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


def test_the_provider_check_can_fail():
    code = f"import sys, anthropic; print([m for m in {SDKS} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['anthropic']"
