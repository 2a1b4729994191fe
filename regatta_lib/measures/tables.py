"""Tables I–IV and the numbers behind Figure 2, as frames and as LaTeX."""

import numpy as np
import pandas as pd

from regatta_lib import instruments
from regatta_lib.base import CELLS, FAULT_CATEGORIES, GENERATORS, STAGES, STRATEGIES
from regatta_lib.measures.v3_stages import ResampledCounts, margin, per_fault_margin, stage_counts
from regatta_lib.measures.v4_strategies import strategy_means, strategy_range
from regatta_lib.stats import percentile_interval


def table1(index: pd.DataFrame, audit: pd.DataFrame) -> pd.DataFrame:
    """Table I: the instruments by cell. Columns: cell, items, one per audit class (they add up to items), faults.

    ``index`` lists all items, ``audit`` is the source audit with the final class of each.
    """
    required = index[index["role"] == "requirement"]
    classed = required.merge(audit[["cell", "item", "audit_class"]], on=["cell", "item"], validate="one_to_one")
    classes = pd.crosstab(classed["cell"], classed["audit_class"]).reindex(
        columns=list(instruments.AUDIT_CLASSES), fill_value=0
    )
    counts = index.groupby(["cell", "role"]).size().unstack(fill_value=0)
    table = classes.assign(items=counts["requirement"], faults=counts["fault"])[["items", *classes, "faults"]]
    return table.rename_axis(columns=None).reset_index()


def table2(pairs: pd.DataFrame) -> pd.DataFrame:
    """Table II: detection rates by generator and fault category at both stages, over the n pairs with both verdicts."""
    grouped = pairs.dropna(subset=list(STAGES)).groupby(["generator", "category"])
    rates = grouped[list(STAGES)].mean().astype(float)
    return rates.assign(n=grouped.size()).reset_index()


def table3(pairs: pd.DataFrame, resampled: ResampledCounts, level: float) -> pd.DataFrame:
    """Table III: agreement of the two stages per generator (V3).

    n11 both stages detect, n10 design only, n01 execution only, n00 neither; delta = FDR_d − FDR_e; agreement =
    (n11 + n00) / pairs; pooled_chance from the pooled rates; per_fault_margin with its percentile interval at ``level``
    over ``resampled_counts(pairs)``.
    """
    rows = []
    for generator, part in pairs.groupby("generator"):
        counts = {name: int(values.sum()) for name, values in stage_counts(part).items()}
        n, design, execution = sum(counts.values()), counts["n11"] + counts["n10"], counts["n11"] + counts["n01"]
        agreement = (counts["n11"] + counts["n00"]) / n
        low, high = percentile_interval(margin(**resampled[str(generator)]).mean(axis=1), level)
        rows.append(
            {
                "generator": generator,
                "pairs": n,
                **counts,
                "fdr_design": design / n,
                "fdr_execution": execution / n,
                "delta": (design - execution) / n,
                "agreement": agreement,
                "pooled_chance": (design * execution + (n - design) * (n - execution)) / n**2,
                "per_fault_margin": per_fault_margin(part),
                "ci_low": float(low),
                "ci_high": float(high),
            }
        )
    return pd.DataFrame(rows)


def table4(scores: pd.DataFrame) -> pd.DataFrame:
    """Table IV: mean scores by generator and strategy, and their range over the strategies (V4, strategy ``range``).

    Where the score of one suite is unresolved, its mean and range are missing too.
    """
    means = strategy_means(scores).reset_index()
    ranges = strategy_range(scores).reset_index().assign(strategy="range")
    return pd.concat([means, ranges]).sort_values(["generator", "strategy"], ignore_index=True)[means.columns]


def stage_difference(pairs: pd.DataFrame, resampled: ResampledCounts, level: float) -> pd.DataFrame:
    """The numbers of Figure 2: FDR_d − FDR_e per generator, by fault category and pooled.

    Columns: generator, category (``pooled`` for all), delta, ci_low, ci_high, n. Intervals are percentile intervals at
    ``level`` over ``resampled_counts(pairs)``.
    """
    rows = []
    for generator, part in pairs.groupby("generator"):
        ordered = part.sort_values(["cell", "suite_id", "fault_id"])
        counts = resampled[str(generator)]
        gain, size = counts["n10"] - counts["n01"], np.sum(list(counts.values()), axis=0)
        categories = ordered.drop_duplicates("fault_id")["category"].to_numpy()
        for category in [*sorted(FAULT_CATEGORIES), "pooled"]:
            chosen = np.full(len(categories), True) if category == "pooled" else categories == category
            of = part if category == "pooled" else part[part["category"] == category]
            of = of.dropna(subset=list(STAGES))
            low, high = percentile_interval(gain[:, chosen].sum(axis=1) / size[:, chosen].sum(axis=1), level)
            delta = int((of["design"] - of["execution"]).sum()) / len(of)
            rows.append(
                {
                    "generator": generator,
                    "category": category,
                    "delta": delta,
                    "ci_low": low,
                    "ci_high": high,
                    "n": len(of),
                }
            )
    return pd.DataFrame(rows)


HEADINGS = {
    "cell": "Cell",
    "items": "Items",
    "substance_error": "Substance error",
    "citation_defect": "Citation defect",
    "source_flag": "Source flag",
    "clean": "Clean",
    "faults": "Faults",
    "generator": "Generator",
    "category": "Category",
    "strategy": "Strategy",
    "design": "Design",
    "execution": "Execution",
    "pairs": "$n$",
    "n": "$n$",
    "n11": "$n_{11}$",
    "n10": "$n_{10}$",
    "n01": "$n_{01}$",
    "n00": "$n_{00}$",
    "fdr_design": r"FDR$_d$",
    "fdr_execution": r"FDR$_e$",
    "delta": r"$\Delta$",
    "agreement": "Agreement",
    "pooled_chance": "Chance",
    "per_fault_margin": "Margin",
    "ci_low": "Low",
    "ci_high": "High",
    "rc": "RC",
    "iss": "ISS",
    "ac": "AC",
}
DISPLAY_NAMES = GENERATORS | CELLS | FAULT_CATEGORIES


def in_reading_order(table: pd.DataFrame) -> pd.DataFrame:
    """Sort a table as the paper lists things (generators, cells, categories in design order) and spell out the names."""
    order = {name: position for position, name in enumerate([*DISPLAY_NAMES, *STRATEGIES, "range", "pooled"])}
    keys = [column for column in ("generator", "cell", "category", "strategy") if column in table]
    ordered = table.sort_values(keys, key=lambda column: column.map(order), kind="stable", ignore_index=True)
    return ordered.assign(**{key: ordered[key].replace(DISPLAY_NAMES) for key in keys})


def latex(table: pd.DataFrame) -> str:
    """A booktabs ``tabular`` of a table, two decimals (three for agreement, chance and margin), in reading order."""
    thousandths = {"agreement", "pooled_chance", "per_fault_margin", "ci_low", "ci_high"}
    formats = {column: f"{{:.{3 if column in thousandths else 2}f}}" for column in table.select_dtypes("float")}
    alignment = "".join("r" if pd.api.types.is_numeric_dtype(table[column]) else "l" for column in table)
    shown = in_reading_order(table).to_dict("records")
    body = [[formats.get(str(column), "{}").format(value) for column, value in row.items()] for row in shown]
    lines = [" & ".join(cells) + r" \\" for cells in ([HEADINGS[str(column)] for column in table], *body)]
    rules = [rf"\begin{{tabular}}{{{alignment}}}", r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"]
    return "\n".join([*rules, r"\end{tabular}", ""])
