"""Evaluation: a suite that somebody else wrote as scenarios of a cell, and what its verdicts say it lacks.

``prepare`` what ``importers.read_suite`` has read; then ``measure`` it, or ``replay`` it from stored transcripts. Where
people or systems answer through files, ``deal`` first, until nothing waits. No function here writes a result.

The evidence vector describes the suite against the instruments. There is no pass mark, and it says nothing about legal
compliance.
"""

from dataclasses import asdict, dataclass
from pathlib import Path

import pandas as pd

from regatta.own_suite.cases import Case
from regatta.own_suite.importers import Imported
from regatta_lib import studies
from regatta_lib.base import FAULT_CATEGORIES, ContractError, canonical_json, paths, suite_id
from regatta_lib.instruments import Fault, Requirement
from regatta_lib.measures import MEASURE_OF, suite_scores, targets
from regatta_lib.models import Endpoint
from regatta_lib.studies import Dealing, JudgeSide, Measurement, Result, Scenario, TaskForecast, read_definitions

NO_EXPECTATION = "The suite states no expected behavior."
NO_PASS_MARK = (
    "There is no pass mark. The figures describe this suite against these instruments, as one judge reads both; "
    "they say nothing about legal compliance."
)
UNITS = {
    "rc": "requirements covered",
    "fdr_design": "faults detected",
    "fdr_execution": "faults exposed",
    "iss": "scenarios scored",
    "ac": "attacks attempted",
}


@dataclass(frozen=True)
class Evaluation:
    """A suite ready to be held against a cell: nothing is sent yet.

    ``name`` is that of its results, ``design`` who answers and judges, ``side`` what the judges read of the cell.
    ``scenarios`` are the ``cases`` that can be sent. ``forecast`` says what measuring comes to, role by role.
    """

    name: str
    design: Measurement
    endpoints: dict[str, Endpoint]
    side: JudgeSide
    cases: list[Case]
    scenarios: list[Scenario]
    forecast: list[TaskForecast]

    @property
    def work(self) -> studies.Work:
        """What is to be asked, for any model."""
        return studies.evaluation(self.design, {self.side.ontology.cell: self.side}, self.scenarios)


@dataclass(frozen=True)
class Measured:
    """What measuring a suite came to. ``report`` says who answered and what it cost; a replay has none."""

    evaluation: Evaluation
    result: Result
    report: list[str]
    verdicts: pd.DataFrame

    def notes(self) -> list[str]:
        """What a reader must know before the numbers."""
        return [*self.report, *self.result.notes()]

    def vector(self) -> pd.DataFrame:
        """The evidence vector with its bounds and counts. See ``vector``."""
        return vector(self.verdicts)

    def gaps(self) -> list[str]:
        """What the suite lacks, which of its alarms are false, and what the figures do not say, as lines."""
        side = self.evaluation.side
        gaps = gap_lines(self.verdicts, side.requirements, side.faults)
        return [*gaps, *alarm_lines(self.verdicts), "", NO_PASS_MARK]

    def texts(self) -> dict[Path, str]:
        """The result files, {path: text}; the same result gives the same bytes."""
        name = self.evaluation.name
        cases = {paths.SUITES / f"{name}-cases.jsonl": case_lines(self.evaluation.cases)}
        return studies.result_texts(name, self.result) | cases


def prepare(imported: Imported, name: str, cell: str, study: str = "own-suite") -> Evaluation:
    """Make an imported suite ready: its results are to be called ``name``, by the definition ``study`` of params.yaml.

    Raises ParameterError for a name or study that cannot be, and ContractError for a cell there is none of, or where no
    case has a message to the agent.
    """
    params = read_definitions(paths.PARAMS)
    studies.check_name(name, params)
    design = studies.measurement(study, params)
    side = studies.read_bench(design, cell)
    written = scenarios(imported.cases, name, cell)
    if not written:
        raise ContractError(f"{name}: 0 of {imported.read:,} records with a message to the agent, expected at least 1")
    tasks = studies.evaluation_tasks(design, side, written)
    forecast = studies.priced(tasks, params.endpoints, design.provider)
    return Evaluation(name, design, params.endpoints, side, imported.cases, written, forecast)


def deal_suite(evaluation: Evaluation, size: int = studies.BATCH) -> Dealing:
    """Deal what waits for an answer through files. See ``studies.deal``; measure when nothing waits."""
    return studies.deal(evaluation.name, evaluation.design, evaluation.work, size)


def measure_suite(evaluation: Evaluation) -> Measured:
    """Ask the agent and the judges all that has no answer yet.

    Raises models.PreflightError where an endpoint does not answer, studies.StillWaiting where answers through files are
    still to come.
    """
    calls = sum(share.calls[1] for share in evaluation.forecast)
    name, design = evaluation.name, evaluation.design
    return _measured(evaluation, *studies.carry_out(name, design, evaluation.endpoints, calls, evaluation.work))


def replay(evaluation: Evaluation) -> Measured:
    """The measurement again, from the stored transcripts. Raises models.MissingTranscript for a call they do not hold."""
    return _measured(evaluation, studies.again(evaluation.name, evaluation.work), [])


