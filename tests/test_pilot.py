"""The table of a study with arms, on constructed verdicts and on a scripted study."""

import asyncio
import io
import json

import numpy as np
import pandas as pd
import pypdf
import pytest
import typst
from historical import suite, table, the_index, verdict
from scripted_study import Recorded, sides, study

from regatta_lib.base import ContractError, paths
from regatta_lib.instruments import read_mapping, reading
from regatta_lib.measures import VERDICT_TABLE
from regatta_lib.models import transcripts
from regatta_lib.report import document as report
from regatta_lib.stats import Bootstrap, resampling
from regatta_lib.studies import Role, canary_table, pilot, runs, store, verdict_table

BOOTSTRAP = Bootstrap(seed=1, resamples=1_000, level=0.95)


def constructed():
    """Ten suites, two faults. IN-F1: joint 9, control 1, single 8, design 7, second draw 9. IN-F2: 4 everywhere."""
    rows = []
    for n in range(1, 11):
        for fault, (joint, control, single, design) in {"IN-F1": (9, 1, 8, 7), "IN-F2": (4, 4, 4, 4)}.items():
            rows.append(verdict(suite(n), "design", fault, "", int(n <= design)))
            rows.append(verdict(suite(n), "execution", fault, "joint", int(n <= joint), draw=2))
            for arm, most in (("joint", joint), ("control", control), ("single", single)):
                rows.append(verdict(suite(n), "execution", fault, arm, int(n <= most)))
    return table(rows)


CANARIES = pd.DataFrame({"judge": "design", "plant": ["a", "b", "c", "d"], "state": "answered", "held": [1, 1, 1, 0]})


@pytest.fixture(scope="module")
def found():
    verdicts = constructed()
    second = verdicts[(verdicts["judge"] == "design") & (verdicts["target"] == "IN-F1")].copy()
    second.iloc[0, second.columns.get_loc("value")] = 0
    return pilot.pilot_summary(verdicts, second, CANARIES, the_index(), BOOTSTRAP).set_index("quantity")


@pytest.mark.parametrize(
    ("quantity", "value", "n"),
    [
        ("suites", 10, 10),
        ("verdicts", 100, 100),
        ("fdr_design", 11 / 20, 20),
        ("fdr_execution", 13 / 20, 20),
        ("stage_agreement", 18 / 20, 20),
        ("mutation_effect", 8 / 20, 20),
        ("interaction", 1 / 20, 20),
        ("false_alarms", 5 / 20, 20),
        ("retest_agreement", 1, 20),
        ("retest_stage_agreement", 18 / 20, 20),
        ("retest_excess", 2 / 20, 20),
        ("canaries_held", 3 / 4, 4),
        ("second_judge/design", (0.9 - 0.54) / (1 - 0.54), 10),
        ("second_judge/design/agreement", 9 / 10, 10),
        ("pooled_margin", 18 / 20 - (11 / 20 * 13 / 20 + 9 / 20 * 7 / 20), 20),
        ("mutation_effect/p", 2 / 2**8, 20),
        ("interaction/p", 1, 20),
    ],
)
def test_quantities_of_constructed_verdicts(found, quantity, value, n):
    assert found.loc[quantity, "value"] == pytest.approx(value)
    assert (found.loc[quantity, "n"], found.loc[quantity, "unresolved"]) == (n, 0)


@pytest.mark.parametrize(
    ("quantity", "count", "n"),
    [
        ("fdr_design", 11, 20),
        ("stage_agreement", 18, 20),
        ("retest_stage_agreement", 18, 20),
        ("false_alarms", 5, 20),
        ("canaries_held", 3, 4),
        ("mutation_effect/joint_only", 8, 20),
        ("mutation_effect/control_only", 0, 20),
        ("interaction/joint_only", 1, 20),
        ("second_judge/design/agreement", 9, 10),
        ("second_judge/design/both_no", 3, 10),
        ("second_judge/design/first_only", 1, 10),
        ("second_judge/design/second_only", 0, 10),
        ("second_judge/design/both_yes", 6, 10),
        ("second_judge/design/prevalence", 7, 10),
    ],
)
def test_a_share_has_its_count_and_the_exact_interval(found, quantity, count, n):
    row = found.loc[quantity]
    assert (row["count"], row["n"], row["value"]) == (count, n, pytest.approx(count / n))
    (low,), (high,) = resampling.exact_interval(np.array([count]), np.array([n]), BOOTSTRAP.level)
    assert (row["low"], row["high"]) == (pytest.approx(low), pytest.approx(high))


def test_faults_behind_a_quantity_are_counted(found):
    assert found.loc[["mutation_effect/faults", "interaction/faults", "faults_varying"], "count"].tolist() == [1, 1, 2]
    assert found.loc[["mutation_effect/faults", "interaction/faults", "faults_varying"], "n"].tolist() == [2, 2, 2]


