"""The detector that says what it is told is installed while these tests run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cases.case_study import installed


@pytest.fixture(autouse=True, scope="package")
def says(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder in which it is installed."""
    with installed(tmp_path_factory.mktemp("installed")) as folder:
        yield folder
