"""Importers against files as people have them: each rule and each pitfall of the formats is a case here."""

import json
import os
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regatta.own_suite import mapping_of, promptfoo, read_suite, suite_files
from regatta.own_suite.cases import as_message, at, conversation
from regatta.own_suite.importers import FORMATS
from regatta_lib.base import ContractError, canonical_json, sha256, yaml_text

EXAMPLE = Path(__file__).parents[1] / "docs/examples/us_insurance.promptfoo.yaml"


@pytest.fixture
def suite(tmp_path):
    """Write a file and import it: ``suite(name, content, format, mapping)``."""

    def read(name, content, format=None, mapping=None):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_suite(path, format, mapping)

    return read


def lines(*records):
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def problem(suite, *args):
    """The error's text; always one line."""
    with pytest.raises(ContractError) as caught:
        suite(*args)
    assert "\n" not in str(caught.value)
    return str(caught.value)


PAIRS = [("How much?", "Says 10 dollars."), ("Is it due?", "Says yes.")]


@pytest.mark.parametrize(
    ("format", "input_key", "expected_key"),
    [
        ("inspect", "input", "target"),
        ("deepeval", "input", "expected_output"),
        ("deepeval", "input", "expectedOutput"),
        ("deepeval", "scenario", "expected_outcome"),
        ("openai", "input", "ideal"),
        ("giskard", "question", "reference_answer"),
        ("plain", "input", "expected"),
    ],
)
@pytest.mark.parametrize("syntax", ["json", "jsonl", "csv", "yaml"])
def test_a_format_is_told_by_its_keys_in_every_syntax(suite, format, input_key, expected_key, syntax):
    records = [{"id": f"t{n}", input_key: asked, expected_key: wanted} for n, (asked, wanted) in enumerate(PAIRS)]
    content = {
        "json": json.dumps(records),
        "jsonl": lines(*records),
        "csv": f"id,{input_key},{expected_key}\n" + "".join(f"t{n},{a},{b}\n" for n, (a, b) in enumerate(PAIRS)),
        "yaml": "".join(f"- id: t{n}\n  {input_key}: {a}\n  {expected_key}: {b}\n" for n, (a, b) in enumerate(PAIRS)),
    }[syntax]
    found = suite("suite.data", content)
    assert (found.format, found.syntax, found.read, found.skipped, found.notes) == (format, syntax, 2, [], [])
    assert [(case.input, case.expected) for case in found.cases] == PAIRS
    assert [case.id for case in found.cases] == ["t0", "t1"]
    places = {"json": [1, 1], "jsonl": [1, 2], "csv": [2, 3], "yaml": [1, 4]}
    assert [case.source.line for case in found.cases] == places[syntax]
    assert {case.source.file for case in found.cases} == {"suite.data"}
    assert {case.source.sha256 for case in found.cases} == {sha256(content)}
    assert found.cases[1].raw == records[1]


def test_an_identifier_that_is_not_given_is_the_hash_of_the_record(suite):
    found = suite("s.jsonl", lines({"input": "a", "target": "b"}))
    assert found.cases[0].id == sha256(canonical_json({"input": "a", "target": "b"}))


# Rule 1: text and tables


def test_a_byte_order_mark_and_crlf_are_accepted(suite):
    found = suite("s.csv", b'\xef\xbb\xbfinput;target\r\n"a;\r\nb";c\r\n\r\nd;e\r\n')
    assert found.report()[0] == "inspect, CSV, delimiter semicolon, message to the agent from input"
    assert [(case.input, case.expected, case.source.line) for case in found.cases] == [("a;\nb", "c", 2), ("d", "e", 5)]
    assert len(suite("s.jsonl", b'\xef\xbb\xbf{"input": "a", "target": "b"}\r\n\r\n').cases) == 1


@pytest.mark.parametrize(("delimiter", "name"), [(",", "comma"), (";", "semicolon"), ("\t", "tab")])
def test_the_delimiter_is_sniffed_outside_quotes(suite, delimiter, name):
    header = delimiter.join(["input", "target", '"x,;\t,;\t,;\t"'])
    assert suite("s.csv", f"{header}\n{delimiter.join('abc')}\n").delimiter == name


