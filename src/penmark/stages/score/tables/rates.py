"""rates.csv and rates_lenient.csv: every version x arm x slice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from penmark import study
from penmark.stages.score import Scored
from penmark.stages.score.tables.tally import SLICES, Counts, Key, Tally, format_worst, make_rate_cells, unanswered

HEADER = (
    *("detector", "version", "arm", "slice_by", "slice", "documents", "n", "k", "uncertain", "no_result"),
    *("not_scannable", "not_run", "rate", "low", "high", "worst_low", "worst_high"),
)
ADDED = ("unanswered",)
"""The column behind these from format 2 on."""


def make_rates_table(scored: Scored, tally: Tally, k_of: Literal["k", "k_lenient"]) -> bytes:
    """The CSV of strict (``k``) or lenient calls."""
    header = HEADER if scored.protocol.format == 1 else HEADER + ADDED
    return study.encode_csv(header, (row[: len(header)] for row in _compute_rows(scored, tally, k_of)))


def _compute_rows(scored: Scored, tally: Tally, k_of: Literal["k", "k_lenient"]) -> Iterator[list[str | int | None]]:
    position = {arm.name: at for at, arm in enumerate(scored.protocol.arms)}

    def order(key: Key) -> tuple[int, int, str]:
        arm, by, value = key
        return position[arm], SLICES.index(by) if by else -1, value

    for version, counted, apart in zip(scored.versions, tally.slices, tally.apart(scored.level), strict=True):
        absent = {(arm, "", ""): Counts() for arm in position if (arm, "", "") not in counted}
        held = counted | absent
        for key in sorted(held, key=order):
            counts, k = held[key], getattr(held[key], k_of)
            ends = format_worst(k, counts.n, counts.no_result, scored.level)
            missing = unanswered({key[0]: counts}, apart)
            yield [
                version.detector.name,
                version.version,
                *key,
                *make_rate_cells(counts, scored.level, k),
                *ends,
                missing,
            ]
