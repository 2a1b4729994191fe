import pytest
import yaml
from ruamel.yaml import YAML

from regatta_lib.base import ContractError, paths, read_params
from regatta_lib.studies import read_definitions


def test_the_committed_file_is_valid():
    assert read_params(paths.PARAMS).base.study == "historical"


def test_both_yaml_versions_read_the_same_values():
    """DVC reads YAML 1.2, other tools 1.1; no value may mean two things."""
    text = paths.PARAMS.read_text(encoding="utf-8")
    assert YAML(typ="safe").load(text) == yaml.safe_load(text)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seed:", "sed:", r"base\.seed: .*Field required.*base\.sed: found 20261030; Extra inputs"),
        ("level: 0.95", "level: 95", r"base\.level: found 95"),
        ("resamples: 10000", "resamples: '10000'", r"base\.resamples: found '10000'"),
        ("resamples: 10000", "resamples: 10", r"base\.resamples: found 10"),
        ("study: historical", "study: 'Hist orical'", r"base\.study: found 'Hist orical'"),
        ("figures:", "figurs:", "figurs"),
        ("base:", "base: [", "params.yaml"),
        ("strategies: [S1,", "strategies: [S1, S1,", r"strategies: .*a value occurs twice"),
    ],
)
def test_a_typo_is_one_line_that_names_the_key(tmp_path, old, new, message):
    path = tmp_path / "params.yaml"
    path.write_text(paths.PARAMS.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ContractError, match=message) as caught:
        read_definitions(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_wrong_study_stops_its_study_and_no_table(tmp_path):
    path = tmp_path / "params.yaml"
    text = paths.PARAMS.read_text(encoding="utf-8")
    path.write_text(text.replace("strategies: [S1,", "strategies: [S1, S1,", 1), encoding="utf-8")
    assert read_params(path).base == read_params(paths.PARAMS).base
    with pytest.raises(ContractError, match=r"studies\.demo\.strategies: .*a value occurs twice"):
        read_definitions(path)
