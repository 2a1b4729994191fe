"""The adjudication kit, from a constructed study to a filled sheet with a known result."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from historical import RESAMPLES, suite, table, the_verdicts, verdict

from regatta.adjudicate import adjudication, sheets
from regatta.commands import main
from regatta_lib.base import ContractError, csv_text, paths
from regatta_lib.instruments import read_judge_side
from regatta_lib.measures import VERDICT_TABLE
from regatta_lib.stats import seeded
from regatta_lib.studies import SCENARIO_LINES, Episode, Scenario, read_definitions

FAULTS = [f"IN-F{n}" for n in range(1, 6)]
MESSAGE = "=Khách hàng hỏi về hạn mức 400 triệu đồng"


def study():
    """Ten suites of six scenarios, five faults: the judge says yes to 1 scenario in 3."""
    return table(
        [
            verdict(suite(n), "design", fault, "", int((n + s + f) % 3 == 0), scenario=s)
            for n in range(1, 11)
            for f, fault in enumerate(FAULTS)
            for s in range(1, 7)
        ]
    )


def shown():
    rows = []
    for n in range(1, 11):
        for fault in FAULTS:
            for s in range(1, 7):
                words = {name: f"{name} of {fault}" for name in adjudication.SHOWN}
                words |= {"message": f"{MESSAGE} {n}-{s}", "agent_answer": ""}
                rows.append({"suite_id": suite(n), "target": fault, "scenario_number": s, **words})
    return pd.DataFrame(rows)


def drawn(size=50, seed=1):
    return adjudication.draw_sample(study(), shown(), "design", size, seeded(seed, "t"))


def filled(answer):
    """The sheet with ``answer(judge, position)`` for every item, and its key."""
    sheet, key = drawn()
    judge = key.set_index("item")["judge"]
    return sheet.assign(answer=[answer(judge[item], n) for n, item in enumerate(sheet["item"])]), key


def test_the_sheet_is_balanced_spread_and_random():
    sheet, key = drawn()
    assert len(sheet) == 50
    assert key["judge"].value_counts().to_dict() == {1: 25, 0: 25}
    assert key.groupby(["judge", "target"]).size().to_list() == [5] * 10
    assert 5 < (key["judge"].diff() != 0).sum() < 45  # not sorted by verdict
    assert not key.duplicated(["suite_id", "target", "scenario_number"]).any()


def test_the_sheet_is_blind():
    sheet, key = drawn()
    assert list(sheet.columns) == ["item", "question", *adjudication.SHOWN, "answer", "reason", "comment"]
    everything = sheet.to_csv(index=False)
    for hidden in ("judge", "sonnet4", "S1", "us_insurance", *key["suite_id"]):
        assert hidden not in everything, hidden


def test_the_same_seed_draws_the_same_sheet_and_another_draws_another():
    pd.testing.assert_frame_equal(drawn()[0], drawn()[0])
    assert not drawn()[0].equals(drawn(seed=2)[0])


def test_weights_stand_for_the_verdicts_of_the_study():
    _, key = drawn()
    yes = int((study()["value"] == 1).sum())
    assert key.loc[key["judge"] == 1, "weight"].unique().tolist() == [yes / 25]
    assert key["weight"].sum() == pytest.approx(300)
    assert adjudication.representation(key) == {"verdicts": 300, "represented": 300}


def unequal(counts):
    """A study with so many verdicts for each (fault, judge's answer), and the texts for them."""
    rows = [
        verdict(suite(1 + n // 99), "design", fault, "", value, scenario=1 + n % 99)
        for fault in sorted({fault for fault, _ in counts})
        for n, value in enumerate([v for v in (1, 0) for _ in range(counts.get((fault, v), 0))])
    ]
    words = dict.fromkeys(adjudication.SHOWN, "x")
    found = [{"suite_id": r["suite_id"], "target": r["target"], "scenario_number": r["scenario"], **words} for r in rows]
    return table(rows), pd.DataFrame(found)


@pytest.mark.parametrize("size", [50, 51])
def test_weights_follow_the_faults_where_these_are_unequal(size):
    """An adjudicator who rejects the rare fault's 20 of 400 verdicts agrees with 95%, whatever the sheet's share of them."""
    verdicts, shown = unequal({("IN-F1", 1): 180, ("IN-F2", 1): 20, ("IN-F1", 0): 20, ("IN-F2", 0): 180})
    for seed in range(5):
        sheet, key = adjudication.draw_sample(verdicts, shown, "design", size, seeded(seed, "t"))
        items = key.set_index("item")
        answers = ["yes" if (items["judge"][i], items["target"][i]) == (1, "IN-F1") else "no" for i in sheet["item"]]
        row, _ = adjudication.score_sheet(sheet.assign(answer=answers), key, seeded(1, "t"), 100, 0.95)
        assert row["weighted_agreement"] == pytest.approx(0.95)
        assert row["agreement"] < 0.8
        weights = key.groupby(["target", "judge"])["weight"].sum()
        assert weights.to_list() == pytest.approx([20, 180, 180, 20])


def test_verdicts_without_an_item_are_counted_and_said():
    verdicts, shown = unequal({("IN-F1", 1): 10, ("IN-F2", 1): 7, ("IN-F3", 1): 3, ("IN-F1", 0): 40})
    sheet, key = adjudication.draw_sample(verdicts, shown, "design", 4, seeded(1, "t"))
    left_out = sum(
        {"IN-F1": 10, "IN-F2": 7, "IN-F3": 3}[f] for f in set(FAULTS[:3]) - set(key.query("judge == 1")["target"])
    )
    assert left_out in (3, 7, 10)
    answers = ["unclear", *["no"] * 3]
    row, found = adjudication.score_sheet(sheet.assign(answer=answers), key, seeded(1, "t"), 100, 0.95)
    assert (row["verdicts"], row["represented"]) == (60, 60 - left_out)
    assert row["weighted_verdicts"] == pytest.approx(60 - left_out - key["weight"].iloc[0])
    line = f"the items stand for {60 - left_out} of 60 verdicts; not represented: {left_out} (no item"
    assert line in adjudication.score_text(row, found, 0.95)


def test_too_few_verdicts_are_refused_with_their_number():
    message = "^verdicts: 100 yes and 200 no at the design stage, expected at least 150 and 150 for size 300; the largest"
    with pytest.raises(ContractError, match=f"{message} size is 201$"):
        drawn(size=300)
    assert len(drawn(size=201)[0]) == 201
    with pytest.raises(ContractError, match="the largest size is 201"):
        drawn(size=202)


@pytest.mark.parametrize(("yes", "no", "largest"), [(3, 3, 6), (3, 2, 4), (2, 3, 5), (1, 1, 2)])
def test_the_largest_size_is_named_whichever_kind_is_rare(yes, no, largest):
    verdicts, words = unequal({("IN-F1", 1): yes, ("IN-F1", 0): no})
    with pytest.raises(ContractError, match=f"the largest size is {largest}$"):
        adjudication.draw_sample(verdicts, words, "design", largest + 1, seeded(1, "t"))
    assert len(adjudication.draw_sample(verdicts, words, "design", largest, seeded(1, "t"))[0]) == largest


@pytest.mark.parametrize("value", [0, 1])
def test_verdicts_of_one_kind_give_no_sheet(value):
    with pytest.raises(ContractError, match=r"for size 2; no size works$"):
        adjudication.draw_sample(*unequal({("IN-F1", value): 9}), "design", 2, seeded(1, "t"))


def test_a_study_that_stopped_at_the_first_yes_is_refused():
    """As the scan leaves it; the grid may have been added to params.yaml after the run."""
    scanned = study().query("suite_id != @suite(3) or target != 'IN-F2' or scenario <= 2")
    message = f"{suite(3)} IN-F2 3: no verdict at the design stage .4 of 300 are missing., expected all; put design into the"
    with pytest.raises(ContractError, match=message):
        adjudication.draw_sample(scanned, shown(), "design", 20, seeded(1, "t"))


def test_the_record_cannot_be_adjudicated_and_says_why():
    with pytest.raises(ContractError, match=r"IN-F1 1: no verdict at the design stage \(294 of 300 are missing"):
        adjudication.draw_sample(the_verdicts(), shown(), "design", 50, seeded(1, "t"))


@pytest.mark.parametrize("stage", ["design", "execution"])
def test_only_studies_with_a_full_grid_are_sampled(stage):
    studies = read_definitions(paths.PARAMS).studies
    for name in ("replication", "retest"):
        with pytest.raises(ContractError, match=rf"params.yaml: studies.{name}.grid: found \[\], expected '{stage}' in it"):
            adjudication.check_grid(name, studies[name], stage)
    adjudication.check_grid("demo", studies["demo"], stage)
    adjudication.check_grid("smoke", studies["smoke"], stage)  # suites of one scenario: there is nothing to stop before


def test_unanswered_verdicts_and_other_arms_are_not_drawn():
    rows = study().to_dict("records")
    for number, row in enumerate(rows):
        if number % 2:
            row |= {"state": "refused", "value": None}
    verdicts = table(rows)
    _, key = adjudication.draw_sample(verdicts, shown(), "design", 20, seeded(1, "t"))
    joined = key.merge(
        verdicts, left_on=["suite_id", "target", "scenario_number"], right_on=["suite_id", "target", "scenario"]
    )
    assert (joined["state"] == "answered").all()


def test_a_verdict_without_text_is_named():
    with pytest.raises(ContractError, match="no scenario or fault text"):
        adjudication.draw_sample(study(), shown().query("target != 'IN-F3'"), "design", 50, seeded(1, "t"))


def test_the_published_adjudication_filled_in():
    """Seven of the 25 credited items rejected, nothing else: agreement .86 and κ .72, as in §V-F."""
    rejected = set(drawn()[1].query("judge == 1")["item"].iloc[:7])
    sheet, key = drawn()
    judge = key.set_index("item")["judge"]
    answers = ["no" if item in rejected or judge[item] == 0 else "yes" for item in sheet["item"]]
    reasons = ["topic_only" if item in rejected else "" for item in sheet["item"]]
    row, found = adjudication.score_sheet(sheet.assign(answer=answers, reason=reasons), key, seeded(1, "t"), RESAMPLES, 0.95)
    assert (row["t_1_1"], row["t_1_0"], row["t_0_1"], row["t_0_0"]) == (18, 7, 0, 25)
    assert (row["pairs"], row["unresolved"], row["agreement"]) == (50, 0, 0.86)
    assert row["kappa"] == pytest.approx(0.72)
    assert set(found["kind"]) == {"judge yes, adjudicator no"} and len(found) == 7
    assert set(found["reason"]) == {"topic_only"}
    text = adjudication.score_text(row, found, 0.95)
    assert "agreement 0.86" in text and "kappa 0.72 [" in text
    assert "judge yes, adjudicator no, topic_only: 7 (item-" in text
    # a third of the study is yes, so disagreements among the credited weigh less
    assert row["weighted_agreement"] == pytest.approx(1 - (100 / 300) * 7 / 25)


def test_unclear_and_blank_answers_are_unresolved():
    sheet, key = filled(lambda judge, n: "unclear" if n < 3 else "" if n < 5 else ("yes" if judge else "no"))
    row, found = adjudication.score_sheet(sheet, key, seeded(1, "t"), RESAMPLES, 0.95)
    assert (row["pairs"], row["unresolved"], row["unclear"], row["blank"]) == (45, 5, 3, 2)
    assert row["agreement"] == 1 and found.empty
    assert "no disagreements" in adjudication.score_text(row, found, 0.95)


def test_a_sheet_of_one_answer_says_why_kappa_is_zero():
    sheet, key = filled(lambda judge, n: "yes")
    row, found = adjudication.score_sheet(sheet, key, seeded(1, "t"), RESAMPLES, 0.95)
    assert row["kappa"] == 0 and row["note"] == "one rater constant, κ = 0 by construction"
    assert set(found["kind"]) == {"judge no, adjudicator yes"}
    assert "note: one rater constant" in adjudication.score_text(row, found, 0.95)


def changed(sheet, **cells):
    sheet = sheet.copy()
    for column, value in cells.items():
        sheet.loc[sheet.index[0], column] = value
    return sheet


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: changed(s, answer="maybe"), "item-001: answer is 'maybe', expected yes, no, unclear or blank"),
        (lambda s: changed(s, reason="bad"), "item-001: reason is 'bad'"),
        (lambda s: changed(s, item="item-002"), "item-002 appears twice"),
        (lambda s: changed(s, item="item-999"), "item-001: missing from the sheet"),
        (lambda s: s.iloc[1:], "item-001: missing from the sheet"),
        (lambda s: changed(s, message="something else"), "item-001: its text is not the text that was drawn"),
        (lambda s: s.drop(columns="answer"), "no column 'answer'"),
        (lambda s: s.drop(columns="question"), "no column 'question'"),
        (lambda s: changed(s, question="Would it hide the fault?"), "item-001: question is 'Would it hide the fault.', exp"),
    ],
)
def test_a_wrong_sheet_is_refused(change, message):
    sheet, key = filled(lambda judge, n: "yes")
    with pytest.raises(ContractError, match=message):
        adjudication.score_sheet(change(sheet), key, seeded(1, "t"), 100, 0.95)


