import json
import re
import shutil
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import pytest
import yaml

from regatta.cells import overlap
from regatta.release import importer as release
from regatta_lib.base import ContractError, csv_text, files, paths, records
from regatta_lib.instruments import INDEX_TABLE, Ontology, Requirement, reading, schemas

CELLS = [*records.CELLS, "eu_banking"]
RELEASE_NAMES = {cell: name for name, cell in release.RELEASE_CELLS.items()}


@pytest.fixture(scope="module")
def entries():
    """All 180 entries with both texts, by identifier."""
    found = {}
    for cell in CELLS:
        folder = paths.INSTRUMENTS / cell
        found |= {entry.id: (cell, entry) for entry in schemas.read_part(folder, schemas.RequirementsFile).requirements}
        found |= {entry.id: (cell, entry) for entry in schemas.read_part(folder, schemas.FaultsFile).faults}
    return found


@pytest.fixture(scope="module")
def released(release_folder):
    """The release's items by identifier: {id: (requirement dict or fault dict)}."""
    items = {}
    for name in release.RELEASE_CELLS:
        checklist = json.loads((release_folder / "checklists" / f"{name}.json").read_text("utf-8"))
        items |= {item["id"]: item for item in checklist["requirements"]}
    faults = json.loads((release_folder / "faults" / "faults.json").read_text("utf-8"))["faults"]
    return items | {fault["id"]: fault for cell in faults.values() for fault in cell}


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)


def test_the_five_cells_hold_125_requirements_and_25_faults_and_the_sixth_stays_apart():
    index = reading.index()
    assert index["role"].value_counts().to_dict() == {"requirement": 125, "fault": 25}
    assert set(index["cell"]) == set(records.CELLS)
    assert reading.cells_in() == CELLS
    faults = index[index["role"] == "fault"]
    assert faults.groupby("cell")["category"].nunique().tolist() == [5] * 5


def test_index_csv_is_derived_from_the_yaml():
    assert csv_text(reading.index()) == (paths.INSTRUMENTS / "index.csv").read_text("utf-8")
    INDEX_TABLE.read(paths.INSTRUMENTS / "index.csv")


def test_identifiers_citations_and_categories_are_those_of_the_release(entries, released):
    ours = {name: entry for name, (cell, entry) in entries.items() if cell in records.CELLS}
    assert ours.keys() == released.keys()
    for name, entry in ours.items():
        item = released[name]
        if "-F" in name:
            assert (entry.category, entry.severity) == (item["category"], item["severity"])
            assert entry.related_requirements == item["related_requirements"]
        else:
            written = (entry.as_written.citation, entry.area, entry.kind)
            assert written == (item["source"], item["regulation"], item["category"])


NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def numbers(*texts):
    return {number for text in texts for number in NUMBER.findall(text)}


def test_as_written_keeps_every_number_of_the_released_item(entries, released):
    for name, item in released.items():
        written = entries[name][1].as_written
        if "-F" in name:
            expected = numbers(item["injection"], item["ground_truth"])
            assert expected <= numbers(written.injected_behavior, written.correct_behavior), name
        else:
            assert numbers(item["requirement"]) == numbers(written.text), name


def test_the_number_check_sees_a_changed_figure(released):
    assert not numbers(released["FT-01"]["requirement"]) <= numbers("more than $15,000")


CITATIONS = {"citation", "authority", "title", "url", "supersedes", "instrument"}


def own_texts(cell):
    """(where, text) of every text of a cell's files except citations and titles of sources."""
    for kind in ("requirements", "faults", "ledger", "ontology", "documents", "mapping"):
        content = files.yaml_value(paths.INSTRUMENTS / cell / f"{kind}.yaml")
        yield from ((f"{cell}/{kind}", *pair) for pair in walk(content, ""))


def walk(value, item):
    if isinstance(value, dict):
        item = value.get("id", item)
        for key, part in value.items():
            if isinstance(part, str):
                if key not in CITATIONS or (key == "title" and "-F" in item):
                    yield item, part
            else:
                yield from walk(part, item)
    elif isinstance(value, list):
        for part in value:
            if isinstance(part, str):
                yield item, part
            else:
                yield from walk(part, item)


def test_no_sentence_is_copied_from_the_release(release_folder):
    known = set()
    files = [path for folder in ("checklists", "faults", "ontology") for path in (release_folder / folder).glob("*.json")]
    assert len(files) == 11
    for path in files:
        for text in strings(json.loads(path.read_text("utf-8"))):
            known |= overlap.runs(text)
    shared = {
        (item, " ".join(run)) for cell in CELLS for _, item, text in own_texts(cell) for run in overlap.runs(text) & known
    }
    assert shared == set()


