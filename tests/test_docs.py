"""What the documents say is true: commands are run or name their test, paths and names exist, maps are current.

``python tests/test_docs.py`` rewrites what is made in docs/architecture.md and the rooms in README.md's tree.
"""

import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
import structure
import typer
from rooms import PACKAGES, ROOMS, rooms_of

from regatta.archive import tracked_files
from regatta.commands import app
from regatta_lib import __main__ as library
from regatta_lib.base import paths, read_params, sha256, write_atomic

DOCUMENTS = [paths.ROOT / "README.md", paths.ROOT / "CONTRIBUTING.md", *sorted((paths.ROOT / "docs").glob("*.md"))]
MAP = structure.ROOT / "docs/architecture.md"
README = structure.ROOT / "README.md"
PROGRAMS = ("make", "regatta", "python", "ruff", "lint-imports", "mypy", "dvc", "conda", "uv", "pip", "sha256sum")
PLACEHOLDER = re.compile(r"\b[A-Z]{3,}\b|…")
EVALUATE = "regatta evaluate docs/examples/us_insurance.promptfoo.yaml --cell us_insurance --name example"

# Run in a copy of the repository, in this order: exit code, and what the output contains.
RUN = {
    "regatta verify": (0, "2835 of 2835 reference values reproduced"),
    "sha256sum -c data/reference/SHA256SUMS": (0, "data/reference/reference_values.csv: OK"),
    "regatta cell new fr_banking": (0, "fr_banking: "),
    "regatta cell check data/instruments/fr_banking": (1, "violations"),
    "regatta cell check data/instruments/eu_banking": (0, "eu_banking: 0 violations"),
    "regatta cell check data/instruments/us_fintech": (0, "us_fintech: 0 violations"),
    "regatta cost replication": (0, "judge"),
    "regatta cost retest": (0, "judge"),
    f"{EVALUATE} --check": (
        0,
        "read 6, imported 6, skipped 0",
    ),
    "regatta adjudicate sample demo --size 28": (0, "28 items; keep the key"),
    "regatta adjudicate sample demo --stage execution --size 6": (0, "6 items; keep the key"),
    "dvc dag": (0, "verdicts"),
    "dvc metrics show": (0, "2835"),
    "dvc plots show": (0, "index.html"),
    "ruff check .": (0, "All checks passed!"),
    "ruff format --check .": (0, "already formatted"),
}
# Run with make in a clone that uses the packages of this environment; what needs a network there only says what it would
# do: uv, pip, and the small model, whose server tests/test_llamacpp.py runs where its packages are installed.
MADE = {
    "make verify": "2835 of 2835 reference values reproduced",
    "make site": "site/index.html: ",
    "make archive": "dist/regatta-",
    "make notebooks": "notebooks/verification.ipynb",
    "make pin": "data/reference/SHA256SUMS: ",
    "make smoke": "--requirement requirements-smoke.lock\n-m regatta smoke\n",
    "make lock": "pip compile --universal --generate-hashes",
}
# Too slow, or in need of a network or an answerer: what covers each, a test or a line of .ci/run.
COVERED = {
    "make setup": ".ci/run",
    "make repro": ".ci/run",
    "make test": ".ci/run",
    "python tests/test_docs.py": "tests/test_docs.py::test_the_map_is_current",
    "lint-imports": "tests/test_architecture.py::test_the_import_contracts_hold",
    "dvc repro": "tests/test_archive.py::test_a_stage_runs_with_dvc_in_the_unpacked_archive",
    "dvc repro --force": "tests/test_archive.py::test_a_stage_runs_with_dvc_in_the_unpacked_archive",
    "regatta cell check data/instruments/fr_banking --freeze": (
        "tests/test_cells.py::test_a_change_after_the_freeze_is_named_and_a_new_freeze_is_a_decision"
    ),
    "regatta run replication": "tests/test_commands.py::test_an_expensive_run_is_not_started_without_consent",
    "regatta run retest": "tests/test_commands.py::test_an_expensive_run_is_not_started_without_consent",
    "regatta run demo": "tests/test_commands.py::test_packed_transcripts_replay",
    "regatta pack retest": "tests/test_commands.py::test_packed_transcripts_replay",
    "regatta exchange batches demo": "tests/test_commands.py::test_batches_are_dealt_once_and_collected",
    EVALUATE: ("tests/test_evaluate.py::test_a_price_that_is_not_known_is_asked_about"),
    f"{EVALUATE} --study own-suite-files": ("tests/test_evaluate.py::test_the_example_through_files_and_replayed"),
}


