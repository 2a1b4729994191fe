"""The archive has the same bytes twice, works without git, and its metadata are true."""

import io
import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from regatta.archive import MANIFEST, bundle, check_pins, tracked_files
from regatta.pipeline import reproduction
from regatta_lib.base import ContractError, paths, read_manifest
from regatta_lib.report import document as report
from regatta_lib.reproduce import PINS

TOP = "regatta-1.0.0"
pytestmark = pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")
"""mlcroissant still uses a class that rdflib is about to rename."""


@pytest.fixture(scope="module")
def names():
    return tracked_files(paths.ROOT)


@pytest.fixture(scope="module")
def unpacked(names, tmp_path_factory):
    """The archive, unpacked in a folder that no git repository holds."""
    folder = tmp_path_factory.mktemp("archive")
    with zipfile.ZipFile(io.BytesIO(bundle.zipped(paths.ROOT, names, TOP))) as packed:
        packed.extractall(folder)
    return folder / TOP


def run(folder, *arguments):
    """Run this Python in a folder as a reader would, with the folder's library and no repository above."""
    environment = os.environ | {
        "PYTHONPATH": str(folder),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
    }
    return subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True)


def test_the_same_bytes_from_the_repository_twice_and_from_the_unpacked_archive(names, unpacked):
    first = bundle.zipped(paths.ROOT, names, TOP)
    assert bundle.zipped(paths.ROOT, list(reversed(names)), TOP) == first
    for number, path in enumerate(sorted(unpacked.rglob("*"))):
        os.utime(path, (number, number))
        path.chmod(0o755 if path.is_dir() else 0o644)
    (unpacked / ".ci/run").chmod(0o700)
    again = tracked_files(unpacked)
    assert again == names
    assert bundle.zipped(unpacked, again, TOP) == first


def test_entries_are_sorted_dated_alike_and_listed_with_their_digests(names):
    with zipfile.ZipFile(io.BytesIO(bundle.zipped(paths.ROOT, names, TOP))) as packed:
        entries = packed.infolist()
        listed = packed.read(f"{TOP}/{MANIFEST}").decode("utf-8")
    assert [entry.filename for entry in entries] == sorted(f"{TOP}/{name}" for name in [*names, MANIFEST])
    assert {entry.date_time for entry in entries} == {(1980, 1, 1, 0, 0, 0)}
    assert {entry.external_attr >> 16 for entry in entries} == {0o100644, 0o100755}
    assert [line.split("  ")[1] for line in listed.splitlines()] == names


def test_a_missing_tracked_file_is_named(tmp_path):
    (tmp_path / MANIFEST).write_text(f"{'0' * 64}  gone.csv\n", encoding="utf-8")
    with pytest.raises(ContractError, match=r"gone\.csv: missing, expected a file of the archive"):
        tracked_files(tmp_path)


def test_neither_a_manifest_nor_git_is_an_error(tmp_path):
    with pytest.raises(ContractError, match=r"MANIFEST\.sha256: missing"):
        tracked_files(tmp_path)


def test_a_refusal_of_git_is_one_line(tmp_path):
    (tmp_path / ".git").write_text("gitdir: nowhere\n")
    with pytest.raises(ContractError, match=r"git ls-files: fatal: not a git repository: .*nowhere$"):
        tracked_files(tmp_path)


def test_nothing_untracked_is_packed(names):
    assert not [name for name in names if re.match(r"\.venv/|dist/|notebooks/executed/.*ipynb|\.git/", name)]


def test_the_unpacked_archive_verifies(unpacked):
    done = run(unpacked, "-m", "regatta_lib", "verify")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.rstrip().endswith("2835 of 2835 reference values reproduced")


def test_the_report_is_the_same_from_another_folder(unpacked):
    assert report.pdf(unpacked) == (paths.PAPER / "report.pdf").read_bytes()


