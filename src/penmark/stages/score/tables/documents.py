"""documents.csv: every public field of a document."""

from __future__ import annotations

from penmark.format.csv_columns import encode_csv_frame
from penmark.stages.score import Scored

_SAFE = ("arm", "truth", "address", "canonical_sha256", "kind", "grade", "evidence_date")


def make_documents_table(scored: Scored) -> bytes:
    """The CSV, in manifest order."""
    return encode_csv_frame(scored.documents, safe=_SAFE)
