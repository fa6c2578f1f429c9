"""The small edition, as a fixture."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def small() -> ModuleType:
    spec = importlib.util.spec_from_file_location("small_edition", Path(__file__).with_name("small_edition.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
