"""What all stands on: paths, files, digests, parameters, the mechanism of tables, and the nouns that all rooms share."""

from regatta_lib.base import paths
from regatta_lib.base.contracts import Contract, csv_text
from regatta_lib.base.digest import canonical_json, manifest_text, read_manifest, sha256
from regatta_lib.base.files import ContractError, ZIP_DATE, file_text, write_atomic, yaml_value
from regatta_lib.base.jsonl import Lines
from regatta_lib.base.params import Endpoint, Measurement, Params, Prices, Role, Study, read_params
from regatta_lib.base.records import ADVERSARIAL_CATEGORIES, AdversarialCategory, Arm, Binary, CELLS, FAULT_CATEGORIES, FaultCategory, FaultId, GENERATORS, ItemId, Judge, LAZY, MEASURES, Name, Positive, REPLICATIONS, STAGES, STRATEGIES, Share, Stage, State, Strategy, SuiteId, cell_of, suite_id
from regatta_lib.base.yaml_text import DEPTH, as_written

__all__ = [
    "ADVERSARIAL_CATEGORIES",
    "AdversarialCategory",
    "Arm",
    "Binary",
    "CELLS",
    "Contract",
    "ContractError",
    "DEPTH",
    "Endpoint",
    "FAULT_CATEGORIES",
    "FaultCategory",
    "FaultId",
    "GENERATORS",
    "ItemId",
    "Judge",
    "LAZY",
    "Lines",
    "MEASURES",
    "Measurement",
    "Name",
    "Params",
    "Positive",
    "Prices",
    "REPLICATIONS",
    "Role",
    "STAGES",
    "STRATEGIES",
    "Share",
    "Stage",
    "State",
    "Strategy",
    "Study",
    "SuiteId",
    "ZIP_DATE",
    "as_written",
    "canonical_json",
    "cell_of",
    "csv_text",
    "file_text",
    "manifest_text",
    "paths",
    "read_manifest",
    "read_params",
    "sha256",
    "suite_id",
    "write_atomic",
    "yaml_value",
]