def test_other_encodings_name_the_byte(suite):
    assert problem(suite, "s.csv", "input,target\nä,b\n".encode("cp1252")).endswith(
        "byte 13 (0xe4) is not UTF-8; save the file as UTF-8"
    )
    assert "byte 0 (0xff)" in problem(suite, "s.csv", "input,target\na,b\n".encode("utf-16"))


def test_words_that_pandas_takes_for_missing_are_kept(suite):
    found = suite("s.csv", "id,input,expected_output\n007,N/A,None\n1e5,null,NaN\n")
    assert [(case.id, case.input, case.expected) for case in found.cases] == [("007", "N/A", "None"), ("1e5", "null", "NaN")]


def test_a_ragged_row_is_skipped_with_its_line(suite):
    found = suite("s.csv", 'input,target\n"a\nb",c\nd\ne,f,g\nh,i\n')
    assert found.skipped == [("line 4", "1 cells, expected 2"), ("line 5", "3 cells, expected 2")]
    assert found.report()[1] == "read 4, imported 2, skipped 2"
    assert [case.source.line for case in found.cases] == [2, 6]


def test_a_table_that_is_none_is_one_line(suite):
    assert "line 2: not CSV: unexpected end of data" in problem(suite, "s.csv", 'input,target\na,"b\n')
    assert "column 'input' occurs twice" in problem(suite, "s.csv", "input,input\na,b\n")
    assert "not CSV: field larger" in problem(suite, "s.csv", f"input,target\n{'a' * 140_000},b\n")


def test_text_is_in_normal_form_c(suite):
    found = suite("s.jsonl", b'{"input": "ti\xe1\xbb\x81n", "target": "e\\u0301"}\n{"input": "e\xcc\x81", "target": "x"}\n')
    assert [case.input for case in found.cases] == ["tiền", "é"] and found.cases[0].expected == "é"


# Rule 2: structure, formats, mappings


def test_structure_decides_not_the_suffix(suite):
    assert suite("s.csv", json.dumps([{"input": "a", "target": "b"}])).syntax == "json"
    assert suite("s.json", "tests:\n  - vars: {q: a}\n").format == "promptfoo"
    assert suite("s.yaml", "input,target\na,b\n").syntax == "csv"


@pytest.mark.parametrize(
    ("header", "fits"),
    [
        ("question,answer", "no known format"),
        ("input", "no known format"),
        ("input,target,expected_output", "inspect and deepeval"),
        ("input,actual_output", "no known format"),
    ],
)
def test_an_ambiguous_file_is_one_line_with_its_columns(suite, header, fits):
    text = problem(suite, "s.csv", f"{header}\n{','.join('a' for _ in header.split(','))}\n")
    columns = header.replace(",", ", ")
    assert f"s.csv: fits {fits}; columns found: {columns}; say what they are by format, or by a mapping" in text


def test_a_named_format_settles_it(suite):
    text = "input,target,expected_output,actual_output\na,b,c,d\n"
    assert suite("s.csv", text, "inspect").cases[0].expected == "b"
    assert suite("s.csv", text, "deepeval").cases[0].expected == "c"
    assert "format: found 'excel', expected one of promptfoo, inspect" in problem(suite, "s.csv", text, "excel")
    assert FORMATS[0] == "promptfoo"


def test_a_mapping_reaches_columns_and_nested_keys(suite):
    mapping = mapping_of(
        "input=inputs.messages.0.content, expected=outputs.answer,id=meta.id,title=meta.name,tags=meta.tags"
    )
    record = {
        "inputs": {"messages": [{"role": "user", "content": "a"}]},
        "outputs": {"answer": ["b", "c"]},
        "meta": {"id": 7, "name": "T", "tags": ["x", "y"]},
    }
    case = suite("s.jsonl", lines(record), None, mapping).cases[0]
    assert (case.input, case.expected, case.id, case.title, case.tags) == ("a", "One of: b; c", "7", "T", ("x", "y"))
    dotted = suite("s.csv", "q.text,a\nhow,so\n", None, mapping_of("input=q.text,expected=a")).cases[0]
    assert (dotted.input, dotted.expected) == ("how", "so")


def test_a_mapping_overrides_what_a_format_says(suite):
    found = suite("s.csv", "input,target,real\na,b,c\n", None, {"expected": "real"})
    assert (found.format, found.cases[0].input, found.cases[0].expected) == ("inspect", "a", "c")


