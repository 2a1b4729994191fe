import shutil

import pytest
from typer.testing import CliRunner

from regatta.cells import check
from regatta.commands import app
from regatta_lib.base import ContractError, paths, records, yaml_value

runner = CliRunner()


@pytest.fixture
def sixth(tmp_path):
    """A copy of the sixth cell that may be broken."""
    folder = tmp_path / "eu_banking"
    shutil.copytree(paths.INSTRUMENTS / "eu_banking", folder)
    return folder


def edit(folder, kind, old, new, times=1):
    path = folder / f"{kind}.yaml"
    text = path.read_text("utf-8")
    assert text.count(old) >= times, old
    path.write_text(text.replace(old, new, times), "utf-8")


def thaw(folder):
    (folder / check.FROZEN).unlink()


@pytest.mark.parametrize("cell", [*records.CELLS, "eu_banking"])
def test_every_cell_of_the_repository_passes(cell):
    assert check.cell_violations(paths.INSTRUMENTS / cell) == []


def test_the_sixth_cell_passes_the_command_and_is_frozen():
    result = runner.invoke(app, ["cell", "check", str(paths.INSTRUMENTS / "eu_banking")])
    assert (result.exit_code, result.output) == (0, "eu_banking: 0 violations\n")
    assert (paths.INSTRUMENTS / "eu_banking" / check.FROZEN).read_text() == check.freeze(paths.INSTRUMENTS / "eu_banking")


def test_the_sixth_cell_enters_no_table_of_the_study():
    for path in (paths.INSTRUMENTS / "index.csv", paths.INSTRUMENTS / "audit.csv", *paths.RECORD.glob("*.csv")):
        assert "eu_banking" not in path.read_text("utf-8"), path


# kind of file, old text, new text, what the one line says
BREAKS = [
    ("requirements", "- id: EB-02", "- id: EB-99", "row 2, id: found 'EB-99'; expected EB-02"),
    ("faults", "related_requirements: [EB-02]", "related_requirements: [EB-77]", "related_requirements: found 'EB-77'"),
    ("faults", "low: 30", "low: 60", "EB-F1, witness.low: found 60.0; expected less than high (50.0)"),
    ("faults", "unit: eur", "unit: null", "EB-F1, witness.unit: found None; expected a unit"),
    ("ledger", "- id: EB-F2", "- id: EB-F9", "ledger.yaml: items, row 27 (EB-F9), id: found 'EB-F9'"),
    ("ledger", "audit_class: clean", "audit_class: source_flag", "EB-01, audit_class: found 'clean'; expected what"),
    ("mapping", "requirements: [EB-19]", "requirements: [EB-66]", "deposit_protection, requirements: found 'EB-66'"),
    ("mapping", "regulation: dora", "regulation: nis2", "all rows, regulation: found"),
    ("ontology", "regulation: instant", "regulation: slow", "instant_time, regulation: found 'slow'; expected a regulation"),
    ("pilot", "for EUR 42.50", "for EUR 24.50", "EB-F1, discriminates: found 'near_miss'; expected the witness to say"),
    ("pilot", "owes us EUR 90 million", "owes us EUR 120 million", "EB-F5, near_miss: found 'discriminates'"),
    ("cell", 'done: "2026-11-30"', "done: null", "scope, done: found None; expected a date"),
    ("cell", "- step: scope", "- step: pilot", "protocol row 1, step: found 'pilot'; expected scope"),
    ("cell", "cell: eu_banking", "cell: eu_bank", "cell: found 'eu_bank'; expected 'eu_banking', the name of the folder"),
    ("documents", "title: ", "title: TODO ", "documents.yaml: TODO is still in the text"),
]


@pytest.mark.parametrize(("kind", "old", "new", "line"), BREAKS)
def test_a_broken_cell_fails_with_a_line_for_the_violation(sixth, kind, old, new, line):
    thaw(sixth)
    edit(sixth, kind, old, new)
    result = runner.invoke(app, ["cell", "check", str(sixth)])
    *lines, count = result.output.splitlines()
    assert (result.exit_code, count) == (1, f"eu_banking: {len(lines)} violations")
    assert all(text.startswith(f"{sixth}/") for text in lines)
    assert any(line in text for text in lines), lines


def with_second(folder, audit_class, *later):
    """Give EB-01, which its first auditor classed as clean, a second verdict, and later steps that repeat the first."""
    path = folder / "ledger.yaml"
    first, rest = path.read_text("utf-8").split("  - id: EB-02", 1)
    head, verdict = first.split("      - step: first", 1)
    second = verdict.rstrip().replace("audit_class: clean", f"audit_class: {audit_class}", 1)
    steps = [f"      - step: second{second}", *(f"      - step: {step}{verdict.rstrip()}" for step in later)]
    path.write_text(
        f"{head}      - step: first{verdict.rstrip()}\n" + "\n".join(steps) + f"\n\n  - id: EB-02{rest}", "utf-8"
    )
    for step in later:
        edit(folder, "requirements", "decided_by: first", f"decided_by: {step}")


