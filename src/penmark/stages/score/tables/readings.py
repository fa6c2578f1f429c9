"""readings.csv: every pair of a version and a document, with all that a sceptic needs to count again."""

from __future__ import annotations

import polars as pl

from penmark.format.csv_columns import join_csv_frames
from penmark.stages.score import Scored, Version

HEADER = (
    *("detector", "version", "version_state", "document", "arm", "state", "displayed", "score", "label", "call"),
    *("call_lenient", "reason", "boundary", "operator", "scanned_at", "sent_at", "origin", "attempts", "read_by"),
    *("evidence_sha256", "timing"),
)
_SAFE = {"detector", "version_state", "arm", "call", "call_lenient", "boundary", "operator", "scanned_at", "sent_at"}
_SAFE |= {"origin", "evidence_sha256", "timing"}


def make_readings_table(scored: Scored) -> bytes:
    """The CSV, by version, then manifest order."""
    return join_csv_frames(HEADER, (_make_frame(scored, version) for version in scored.versions), safe=_SAFE)


def _make_frame(scored: Scored, version: Version) -> pl.DataFrame:
    rule = version.rule
    held = scored.documents.select(pl.col("id").alias("document"), "arm").hstack(version.pairs)
    return held.with_columns(
        pl.lit(version.detector.name).alias("detector"),
        pl.lit(version.version, dtype=pl.String).alias("version"),
        pl.lit(version.state).alias("version_state"),
        pl.lit(rule.kind if rule.value is None else rule.value).alias("boundary"),
        pl.lit(rule.operator, dtype=pl.String).alias("operator"),
        pl.lit(scored.timing).alias("timing"),
    ).select(HEADER)