def test_a_wrong_mapping_is_one_line(suite):
    assert "no record has 'answr'; columns found: q, answer" in problem(
        suite, "s.csv", "q,answer\na,b\n", None, {"input": "q", "expected": "answr"}
    )
    for text in ("input", "input=", "inptu=a", "=a"):
        with pytest.raises(ContractError, match="mapping: found"):
            mapping_of(text)
    assert mapping_of(None) == {}


def test_a_path_that_leads_nowhere_is_nothing():
    record = {"a": [{"b": 1}], "a.b": 2}
    assert (at(record, "a.0.b"), at(record, "a.b"), at(record, "a.1.b"), at(record, "a.x"), at(record, "c")) == (
        1,
        2,
        None,
        None,
        None,
    )


# Rule 3: YAML as written, and caps


def test_yaml_scalars_stay_as_written(suite):
    found = suite("s.yaml", "- {id: 010, input: no, expected: 1e-5}\n- {id: 12:30, input: 2026-11-30, expected: ~}\n")
    assert [(case.id, case.input, case.expected) for case in found.cases] == [
        ("010", "no", "1e-5"),
        ("12:30", "2026-11-30", "~"),
    ]


def test_json_numbers_stay_as_written(suite):
    found = suite(
        "s.jsonl", '{"id": 1e-5, "input": 0.10, "target": NaN}\n{"id": 12345678901234567890, "input": "a", "target": 1}'
    )
    assert [(case.id, case.input, case.expected) for case in found.cases] == [
        ("1e-5", "0.10", ""),
        ("12345678901234567890", "a", "1"),
    ]


def test_anchors_and_merge_keys_work(suite):
    text = "defaults: &base {a: 1, q: base}\nprompts: ['{{q}}']\ntests:\n- vars: {<<: *base, q: own}\n- vars: *base\n"
    assert [case.input for case in suite("s.yaml", text).cases] == ["own", "base"]


BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{b}: &{b} [{', '.join([f'*{a}'] * 10)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"{BOMB}tests: *i\n", "more than 500,000 values"),
        ("tests: &a\n- vars: *a\n", "one to something unfinished: *a"),
        (f"tests:\n- vars: {'[' * 60}{']' * 60}\n", "nested more than 40 deep"),
        (f"tests:\n- vars: {'[' * 90_000}", "exceeded maximum nesting depth"),
        ("tests:\n- vars: {a: 1}\n  vars: {b: 2}\n", "line 3: key 'vars' occurs twice"),
        ("tests:\n- vars: !!python/object/apply:os.system [ls]\n", "could not determine a constructor for the tag"),
        ("tests:\n- vars: !!binary aGk=\n", "could not determine a constructor"),
        ("tests:\n- vars: {a: b\n", "not YAML"),
        ("tests: []\n---\ntests: []\n", "not YAML"),
    ],
)
def test_harmful_or_broken_yaml_is_one_line(suite, text, found):
    assert found in problem(suite, "s.yaml", text)


def test_many_aliases_are_refused(suite):
    text = "b: &b x\ntests:\n" + "- vars: {q: *b}\n" * (yaml_text.MOST_ALIASES + 1)
    assert "more than 1,000 aliases" in problem(suite, "s.yaml", text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[" * 100_000, "nested more than 40 deep"),
        ("[" * 60 + "]" * 60, "nested more than 40 deep"),
        ('[{"input": "a", "input": "b"}]', "key 'input' occurs twice"),
        ('{"tests": [', "not JSON"),
        ("", "0 records, expected at least 1"),
        ("[]", "0 records, expected at least 1"),
    ],
)
def test_harmful_or_broken_json_is_one_line(suite, text, found):
    assert found in problem(suite, "s.json", text)


def test_size_and_number_of_records_are_capped(suite, monkeypatch):
    monkeypatch.setattr(suite_files, "BYTES", 100)
    assert "101 bytes, expected at most 100" in problem(suite, "s.csv", "x" * 101)
    monkeypatch.setattr(suite_files, "RECORDS", 2)
    assert "3 records, expected at most 2" in problem(suite, "s.csv", "input,target\na,b\nc,d\ne,f\n")


