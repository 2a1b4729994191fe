import asyncio
import shutil
from dataclasses import replace

import pytest
from scripted_study import Recorded, sides, study
from test_site import Page, dead

from regatta.site import casebook
from regatta.site import pages as site
from regatta_lib.base import paths
from regatta_lib.studies import EPISODE_LINES, RULING_LINES, SCENARIO_LINES, runs

HOSTILE = "</p></script><script>alert(1)</script><img src=x onerror=alert(1)>"
SUITE = "tester.S1.us_insurance.r1"


@pytest.fixture(scope="module")
def result():
    design = study(
        strategies=["S1", "S4"],
        control=True,
        single=["threshold_error"],
        grid=["design", "execution"],
        repeats={"us_insurance": 2},
    )
    return asyncio.run(runs.run(Recorded(), design, *sides(design)))


@pytest.fixture(scope="module")
def root(result, tmp_path_factory):
    """A copy of the repository in which a scripted study stands for the pilot and texts of every origin are hostile."""
    root = tmp_path_factory.mktemp("pilot") / "regatta"
    kept = ("data", "docs", "figures", "notebooks", "paper", "site_source")
    for name in kept:
        ignored = shutil.ignore_patterns("executed", "transcripts", "exchange", "suites", "episodes")
        shutil.copytree(paths.ROOT / name, root / name, ignore=ignored)
    for path in [*paths.ROOT.glob("*.md"), *paths.ROOT.glob("*.yaml"), *paths.ROOT.glob("*.cff")]:
        shutil.copy(path, root)
    for old in root.glob("data/verdicts/demo*"):
        old.unlink()
    for name in ("suites", "episodes", "verdicts"):
        (root / "data" / name).mkdir(exist_ok=True)
    episodes = [replace(result.episodes[0], text=HOSTILE), *result.episodes[1:]]
    rulings = [replace(result.rulings[0], justification=HOSTILE), *result.rulings[1:]]
    SCENARIO_LINES.write(result.scenarios, root / "data/suites/demo.jsonl")
    EPISODE_LINES.write(episodes, root / "data/episodes/demo.jsonl")
    RULING_LINES.write(rulings, root / "data/verdicts/demo.jsonl")
    for name, old, new in (
        ("data/instruments/us_fintech/faults.yaml", "Cash reporting cut-off raised to $15,000", repr(HOSTILE)),
        ("data/reference/published_values.csv", "one expert; a fact of the study", HOSTILE),
        ("README.md", "## Limits", f"{HOSTILE}\n\n## Limits"),
    ):
        text = (root / name).read_text(encoding="utf-8")
        assert old in text
        (root / name).write_text(text.replace(old, new), encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def altered(root):
    return site.build(root)


@pytest.fixture(scope="module")
def book(root):
    return casebook.read_cases(root, "demo")


def test_every_scenario_meets_every_fault_of_its_cell(book, result):
    assert sorted(book) == [SUITE, SUITE.replace("S1", "S4")]
    assert sum(len(scenarios) for scenarios in book.values()) == len(result.scenarios) == 6
    assert all([case.fault.id for case in one.faults] == [f"IN-F{n}" for n in range(1, 6)] for one in book[SUITE])


def test_every_answer_and_every_ruling_has_its_place(book, result):
    cases = [case for scenarios in book.values() for one in scenarios for case in one.faults]
    answers = [answer for case in cases for answer in case.answers]
    assert len(answers) == len(result.episodes)
    shown = [answer.ruling for answer in answers if answer.ruling] + [case.design for case in cases if case.design]
    shown += [r for scenarios in book.values() for one in scenarios for found in one.rulings.values() for r in found]
    assert len(shown) == len(result.rulings)
    assert [answer.arm for answer in book[SUITE][0].faults[0].answers] == ["joint", "joint again", "control", "single"]
    assert [answer.arm for answer in book[SUITE][0].faults[1].answers] == ["joint", "joint again", "control"]


def copied(root, folder, episodes):
    """The files that the cases of the scripted study are read from, with other episodes."""
    shutil.copy(root / "params.yaml", folder)
    for name in ("suites", "verdicts", "instruments"):
        shutil.copytree(root / "data" / name, folder / "data" / name)
    (folder / "data/episodes").mkdir()
    EPISODE_LINES.write(episodes, folder / "data/episodes/demo.jsonl")
    return folder


def names(folder):
    """What the answers to the first scenario and fault are called, in order."""
    return [answer.arm for answer in casebook.read_cases(folder, "demo")[SUITE][0].faults[0].answers]


def test_every_draw_of_an_arm_has_its_name_and_its_place(root, result, tmp_path):
    joint = [episode for episode in result.episodes if (episode.arm, episode.draw) == ("joint", 1)]
    later = [replace(episode, draw=draw) for episode in joint for draw in (3, 4)]
    whole = copied(root, tmp_path, [*result.episodes, *later])
    assert names(whole) == ["joint", "joint again", "joint 3", "joint 4", "control", "single"]


def test_a_draw_may_be_missing(root, result, tmp_path):
    joint = [episode for episode in result.episodes if (episode.arm, episode.draw) == ("joint", 1)]
    rest = [episode for episode in result.episodes if episode not in joint]
    whole = copied(root, tmp_path, [*rest, *(replace(episode, draw=4) for episode in joint)])
    assert names(whole) == ["joint again", "joint 4", "control", "single"]
    assert casebook.read_cases(whole, "demo")[SUITE][0].faults[0].stages == ""


@pytest.mark.parametrize(
    ("design", "joint", "stages"),
    [(1, 1, "both"), (1, 0, "design"), (0, 1, "execution"), (0, 0, "neither"), (None, 1, ""), (0, None, "")],
)
def test_what_the_stages_say(book, design, joint, stages):
    case = book[SUITE][0].faults[0]
    first = replace(case.answers[0], ruling=replace(case.answers[0].ruling, value=joint))
    assert replace(case, design=replace(case.design, value=design), answers=(first, *case.answers[1:])).stages == stages


def test_without_results_there_is_no_pilot(root, tmp_path):
    shutil.copy(paths.PARAMS, tmp_path)
    assert casebook.pilot_of(tmp_path) is None
    assert casebook.pilot_of(root) == "demo"


def test_the_pilot_has_pages_whose_links_lead_somewhere(altered):
    pages = {name: Page(content.decode()) for name, content in altered.items() if name.endswith(".html")}
    assert {site.PILOT_PAGE, f"pilot/{SUITE}.html"} <= set(pages)
    for name in (site.PILOT_PAGE, f"pilot/{SUITE}.html"):
        assert dead(name, pages[name], altered, pages) == []
    text = altered[f"pilot/{SUITE}.html"].decode()
    assert text.count('<article class="item"') == 15
    assert "Message 1 of tester.S1.us_insurance.r1" in text
    assert '<a href="pilot/index.html">Pilot</a>' in altered["index.html"].decode()


@pytest.mark.parametrize(
    "name",
    [
        f"pilot/{SUITE}.html",
        "audit.html",
        "values.html",
        "docs/readme.html",
        "tables/data/reference/published_values.html",
    ],
)
def test_a_hostile_text_is_shown_and_becomes_no_element(altered, name):
    text = altered[name].decode()
    page = Page(text)
    assert "alert(1)" in text
    assert page.handlers == []
    assert "<img src=x" not in text
    assert len(page.scripts) == (3 if name == "values.html" else 2)
