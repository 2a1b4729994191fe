import hashlib
import json
from itertools import product

import pytest

from regatta_lib.base import records
from regatta_lib.instruments import holdout, reading

CELLS = [*records.CELLS, "eu_banking"]


@pytest.fixture(scope="module")
def ontologies():
    return {cell: reading.read_generator_side(cell)[0] for cell in CELLS}


def keys(ontology):
    return [regulation.key for regulation in ontology.regulations]


def test_the_seed_is_the_sha256_of_cell_and_replication():
    assert holdout.seed_of("vn_banking", 2) == hashlib.sha256(b'["vn_banking",2]').hexdigest()


@pytest.mark.parametrize("share", [0.01, 0.2, 0.5, 0.99])
def test_every_cell_and_replication_withholds_some_regulations_and_keeps_some(ontologies, share):
    for cell, replication in product(CELLS, records.REPLICATIONS):
        known = keys(ontologies[cell])
        withheld = holdout.withhold(cell, replication, known, share)
        assert 1 <= len(withheld) == min(max(1, round(share * len(known))), len(known) - 1)
        assert set(withheld) < set(known)


def test_the_choice_depends_on_cell_and_replication_and_on_nothing_else(ontologies):
    known = keys(ontologies["us_fintech"])
    first = holdout.withhold("us_fintech", 1, known, 0.2)
    assert first == ("military_lending", "safeguards", "travel_rule")
    assert holdout.withhold("us_fintech", 1, list(reversed(known)), 0.2) == first
    assert len({holdout.withhold("us_fintech", r, known, 0.2) for r in records.REPLICATIONS}) == 3
    assert holdout.withhold("us_insurance", 1, known, 0.2) != first


@pytest.mark.parametrize(
    ("regulations", "share"), [([], 0.2), (["a"], 0.2), (["a", "a"], 0.2), (["a", "b"], 0), (["a", "b"], 1)]
)
def test_nothing_to_withhold_is_an_error_and_not_an_empty_holdout(regulations, share):
    with pytest.raises(ValueError, match="us_fintech"):
        holdout.withhold("us_fintech", 1, regulations, share)


def test_the_earlier_routine_had_nothing_to_withhold_in_three_of_five_cells(release_folder):
    def pool(cell):
        roles = json.loads((release_folder / "ontology" / f"{cell}.json").read_text("utf-8"))["role_layer"]
        return [name for role in roles.values() for name in role.get("domain_knowledge", {}).get("regulations", [])]

    sizes = {cell: len(pool(cell)) for cell in ("fintech", "insurance", "healthcare", "banking_vn", "insurance_vn")}
    assert [cell for cell, size in sizes.items() if size == 0] == ["insurance", "healthcare", "insurance_vn"]
    assert [cell for cell, size in sizes.items() if size > 0] == ["fintech", "banking_vn"]


def test_a_withheld_regulation_leaves_no_rule_of_its_own_in_the_ontology(ontologies):
    ontology = ontologies["vn_banking"]
    left = holdout.without(ontology, ["capital", "funding_liquidity"])
    assert {*keys(ontology)} - {*keys(left)} == {"capital", "funding_liquidity"}
    gone = {metric.key for metric in ontology.metrics} - {metric.key for metric in left.metrics}
    assert gone == {"car", "ldr", "short_term_for_long", "liquid_reserve", "solvency_30d_vnd"}
    assert (left.roles, left.workflows, left.entities) == (ontology.roles, ontology.workflows, ontology.entities)
    with pytest.raises(ValueError, match="vn_banking: basel: no such regulation"):
        holdout.without(ontology, ["basel"])


def test_coverage_is_told_seen_from_unseen():
    mapping = {"a": ["R1", "R2"], "b": ["R2", "R3"], "c": ["R4"], "d": []}
    covered = {"R1": 1, "R2": 1, "R3": 0, "R4": None, "R5": 1}
    assert holdout.knowledge(mapping, list(covered), ["b", "c"]) == {
        "R1": "seen", "R2": "seen", "R3": "unseen", "R4": "unseen", "R5": "unmapped",
    }  # fmt: skip
    table = holdout.seen_unseen(covered, mapping, ["b", "c"]).set_index("knowledge")
    assert table.loc["seen"].tolist() == [2, 2, 0, 1.0]
    assert table.loc["unseen"].tolist() == [2, 0, 1, 0.0]
    assert table.loc["unmapped"].tolist() == [1, 1, 0, 1.0]
    nothing = holdout.seen_unseen({"R5": 1}, mapping, ["c"]).set_index("knowledge")
    assert nothing.loc["unseen", "n"] == 0 and nothing["rc"].isna().tolist() == [True, True, False]


@pytest.mark.parametrize("cell", CELLS)
def test_the_mapping_names_every_regulation_once_and_only_known_requirements(cell, ontologies):
    mapping = reading.read_mapping(cell)
    requirements = {item.id for item in reading.read_judge_side(cell, "corrected")[0]}
    assert list(mapping) == keys(ontologies[cell])
    assert {requirement for ids in mapping.values() for requirement in ids} <= requirements
