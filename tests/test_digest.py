import hashlib
import json

import pytest

from regatta_lib.base import ContractError, digest


def test_canonical_json_does_not_depend_on_order_and_keeps_letters():
    assert digest.canonical_json({"b": 1, "a": "Nghị định"}) == '{"a":"Nghị định","b":1}'
    with pytest.raises(ValueError, match="Out of range"):
        digest.canonical_json(float("nan"))


def test_a_key_given_twice_is_refused_at_any_depth():
    assert json.loads('{"a": {"b": 1}}', object_pairs_hook=digest.unique_keys) == {"a": {"b": 1}}
    with pytest.raises(ValueError, match=r"^key 'b' occurs twice$"):
        json.loads('{"a": [{"b": 1, "c": 2, "b": 1}]}', object_pairs_hook=digest.unique_keys)


def test_sha256_matches_hashlib():
    assert digest.sha256("đ") == hashlib.sha256("đ".encode()).hexdigest()


def test_manifest_round_trip(tmp_path):
    for name in ("b.txt", "a.txt"):
        (tmp_path / name).write_text(name)
    manifest = tmp_path / "SHA256SUMS"
    manifest.write_text(digest.manifest_text(tmp_path, [tmp_path / "b.txt", tmp_path / "a.txt"]))
    assert digest.read_manifest(manifest) == {name: digest.sha256(name) for name in ("a.txt", "b.txt")}


@pytest.mark.parametrize("text", ["", "abc  a.txt\n", f"{'0' * 64}  a\n{'0' * 64}  a\n"])
def test_a_malformed_manifest_is_refused(tmp_path, text):
    (tmp_path / "SHA256SUMS").write_text(text)
    with pytest.raises(ContractError, match="expected"):
        digest.read_manifest(tmp_path / "SHA256SUMS")
