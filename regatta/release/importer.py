"""The public release of the historical study: import its figures into ``data/record``.

The release holds verdicts and scores but no scenario text, no agent answer and no judge rationale. Only figures,
identifiers and 0/1 verdicts are carried over; its files and sentences are not.
"""

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd

from regatta_lib.base import ContractError, csv_text, sha256, suite_id
from regatta_lib.measures import RECORD_TABLES

SHA256 = {
    "results/coverage_results.json": "e136ef6e4ed47623c8cfc6f337eef55e64fb40e1699dda0ac1ab55cfa8c9f276",
    "results/coverage_results_gemma_4_26b_a4b_it.json": "a7ef03de39c655efe46fe149f8b37a03135139912739f009ea3b51c1609704b1",
    "results/coverage_results_qwen_2_5_72b.json": "fc8d25d5e303561dee452c58a45d8c4c17a89e299a4cedd8b759484aeaff16e8",
    "results/fdr_results.json": "2ba3c22cdfbed26c045a17eea31f115d19a66f319f297d8eb7d9efa957c6614f",
    "results/fdr_results_gemma_4_26b_a4b_it.json": "5233fb97025f5b520f99e65ac3df2ea7ef365a12467b29cf55e9aeb9169467c8",
    "results/fdr_results_qwen_2_5_72b.json": "62987c311fb344c5ee96b0c510c7cad50e7cc4214457b0d206ddb83d4bf6c00c",
}
SUFFIXES = {"sonnet4": "", "qwen72b": "_qwen_2_5_72b", "gemma26b": "_gemma_4_26b_a4b_it"}
RELEASE_STRATEGIES = {"G1_baseline": "S1", "G2_persona": "S2", "G3_rag": "S3", "G4_ontology": "S4"}
RELEASE_CELLS = {
    "fintech": "us_fintech",
    "insurance": "us_insurance",
    "healthcare": "us_healthcare",
    "banking_vn": "vn_banking",
    "insurance_vn": "vn_insurance",
}
RELEASE_STAGES = {"design": ("stage_a", "design_covered"), "execution": ("stage_b", "execution_detected")}
SUITE = re.compile(
    rf"(?P<strategy>{'|'.join(RELEASE_STRATEGIES)})_(?P<cell>{'|'.join(RELEASE_CELLS)})_rep(?P<replication>[1-3])"
)
SCENARIO = re.compile(rf"(?:{'|'.join(RELEASE_CELLS)})_G[1-4]_S(?P<number>[0-9]{{2}})")


def load_results(folder: Path) -> dict[str, dict[str, Any]]:
    """Read the release's six result files after checking each against its pinned SHA-256.

    Returns {file name: {release suite name: results}}. Raises ContractError for a missing, unknown or altered file.
    """
    found = {path.relative_to(folder).as_posix() for path in (folder / "results").glob("*")}
    strangers = sorted(SHA256.keys() ^ found)
    if strangers:
        state = "missing" if strangers[0] in SHA256 else "unknown"
        raise ContractError(f"{folder / strangers[0]}: {state}, expected exactly {', '.join(sorted(SHA256))}")
    loaded = {}
    for name, expected in SHA256.items():
        content = (folder / name).read_bytes()
        if (digest := sha256(content)) != expected:
            raise ContractError(f"{folder / name}: SHA-256 is {digest}, expected {expected}")
        loaded[name] = json.loads(content)
    return loaded


def _scenario_number(name: str | None, suite: str) -> int | None:
    if name is None:
        return None
    match = SCENARIO.fullmatch(name)
    if match is None:
        raise ContractError(f"{suite}: scenario is {name!r}, expected a name like fintech_G1_S01")
    return int(match["number"])


def extract(loaded: dict[str, dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Turn the release's results into the rows of the five record tables.

    Raises ContractError where a suite is missing, unknown or named differently in the two kinds of file.
    """
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in RECORD_TABLES}
    for generator, suffix in SUFFIXES.items():
        coverage = loaded[f"results/coverage_results{suffix}.json"]
        faults = loaded[f"results/fdr_results{suffix}.json"]
        unpaired = sorted(coverage.keys() ^ faults.keys())
        if unpaired:
            raise ContractError(f"results/*{suffix}.json: {unpaired[0]}: in one kind of file only, expected in both")
        for name, covered in coverage.items():
            match = SUITE.fullmatch(name)
            if match is None:
                raise ContractError(f"results/coverage_results{suffix}.json: unknown suite {name!r}")
            strategy, cell, replication = (
                RELEASE_STRATEGIES[match["strategy"]],
                RELEASE_CELLS[match["cell"]],
                int(match["replication"]),
            )
            suite = suite_id(generator, strategy, cell, replication)
            rows["suites"].append(
                {
                    "suite_id": suite,
                    "generator": generator,
                    "strategy": strategy,
                    "cell": cell,
                    "replication": replication,
                    "scenarios": len(covered["iss"]),
                }
            )
            rows["coverage"] += [
                {"suite_id": suite, "requirement_id": entry["requirement_id"], "covered": int(entry["covered"])}
                for entry in covered["rc"]
            ]
            rows["specificity"] += [
                {"suite_id": suite, "scenario": _scenario_number(entry["scenario_id"], name), "score": entry["iss_score"]}
                for entry in covered["iss"]
            ]
            rows["adversarial"] += [
                {"suite_id": suite, "category": category, "covered": value}
                for state, value in (("covered", 1), ("not_covered", 0))
                for category in covered["ac"][state]
            ]
            rows["faults"] += [
                {
                    "suite_id": suite,
                    "fault_id": entry["fault_id"],
                    "stage": stage,
                    "detected": int(entry[verdict]),
                    "scenario": _scenario_number(entry["detecting_scenario"], name),
                }
                for stage, (block, verdict) in RELEASE_STAGES.items()
                for entry in faults[name][block]
            ]
    return rows


def record_tables(folder: Path) -> dict[str, str]:
    """The five record tables as canonical CSV text, {file name: text}, derived from a folder of the release.

    Raises ContractError before anything is written if a file, suite, row or count is not as pinned.
    """
    texts = {}
    for name, rows in extract(load_results(folder)).items():
        contract = RECORD_TABLES[name]
        ordered = pd.DataFrame(rows).sort_values(list(contract.key)).astype(object)
        frame = contract.frame(ordered.where(ordered.notna(), None).to_dict("records"), Path(f"{name}.csv"))
        texts[f"{name}.csv"] = csv_text(frame)
    return texts
