"""documents.csv: every public field of a document."""

from __future__ import annotations

from penmark.scoring import Scored
from penmark.tables.cells import csv

_SAFE = ("arm", "truth", "address", "canonical_sha256", "kind", "grade", "evidence_date")


def table(scored: Scored) -> bytes:
    """The CSV, in manifest order."""
    return csv(scored.documents, safe=_SAFE)
