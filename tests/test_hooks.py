"""What runs before a commit are the project's own tools, without a network."""

import copy
import shlex

import pytest
import yaml

from regatta_lib.base import paths

TOOLS = ["ruff check", "ruff format", "lint-imports", "mypy"]


def loaded():
    """The hooks' configuration with every scalar as text."""
    return yaml.load((paths.ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"), Loader=yaml.BaseLoader)


def hook_faults(config):
    """What keeps the hooks from being the project's own tools, run without a network."""
    hooks = [hook for repository in config["repos"] for hook in repository["hooks"]]
    faults = [repository["repo"] for repository in config["repos"] if repository["repo"] != "local"]
    faults += [hook["id"] for hook in hooks if hook["language"] != "system" or not hook["entry"].startswith(".venv/bin/")]
    entries = [" ".join(shlex.split(hook["entry"])).removeprefix(".venv/bin/") for hook in hooks]
    return faults + [tool for tool in TOOLS if sum(entry.startswith(tool) for entry in entries) != 1]


def test_the_hooks_are_the_projects_tools():
    assert hook_faults(loaded()) == []


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda c: c["repos"][0].update(repo="https://github.com/astral-sh/ruff-pre-commit"), "ruff-pre-commit"),
        (lambda c: c["repos"][0]["hooks"][0].update(language="python"), "ruff-check"),
        (lambda c: c["repos"][0]["hooks"][3].update(entry="mypy"), "mypy"),
        (lambda c: c["repos"][0]["hooks"].pop(2), "lint-imports"),
    ],
)
def test_a_hook_that_is_not_the_projects_is_named(change, fault):
    config = copy.deepcopy(loaded())
    change(config)
    [found] = hook_faults(config)
    assert fault in found
