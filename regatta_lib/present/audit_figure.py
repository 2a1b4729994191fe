"""The figure of the source audit: what became of the requirements, by cell, beside the paper's own audit."""

import matplotlib
import pandas as pd
from matplotlib.figure import Figure

from regatta_lib.base import CELLS
from regatta_lib.instruments import AUDIT_CLASSES, CLASSES
from regatta_lib.present.figures import BLUE, INK, ORANGE, STYLE, YELLOW

# Dark to light, so that the order of the classes can be read without colour.
CLASS_COLORS = dict(zip(CLASSES, (BLUE, ORANGE, YELLOW, (0.95, 0.95, 0.95)), strict=True))


def figure_audit(shares: pd.DataFrame, width: float) -> Figure:
    """Stacked bars of the classes, one row per cell, then all five and the paper's audit; counts stand in the bars.

    ``shares`` has the columns of ``instruments.audit_shares``; ``width`` is in inches.
    """
    rows = {**CELLS, "all": "all five cells", "paper": "the paper's own audit"}
    table = shares.pivot(index="cell", columns="audit_class")
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width, width * 0.66), layout="constrained")
        axes = figure.subplots()
        positions = [place + 0.4 * (place >= len(CELLS)) for place in range(len(rows))]
        left = pd.Series(0.0, index=list(rows))
        for name in CLASSES:
            share, n = table["share"][name].loc[list(rows)], table["n"][name].loc[list(rows)]
            axes.barh(positions, share, left=left, height=0.72, color=CLASS_COLORS[name], edgecolor=INK, linewidth=0.4,
                      label=AUDIT_CLASSES[name])  # fmt: skip
            ink = "white" if name == CLASSES[0] else INK
            for place, row in zip(positions, rows, strict=True):
                if n[row]:
                    axes.text(left[row] + share[row] / 2, place, str(n[row]), ha="center", va="center", color=ink)
            left = left + share
        sizes = shares.groupby("cell")["n"].sum()
        axes.set_yticks(positions, [f"{text} (n = {sizes[row]})" for row, text in rows.items()])
        axes.set_ylim(max(positions) + 0.5, -0.5)
        axes.set_xlim(0, 1)
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100"])
        axes.set_xlabel("percent of requirements (bars: counts)")
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        figure.legend(loc="outside upper center", ncols=4, frameon=False, handlelength=1.1, columnspacing=1)
    return figure
