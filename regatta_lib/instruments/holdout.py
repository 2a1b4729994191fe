"""The holdout of S4: withhold part of a cell's regulations from the generator, so that coverage can be told seen from
unseen.

The regulations are ranked by a SHA-256 of (cell, replication) and their key; the first ones are withheld. The choice
depends on nothing else: no random generator, no order of a file, no Python version. A cell without regulations is an
error, never an empty holdout.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from regatta_lib.base import ContractError, canonical_json, sha256
from regatta_lib.instruments.items import Ontology


def seed_of(cell: str, replication: int) -> str:
    """The seed of a holdout: SHA-256 of the canonical JSON of [cell, replication], in hexadecimal."""
    return sha256(canonical_json([cell, replication]))


def withhold(cell: str, replication: int, regulations: Sequence[str], share: float) -> tuple[str, ...]:
    """The keys of the regulations that one suite's generator does not get, sorted.

    ``share`` of them (0 to 1, exclusive) is withheld, rounded to a whole number, at least one and never all. Raises
    ContractError where there are fewer than two regulations, a key occurs twice, or the share is out of range.
    """
    if len(regulations) < 2 or len(set(regulations)) != len(regulations):
        raise ContractError(f"{cell}: {len(regulations)} regulations to withhold from, expected two or more, each once")
    if not 0 < share < 1:
        raise ContractError(f"{cell}: share of regulations to withhold is {share}, expected between 0 and 1")
    seed = seed_of(cell, replication)
    ranked = sorted(regulations, key=lambda key: sha256(f"{seed}/{key}"))
    count = min(max(1, round(share * len(regulations))), len(regulations) - 1)
    return tuple(sorted(ranked[:count]))


def without(ontology: Ontology, withheld: Sequence[str]) -> Ontology:
    """The ontology as the generator gets it: without the withheld regulations and the metrics that repeat their rule.

    Roles, entities and workflows stay; they name duties but state no rule.
    """
    unknown = sorted(set(withheld) - {regulation.key for regulation in ontology.regulations})
    if unknown:
        raise ContractError(f"{ontology.cell}: {unknown[0]}: no such regulation, so it cannot be withheld")
    return replace(
        ontology,
        regulations=tuple(regulation for regulation in ontology.regulations if regulation.key not in withheld),
        metrics=tuple(metric for metric in ontology.metrics if metric.regulation not in withheld),
    )


def knowledge(mapping: Mapping[str, Sequence[str]], requirements: Sequence[str], withheld: Sequence[str]) -> dict[str, str]:
    """Each requirement as ``seen``, ``unseen`` or ``unmapped``.

    Seen: some regulation that the generator got states its rule. Unseen: only withheld ones do. Unmapped: no
    regulation of the ontology does, so the holdout says nothing about it.
    """
    given = {requirement for key, ids in mapping.items() if key not in withheld for requirement in ids}
    hidden = {requirement for key in withheld for requirement in mapping[key]}
    return {r: "seen" if r in given else "unseen" if r in hidden else "unmapped" for r in requirements}


def seen_unseen(
    covered: Mapping[str, int | None], mapping: Mapping[str, Sequence[str]], withheld: Sequence[str]
) -> pd.DataFrame:
    """Coverage of one suite apart for seen, unseen and unmapped requirements.

    ``covered`` holds 0, 1 or None (no verdict) for each requirement. Columns: knowledge, n, covered, unresolved, rc
    (covered over resolved ones; missing where there are none).
    """
    groups = knowledge(mapping, list(covered), withheld)
    rows = []
    for name in ("seen", "unseen", "unmapped"):
        verdicts = [covered[requirement] for requirement, group in groups.items() if group == name]
        resolved = [verdict for verdict in verdicts if verdict is not None]
        rows.append((name, len(verdicts), sum(resolved), len(verdicts) - len(resolved), _covered_share(resolved)))
    return pd.DataFrame(rows, columns=["knowledge", "n", "covered", "unresolved", "rc"])


def _covered_share(resolved: list[int]) -> float | None:
    return sum(resolved) / len(resolved) if resolved else None
