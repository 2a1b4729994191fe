"""The hosted run is .ci/run and nothing else, on Python versions that the project supports."""

import copy
import os
import re
import tomllib

import pytest
import yaml
from packaging.specifiers import SpecifierSet

from regatta_lib.base import paths


def loaded():
    """The workflow with every scalar as text: YAML 1.1 reads the key ``on`` as true and 3.10 as a number."""
    return yaml.load((paths.ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"), Loader=yaml.BaseLoader)


def workflow_faults(workflow):
    """What keeps a workflow from running .ci/run, and nothing else, on Python versions that the project supports."""
    faults = []
    with (paths.ROOT / "pyproject.toml").open("rb") as file:
        supported = SpecifierSet(tomllib.load(file)["project"]["requires-python"])
    if workflow["permissions"] != {"contents": "read"} or any("permissions" in job for job in workflow["jobs"].values()):
        faults.append("permissions")
    if "group" not in workflow.get("concurrency", {}):
        faults.append("concurrency")
    for job in workflow["jobs"].values():
        if [step["run"] for step in job["steps"] if "run" in step] != [".ci/run"]:
            faults.append("commands")
        used = [step["uses"] for step in job["steps"] if "uses" in step]
        if [re.sub(r"@v\d+$", "", action) for action in used] != ["actions/checkout", "actions/setup-python"]:
            faults.append("actions")
        faults += [version for version in job["strategy"]["matrix"]["python"] if version not in supported]
    return faults


def test_the_hosted_run_is_the_local_one():
    workflow = loaded()
    assert workflow_faults(workflow) == []
    assert workflow["jobs"]["run"]["strategy"]["matrix"]["python"] == ["3.11", "3.13"]
    assert os.access(paths.ROOT / ".ci/run", os.X_OK)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda w: w.update(permissions={"contents": "write"}), "permissions"),
        (lambda w: w["jobs"]["run"].update(permissions={"contents": "write"}), "permissions"),
        (lambda w: w.pop("concurrency"), "concurrency"),
        (lambda w: w["jobs"]["run"]["steps"].append({"run": "make test"}), "commands"),
        (lambda w: w["jobs"]["run"]["steps"].pop(), "commands"),
        (lambda w: w["jobs"]["run"]["steps"].insert(0, {"uses": "someone/else@v1"}), "actions"),
        (lambda w: w["jobs"]["run"]["steps"][0].update(uses="actions/checkout@main"), "actions"),
        (lambda w: w["jobs"]["run"]["strategy"]["matrix"].update(python=["3.10"]), "3.10"),
        (lambda w: w["jobs"]["run"]["strategy"]["matrix"].update(python=["3.14"]), "3.14"),
    ],
)
def test_a_workflow_that_does_something_else_is_named(change, fault):
    workflow = copy.deepcopy(loaded())
    change(workflow)
    assert workflow_faults(workflow) == [fault]