def test_capitals_and_spaces_in_answers_do_not_matter():
    sheet, key = filled(lambda judge, n: " YES " if judge else "No")
    assert adjudication.score_sheet(sheet, key, seeded(1, "t"), 100, 0.95)[0]["agreement"] == 1


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_through_a_file_and_back(tmp_path, suffix):
    sheet, key = filled(lambda judge, n: "yes" if judge else "no")
    content = sheets.csv_sheet(sheet) if suffix == "csv" else sheets.xlsx_sheet(sheet, "x", {})
    path = tmp_path / f"a.sheet.{suffix}"
    path.write_bytes(content)
    (tmp_path / "a.key.csv").write_text(csv_text(key), encoding="utf-8")
    read = sheets.read_sheet(path)
    assert read["message"].str.startswith("=Khách hàng").all()
    row, _ = adjudication.score_sheet(read, adjudication.read_key(tmp_path / "a.key.csv"), seeded(1, "t"), 100, 0.95)
    assert row["pairs"] == 50 and row["agreement"] == 1


def test_a_question_with_other_white_space_is_the_same_question():
    sheet, key = filled(lambda judge, n: "yes" if judge else "no")
    spaced = sheet.assign(question=sheet["question"].str.replace(" ", "  ") + "\n")
    assert adjudication.score_sheet(spaced, key, seeded(1, "t"), 100, 0.95)[0]["agreement"] == 1


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("judge", "2", "judge is '2', expected 0 or 1"),
        ("judge", "", "judge is '', expected 0 or 1"),
        *(("weight", value, f"weight is '{value}', expected a number of at") for value in ("nan", "inf", "-1.0", "0.0", "")),
        ("stage", "coverage", "stage is 'coverage', expected design or execution"),
        ("scenario_number", "x", "scenario_number is 'x', expected a whole number"),
        ("verdicts", "-3", "verdicts is '-3', expected a whole number"),
        ("item", "item-001", "item-001 appears twice, expected once"),
    ],
)
def test_a_wrong_key_is_refused(tmp_path, column, value, expected):
    key = drawn()[1].astype(str)
    path = tmp_path / "a.key.csv"
    path.write_text(csv_text(key), encoding="utf-8")
    assert adjudication.read_key(path)["weight"].sum() == pytest.approx(300)
    key.loc[key.index[1], column] = value
    path.write_text(csv_text(key), encoding="utf-8")
    with pytest.raises(ContractError, match=f"a.key.csv: row 3: {expected}"):
        adjudication.read_key(path)


