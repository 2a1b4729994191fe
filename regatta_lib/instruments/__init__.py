"""The instruments of a cell: requirements, faults, ontology and documents, their source audit, holdout and witnesses."""

from regatta_lib.instruments.audit import (
    AUDIT,
    AUDIT_AGREEMENT,
    AUDIT_SHARES,
    CELL_AUDIT,
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
    INDEX,
    cells_in,
    fault,
    index,
    instruments_digest,
    read_generator_side,
    read_judge_side,
    read_mapping,
)
from regatta_lib.instruments.schemas import PROTOCOL, CellFile, FaultEntry, RequirementEntry, read, violations
from regatta_lib.instruments.witnesses import check, executable

__all__ = [
    "AUDIT", "AUDIT_AGREEMENT", "AUDIT_CLASSES", "AUDIT_SHARES", "CELL_AUDIT", "CLASSES", "INDEX", "PROTOCOL", "CellFile",
    "Document", "Fault", "FaultEntry", "Ontology", "Requirement", "RequirementEntry", "agreement", "audit_shares",
    "audit_table", "cells_in", "check", "class_counts", "cross_table", "executable", "fault", "index", "instruments_digest",
    "items_page", "read", "read_generator_side", "read_judge_side", "read_mapping", "seen_unseen", "violations", "withhold",
    "without", "wrong_ground_truths"
]  # fmt: skip
