"""The table of a study with arms, on constructed verdicts and on a scripted study."""

import asyncio
import json

import pandas as pd
import pytest
import typst
from historical import suite, table, the_index, verdict
from scripted_study import Recorded, sides, study

from regatta_lib import paths, pilot, report, runs, studies, tables
from regatta_lib.params import Role
from regatta_lib.rulings import verdict_table

BOOTSTRAP = tables.Bootstrap(seed=1, resamples=1_000, level=0.95)


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
    return pilot.summary(verdicts, second, CANARIES, the_index(), BOOTSTRAP).set_index("quantity")


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
    ],
)
def test_quantities_of_constructed_verdicts(found, quantity, value, n):
    assert found.loc[quantity, "value"] == pytest.approx(value)
    assert (found.loc[quantity, "n"], found.loc[quantity, "unresolved"]) == (n, 0)


def test_intervals_hold_their_value(found):
    for quantity in ("mutation_effect", "interaction", "retest_excess", "second_judge/design"):
        row = found.loc[quantity]
        assert row["low"] <= row["value"] <= row["high"], quantity


def test_an_unresolved_verdict_is_counted():
    verdicts = constructed()
    first = (verdicts["judge"] == "execution") & (verdicts["target"] == "IN-F1") & (verdicts["arm"] == "joint")
    verdicts.loc[first & (verdicts["suite_id"] == suite(10)) & (verdicts["draw"] == 1), ["state", "value"]] = [
        "refused",
        None,
    ]
    found = pilot.summary(verdicts, verdicts, CANARIES, the_index(), BOOTSTRAP).set_index("quantity")
    assert found.loc[["verdicts", "stage_agreement", "mutation_effect", "retest_excess"], "unresolved"].tolist() == [1] * 4
    assert found.loc["stage_agreement", "n"] == 19


def test_the_section_of_the_report_is_built_from_a_scripted_study(tmp_path):
    role = Role(endpoint="second", max_tokens=500)
    arms = {"control": True, "single": ["threshold_error"], "repeats": {"us_insurance": 2}}
    design = study(grid=["design", "execution"], second_judge=role, second_sample=30, **arms)
    result = asyncio.run(runs.run(Recorded(), design, *sides(design)))
    first, second = verdict_table(result.rulings), verdict_table(result.second)
    quantities = pilot.summary(first, second, studies.canary_table(result.canaries), the_index(), BOOTSTRAP)
    pilot.SUMMARY.write(quantities, tmp_path / report.PILOT.path)
    numbers = report.cells(tmp_path, report.PILOT)
    (tmp_path / "numbers.json").write_text(report.numbers_text(numbers), encoding="utf-8")
    for name in ("style.typ", "pilot.typ"):
        (tmp_path / name).write_bytes((paths.PAPER / name).read_bytes())
    source = '#import "style.typ": sources\n#include "pilot.typ"\n#sources()'
    (tmp_path / "main.typ").write_text(source, encoding="utf-8")
    quoted = json.loads(typst.query(tmp_path / "main.typ", "<quoted>", field="value"))
    assert {"pilot/mutation_effect/low", "pilot/false_alarms/value", "pilot/canaries_held/n"} <= set(quoted)
    assert set(quoted) <= set(numbers)
