"""The table of expected statistics, computed elsewhere; read where it is here."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest

TABLE = Path(os.environ.get("PENMARK_SHARED", Path(__file__).parents[2] / "shared")) / "research" / "stats_expected.csv"


def rows(name: str) -> list[dict[str, str]]:
    """The rows of that name, one at least; skips where the table is not here."""
    if not TABLE.is_file():
        pytest.skip("the table of expected values is not here (PENMARK_SHARED)")
    with TABLE.open(encoding="utf-8", newline="") as file:
        found = [row for row in csv.DictReader(file) if row["name"] == name]
    assert found
    return found
