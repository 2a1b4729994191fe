"""A study with arms in one table: what the faults change, false alarms, retest, second judge, planted verdicts."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Annotated, Any

import numpy as np
import pandas as pd
from pydantic import Field
from pydantic.dataclasses import dataclass

from regatta_lib import instruments, measures, stats
from regatta_lib.base import Contract, ContractError
from regatta_lib.stats import exact_interval, exact_mcnemar, percentile_interval, seeded

Count = Annotated[int, Field(ge=0)]
TableRow = dict[Hashable, Any]  # a row of a table, as pandas gives it


@dataclass(frozen=True)
class Quantity:
    """One quantity of a study: its value over ``n`` resolved units, with an interval where it has one.

    A share has the ``count`` behind it and its Clopper–Pearson interval, which takes units as independent: those of one
    suite are not, so it is rather too narrow, and McNemar's p, for the same reason, rather too small. All other intervals
    are percentile intervals over suites.
    """

    quantity: str
    value: float | None
    low: float | None
    high: float | None
    count: Count | None
    n: Count
    unresolved: Count


SUMMARY_TABLE = Contract(Quantity, ("quantity",))


def share(quantity: str, count: int, n: int, unresolved: int, level: float) -> Quantity:
    """``count`` of ``n`` with the exact interval; no value where n is 0."""
    if not n:
        return Quantity(quantity, None, None, None, 0, 0, unresolved)
    low, high = exact_interval(np.array([count]), np.array([n]), level)
    return Quantity(quantity, count / n, float(low[0]), float(high[0]), int(count), int(n), int(unresolved))


def pilot_summary(
    verdicts: pd.DataFrame,
    second: pd.DataFrame | None,
    canaries: pd.DataFrame | None,
    index: pd.DataFrame,
    bootstrap: stats.Bootstrap,
) -> pd.DataFrame:
    """The quantities of a study with one generator, in the columns of ``Quantity``, sorted by name.

    ``verdicts`` holds the arm joint and, where the study has them, a second draw of it, control and single; ``second`` the
    second judge's verdicts on a sample, ``canaries`` the items with a planted verdict (columns of
    ``canaries.CanaryResult``), each None or empty where there is none. What the study does not have gives no rows. n counts
    suites (``suites``), fault–suite pairs (stages, arms, retest), faults (``…/faults``, ``faults_varying``), items
    (``second_judge/…``) or canaries. Raises ContractError for verdicts of several generators.
    """
    generators = sorted(measures.suite_parts(verdicts["suite_id"])["generator"].unique())
    if len(generators) != 1:
        raise ContractError(f"verdicts: {len(generators)} generators ({', '.join(generators)}), expected 1")
    level, suites = bootstrap.level, verdicts["suite_id"].nunique()
    known = int(verdicts["value"].notna().sum())
    present = set(verdicts.loc[verdicts["judge"] == "execution", "arm"])
    rows = [
        Quantity("suites", suites, None, None, suites, suites, 0),
        Quantity("verdicts", len(verdicts), None, None, len(verdicts), known, len(verdicts) - known),
        *_stages(measures.stage_pairs(verdicts, index), bootstrap),
    ]
    for found in measures.repeated_execution(verdicts, bootstrap).to_dict("records"):
        rows += _retest(found, level)
    if "control" in present:
        rows.append(_false_alarms(measures.false_alarms(verdicts, level), level))
    for name, other in (("mutation_effect", "control"), ("interaction", "single")):
        if other in present:
            rows += _effect(name, measures.arm_pairs(verdicts, "joint", other), other, bootstrap)
    if canaries is not None and len(canaries):
        rows.append(share("canaries_held", int(canaries["held"].sum()), len(canaries), 0, level))
    if second is not None and len(second):
        for row in second_judge(verdicts, second, bootstrap).to_dict("records"):
            rows += _judges(row, level)
    table = pd.DataFrame([vars(row) for row in rows])[SUMMARY_TABLE.columns].astype({"count": "Int64"})
    return table.sort_values("quantity", ignore_index=True)


def _false_alarms(by_suite: pd.DataFrame, level: float) -> Quantity:
    """The false alarms of all suites, from ``measures.false_alarms``."""
    false, asked, unresolved = (int(by_suite[column].sum()) for column in ("alarms", "faults", "unresolved"))
    return share("false_alarms", false, asked, unresolved, level)


def _stages(pairs: pd.DataFrame, bootstrap: stats.Bootstrap) -> list[Quantity]:
    """Both rates, agreement against pooled chance, and the per-fault margin where it is not 0 by construction.

    Only the rates and the agreement, without values, where no pair is resolved.
    """
    known = pairs.dropna(subset=["design", "execution"])
    missing = len(pairs) - len(known)
    if known.empty:
        return [share(name, 0, 0, missing, bootstrap.level) for name in ("fdr_design", "fdr_execution", "stage_agreement")]
    found = measures.table3(pairs, measures.resampled_counts(pairs, bootstrap), bootstrap.level).to_dict("records")[0]
    n, level = found["pairs"], bootstrap.level
    counts = measures.bootstrap_counts(pairs, seeded(bootstrap.seed, "pilot/pooled_margin"), bootstrap.resamples)
    low, high = percentile_interval(measures.margin(*(counts[name].sum(axis=1) for name in measures.OUTCOMES)), level)
    margin = measures.margin(*(np.array(found[name]) for name in measures.OUTCOMES))
    varying = known.groupby("fault_id")[["design", "execution"]].nunique().gt(1).all(axis=1)
    own = (found[name] if varying.any() else None for name in ("per_fault_margin", "ci_low", "ci_high"))
    own_margin, own_low, own_high = own
    return [
        share("fdr_design", found["n11"] + found["n10"], n, missing, level),
        share("fdr_execution", found["n11"] + found["n01"], n, missing, level),
        share("stage_agreement", found["n11"] + found["n00"], n, missing, level),
        Quantity("pooled_chance", found["pooled_chance"], None, None, None, n, missing),
        Quantity("pooled_margin", float(margin), float(low), float(high), None, n, missing),
        Quantity("per_fault_margin", own_margin, own_low, own_high, None, n, missing),
        Quantity("faults_varying", varying.mean(), None, None, int(varying.sum()), len(varying), 0),
    ]


def _retest(found: TableRow, level: float) -> list[Quantity]:
    """Both sides of V3 on the pairs that were executed twice."""
    n, missing = found["pairs"], found["unresolved"]
    stages, executions = (round(found[name] * n) if n else 0 for name in ("stage_agreement", "retest_agreement"))
    return [
        share("retest_agreement", executions, n, missing, level),
        share("retest_stage_agreement", stages, n, missing, level),
        Quantity("retest_pooled_chance", found["pooled_chance"], None, None, None, n, missing),
        Quantity("retest_excess", found["excess"], found["low"], found["high"], None, n, missing),
    ]


def _effect(name: str, pairs: pd.DataFrame, other: str, bootstrap: stats.Bootstrap) -> list[Quantity]:
    """The difference of the joint and another arm, the discordant pairs and faults behind it, and their exact p."""
    rng = seeded(bootstrap.seed, f"pilot/{name}")
    found = measures.overall_effect(pairs, rng, bootstrap.resamples, bootstrap.level)
    n, missing = int(found["pairs"]), int(found["unresolved"])
    by_fault = measures.paired_difference(pairs, "holm")
    joint, alone = int(by_fault["first_only"].sum()), int(by_fault["second_only"].sum())
    differing = int((by_fault["first_only"] + by_fault["second_only"]).gt(0).sum())
    return [
        Quantity(name, found["effect"], found["low"], found["high"], None, n, missing),
        share(f"{name}/joint_only", joint, n, missing, bootstrap.level),
        share(f"{name}/{other}_only", alone, n, missing, bootstrap.level),
        Quantity(f"{name}/faults", differing / len(by_fault), None, None, differing, len(by_fault), 0),
        Quantity(f"{name}/p", exact_mcnemar(joint, alone), None, None, None, n, missing),
    ]


def second_judge(verdicts: pd.DataFrame, second: pd.DataFrame, bootstrap: stats.Bootstrap) -> pd.DataFrame:
    """``stats.compare_judges`` on the judges that ``second`` has, with an exact interval of their agreement.

    Where the judges agree on every item a resample can give κ = 1 and AC1 = 1 alone. Those intervals are removed and the
    note says ``degenerate``; agreed, agreement_low and agreement_high (Clopper–Pearson) say what so few items exclude.
    """
    rng = seeded(bootstrap.seed, "pilot/judges")
    sampled = verdicts[verdicts["judge"].isin(second["judge"])]
    table = stats.compare_judges(sampled, second, rng, bootstrap.resamples, bootstrap.level)
    agreed = (table["agreement"] * table["pairs"]).round().fillna(0).astype(int)
    low, high = exact_interval(agreed.to_numpy(), table["pairs"].to_numpy(), bootstrap.level)
    same = agreed == table["pairs"]
    intervals = ["kappa_low", "kappa_high", "ac1_low", "ac1_high"]
    table[intervals] = table[intervals].mask(same)
    table["note"] = table["note"].mask(same & (table["note"] == ""), "degenerate: no disagreement, so no interval of κ")
    return table.assign(agreed=agreed, agreement_low=low, agreement_high=high)


def _judges(row: TableRow, level: float) -> list[Quantity]:
    """κ of one judge function, and for yes–no verdicts the four cells, prevalence, AC1 and undefined resamples."""
    name, n, missing = f"second_judge/{row['judge']}", row["pairs"], row["unresolved"]
    of_kappa: list[float | None] = [None if pd.isna(row[key]) else row[key] for key in ("kappa", "kappa_low", "kappa_high")]
    kappa, low, high = of_kappa
    found = [
        Quantity(name, kappa, low, high, None, n, missing),
        share(f"{name}/agreement", row["agreed"], n, missing, level),
        Quantity(f"{name}/ac1", row["ac1"], None, None, None, n, missing),
        Quantity(f"{name}/undefined_resamples", row["undefined_resamples"], None, None, None, n, missing),
    ]
    if row["judge"] == "specificity":
        return found
    cells = {"both_no": "t_0_0", "second_only": "t_0_1", "first_only": "t_1_0", "both_yes": "t_1_1"}
    counts = {key: int(row[cell]) for key, cell in cells.items()}
    counts["prevalence"] = counts["first_only"] + counts["both_yes"]
    return found + [share(f"{name}/{key}", count, n, missing, level) for key, count in counts.items()]


def seen_and_unseen(
    verdicts: pd.DataFrame, withheld: Mapping[str, Sequence[str]], mappings: Mapping[str, Mapping[str, Sequence[str]]]
) -> pd.DataFrame:
    """Coverage of requirements whose rule the generator got, was denied, or never could get, by suite and over all.

    ``withheld`` names the regulations withheld from each suite, {suite: keys}; suites with none are left out. ``mappings``
    are the cells' ``instruments.read_mapping``. Columns: suite_id (``all`` for the sum), knowledge, n, covered,
    unresolved, rc (covered over resolved; missing where there are none). Empty if nothing was withheld from any suite.
    """
    columns = ["suite_id", "knowledge", "n", "covered", "unresolved", "rc"]
    reduced = measures.targets(verdicts[verdicts["judge"] == "coverage"]).assign(
        cell=lambda frame: measures.suite_parts(frame["suite_id"])["cell"]
    )
    parts = []
    for place, part in reduced.groupby(["suite_id", "cell"], sort=True):
        suite, cell = map(str, place)
        if withheld[suite]:
            values = zip(part["target"], part["value"], strict=True)
            covered = {target: None if pd.isna(value) else int(value) for target, value in values}
            parts.append(instruments.seen_unseen(covered, mappings[cell], withheld[suite]).assign(suite_id=suite))
    if not parts:
        return pd.DataFrame(columns=columns)
    table = pd.concat(parts, ignore_index=True)
    total = table.groupby("knowledge", sort=False)[["n", "covered", "unresolved"]].sum().reset_index()
    total = total.assign(suite_id="all", rc=total["covered"] / (total["n"] - total["unresolved"]).replace(0, np.nan))
    return pd.concat([table.astype({"rc": float}), total])[columns].reset_index(drop=True)
