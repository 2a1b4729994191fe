"""The figures of the diagnostics: item difficulty (V1), execution profiles (V2), and scan cost against quality."""

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from regatta_lib.base import CELLS, FAULT_CATEGORIES, GENERATORS
from regatta_lib.measures import reference_order
from regatta_lib.present.figures import BLUE, COLORS, FAINT, INK, MARKERS, ORANGE, STYLE

STAGE_MARKS = {"design": ("o", "-", -0.08, BLUE), "execution": ("s", "--", 0.08, ORANGE)}


def difficulty_curve(items: pd.DataFrame, width: float) -> Figure:
    """V1: every requirement's coverage share with its interval, easiest first, one panel per cell and one for all.

    ``items`` is ``measures.difficulty_table``; ``width`` is in inches. Open marks are requirements never covered.
    """
    cells = [cell for cell in CELLS if cell in set(items["cell"])]
    panels = [*cells, "all"]
    with matplotlib.rc_context(STYLE):
        rows = (len(panels) + 1) // 2
        figure = Figure(figsize=(width, 1.25 * rows + 0.2), layout="constrained")
        grid = figure.subplots(rows, 2, sharey=True, squeeze=False)
        for axes, panel in zip(grid.flat, panels, strict=False):
            part = items if panel == "all" else items[items["cell"] == panel]
            _curve(axes, part.sort_values(["share", "item"], ascending=[False, True]), dense=panel == "all")
            name = f"all {len(part)} requirements" if panel == "all" else CELLS[panel]
            axes.set_title(name, loc="left", fontsize=7, pad=2)
            note = f"mean {part['share'].mean():.2f}\n{(part['covered'] == 0).sum()} never covered"
            axes.text(0.99, 0.97, note, transform=axes.transAxes, ha="right", va="top", fontsize=6, color=INK)
        for axes in grid.flat[len(panels) :]:
            axes.remove()
        figure.supxlabel("requirements, most covered first", fontsize=7)
        figure.supylabel("share of the cell's suites that cover it", fontsize=7)
    return figure


def _curve(axes: Axes, part: pd.DataFrame, dense: bool) -> None:
    rank = np.arange(1, len(part) + 1)
    never = (part["covered"] == 0).to_numpy()
    axes.vlines(rank, part["low"], part["high"], color=FAINT, linewidth=0.5 if dense else 1.2, zorder=1)
    size = 1.2 if dense else 2.6
    axes.plot(rank[~never], part["share"][~never], "o", color=INK, markersize=size, zorder=2)
    axes.plot(rank[never], part["share"][never], "o", color=INK, markersize=size, fillstyle="none", markeredgewidth=0.5)
    axes.set_ylim(-0.04, 1.04)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axes.set_xticks([1, len(part)])


def execution_profiles(profile: pd.DataFrame, width: float) -> Figure:
    """V2: execution-stage detection by category, one mark per generator with its interval; labels stand in the widest row.

    ``profile`` is ``measures.profile_table``. The line parts the top three from the bottom pair.
    """
    order = reference_order(profile.pivot(index="category", columns="generator", values="rate"))
    generators = [name for name in GENERATORS if name in set(profile["generator"])]
    generators += sorted(set(profile["generator"]) - set(generators))
    shift = dict(zip(generators, np.linspace(-0.26, 0.26, len(generators)) if len(generators) > 1 else [0], strict=True))
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width, 2.7), layout="constrained")
        axes = figure.subplots()
        for generator in generators:
            own = profile[profile["generator"] == generator].set_index("category").loc[order]
            height = np.arange(len(order)) + shift[generator]
            axes.errorbar(
                own["rate"],
                height,
                xerr=[own["rate"] - own["low"], own["high"] - own["rate"]],
                fmt=MARKERS.get(generator, "D"),
                color=COLORS.get(generator, INK),
                markersize=4,
                markeredgecolor=INK,
                markeredgewidth=0.4,
                elinewidth=1,
                capsize=1.5,
            )
            name = GENERATORS.get(generator, generator)
            axes.text(own["high"].iloc[-1] + 0.02, height[-1], name, va="center", fontsize=6, color=INK)
        axes.axhline(2.5, color=FAINT, linewidth=0.6)
        axes.set_yticks(range(len(order)), [FAULT_CATEGORIES[category] for category in order])
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(len(order) - 0.5, -0.5)
        axes.set_xlim(-0.02, 1.02)
        axes.set_xlabel("execution-stage detection rate")
    return figure


def cost_by_quality(costs: pd.DataFrame, by_detected: pd.DataFrame, bound: int, width: float) -> Figure:
    """Calls of a stage's scans by the number of faults the suite detects there: each suite, and the means joined.

    ``costs`` is ``measures.suite_costs``, ``by_detected`` is ``measures.calls_by_detected`` with the means and their
    intervals; ``bound`` is the most calls a stage can take, ``width`` is in inches.
    """
    import seaborn as sns

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width, 2.7), layout="constrained")
        axes = figure.subplots()
        axes.axhline(bound, color=INK, linewidth=0.6, linestyle=":")
        axes.text(5.2, bound - 3, f"bound: {bound} calls", ha="right", va="top", fontsize=6, color=INK)
        for stage, (marker, line, shift, color) in STAGE_MARKS.items():
            sns.stripplot(
                x=costs[f"detected_{stage}"] + 2.2 * shift, y=costs[stage], ax=axes, native_scale=True, jitter=False,
                marker=marker, color=color, alpha=0.3, size=2,
            )  # fmt: skip
            means = by_detected[by_detected["stage"] == stage]
            axes.errorbar(
                means["detected"] + shift, means["calls"],
                yerr=[means["calls"] - means["low"], means["high"] - means["calls"]],
                marker=marker, linestyle=line, color=color, linewidth=1, markersize=4.5, markeredgecolor=INK,
                markeredgewidth=0.4, ecolor=INK, elinewidth=0.8, capsize=2, label=f"{stage} stage",
            )  # fmt: skip
        axes.set_xlabel("faults detected at the stage (of 5)")
        axes.set_ylabel("judge calls of the stage's scans")
        axes.set_xlim(-0.3, 5.7)
        axes.set_ylim(0, bound * 1.05)
        axes.legend(loc="lower left", frameon=False, fontsize=6.5)
    return figure
