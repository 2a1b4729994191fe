"""The start-up benchmark runs what its rows say, in alternating rounds."""

import subprocess
import sys
from importlib import import_module

import pytest

from regatta_lib.base import paths


@pytest.fixture(scope="module")
def benchmark():
    return import_module("benchmarks.startup")


def printed(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=paths.ROOT).stdout


@pytest.mark.parametrize(("variant", "loaded"), [("rfc3987_syntax hidden", "False"), ("rfc3987_syntax imported", "True")])
def test_the_package_is_hidden_from_the_stages_or_not(benchmark, variant, loaded):
    code = benchmark.VARIANTS[benchmark.IMPORT, variant]
    assert printed(f"{code}import sys; print(bool(sys.modules['rfc3987_syntax']))").strip() == loaded


@pytest.mark.parametrize(("variant", "enabled"), [("with collections", "True"), ("without collections", "False")])
def test_verify_runs_with_or_without_collections(benchmark, variant, enabled):
    tell = "import atexit, gc; atexit.register(lambda: print(gc.isenabled())); "
    lines = printed(tell + benchmark.VARIANTS[benchmark.VERIFY, variant]).splitlines()
    assert lines[-2].endswith("reference values reproduced")
    assert lines[-1] == enabled


def test_rounds_alternate_and_the_median_counts(benchmark):
    asked = []
    found = benchmark.medians(3, lambda code: asked.append(code) or float(len(asked)))
    codes = list(benchmark.VARIANTS.values())
    assert asked == [*codes, *reversed(codes), *codes]
    assert [*found.values()] == [8.0, 7.0, 6.0, 5.0]


def test_a_variant_that_fails_is_no_measurement(benchmark):
    with pytest.raises(subprocess.CalledProcessError):
        benchmark.seconds("raise SystemExit(1)")
