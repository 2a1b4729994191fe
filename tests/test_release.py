import json
import shutil

import pytest

from regatta.release import importer as release
from regatta_lib.base import ContractError, paths, suite_id
from regatta_lib.measures import RECORD_TABLES, read_record


def test_the_record_is_re_derived_byte_for_byte(release_folder):
    texts = release.record_tables(release_folder)
    assert set(texts) == {f"{name}.csv" for name in RECORD_TABLES}
    for name, text in texts.items():
        assert (paths.RECORD / name).read_bytes() == text.encode()


def test_the_record_holds_12780_figures():
    record = read_record(paths.RECORD)
    assert sum(len(record[name]) for name in ("coverage", "faults", "specificity", "adversarial")) == 12_780
    assert len(record["suites"]) == 180


def test_the_released_rates_are_the_reference_values(release_folder):
    """The release stores five rates per suite; they are the expected side of 900 reference values, not our computation."""
    loaded = release.load_results(release_folder)
    pinned = {key: value for key, value, _ in _reference_rows()}
    compared = 0
    for generator, suffix in release.SUFFIXES.items():
        coverage = loaded[f"results/coverage_results{suffix}.json"]
        faults = loaded[f"results/fdr_results{suffix}.json"]
        for name, covered in coverage.items():
            match = release.SUITE.fullmatch(name)
            suite = suite_id(
                generator,
                release.RELEASE_STRATEGIES[match["strategy"]],
                release.RELEASE_CELLS[match["cell"]],
                match["replication"],
            )
            stored = {
                "rc": covered["rc_score"],
                "iss": covered["iss_mean"],
                "ac": covered["ac"]["ac_score"],
                "fdr_design": faults[name]["fdr_design"],
                "fdr_execution": faults[name]["fdr_execution"],
            }
            for measure, value in stored.items():
                assert float(pinned[f"suite/{suite}/{measure}"]) == pytest.approx(value, rel=1e-12)
                compared += 1
    assert compared == 900


def _reference_rows():
    import csv

    with open(paths.REFERENCE / "reference_values.csv", encoding="utf-8", newline="") as file:
        yield from list(csv.reader(file))[1:]


def test_altered_truncated_missing_and_unknown_files_are_named(release_folder, tmp_path):
    shutil.copytree(release_folder / "results", tmp_path / "results")
    for path in tmp_path.rglob("*"):
        path.chmod(0o755)
    target = tmp_path / "results/fdr_results.json"
    whole = target.read_bytes()
    for content in (whole.replace(b"true", b"false", 1), whole[:-100], b""):
        target.write_bytes(content)
        with pytest.raises(ContractError, match=r"fdr_results.json: SHA-256 is [0-9a-f]{64}, expected 2ba3c22c"):
            release.record_tables(tmp_path)
    target.unlink()
    with pytest.raises(ContractError, match=r"fdr_results\.json: missing"):
        release.record_tables(tmp_path)
    target.write_bytes(whole)
    (tmp_path / "results/extra.json").write_text("{}")
    with pytest.raises(ContractError, match=r"extra\.json: unknown"):
        release.record_tables(tmp_path)


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(ContractError, match="missing"):
        release.record_tables(tmp_path)


def _results():
    name = "G1_baseline_fintech_rep1"
    coverage = {
        name: {
            "rc": [{"requirement_id": "FT-01", "covered": True}],
            "iss": [{"scenario_id": "fintech_G1_S01", "iss_score": 4}],
            "ac": {"covered": ["prompt_injection"], "not_covered": ["role_confusion"]},
        }
    }
    fault = {"fault_id": "FT-F1", "detecting_scenario": "fintech_G1_S07"}
    faults = {name: {"stage_a": [fault | {"design_covered": True}], "stage_b": [fault | {"execution_detected": False}]}}
    loaded = {}
    for suffix in release.SUFFIXES.values():
        loaded[f"results/coverage_results{suffix}.json"] = json.loads(json.dumps(coverage))
        loaded[f"results/fdr_results{suffix}.json"] = json.loads(json.dumps(faults))
    return loaded


