"""What all stands on: paths, files, digests, parameters, the mechanism of tables, and the nouns that all rooms share."""

from regatta_lib.base import paths
from regatta_lib.base.contracts import Contract, csv_text
from regatta_lib.base.digest import canonical_json, manifest_text, read_manifest, sha256, unique_keys
from regatta_lib.base.errors import ContractError, ParameterError, RegattaError
from regatta_lib.base.extras import hint, optional
from regatta_lib.base.files import ZIP_DATE, file_text, write_atomic, yaml_value
from regatta_lib.base.jsonl import Lines
from regatta_lib.base.params import Params, Section, checked_params, read_params
from regatta_lib.base.records import (
    ADVERSARIAL_CATEGORIES,
    CELLS,
    FAULT_CATEGORIES,
    GENERATORS,
    LAZY,
    MEASURES,
    REPLICATIONS,
    STAGES,
    STRATEGIES,
    AdversarialCategory,
    Arm,
    Binary,
    FaultCategory,
    FaultId,
    ItemId,
    Judge,
    Name,
    Positive,
    Share,
    Stage,
    State,
    Strategy,
    SuiteId,
    cell_of,
    suite_id,
)
from regatta_lib.base.yaml_text import DEPTH, as_written

__all__ = [
    "ADVERSARIAL_CATEGORIES", "CELLS", "DEPTH", "FAULT_CATEGORIES", "GENERATORS", "LAZY", "MEASURES", "REPLICATIONS",
    "STAGES", "STRATEGIES", "ZIP_DATE", "AdversarialCategory", "Arm", "Binary", "Contract", "ContractError", "FaultCategory",
    "FaultId", "ItemId", "Judge", "Lines", "Name", "ParameterError", "Params", "Positive", "RegattaError", "Section",
    "Share", "Stage", "State", "Strategy", "SuiteId", "as_written", "canonical_json", "cell_of", "checked_params",
    "csv_text", "file_text", "hint", "manifest_text", "optional", "paths", "read_manifest", "read_params", "sha256",
    "suite_id", "unique_keys", "write_atomic", "yaml_value"
]  # fmt: skip
