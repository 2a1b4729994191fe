"""Reproduction: run every offline stage again, then prove that nothing committed has changed by a byte."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from graphlib import TopologicalSorter
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from regatta_lib.base import ContractError, RegattaError, paths, sha256, write_atomic
from regatta_lib.reproduce import outputs_of, pipeline_outputs, run_stage, stages_in

NO_FILE = "missing"
WORKERS = 2
OWN = "python -m regatta_lib stage "


def committed_files(root: Path) -> list[str]:
    """What a reproduction must leave unchanged: the pipeline's outputs and the notebooks, sorted."""
    return sorted([*pipeline_outputs(root), *(f"notebooks/{path.name}" for path in (root / "notebooks").glob("*.ipynb"))])


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


def chain_lengths(graph: dict[str, set[str]]) -> dict[str, int]:
    """For each stage, how many stages the longest chain has that starts with it: the longest chains go first."""
    length: dict[str, int] = {}
    for name in reversed(list(TopologicalSorter(graph).static_order())):
        length[name] = 1 + max((length[other] for other in graph if name in graph[other]), default=0)
    return length


def committed_digests(root: Path, names: list[str]) -> dict[str, str]:
    """{path: SHA-256} of the files as committed: as git holds them at HEAD, or as they lie in an unpacked archive.

    ``missing`` where there is no such file. A file that is changed but not committed is thus compared with the commit.
    """
    if not (root / ".git").exists():
        return {name: sha256((root / name).read_bytes()) if (root / name).is_file() else NO_FILE for name in names}
    shown = {name: subprocess.run(["git", "show", f"HEAD:{name}"], cwd=root, capture_output=True) for name in names}
    return {name: NO_FILE if done.returncode else sha256(done.stdout) for name, done in shown.items()}


@contextmanager
def set_aside(root: Path, names: list[str]) -> Iterator[None]:
    """Move files away while the block runs, so that what stands there afterwards was made in it.

    If the block raises, files that were not made anew are put back.
    """
    with TemporaryDirectory(dir=root, prefix=".aside-") as folder:
        moved = {root / name: Path(folder) / str(number) for number, name in enumerate(names) if (root / name).is_file()}
        for path, place in moved.items():
            path.replace(place)
        try:
            yield
        except BaseException:
            for path, place in moved.items():
                if not path.exists():
                    place.replace(path)
            raise


def allow_no_git(root: Path) -> None:
    """Tell DVC, in ``.dvc/config.local``, that an unpacked archive has no git."""
    if not (root / ".git").exists():
        write_atomic(root / ".dvc/config.local", "[core]\n    no_scm = true\n")


def run_command(command: str, root: Path) -> int:
    """Run the command of a stage in ``root``. Returns its exit code.

    A stage of this repository runs in this process, which may have loaded papermill for an earlier one: that takes a
    second. Its notebook has a kernel of its own either way. Why a stage failed is printed, as its command would do.
    """
    if root != paths.ROOT or not command.startswith(OWN):
        environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
        return subprocess.run(command, shell=True, cwd=root, env=environment).returncode
    name = command.removeprefix(OWN)
    print(f"stage {name}", flush=True)
    try:
        run_stage(name)
    except RegattaError as error:
        print(f"regatta: {error}", file=sys.stderr)
        return 2
    return 0


def run_pipeline(root: Path) -> None:
    """Run the command of every stage, whether or not its inputs changed.

    Outputs are set aside first, as DVC does, so a stage that writes nothing can't pass with an old file. Stages that do
    not wait for each other run two at a time; ``dvc repro`` runs the same commands one after another.
    Raises ContractError, naming the stage, when one fails; those under way are let finish, no other is started.
    """
    stages, graph = stages_in(root), stage_graph(root)
    length = chain_lengths(graph)
    order = TopologicalSorter(graph)
    order.prepare()
    made = [name for stage in stages.values() for name in outputs_of(stage)]
    executed = [path.relative_to(root).as_posix() for path in (root / "notebooks/executed").glob("*.ipynb")]
    with set_aside(root, [*made, *executed]), ProcessPoolExecutor(WORKERS, get_context("spawn")) as pool:
        ready: list[str] = []
        running: dict[Future[int], str] = {}
        while order.is_active():
            ready += order.get_ready()
            ready.sort(key=lambda name: (-length[name], name))
            while ready and len(running) < WORKERS:
                name = ready.pop(0)
                running[pool.submit(run_command, stages[name]["cmd"], root)] = name
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                name = running.pop(done)
                if error := done.exception():
                    raise ContractError(f"{root / 'dvc.yaml'}: stage {name}: {type(error).__name__}: {error}") from error
                if code := done.result():
                    raise ContractError(f"{root / 'dvc.yaml'}: stage {name} failed (exit code {code}); its reason is above")
                order.done(name)
        for name in made:
            if not (root / name).is_file():
                raise ContractError(f"{root / 'dvc.yaml'}: {name}: its stage ran but did not write it")


def record(root: Path) -> None:
    """Let DVC record in dvc.lock what the stages read and wrote.

    Where nothing changed, ``dvc commit`` without ``--force`` finds that out in half the time; otherwise it gives up.
    """
    allow_no_git(root)
    commit = [sys.executable, "-m", "dvc", "commit"]
    if subprocess.run([*commit, "--quiet"], cwd=root, stdin=subprocess.DEVNULL, capture_output=True).returncode:
        forced = subprocess.run([*commit, "--force"], cwd=root, capture_output=True, text=True)
        if forced.returncode:
            raise RegattaError(f"{root}: dvc commit failed: {' '.join(forced.stderr.split())}")


def differences(root: Path, committed: dict[str, str]) -> list[str]:
    """The files that are not as ``committed``, one line each. A notebook counts as its executed copy of this run."""
    lines = []
    for name, digest in committed.items():
        folder, _, file = name.rpartition("/")
        made = root / folder / "executed" / file if folder == "notebooks" else root / name
        now = sha256(made.read_bytes()) if made.is_file() else NO_FILE
        if now != digest or now == NO_FILE:
            lines.append(f"{name}: SHA-256 was {digest}, is now {now}")
    return lines
