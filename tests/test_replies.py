import json

import pytest

from regatta_lib.models import json_object, objects
from regatta_lib.models.replies import unfenced

YES = '{"justification": "r", "verdict": "yes"}'
NO = '{"justification": "r", "verdict": "no"}'


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (NO, "no"),
        (f"\n {NO}\n", "no"),
        (f"```json\n{NO}\n```", "no"),
        (f"```\n{NO}\n```  \n", "no"),
        (f"Sure, here it is:\n{NO}\nI hope this helps.", "no"),
        (f"<think>First I thought {YES} but</think>{NO}", "no"),
        (f"{YES}\n{NO}", "no"),
        (f"Prose.\n```json\n{NO}\n```\nMore prose.", "no"),
        (f"A stray {{ brace and then {NO}", "no"),
        ('{"justification": "it holds ``` and } and { inside", "verdict": "no"}', "no"),
        ('```json\n{"justification": "```yes```", "verdict": "no"}\n```', "no"),
    ],
)
def test_the_object_is_found_wherever_it_stands(text, verdict):
    assert json_object(text)["verdict"] == verdict


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no",
        "yes, it covers the requirement",
        '["yes"]',
        '"yes"',
        '{"justification": "cut off here, verdict ye',
        '{"justification": "r", "verdict": "yes", "verdict": "no"}',
        '{"justification": "half a character \\ud800", "verdict": "yes"}',
        '{"justification": NaN',
        "{" * 5_000,
        "[" * 100_000,
        '{"a":' * 500,
    ],
)
def test_what_is_no_object_is_none(text):
    assert json_object(text) is None


def test_a_verdict_quoted_inside_the_reason_is_not_the_verdict():
    text = json.dumps({"justification": f"The text says {YES}", "verdict": "no"})
    assert json_object(text)["verdict"] == "no"
    assert json_object(f"Well: {text} Done.")["verdict"] == "no"


def test_a_cut_off_list_keeps_its_whole_items():
    text = '{"scenarios": [{"slot": 1}, {"slot": 2, "x": {"y": 1}}, {"slot": 3, "x'
    assert [*objects(text)] == [{"slot": 1}, {"slot": 2, "x": {"y": 1}}]


def test_only_a_fence_around_the_whole_text_is_taken_off():
    assert unfenced("```json\n{}\n```") == "{}"
    assert unfenced("see ```{}``` there") == "see ```{}``` there"
