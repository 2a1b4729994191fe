"""From verdicts to scores, Tables I to IV and the diagnostics V1 to V4; arms of the agent and cost of a scan."""

from regatta_lib.measures.arms import (
    arm_pairs,
    false_alarms,
    interaction,
    mutation_effect,
    overall_effect,
    paired_difference,
)
from regatta_lib.measures.cost import bound, calls_by_detected, cost_summary, fall_with_quality, suite_costs
from regatta_lib.measures.record import (
    ADVERSARIAL_TABLE,
    COMMIT,
    COVERAGE_TABLE,
    FAULT_TABLE,
    RECORD_TABLES,
    REPOSITORY,
    SPECIFICITY_TABLE,
    SUITE_TABLE,
    read_record,
)
from regatta_lib.measures.scores import (
    MEASURE_OF,
    SCORE_TABLE,
    stage_pairs,
    suite_parts,
    suite_scores,
    targets,
    unresolved_pairs,
)
from regatta_lib.measures.tables import in_reading_order, latex, stage_difference, table1, table2, table3, table4
from regatta_lib.measures.v1_items import (
    AREA_TABLE,
    NEARLY_ALWAYS,
    area_test,
    difficulty_by_cell,
    difficulty_summary,
    difficulty_table,
    item_difficulty,
)
from regatta_lib.measures.v2_profiles import (
    execution_profile,
    flips_to_fail,
    profile_persists,
    profile_table,
    rank_agreement,
    reference_order,
    stability,
    stage_shift,
)
from regatta_lib.measures.v3_stages import (
    OUTCOMES,
    bootstrap_counts,
    interval_schemes,
    margin,
    mcnemar_family,
    repeated_execution,
    resampled_counts,
    table3_extended,
)
from regatta_lib.measures.v4_strategies import ceiling, separation, strategy_range
from regatta_lib.measures.verdicts import VERDICT_TABLE, Verdict, replay_record

__all__ = [
    "ADVERSARIAL_TABLE", "AREA_TABLE", "COMMIT", "COVERAGE_TABLE", "FAULT_TABLE", "MEASURE_OF", "NEARLY_ALWAYS", "OUTCOMES",
    "RECORD_TABLES", "REPOSITORY", "SCORE_TABLE", "SPECIFICITY_TABLE", "SUITE_TABLE", "VERDICT_TABLE", "Verdict",
    "area_test", "arm_pairs", "bootstrap_counts", "bound", "calls_by_detected", "ceiling", "cost_summary",
    "difficulty_by_cell", "difficulty_summary", "difficulty_table", "execution_profile", "fall_with_quality", "false_alarms",
    "flips_to_fail", "in_reading_order", "interaction", "interval_schemes", "item_difficulty", "latex", "margin",
    "mcnemar_family", "mutation_effect", "overall_effect", "paired_difference", "profile_persists", "profile_table",
    "rank_agreement", "read_record", "reference_order", "repeated_execution", "replay_record", "resampled_counts",
    "separation", "stability", "stage_difference", "stage_pairs", "stage_shift", "strategy_range", "suite_costs",
    "suite_parts", "suite_scores", "table1", "table2", "table3", "table3_extended", "table4", "targets", "unresolved_pairs"
]  # fmt: skip
