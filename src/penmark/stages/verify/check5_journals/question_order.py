"""Check 5, turns: each question has its place after the one before, and nothing is asked that the promise rules out.

*Reads* the journals of one detector. *Never* takes an attempt for another, however often it is written down.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import polars as pl

from penmark import journal
from penmark.records import Detector, Protocol
from penmark.stages.verify.check_findings import Findings

_WRITES = "The journal is not what a scan writes."


class _Event(NamedTuple):
    """Something that happened to one document: ``file`` and ``line`` say when. ``reason``: of a retry."""

    file: int
    line: int
    kind: str
    attempt: int
    reason: str | None
    place: str


def check_order(own: list[journal.Journal], promised: Protocol, detector: Detector, found: Findings) -> None:
    """Every question is answered by a reading or a retry before the next; none is asked more often than promised, or after
    a change of version that was to end the scan."""
    events: defaultdict[str, list[_Event]] = defaultdict(list)
    for number, one in enumerate(own):
        place = f"journal/{one.path.name}"
        readings = one.readings.filter(one.readings["origin"] == "scan")
        odd = _find_odd_documents(one, readings)
        for kind, frame in (("sent", one.sent), ("retry", one.retries), ("reading", readings)):
            rows = frame if len(own) > 1 else frame.filter(pl.col("document").is_in(odd.implode()))
            reason = "reason" if kind == "retry" else pl.lit(None, dtype=pl.String).alias("reason")
            for document, attempt, line, why in rows.select("document", "attempt", "line", reason).iter_rows():
                events[document].append(_Event(number, line, kind, attempt, why, f"{place}:{line}"))
        if promised.on_version_change == "stop":
            _check_version_change(place, one, readings, detector, found)
    _check_repeats(own, promised, detector, found)
    for document, happened in events.items():
        for where, got, expected in _in_turn(sorted(happened), promised):
            found.failed(where, f"{document}: {got}", expected, _WRITES)


def _check_repeats(own: list[journal.Journal], promised: Protocol, detector: Detector, found: Findings) -> None:
    """A question that was stopped uses up no attempt; how often that was so is told."""
    if not own:
        return
    asked = pl.concat([one.sent.select("document") for one in own]).group_by("document", maintain_order=True).len()
    often = [f"{name} ({count})" for name, count in asked.filter(pl.col("len") > promised.attempts).iter_rows()]
    if often:
        got = f"asked about more often than {promised.attempts} times, since it was stopped: {', '.join(often)}"
        found.not_checked(f"journal/{detector.name}", got, "The retry lines of the journal say why it was stopped.")


def _find_odd_documents(one: journal.Journal, readings: pl.DataFrame) -> pl.Series:
    """The documents about which more happened than one question, and at most its answer."""
    return pl.concat(
        [
            one.retries["document"],
            one.sent.filter(pl.col("document").is_duplicated() | (pl.col("attempt") != 1))["document"],
            readings.filter(pl.col("document").is_duplicated() | (pl.col("attempt") != 1))["document"],
        ]
    ).unique()


def _in_turn(happened: Iterable[_Event], promised: Protocol) -> Iterator[tuple[str, str, str]]:
    """Place, fact and what would be right, of each event about one document that has no place there."""
    left: set[int] = set()
    file, following = -1, 1
    for event in happened:
        attempt, place = event.attempt, event.place
        if event.kind != "sent":
            if attempt not in left and event.kind == "retry":
                yield place, f"attempt {attempt} is to be made again", "a question before it that nothing answers"
            left.discard(attempt)
            if event.reason is not None and event.reason.startswith(journal.STOPPED):
                following = attempt
            continue
        if attempt in left or (left and not promised.ask_again_in_doubt):
            yield place, "sent again, the question before is not answered", "a pair in doubt is left so, as promised"
        if attempt > promised.attempts:
            yield place, f"attempt {attempt}", f"at most {promised.attempts}, as promised"
        elif attempt != following and file in (-1, event.file):  # which of two shards came first is not known
            yield (
                place,
                f"attempt {attempt}",
                f"attempt {following}: one more than before, but for those that were stopped",
            )
        left.add(attempt)
        file, following = event.file, attempt + 1


def _check_version_change(
    place: str, one: journal.Journal, readings: pl.DataFrame, detector: Detector, found: Findings
) -> None:
    """Where the promise says that a change of version ends the scan, nothing is asked behind the answer that shows it."""
    told = readings.filter((pl.col("state") == "answered") & pl.col("version").is_not_null())
    if told.is_empty():
        return
    known = [told["version"][0], *([] if detector.version is None else [detector.version])]
    other = told.filter(~pl.col("version").is_in(known))
    if other.is_empty():
        return
    version, line = other.select("version", "line").row(0)
    asked = one.sent.filter(pl.col("line") > line)
    if asked.height:
        got = f"{asked['document'][0]} is asked about after the version became {version} (line {line})"
        expected = "no more questions: the promise says that a change of version stops the scan"
        found.failed(f"{place}:{asked['line'][0]}", got, expected, "Ask the publisher why it went on.")