def test_a_key_with_a_short_row_or_none_is_refused(tmp_path):
    path = tmp_path / "a.key.csv"
    header = ",".join(adjudication.KEY)
    for text, expected in ((f"{header}\na,b\n", "row 2 has 2 cells, expected 9"), (f"{header}\n", "0 items, expected at")):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ContractError, match=f"a.key.csv: {expected}"):
            adjudication.read_key(path)


def test_instructions_come_from_the_document_and_name_every_choice():
    text = adjudication.sheet_instructions(paths.ROOT / "docs" / "adjudication.md")
    assert text.startswith("Instructions for adjudicators")
    for word in (*adjudication.ANSWERS, *adjudication.REASONS):
        assert word in text, word
    for reason, meaning in list(adjudication.REASONS.items())[:5]:
        assert f"- {reason}: {meaning}" in text


SCENARIO = Scenario(suite(1), 1, "d", "m", "e", None, None)


def test_texts_pair_every_scenario_with_every_fault_of_its_cell_in_the_text_judged():
    faults = {"us_insurance": read_judge_side("us_insurance", "corrected")[1]}
    found = adjudication.texts([SCENARIO], faults)
    assert found["target"].to_list() == FAULTS
    assert found["correct_behavior"].to_list() == [fault.correct_behavior for fault in faults["us_insurance"]]
    assert found["agent_answer"].eq("").all()
    answer = {"suite_id": suite(1), "scenario": 1, "fault_id": "IN-F2", "state": "answered", "key": "0"}
    episodes = [
        Episode(**answer, arm=arm, draw=draw, text=f"{arm} {draw}")
        for arm, draw in (("joint", 1), ("joint", 2), ("control", 1))
    ]
    one = adjudication.texts([SCENARIO], faults, episodes)
    assert one[["target", "agent_answer"]].to_numpy().tolist() == [["IN-F2", "joint 1"]]


