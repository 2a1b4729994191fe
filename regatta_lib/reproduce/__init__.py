"""What is published, and the proof that it follows from the record: reference values, verification, and the stages."""

from regatta_lib.reproduce.published import RECONSTRUCTED_TABLE
from regatta_lib.reproduce.reference import (
    PUBLISHED_TABLE,
    REFERENCE_TABLE,
    printed_figures,
    read_published_values,
    read_reference_values,
)
from regatta_lib.reproduce.stages import outputs_of, pipeline_outputs, run_stage, stages_in
from regatta_lib.reproduce.verification import (
    CHECK_TABLE,
    GROUPS,
    PINS,
    in_pinned_folders,
    metrics,
    report_rows,
    succeeded,
    summary,
    verify,
)

__all__ = [
    "CHECK_TABLE", "GROUPS", "PINS", "PUBLISHED_TABLE", "RECONSTRUCTED_TABLE", "REFERENCE_TABLE", "in_pinned_folders",
    "metrics", "outputs_of", "pipeline_outputs", "printed_figures", "read_published_values", "read_reference_values",
    "report_rows", "run_stage", "stages_in", "succeeded", "summary", "verify"
]  # fmt: skip
