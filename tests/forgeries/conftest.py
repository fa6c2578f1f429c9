"""The golden bundle, made once a session, and copies of it for whoever wants to forge."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.forgeries.forger import Forger
from tests.golden.golden_study import made


@pytest.fixture(scope="session")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The golden bundle. Nobody changes it."""
    return made(tmp_path_factory.mktemp("golden"))


@pytest.fixture
def forger(golden: Path, tmp_path: Path) -> Forger:
    """A forger with a copy of it."""
    return Forger(Path(shutil.copytree(golden, tmp_path / golden.name)))
