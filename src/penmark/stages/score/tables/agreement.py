"""agreement.csv: of the documents that every detector answered, how many were flagged by 0, 1, … of them."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from penmark import study
from penmark.stages.score import Scored

HEADER = ("arm", "detectors", "documents", "answered_by_all", "flagged_by", "count", "timing")


def make_agreement_table(scored: Scored) -> bytes:
    """The CSV, by arm of the protocol; first versions only."""
    return study.encode_csv(HEADER, _compute_rows(scored))


def _compute_rows(scored: Scored) -> Iterator[list[str | int | None]]:
    calls = {f"{at}": version.pairs.get_column("call") for at, version in enumerate(scored.versions) if version.first}
    rows = pl.DataFrame([scored.documents.get_column("arm"), *(held.alias(at) for at, held in calls.items())])
    for arm in scored.protocol.arms:
        mine = rows.filter(pl.col("arm") == arm.name)
        took_part = [at for at in calls if mine.get_column(at).null_count() < mine.height]
        if not took_part:
            continue
        by_all = mine.select(took_part).drop_nulls()
        flags = by_all.select(
            pl.sum_horizontal((pl.col(at) == "ai").cast(pl.UInt32) for at in took_part).alias("flags")
        )
        times = dict(flags.get_column("flags").value_counts().iter_rows())
        for flagged in range(len(took_part) + 1):
            held = (arm.name, len(took_part), mine.height, by_all.height)
            yield [*held, flagged, times.get(flagged, 0), scored.timing]