BROKEN = [
    EXAMPLE.read_bytes(),
    b'[{"input": "a", "target": ["b"], "metadata": {"k": [1, 2e5]}}, {"input": [{"role": "user", "content": "q"}]}]',
    b'{"input": "a", "expected_output": "b"}\n{"scenario": "c", "turns": "[{\\"role\\": \\"user\\"}]"}\n',
    b'id;input;target;choices\r\n1;"a;\n""b""";c;[x]\r\n2;d;e;f,g\r\n',
    b"message,__expected,__expected2\na,similar(0.8): b,fn: c\n",
]


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(BROKEN),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 3), st.binary(max_size=3)), min_size=1, max_size=4),
    st.sampled_from([None, {"input": "input"}]),
)
def test_whatever_is_broken_a_suite_is_read_or_refused_in_one_line(tmp_path_factory, content, edits, mapping):
    for place, cut, new in edits:
        content = content[:place] + new + content[place + cut :]
    path = tmp_path_factory.getbasetemp() / "broken.suite"
    path.write_bytes(content)
    try:
        found = read_suite(path, None, mapping)
    except ContractError as error:
        assert "\n" not in str(error)
    else:
        assert all(line.isprintable() for line in found.report())
        assert len(found.cases) + len(found.skipped) >= found.read
        canonical_json([asdict(case) for case in found.cases]).encode("utf-8")


def test_a_cell_that_looks_like_yaml_leaves_a_table_a_table(suite):
    found = suite("s.csv", 'input,target\n"first\ntests: [\n- vars: {",b\n')
    assert (found.syntax, found.cases[0].input) == ("csv", "first\ntests: [\n- vars: {")


def test_a_missing_file_is_one_line(tmp_path):
    with pytest.raises(ContractError, match="missing, expected a file"):
        read_suite(tmp_path / "none.csv")


# Rule 4: nothing is executed, expanded or followed


def test_code_is_kept_as_text_and_marked(suite, tmp_path):
    (tmp_path / "check.py").write_text("raise SystemExit('executed')")
    asserts = [
        {"type": "javascript", "value": "process.exit(1)"},
        {"type": "not-python", "value": "file://check.py"},
        {"type": "llm-rubric", "value": "file://check.py:fn"},
        {"type": "latency", "threshold": 500},
        {"type": "made-up", "value": "x"},
    ]
    case, mixed = suite(
        "s.json",
        json.dumps(
            [{"vars": {"q": "a"}, "assert": asserts}, {"vars": {"q": "b"}, "assert": [*asserts[:1], {"type": "is-json"}]}]
        ),
    ).cases
    assert case.expected.splitlines() == [
        "not judgeable (javascript): process.exit(1)",
        "not judgeable (not-python): 'file://check.py' is code: not run",
        "not judgeable (llm-rubric): 'file://check.py:fn' is code: not run",
        "not judgeable (latency): 500",
        "not judgeable (made-up): x",
    ]
    assert mixed.expected.endswith("\nis-json")


def test_cases_with_code_are_named(suite):
    code, text = "{type: python, value: x}", "{type: equals, value: y}"
    text = f"tests:\n- {{vars: {{q: a}}, assert: [{code}]}}\n- {{vars: {{q: b}}, assert: [{code}, {text}]}}\n"
    assert suite("s.yaml", text).notes == [
        ("line 2", "only assertions that are not judgeable"),
        ("line 3", "some assertions not judgeable"),
    ]


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("file://gen.py", "is code: not run"),
        ("file://gen.js:make", "is code: not run"),
        ("https://example.org/tests.csv", "is an address: not opened"),
        ("file://../outside.yaml", "is not below the suite's folder"),
        ("file:///etc/passwd", "is not below the suite's folder"),
        ("file://link.yaml", "is not below the suite's folder"),
        ("file://none.yaml", "names no file"),
        ("file://none*.yaml", "names no file"),
        ("file://../*.yaml", "is not below the suite's folder"),
    ],
)
def test_references_outside_are_skipped_with_a_reason(suite, tmp_path, reference, reason):
    outside = tmp_path.parent / f"{tmp_path.name}-outside.yaml"
    outside.write_text("- vars: {q: secret}\n")
    os.symlink(outside, tmp_path / "link.yaml")
    for name in ("gen.py", "gen.js"):
        (tmp_path / name).write_text("raise SystemExit")
    found = suite("s.yaml", f"tests:\n- vars: {{q: a}}\n- {reference}\n- path: {reference}\n- vars: {{q: {reference}}}\n")
    read_as_text = [reference] if reference.startswith("https") else []
    assert [case.input for case in found.cases] == ["a", *read_as_text]
    assert [place for place, _ in found.skipped] == ["line 3", "line 4", "line 5"][: 3 - len(read_as_text)]
    assert all(reason in why for _, why in found.skipped)


