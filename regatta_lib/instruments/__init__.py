"""The instruments of a cell: requirements, faults, ontology and documents, their source audit, holdout and witnesses."""

from regatta_lib.instruments.audit import (
    AUDIT_AGREEMENT_TABLE,
    AUDIT_SHARE_TABLE,
    AUDIT_TABLE,
    CELL_AUDIT_TABLE,
    CLASSES,
    agreement,
    audit_shares,
    audit_table,
    class_counts,
    cross_table,
    items_page,
    wrong_ground_truths,
)
from regatta_lib.instruments.holdout import seen_unseen, withhold, without
from regatta_lib.instruments.items import AUDIT_CLASSES, Document, Fault, Ontology, Requirement
from regatta_lib.instruments.reading import (
    INDEX_TABLE,
    cells_in,
    fault,
    index,
    instruments_digest,
    read_generator_side,
    read_judge_side,
    read_mapping,
)
from regatta_lib.instruments.schemas import (
    FILES,
    PROTOCOL,
    CellFile,
    DocumentsFile,
    FaultEntry,
    FaultsFile,
    LedgerFile,
    MappingFile,
    PilotFile,
    RequirementEntry,
    RequirementsFile,
    read_entries,
    read_part,
    violations,
)
from regatta_lib.instruments.witnesses import check_witness, executable

__all__ = [
    "AUDIT_AGREEMENT_TABLE", "AUDIT_CLASSES", "AUDIT_SHARE_TABLE", "AUDIT_TABLE", "CELL_AUDIT_TABLE", "CLASSES", "FILES",
    "INDEX_TABLE", "PROTOCOL", "CellFile", "Document", "DocumentsFile", "Fault", "FaultEntry", "FaultsFile", "LedgerFile",
    "MappingFile", "Ontology", "PilotFile", "Requirement", "RequirementEntry", "RequirementsFile", "agreement",
    "audit_shares", "audit_table", "cells_in", "check_witness", "class_counts", "cross_table", "executable", "fault",
    "index", "instruments_digest", "items_page", "read_entries", "read_generator_side", "read_judge_side", "read_mapping",
    "read_part", "seen_unseen", "violations", "withhold", "without", "wrong_ground_truths"
]  # fmt: skip
