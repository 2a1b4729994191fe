"""What is published, and the proof that it follows from the record: reference values, verification, and the stages."""

from regatta_lib.reproduce.published import RECONSTRUCTED_TABLES
from regatta_lib.reproduce.reference import (
    PUBLISHED_VALUES,
    REFERENCE_VALUES,
    printed_figures,
    read_published_values,
    read_reference_values,
)
from regatta_lib.reproduce.stages import outputs_of, pipeline_outputs, run_stage, stages_in
from regatta_lib.reproduce.verification import (
    GROUPS,
    PINS,
    REPORT,
    in_pinned_folders,
    metrics,
    report,
    succeeded,
    summary,
    verify,
)

__all__ = [
    "GROUPS", "PINS", "PUBLISHED_VALUES", "RECONSTRUCTED_TABLES", "REFERENCE_VALUES", "REPORT", "in_pinned_folders",
    "metrics", "outputs_of", "pipeline_outputs", "printed_figures", "read_published_values", "read_reference_values",
    "report", "run_stage", "stages_in", "succeeded", "summary", "verify"
]  # fmt: skip