def test_tests_and_texts_below_the_folder_are_read(suite, tmp_path):
    (tmp_path / "more").mkdir()
    (tmp_path / "more/a.csv").write_text("q,__expected\none,1\ntwo\n")
    (tmp_path / "more/b.yaml").write_text("- vars: {q: three}\n")
    (tmp_path / "text.txt").write_text("A long letter.\n")
    (tmp_path / "rubric.md").write_text("Says so.\n")
    (tmp_path / "default.yaml").write_text("assert: [{type: contains, value: please}]\n")
    found = suite(
        "s.yaml",
        "defaultTest: file://default.yaml\ntests:\n- file://more/*\n"
        "- {vars: {q: file://text.txt}, assert: [{type: llm-rubric, value: file://rubric.md}]}\n",
    )
    assert [case.input for case in found.cases] == ["one", "three", "A long letter."]
    assert [case.expected for case in found.cases] == [
        "contains: please\nequals: 1",
        "contains: please",
        "contains: please\nSays so.",
    ]
    assert [(case.source.file, case.source.line) for case in found.cases] == [
        ("more/a.csv", 2),
        ("more/b.yaml", 1),
        ("s.yaml", 4),
    ]
    assert found.skipped == [("more/a.csv line 3", "1 cells, expected 2")]
    assert suite("t.yaml", "prompts: ['{{q}}']\ntests: file://more/b.yaml\n").cases[0].input == "three"


def test_what_a_pattern_names_besides_tests_is_skipped_one_by_one(suite, tmp_path):
    outside = tmp_path.parent / f"{tmp_path.name}-outside.yaml"
    outside.write_text("- vars: {q: secret}\n")
    (tmp_path / "more/folder").mkdir(parents=True)
    os.symlink(outside, tmp_path / "more/b.yaml")
    os.symlink(tmp_path / "none.yaml", tmp_path / "more/c.yaml")
    (tmp_path / "more/d.yaml").write_text("description: no tests\nprompts: [x]\n")
    for name in "ae":
        (tmp_path / f"more/{name}.yaml").write_text(f"- vars: {{q: {name}}}\n")
    found = suite("s.yaml", "tests: file://more/*\n")
    assert ([case.input for case in found.cases], found.read) == (["a", "e"], 5)
    for (place, why), reason in zip(
        found.skipped, ("b.yaml' is not below", "c.yaml: missing", "d.yaml: 0 tests"), strict=True
    ):
        assert place == "line 1" and reason in why


def test_more_files_than_records_are_said(suite, tmp_path, monkeypatch):
    monkeypatch.setattr(promptfoo, "RECORDS", 2)
    for name in "abc":
        (tmp_path / f"{name}.csv").write_text("")
    found = suite("s.yaml", "prompts: ['{{q}}']\ntests:\n- vars: {q: a}\n- file://*.csv\n")
    assert found.skipped == [("line 4", "'file://*.csv' names more than 2 files: not read")]


def test_the_environment_is_not_expanded(suite, monkeypatch):
    monkeypatch.setenv("SECRET", "planted")
    asserted = "assert: [{type: equals, value: '{{ env.SECRET }} {{q}} {{none}}'}]"
    text = f"tests:\n- vars: {{q: '{{{{env.SECRET}}}} $SECRET ${{SECRET}}'}}\n  {asserted}\n"
    case = suite("s.yaml", text).cases[0]
    assert "planted" not in canonical_json([case.input, case.expected])
    assert case.expected == "equals: {{ env.SECRET }} {{env.SECRET}} $SECRET ${SECRET} {{none}}"


# promptfoo