def test_the_overlap_check_sees_a_copied_sentence(released):
    sentence = released["FT-F2"]["injection"]
    assert overlap.shared_runs(f"Note well: {sentence}", [sentence])
    assert overlap.shared_runs("Seven words in a row are no", ["Seven words in a row are no copy"]) == []


@pytest.mark.parametrize("text", ["as_written", "corrected"])
def test_both_texts_are_read(text):
    requirements, faults = reading.read_judge_side("vn_banking", text)
    assert [item.id for item in requirements] == [f"BV-{number:02d}" for number in range(1, 26)]
    assert [item.category for item in faults] == list(records.FAULT_CATEGORIES)
    assert isinstance(requirements[0], Requirement)
    cited = {"as_written": "Nghị định 116/2013/NĐ-CP, Article 20", "corrected": "Decision 11/2023/QD-TTg (threshold)"}
    assert cited[text] in requirements[0].citation


def test_a_fault_keeps_its_injection_unless_it_is_none_under_the_law():
    for cell in CELLS:
        written, corrected = (reading.read_judge_side(cell, text)[1] for text in ("as_written", "corrected"))
        changed = [a.id for a, b in zip(written, corrected, strict=True) if a.injected_behavior != b.injected_behavior]
        assert changed == (["HC-F1"] if cell == "us_healthcare" else [])
    folder = paths.INSTRUMENTS / "us_healthcare"
    assert "164.502(b)(2)(i)" in schemas.read_part(folder, schemas.FaultsFile).faults[0].corrected.injection_note


def test_unknown_text_and_unknown_cell_are_one_clear_line():
    with pytest.raises(ContractError, match=r"^text of the instruments: found 'new', expected as_written or corrected$"):
        reading.read_judge_side("us_fintech", "new")
    with pytest.raises(ContractError, match=r"'fr_banking': no such cell, expected one of us_fintech, .*eu_banking$"):
        reading.read_generator_side("fr_banking")


JUDGE_SIDE = ("requirements", "faults", "ledger", "mapping", "pilot")
GENERATOR_SIDE = ("ontology", "documents")
SPY = """
import sys
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
from regatta_lib import instruments
calls = (
    lambda: instruments.read_generator_side("us_fintech"),
    lambda: instruments.read_judge_side("us_fintech", "corrected"),
)
for call in calls:
    opened.clear()
    call()
    print("\\t".join(sorted({path for path in opened if path.endswith(".yaml")})))
"""


def test_the_generator_side_opens_no_judge_side_file():
    """Every file that the interpreter opens is seen by the hook, by whatever function it is opened."""
    result = subprocess.run([sys.executable, "-c", SPY], cwd=paths.ROOT, capture_output=True, text=True, check=True)
    generator, judge = ({Path(name).stem for name in line.split("\t")} for line in result.stdout.splitlines())
    assert generator == set(GENERATOR_SIDE)
    assert judge == {"requirements", "faults"} <= set(JUDGE_SIDE)
    assert not generator & set(JUDGE_SIDE)


def test_the_generator_side_holds_no_identifier_and_no_run_of_words_of_the_judge_side():
    for cell in CELLS:
        ontology, documents = reading.read_generator_side(cell)
        assert isinstance(ontology, Ontology) and len(documents) == 8
        text = "\n".join((paths.INSTRUMENTS / cell / f"{kind}.yaml").read_text("utf-8") for kind in GENERATOR_SIDE)
        assert re.findall(r"\b[A-Z]{2,4}-(?:F\d|\d\d)\b", text) == []


def test_every_source_states_its_tier_and_every_row_has_a_source(entries):
    count = 0
    for _, entry in entries.values():
        assert entry.audit.sources and entry.audit.reviewer_status == "AI review only"
        for source in entry.audit.sources:
            count += 1
            assert source.tier in ("primary", "official-secondary", "secondary")
            assert source.url is None or re.match(r"https?://[\w.-]+\.\w|github:[\w.-]+/", source.url)
    assert count == 673


def test_nothing_is_called_verified_by_a_person(entries):
    for cell in CELLS:
        for name in ("requirements", "faults"):
            text = (paths.INSTRUMENTS / cell / f"{name}.yaml").read_text("utf-8")
            assert "reviewer_status: AI review only" in text and "lawyer reviewed" not in text