@pytest.mark.parametrize("later", [[], ["recheck"]])
def test_auditors_who_differ_need_an_adjudicator(sixth, later):
    thaw(sixth)
    with_second(sixth, "source_flag", *later)
    steps = ["first", "second", *later]
    expected = "expected adjudicated after second: first says clean, second source_flag"
    assert check.cell_violations(sixth) == [f"{sixth / 'ledger.yaml'}: EB-01, step: found {steps}; {expected}"]


@pytest.mark.parametrize(("audit_class", "later"), [("clean", []), ("clean", ["recheck"]), ("source_flag", ["adjudicated"])])
def test_auditors_who_agree_or_were_adjudicated_pass(sixth, audit_class, later):
    thaw(sixth)
    with_second(sixth, audit_class, *later)
    assert check.cell_violations(sixth) == []


def test_two_independent_violations_are_two_lines(sixth):
    thaw(sixth)
    edit(sixth, "mapping", "requirements: [EB-19]", "requirements: [EB-66]")
    edit(sixth, "pilot", "for EUR 42.50", "for EUR 24.50")
    assert len(check.cell_violations(sixth)) == 2


def test_a_fault_category_that_occurs_twice_is_named(sixth):
    thaw(sixth)
    edit(sixth, "faults", "category: metric_error", "category: threshold_error")
    assert [line.split(": ", 1)[1] for line in check.cell_violations(sixth)] == [
        "all rows, category: found '2 of threshold_error'; expected 1",
        "all rows, category: found '0 of metric_error'; expected 1",
    ]


def test_an_ontology_that_repeats_a_requirement_is_named(sixth):
    thaw(sixth)
    edit(
        sixth,
        "documents",
        "text: >-\n",
        "text: >-\n      A payer who acted without fraud, intent or gross negligence bears at most EUR 50.\n",
    )
    lines = check.cell_violations(sixth)
    assert lines and all("no run of 8 words shared with the judge side" in line for line in lines)


def test_a_change_after_the_freeze_is_named_and_a_new_freeze_is_a_decision(sixth):
    edit(sixth, "documents", "title: ", "title: New ")
    (line,) = check.cell_violations(sixth)
    assert line.startswith(f"{sixth / 'documents.yaml'}: SHA-256 found ") and "as frozen in SHA256SUMS" in line
    assert runner.invoke(app, ["cell", "check", str(sixth)]).exit_code == 1
    assert runner.invoke(app, ["cell", "check", str(sixth), "--freeze"]).exit_code == 0
    assert check.cell_violations(sixth) == []


def test_a_broken_cell_is_not_frozen(sixth):
    thaw(sixth)
    edit(sixth, "pilot", "for EUR 42.50", "for EUR 24.50")
    assert runner.invoke(app, ["cell", "check", str(sixth), "--freeze"]).exit_code == 1
    assert not (sixth / check.FROZEN).exists()


def test_a_missing_file_and_broken_yaml_are_one_line_each(sixth):
    (sixth / "mapping.yaml").unlink()
    (sixth / "faults.yaml").write_text("cell: [\n", "utf-8")
    lines = check.cell_violations(sixth)
    assert len(lines) == 2
    assert "faults.yaml: " in lines[0] and lines[1] == f"{sixth / 'mapping.yaml'}: missing, expected a file"


def test_a_scaffold_is_valid_yaml_that_the_check_refuses_until_it_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "INSTRUMENTS", tmp_path)
    result = runner.invoke(app, ["cell", "new", "fr_banking"])
    assert result.exit_code == 0 and "8 files" in result.output
    lines = check.cell_violations(tmp_path / "fr_banking")
    assert len(lines) == 4
    assert any("requirements: found a list; List should have at least 25 items" in line for line in lines)
    assert not any("Field required" in line or "Extra inputs" in line for line in lines)


def test_a_scaffold_is_the_template_files_with_the_name_put_in():
    templates = sorted((paths.ROOT / "regatta/cells/templates").iterdir())
    scaffold = check.scaffold("fr_banking")
    assert sorted(scaffold) == [path.name for path in templates]
    for path in templates:
        template = yaml_value(path)
        assert template.pop("cell") == "CELL"
        assert scaffold[path.name] == path.read_text("utf-8").replace("CELL", "fr_banking")


def test_an_existing_cell_is_never_overwritten(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "INSTRUMENTS", tmp_path)
    (tmp_path / "fr_banking").mkdir()
    result = runner.invoke(app, ["cell", "new", "fr_banking"])
    assert isinstance(result.exception, ContractError) and "exists already" in str(result.exception)
    assert list((tmp_path / "fr_banking").iterdir()) == []


@pytest.mark.parametrize("name", ["us_fintech", "EU", "eu banking", "../eu", "eu__bank", ""])
def test_a_bad_name_is_refused(name):
    with pytest.raises(ContractError, match="expected a new name such as eu_banking"):
        check.scaffold(name)