def test_the_message_is_the_variable_of_the_prompts(suite):
    tests = "tests:\n- vars: {context: x, question: q}\n"
    assert suite("s.yaml", f"prompts: ['Answer {{{{ question }}}}']\n{tests}").cases[0].input == "q"
    chat = json.dumps([{"role": "system", "content": "{{context}}"}, {"role": "user", "content": "{{question}}"}])
    assert suite("s.yaml", f"prompts: ['{chat}']\n{tests}").cases[0].input == "q"
    for prompts in ("prompts: ['{{context}} {{question}}']\n", "prompts: [file://prompt.py]\n", ""):
        text = problem(suite, "s.yaml", prompts + tests)
        assert "which variable is the user's message? found context, question; say it by a mapping input=NAME" in text
        for path in ("question", "vars.question"):
            assert suite("s.yaml", prompts + tests, None, {"input": path}).cases[0].input == "q"


def test_promptfoo_csv(suite):
    found = suite(
        "s.csv",
        "message,__expected1,__expected2,__description,__metadata:tags[],__threshold\n"
        '"a","llm-rubric: is kind","similar(0.8): b","T","x,y\\,z",1\n'
        '"b","Note: not a type","contains-any: c,d","","",\n'
        '"c","fn: output.length < 5","grade: be brief","","",\n'
        '"d","is-json","not-contains: e","","",\n',
    )
    assert (found.format, found.syntax, found.input) == ("promptfoo", "csv", "message")
    assert [case.expected for case in found.cases] == [
        "is kind\nsimilar: b",
        "equals: Note: not a type\ncontains-any: c,d",
        "not judgeable (javascript): output.length < 5\nbe brief",
        "is-json\nnot-contains: e",
    ]
    assert (found.cases[0].title, found.cases[0].tags) == ("T", ("x", "y,z"))


def test_promptfoo_csv_without_expectations(suite):
    found = suite("s.csv", "__description,message,__threshold\nT,a,0\n")
    assert (found.format, found.cases[0].input, found.cases[0].expected) == ("promptfoo", "a", "")


def test_a_column_named_like_an_expectation_is_a_variable(suite):
    text = "question,expectedAnswer,__expected\na,b,c\n"
    assert "found question, expectedAnswer" in problem(suite, "s.csv", text)
    assert suite("s.csv", text, None, {"input": "question"}).cases[0].expected == "equals: c"


def test_defaults_variables_in_assertions_and_sets(suite):
    found = suite(
        "s.json",
        json.dumps(
            {
                "prompts": ["{{q}}"],
                "defaultTest": {"vars": {"name": "Ann"}, "assert": [{"type": "contains", "value": "Dear {{name}}"}]},
                "tests": [
                    {
                        "vars": {"q": "a"},
                        "assert": [{"type": "assert-set", "assert": [{"type": "contains-all", "value": ["x", "y"]}]}],
                        "metadata": {"tags": ["t"]},
                    },
                    {"description": "only defaults", "vars": {"q": "b", "name": "Bob"}},
                ],
            }
        ),
    )
    assert [case.expected for case in found.cases] == ["contains: Dear Ann\ncontains-all: x, y", "contains: Dear Bob"]
    assert (found.cases[0].tags, found.cases[1].title) == (("t",), "only defaults")


def test_lists_of_texts_are_combinations_with_identifiers_of_their_own(suite):
    found = suite("s.yaml", "prompts: ['{{q}}']\ntests:\n- vars: {q: [a, b], lang: [en, vi]}\n")
    assert [case.input for case in found.cases] == ["a", "a", "b", "b"]
    assert len({case.id for case in found.cases}) == 4 and found.read == 1
    many = json.dumps([{"vars": {name: ["x"] * 11 for name in "abc"}}])
    assert suite("s.json", many, None, {"input": "a"}).skipped[0][1] == "more than 1,000 combinations of its variables"


def test_the_shipped_example_is_read_whole():
    found = read_suite(EXAMPLE)
    assert (found.format, found.read, len(found.cases), found.skipped) == ("promptfoo", 6, 6, [])
    assert all(case.title and case.input and case.expected and case.tags for case in found.cases)


# Inspect, DeepEval and the others


