"""Where one detector stands: which documents are done, which were sent without an answer on record. The journal decides.

*Reads* the journals of a detector. *Writes* nothing. *Never* counts an answer that no journal holds.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import polars as pl

from penmark import journal
from penmark.errors import PenmarkError, UsageError
from penmark.frozen import Documents
from penmark.journal import Journal
from penmark.records import Head


class Open(NamedTuple):
    """A document that was sent and has no reading: the last attempt, when, and whether its failure is on record."""

    attempt: int
    sent_at: str
    failed: bool


class Change(NamedTuple):
    """A version that differs from the one expected, in the answer about ``document``."""

    expected: str
    seen: str
    document: str


@dataclass
class Standing:
    """``done``: one byte for each document, 1 where it has a reading or is skipped. ``counts``: by state of the readings,
    and ``skipped``. ``heads``: each journal as it stands, by file."""

    done: bytearray
    open: dict[int, Open] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    changes: list[Change] = field(default_factory=list)
    last_version: str | None = None
    heads: dict[str, Head] = field(default_factory=dict)


def look(folder: Path, detector: str, shard: str, documents: Documents, first_prev: str) -> Standing:
    """The standing of ``detector`` from its journals in ``folder``; other shards of the same division are not looked at.

    Raises FaultsError for a broken journal, UsageError where the detector was scanned in another division.
    """
    found = Standing(bytearray(len(documents)))
    paths = [folder / journal.file_name(detector, part) for part in dict.fromkeys(("1/1", shard))]
    _one_division(folder, detector, shard)
    names = pl.DataFrame(
        {"document": documents.ids, "position": pl.int_range(len(documents), dtype=pl.UInt32, eager=True)},
        schema_overrides={"document": pl.String},
    )
    for path in paths:
        if path.exists() and path.stat().st_size > 0:
            one = journal.read(path, first_prev)
            if shard != "1/1" and one.shard == "1/1" and one.sent.height + one.skipped.height > 0:
                _refuse(path, detector)
            _take(found, one, names)
    return found


def file_of(path: Path) -> str:
    """The name by which a seal knows a journal."""
    return f"journal/{path.name}"


def _one_division(folder: Path, detector: str, shard: str) -> None:
    whole = shard.partition("/")[2]
    for path in folder.glob(f"{detector}.*of*.jsonl"):
        part, _, other = path.name.removeprefix(f"{detector}.").removesuffix(".jsonl").partition("of")
        if part.isdigit() and other.isdigit() and other != whole:
            _refuse(path, detector)


def _refuse(path: Path, detector: str) -> None:
    raise UsageError(
        f"the scan of {detector} was begun in another division, and each document is asked about once",
        place=str(path),
        remedy="Go on with the same --shard i/W as before (without it, if there was none).",
    )


def _take(found: Standing, one: Journal, names: pl.DataFrame) -> None:
    found.heads[file_of(one.path)] = Head(lines=one.lines, head=one.head)
    readings = _placed(one, one.readings, names)
    for position in readings["position"]:
        found.done[position] = 1
    found.counts.update(dict(readings["state"].value_counts().iter_rows()))
    skipped = _placed(one, one.skipped, names)
    for position in skipped["position"]:
        found.done[position] = 1
    found.counts["skipped"] += skipped.height
    last = one.sent.group_by("document", maintain_order=True).last()
    failed = set(one.retries.select("document", "attempt").iter_rows())
    unanswered = _placed(one, last, names).join(readings.select("document"), on="document", how="anti")
    for row in unanswered.iter_rows(named=True):
        if not found.done[row["position"]]:
            known = (row["document"], row["attempt"]) in failed
            found.open[row["position"]] = Open(row["attempt"], row["at"], known)
    _versions(found, readings)


def _placed(one: Journal, frame: pl.DataFrame, names: pl.DataFrame) -> pl.DataFrame:
    placed = frame.join(names, on="document", how="left", maintain_order="left")
    lost = placed.filter(pl.col("position").is_null())
    if lost.height > 0:
        raise PenmarkError(
            f"the document {lost['document'][0]} is not in the manifest",
            place=one.place(lost["line"][0]),
            remedy="Restore the journal that belongs to this edition.",
        )
    return placed


def _versions(found: Standing, readings: pl.DataFrame) -> None:
    """Each change of version among the readings, in their order; a version that is not reported changes nothing."""
    told = readings.filter(pl.col("version").is_not_null())
    if told.height == 0:
        return
    asked = told["version_asked"][0]
    before = pl.col("version").shift(1, fill_value=asked if asked is not None else told["version"][0])
    for row in told.with_columns(before=before).filter(pl.col("version") != pl.col("before")).iter_rows(named=True):
        found.changes.append(Change(row["before"], row["version"], row["document"]))
    found.last_version = told["version"][-1]