def test_extract_reads_names_and_scenario_numbers():
    rows = release.extract(_results())
    assert rows["suites"][0] == {
        "suite_id": "sonnet4.S1.us_fintech.r1",
        "generator": "sonnet4",
        "strategy": "S1",
        "cell": "us_fintech",
        "replication": 1,
        "scenarios": 1,
    }
    assert rows["faults"][0] == {
        "suite_id": "sonnet4.S1.us_fintech.r1",
        "fault_id": "FT-F1",
        "stage": "design",
        "detected": 1,
        "scenario": 7,
    }
    assert [row["covered"] for row in rows["adversarial"][:2]] == [1, 0]


def test_extract_refuses_unknown_and_unpaired_suites():
    loaded = _results()
    loaded["results/fdr_results.json"]["G9_magic_fintech_rep1"] = {}
    with pytest.raises(ContractError, match="G9_magic_fintech_rep1: in one kind of file only"):
        release.extract(loaded)
    loaded["results/coverage_results.json"]["G9_magic_fintech_rep1"] = {}
    with pytest.raises(ContractError, match="unknown suite 'G9_magic_fintech_rep1'"):
        release.extract(loaded)
    loaded = _results()
    loaded["results/coverage_results.json"]["G1_baseline_fintech_rep1"]["iss"][0]["scenario_id"] = "S1"
    with pytest.raises(ContractError, match="scenario is 'S1'"):
        release.extract(loaded)


def test_a_record_with_a_foreign_suite_is_refused(copy):
    path = copy / "data/record/specificity.csv"
    path.write_text(path.read_text().replace("sonnet4.S4.vn_insurance.r3", "sonnet4.S4.vn_insurance.r4"))
    with pytest.raises(ContractError, match="suite missing or unknown"):
        read_record(copy / "data/record")


def test_a_record_whose_columns_contradict_its_identifier_is_refused(copy):
    path = copy / "data/record/suites.csv"
    path.write_text(
        path.read_text().replace("sonnet4.S4.vn_insurance.r3,sonnet4,S4", "sonnet4.S4.vn_insurance.r3,sonnet4,S3")
    )
    with pytest.raises(ContractError, match=r"r3: its columns say sonnet4.S3.vn_insurance.r3"):
        read_record(copy / "data/record")


def test_no_sentence_of_the_release_is_in_this_repository(release_folder):
    """No run of eight words from the texts of the release stands in any tracked text file."""
    import re
    import subprocess

    def words(text):
        return re.findall(r"\w+", text.lower())

    runs = set()
    texts = []
    for path in (release_folder / "faults").glob("*.json"):
        for faults in json.loads(path.read_text())["faults"].values():
            texts += [f[key] for f in faults for key in ("name", "injection", "ground_truth", "expected_detection")]
    for path in (release_folder / "checklists").glob("*.json"):
        texts += [r["requirement"] for r in json.loads(path.read_text())["requirements"]]
    for text in texts:
        tokens = words(text)
        runs |= {tuple(tokens[i : i + 8]) for i in range(len(tokens) - 7)}
    runs.remove(tuple(words("Nghị định 116/2013/NĐ-CP, Article 20")))  # a citation that is kept as released
    assert len(runs) > 500
    listed = subprocess.run(["git", "ls-files"], cwd=paths.ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout: no list of tracked files")
    for name in listed.stdout.splitlines():
        if (
            name.endswith((".py", ".md", ".csv", ".yaml", ".yml", ".ipynb", ".tex", ".json", ".jsonl"))
            and (paths.ROOT / name).is_file()
        ):
            tokens = words((paths.ROOT / name).read_text(encoding="utf-8"))
            copied = runs & {tuple(tokens[i : i + 8]) for i in range(len(tokens) - 7)}
            assert not copied, f"{name}: {' '.join(sorted(copied)[0])}"
