"""The golden bundle, made once a session."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.golden.golden_study import made


@pytest.fixture(scope="session")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The golden bundle. Nobody changes it."""
    return made(tmp_path_factory.mktemp("golden"))
