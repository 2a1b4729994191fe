"""A study from its definition to its rulings: suites, episodes, judges, canaries, and the files they go to."""

from regatta_lib.studies.canaries import CANARY_TABLE, PLANTED
from regatta_lib.studies.design import Measurement, Role, Study, read_definitions
from regatta_lib.studies.episodes import EPISODE_LINES, Episode
from regatta_lib.studies.forecast import TaskForecast, evaluation_tasks, forecast_study, forecast_table, most_dollars, priced
from regatta_lib.studies.pilot import SUMMARY_TABLE, pilot_summary, second_judge, seen_and_unseen
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
from regatta_lib.studies.rulings import RULING_LINES, Ruling, order_check, verdict_table
from regatta_lib.studies.runs import (
    JudgeSide,
    Result,
    act,
    generate,
    judge_episodes,
    judge_scenarios,
    read_bench,
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
    manifest_lines,
    measurement,
    read_placements,
    result_texts,
    ruling_texts,
    run_study,
    shown_scores,
    study_folder,
)
from regatta_lib.studies.suites import SCENARIO_LINES, Scenario

__all__ = [
    "BATCH", "CANARY_TABLE", "EPISODE_LINES", "PLANTED", "RULING_LINES", "SCENARIO_LINES", "SUMMARY_TABLE", "Dealing",
    "Episode", "JudgeSide", "Measurement", "Result", "Role", "Ruling", "Scenario", "StillWaiting", "Study", "TaskForecast",
    "Work", "act", "again", "answer_name", "answers_text", "canary_table", "canary_texts", "carry_out", "cases_text",
    "check_name", "collect", "deal", "deal_study", "definition", "disagreements", "episode_counts", "evaluation",
    "evaluation_tasks", "examples", "forecast_study", "forecast_table", "generate", "judge_episodes", "judge_scenarios",
    "manifest_lines", "measurement", "most_dollars", "order_check", "pilot_summary", "priced", "read_bench",
    "read_definitions", "read_placements", "read_sides", "reading_order", "result_texts", "ruling_texts", "run", "run_study",
    "scenario_counts", "scenario_text", "scenario_verdicts", "score_bounds", "second_judge", "second_opinions",
    "seen_and_unseen", "shown_scores", "study_folder", "suite_table", "told_text", "verdict_states", "verdict_table",
    "watch", "witness_table"
]  # fmt: skip
