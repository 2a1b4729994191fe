"""Reproduction: run every offline stage again, then prove that nothing committed has changed by a byte."""

import subprocess
import sys
from pathlib import Path

from regatta_lib.contracts import ContractError, write_atomic, yaml_value
from regatta_lib.digest import sha256

MISSING = "missing"


def pipeline_outputs(root: Path) -> list[str]:
    """The outputs and metrics of all stages of dvc.yaml, and dvc.lock itself, as paths below the root, sorted."""
    stages = yaml_value(root / "dvc.yaml")["stages"].values()
    declared = [entry for stage in stages for kind in ("outs", "metrics") for entry in stage.get(kind, [])]
    return sorted({"dvc.lock", *(entry if isinstance(entry, str) else next(iter(entry)) for entry in declared)})


def digests(root: Path, names: list[str]) -> dict[str, str]:
    """{path: SHA-256}, ``missing`` where there is no such file."""
    return {name: sha256((root / name).read_bytes()) if (root / name).is_file() else MISSING for name in names}


def run_pipeline(root: Path, *only: str) -> None:
    """Run every stage, or ``only`` those named, with DVC, whether or not inputs changed. Raises ContractError on failure.

    In an unpacked archive there is no git; DVC is told so in ``.dvc/config.local``.
    """
    if not (root / ".git").exists():
        write_atomic(root / ".dvc/config.local", "[core]\n    no_scm = true\n")
    command = [sys.executable, "-m", "dvc", "repro", "--force", "--quiet", *(["--single-item", *only] if only else [])]
    code = subprocess.run(command, cwd=root, check=False).returncode
    if code:
        raise ContractError(f"{root / 'dvc.yaml'}: a stage failed (exit code {code}); its one-line reason is above")


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
