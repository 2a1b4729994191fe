"""What two savings at start-up are worth: the skipped optional import of a stage, and ``verify`` without collections.

Run it at the root of the repository: ``python benchmarks/startup.py [--rounds 7]``. Every figure is the wall time of fresh
processes from start to exit. Rounds go through all variants in turn, every other one backwards, so that a busy machine
slows all. Prints CSV with the columns what, variant, rounds, median_s, python. Takes about a minute and a half.
"""

import argparse
import csv
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
IMPORT, VERIFY = "the imports of a stage", "python -m regatta_lib verify"
JUPYTER = "import nbformat, papermill, jupyter_client.kernelspec; "
# What the runner hides rfc3987_syntax from: imported before it, they find the package, and hiding it then changes nothing.
RUNNER = "from regatta_lib.reproduce import stages; "
COMMAND = (
    "import sys, runpy; sys.argv[1:] = ['verify']; runpy.run_module('regatta_lib', run_name='__main__', alter_sys=True)"
)

VARIANTS = {
    (IMPORT, "rfc3987_syntax hidden"): RUNNER + JUPYTER,
    (IMPORT, "rfc3987_syntax imported"): JUPYTER + RUNNER,
    (VERIFY, "without collections"): COMMAND,
    (VERIFY, "with collections"): "import gc; gc.disable = gc.freeze = lambda: None; " + COMMAND,
}


def seconds(code: str) -> float:
    """Wall time of a fresh Python that runs ``code``. Raises CalledProcessError where it fails."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def medians(rounds: int, measured: Callable[[str], float] = seconds) -> dict[tuple[str, str], float]:
    """Median seconds of each variant: {(what, variant): seconds}."""
    times = {key: [] for key in VARIANTS}
    for number in range(rounds):
        for key in list(VARIANTS) if number % 2 == 0 else reversed(VARIANTS):
            times[key].append(measured(VARIANTS[key]))
    return {key: statistics.median(values) for key, values in times.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["what", "variant", "rounds", "median_s", "python"])
    for (what, variant), median in medians(rounds).items():
        table.writerow([what, variant, rounds, f"{median:.3f}", platform.python_version()])


if __name__ == "__main__":
    main()
