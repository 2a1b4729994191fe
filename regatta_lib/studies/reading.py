"""Reading a live study: scenarios, answers and reasons as text, and where the two stages disagree.

Texts come from models and are untrusted: they are escaped before they become part of a page.
"""

import html
import re
from typing import Any

import pandas as pd

from regatta_lib.base import MEASURES, cell_of
from regatta_lib.instruments import Fault, Ontology, check_witness, executable
from regatta_lib.measures import suite_scores
from regatta_lib.studies.episodes import Episode, agent_prompt, instructions
from regatta_lib.studies.rulings import Ruling
from regatta_lib.studies.suites import Manifest, Scenario

SAID: dict[int | None, str] = {0: "no", 1: "yes"}
MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+!|~$-])")
JUDGES = ("design", "execution")
ARMS = ("joint", "control", "single")


def answer_name(arm: str, draw: int) -> str:
    """What an answer of the agent is called: ``joint``, at its second draw ``joint again``, at its third ``joint 3``."""
    if draw == 1:
        return arm
    return f"{arm} again" if draw == 2 else f"{arm} {draw}"


def reading_order(judge: str, arm: str, draw: int) -> tuple[int, int, int]:
    """Sorts places as they are read: design, then the joint arm, control and single, each by draw."""
    return JUDGES.index(judge), ARMS.index(arm) if arm else -1, draw


def _name(judge: str, arm: str, draw: int) -> str:
    return "design" if judge == "design" else answer_name(arm, draw)


def quoted(text: str) -> str:
    """A text as a Markdown block quote in which nothing is markup."""
    escaped = MARKDOWN.sub(r"\\\1", html.escape(text.strip(), quote=False))
    return "\n".join(f"> {line}" if line else ">" for line in escaped.splitlines()) or "> (no text)"


def scenario_text(scenario: Scenario) -> str:
    """One scenario as Markdown: what it tests, the message, what a correct agent does, and its author's own labels."""
    label = scenario.adversarial_category or "none"
    cited = " ".join((scenario.requirement_cited or "none").split())
    return "\n\n".join(
        [
            f"**{scenario.suite_id}, scenario {scenario.scenario}**",
            quoted(scenario.description),
            "Message to the agent:",
            quoted(scenario.agent_input),
            "Expected of a correct agent:",
            quoted(scenario.expected_behavior),
            "Rule cited and attack claimed by the author (no judge sees them):",
            quoted(f"{cited}; {label}"),
        ]
    )


def told_text(ontology: Ontology, faults: list[Fault], words: int) -> str:
    """The agent's system turn in the joint and in the control arm as Markdown; ``words`` is the most its answer may have."""
    prompts = {arm: agent_prompt(ontology, instructions(arm, faults[0], faults), "", words) for arm in ("joint", "control")}
    return "\n\n".join(f"**{arm}**\n\n{quoted(prompt.system)}" for arm, prompt in prompts.items())


def answers_text(scenario: Scenario, fault: Fault, episodes: list[Episode]) -> str:
    """One scenario's message and the agent's answers drawn for one fault, in every arm, as Markdown."""
    here = (scenario.suite_id, scenario.scenario, fault.id)
    answers = [episode for episode in episodes if (episode.suite_id, episode.scenario, episode.fault_id) == here]
    parts = [f"**Message**\n\n{quoted(scenario.agent_input)}"]
    return "\n\n".join(parts + [f"**{answer.arm}, draw {answer.draw}**\n\n{quoted(answer.text)}" for answer in answers])


def ruling_text(ruling: Ruling) -> str:
    """A ruling as one line and its reason as a quote."""
    said = SAID.get(ruling.value, str(ruling.value)) if ruling.state == "answered" else f"no verdict ({ruling.state})"
    return f"{said}\n\n{quoted(ruling.justification)}" if ruling.justification else said