def plain(line):
    """A command without its comment and folder; ``python -m`` with one of our packages is ``regatta``."""
    words = " ".join(re.sub(r"\s+#.*", "", line).strip().removeprefix("$ ").split())
    return re.sub(r"^python -m regatta(_lib)?\b", "regatta", words.removeprefix(".venv/bin/"))


def commands(text):
    """The commands of a document: lines of its code blocks, fenced or indented, and spans that are more than a name."""
    found = []
    for block in re.findall(r"^ *```\w*\n(.*?)^ *```", text, re.M | re.S):
        found += block.splitlines()
    text = re.sub(r"^ *```\w*\n.*?^ *```", "", text, flags=re.M | re.S)
    found += re.findall(r"^ {4,}(\S.*)$", text, re.M)
    found += re.findall(r"`([^`\n]+ [^`\n]+)`", text)
    return [plain(line) for line in found if plain(line).split(" ")[0] in PROGRAMS]


def said():
    return list(dict.fromkeys(command for path in DOCUMENTS for command in commands(path.read_text(encoding="utf-8"))))


def unknown_part(command):
    """The word of a ``regatta`` or ``make`` command that does not exist, if any."""
    program, *words = shlex.split(command)
    if program == "make":
        targets = re.findall(r"^([a-z]+):", (paths.ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
        return next((word for word in words if word not in targets), None)
    if program != "regatta":
        return None
    node = typer.main.get_command(app)
    for word in words:
        if isinstance(node, click.Group) or hasattr(node, "commands"):
            if word not in node.commands:
                return word
            node = node.commands[word]
        elif word.startswith("--") and word.split("=")[0] not in {name for option in node.params for name in option.opts}:
            return word
    return None


def copied(root):
    """A copy of the repository, without what git ignores, in which commands may write."""
    anywhere = shutil.ignore_patterns(".venv", ".git", "executed", "__pycache__", "adjudication")

    def ignored(folder, names):
        made = {"site", "dist", "tmp"} if Path(folder) == paths.ROOT else set()
        return anywhere(folder, names) | made

    return shutil.copytree(paths.ROOT, root, ignore=ignored)


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A copy under git whose ``.venv`` leads to this environment; ``uv``, ``pip`` and ``smoke`` print what they are told."""
    root = copied(tmp_path_factory.mktemp("made") / "regatta")
    here = Path(sys.executable).parent
    programs = {
        "dvc": f'exec "{here / "dvc"}" "$@"',
        "python": f'case "$*" in "-m pip "*|*" smoke") echo "$@";; *) exec "{here / "python"}" "$@";; esac',
        "uv": 'echo "$@"',
    }
    for name, line in programs.items():
        write_atomic(root / ".venv/bin" / name, f"#!/bin/sh\n{line}\n")
        (root / ".venv/bin" / name).chmod(0o755)
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
        subprocess.run([*git, *words], cwd=root, check=True)
    return root


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    """A copy in which commands may write, without git."""
    root = copied(tmp_path_factory.mktemp("docs") / "regatta")
    write_atomic(root / ".dvc/config.local", "[core]\n    no_scm = true\n")
    return root


def test_every_document_has_been_read():
    assert len(said()) >= 25
    assert len(DOCUMENTS) >= 5


@pytest.mark.parametrize("command", said())
def test_every_command_is_run_or_covered_and_exists(command):
    assert unknown_part(command) is None, f"no {unknown_part(command)} in {command}"
    assert PLACEHOLDER.search(command) or command.count(" ") == 0 or command in {*RUN, *MADE, *COVERED} or is_group(command)


def is_group(command):
    """Whether the command is named without its argument, as ``regatta cell new`` in a sentence."""
    return any(known.startswith(f"{command} ") for known in (*RUN, *MADE, *COVERED))


@pytest.mark.parametrize("command", ["regatta verfy", "regatta cell make x", "regatta verify --reprot x", "make everything"])
def test_the_check_of_commands_can_fail(command):
    assert unknown_part(command)


def test_commands_are_found_wherever_they_stand():
    text = "a\n\n```sh\n$ make repro   # all\n```\n\n    regatta cost x\n\n- b `python -m regatta_lib verify` and `make`.\n"
    assert commands(text) == ["make repro", "regatta cost x", "regatta verify"]


@pytest.mark.parametrize("command", RUN)
def test_command_does_what_is_said(command, workspace):
    code, expected = RUN[command]
    program, *words = shlex.split(command)
    modules = {"regatta": "regatta", "dvc": "dvc", "ruff": "ruff"}
    call = [sys.executable, "-m", modules[program], *words] if program in modules else [program, *words]
    done = subprocess.run(call, cwd=workspace, capture_output=True, text=True, check=False, env=environment(workspace))
    assert done.returncode == code, done.stdout + done.stderr
    assert expected in done.stdout + done.stderr


@pytest.mark.parametrize("command", MADE)
def test_make_target_does_what_is_said_and_leaves_what_is_committed_as_it_is(command, clone):
    """``make notebooks`` runs with one stage in place of fourteen; the others run in .ci/run."""
    call = [*command.split(), "BEFORE_VERIFICATION=consistency", "--old-file=.venv/ready"]
    done = subprocess.run(call, cwd=clone, capture_output=True, text=True, check=False, env=environment(clone))
    assert done.returncode == 0, done.stdout + done.stderr
    assert MADE[command] in done.stdout
    changed = subprocess.run(["git", "status", "--porcelain"], cwd=clone, capture_output=True, text=True, check=True)
    assert changed.stdout == ""


def environment(root):
    return os.environ | {"PYTHONPATH": str(root), "DVC_NO_ANALYTICS": "1"}


@pytest.mark.parametrize("command", COVERED)
def test_what_covers_a_command_is_there(command):
    evidence = COVERED[command]
    if evidence == ".ci/run":
        assert command in (paths.ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()
    else:
        file, _, name = evidence.partition("::")
        assert f"def {name}(" in (paths.ROOT / file).read_text(encoding="utf-8")


WRITTEN = ("data/suites", "data/episodes", "data/transcripts", "data/exchange", "data/adjudication")
TRACKED = tracked_files(paths.ROOT)
TOPS = {name.partition("/")[0] for name in TRACKED}
SUFFIXES = {Path(name).suffix.removeprefix(".") for name in TRACKED}
MODULES = {Path(name).stem for name in TRACKED if name.startswith(PACKAGES) and name.endswith(".py")}
OFFERED = {room: set(importlib.import_module(room).__all__) for room in ROOMS}


def missing(span):
    """Whether text in backticks has the form of a path or a name of ours, and there is no such thing."""
    if re.fullmatch(r"[\w.][\w./-]*", span) and span.partition("/")[0] in TOPS:
        by_user = span.startswith(WRITTEN) or re.search("fr_banking|STUDY", span)
        return not (by_user or (paths.ROOT / span).exists())
    if not re.fullmatch(r"\w+(\.\w+)*(\(.*\))?", span):
        return False
    names = span.partition("(")[0].split(".")
    if len(names) > 1 and names[0] in PACKAGES:
        return not (".".join(names) in ROOMS or (".".join(names[:2]) in ROOMS and names[2] in OFFERED[".".join(names[:2])]))
    if len(names) == 1:
        return "(" in span and not any(names[0] in offered for offered in OFFERED.values())
    if names[0] not in MODULES | {room.partition(".")[2] for room in ROOMS} or names[1] in SUFFIXES:
        return False
    return not (any(names[1] in OFFERED.get(f"{package}.{names[0]}", ()) for package in PACKAGES) or is_parameter(*names))


def is_parameter(section, key):
    return key in read_params(paths.PARAMS).model_dump().get(section, {})


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_paths_names_and_links_exist(path):
    text = path.read_text(encoding="utf-8")
    unfenced = re.sub(r"^ *```\w*\n.*?^ *```", "", text, flags=re.M | re.S)
    assert [span for span in re.findall(r"`([^`\n]+)`", unfenced) if missing(span)] == []
    for target in re.findall(r"\]\(([^)#]+)", unfenced):
        assert target.startswith("http") or (path.parent / target).exists(), target


@pytest.mark.parametrize(
    "span",
    [
        "regatta_lib/scores.py",
        "regatta/sites",
        "tests/test_nothing.py",
        "regatta_lib.scores",
        "regatta_lib.measures.tabel3",
        "regatta_lib.measures.scores.LIKERT",
        "holdout.withhold(cell)",
        "measures.tabel3",
        "base.pilots",
        "digest_of_instruments()",
    ],
)
def test_a_path_or_name_that_is_gone_is_found(span):
    assert missing(span)


@pytest.mark.parametrize("span", ["regatta_lib.measures", "measures.table3", "base.pilot", "report.csv", "as_written", "κ"])
def test_what_is_there_or_not_ours_is_left_alone(span):
    assert not missing(span)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_what_is_run_with_the_library_alone_is_a_command_of_the_library(path):
    named = re.findall(r"python -m regatta_lib ([a-z]+)", path.read_text(encoding="utf-8"))
    assert set(named) <= set(typer.main.get_command(library.app).commands)


def test_the_first_screen_of_the_readme():
    """One sentence on the question, two commands, the last line to expect, its time, then the claims."""
    first = (paths.ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:32]
    assert first[0] == "# REGATTA"
    order = [
        "make repro",
        "make test",
        "2835 of 2835 reference values reproduced",
        "minutes",
        "## Claims and where they are checked",
    ]
    places = [next(number for number, line in enumerate(first) if text in line) for text in order]
    assert places == sorted(places)


def test_the_readme_has_the_order_people_need():
    headings = re.findall(r"^## (.+)$", (paths.ROOT / "README.md").read_text(encoding="utf-8"), re.M)
    wanted = [
        "Run",
        "Verify without the pipeline",
        "Read",
        "Evaluate my suite",
        "Add a cell",
        "Run live",
        "How it is built",
    ]
    assert [heading for heading in headings if heading in wanted] == wanted


def test_documents_name_no_machine():
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        assert str(Path.home()) not in text and str(paths.ROOT) not in text and "/tmp/" not in text, path


def test_the_map_is_current():
    text = MAP.read_text(encoding="utf-8")
    assert text == structure.with_tables(text), "run: python tests/test_docs.py"


def test_the_map_stays_on_one_page():
    assert len(MAP.read_text(encoding="utf-8").splitlines()) <= 120


def test_the_map_check_can_fail(monkeypatch):
    text = MAP.read_text(encoding="utf-8")
    monkeypatch.setitem(structure.TABLES, "rooms", lambda: structure.room_table() + "\n| `utils` |")
    assert structure.with_tables(text) != text


@pytest.mark.parametrize("room", ROOMS)
def test_the_map_allows_what_a_room_imports(room):
    assert rooms_of(room) <= set(structure.may_import(room, structure.contracts()))


def test_what_a_room_may_import_follows_from_each_kind_of_contract():
    rules = structure.contracts()
    assert structure.may_import("regatta_lib.base", rules) == []
    assert structure.may_import("regatta_lib.stats", rules) == ["regatta_lib.base"]
    assert "regatta_lib.present" not in structure.may_import("regatta_lib.studies", rules)
    assert "regatta_lib.studies" not in structure.may_import("regatta_lib.reproduce", rules)
    assert {room for room in structure.may_import("regatta.site", rules) if room.startswith("regatta.")} == set()
    assert set(structure.may_import("regatta.commands", rules)) == set(ROOMS) - {"regatta.commands"}
    looser = [rule for rule in rules if rule["id"] != "measuring-knows-no-model"]
    assert structure.may_import("regatta_lib.stats", looser) == ["regatta_lib.base", "regatta_lib.models"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"layers": ["commands"]}, "regatta.adjudicate is in no contract of layers"),
        ({"layers": ["commands", "attic"]}, "regatta.adjudicate is in no contract of layers"),
        ({"type": "protected"}, "is in no contract of layers"),
    ],
)
def test_a_room_outside_the_contracts_is_named(change, message):
    rules = [rule | change if rule["id"] == "commands-on-top" else rule for rule in structure.contracts()]
    with pytest.raises(ValueError, match=message):
        structure.room_table(rules)


def test_a_layer_without_a_folder_and_a_new_kind_of_contract_are_named():
    rules = structure.contracts()
    more = [rule | {"layers": [*rule["layers"], "attic"]} if rule["id"] == "layers" else rule for rule in rules]
    with pytest.raises(ValueError, match=r"regatta_lib\.attic has no folder"):
        structure.room_table(more)
    with pytest.raises(ValueError, match="type protected"):
        structure.room_table([*rules, {"id": "new", "type": "protected"}])


def tree_faults(text):
    """What README.md's tree leaves out or makes up: folders at the top, rooms, and entries that do not exist."""
    entries = structure.tree(text)
    folders = {f"{name.partition('/')[0]}/" for name in TRACKED if "/" in name and not name.startswith(".")}
    wanted = folders | {f"{room.replace('.', '/')}/" for room in ROOMS}
    named = {f"{name.partition('/')[0]}/" for name in entries} | entries.keys()
    return sorted(wanted - named) + sorted(name for name in entries if not (paths.ROOT / name).exists())


def test_the_tree_of_the_readme_is_made_from_the_packages_and_complete():
    text = README.read_text(encoding="utf-8")
    assert text == structure.with_tree(text), "run: python tests/test_docs.py"
    assert tree_faults(text) == []
    assert all(structure.tree(text).values())


@pytest.mark.parametrize(
    ("line", "other", "fault"),
    [
        ("  stats/ ", "  attic/ ", ["regatta_lib/stats/", "regatta_lib/attic/"]),
        ("benchmarks/ ", "bench/      ", ["benchmarks/", "bench/"]),
    ],
)
def test_the_tree_check_can_fail(line, other, fault):
    text = README.read_text(encoding="utf-8")
    assert tree_faults(text.replace(f"\n{line}", f"\n{other}")) == fault


@pytest.mark.parametrize("package", PACKAGES)
def test_the_docstring_of_a_package_describes_its_rooms(package):
    own = {room.partition(".")[2] for room in ROOMS if room.startswith(f"{package}.")}
    assert structure.described(package).keys() == own


def test_running_the_commands_left_the_repository_alone(workspace):
    """The commands above ran in a copy: pinned files there are unchanged, and nothing new is here."""
    assert not (paths.INSTRUMENTS / "fr_banking").exists()
    pinned = "data/reference/reference_values.csv"
    assert sha256((workspace / pinned).read_bytes()) == sha256((paths.ROOT / pinned).read_bytes())


if __name__ == "__main__":
    write_atomic(MAP, structure.with_tables(MAP.read_text(encoding="utf-8")))
    write_atomic(README, structure.with_tree(README.read_text(encoding="utf-8")))
