"""Imports point one way, offline code needs no provider, modules fit on a few screens."""

import ast
import subprocess
import sys

import pytest

from regatta_lib import paths

LAYERS = [
    {"paths", "records", "overlap", "markup", "yaml_text"},
    {"files"},
    {"items"},
    {"contracts", "witnesses"},
    {"digest", "params", "schemas"},
    {"stats", "release", "reference", "stages", "instruments", "holdout", "smoke", "sheets", "suite_files"},
    {"report", "archive", "cases", "agreement", "reproduction"},
    {"jsonl", "prompts", "replies", "transcripts", "audit", "audit_report", "ledger", "cells", "consistency", "promptfoo"},
    {"verdicts", "scores", "protocols", "models", "importers"},
    {"validity", "exchange", "live", "calls", "spend", "adjudication", "arms", "cost", "reconstruction", "evaluation"},
    {"tables", "published", "preflight", "suites", "episodes", "item_analysis", "profile_stability"},
    {"figures", "verification", "browse", "judges", "stage_agreement", "strategy_separation"},
    {"pilot", "audit_figure", "diagnostic_figures", "batches", "reading", "rulings"},
    {"canaries", "casebook"},
    {"runs", "site"},
    {"forecast", "studies"},
    {"study_commands"},
    {"__main__"},
]
# models offers one constructor for each kind of model and imports the kind only when it is made.
WHEN_MADE = {("models", "exchange"), ("models", "live")}
LEVEL = {module: level for level, layer in enumerate(LAYERS) for module in layer}
MODULES = sorted(path for path in (paths.ROOT / "regatta_lib").glob("*.py") if path.stem != "__init__")
SDKS = ("anthropic", "openai")


def own_imports(path):
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "regatta_lib":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("regatta_lib."):
            found.add(node.module.split(".")[1])
    return found


def test_every_module_has_a_layer():
    assert {path.stem for path in MODULES} == set(LEVEL)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_imports_point_to_lower_layers(path):
    for name in sorted(own_imports(path)):
        if (path.stem, name) in WHEN_MADE:
            continue
        assert LEVEL[name] < LEVEL[path.stem], f"{path.stem} imports {name}"


def test_the_import_check_can_fail(tmp_path):
    bad = tmp_path / "records.py"
    bad.write_text("from regatta_lib import tables\nfrom regatta_lib.scores import targets\n")
    assert own_imports(bad) == {"tables", "scores"}
    assert all(LEVEL[name] > LEVEL["records"] for name in own_imports(bad))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_module_is_short_and_documented(path):
    source = path.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 300
    tree = ast.parse(source)
    assert ast.get_docstring(tree)
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{path.stem}.{node.name}"


def test_importing_the_library_imports_no_provider_sdk():
    names = ", ".join(path.stem for path in MODULES)
    code = f"import sys; from regatta_lib import {names}; print([m for m in {SDKS} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=paths.ROOT)
    assert done.stdout.strip() == "[]"


def test_the_provider_check_can_fail():
    code = f"import sys, anthropic; print([m for m in {SDKS} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['anthropic']"