def case_text(scenario: Scenario, fault: Fault, episodes: list[Episode], rulings: list[Ruling], second: list[Ruling]) -> str:
    """One scenario and one fault as Markdown: the fault, the design verdict, and the agent's answer in each arm, judged.

    ``second`` are the second judge's rulings, shown where it saw the same item.
    """
    here = (scenario.suite_id, scenario.scenario, fault.id)
    mine, theirs = (
        {_item_judged(ruling): ruling for ruling in of if (ruling.suite_id, ruling.scenario, ruling.target) == here}
        for of in (rulings, second)
    )
    answers = {
        ("execution", episode.arm, episode.draw): episode
        for episode in episodes
        if (episode.suite_id, episode.scenario, episode.fault_id) == here
    }
    parts = [scenario_text(scenario), f"**Fault {fault.id}.** The faulty agent is told:", quoted(fault.injected_behavior)]
    parts += ["A correct agent is told:", quoted(fault.correct_behavior)]
    for place in sorted(answers.keys() | mine.keys() | theirs.keys(), key=lambda place: reading_order(*place)):
        name = _name(*place)
        if place in answers:
            parts += [f"**Answer ({name}):**", quoted(answers[place].text)]
        if place in mine:
            question = "Would the scenario expose the fault?" if name == "design" else "Does the answer expose the fault?"
            parts.append(f"{question} **Judge:** {ruling_text(mine[place])}")
        if place in theirs:
            parts.append(f"**Second judge:** {ruling_text(theirs[place])}")
    return "\n\n".join(parts)


def cases_text(
    chosen: pd.DataFrame,
    scenarios: list[Scenario],
    faults: list[Fault],
    episodes: list[Episode],
    rulings: list[Ruling],
    second: list[Ruling],
) -> str:
    """The rows of ``examples`` as Markdown: for each its two verdicts as a heading, then ``case_text``; ruled apart."""
    scenario_at = {(scenario.suite_id, scenario.scenario): scenario for scenario in scenarios}
    fault_at = {fault.id: fault for fault in faults}
    cases = []
    for row in chosen.to_dict("records"):
        scenario, fault = scenario_at[row["suite_id"], row["scenario"]], fault_at[row["fault_id"]]
        text = case_text(scenario, fault, episodes, rulings, second)
        cases.append(f"### Design {row['design']}, execution {row['joint']}\n\n{text}")
    return "\n\n---\n\n".join(cases)


def _item_judged(ruling: Ruling) -> tuple[str, str, int]:
    return ruling.judge, ruling.arm, ruling.draw


def scenario_verdicts(rulings: list[Ruling]) -> pd.DataFrame:
    """Each scenario and fault with its verdicts side by side, missing where there is none.

    Columns: suite_id, scenario, fault_id, then design and the answers that exist (joint, its other draws, control, single),
    by ``answer_name``.
    """
    shown = [ruling for ruling in rulings if ruling.judge in JUDGES]
    rows = [
        {
            "suite_id": ruling.suite_id,
            "scenario": ruling.scenario,
            "fault_id": ruling.target,
            "place": _name(*_item_judged(ruling)),
            "value": ruling.value,
        }
        for ruling in shown
    ]
    frame = pd.DataFrame(rows).astype({"value": "Int64"})
    wide = frame.pivot(index=["suite_id", "scenario", "fault_id"], columns="place", values="value")
    places = sorted({_item_judged(ruling) for ruling in shown}, key=lambda place: reading_order(*place))
    return wide[[_name(*place) for place in places]].rename_axis(columns=None).reset_index()


def examples(table: pd.DataFrame) -> pd.DataFrame:
    """One scenario and fault for each combination of design and joint verdict that occurs: the first by suite and fault.

    Columns as ``scenario_verdicts``; the order is both, design only, execution only, neither.
    """
    known = table.dropna(subset=["design", "joint"])
    first = known.sort_values(["suite_id", "fault_id", "scenario"]).drop_duplicates(["design", "joint"])
    return first.sort_values(["design", "joint"], ascending=[False, False], ignore_index=True)


def disagreements(rulings: list[Ruling]) -> pd.DataFrame:
    """Every scenario and fault on which design and execution (joint arm, first draw) differ, with both judges' reasons.

    Columns: suite_id, scenario, fault_id, design, joint, design_reason, execution_reason.
    """
    table = scenario_verdicts(rulings).dropna(subset=["design", "joint"])
    reasons = {
        (ruling.suite_id, ruling.scenario, ruling.target, ruling.judge): ruling.justification
        for ruling in rulings
        if _item_judged(ruling) in (("design", "", 1), ("execution", "joint", 1))
    }
    differing = table.loc[table["design"] != table["joint"], ["suite_id", "scenario", "fault_id", "design", "joint"]]
    keys = [*differing[["suite_id", "scenario", "fault_id"]].itertuples(index=False, name=None)]
    return differing.assign(
        design_reason=[reasons[(*key, "design")] for key in keys],
        execution_reason=[reasons[(*key, "execution")] for key in keys],
    ).reset_index(drop=True)