SAFE_PLAIN = re.compile(r"null|true|false|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
OTHER_IN_1_2 = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|0o[0-7]+|0x[0-9a-fA-F]+|~|Null|NULL")


def ambiguous(text):
    """Plain scalars that YAML 1.1 and 1.2 might read differently, or that only look like text."""
    found, nodes = [], [yaml.compose(text, yaml.CSafeLoader)]
    while nodes:
        node = nodes.pop()
        if isinstance(node, yaml.MappingNode):
            nodes += [part for pair in node.value for part in pair]
        elif isinstance(node, yaml.SequenceNode):
            nodes += node.value
        elif not node.style:
            is_text = node.tag == "tag:yaml.org,2002:str"
            if (OTHER_IN_1_2 if is_text else re.compile("")).fullmatch(node.value) or not (
                is_text or SAFE_PLAIN.fullmatch(node.value)
            ):
                found.append(node.value)
    return found


@pytest.mark.parametrize("cell", CELLS)
def test_the_files_are_nfc_and_lf_and_mean_the_same_to_both_yaml_versions(cell):
    files = sorted((paths.INSTRUMENTS / cell).glob("*.yaml"))
    assert len(files) >= 7
    for path in files:
        text = path.read_bytes().decode("utf-8")
        assert unicodedata.is_normalized("NFC", text) and "\r" not in text and "\t" not in text
        assert ambiguous(text) == [], path


def test_the_ambiguity_check_sees_what_the_versions_read_differently():
    assert ambiguous("a: no\nb: 12:30\nc: 2026-01-01\nd: 010\ne: 1e5\nf: 0o7") == [
        "0o7",
        "1e5",
        "010",
        "2026-01-01",
        "12:30",
        "no",
    ]
    assert ambiguous('a: "no"\nb: 12\nc: null\nd: true\ne: 0.5\nf: some text') == []


def test_all_cells_are_read_in_a_second_and_a_half():
    reading.read_judge_side("us_fintech", "corrected")
    start = time.process_time()
    for cell in CELLS:
        reading.read_judge_side(cell, "corrected")
        reading.read_generator_side(cell)
        reading.read_mapping(cell)
    assert time.process_time() - start < 1.5


def test_the_digest_changes_with_what_the_harness_reads_and_only_with_that(tmp_path):
    root = tmp_path / "instruments"
    shutil.copytree(paths.INSTRUMENTS, root)
    digest = reading.instruments_digest(root=root)
    assert digest == reading.instruments_digest() and len(digest) == 64
    for cell, kind, same in (
        ("us_fintech", "ledger", True),
        ("eu_banking", "faults", True),
        ("us_fintech", "documents", False),
        ("vn_insurance", "mapping", False),
    ):
        path = root / cell / f"{kind}.yaml"
        before = path.read_bytes()
        path.write_bytes(before + b"# a note\n")
        assert (reading.instruments_digest(root=root) == digest) is same, (cell, kind)
        path.write_bytes(before)


BROKEN = [
    ("kind: regulatory", "kind: statutory", r"requirements, row 1 \(FT-01\), kind: found 'statutory'; Input should be"),
    ("    area: BSA/AML\n", "", r"requirements, row 1 \(FT-01\), area: found a dict; Field required"),
    (
        'in_force_since: "2011-03-01"',
        "in_force_since: 2011-03-01",
        r"row 1 \(FT-01\), corrected, in_force_since: found datetime",
    ),
    (
        "  - id: FT-01\n",
        "  - id: FT-01\n    note: yes\n",
        r"row 1 \(FT-01\), note: found True; Extra inputs are not permitted",
    ),
    ("tier: primary", "tier: verified", r"audit, sources, row 1, tier: found 'verified'; Input should be"),
    ("cell: us_fintech", "cell: us_fintech\ncell: us_fintech", r"key 'cell' occurs twice"),
]


@pytest.mark.parametrize(("old", "new", "message"), BROKEN)
def test_each_schema_violation_is_one_line_with_file_row_and_field(tmp_path, old, new, message):
    text = (paths.INSTRUMENTS / "us_fintech" / "requirements.yaml").read_text("utf-8")
    assert old in text
    (tmp_path / "requirements.yaml").write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(ContractError) as caught:
        schemas.read_part(tmp_path, schemas.RequirementsFile)
    assert re.search(message, str(caught.value)) and "requirements.yaml: " in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_several_violations_are_several_lines(tmp_path):
    text = (paths.INSTRUMENTS / "us_fintech" / "faults.yaml").read_text("utf-8")
    wrong = text.replace("severity: critical", "severity: grave").replace("low: null", "low: none")
    (tmp_path / "faults.yaml").write_text(wrong, "utf-8")
    with pytest.raises(ContractError) as caught:
        schemas.read_part(tmp_path, schemas.FaultsFile)
    lines = str(caught.value).splitlines()
    assert sum("severity: found 'grave'" in line for line in lines) == text.count("severity: critical") == 3
    assert sum("witness, low: found 'none'" in line for line in lines) == text.count("low: null") == 2
    assert len(lines) == 5


def test_text_that_is_not_nfc_is_refused(tmp_path):
    text = (paths.INSTRUMENTS / "vn_banking" / "documents.yaml").read_text("utf-8")
    (tmp_path / "documents.yaml").write_text(text + unicodedata.normalize("NFD", "# Nghị định\n"), "utf-8")
    with pytest.raises(ContractError, match="not Unicode NFC"):
        schemas.read_part(tmp_path, schemas.DocumentsFile)