def _measured(evaluation: Evaluation, result: Result, report: list[str]) -> Measured:
    return Measured(evaluation, result, report, studies.verdict_table(result.rulings))


def scenarios(cases: list[Case], name: str, cell: str) -> list[Scenario]:
    """The cases that can be sent, as the suite ``<name>.own.<cell>.r1``, numbered from 1 in their order."""
    suite = suite_id(name, "own", cell, 1)
    return [
        Scenario(suite, number, case.title, case.input, case.expected or NO_EXPECTATION, None, None)
        for number, case in enumerate((case for case in cases if case.input), start=1)
    ]


def case_lines(cases: list[Case]) -> str:
    """The cases as JSON lines, each with the number of its scenario, or null for one without a message to send."""
    numbers = iter(range(1, len(cases) + 1))
    lines = (canonical_json(asdict(case) | {"scenario": next(numbers) if case.input else None}) for case in cases)
    return "".join(f"{line}\n" for line in lines)


def outcomes(verdicts: pd.DataFrame, arm: str = "joint") -> pd.DataFrame:
    """What each target of one suite came to at the first draw: judge, target, value (missing where unresolved)."""
    reduced = targets(verdicts)
    of_arm = reduced["arm"] == (reduced["judge"] == "execution").map({True: arm, False: ""})
    return reduced[of_arm & (reduced["draw"] == 1)][["judge", "target", "value"]].reset_index(drop=True)


def vector(verdicts: pd.DataFrame) -> pd.DataFrame:
    """The evidence vector of one suite with its bounds and counts.

    Columns: measure, value (missing where a target is unresolved), lowest, highest, met, of, unresolved. ``met`` counts
    targets with a yes; for iss it counts scores.
    """
    bounds = {name: suite_scores(verdicts, name).iloc[0] for name in ("missing", "lowest", "highest")}
    found, rows = outcomes(verdicts), []
    for judge, measure in MEASURE_OF.items():
        values = found.loc[found["judge"] == judge, "value"]
        met = values.notna() if judge == "specificity" else values == 1
        rows.append(
            {
                "measure": measure,
                "value": bounds["missing"][measure],
                "lowest": bounds["lowest"][measure],
                "highest": bounds["highest"][measure],
                "met": int(met.sum()),
                "of": len(values),
                "unresolved": int(values.isna().sum()),
            }
        )
    return pd.DataFrame(rows)


def shown_vector(table: pd.DataFrame) -> pd.DataFrame:
    """The evidence vector as rows for the terminal: measure, value, lowest, highest, and the counts in words."""
    counts = [
        f"{row['met']} of {row['of']} {UNITS[row['measure']]}, {row['unresolved']} unresolved"
        for row in table.to_dict("records")
    ]
    return table[["measure", "value", "lowest", "highest"]].assign(counts=counts)


def gap_lines(verdicts: pd.DataFrame, requirements: list[Requirement], faults: list[Fault]) -> list[str]:
    """What the suite lacks: requirements, faults and attacks by identifier with their citation, and what stays open."""
    found = outcomes(verdicts)
    of_requirement = {item.id: f"{item.area}: {item.citation}\n      {item.text}" for item in requirements}
    citations = {item.id: f"{item.id} {item.citation}" for item in requirements}
    of_fault = {
        fault.id: f"{FAULT_CATEGORIES[fault.category]}, {fault.severity}: {fault.title}"
        f"\n      {'; '.join(citations[item] for item in fault.related_requirements) or 'no requirement cited'}"
        for fault in faults
    }
    lines: list[str] = []
    for judge, missing, unresolved, texts in (
        ("coverage", "Requirements that no scenario covers", "Requirements", of_requirement),
        ("design", "Faults that no scenario would expose (design stage)", "Faults at the design stage", of_fault),
        ("execution", "Faults that no answer exposed (execution stage)", "Faults at the execution stage", of_fault),
        ("adversarial", "Attacks that no scenario attempts", "Attacks", {}),
    ):
        part = found[found["judge"] == judge].sort_values("target")
        for title, rows in (
            (missing, part[part["value"] == 0]),
            (f"{unresolved} left open by a missing verdict", part[part["value"].isna()]),
        ):
            if len(rows) or title == missing:
                lines += ["", f"{title}: {len(rows)} of {len(part)}"]
                lines += [f"  {' '.join(filter(None, (target, texts.get(target))))}" for target in rows["target"]]
    return lines


def alarm_lines(verdicts: pd.DataFrame) -> list[str]:
    """Faults that the suite also reports of the agent with no fault injected; nothing where that arm did not run."""
    control = outcomes(verdicts, "control")
    control = control[control["judge"] == "execution"]
    if control.empty:
        return []
    named = sorted(control.loc[control["value"] == 1, "target"])
    counts = f"{len(named)} of {len(control)}, {int(control['value'].isna().sum())} unresolved"
    text = f"Reported of the agent without any fault, so no evidence of detection: {counts}"
    return ["", ": ".join(filter(None, [text, ", ".join(named)]))]
