"""Figures 1 and 2. Each is drawn from a frame; the same frame is committed as CSV beside the image."""

from io import BytesIO
from pathlib import Path

import matplotlib.typing
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from regatta_lib.base import FAULT_CATEGORIES, GENERATORS, write_atomic

# DejaVu Sans comes with matplotlib and has the Vietnamese letters. Fixed ids, no compression and no dates make the
# files the same bytes on every run; glyphs are drawn as paths, so a reader needs no font.
STYLE: dict[matplotlib.typing.RcKeyType, object] = {
    "font.family": "DejaVu Sans",
    "font.size": 7,
    "axes.labelsize": 7,
    "axes.titlesize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "svg.hashsalt": "regatta",
    "svg.fonttype": "path",
    "pdf.compression": 0,
    "pdf.fonttype": 3,
}
UNDATED = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}
BLUE, ORANGE, GREEN, YELLOW = "#0173b2", "#de8f05", "#029e73", "#ece133"  # of seaborn's palette "colorblind"
COLORS = dict(zip(GENERATORS, (BLUE, ORANGE, GREEN), strict=True))
MARKERS = {"sonnet4": "o", "qwen72b": "s", "gemma26b": "^"}
INK, FAINT = "#222222", "#bbbbbb"


def save(figure: Figure, folder: Path, name: str, dpi: int) -> list[Path]:
    """Write ``name``.pdf, .svg and .png into ``folder``: the same bytes on every run."""
    written = []
    for suffix, metadata in UNDATED.items():
        buffer = BytesIO()
        with matplotlib.rc_context(STYLE):
            figure.savefig(buffer, format=suffix, dpi=dpi, metadata=metadata)
        written.append(folder / f"{name}.{suffix}")
        write_atomic(written[-1], buffer.getvalue())
    return written