def test_a_margin_that_is_zero_by_construction_is_not_reported(found):
    verdicts = constructed()
    verdicts.loc[verdicts["judge"] == "design", "value"] = 0
    fixed = pilot.pilot_summary(verdicts, verdicts, CANARIES, the_index(), BOOTSTRAP).set_index("quantity")
    assert fixed.loc["faults_varying", "count"] == 0
    assert fixed.loc["per_fault_margin", ["value", "low", "high"]].isna().all()
    assert found.loc["per_fault_margin", ["value", "low", "high"]].notna().all()


def test_judges_without_a_disagreement_have_no_interval_of_kappa():
    verdicts = constructed()
    alike = pilot.second_judge(verdicts, verdicts, BOOTSTRAP).set_index("judge").loc["design"]
    assert alike["kappa"] == 1 and alike["note"].startswith("degenerate")
    assert alike[["kappa_low", "kappa_high", "ac1_low", "ac1_high"]].isna().all()
    assert (alike["agreed"], alike["agreement_high"]) == (20, 1)
    assert alike["agreement_low"] == pytest.approx(0.025 ** (1 / 20))
    other = verdicts.copy()
    other.loc[other.index[other["judge"] == "design"][0], "value"] = 0
    differing = pilot.second_judge(verdicts, other, BOOTSTRAP).set_index("judge").loc["design"]
    assert differing["agreed"] == 19 and differing["note"] == ""
    assert differing[["kappa_low", "kappa_high", "ac1_low", "ac1_high"]].notna().all()


def test_coverage_by_what_was_withheld():
    covered = {"IN-01": 1, "IN-02": 0, "IN-03": 1, "IN-04": 0}
    verdicts = table([verdict(suite(n), "coverage", item, "", value) for n in (1, 2, 3) for item, value in covered.items()])
    verdicts.loc[(verdicts["suite_id"] == suite(2)) & (verdicts["target"] == "IN-02"), ["state", "value"]] = [
        "refused",
        None,
    ]
    mappings = {"us_insurance": {"a": ["IN-01", "IN-02"], "b": ["IN-02"], "c": ["IN-03"]}}
    withheld = {suite(1): ["a"], suite(2): ["a", "b"], suite(3): []}
    shown = pilot.seen_and_unseen(verdicts, withheld, mappings).set_index(["suite_id", "knowledge"])
    assert list(shown.index.levels[0]) == sorted(["all", suite(1), suite(2)])
    assert shown.loc[(suite(1), "seen")].tolist() == [2, 1, 0, 0.5]
    assert shown.loc[(suite(2), "unseen")].tolist() == [2, 1, 1, 1]
    assert shown.loc[("all", "unseen")].tolist() == [3, 2, 1, 1]
    assert shown.loc[("all", "unmapped")].tolist() == [2, 0, 0, 0]


def test_coverage_where_nothing_was_withheld():
    verdicts = table([verdict(suite(1), "coverage", "IN-01", "", 1)])
    shown = pilot.seen_and_unseen(verdicts, {suite(1): []}, {"us_insurance": {"a": ["IN-01"]}})
    assert shown.empty
    assert shown.columns.tolist() == ["suite_id", "knowledge", "n", "covered", "unresolved", "rc"]


def test_the_withheld_rules_of_the_pilot():
    manifests = pd.read_json(paths.SUITES / "demo-manifests.jsonl", lines=True).set_index("suite_id")
    mappings = {cell: reading.read_mapping(cell) for cell in ("us_insurance", "vn_banking")}
    shown = pilot.seen_and_unseen(VERDICT_TABLE.read(paths.VERDICTS / "demo.csv"), manifests["withheld"], mappings)
    assert shown["suite_id"].unique().tolist() == [
        "demo_model.S4.us_insurance.r1", "demo_model.S4.vn_banking.r1", "all",
    ]  # fmt: skip
    assert shown["n"].sum() == 2 * 2 * 25


def test_one_served_model_is_named_for_both_judges_of_the_pilot():
    """The report says so in words."""
    served = set()
    for path in transcripts.transcript_files(paths.TRANSCRIPTS / "demo"):
        served |= {
            (event["requested_model"], event["served_model"])
            for _, event in transcripts.events(path)
            if event["event"] == "outcome"
        }
    assert served == {("demo-model", "claude"), ("demo-judge-2", "claude")}


