"""The figures: same bytes twice, the data in them, and no clipped text."""

import numpy as np
import pytest
from historical import the_index, the_pairs, the_verdicts

from regatta_lib.base import paths
from regatta_lib.measures import cost, v1_items, v2_profiles
from regatta_lib.present import diagnostic_figures, figures


@pytest.fixture(scope="module")
def drawings():
    areas = v1_items.AREA_TABLE.read(paths.VALIDITY / "areas.csv")
    items = v1_items.difficulty_table(the_verdicts(), the_index(), areas, 0.95)
    profile = v2_profiles.profile_table(the_pairs(), 0.95)
    costs = cost.suite_costs(the_verdicts(), 30)
    by_detected = cost.calls_by_detected(costs, the_verdicts(), 30, np.random.default_rng(0), 200, 0.95)
    return {
        "v1": lambda: diagnostic_figures.difficulty_curve(items, 3.5),
        "v2": lambda: diagnostic_figures.execution_profiles(profile, 3.5),
        "cost": lambda: diagnostic_figures.cost_by_quality(costs, by_detected, 150, 3.5),
    }


def test_two_drawings_are_the_same_bytes(drawings, tmp_path):
    first = [path.read_bytes() for path in figures.save(drawings["cost"](), tmp_path / "a", "cost", 72)]
    again = [path.read_bytes() for path in figures.save(drawings["cost"](), tmp_path / "b", "cost", 72)]
    assert first == again
    assert len(first) == 3


@pytest.mark.parametrize("name", ["v1", "v2", "cost"])
def test_every_text_lies_inside_the_figure(drawings, name):
    figure = drawings[name]()
    figure.draw_without_rendering()
    width, height = figure.get_size_inches() * figure.dpi
    texts = [text for axes in figure.axes for text in [*axes.texts, axes.title, axes._left_title, axes.xaxis.label]]
    for text in texts:
        box = text.get_window_extent()
        assert not text.get_text() or (box.x0 >= -1 and box.x1 <= width + 1 and box.y0 >= -1 and box.y1 <= height + 1), text


def test_the_difficulty_curve_has_a_panel_for_each_cell_and_all_items(drawings):
    axes = drawings["v1"]().axes
    assert len(axes) == 6
    assert sum(len(line.get_xdata()) for line in axes[5].lines) == 125


def test_another_generator_gets_its_own_label(drawings):
    profile = v2_profiles.profile_table(the_pairs(), 0.95)
    only = profile[profile["generator"] == "sonnet4"].assign(generator="newmodel")
    figure = diagnostic_figures.execution_profiles(only, 3.5)
    assert "newmodel" in [text.get_text() for text in figure.axes[0].texts]