def figure2(difference: pd.DataFrame, width: float) -> Figure:
    """Figure 2: FDR_d − FDR_e by fault category and pooled, one mark per generator with its interval.

    ``difference`` has the columns of ``measures.stage_difference``; ``width`` is in inches. Right of zero the design
    stage promises more than the execution shows; left of zero the execution shows more than was promised.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width, width * 1.05), layout="constrained")
        axes = figure.subplots()
        rows = [*FAULT_CATEGORIES, "pooled"]
        axes.axvline(0, color=INK, linewidth=0.6, zorder=1)
        axes.axhline(len(rows) - 1.5, color=FAINT, linewidth=0.6)
        for offset, generator in zip((-0.24, 0, 0.24), GENERATORS, strict=True):
            own = difference[difference["generator"] == generator].set_index("category").loc[rows]
            axes.errorbar(
                own["delta"],
                [position + offset for position in range(len(rows))],
                xerr=[own["delta"] - own["ci_low"], own["ci_high"] - own["delta"]],
                fmt=MARKERS[generator],
                color=COLORS[generator],
                markersize=4,
                markeredgecolor=INK,
                markeredgewidth=0.4,
                elinewidth=1,
                capsize=1.5,
                label=GENERATORS[generator],
            )
        axes.set_yticks(range(len(rows)), [*FAULT_CATEGORIES.values(), "all faults pooled"])
        axes.set_ylim(len(rows) - 0.45, -0.55)
        axes.set_xlim(-0.65, 0.65)
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel("design minus execution detection rate", x=0.4)
        axes.text(-0.63, -0.5, "execution higher", ha="left", va="center", color=INK, style="italic", fontsize=6)
        axes.text(0.63, -0.5, "design higher", ha="right", va="center", color=INK, style="italic", fontsize=6)
        figure.legend(
            *axes.get_legend_handles_labels(),
            loc="outside lower center",
            ncols=3,
            frameon=False,
            handletextpad=0.2,
            columnspacing=0.9,
            fontsize=5.8,
        )
    return figure


WIDTH, HEIGHT = 0.2, 0.215
ROWS = (0.765, 0.515, 0.265, 0.015)
BETWEEN = 0.39
BOXES = {
    "checklist": (0.00, ROWS[1], "Checklist", "{items} requirements\nwith sources"),
    "audit": (0.00, ROWS[2], "Source audit", "every item against\nthe rule in force"),
    "corpus": (0.00, ROWS[3], "Fault corpus", "{faults} seeded faults\nin {categories} categories"),
    "suites": (0.268, BETWEEN, "Suites", "{strategies} strategies,\n{scenarios} scenarios each"),
    "episodes": (0.268, ROWS[3], "Episodes", "the faulted agent\nanswers each scenario"),
    "form": (0.535, ROWS[0], "Specificity, adversarial", "how concrete is it?\nwhat does it attack?"),
    "coverage": (0.535, ROWS[1], "Coverage", "does a scenario\ncover the rule?"),
    "design": (0.535, ROWS[2], "Design stage", "would a scenario\nexpose the fault?"),
    "execution": (0.535, ROWS[3], "Execution stage", "did the answer\nexpose the fault?"),
    "vector": (0.80, BETWEEN, "Evidence vector", "RC, FDR$_d$, FDR$_e$,\nISS, AC"),
}
ARROWS = [
    ("audit", "checklist"),
    ("audit", "corpus"),
    ("suites", "episodes"),
    ("suites", "form"),
    ("suites", "coverage"),
    ("suites", "design"),
    ("episodes", "execution"),
    ("form", "vector"),
    ("coverage", "vector"),
    ("design", "vector"),
    ("execution", "vector"),
]
HARNESS = (0.25, -0.03, 0.503, 1.04)


def figure1(index: pd.DataFrame, suites: pd.DataFrame, width: float) -> Figure:
    """Figure 1: the framework as a diagram, instruments to evidence vector (§III).

    The counts come from the index of instruments and the table of suites; ``width`` is in inches.
    """
    faults = index[index["role"] == "fault"]
    counts = {
        "items": (index["role"] == "requirement").sum(),
        "faults": len(faults),
        "categories": faults["category"].nunique(),
        "strategies": suites["strategy"].nunique(),
        "scenarios": suites["scenarios"].max(),
    }
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width, width * 0.44))
        axes = figure.add_axes((0.005, 0.01, 0.99, 0.92))
        axes.set(xlim=(-0.003, 1.003), ylim=(-0.04, 1.02))
        axes.axis("off")
        x, y, breadth, height = HARNESS
        axes.add_patch(_rounded_box(x, y, breadth, height, facecolor="#f4f4f4", edgecolor=FAINT, linewidth=0.7))
        for name, (x, y, title, text) in BOXES.items():
            _box(axes, x, y, title, text.format(**counts), fill="#dfe8f1" if x == 0 else "white", dashed=name == "audit")
        for start, end in ARROWS:
            axes.add_patch(_arrow(BOXES[start][:2], BOXES[end][:2]))
        for name in ("checklist", "corpus"):
            axes.add_patch(_arrow(BOXES[name][:2], (HARNESS[0], BOXES[name][1])))
        for x, title in ((0.0, "Instruments"), (HARNESS[0], "Harness"), (BOXES["vector"][0], "Measures")):
            axes.text(x, 1.04, title, fontsize=8, weight="bold", va="bottom")
    return figure


def _rounded_box(x: float, y: float, width: float, height: float, **style: object) -> FancyBboxPatch:
    return FancyBboxPatch((x, y), width, height, boxstyle="round,pad=0,rounding_size=0.012", **style)  # type: ignore[arg-type]  # a patch's own


def _box(axes: Axes, x: float, y: float, title: str, text: str, fill: str, dashed: bool) -> None:
    line = "--" if dashed else "-"
    axes.add_patch(_rounded_box(x, y, WIDTH, HEIGHT, facecolor=fill, edgecolor=INK, linewidth=0.7, linestyle=line))
    axes.text(x + WIDTH / 2, y + HEIGHT - 0.045, title, ha="center", va="center", weight="bold")
    axes.text(x + WIDTH / 2, y + 0.072, text, ha="center", va="center", fontsize=6.3, linespacing=1.25)


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> FancyArrowPatch:
    """An arrow from the right edge of one box to the left edge of another, or vertically within a column."""
    (x0, y0), (x1, y1) = start, end
    if x0 == x1:
        up = y1 > y0
        tail, head = (x0 + WIDTH / 2, y0 + up * HEIGHT), (x1 + WIDTH / 2, y1 + (not up) * HEIGHT)
    else:
        tail, head = (x0 + WIDTH, y0 + HEIGHT / 2), (x1, y1 + HEIGHT / 2)
    return FancyArrowPatch(tail, head, arrowstyle="-|>", mutation_scale=7, color=INK, linewidth=0.8, shrinkA=1, shrinkB=1)
