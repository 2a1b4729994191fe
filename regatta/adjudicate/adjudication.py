"""Adjudication by people: draw a balanced, blinded sheet, read it back filled, and compare it with the judge (§V-F).

A sheet asks one yes/no question about pairs of a fault and a scenario. The adjudicator sees no verdict, no generator and
no strategy; the key, kept apart, ties the items to the judge's verdicts.
"""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from regatta_lib.base import ContractError, ParameterError, cell_of, file_text, sha256
from regatta_lib.instruments import Fault
from regatta_lib.stats import cohen_kappa, percent_agreement, rater_agreement
from regatta_lib.studies import Episode, Scenario, Study

QUESTIONS = {
    "design": "Would running this scenario expose the fault?",
    "execution": "Does the agent's answer show the fault?",
}
ANSWERS = ("yes", "no", "unclear")
REASONS = {
    "topic_only": "it touches the fault's topic, but a faulty and a correct agent would answer alike",
    "hidden": "the difference would show only after a further question",
    "other_error": "the agent is wrong, but not in the way the fault describes",
    "wrong_rule": "the description of the fault or of the correct behavior is itself wrong",
    "ambiguous": "the text allows both answers",
    "other": "anything else; please say what under comment",
}
SHOWN = ("faulty_behavior", "correct_behavior", "scenario", "message", "expected_behavior", "agent_answer")
FILLED = ("answer", "reason", "comment")
KEY = ["item", "stage", "suite_id", "target", "scenario_number", "judge", "weight", "verdicts", "digest"]
KEY_CELLS = {
    "stage": ("|".join(QUESTIONS), " or ".join(QUESTIONS)),
    "scenario_number": ("[1-9][0-9]{0,8}", "a whole number of at least 1"),
    "judge": ("[01]", "0 or 1"),
    "weight": (r"[1-9][0-9]{0,8}(\.[0-9]+)?", "a number of at least 1"),
    "verdicts": ("[1-9][0-9]{0,8}", "a whole number of at least 1"),
}
PLACE = ["suite_id", "target", "scenario_number"]
DISAGREEMENTS = {(1, 0): "judge yes, adjudicator no", (0, 1): "judge no, adjudicator yes"}


def check_grid(name: str, study: Study, stage: str) -> None:
    """Refuse a study whose judge stops at the first yes: its verdicts are not those of all scenarios."""
    if stage not in study.grid and study.stride < study.scenarios:
        raise ContractError(
            f"params.yaml: studies.{name}.grid: found {study.grid}, expected {stage!r} in it: without it the {stage} judge "
            "stops at the first yes, and the study has no verdict for every scenario"
        )