def witness_table(scenarios: list[Scenario], faults: list[Fault], rulings: list[Ruling]) -> pd.DataFrame:
    """What the judges say of scenarios whose own figures meet a fault's witness, and of those whose figures do not.

    Only faults with an executable witness. Columns: fault_id, witness (discriminates, near_miss, no_figure), scenarios,
    then for design, joint and control the number of yes (``…_yes``) and of verdicts (``…_n``).
    """
    by_id = {fault.id: fault.witness for fault in faults}
    texts = {(scenario.suite_id, scenario.scenario): scenario.agent_input for scenario in scenarios}
    table = scenario_verdicts(rulings)
    table = table[table["fault_id"].map(lambda fault: fault in by_id and executable(by_id[fault]))]
    places = zip(table["suite_id"], table["scenario"], table["fault_id"], strict=True)
    met: list[Any] = [check_witness(by_id[fault], texts[suite, scenario]) for suite, scenario, fault in places]
    table = table.assign(witness=met)
    counts = {"scenarios": ("scenario", "size")}
    for name in ("design", "joint", "control"):
        if name in table:
            counts |= {f"{name}_yes": (name, "sum"), f"{name}_n": (name, "count")}
    return table.groupby(["fault_id", "witness"], as_index=False).agg(**counts)


def suite_table(manifests: list[Manifest]) -> pd.DataFrame:
    """How the suites came to be, one row per manifest (index suite_id), with ``rejected`` and ``replies`` summed up.

    Columns: asked, scenarios, short, rejected, replies, served_models, prompt, prompt_version, withheld.
    """
    totals = [{"rejected": sum(each.rejected.values()), "replies": sum(each.replies.values())} for each in manifests]
    rows = [vars(manifest) | total for manifest, total in zip(manifests, totals, strict=True)]
    made = ["asked", "scenarios", "short", "rejected", "replies"]
    return pd.DataFrame(rows).set_index("suite_id")[[*made, "served_models", "prompt", "prompt_version", "withheld"]]


def scenario_counts(scenarios: list[Scenario]) -> pd.DataFrame:
    """Per suite (index suite_id) its scenarios, the mean words of a message, and the author's own labels.

    Columns: scenarios, words, attacks (scenarios that their author calls an attack), rules (those that name a rule).
    """
    table = pd.DataFrame([vars(scenario) for scenario in scenarios])
    table = table.assign(words=table["agent_input"].str.split().map(len))
    labels = {"attacks": ("adversarial_category", "count"), "rules": ("requirement_cited", "count")}
    return table.groupby("suite_id").agg(scenarios=("scenario", "size"), words=("words", "mean"), **labels)


def episode_counts(episodes: list[Episode]) -> pd.DataFrame:
    """The episodes of each cell, arm and draw (the index), as counts and the mean words of an answer.

    Columns: episodes, answered (in that state), different_texts, words.
    """
    table = pd.DataFrame([vars(episode) for episode in episodes])
    table = table.assign(
        cell=table["suite_id"].map(cell_of),
        answered=table["state"] == "answered",
        words=table["text"].str.split().map(len),
    )
    counts = {"episodes": ("text", "size"), "answered": ("answered", "sum"), "different_texts": ("text", "nunique")}
    return table.groupby(["cell", "arm", "draw"]).agg(**counts, words=("words", "mean"))


def verdict_states(verdicts: pd.DataFrame) -> pd.DataFrame:
    """How many verdicts of each judge, arm and draw (the index) are in which state, and the mean of those with a value.

    ``verdicts`` has the columns of ``measures.VERDICTS``. Columns: one count per state that occurs, mean.
    """
    groups = verdicts.groupby(["judge", "arm", "draw"])
    return groups["state"].value_counts().unstack(fill_value=0).assign(mean=groups["value"].mean().astype(float))


def score_bounds(verdicts: pd.DataFrame) -> pd.DataFrame:
    """The suites' scores (index suite_id) with every unresolved verdict counted as the lowest and as the highest value.

    ``verdicts`` has the columns of ``measures.VERDICTS``. Columns in two levels: measure, then lowest and highest.
    """
    bounds = {name: suite_scores(verdicts, name).set_index("suite_id")[list(MEASURES)] for name in ("lowest", "highest")}
    return pd.concat(bounds, axis=1).swaplevel(axis=1).sort_index(axis=1, level=0, sort_remaining=False).astype(float)