def section(folder, quantities):
    """The text of the pilot's section on these quantities, spaces joined."""
    pilot.SUMMARY_TABLE.write(quantities, folder / report.PILOT_TABLE.path)
    (folder / "numbers.json").write_text(report.numbers_text(report.cells(folder, report.PILOT_TABLE)), encoding="utf-8")
    for name in ("style.typ", "pilot.typ"):
        (folder / name).write_bytes((paths.PAPER / name).read_bytes())
    page = "#set page(height: auto)\n#set text(hyphenate: false)\n"
    source = f'#import "style.typ": sources\n{page}#include "pilot.typ"\n#sources()'
    (folder / "main.typ").write_text(source, encoding="utf-8")
    pages = pypdf.PdfReader(io.BytesIO(typst.compile(folder / "main.typ"))).pages
    return " ".join("".join(page.extract_text() for page in pages).split()).replace("per- fault", "per-fault")


def test_the_words_about_v3_and_the_judges_follow_the_numbers(tmp_path):
    committed = pilot.SUMMARY_TABLE.read(paths.ROOT / report.PILOT_TABLE.path)
    failing = section(tmp_path, committed)
    for words in (
        "it is not positive. There is no per-fault margin",
        "so the lower side does not hold",
        "its interval reaches zero. A",
    ):
        assert words in failing
    assert "A table without disagreement has no interval" in failing
    table = committed.set_index("quantity")
    table.loc[["pooled_margin", "retest_excess"], ["value", "low", "high"]] = [0.3, 0.1, 0.5]
    table.loc["retest_stage_agreement", "value"] = 0.9
    table.loc[["faults_varying", "per_fault_margin"], ["value", "low", "high"]] = [0.2, 0.1, 0.3]
    table.loc[["second_judge/design", "second_judge/execution"], ["low", "high"]] = [0.8, 1]
    holding = section(tmp_path, table.reset_index())
    assert holding.count("it is positive with its whole interval") == 2
    assert "so the lower side holds as a point" in holding and "The per-fault margin is 0.20 [0.10, 0.30]" in holding
    assert "not positive" not in holding and "A table without disagreement" not in holding


def test_intervals_hold_their_value(found):
    for quantity in ("mutation_effect", "interaction", "retest_excess", "pooled_margin", "second_judge/design"):
        row = found.loc[quantity]
        assert row["low"] <= row["value"] <= row["high"], quantity


WITHOUT = {
    "retest": ("retest_",),
    "control": ("mutation_effect", "false_alarms"),
    "single": ("interaction",),
    "second judge": ("second_judge/",),
    "canaries": ("canaries_held",),
}


def reduced(parts):
    """The quantities of the constructed study without some of its parts, by name."""
    verdicts, second, canaries = constructed(), constructed(), CANARIES
    for part in parts:
        if part == "retest":
            verdicts = verdicts[verdicts["draw"] == 1]
        elif part in ("control", "single"):
            verdicts = verdicts[verdicts["arm"] != part]
        elif part == "second judge":
            second = None
        else:
            canaries = None
    return pilot.pilot_summary(verdicts, second, canaries, the_index(), BOOTSTRAP).set_index("quantity")


@pytest.mark.parametrize("parts", [*([part] for part in WITHOUT), list(WITHOUT)], ids=[*WITHOUT, "all of them"])
def test_what_a_study_does_not_have_gives_no_rows_and_changes_no_other(parts, tmp_path):
    whole, found = reduced([]), reduced(parts)
    gone = tuple(prefix for part in parts for prefix in WITHOUT[part])
    assert set(whole.index) - set(found.index) == {name for name in whole.index if name.startswith(gone)} != set()
    changed = ["verdicts", *(name for name in whole.index if name.startswith("second_judge/"))]
    kept = [name for name in found.index if name not in changed]
    pd.testing.assert_frame_equal(found.loc[kept], whole.loc[kept])
    pilot.SUMMARY_TABLE.write(found.reset_index(), tmp_path / "summary.csv")


def test_a_study_with_the_least_that_is_allowed_has_a_summary():
    """One suite, one draw of the joint arm, no other arm, no second judge, and judges that scan."""
    design = study(strategies=["S1"])
    result = asyncio.run(runs.run(Recorded(), design, *sides(design)))
    canaries = canary_table(result.canaries)
    found = pilot.pilot_summary(verdict_table(result.rulings), None, canaries, the_index(), BOOTSTRAP)
    assert found["quantity"].tolist() == [
        "canaries_held", "faults_varying", "fdr_design", "fdr_execution", "per_fault_margin", "pooled_chance",
        "pooled_margin", "stage_agreement", "suites", "verdicts",
    ]  # fmt: skip
    withheld = {manifest.suite_id: manifest.withheld for manifest in result.manifests}
    mappings = {"us_insurance": read_mapping("us_insurance")}
    assert pilot.seen_and_unseen(verdict_table(result.rulings), withheld, mappings).empty


