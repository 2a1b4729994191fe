"""A study from its definition to its rulings: suites, episodes, judges, canaries, and the files they go to."""

from regatta_lib.studies.canaries import CANARIES, PLANTED
from regatta_lib.studies.design import Measurement, Role, Study, read_definitions
from regatta_lib.studies.episodes import EPISODES, Episode
from regatta_lib.studies.forecast import Share, ceiling, evaluation_tasks, forecast_study, priced, shown
from regatta_lib.studies.pilot import SUMMARY, second_judge, seen_and_unseen, summary
from regatta_lib.studies.reading import (
    answer_name,
    answers_text,
    cases_text,
    disagreements,
    episode_counts,
    examples,
    reading_order,
    scenario_counts,
    scenario_text,
    scenario_verdicts,
    score_bounds,
    suite_table,
    told_text,
    verdict_states,
    witness_table,
)
from regatta_lib.studies.rulings import RULINGS, Ruling, order_check, verdict_table
from regatta_lib.studies.runs import (
    JudgeSide,
    Result,
    act,
    generate,
    judge_episodes,
    judge_scenarios,
    read_judge_side,
    read_sides,
    run,
    second_opinions,
    watch,
)
from regatta_lib.studies.store import (
    BATCH,
    Dealing,
    StillWaiting,
    Work,
    again,
    canary_table,
    canary_texts,
    carry_out,
    check_name,
    collect,
    deal,
    deal_study,
    definition,
    evaluation,
    folder_of,
    manifest_lines,
    measurement,
    output_texts,
    read_placements,
    ruling_texts,
    run_study,
    shown_scores,
)
from regatta_lib.studies.suites import SCENARIOS, Scenario

__all__ = [
    "BATCH", "CANARIES", "EPISODES", "PLANTED", "RULINGS", "SCENARIOS", "SUMMARY", "Dealing", "Episode", "JudgeSide",
    "Measurement", "Result", "Role", "Ruling", "Scenario", "Share", "StillWaiting", "Study", "Work", "act", "again",
    "answer_name", "answers_text", "canary_table", "canary_texts", "carry_out", "cases_text", "ceiling", "check_name",
    "collect", "deal", "deal_study", "definition", "disagreements", "episode_counts", "evaluation", "evaluation_tasks",
    "examples", "folder_of", "forecast_study", "generate", "judge_episodes", "judge_scenarios", "manifest_lines",
    "measurement", "order_check", "output_texts", "priced", "read_definitions", "read_judge_side", "read_placements",
    "read_sides", "reading_order", "ruling_texts", "run", "run_study", "scenario_counts", "scenario_text",
    "scenario_verdicts", "score_bounds", "second_judge", "second_opinions", "seen_and_unseen", "shown", "shown_scores",
    "suite_table", "summary", "told_text", "verdict_states", "verdict_table", "watch", "witness_table"
]  # fmt: skip
