"""table2.csv: who is wrongly flagged (native, non-native, archive) against what is detected (unedited, edited)."""

from __future__ import annotations

from penmark import study
from penmark.scoring import Scored, Version
from penmark.tables.tally import GROUPS, Counts, Tally, cells, unanswered

HEADER = (
    *("detector", "version", "timing", "group", "measure", "documents", "n", "k", "uncertain", "no_result"),
    *("not_scannable", "not_run", "rate", "low", "high"),
)
ADDED = ("unanswered",)
"""The column behind these from format 2 on."""


def table(scored: Scored, tally: Tally) -> bytes:
    """The CSV, by version, then group; groups that no document is in have no rows."""
    header = HEADER if scored.protocol.format == 1 else HEADER + ADDED
    return study.csv_bytes(
        header,
        (
            _row(scored, version, group, measure, counted[group], apart)[: len(header)]
            for version, counted, apart in zip(scored.versions, tally.groups, tally.apart(scored.level), strict=True)
            for group, measure in GROUPS.items()
            if group in counted
        ),
    )


def _row(
    scored: Scored, version: Version, group: str, measure: str, counts: Counts, apart: bool
) -> list[str | int | None]:
    names = (version.detector.name, version.version, scored.timing, group, measure)
    return [*names, *cells(counts, scored.level, counts.k), unanswered({group: counts}, apart)]