def test_empty_tables_are_as_good_as_none():
    verdicts = constructed()
    none = pilot.pilot_summary(verdicts, None, None, the_index(), BOOTSTRAP)
    pd.testing.assert_frame_equal(pilot.pilot_summary(verdicts, verdicts[:0], CANARIES[:0], the_index(), BOOTSTRAP), none)


def test_later_draws_change_nothing_but_the_number_of_verdicts(found):
    verdicts = constructed()
    first = verdicts[(verdicts["arm"] == "joint") & (verdicts["draw"] == 1)]
    more = pd.concat([verdicts, first.assign(draw=3), first.assign(draw=4)], ignore_index=True)
    whole = pilot.pilot_summary(more, None, None, the_index(), BOOTSTRAP).set_index("quantity")
    same = whole.index.drop("verdicts")
    pd.testing.assert_frame_equal(whole.loc[same], found.loc[same])


@pytest.mark.parametrize(
    ("judge", "arm", "draw", "lost"),
    [
        ("execution", "control", 1, ["mutation_effect", "false_alarms"]),
        ("execution", "single", 1, ["interaction"]),
        ("execution", "joint", 2, ["retest_agreement", "retest_excess"]),
        ("execution", "joint", 1, ["stage_agreement", "fdr_design", "mutation_effect", "interaction", "retest_excess"]),
        ("design", "", 1, ["stage_agreement", "fdr_execution", "retest_excess"]),
    ],
)
def test_an_arm_without_any_verdict_is_counted_as_unresolved(judge, arm, draw, lost, tmp_path):
    verdicts = constructed()
    chosen = (verdicts["judge"] == judge) & (verdicts["arm"] == arm) & (verdicts["draw"] == draw)
    verdicts.loc[chosen, ["state", "value"]] = ["refused", None]
    found = pilot.pilot_summary(verdicts, None, None, the_index(), BOOTSTRAP)
    pilot.SUMMARY_TABLE.write(found, tmp_path / "summary.csv")
    table = found.set_index("quantity").loc[lost]
    assert table[["value", "low", "high"]].isna().all(axis=None)
    assert (table["n"] == 0).all() and (table["unresolved"] == 20).all()


def test_verdicts_of_several_generators_are_refused():
    verdicts = constructed()
    other = verdicts.assign(suite_id=verdicts["suite_id"].str.replace("sonnet4", "gemma26b"))
    with pytest.raises(ContractError, match=r"2 generators \(gemma26b, sonnet4\), expected 1"):
        pilot.pilot_summary(pd.concat([verdicts, other]), None, None, the_index(), BOOTSTRAP)


def test_an_unresolved_verdict_is_counted():
    verdicts = constructed()
    first = (verdicts["judge"] == "execution") & (verdicts["target"] == "IN-F1") & (verdicts["arm"] == "joint")
    verdicts.loc[first & (verdicts["suite_id"] == suite(10)) & (verdicts["draw"] == 1), ["state", "value"]] = [
        "refused",
        None,
    ]
    found = pilot.pilot_summary(verdicts, verdicts, CANARIES, the_index(), BOOTSTRAP).set_index("quantity")
    assert found.loc[["verdicts", "stage_agreement", "mutation_effect", "retest_excess"], "unresolved"].tolist() == [1] * 4
    assert found.loc["stage_agreement", "n"] == 19


def test_the_section_of_the_report_is_built_from_a_scripted_study(tmp_path):
    role = Role(endpoint="second", max_tokens=500)
    arms = {"control": True, "single": ["threshold_error"], "repeats": {"us_insurance": 2}}
    design = study(grid=["design", "execution"], second_judge=role, second_sample=30, **arms)
    result = asyncio.run(runs.run(Recorded(), design, *sides(design)))
    first, second = verdict_table(result.rulings), verdict_table(result.second)
    quantities = pilot.pilot_summary(first, second, store.canary_table(result.canaries), the_index(), BOOTSTRAP)
    pilot.SUMMARY_TABLE.write(quantities, tmp_path / report.PILOT_TABLE.path)
    numbers = report.cells(tmp_path, report.PILOT_TABLE)
    (tmp_path / "numbers.json").write_text(report.numbers_text(numbers), encoding="utf-8")
    for name in ("style.typ", "pilot.typ"):
        (tmp_path / name).write_bytes((paths.PAPER / name).read_bytes())
    source = '#import "style.typ": sources\n#include "pilot.typ"\n#sources()'
    (tmp_path / "main.typ").write_text(source, encoding="utf-8")
    quoted = json.loads(typst.query(tmp_path / "main.typ", "<quoted>", field="value"))
    assert {"pilot/mutation_effect/low", "pilot/false_alarms/count", "pilot/canaries_held/n"} <= set(quoted)
    assert set(quoted) <= set(numbers)
