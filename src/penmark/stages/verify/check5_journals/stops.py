"""Check 5, stops: each time that a scan stopped, a seal was made over its journal before it went on.

*Reads* the journals, and of the seals which lines they saw. *Never* fails for it: the seals of a scan on another machine
are not in the chain of this one, and a scan that was cut off seals nothing. What no seal saw is the operator's word.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import polars as pl

from penmark import journal
from penmark.records import Seal
from penmark.stages.verify.check_findings import Findings


def check_stops(place: str, one: journal.Journal, seals: dict[str, Seal], found: Findings) -> None:
    """Between the last question after a start and the next question of all some heads seal saw the journal."""
    heads = [seal.journals[place].lines for seal in seals.values() if seal.kind == "heads" and place in seal.journals]
    seen = pl.Series(sorted(heads), dtype=pl.UInt64)
    asked = list(_list_question_spans(one))
    ends = [first for first, _ in asked[1:]] + [one.lines + 1]
    bare = sum(seen.search_sorted(last) == seen.search_sorted(end) for (_, last), end in zip(asked, ends, strict=False))
    if bare:
        got = f"{bare} of {len(asked)} scans ended without a seal: starts and stops are the operator's word"
        found.not_checked(place, got, "Ask the publisher for the seals that were made when the scan stopped.")


def _list_question_spans(one: journal.Journal) -> Iterator[tuple[int, int]]:
    """The lines of the first and of the last question after each start that has one."""
    starts = [start["line"] for start in one.starts]
    lines = one.sent["line"].cast(pl.UInt64).sort()
    for begin, end in pairwise([*(lines.search_sorted(line) for line in starts), lines.len()]):
        if begin < end:
            yield lines[begin], lines[end - 1]
