"""table2.csv: who is wrongly flagged (native, non-native, archive) against what is detected (unedited, edited)."""

from __future__ import annotations

from penmark import study
from penmark.stages.score import Scored, Version
from penmark.stages.score.tables.tally import GROUPS, Counts, Tally, make_rate_cells, unanswered

HEADER = (
    *("detector", "version", "timing", "group", "measure", "documents", "n", "k", "uncertain", "no_result"),
    *("not_scannable", "not_run", "rate", "low", "high"),
)
ADDED = ("unanswered",)
"""The column behind these from format 2 on."""


def make_table2(scored: Scored, tally: Tally) -> bytes:
    """The CSV, by version, then group; groups that no document is in have no rows."""
    header = HEADER if scored.protocol.format == 1 else HEADER + ADDED
    return study.encode_csv(
        header,
        (
            _make_row(scored, version, group, measure, counted[group], apart)[: len(header)]
            for version, counted, apart in zip(scored.versions, tally.groups, tally.apart(scored.level), strict=True)
            for group, measure in GROUPS.items()
            if group in counted
        ),
    )


def _make_row(
    scored: Scored, version: Version, group: str, measure: str, counts: Counts, apart: bool
) -> list[str | int | None]:
    names = (version.detector.name, version.version, scored.timing, group, measure)
    return [*names, *make_rate_cells(counts, scored.level, counts.k), unanswered({group: counts}, apart)]