def test_a_stage_runs_with_dvc_in_the_unpacked_archive(unpacked):
    before = (unpacked / "data/scores/historical.csv").read_bytes()
    (unpacked / "data/scores/historical.csv").unlink()
    reproduction.allow_no_git(unpacked)
    command = ["-m", "dvc", "repro", "--force", "--quiet", "--single-item", "scores"]
    done = run(unpacked, *command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (unpacked / "data/scores/historical.csv").read_bytes() == before


@pytest.mark.parametrize("name", ["croissant.json", "ro-crate-metadata.json"])
def test_the_committed_metadata_are_those_generated(name):
    assert (paths.ROOT / name).read_text(encoding="utf-8") == bundle.metadata_texts(paths.ROOT)[name]


@pytest.fixture(scope="module")
def dataset():
    import mlcroissant

    return mlcroissant.Dataset(str(paths.ROOT / "croissant.json"))


def test_croissant_is_valid_and_lists_every_pinned_file(dataset):
    issues = dataset.metadata.issues
    assert not issues.errors
    assert not issues.warnings
    stated = json.loads((paths.ROOT / "croissant.json").read_text(encoding="utf-8"))
    assert stated["conformsTo"] == "http://mlcommons.org/croissant/1.1"
    listed = {entry["contentUrl"]: entry["sha256"] for entry in stated["distribution"]}
    assert listed == read_manifest(paths.ROOT / PINS)


@pytest.mark.parametrize("table", sorted(set(bundle.DESCRIBED_TABLES) - {"data/record/specificity.csv"}))
def test_croissant_reads_the_rows_of_each_table(dataset, table):
    title = bundle.record_set_id(table)
    frame = bundle.DESCRIBED_TABLES[table].read(paths.ROOT / table)
    records = list(dataset.records(title))
    assert len(records) == len(frame)
    assert set(records[0]) == {f"{title}/{column}" for column in frame}


def test_every_pinned_input_table_has_a_record_set():
    inputs = ("data/instruments/", "data/record/", "data/reference/")
    listed = read_manifest(paths.ROOT / PINS)
    assert {name for name in listed if name.endswith(".csv") and name.startswith(inputs)} == set(bundle.DESCRIBED_TABLES)


def test_croissant_validation_can_fail(tmp_path):
    import mlcroissant

    stated = json.loads((paths.ROOT / "croissant.json").read_text(encoding="utf-8"))
    stated["recordSet"][0]["field"][0]["source"]["fileObject"]["@id"] = "data/absent.csv"
    (tmp_path / "croissant.json").write_text(json.dumps(stated), encoding="utf-8")
    with pytest.raises(mlcroissant.ValidationError):
        mlcroissant.Dataset(str(tmp_path / "croissant.json"))


def test_the_crate_loads_and_its_parts_exist():
    from rocrate.rocrate import ROCrate

    crate = ROCrate(str(paths.ROOT))
    root = crate.root_dataset
    assert root["version"] == bundle.citation(paths.ROOT)["version"]
    assert crate.metadata["conformsTo"] == "https://w3id.org/ro/crate/1.2"
    assert {part.id for part in root["hasPart"]} == set(bundle.PARTS)
    assert [name for name in bundle.PARTS if not (paths.ROOT / name).exists()] == []
    assert len(root["citation"]) == 2
    (author,) = root["author"]
    assert author.type == "Organization"


def test_the_citation_file_is_sound_and_keeps_the_original_study_apart():
    """The required keys of the Citation File Format 1.2.0; its own validator does not install beside current packages."""
    about = bundle.citation(paths.ROOT)
    project = tomllib.loads((paths.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {"cff-version", "message", "title", "authors"} <= set(about)
    assert about["cff-version"] == "1.2.0"
    assert about["type"] == "software"
    assert about["version"] == project["version"]
    assert about["license"] == project["license"]
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", str(about["date-released"]))
    assert [author["name"] for author in about["authors"]] == [author["name"] for author in project["authors"]]
    assert "preferred-citation" not in about
    assert any(i["value"] == "arXiv:2610.30924" for entry in about["references"] for i in entry.get("identifiers", []))
    for entry in about["references"]:
        assert {"type", "title", "authors"} <= set(entry)


@pytest.mark.parametrize("name", bundle.DESCRIBED_TABLES)
def test_a_described_table_keeps_its_contract(name):
    assert len(bundle.DESCRIBED_TABLES[name].read(paths.ROOT / name)) > 0


def test_every_file_of_the_badge_checklist_exists(names):
    text = (paths.ROOT / "docs/artifact-badges.md").read_text(encoding="utf-8")
    cited = {name for name in re.findall(r"`([\w./-]+)`", text) if "/" in name or "." in name} - {f"dist/{TOP}.zip"}
    assert len(cited) > 15
    assert [name for name in sorted(cited) if not (paths.ROOT / name).exists()] == []
    targets = set(re.findall(r"`make (\w+)`", text))
    makefile = (paths.ROOT / "Makefile").read_text(encoding="utf-8")
    assert targets == {target for target in targets if re.search(rf"^{target}:", makefile, flags=re.M)}


def test_a_file_that_is_not_the_pinned_one_is_not_archived(copy):
    check_pins(paths.ROOT)
    path = copy / "data/record/coverage.csv"
    path.write_text(path.read_text().replace(",1", ",0", 1))
    with pytest.raises(ContractError, match=r"coverage\.csv: not the file pinned in"):
        check_pins(copy)
