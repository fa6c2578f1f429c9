"""Check 5, hours: when things were asked and answered, and that it fits the promised window, the seals and each other.

*Reads* the times of one journal. *Never* believes that two clocks agree to the second, or that a typed date has its zone.
"""

from __future__ import annotations

from datetime import timedelta

import polars as pl

from penmark import journal, timestamps
from penmark.errors import PenmarkError
from penmark.records import Protocol, Seal
from penmark.stages.score.scored_edition import ANSWER
from penmark.stages.verify.check2_seals import Sealed, seal_tokens
from penmark.stages.verify.check2_seals.seal_tokens import DAY
from penmark.stages.verify.check_findings import Findings

_IMPOSSIBLE = "One of the two times was made up. Ask the publisher."


def check_times(place: str, one: journal.Journal, promised: Protocol, sealed: Sealed, found: Findings) -> None:
    """Scans lie inside the promised window, after the corpus seal and before the evidence seal; no answer is older than
    its question, or younger than the line that has it; no line is younger than a seal over it."""
    readings = one.readings
    scanned = readings.filter(readings["origin"] == "scan")
    try:
        for times in (one.sent["at"], scanned["sent_at"].drop_nulls(), scanned["got_at"].drop_nulls()):
            if (span := _find_span(place, times)) is not None:
                _check_window(place, span, promised, sealed.seals, found)
        if (span := _find_span(place, one.sent["at"])) is not None:
            _seen_before(place, span[0], sealed, found)
        _promised_before(place, readings.filter(ANSWER)["got_at"].drop_nulls(), sealed, found)
        _check_time_order(place, scanned, "got_at", "sent_at", seal_tokens.CLOCK, found)
        _check_time_order(place, scanned, "at", "got_at", seal_tokens.CLOCK, found)
        _check_time_order(place, readings.filter(readings["origin"] != "scan"), "at", "got_at", DAY, found)
        _sealed_later(place, one, sealed.seals, found)
    except PenmarkError as error:
        found.error(error)


def _find_span(place: str, times: pl.Series) -> tuple[str, str] | None:
    """The earliest and the latest time; None where there is none. Raises PenmarkError where it is no time."""
    if times.is_empty():
        return None
    # Without its Z a time sorts as text: the shorter of two that are alike is the earlier.
    bare = times.str.strip_suffix("Z").sort()
    first, last = f"{bare[0]}Z", f"{bare[-1]}Z"
    for at in (first, last):
        seal_tokens.check_time(at, place)
    return first, last


def _check_time_order(
    place: str, rows: pl.DataFrame, later: str, earlier: str, spare: timedelta, found: Findings
) -> None:
    """In each row the time ``later`` is not before ``earlier``, give or take ``spare``."""
    # Texts of times sort as the times do, to the second: only those that are the wrong way round are looked at.
    wrong = rows.filter(pl.col(later).str.head(19) < pl.col(earlier).str.head(19))
    for line, document, one, other in wrong.select("line", "document", later, earlier).iter_rows():
        where = f"{place}:{line}"
        for at in (one, other):
            seal_tokens.check_time(at, where)
        if timestamps.parse_rfc3339(one) + spare < timestamps.parse_rfc3339(other):
            got = f"{document}: {later} {one}, {earlier} {other}"
            found.failed(where, got, f"{later} after {earlier}", _IMPOSSIBLE)


def _sealed_later(place: str, one: journal.Journal, seals: dict[str, Seal], found: Findings) -> None:
    """The lines that a seal covers were there when it was made."""
    frames = [frame.select("at", "line") for frame in (one.sent, one.retries, one.skipped, one.readings)]
    ends = pl.DataFrame(
        [{"at": each["at"], "line": each["line"]} for each in (*one.starts, *one.stops)],
        schema={"at": pl.String, "line": pl.UInt32},
    )
    lines = pl.concat([*frames, ends])
    for name, seal in seals.items():
        head = seal.journals.get(place)
        if head is None:
            continue
        held = lines.filter((pl.col("line") <= head.lines) & (pl.col("at").str.head(19) > seal.sealed_at[:19]))
        if (span := _find_span(place, held["at"])) is None:
            continue
        if timestamps.parse_rfc3339(span[1]) > timestamps.parse_rfc3339(seal.sealed_at) + seal_tokens.CLOCK:
            expected = f"before {seal.sealed_at}, when seals/{name}.json was made over it"
            found.failed(place, f"a line of {span[1]}", expected, _IMPOSSIBLE)


def _check_window(
    place: str, span: tuple[str, str], promised: Protocol, seals: dict[str, Seal], found: Findings
) -> None:
    first, last = span
    opens, closes = promised.window.opens, promised.window.closes
    if first[:10] < opens or last[:10] > closes:
        got, expected = f"scanned from {first} to {last}", f"from {opens} to {closes}"
        found.failed(place, got, expected, "Scanned outside the promised window.")
    if "corpus" in seals and timestamps.parse_rfc3339(first) < timestamps.parse_rfc3339(seals["corpus"].sealed_at):
        expected = f"after the corpus seal, {seals['corpus'].sealed_at}"
        found.failed(place, f"scanned at {first}", expected, "Asked before the freeze.")
    if "evidence" in seals and timestamps.parse_rfc3339(last) > timestamps.parse_rfc3339(seals["evidence"].sealed_at):
        expected = f"before the evidence seal, {seals['evidence'].sealed_at}"
        found.failed(place, f"scanned at {last}", expected, "Asked after the evidence seal.")


def _seen_before(place: str, first: str, sealed: Sealed, found: Findings) -> None:
    """What was asked about, and by which rules, others had before the first question."""
    for name, stamped in sealed.stamped.items():
        if name in ("promise", "corpus") and timestamps.parse_rfc3339(
            first
        ) + seal_tokens.CLOCK < timestamps.parse_rfc3339(stamped):
            expected = f"after seals/{name}.json, {stamped} by its token"
            remedy = "Nobody else saw what was frozen before it was asked about: it may have been chosen afterwards."
            found.failed(place, f"asked at {first}", expected, remedy)


def _promised_before(place: str, answered: pl.Series, sealed: Sealed, found: Findings) -> None:
    """Where others saw the promise only after an answer, the promise's own time does not make the edition prospective."""
    stamped, promise = sealed.stamped.get("promise"), sealed.seals.get("promise")
    if stamped is None or promise is None:
        return
    later = answered.filter(answered.str.strip_suffix("Z") >= promise.sealed_at.removesuffix("Z"))
    if (span := _find_span(place, later)) is not None and timestamps.parse_rfc3339(
        span[0]
    ) + seal_tokens.CLOCK < timestamps.parse_rfc3339(stamped):
        expected = f"after the promise, {stamped} by its token"
        found.failed(place, f"answered at {span[0]}", expected, "The rules were written after the answers existed.")