def draw_sample(
    verdicts: pd.DataFrame, texts: pd.DataFrame, stage: str, size: int, rng: np.random.Generator
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw a sheet of ``size`` items, half judged yes and half no, spread over the faults, in random order.

    ``texts`` has the columns suite_id, target, scenario_number and ``SHOWN``. Only answered verdicts on single scenarios
    enter: first draw, joint arm. Returns the sheet (item, question, shown texts, empty columns to fill) and the key
    (``KEY``). An item's ``weight`` is how many verdicts it stands for: those with its fault and the judge's answer, divided
    by the items drawn of them. ``verdicts`` counts the study's with that answer, those without an item included. Raises
    ContractError where a text has no verdict, answered or not, a verdict has no text, or there are too few of a kind.
    """
    judged = _answered(verdicts, texts, stage)
    needed = {1: size // 2, 0: size - size // 2}
    found = {value: int((judged["judged"] == value).sum()) for value in needed}
    if any(found[value] < needed[value] for value in needed):
        largest = 2 * min(found.values()) + (found[0] > found[1])
        raise ParameterError(
            f"verdicts: {found[1]:,} yes and {found[0]:,} no at the {stage} stage, expected at least {needed[1]:,} and "
            f"{needed[0]:,} for size {size}; {f'the largest size is {largest}' if largest > 1 else 'no size works'}",
            "size",
        )
    chosen = []
    for value, wanted in needed.items():
        part = judged[judged["judged"] == value].sort_values(["target", "suite_id", "scenario_number"])
        mixed = part.iloc[rng.permutation(len(part))]
        turn = mixed.groupby("target").cumcount().to_numpy()
        spread = mixed.iloc[np.lexsort((rng.random(len(mixed)), turn))].head(wanted)
        weights = part["target"].value_counts() / spread["target"].value_counts()
        chosen.append(spread.assign(weight=spread["target"].map(weights), verdicts=len(part)))
    drawn = pd.concat(chosen)
    drawn = drawn.iloc[rng.permutation(len(drawn))].reset_index(drop=True)
    drawn = drawn[[*PLACE, "judged", "weight", "verdicts"]].merge(
        texts, on=PLACE, how="left", validate="one_to_one", indicator=True
    )
    if (drawn["_merge"] != "both").any():
        first = drawn.loc[drawn["_merge"] != "both", PLACE].iloc[0]
        raise ContractError(f"texts: {' '.join(map(str, first))}: no scenario or fault text for this verdict")
    drawn = drawn.assign(item=[f"item-{number:03d}" for number in range(1, len(drawn) + 1)], stage=stage)
    for column in SHOWN:
        drawn[column] = drawn[column].fillna("").map(lambda text: unicodedata.normalize("NFC", text))
    drawn["digest"] = [text_digest(row) for row in drawn[list(SHOWN)].to_dict("records")]
    sheet = drawn.assign(question=QUESTIONS[stage], **dict.fromkeys(FILLED, ""))
    key = drawn.rename(columns={"judged": "judge"}).astype({"judge": int, "scenario_number": int})
    return sheet[["item", "question", *SHOWN, *FILLED]], key[KEY]


def _answered(verdicts: pd.DataFrame, texts: pd.DataFrame, stage: str) -> pd.DataFrame:
    """The answered verdicts that can be drawn. Raises ContractError where a text has no verdict, answered or not."""
    asked = verdicts[
        (verdicts["judge"] == stage)
        & verdicts["arm"].isin(["", "joint"])
        & (verdicts["draw"] == 1)
        & verdicts["scenario"].notna()
    ].rename(columns={"scenario": "scenario_number", "value": "judged"})
    unasked = sorted(
        set(texts[PLACE].itertuples(index=False, name=None)) - set(asked[PLACE].itertuples(index=False, name=None))
    )
    if unasked:
        raise ContractError(
            f"verdicts: {' '.join(map(str, unasked[0]))}: no verdict at the {stage} stage ({len(unasked):,} of "
            f"{len(texts):,} are missing), expected all; put {stage} into the study's grid in params.yaml and run it again"
        )
    return asked[asked["state"] == "answered"]


def texts(
    scenarios: Iterable[Scenario], faults: Mapping[str, Iterable[Fault]], episodes: Iterable[Episode] | None = None
) -> pd.DataFrame:
    """What ``draw_sample`` can show: every scenario with every fault of its cell, as the judge read them.

    ``faults`` are those of each cell, in the text that the study judged. With ``episodes`` only the answers of the joint
    arm's first draw are shown, each beside its own fault.
    """
    table = pd.DataFrame(
        [
            {
                "suite_id": scenario.suite_id,
                "target": fault.id,
                "scenario_number": scenario.scenario,
                "faulty_behavior": fault.injected_behavior,
                "correct_behavior": fault.correct_behavior,
                "scenario": scenario.description,
                "message": scenario.agent_input,
                "expected_behavior": scenario.expected_behavior,
                "agent_answer": "",
            }
            for scenario in scenarios
            for fault in faults[cell_of(scenario.suite_id)]
        ]
    )
    if episodes is None:
        return table
    first = [(e.suite_id, e.fault_id, e.scenario, e.text) for e in episodes if e.arm == "joint" and e.draw == 1]
    answers = pd.DataFrame(first, columns=[*PLACE, "agent_answer"])
    return table.drop(columns="agent_answer").merge(answers, on=PLACE, validate="one_to_one")


def sheet_instructions(document: Path) -> str:
    """The part of ``docs/adjudication.md`` that adjudicators read, as plain text."""
    text = file_text(document)
    begin, end = ("<!-- instructions: begin -->", "<!-- instructions: end -->")
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ContractError(f"{document}: expected one part between {begin} and {end}")
    return text.partition(begin)[2].partition(end)[0].strip().removeprefix("## ")


def text_digest(row: Mapping[Any, object]) -> str:
    """A digest of what an item shows, blind to white space: spreadsheets change line ends."""
    return sha256("\x1f".join(_words(row[name]) for name in SHOWN))[:16]


def _words(text: object) -> str:
    return " ".join(unicodedata.normalize("NFC", str(text)).split())


def score_sheet(
    filled: pd.DataFrame, key: pd.DataFrame, rng: np.random.Generator, resamples: int, level: float
) -> tuple[dict[str, object], pd.DataFrame]:
    """Compare a filled sheet with the judge: the agreement row, and the disagreements with their kind.

    The row is ``rater_agreement`` (judge in rows, adjudicator in columns, suites as independent units) plus unclear,
    blank, and weighted_agreement and weighted_kappa, in which each item counts for the verdicts it stands for: a balanced
    sample has other prevalence than the study. ``verdicts`` counts the study's, ``represented`` those that the items
    stand for, ``weighted_verdicts`` those that the answered items stand for. Answers "unclear" and blanks are unresolved,
    never "no". Raises ContractError for an item missing, unknown or repeated, a changed text, or an answer or reason that
    is not offered.
    """
    merged = checked(filled, key)
    answers = {"yes": 1, "no": 0}
    human = [answers.get(answer) for answer in merged["answer"]]
    row = rater_agreement(list(merged["judge"]), human, (0, 1), list(merged["suite_id"]), rng, resamples, level)
    table = np.zeros((2, 2))
    for judge, answer, weight in zip(merged["judge"], human, merged["weight"], strict=True):
        if answer is not None:
            table[judge, answer] += weight
    row |= {
        "unclear": int((merged["answer"] == "unclear").sum()),
        "blank": int((merged["answer"] == "").sum()),
        "weighted_agreement": float(percent_agreement(table)),
        "weighted_kappa": float(cohen_kappa(table)),
        "weighted_verdicts": float(table.sum()),
        **representation(key),
    }
    pairs = zip(merged["judge"], human, strict=True)
    kinds = pd.Series(
        [None if answer is None else DISAGREEMENTS.get((judge, answer)) for judge, answer in pairs], merged.index, str
    )
    columns = ["kind", "item", "suite_id", "target", "scenario_number", "reason", "comment"]
    disagreements = merged.assign(kind=kinds).dropna(subset=["kind"])[columns]
    return row, disagreements.sort_values(["kind", "reason", "item"], ignore_index=True)


def representation(key: pd.DataFrame) -> dict[str, int]:
    """How many ``verdicts`` the study has at the stage of a key, and how many of them its items stand for."""
    return {
        "verdicts": int(key.drop_duplicates("judge")["verdicts"].sum()),
        "represented": round(float(key["weight"].sum())),
    }


def representation_line(counts: Mapping[str, Any]) -> str:
    """``representation`` as a line of text."""
    return (
        f"the items stand for {counts['represented']:,} of {counts['verdicts']:,} verdicts; not represented: "
        f"{counts['verdicts'] - counts['represented']:,} (no item of that fault and answer)"
    )


def checked(filled: pd.DataFrame, key: pd.DataFrame) -> pd.DataFrame:
    """A filled sheet joined to its key, after checking that it is that key's sheet and holds only offered answers."""
    for column in ("item", "question", *SHOWN, *FILLED):
        if column not in filled:
            raise ContractError(f"sheet: no column {column!r}, found {', '.join(map(str, filled.columns))}")
    repeated = filled["item"][filled["item"].duplicated()]
    if len(repeated):
        raise ContractError(f"sheet: {repeated.iloc[0]} appears twice, expected once")
    strangers = sorted(set(filled["item"]) ^ set(key["item"]))
    if strangers:
        state = "missing from the sheet" if strangers[0] in set(key["item"]) else "not in the key"
        raise ContractError(f"sheet: {strangers[0] or 'an empty item'}: {state}")
    answers = filled["answer"].str.strip().str.casefold()
    reasons = filled["reason"].str.strip().str.casefold()
    for item, answer, reason in zip(filled["item"], answers, reasons, strict=True):
        if answer not in (*ANSWERS, ""):
            raise ContractError(f"sheet: {item}: answer is {answer!r}, expected {', '.join(ANSWERS)} or blank")
        if reason not in (*REASONS, ""):
            raise ContractError(f"sheet: {item}: reason is {reason!r}, expected {', '.join(REASONS)} or blank")
    digests = [text_digest(row) for row in filled[list(SHOWN)].to_dict("records")]
    read = filled.assign(answer=answers, reason=reasons, found=digests)[["item", "question", *FILLED, "found"]]
    merged = key.merge(read, on="item", validate="one_to_one")
    changed = merged[merged["digest"] != merged["found"]]
    if len(changed):
        raise ContractError(f"sheet: {changed['item'].iloc[0]}: its text is not the text that was drawn")
    for item, stage, question in zip(merged["item"], merged["stage"], merged["question"], strict=True):
        if _words(question) != QUESTIONS[stage]:
            raise ContractError(f"sheet: {item}: question is {question[:60]!r}, expected {QUESTIONS[stage]!r}")
    return merged


def read_key(path: Path) -> pd.DataFrame:
    """Read a key. Raises ContractError if it is missing, has other columns than ``KEY``, or a cell is not as drawn."""
    rows = list(csv.reader(io.StringIO(file_text(path))))
    if not rows or rows[0] != KEY:
        raise ContractError(f"{path}: header is {','.join(rows[0]) if rows else 'missing'}, expected {','.join(KEY)}")
    if len(rows) == 1:
        raise ContractError(f"{path}: 0 items, expected at least 1")
    seen = set()
    for number, cells in enumerate(rows[1:], start=2):
        if len(cells) != len(KEY):
            raise ContractError(f"{path}: row {number} has {len(cells)} cells, expected {len(KEY)}")
        row = dict(zip(KEY, cells, strict=True))
        for name, (pattern, expected) in KEY_CELLS.items():
            if not re.fullmatch(pattern, row[name]):
                raise ContractError(f"{path}: row {number}: {name} is {row[name]!r}, expected {expected}")
        if row["item"] in seen:
            raise ContractError(f"{path}: row {number}: {row['item']} appears twice, expected once")
        seen.add(row["item"])
    table = pd.DataFrame(rows[1:], columns=KEY)
    return table.astype({"scenario_number": int, "judge": int, "weight": float, "verdicts": int})


def score_text(row: dict[str, object], disagreements: pd.DataFrame, level: float) -> str:
    """The result of a scored sheet as lines of text: counts first, coefficients with intervals, disagreements by kind."""
    lines = [
        f"{row['pairs']} items answered, {row['unclear']} unclear, {row['blank']} blank",
        f"judge yes and adjudicator yes {row['t_1_1']}, yes and no {row['t_1_0']}, no and yes {row['t_0_1']}, "
        f"no and no {row['t_0_0']}",
        f"agreement {row['agreement']:.2f}; judge yes {row['prevalence_first']:.2f}, "
        f"adjudicator yes {row['prevalence_second']:.2f}",
        f"kappa {row['kappa']:.2f} [{row['kappa_low']:.2f}, {row['kappa_high']:.2f}], "
        f"AC1 {row['ac1']:.2f} [{row['ac1_low']:.2f}, {row['ac1_high']:.2f}], PABAK {row['pabak']:.2f} "
        f"({level:.0%} percentile bootstrap over {row['clusters']} suites, "
        f"{row['undefined_resamples']:.1%} of resamples undefined)",
        f"weighted to {row['weighted_verdicts']:,.0f} verdicts: agreement {row['weighted_agreement']:.2f}, "
        f"kappa {row['weighted_kappa']:.2f}",
        representation_line(row),
    ]
    lines += [f"note: {row['note']}"] if row["note"] else []
    for (kind, reason), part in disagreements.groupby(["kind", "reason"], sort=True):
        lines.append(f"{kind}, {reason or 'no reason given'}: {len(part)} ({', '.join(part['item'])})")
    return "\n".join(lines if len(disagreements) else [*lines, "no disagreements"])
