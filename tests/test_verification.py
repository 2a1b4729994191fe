"""The verifier catches every kind of alteration, and never passes on nothing."""

import csv
import io
import re
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from regatta_lib.base import paths, sha256
from regatta_lib.reproduce import CHECK_TABLE, verification

RECORD_FILES = [f"data/record/{name}.csv" for name in ("suites", "coverage", "faults", "specificity", "adversarial")]
REFERENCE_FILES = [f"data/reference/{name}.csv" for name in ("reference_values", "published_values", "reconstructed_tables")]
OUTPUT_FILES = [
    "data/verdicts/historical.csv",
    "data/scores/historical.csv",
    "figures/figure2.csv",
    *(f"data/tables/table{number}.{suffix}" for number in (1, 2, 3, 4) for suffix in ("csv", "tex")),
]
FILES = [*RECORD_FILES, "data/instruments/index.csv", *REFERENCE_FILES, *OUTPUT_FILES]
TABLES = [name for name in FILES if name.endswith(".csv")]


def failures(root):
    checks = verification.verify(root)
    failed = [check for check in checks if not check.passed]
    assert verification.succeeded(checks) is (not failed)
    return failed


def edit(path, change):
    path.write_bytes(change(path.read_bytes()))


def lines(change):
    return lambda content: b"".join(change(content.splitlines(keepends=True)))


def test_the_repository_verifies():
    checks = verification.verify(paths.ROOT)
    assert verification.succeeded(checks), [str(check) for check in checks if not check.passed]
    assert verification.summary(checks)[-1] == "2835 of 2835 reference values reproduced"


def test_a_copy_at_a_path_with_a_space_and_a_letter_verifies(copy, tmp_path):
    moved = tmp_path.parent / f"{tmp_path.name} với dấu"
    copy.rename(moved)
    assert failures(moved) == []


KINDS = {
    "dropped row": lines(lambda rows: rows[:-1]),
    "added row": lines(lambda rows: [*rows, rows[-1].replace(rows[-1][:3], b"zzz", 1)]),
    "duplicated row": lines(lambda rows: [*rows, rows[-1]]),
    "CRLF conversion": lambda content: content.replace(b"\n", b"\r\n"),
    "byte order mark": lambda content: b"\xef\xbb\xbf" + content,
    "emptied table": lines(lambda rows: rows[:1]),
    "emptied file": lambda content: b"",
    "missing last line end": lambda content: content[:-1],
    "binary": lambda content: b"\xff" + content,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "name", ["data/record/coverage.csv", "data/reference/reference_values.csv", "data/tables/table3.csv"]
)
def test_each_kind_of_alteration_is_caught(copy, name, kind):
    edit(copy / name, KINDS[kind])
    failed = failures(copy)
    assert failed
    assert any(name.rsplit("/", 1)[-1] in str(check) for check in failed)


def reorder(content):
    rows = list(csv.reader(io.StringIO(content.decode(), newline="")))
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([[*row[1:], row[0]] for row in rows])
    return buffer.getvalue().encode()


@pytest.mark.parametrize("name", TABLES)
def test_a_reordered_column_is_caught(copy, name):
    edit(copy / name, reorder)
    assert failures(copy)


@pytest.mark.parametrize("name", [*FILES, "data/reference/SHA256SUMS", "params.yaml"])
def test_a_missing_file_is_caught(copy, name):
    (copy / name).unlink()
    assert failures(copy)


def test_an_unlisted_file_below_the_pinned_folders_is_caught(copy):
    (copy / "data/record/extra.csv").write_text("a\n1\n")
    assert [check.key for check in failures(copy)] == ["data/record/extra.csv"]


def test_nothing_at_all_fails_in_every_group(tmp_path):
    checks = verification.verify(tmp_path)
    assert not verification.succeeded(checks)
    assert {check.group for check in checks if not check.passed} == set(verification.GROUPS)
    assert verification.summary(checks)[-1] == "0 of 2835 reference values reproduced"


def test_a_group_that_ran_no_check_is_no_success():
    checks = verification.verify(paths.ROOT)
    for group in verification.GROUPS:
        assert not verification.succeeded([check for check in checks if check.group != group])


def test_even_a_record_with_a_matching_manifest_is_caught(copy):
    """Altering the record and its digest together still contradicts the reference values and the outputs."""
    path = copy / "data/record/coverage.csv"
    before = sha256(path.read_bytes())
    edit(path, lambda content: content.replace(b"BV-01,0", b"BV-01,1", 1))
    manifest = copy / "data/reference/SHA256SUMS"
    manifest.write_text(manifest.read_text().replace(before, sha256(path.read_bytes())))
    failed = failures(copy)
    assert {check.group for check in failed} == {"reference", "output"}
    assert any(check.key.endswith("/rc") and check.key.startswith("suite/") for check in failed)


