"""Canonical JSON, keys given once, SHA-256, and manifests that ``sha256sum -c`` can check."""

import hashlib
import json
from pathlib import Path

from regatta_lib.base.errors import ContractError
from regatta_lib.base.files import file_text


def canonical_json(value: object) -> str:
    """One text per value: sorted keys, no spaces, non-ASCII as is. NaN and infinities are refused."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An ``object_pairs_hook`` for reading JSON, where the last of two equal keys would win. Raises ValueError for them."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"key {next(key for key in keys if keys.count(key) > 1)!r} occurs twice")
    return found


def sha256(content: bytes | str) -> str:
    """SHA-256 of bytes, or of a text's UTF-8 form, in hexadecimal."""
    return hashlib.sha256(content.encode("utf-8") if isinstance(content, str) else content).hexdigest()


def manifest_text(root: Path, files: list[Path]) -> str:
    """The lines of a SHA256SUMS file for ``files``, as paths relative to ``root``, sorted by path."""
    names = sorted(file.relative_to(root).as_posix() for file in files)
    return "".join(f"{sha256((root / name).read_bytes())}  {name}\n" for name in names)


def read_manifest(path: Path) -> dict[str, str]:
    """Read a SHA256SUMS file as {relative path: digest}. Raises ContractError on a malformed or repeated line."""
    entries: dict[str, str] = {}
    for number, line in enumerate(file_text(path).splitlines(), start=1):
        digest, separator, name = line.partition("  ")
        if not separator or len(digest) != 64 or name in entries:
            raise ContractError(f"{path}: row {number}: found {line!r}, expected a new '<sha256>  <path>'")
        entries[name] = digest
    if not entries:
        raise ContractError(f"{path}: 0 rows, expected at least 1")
    return entries