def test_the_commands_run_on_a_study(tmp_path, monkeypatch, capsys):
    """Sample and score as a user would, on a constructed study in another folder."""
    for name in ("suites", "verdicts", "adjudication"):
        monkeypatch.setattr(paths, name.upper(), tmp_path / name)
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    (tmp_path / "docs").symlink_to(Path(__file__).parents[1] / "docs")
    written = [Scenario(suite(n), s, "d", MESSAGE, "e", None, None) for n in range(1, 11) for s in range(1, 7)]
    SCENARIO_LINES.write(written, tmp_path / "suites" / "demo.jsonl")
    VERDICT_TABLE.write(study(), tmp_path / "verdicts" / "demo.csv")

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["regatta", "adjudicate", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        said = capsys.readouterr()
        return stopped.value.code, said.out, said.err

    code, out, _ = run("sample", "demo", "--size", 20)
    assert code == 0 and "20 items; keep the key away from adjudicators" in out
    assert "the items stand for 300 of 300 verdicts; not represented: 0" in out
    sheet = tmp_path / "adjudication" / "demo.design.sheet.csv"
    assert sheets.read_sheet(sheet.with_suffix(".xlsx")).equals(sheets.read_sheet(sheet))
    key = adjudication.read_key(tmp_path / "adjudication" / "demo.design.key.csv").set_index("item")["judge"]
    answered = sheets.read_sheet(sheet)
    answered["answer"] = ["yes" if key[item] else "no" for item in answered["item"]]
    sheet.write_bytes(sheets.csv_sheet(answered))
    code, out, _ = run("score", sheet)
    assert code == 0 and "20 items answered, 0 unclear, 0 blank" in out and "no disagreements" in out
    assert (tmp_path / "adjudication" / "demo.design.score.csv").is_file()
    copies = {name: sheet.with_name(f"demo.design.sheet.{name}.csv") for name in ("anna", "binh")}
    for answer, copy in zip(("yes", "no"), copies.values(), strict=True):
        copy.write_bytes(sheets.csv_sheet(answered.assign(answer=answer)))
        assert run("score", copy)[0] == 0
    scores = [pd.read_csv(tmp_path / "adjudication" / f"demo.design.{name}.score.csv") for name in copies]
    assert [score["prevalence_second"].item() for score in scores] == [1, 0]
    assert (tmp_path / "adjudication" / "demo.design.binh.disagreements.csv").is_file()
    before = {path: path.read_bytes() for path in sheet.parent.iterdir()}
    for gone in (None, sheet, sheet.with_suffix(".xlsx"), *copies.values()):
        if gone:
            gone.unlink()
            del before[gone]
        code, _, err = run("sample", "demo", "--size", 20)
        assert code == 2 and "exists already" in err and "move it away" in err and err.count("\n") == 1
        assert {path: path.read_bytes() for path in sheet.parent.iterdir()} == before
    (sheet.parent / "demo.design.key.csv").rename(tmp_path / "old.key.csv")
    assert run("sample", "demo", "--size", 20)[0] == 0
    sheet.write_bytes(sheets.csv_sheet(answered.assign(answer="perhaps")))
    code, _, err = run("score", sheet)
    assert code == 2 and err.startswith("regatta: sheet: item-001: answer is 'perhaps'")
    code, _, err = run("sample", "retest")
    assert code == 2 and err.startswith("regatta: params.yaml: studies.retest.grid: found []") and err.count("\n") == 1
    code, _, err = run("sample", "demo", "--stage", "coverage")
    assert code == 2 and "expected design or execution" in err


def test_a_perfect_score_has_a_degenerate_interval():
    sheet, key = filled(lambda judge, n: "yes" if judge else "no")
    row, _ = adjudication.score_sheet(sheet, key, seeded(1, "t"), RESAMPLES, 0.95)
    assert row["kappa"] == row["kappa_low"] == row["kappa_high"] == 1
    assert not np.isnan(row["weighted_kappa"])
