import os
from pathlib import Path

import pytest

from regatta_lib import paths


@pytest.fixture(scope="session")
def upstream() -> Path:
    """The folder of the public release, which is not part of this repository."""
    folder = Path(os.environ.get("REGATTA_UPSTREAM", paths.ROOT.parent / "shared" / "upstream"))
    if not folder.is_dir():
        pytest.skip(f"the public release is not at {folder}; set REGATTA_UPSTREAM to its folder")
    return folder
