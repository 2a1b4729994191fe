"""What is published, and the proof that it follows from the record: release, reference values, verification, pipeline."""

from regatta_lib.reproduce.pins import MANIFEST, PINS, check_pins, pinned_manifest, tracked_files
from regatta_lib.reproduce.published import RECONSTRUCTED_TABLES
from regatta_lib.reproduce.reference import (
    PUBLISHED_VALUES,
    REFERENCE_VALUES,
    printed_figures,
    read_published_values,
    read_reference_values,
)
from regatta_lib.reproduce.release import COMMIT, REPOSITORY, read_record, record_tables
from regatta_lib.reproduce.reproduction import (
    committed_digests,
    committed_files,
    differences,
    record,
    run_pipeline,
    stages_in,
)
from regatta_lib.reproduce.stages import run_stage
from regatta_lib.reproduce.verification import GROUPS, REPORT, metrics, report, succeeded, summary, verify

__all__ = [
    "COMMIT",
    "GROUPS",
    "MANIFEST",
    "PINS",
    "PUBLISHED_VALUES",
    "RECONSTRUCTED_TABLES",
    "REFERENCE_VALUES",
    "REPORT",
    "REPOSITORY",
    "check_pins",
    "committed_digests",
    "committed_files",
    "differences",
    "metrics",
    "pinned_manifest",
    "printed_figures",
    "read_published_values",
    "read_record",
    "read_reference_values",
    "record",
    "record_tables",
    "report",
    "run_pipeline",
    "run_stage",
    "stages_in",
    "succeeded",
    "summary",
    "tracked_files",
    "verify",
]
