"""One detector's journals against the manifest: which version answered, and the state of every pair.

*Reads* the columns of its journals. *Writes* nothing.
*Never* leaves a document out: one that no line names is *not run*.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from penmark.errors import Fault
from penmark.journal import Journal, schema
from penmark.records import Card, Detector, Rule, VersionState
from penmark.scoring.calling import called

STATES = ("answered", "declined", "failed", "in_doubt", "not_scannable", "not_run")
NO_RESULT = ("declined", "failed", "in_doubt")

_MAX_FAULTS = 20
_REMEDY = "A journal is never edited by hand; restore it from where it came."
_CALLS = ("call", "call_lenient", "uncertain")
_SAID = ("displayed", "score", "label", "got_at", "sent_at", "origin", "read_by", "evidence_sha256")
_PAIRS = (
    *("state", "displayed", "score", "label", *_CALLS, "reason", "scanned_at"),
    *("sent_at", "origin", "attempts", "read_by", "evidence_sha256"),
)


@dataclass(frozen=True)
class Version:
    """One version of one detector over all documents.

    ``pairs`` has one row a document, in manifest order: the columns of readings.csv from ``state`` to
    ``evidence_sha256`` but for ``boundary`` and ``operator``, which are ``rule``; and ``uncertain``. ``first``: the
    version that pairs without an answer belong to. ``first_scanned_at`` and ``last_scanned_at`` are over its answered readings.
    """

    detector: Detector
    card: Card
    rule: Rule
    version: str | None
    state: VersionState
    first: bool
    first_scanned_at: str | None
    last_scanned_at: str | None
    pairs: pl.DataFrame

    @property
    def name(self) -> str:
        """The detector, and the version where it is known, for people."""
        return self.detector.name if self.version is None else f"{self.detector.name} {self.version}"


class Lines:
    """The lines of all journals of one detector. ``doc``: the position of the document, null where the manifest has none
    of that name; ``at_line``: the place of the line, which sorts by journal, then line."""

    def __init__(self, journals: Sequence[Journal], ids: pl.DataFrame) -> None:
        self.journals, self._ids = journals, ids

    def _all(self, kind: str, held: Iterable[pl.DataFrame]) -> pl.DataFrame:
        frames = [pl.DataFrame(schema=schema(kind)), *held]
        placed = [
            frame.with_columns(at_line=pl.col("line").cast(pl.UInt64) + (max(number - 1, 0) << 32))
            for number, frame in enumerate(frames)
        ]
        return pl.concat(placed).join(self._ids, on="document", how="left", maintain_order="left")

    @cached_property
    def sent(self) -> pl.DataFrame:
        """``sent`` lines."""
        return self._all("sent", (journal.sent for journal in self.journals))

    @cached_property
    def retries(self) -> pl.DataFrame:
        """``retry`` lines."""
        return self._all("retry", (journal.retries for journal in self.journals))

    @cached_property
    def skipped(self) -> pl.DataFrame:
        """``skipped`` lines."""
        return self._all("skipped", (journal.skipped for journal in self.journals))

    @cached_property
    def readings(self) -> pl.DataFrame:
        """``reading`` lines; ``said``: the number of the version, by first appearance; failed ones belong to the first."""
        frame, versions = self._all("reading", (journal.readings for journal in self.journals)), self.versions
        number = pl.lit(0, dtype=pl.UInt32)
        for at, version in enumerate(versions[1:], 1):
            is_it = pl.col("version").eq_missing(pl.lit(version, dtype=pl.String)) & (pl.col("state") != "failed")
            number = pl.when(is_it).then(pl.lit(at, dtype=pl.UInt32)).otherwise(number)
        return frame.with_columns(said=number)

    @cached_property
    def versions(self) -> list[str | None]:
        """The versions that answered or declined, in order of first appearance; [None] where there is none."""
        found: dict[str | None, None] = {}
        for journal in self.journals:
            spoken = journal.readings.filter(pl.col("state") != "failed").get_column("version")
            found |= dict.fromkeys(spoken.unique(maintain_order=True).to_list())
        return list(found) or [None]

    def asked_as(self, number: int) -> str | None:
        """The version that was asked for where this version first answered."""
        rows = self.readings.filter((pl.col("said") == number) & (pl.col("state") != "failed"))
        asked: str | None = rows.get_column("version_asked").item(0) if rows.height else None
        return asked

    def place(self, at_line: int) -> str:
        """``…/journal/zippy.jsonl:17``."""
        return self.journals[at_line >> 32].place(at_line & 0xFFFFFFFF)


def faults(lines: Lines, addresses: pl.Series) -> list[Fault]:
    """What in these journals would make the numbers wrong; up to 20 faults, by place."""
    sent, readings, skipped = lines.sent, lines.readings, lines.skipped
    found: list[tuple[pl.DataFrame, str]] = [
        (frame.filter(pl.col("doc").is_null()), "{} is no document of the manifest")
        for frame in (sent, lines.retries, skipped, readings)
    ]
    frozen = readings.select(pl.lit(addresses).gather(pl.col("doc"))).to_series()
    found.append((readings.filter(pl.col("address") != frozen), "the address is not that of {} in the manifest"))
    again = pl.struct("said", "doc").is_first_distinct().not_()
    found.append((readings.filter(again), "a second final reading of {}"))
    found.append((skipped.filter(pl.col("doc").is_duplicated()), "{} is skipped twice"))
    ended = pl.concat([readings.select("doc", "at_line"), skipped.select("doc", "at_line")])
    found.append((skipped.join(readings, on="doc", how="semi"), "{} is skipped, and has a reading"))
    ends = ended.group_by("doc").agg(pl.col("at_line").min().alias("end"))
    late = sent.join(ends, on="doc", how="inner").filter(pl.col("at_line") > pl.col("end"))
    found.append((late, "{} is sent again after its reading, or after it was skipped"))
    found.append((_unsent(sent, readings), "the reading of {} follows no `sent` line of its attempt"))
    listed = [
        (row["at_line"], fact.format(row["document"]))
        for frame, fact in found
        for row in frame.select("at_line", "document").head(_MAX_FAULTS).iter_rows(named=True)
    ]
    return [Fault(lines.place(at), fact, _REMEDY) for at, fact in sorted(listed)[:_MAX_FAULTS]]


def _unsent(sent: pl.DataFrame, readings: pl.DataFrame) -> pl.DataFrame:
    scanned = readings.filter(pl.col("origin") == "scan").select("doc", "attempt", "at_line", "document")
    before = sent.select("doc", "attempt", sent_line=pl.col("at_line")).unique(["doc", "attempt"], keep="first")
    both = scanned.join(before, on=["doc", "attempt"], how="left")
    return both.filter(pl.col("sent_line").is_null() | (pl.col("sent_line") > pl.col("at_line")))


def versions(lines: Lines, detector: Detector, card: Card, rule: Rule, documents: int) -> list[Version]:
    """Each version of a detector whose journals have no faults, in order of first appearance."""
    readings = lines.readings
    answered = readings.get_column("state") == "answered"
    calls = called(
        readings.select(pl.when(answered).then(pl.col(name)).alias(name) for name in ("score", "label")), card, rule
    )
    heard = readings.select("doc", "state", "origin", "said", "reason", "version", *_SAID[:5], *_SAID[6:]).hstack(calls)
    judged = heard.with_columns(
        *(pl.when(answered).then(pl.col(name)).alias(name) for name in _CALLS),
        state=pl.when(answered & pl.col("why_not").is_not_null()).then(pl.lit("declined")).otherwise(pl.col("state")),
        reason=pl.when(answered).then(pl.col("why_not")).otherwise(pl.col("reason")),
        was_answered=answered,
    )
    names, found = lines.versions, []
    for number, version in enumerate(names):
        own = judged.filter(pl.col("said") == number)
        first_at, last_at = _span(own)
        found.append(
            Version(
                detector=detector,
                card=card,
                rule=rule,
                version=version,
                state=_version_state(number, version, lines.asked_as(number)),
                first=number == 0,
                first_scanned_at=first_at,
                last_scanned_at=last_at,
                pairs=_pairs(lines, own, number, documents),
            )
        )
    return found


def _version_state(number: int, version: str | None, asked: str | None) -> VersionState:
    if version is None:
        return "not_reported"
    if number > 0:
        return "changed"
    return "as_asked" if version == asked else "floating"


def moment(time: str) -> pl.Expr:
    """The times in the column ``time`` as texts that sort as they do: with six digits of the second."""
    column = pl.col(time).str.strip_suffix("Z")
    return column.str.slice(0, 19) + pl.lit(".") + column.str.slice(20).str.pad_end(6, "0")


def _span(own: pl.DataFrame) -> tuple[str | None, str | None]:
    """The first and last ``got_at`` of the answered readings; of equal moments that of the first and last document."""
    times = own.filter("was_answered", pl.col("got_at").is_not_null()).select("doc", "got_at", moment=moment("got_at"))
    if times.is_empty():
        return None, None
    ends = times.filter(pl.col("moment").is_in([times["moment"].min(), times["moment"].max()])).sort("moment", "doc")
    return ends["got_at"].item(0), ends["got_at"].item(-1)


def _pairs(lines: Lines, own: pl.DataFrame, number: int, documents: int) -> pl.DataFrame:
    asked = lines.sent.group_by("doc").agg(pl.len().cast(pl.UInt32).alias("attempts"))
    silent = _silent(lines, number).join(own, on="doc", how="anti")
    rows = pl.DataFrame({"doc": pl.int_range(documents, dtype=pl.UInt32, eager=True)})
    joined = rows.join(own, on="doc", how="left", maintain_order="left")
    joined = joined.join(silent, on="doc", how="left", maintain_order="left", suffix="_silent")
    joined = joined.join(asked, on="doc", how="left", maintain_order="left")
    if number == 0:
        elsewhere = lines.readings.filter(pl.col("origin") == "scan").select("doc", scanned=pl.lit(True)).unique()
        joined = joined.join(elsewhere, on="doc", how="left", maintain_order="left")
        counts = (
            pl.when(pl.col("origin").is_null()).then(pl.col("scanned").is_null()).otherwise(pl.col("origin") == "scan")
        )
    else:
        counts = (pl.col("origin") == "scan").fill_null(False)
    return joined.with_columns(
        state=pl.coalesce("state", "state_silent", pl.lit("not_run")).cast(pl.Enum(STATES)),
        reason=pl.when(pl.col("state").is_not_null())
        .then("reason")
        .otherwise(pl.coalesce("reason_silent", pl.lit("not asked"))),
        uncertain=pl.col("uncertain").fill_null(False),
        attempts=pl.when(counts).then("attempts").fill_null(0),
        scanned_at=pl.col("got_at"),
    ).select(_PAIRS)


def _silent(lines: Lines, number: int) -> pl.DataFrame:
    """``doc``, ``state``, ``reason`` of documents that this version did not answer, but of which something is known."""
    other = lines.readings.filter((pl.col("state") != "failed") & (pl.col("said") != number))
    named = pl.format("answered under version {}", pl.col("version").fill_null(""))
    other = other.sort("said").unique("doc", keep="first").select("doc", state=pl.lit("not_run"), reason=named)
    if number > 0:
        return other
    skipped = lines.skipped.select("doc", state=pl.lit("not_scannable"), reason="reason")
    answered = pl.concat([lines.retries, lines.readings.filter(pl.col("origin") == "scan")], how="diagonal")
    open_ = lines.sent.join(answered, on=["doc", "attempt"], how="anti", maintain_order="left")
    at = pl.format("sent at {}, no answer on record", pl.col("at").last())
    doubt = (
        open_.group_by("doc")
        .agg(reason=at)
        .select("doc", "reason", state=pl.lit("in_doubt"))
        .select("doc", "state", "reason")
    )
    return pl.concat([skipped, doubt, other]).unique("doc", keep="first", maintain_order=True)
