"""The lines of one detector's journals, set against the manifest; and what in them would make the numbers wrong.

*Reads* the columns of its journals. *Writes* nothing. *Never* repairs: a pair with two answers is a fault, not a choice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import polars as pl

from penmark.errors import Fault
from penmark.journal import Journal, make_schema
from penmark.study.csv_files import escape_cell

MOST_VERSIONS = 100
"""Versions of a detector at most: all documents have a row under each."""
_MAX_FAULTS = 20
_REMEDY = "A journal is never edited by hand; restore it from where it came."


class Lines:
    """The lines of all journals of one detector. ``doc``: the position of the document, null where the manifest has no
    such name; ``at_line``: the place of the line, which sorts by journal, then line."""

    def __init__(self, journals: Sequence[Journal], ids: pl.DataFrame) -> None:
        self.journals, self._ids = journals, ids
        self.documents = ids.height

    def _read_texts(self, kind: str, held: Iterable[pl.DataFrame]) -> pl.DataFrame:
        frames = [pl.DataFrame(schema=make_schema(kind)), *held]
        placed = [
            frame.with_columns(at_line=pl.col("line").cast(pl.UInt64) + (max(number - 1, 0) << 32))
            for number, frame in enumerate(frames)
        ]
        return pl.concat(placed).join(self._ids, on="document", how="left", maintain_order="left")

    @cached_property
    def sent(self) -> pl.DataFrame:
        """``sent`` lines."""
        return self._read_texts("sent", (journal.sent for journal in self.journals))

    @cached_property
    def retries(self) -> pl.DataFrame:
        """``retry`` lines."""
        return self._read_texts("retry", (journal.retries for journal in self.journals))

    @cached_property
    def skipped(self) -> pl.DataFrame:
        """``skipped`` lines."""
        return self._read_texts("skipped", (journal.skipped for journal in self.journals))

    @cached_property
    def readings(self) -> pl.DataFrame:
        """``reading`` lines; ``said``: the number of the version by first appearance, 0 for those that failed, and for those
        that declined under a version that never answered."""
        frame = self._read_texts("reading", (journal.readings for journal in self.journals)).with_columns(
            _make_version_expression()
        )
        number = pl.lit(0, dtype=pl.UInt32)
        for at, version in enumerate(self.versions[1:], 1):
            is_it = pl.col("version").eq_missing(pl.lit(version, dtype=pl.String)) & (pl.col("state") != "failed")
            number = pl.when(is_it).then(pl.lit(at, dtype=pl.UInt32)).otherwise(number)
        return frame.with_columns(said=number)

    @cached_property
    def versions(self) -> list[str | None]:
        """The versions that answered, in order of first appearance; [None] where there is none."""
        found: dict[str | None, None] = {}
        for journal in self.journals:
            spoken = (
                journal.readings.filter(pl.col("state") == "answered").select(_make_version_expression()).to_series()
            )
            found |= dict.fromkeys(spoken.unique(maintain_order=True).to_list())
        return list(found) or [None]

    def asked_as(self, number: int) -> str | None:
        """The version that was asked for where this version first answered or declined."""
        itself = pl.col("version").eq_missing(pl.lit(self.versions[number], dtype=pl.String))
        rows = self.readings.filter(itself & (pl.col("state") != "failed"))
        asked: str | None = rows.get_column("version_asked").item(0) if rows.height else None
        return asked

    def last(self, frame: pl.DataFrame, name: str) -> pl.Series:
        """The value of the last row of each document in ``frame``, by position; null where it has none."""
        held = frame.get_column(name)
        return pl.repeat(None, self.documents, dtype=held.dtype, eager=True).scatter(frame.get_column("doc"), held)

    def first(self, frame: pl.DataFrame, name: str) -> pl.Series:
        """As ``last``, of the first row."""
        return self.last(frame.reverse(), name)

    def rows(self, frame: pl.DataFrame) -> pl.Series:
        """The number of the (last) row of each document in ``frame``, by position; null where it has none."""
        return self.last(frame.select("doc").with_row_index("row"), "row")

    def place(self, at_line: int) -> str:
        """``…/journal/zippy.jsonl:17``."""
        return self.journals[at_line >> 32].place(at_line & 0xFFFFFFFF)


def _make_version_expression() -> pl.Expr:
    """The version of a reading; an empty text names none."""
    return pl.when(pl.col("version") != "").then("version")


def _of_versions(lines: Lines) -> Iterable[str]:
    known = lines.versions
    if len(known) > MOST_VERSIONS:
        yield f"{len(known)} versions answered; {MOST_VERSIONS} at most"
    elif len({escape_cell("" if version is None else version) for version in known}) < len(known):
        yield "two versions are written alike in a table"


def find_journal_faults(lines: Lines, addresses: pl.Series) -> list[Fault]:
    """What in these journals would make the numbers wrong; up to 20 faults, by place."""
    for fact in _of_versions(lines):
        remedy = "Look what the card's pointer `answer.version` finds: a version is the same in many answers."
        return [Fault(str(lines.journals[0].path), fact, remedy)]
    sent, readings, skipped = lines.sent, lines.readings, lines.skipped
    every = {"sent": sent, "retry": lines.retries, "skipped": skipped, "reading": readings}
    found = [(frame.filter(pl.col("doc").is_null()), "{} is no document of the manifest") for frame in every.values()]
    if not any(frame.height for frame, _ in found):
        found = list(_of_pairs(lines, addresses))
    listed = [
        (row["at_line"], fact.format(row["document"]))
        for frame, fact in found
        for row in frame.select("at_line", "document").head(_MAX_FAULTS).iter_rows(named=True)
    ]
    return [Fault(lines.place(at), fact, _REMEDY) for at, fact in sorted(listed)[:_MAX_FAULTS]]


def _of_pairs(lines: Lines, addresses: pl.Series) -> Iterable[tuple[pl.DataFrame, str]]:
    sent, readings, skipped = lines.sent, lines.readings, lines.skipped
    frozen = addresses.gather(readings.get_column("doc"))
    yield readings.filter(readings.get_column("address") != frozen), "the address is not that of {} in the manifest"
    pair = pl.col("said").cast(pl.UInt64) * lines.documents + pl.col("doc")
    yield readings.filter(pair.is_first_distinct().not_()), "a second final reading of {}"
    yield skipped.filter(pl.col("doc").is_first_distinct().not_()), "{} is skipped twice"
    read = lines.first(readings, "at_line")
    yield skipped.filter(read.gather(skipped.get_column("doc")).is_not_null()), "{} is skipped, and has a reading"
    ended = pl.select(pl.min_horizontal(read, lines.first(skipped, "at_line"))).to_series()
    late = sent.get_column("at_line") > ended.gather(sent.get_column("doc"))
    yield sent.filter(late.fill_null(False)), "{} is sent again after its reading, or after it was skipped"
    yield _find_unsent(lines), "the reading of {} follows no `sent` line of its attempt"


def _find_unsent(lines: Lines) -> pl.DataFrame:
    """Readings of a scan before which their document was not sent for that attempt."""
    scanned = lines.readings.filter(pl.col("origin") == "scan")
    doc = scanned.get_column("doc")
    attempt, at = lines.last(lines.sent, "attempt").gather(doc), lines.last(lines.sent, "at_line").gather(doc)
    usual = (attempt == scanned.get_column("attempt")) & (at < scanned.get_column("at_line"))
    left = scanned.filter(~usual.fill_null(False))
    if left.is_empty():
        return left
    before = lines.sent.select("doc", "attempt", sent_line=pl.col("at_line")).unique(["doc", "attempt"], keep="first")
    both = left.join(before, on=["doc", "attempt"], how="left", maintain_order="left")
    return both.filter(pl.col("sent_line").is_null() | (pl.col("sent_line") > pl.col("at_line")))
