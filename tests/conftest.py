import os
import shutil
from pathlib import Path

import pytest

from regatta_lib.base import paths
from regatta_lib.reproduce import verification

RELEASE = Path(os.environ.get("REGATTA_UPSTREAM", paths.ROOT.parent / "shared/upstream"))
VERIFIED = ("data", "figures", "params.yaml", "dvc.yaml")


@pytest.fixture(scope="session")
def release_folder():
    """The public release's files, which are not part of this repository."""
    if not RELEASE.is_dir():
        pytest.skip(f"the release's files are not at {RELEASE}; set REGATTA_UPSTREAM to a folder that holds them")
    return RELEASE


@pytest.fixture(scope="session")
def frames():
    """The recomputed chain of the historical study, from the record to the tables."""
    return verification.recompute(paths.ROOT)


@pytest.fixture
def copy(tmp_path):
    """A copy of everything that ``verify`` reads, to be altered."""
    for name in VERIFIED:
        source = paths.ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name)
        else:
            shutil.copy(source, tmp_path / name)
    return tmp_path


@pytest.fixture(scope="session")
def upstream(release_folder):
    """The public release's files, under the name the tests of the instruments use."""
    return release_folder
