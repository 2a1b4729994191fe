"""Reproduction: run every offline stage again, then prove that nothing committed has changed by a byte."""

import os
import subprocess
import sys
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from graphlib import TopologicalSorter
from pathlib import Path

from regatta_lib.digest import sha256
from regatta_lib.files import ContractError, write_atomic, yaml_value

MISSING = "missing"


def stages_in(root: Path) -> dict[str, dict]:
    """The stages of dvc.yaml, as it states them."""
    return yaml_value(root / "dvc.yaml")["stages"]


def outputs_of(stage: dict) -> list[str]:
    """The outputs and metrics of a stage, as paths below the root."""
    declared = [entry for kind in ("outs", "metrics") for entry in stage.get(kind, [])]
    return [entry if isinstance(entry, str) else next(iter(entry)) for entry in declared]


def pipeline_outputs(root: Path) -> list[str]:
    """The outputs and metrics of all stages of dvc.yaml, and dvc.lock itself, as paths below the root, sorted."""
    return sorted({"dvc.lock", *(name for stage in stages_in(root).values() for name in outputs_of(stage))})


def stage_graph(root: Path) -> dict[str, set[str]]:
    """For each stage, the stages it waits for: those with an output that is, or lies below, one of its dependencies."""
    stages = stages_in(root)
    return {
        name: {
            other
            for other, made in stages.items()
            for output in outputs_of(made)
            for needed in stage.get("deps", [])
            if other != name and (output == needed or output.startswith(f"{needed}/"))
        }
        for name, stage in stages.items()
    }


def digests(root: Path, names: list[str]) -> dict[str, str]:
    """{path: SHA-256}, ``missing`` where there is no such file."""
    return {name: sha256((root / name).read_bytes()) if (root / name).is_file() else MISSING for name in names}


def allow_no_git(root: Path) -> None:
    """Tell DVC, in ``.dvc/config.local``, that an unpacked archive has no git."""
    if not (root / ".git").exists():
        write_atomic(root / ".dvc/config.local", "[core]\n    no_scm = true\n")


def run_pipeline(root: Path) -> None:
    """Run the command of every stage, whether or not its inputs changed, and let DVC record the result in dvc.lock.

    Stages that do not wait for each other run side by side; ``dvc repro`` runs the same commands one after another.
    Raises ContractError, naming the stage, when one fails; those under way are let finish, no other is started.
    """
    stages, order = stages_in(root), TopologicalSorter(stage_graph(root))
    order.prepare()
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        running = {}
        while order.is_active():
            for name in order.get_ready():
                running[pool.submit(subprocess.run, stages[name]["cmd"], shell=True, cwd=root, env=environment)] = name
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                name = running.pop(done)
                if code := done.result().returncode:
                    raise ContractError(f"{root / 'dvc.yaml'}: stage {name} failed (exit code {code}); its reason is above")
                order.done(name)
    allow_no_git(root)
    subprocess.run([sys.executable, "-m", "dvc", "commit", "--force", "--quiet"], cwd=root, env=environment, check=True)


def differences(root: Path, before: dict[str, str]) -> list[str]:
    """What differs now: outputs with other digests than ``before``, and notebooks other than their executed copies."""
    lines = [
        f"{name}: SHA-256 was {digest}, is now {now}"
        for name, digest in before.items()
        if (now := digests(root, [name])[name]) != digest or now == MISSING
    ]
    for notebook in sorted((root / "notebooks").glob("*.ipynb")):
        executed = root / "notebooks/executed" / notebook.name
        if not executed.is_file() or executed.read_bytes() != notebook.read_bytes():
            lines.append(f"notebooks/{notebook.name}: its outputs are not those of the run in notebooks/executed")
    return lines
