"""Where one detector stands: which documents are done, which were sent without an answer on record. The journal decides.

*Reads* the journals of a detector. *Writes* nothing. *Never* counts an answer that no journal holds.
"""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import polars as pl

from penmark import journal
from penmark.cards import Misses
from penmark.corpus.sealed_edition import Documents
from penmark.errors import PenmarkError, UsageError
from penmark.journal import STOPPED, Journal
from penmark.records import Head
from penmark.stages.scan.budget import MAYBE


class Open(NamedTuple):
    """A document that was sent and has no reading: the last attempt, when, and whether its failure is on record.

    ``unused``: that attempt was made in vain for a reason that has nothing to do with the document, or not at all.
    """

    attempt: int
    sent_at: str
    failed: bool
    unused: bool = False


class Change(NamedTuple):
    """A version that differs from the one expected, in the answer about ``document``."""

    expected: str
    seen: str
    document: str


@dataclass
class JournalState:
    """``done``: one byte for each document, 1 where it has a reading or is skipped. ``counts``: by state of the readings,
    and ``skipped``. ``heads``: each journal as it stands, by file. ``last_at``: the latest time in it. ``sure``, ``maybe``:
    the positions of the calls that were charged for by what is on record, and of those that may have been."""

    done: bytearray
    open: dict[int, Open] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    changes: list[Change] = field(default_factory=list)
    last_version: str | None = None
    last_at: str | None = None
    heads: dict[str, Head] = field(default_factory=dict)
    sure: array[int] = field(default_factory=lambda: array("L"))
    maybe: array[int] = field(default_factory=lambda: array("L"))


def read_journal_state(
    folder: Path, detector: str, shard: str, documents: Documents, first_prev: str, misses: Misses | None = None
) -> JournalState:
    """The standing of ``detector`` from its journals in ``folder``; other shards of the same division are not looked at.
    ``misses`` is given every answer, where it is wanted.

    Raises FaultsError for a broken journal, UsageError where the detector was scanned in another division.
    """
    found = JournalState(bytearray(len(documents)))
    paths = [folder / journal.name_journal(detector, part) for part in dict.fromkeys(("1/1", shard))]
    _one_division(folder, detector, shard)
    names = pl.DataFrame(
        {"document": documents.ids, "position": pl.int_range(len(documents), dtype=pl.UInt32, eager=True)},
        schema_overrides={"document": pl.String},
    )
    for path in paths:
        if path.exists() and path.stat().st_size > 0:
            one = journal.read_journal(path, first_prev)
            if shard != "1/1" and one.shard == "1/1" and one.sent.height + one.skipped.height > 0:
                _refuse_other_division(path, detector)
            _take_journal(found, one, names)
            if misses is not None:
                answered = one.readings.filter(pl.col("state") == "answered")
                for document, score, label in answered.select("document", "score", "label").iter_rows():
                    misses.add(document, score, label)
    return found


def name_sealed_journal(path: Path) -> str:
    """The name by which a seal knows a journal."""
    return f"journal/{path.name}"


def _one_division(folder: Path, detector: str, shard: str) -> None:
    whole = shard.partition("/")[2]
    for path in folder.glob(f"{detector}.*of*.jsonl"):
        part, _, other = path.name.removeprefix(f"{detector}.").removesuffix(".jsonl").partition("of")
        if part.isdigit() and other.isdigit() and other != whole:
            _refuse_other_division(path, detector)


def _refuse_other_division(path: Path, detector: str) -> None:
    raise UsageError(
        f"the scan of {detector} was begun in another division, and each document is asked about once",
        place=str(path),
        remedy="Go on with the same --shard i/W as before (without it, if there was none).",
    )


def _take_journal(found: JournalState, one: Journal, names: pl.DataFrame) -> None:
    found.heads[name_sealed_journal(one.path)] = Head(lines=one.lines, head=one.head)
    readings = _place_documents(one, one.readings, names)
    _require_single_readings(one, readings)
    for position in readings["position"]:
        found.done[position] = 1
    found.counts.update(dict(readings["state"].value_counts().iter_rows()))
    skipped = _place_documents(one, one.skipped, names)
    for position in skipped["position"]:
        found.done[position] = 1
    found.counts["skipped"] += skipped.height
    _note_open_questions(found, one, readings, names)
    _note_charges(found, _place_documents(one, one.retries, names), readings)
    found.maybe.extend(_find_lost_questions(one, readings, names))
    _note_version_changes(found, readings)
    ends = [f["at"][-1] for f in (one.sent, one.retries, one.skipped, one.readings) if f.height > 0]
    ends += [each["at"] for each in (*one.starts[-1:], *one.stops[-1:])]
    ends += [] if found.last_at is None else [found.last_at]
    found.last_at = max(ends, key=lambda at: at.rstrip("Z"))


