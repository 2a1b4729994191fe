"""What belongs to the archive, and the digests that pin it: data/reference/SHA256SUMS, written and checked."""

import subprocess
from pathlib import Path

from regatta_lib.base import ContractError, manifest_text, read_manifest, sha256
from regatta_lib.reproduce import PINS, in_pinned_folders

MANIFEST = "MANIFEST.sha256"


def tracked_files(root: Path) -> list[str]:
    """The files that belong to the archive: those git tracks, or those listed in an unpacked archive's manifest, sorted.

    Raises ContractError for a tracked file that is missing, outside of both, and where git does not list them.
    """
    if (root / ".git").exists():
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True)
        if listed.returncode:
            raise ContractError(f"{root}: git ls-files: {listed.stderr.decode('utf-8', 'replace').partition(chr(10))[0]}")
        names = sorted(name for name in listed.stdout.decode("utf-8").split("\0") if name)
    else:
        names = sorted(read_manifest(root / MANIFEST))
    for name in names:
        if not (root / name).is_file():
            raise ContractError(f"{root / name}: missing, expected a file of the archive")
    return names


def pinned_manifest(root: Path) -> str:
    """The text of data/reference/SHA256SUMS: all data and figures but the manifest itself and the report of the checks.

    Those are the tracked files, and the instruments, record and reference that are not tracked yet.
    """
    tracked = [name for name in tracked_files(root) if name.startswith(("data/", "figures/"))]
    left_out = ("data/verification/", PINS)
    chosen = {name for name in tracked if not name.startswith(left_out) and Path(name).name[0] != "."}
    return manifest_text(root, [root / name for name in chosen | in_pinned_folders(root)])


def check_pins(root: Path) -> None:
    """Raise ContractError if a pinned file is missing or not the one that is pinned: it must not be archived as such."""
    for name, digest in read_manifest(root / PINS).items():
        if not (root / name).is_file() or sha256((root / name).read_bytes()) != digest:
            raise ContractError(f"{root / name}: not the file pinned in {PINS}; after a reviewed change run 'make pin'")
