"""How fast is the cluster bootstrap of the V3 margins, against a plain loop, and how does it grow?

Run it at the root of the repository: ``python benchmarks/bootstrap.py``. It draws 10,000 replicates of the per-fault
margins of all generators, checks that a plain loop over resamples gives the same numbers, then repeats it on studies 10
and 100 times as large. Exit code 1 if the 180 suites take 2 seconds or more, if 18,000 suites need 2 GB, or if the two
computations differ.
"""

import argparse
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd

from regatta_lib.base import paths
from regatta_lib.instruments import INDEX_TABLE
from regatta_lib.measures import VERDICT_TABLE, bootstrap_counts, margin, stage_pairs
from regatta_lib.stats import seeded


def vectorised(pairs: pd.DataFrame, resamples: int) -> dict[str, np.ndarray]:
    """Per-fault margins of every generator, averaged over faults: {generator: (resamples,)}."""
    return {
        generator: margin(**bootstrap_counts(part, seeded(1, f"benchmark/{generator}"), resamples)).mean(axis=1)
        for generator, part in pairs.groupby("generator", sort=True)
    }


def plain_loop(pairs: pd.DataFrame, resamples: int) -> dict[str, np.ndarray]:
    """The same numbers from one Python loop over resamples, suites and faults, drawn from the same random numbers."""
    result = {}
    for generator, part in pairs.groupby("generator", sort=True):
        rng, margins = seeded(1, f"benchmark/{generator}"), []
        for _, cell in part.sort_values(["cell", "suite_id", "fault_id"]).groupby("cell", sort=True):
            suites = [list(zip(s["design"], s["execution"], strict=True)) for _, s in cell.groupby("suite_id", sort=True)]
            rows = []
            for _ in range(resamples):
                drawn = [suites[position] for position in rng.integers(0, len(suites), size=len(suites))]
                row = []
                for fault in range(len(suites[0])):
                    verdicts = [suite[fault] for suite in drawn]
                    n, agree = len(verdicts), sum(d == e for d, e in verdicts)
                    p_d, p_e = sum(d for d, _ in verdicts) / n, sum(e for _, e in verdicts) / n
                    row.append(agree / n - (p_d * p_e + (1 - p_d) * (1 - p_e)))
                rows.append(row)
            margins.append(rows)
        result[generator] = np.concatenate([np.array(rows) for rows in margins], axis=1).mean(axis=1)
    return result


def enlarged(pairs: pd.DataFrame, times: int) -> pd.DataFrame:
    """A study ``times`` as large: every suite repeated under further replication numbers."""
    copies = []
    for copy in range(times):
        replication = pairs["replication"] + 3 * copy
        name = pairs["suite_id"].str.replace(r"r\d+$", "", regex=True) + "r" + replication.astype(str)
        copies.append(pairs.assign(replication=replication, suite_id=name))
    return pd.concat(copies, ignore_index=True)


def main() -> int:
    """Run, print one line per measurement, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--resamples", type=int, default=10_000)
    parser.add_argument("--loop-resamples", type=int, default=500)
    options = parser.parse_args()
    index = INDEX_TABLE.read(paths.INSTRUMENTS / "index.csv")
    pairs = stage_pairs(VERDICT_TABLE.read(paths.VERDICTS / "historical.csv"), index).astype(
        {"design": int, "execution": int}
    )
    few = options.loop_resamples
    start = time.perf_counter()
    looped = plain_loop(pairs, few)
    per_replicate = (time.perf_counter() - start) / few
    print(f"plain loop: {few:,} replicates, {per_replicate * few:.2f} s; {options.resamples:,} would take "
          f"{per_replicate * options.resamples:.0f} s")  # fmt: skip
    equal = all(np.allclose(looped[name], values, rtol=0, atol=1e-12) for name, values in vectorised(pairs, few).items())
    print(f"same numbers: {'yes' if equal else 'NO'}")
    seconds = {}
    for times in (1, 10, 100):
        study = enlarged(pairs, times)
        start = time.perf_counter()
        vectorised(study, options.resamples)
        seconds[times] = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024**2 if sys.platform == "darwin" else 1024)
        print(f"vectorised: {180 * times:>6,} suites, {options.resamples:,} replicates, {seconds[times]:.2f} s, "
              f"{seconds[times] / times:.3f} s per 180 suites, peak {peak:,.0f} MB")  # fmt: skip
    return 0 if equal and seconds[1] < 2 and peak < 2048 else 1


if __name__ == "__main__":
    sys.exit(main())
