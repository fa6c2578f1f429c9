"""Where typed and recorded readings go: the detector's evidence, then its journal, in one group.

*Reads* the journals of the detector and the end of its evidence. *Writes* both. *Never* writes a part of a group; never
takes back a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from penmark import journal
from penmark.cards import judge
from penmark.corpus.sealed_edition import SealedEdition
from penmark.errors import UsageError, suggest_name
from penmark.journal import evidence_log
from penmark.journal.append_log import move_torn_end
from penmark.journal.evidence_log import Kept
from penmark.records import Head


def check_promised(ground: SealedEdition, detector: str) -> None:
    """Raises UsageError where ``detector`` is not in the promise."""
    known = sorted(ground.cards)
    if detector not in known:
        raise UsageError(
            f"there is no detector {detector!r} in the promise{suggest_name(detector, known)}",
            remedy=f"It has: {', '.join(known)}.",
        )


def list_taken(ground: SealedEdition, detector: str) -> dict[str, str]:
    """The documents that can have no further reading, and why."""
    found: dict[str, str] = {}
    for one in _read_journals(ground, detector):
        found |= dict.fromkeys(one.skipped["document"], "was skipped as not scannable")
        found |= dict.fromkeys(one.readings["document"], f"has its final reading already, in {one.path.name}")
    return found


def version(ground: SealedEdition, detector: str) -> str | None:
    """The version that the first answer on record names; None where none does."""
    for one in _read_journals(ground, detector):
        told = one.readings.filter((pl.col("state") == "answered") & pl.col("version").is_not_null())
        if told.height > 0:
            return str(told["version"][0])
    return None


def write_readings(
    ground: SealedEdition, detector: str, lines: Sequence[dict[str, Any]], kept: Sequence[Kept], why: str
) -> dict[str, Head]:
    """Write the evidence, then the lines and a stop line that says ``why``; the journal as it stands then, by its path."""
    writer = evidence_log.EvidenceWriter(ground.edition.evidence, detector)
    _settle_evidence(ground, detector, writer)
    own = ground.edition.journals / journal.name_journal(detector)
    with journal.JournalWriter(own, ground.corpus_sha256) as written:
        first = [_make_start_line(ground, detector)] if written.lines == 0 else []
        writer.append(kept)
        written.append(*first, *lines, {"at": judge.get_time_now(), "kind": "stop", "reason": why})
        return {f"journal/{own.name}": Head(lines=written.lines, head=written.head)}


def _read_journals(ground: SealedEdition, detector: str) -> Iterator[journal.Journal]:
    own = ground.edition.journals / journal.name_journal(detector)
    if own.exists():
        move_torn_end(own)
    paths = [p for p in ground.edition.journal_files() if p == own or p.name.startswith(f"{detector}.")]
    for found in journal.read_journals([p for p in paths if p.stat().st_size > 0], ground.corpus_sha256):
        if found.detector == detector:
            yield found


def _settle_evidence(ground: SealedEdition, detector: str, kept: evidence_log.EvidenceWriter) -> None:
    """The end of the evidence is answered: an import that was cut off is moved aside, a scan has to come back first."""
    answered: set[tuple[str, int]] = set()
    waiting: set[tuple[str, int]] = set()
    for found in _read_journals(ground, detector):
        answered |= set(found.readings.select("document", "attempt").iter_rows())
        waiting |= set(found.sent.select("document", "attempt").iter_rows())
    unread = kept.unread(lambda document, attempt: (document, attempt) in answered)
    if any((item.document, item.attempt) in waiting for item in unread):
        raise UsageError(
            f"a scan of {detector} was cut off, and answers that it had are not in its journal yet",
            remedy=f"Run `penmark scan --detector {detector}` first: it keeps them.",
        )
    kept.drop(unread)


def _make_start_line(ground: SealedEdition, detector: str) -> dict[str, Any]:
    card, digest = ground.cards[detector], ground.card_sha256[detector]
    number = ground.protocol.format
    return journal.make_start_line(detector, card, digest, shard="1/1", at=judge.get_time_now(), number=number)
