"""The changelog's newest release is the version that is packaged and cited, with its date."""

import re
import tomllib
from datetime import date

import pytest

from regatta.archive import citation
from regatta_lib.base import paths

KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def releases(text):
    """The releases of a changelog, newest first, as (version, date); what is unreleased has to stand above them."""
    heads = re.findall(r"^## (.*)$", text, re.M)
    assert heads[0] == "[Unreleased]", heads
    return [re.fullmatch(r"\[(\d+\.\d+\.\d+)\] - (\d{4}-\d{2}-\d{2})", head).groups() for head in heads[1:]]


def changelog():
    return (paths.ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def stated():
    """The version and date that the package and the citation state."""
    with (paths.ROOT / "pyproject.toml").open("rb") as file:
        version = tomllib.load(file)["project"]["version"]
    cited = citation(paths.ROOT)
    assert str(cited["version"]) == version
    return version, str(cited["date-released"])


def test_the_newest_release_is_the_version_packaged_and_cited():
    found = releases(changelog())
    assert found[0] == stated()
    assert found == sorted(found, key=lambda release: [*map(int, release[0].split("."))], reverse=True)
    assert all(date.fromisoformat(day) for _, day in found)
    assert set(re.findall(r"^### (.*)$", changelog(), re.M)) <= KINDS


@pytest.mark.parametrize("other", ["## [9.9.9] - 2026-11-30", "## [1.0.0] - 2020-01-01"])
def test_another_version_or_date_is_found(other):
    version, day = stated()
    assert releases(changelog().replace(f"## [{version}] - {day}", other))[0] != stated()
