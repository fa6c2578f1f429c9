"""Checks 6 and 7: every scheduled pair has one state and a reason; the tables are what follows, byte for byte.

*Reads* protocol, manifest, journals by way of ``score``, and tables/. *Never* takes a count from a table that it holds
against the count.
"""

from __future__ import annotations

import contextlib
import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import polars as pl

from penmark import study
from penmark.errors import PenmarkError
from penmark.journal import Journal
from penmark.stages import score
from penmark.stages.score import tables as made
from penmark.stages.verify import first_difference
from penmark.stages.verify.check5_journals import Read
from penmark.stages.verify.check_findings import Findings
from penmark.study import seal_files

_LEFT_OUT = "A pair without an answer is a column, not a gap. Ask the publisher."
_FOLLOWS = "The table does not follow from protocol, manifest and journals."
_WARNINGS = "tables/warnings.csv"
_BLOCK = 2**20
_COUNTS = ("n", "no_result", "not_scannable", "not_run")


class Computed(NamedTuple):
    """An edition, scored again from what was promised, frozen and answered; and all its tables, by path: None for those
    that the bundle has, byte for byte."""

    scored: score.Scored
    tables: dict[str, bytes | None]


def compute_edition(edition: study.Edition, read: Read) -> Computed:
    """Score the edition, whose journals are read already, and make its tables. Raises as ``score.score_edition``, and what could
    not be read."""
    scored = score.score_edition(edition, journals=_require_journals(read))
    departures = edition.tables / "departures.csv"
    given = study.read_bytes(departures) if departures.is_file() else None
    return Computed(
        scored,
        made.map_tables(
            scored, given, lambda path, data: None if _is_same_content(edition.root / path, data) else data
        ),
    )


def _require_journals(read: Read) -> Iterator[Journal]:
    yield from read.journals
    if read.error is not None:
        raise read.error


def check_complete(scored: score.Scored, found: Findings) -> None:
    """Check 6: every scheduled pair has a state, and one that is not answered says why."""
    pairs = scored.pairs()
    silent = pairs.filter((pl.col("state") != "answered") & (pl.col("reason").fill_null("") == ""))
    for row in silent.iter_rows(named=True):
        subject = f"journal/{row['detector']}, {row['document']}"
        found.failed(subject, f"{row['state']} without a reason", "a reason", "Ask the publisher why.")
    if found.clean:
        states = sorted(pairs["state"].value_counts().iter_rows())
        counts = ", ".join(f"{n} {state.replace('_', ' ')}" for state, n in states)
        found.ok("pairs", f"{pairs.height} pairs of detector and document: {counts}")
    if scored.timing == "retrospective":
        why = "retrospective: the rules were written after the answers existed"
        found.not_checked("the edition", why, "Read the numbers as a reanalysis.")


def check_tables(edition: study.Edition, again: Computed, six: Findings, seven: Findings) -> None:
    """Check 7; where a table differs, check 6 looks whether pairs were left out of it."""
    expected = dict(again.tables)
    unknown = {"tables/departures.csv"} - set(expected)
    if not seal_files.is_by_our_rules(edition):
        unknown.add(_WARNINGS)
        expected.pop(_WARNINGS, None)
        why = f"the evidence was sealed {seal_files.describe_rules(edition)}, and rules say what is a warning"
        gone = "" if (edition.root / _WARNINGS).is_file() else ", and that there is none"
        seven.not_checked(_WARNINGS, why + gone, "Use the release that the seal names.")
    for path, data in sorted(expected.items()):
        if data is None:
            continue
        try:
            got = study.read_bytes(edition.root / path)
        except PenmarkError as error:
            seven.error(error)
            continue
        seven.failed(*first_difference.find_first_difference(path, got, data), _FOLLOWS)
        if path in ("tables/readings.csv", "tables/rates.csv", "tables/rates_lenient.csv"):
            for place, fact in _check_published_table(path, got, data):
                six.failed(place, fact, "every pair of the manifest, in one state", _LEFT_OUT)
    extra = sorted({f"tables/{p.name}" for p in study.own(edition.tables)} - set(expected) - unknown)
    for path in extra:
        seven.failed(path, "is a table that nothing computes", "the computed tables only", "Remove it.")
    if seven.clean:
        seven.ok("tables", f"{len(expected)} tables, byte for byte")


def _is_same_content(path: Path, data: bytes) -> bool:
    """Whether a file is there and holds ``data``; read piece by piece."""
    at = 0
    with contextlib.suppress(PenmarkError):
        for block in study.read_blocks(path, _BLOCK):
            if not data.startswith(block, at):
                return False
            at += len(block)
        return at == len(data)
    return False


# --- what a table that differs leaves out ------------------------------------------------------------------------------


def _check_published_table(path: str, got: bytes, expected: bytes) -> Iterator[tuple[str, str]]:
    """Place and fact of what is missing, twice, or does not add up in a table as it was published."""
    try:
        theirs, ours = _parse_rows(got), _parse_rows(expected)
        if path == "tables/readings.csv":
            yield from _check_readings(path, theirs, ours)
        else:
            yield from _check_rates(path, theirs)
    except (ValueError, KeyError, csv.Error, UnicodeDecodeError) as error:
        yield path, f"cannot be counted ({error})"


def _check_readings(path: str, theirs: list[dict[str, str]], ours: list[dict[str, str]]) -> Iterator[tuple[str, str]]:
    key = ("detector", "version", "document", "arm")
    there = Counter(tuple(row[name] for name in key) for row in theirs)
    wanted = Counter(tuple(row[name] for name in key) for row in ours)
    for pair in sorted((wanted - there).keys()):
        yield path, f"leaves out {' / '.join(pair)}"
    for pair in sorted((there - wanted).keys()):
        yield path, f"has {' / '.join(pair)}, which is no pair or stands there already"
    for number, row in enumerate(theirs, 2):
        answered = row["state"] == "answered"
        if (row["call"] != "") != answered or (row["reason"] == "" and not answered):
            yield f"{path}:{number}", f"{row['document']} is {row['state']}, without call and reason that fit"


def _check_rates(path: str, theirs: list[dict[str, str]]) -> Iterator[tuple[str, str]]:
    for number, row in enumerate(theirs, 2):
        counted = sum(int(row[name]) for name in _COUNTS)
        if counted != int(row["documents"]):
            yield f"{path}:{number}", f"{counted} pairs of {row['documents']} documents"


def _parse_rows(data: bytes) -> list[dict[str, str]]:
    rows = csv.reader(io.StringIO(data.decode("utf-8"), newline=""), strict=True)
    header = next(rows, [])
    found = list(rows)
    if any(len(row) != len(header) for row in found):
        raise ValueError("a row has more or fewer cells than the header")
    return [dict(zip(header, row, strict=True)) for row in found]
