import hashlib

import matplotlib
import pytest
from matplotlib import font_manager, ft2font

from regatta_lib.base import paths
from regatta_lib.present import figures


@pytest.fixture(scope="module")
def drawn(frames):
    return {
        "figure1": lambda: figures.figure1(frames["index"], frames["suites"], 7.0),
        "figure2": lambda: figures.figure2(frames["figure2"], 3.5),
    }


@pytest.mark.parametrize("name", ["figure1", "figure2"])
def test_the_same_bytes_on_every_run_and_as_committed(drawn, name, tmp_path):
    first = {path.name: path.read_bytes() for path in figures.save(drawn[name](), tmp_path / "a", name, 300)}
    second = {path.name: path.read_bytes() for path in figures.save(drawn[name](), tmp_path / "b", name, 300)}
    assert set(first) == {f"{name}.{suffix}" for suffix in ("pdf", "png", "svg")}
    assert first == second
    for file, content in first.items():
        assert hashlib.sha256(content).digest() == hashlib.sha256((paths.FIGURES / file).read_bytes()).digest(), file


def test_a_changed_number_changes_the_figure(frames, drawn, tmp_path):
    altered = frames["figure2"].assign(delta=frames["figure2"]["delta"] + 0.01)
    figures.save(figures.figure2(altered, 3.5), tmp_path, "figure2", 300)
    assert (tmp_path / "figure2.svg").read_bytes() != (paths.FIGURES / "figure2.svg").read_bytes()


def test_figure2_shows_every_row(frames):
    axes = figures.figure2(frames["figure2"], 3.5).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()][-1] == "all faults pooled"
    assert len(axes.containers) == frames["figure2"]["generator"].nunique()
    low, high = axes.get_xlim()
    assert low < frames["figure2"]["ci_low"].min()
    assert high > frames["figure2"]["ci_high"].max()


def test_the_font_has_the_vietnamese_letters():
    with matplotlib.rc_context(figures.STYLE):
        font = ft2font.FT2Font(font_manager.findfont(matplotlib.rcParams["font.family"][0]))
    missing = [
        letter
        for letter in "ăâđêôơưĂÂĐÊÔƠƯạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ₫"
        if not font.get_char_index(ord(letter))
    ]
    assert not missing


def test_every_judge_of_figure1_is_fed_and_feeds_the_vector():
    judges = {name for name, (x, *_) in figures.BOXES.items() if x == figures.BOXES["design"][0]}
    assert judges == {"form", "coverage", "design", "execution"}
    assert {start for start, end in figures.ARROWS if end == "vector"} == judges
    assert judges <= {end for _, end in figures.ARROWS}