def _note_open_questions(found: JournalState, one: Journal, readings: pl.DataFrame, names: pl.DataFrame) -> None:
    """Note what was sent and has no reading."""
    unanswered = one.sent.join(readings.select("document"), on="document", how="anti", maintain_order="left")
    unanswered = _place_documents(one, unanswered.group_by("document", maintain_order=True).last(), names)
    retries = one.retries.group_by("document", maintain_order=True).last()
    joined = unanswered.join(retries.select("document", "reason", failed_in="line"), on="document", how="left")
    columns = ("position", "attempt", "at", "line", "reason", "failed_in")
    for position, attempt, at, line, reason, failed_in in joined.select(columns).iter_rows():
        if not found.done[position]:
            failed = failed_in is not None and failed_in > line
            found.open[position] = Open(attempt, at, failed, failed and reason.startswith(STOPPED))


def _find_lost_questions(one: Journal, readings: pl.DataFrame, names: pl.DataFrame) -> list[int]:
    """The position of each question that has no end on record, whether its text was asked about again or not: it may have
    been charged for."""
    scanned = readings.filter(pl.col("origin") == "scan")
    ends = pl.concat([scanned.select("document"), one.retries.select("document")]).group_by("document").len("ends")
    asked = one.sent.group_by("document", maintain_order=True).agg(pl.len().alias("asked"), pl.col("line").last())
    both = _place_documents(one, asked, names).join(ends, on="document", how="left", maintain_order="left")
    counts = both.select("position", lost=pl.col("asked").cast(pl.Int64) - pl.col("ends").fill_null(0).cast(pl.Int64))
    return [position for position, lost in counts.iter_rows() for _ in range(lost)]


def _note_charges(found: JournalState, retries: pl.DataFrame, readings: pl.DataFrame) -> None:
    """An answer was charged for. What was declined may have been, and what failed where it says so."""
    scanned = readings.filter(pl.col("origin") == "scan")
    found.sure.extend(scanned.filter(pl.col("state") == "answered")["position"])
    for rows in (retries, scanned.filter(pl.col("state") == "failed")):
        found.maybe.extend(rows.filter(pl.col("reason").str.ends_with(MAYBE))["position"])
    found.maybe.extend(scanned.filter(pl.col("state") == "declined")["position"])


def _require_single_readings(one: Journal, readings: pl.DataFrame) -> None:
    pair = ["document", "version"]
    again = readings.filter(~pl.struct(pair).is_first_distinct())
    if again.height > 0:
        raise PenmarkError(
            f"a second final reading of {again['document'][0]}",
            place=one.place(again["line"][0]),
            remedy="A pair has one final reading: restore the journal from a copy.",
        )


def _place_documents(one: Journal, frame: pl.DataFrame, names: pl.DataFrame) -> pl.DataFrame:
    placed = frame.join(names, on="document", how="left", maintain_order="left")
    lost = placed.filter(pl.col("position").is_null())
    if lost.height > 0:
        raise PenmarkError(
            f"the document {lost['document'][0]} is not in the manifest",
            place=one.place(lost["line"][0]),
            remedy="Restore the journal that belongs to this edition.",
        )
    return placed


def _note_version_changes(found: JournalState, readings: pl.DataFrame) -> None:
    """The first reading of each version but the first, in their order; a version that is not reported changes nothing."""
    told = readings.filter(pl.col("version").is_not_null())
    if told.height == 0:
        return
    asked = told["version_asked"][0]
    known = asked if asked is not None else told["version"][0]
    before = pl.col("version").shift(1, fill_value=known)
    changed = told.with_columns(before=before).filter(pl.col("version") != known)
    for row in changed.unique("version", keep="first", maintain_order=True).iter_rows(named=True):
        found.changes.append(Change(row["before"], row["version"], row["document"]))
    found.last_version = told["version"][-1]