def test_even_a_reference_value_with_a_matching_manifest_is_caught(copy):
    path = copy / "data/reference/reference_values.csv"
    before = sha256(path.read_bytes())
    edit(path, lambda content: content.replace(b"rc,0.35333333333333333", b"rc,0.35333333333433333", 1))
    manifest = copy / "data/reference/SHA256SUMS"
    manifest.write_text(manifest.read_text().replace(before, sha256(path.read_bytes())))
    (failed,) = failures(copy)
    assert (failed.group, failed.key) == ("reference", "cells/gemma26b/us_fintech/rc")
    assert (float(failed.expected), float(failed.found)) == (0.35333333333433333, 0.35333333333333333)
    assert "coverage.csv" in failed.source


def test_a_printed_figure_that_no_longer_agrees_is_caught(copy):
    path = copy / "data/reference/published_values.csv"
    edit(path, lambda content: content.replace(b"v1/mean,0.34", b"v1/mean,0.35"))
    assert {(check.group, check.key) for check in failures(copy)} == {
        ("published", "v1/mean"),
        ("sha256", "data/reference/published_values.csv"),
    }


def test_a_params_file_that_changes_the_intervals_is_caught(copy):
    edit(copy / "params.yaml", lambda content: content.replace(b"seed: 20261030", b"seed: 1"))
    assert {check.key.split(" ")[0] for check in failures(copy)} >= {"data/tables/table3.csv", "figures/figure2.csv"}


NUMBER = re.compile(rb"\d")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
@given(data=st.data())
def test_any_flipped_digit_is_caught(copy, data):
    """In any table of the record, the reference or the outputs, any one digit changed to any other digit."""
    path = copy / data.draw(st.sampled_from(FILES), label="file")
    content = path.read_bytes()
    body = content.index(b"\n") + 1
    spots = [match.start() for match in NUMBER.finditer(content, body)]
    spot = data.draw(st.sampled_from(spots), label="position")
    digit = data.draw(st.sampled_from([d for d in b"0123456789" if d != content[spot]]), label="digit")
    path.write_bytes(content[:spot] + bytes([digit]) + content[spot + 1 :])
    try:
        assert failures(copy)
    finally:
        path.write_bytes(content)


def test_the_command_prints_counts_and_exits_by_the_result(copy, tmp_path):
    def run(folder, *options):
        command = [sys.executable, "-m", "regatta_lib", "verify", str(folder), *options]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=paths.ROOT)

    good = run(copy, "--report", str(tmp_path / "report.csv"))
    assert good.returncode == 0, good.stdout + good.stderr
    assert good.stdout.splitlines()[-1] == "2835 of 2835 reference values reproduced"
    assert len(CHECK_TABLE.read(tmp_path / "report.csv")) > 2_835
    edit(copy / "data/tables/table2.csv", lambda content: content.replace(b"0.95,", b"0.94,", 1))
    bad = run(copy)
    assert bad.returncode == 1
    assert "FAILED output data/tables/table2.csv row" in bad.stdout


def test_the_command_needs_neither_dvc_nor_git_nor_a_provider(copy):
    """Verification imports no pipeline tool, no notebook tool, no provider SDK, no plotting library."""
    unwanted = ("dvc", "papermill", "nbformat", "anthropic", "openai", "matplotlib", "git", "scipy", "statsmodels", "ruamel")
    code = (
        "import sys; from pathlib import Path; from regatta_lib.reproduce import verification as v; "
        f"assert v.succeeded(v.verify(Path({str(copy)!r}))); print([m for m in {unwanted} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=paths.ROOT)
    assert done.stdout.strip() == "[]"


def test_the_committed_report_is_this_report():
    report = CHECK_TABLE.read(paths.VERIFICATION / "report.csv")
    assert (report["status"] == "passed").all()
    assert report["key"].str.startswith("reference/").sum() == 2_835


def test_a_printed_figure_that_is_no_number_is_a_failed_check(copy):
    path = copy / "data/reference/published_values.csv"
    lines = path.read_text().splitlines(keepends=True)
    number = next(n for n, line in enumerate(lines) if ",recomputed," in line)
    key, _, rest = lines[number].split(",", 2)
    path.write_text("".join([*lines[:number], f"{key},abc,{rest}", *lines[number + 1 :]]))
    failed = [check for check in verification.verify(copy) if not check.passed]
    assert any(check.group == "published" and "abc" in check.found for check in failed)