def test_inspect_conversations_choices_and_targets(suite):
    system, asked, reply = ({"role": role, "content": role} for role in ("system", "user", "assistant"))
    found = suite(
        "s.jsonl",
        lines(
            {"input": [system, asked], "target": ["x", "y"]},
            {"input": [asked, reply, {"role": "user", "content": [{"type": "text", "text": "more"}]}], "target": "z"},
            {"input": "pick", "choices": ["one", "two"], "target": "A", "setup": "rm -rf /", "metadata": {"k": 1}},
        ),
    )
    assert [case.input for case in found.cases] == [
        "user",
        "User: user\n\nAssistant: assistant\n\nUser: more",
        "pick\nA) one\nB) two",
    ]
    assert [case.expected for case in found.cases] == ["One of: x; y", "z", "A"]
    assert found.notes == [("line 1", "system turn kept, not sent"), ("line 2", "several turns, sent as one message")]
    assert [turn.role for turn in found.cases[0].turns] == ["system", "user"]
    assert "rm" in found.cases[2].raw["setup"], "kept in the record, used for nothing"


def test_inspect_csv_holds_json(suite):
    found = suite("s.csv", 'input,target,choices\n"[{""role"": ""user"", ""content"": ""q""}]",A,"[""x"", ""y""]"\n')
    assert found.cases[0].input == "q\nA) x\nB) y"


def test_deepeval_tools_turns_and_the_actual_output(suite):
    found = suite(
        "s.jsonl",
        lines(
            {"input": "a", "actual_output": "WRONG", "expected_output": None, "expected_tools": [{"name": "find"}, "pay"]},
            {"scenario": "Asks for a refund", "expected_outcome": "Refund", "turns": [{"role": "user", "content": "hi"}]},
            {"scenario": "Asks twice", "expectedOutcome": "Two answers", "name": "N"},
            {"input": "b", "expectedOutput": "c", "actualOutput": "WRONG", "expectedTools": "find;pay"},
        ),
    )
    assert [(case.input, case.expected) for case in found.cases] == [
        ("a", "Tools expected: find, pay"),
        ("hi", "Refund"),
        ("Asks twice", "Two answers"),
        ("b", "c\nTools expected: find, pay"),
    ]
    assert found.cases[2].title == "N"
    assert not any("WRONG" in case.expected for case in found.cases)


def test_records_under_a_key_are_found_with_their_lines(suite):
    first, second = ({"input": name, "expected_output": "x"} for name in "ab")
    text = f'{{"version": "1",\n "goldens": [\n  {json.dumps(first)},\n\n  {json.dumps(second)}]}}'
    assert [case.source.line for case in suite("s.json", text).cases] == [3, 5]


def test_a_conversation_of_a_system_turn_alone_has_no_message():
    turns = conversation([{"role": "system", "content": "x"}])
    assert as_message(turns) == ("", ["system turn kept, not sent"])


# Rules 5 and 6: one record per test, and a report


def test_what_is_no_record_is_skipped_with_a_reason(suite):
    found = suite("s.jsonl", '{"input": "a", "target": "b"}\n{broken\n"text"\n[1]\n{"input": "\\ud800", "target": "b"}\n')
    assert (found.read, len(found.cases)) == (5, 1)
    reasons = dict(found.skipped)
    assert reasons["line 2"].startswith("not JSON: ")
    assert (reasons["line 3"], reasons["line 4"]) == (
        "found 'text', expected an object",
        "found \"['1']\", expected an object",
    )
    assert reasons["line 5"] == "holds half a character, which no text file can"


def test_duplicates_and_empty_fields_are_named_and_kept(suite):
    found = suite("s.csv", "id,input,target\n1,a,b\n2,,c\n1,d,\n3,e,f\n")
    assert len(found.cases) == 4 and not found.skipped
    assert found.report() == [
        "inspect, CSV, delimiter comma, message to the agent from input",
        "read 4, imported 4, skipped 0",
        "empty input: 1 (line 3)",
        "duplicate id '1', first at line 2: 1 (line 4)",
        "empty expected: 1 (line 4)",
    ]


def test_the_report_shows_no_control_characters(suite):
    found = suite(
        "s.jsonl",
        lines({"id": "\x1b[2J", "input": "a", "target": "b"}, {"id": "\x1b[2J", "input": "c", "target": "d"}, "\x1b"),
    )
    assert all(line.isprintable() for line in found.report())
    assert problem(suite, "s.csv", "\x1b[2Jq,b\na,b\n").isprintable()
