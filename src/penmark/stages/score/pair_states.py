"""One detector against the manifest: which of its versions answered, and the state of every pair.

*Reads* the lines of its journals. *Writes* nothing.
*Never* leaves a document out: one that no line names is *not run*.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from penmark.records import Card, Detector, Rule, VersionState
from penmark.stages.score.call_columns import call_columns
from penmark.stages.score.journal_checks import Lines

STATES = ("answered", "declined", "failed", "in_doubt", "not_scannable", "not_run")
NO_RESULT = ("declined", "failed", "in_doubt")

_SAID = ("displayed", "score", "label", "got_at", "sent_at", "origin", "read_by", "evidence_sha256")
_PAIRS = (
    *("state", "displayed", "score", "label", "call", "call_lenient", "uncertain", "reason", "scanned_at"),
    *("sent_at", "origin", "attempts", "read_by", "evidence_sha256", "uncalled"),
)


@dataclass(frozen=True)
class Version:
    """One version of one detector over all documents.

    ``pairs`` has one row a document, in manifest order: the columns of readings.csv from ``state`` to
    ``evidence_sha256`` but for ``boundary`` and ``operator``, which are ``rule``; and ``uncertain``, and ``uncalled``: an
    answer without a call. ``first``: the version that pairs without an answer belong to. ``first_scanned_at``,
    ``last_scanned_at``: over answered readings.
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


def list_versions(lines: Lines, detector: Detector, card: Card, rule: Rule) -> list[Version]:
    """Each version of a detector whose journals have no faults, in order of first appearance."""
    judged = _add_calls(lines.readings, card, rule)
    found = []
    for number, version in enumerate(lines.versions):
        own = judged if len(lines.versions) == 1 else judged.filter(pl.col("said") == number)
        first_at, last_at = _find_time_span(own)
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
                pairs=_make_pairs(lines, own, number),
            )
        )
    return found


def _add_calls(readings: pl.DataFrame, card: Card, rule: Rule) -> pl.DataFrame:
    """The readings with their calls: an answer without a call is declined, and its reason says why; of others it is the
    remark of the reading."""
    answered = readings.get_column("state") == "answered"
    calls = call_columns(readings.select("score", "label"), card, rule)
    heard = readings.select("doc", "said", "state", "reason", *_SAID).hstack(calls)
    why_not = pl.col("why_not")
    return heard.with_columns(
        *(pl.when(answered).then(pl.col(name)).alias(name) for name in ("call", "call_lenient", "uncertain")),
        state=pl.when(answered & why_not.is_not_null()).then(pl.lit("declined")).otherwise(pl.col("state")),
        reason=pl.when(answered).then(pl.coalesce(why_not, "reason")).otherwise(pl.col("reason")),
        was_answered=answered,
        uncalled=answered & why_not.is_not_null(),
    )


def _version_state(number: int, version: str | None, asked: str | None) -> VersionState:
    if version is None:
        return "not_reported"
    if number > 0:
        return "changed"
    return "as_asked" if version == asked else "floating"


def sort_times(time: str) -> pl.Expr:
    """The times in the column ``time`` as texts that sort as they do: with six digits of the second."""
    column = pl.col(time).str.strip_suffix("Z")
    return column.str.slice(0, 19) + pl.lit(".") + column.str.slice(20).str.pad_end(6, "0")


def _find_time_span(own: pl.DataFrame) -> tuple[str | None, str | None]:
    """The first and last ``got_at`` of the answered readings; of equal moments that of the first and last document."""
    times = own.filter("was_answered", pl.col("got_at").is_not_null()).select(
        "doc", "got_at", moment=sort_times("got_at")
    )
    if times.is_empty():
        return None, None
    least, most = times["moment"].min(), times["moment"].max()
    ends = times.filter(pl.col("moment").is_in([least, most])).sort("moment", "doc")
    return ends["got_at"].item(0), ends["got_at"].item(-1)


def _make_pairs(lines: Lines, own: pl.DataFrame, number: int) -> pl.DataFrame:
    held = own.select(pl.all().gather(lines.rows(own)))
    quiet = _list_unanswered(lines, number)
    silent = quiet.select(pl.all().gather(lines.rows(quiet)).name.suffix("_silent"))
    origin = held.get_column("origin")
    counts = (origin == "scan").fill_null(False)
    if number == 0:  # what was sent and not answered belongs to the first version
        elsewhere = lines.first(lines.readings.filter(pl.col("origin") == "scan"), "at_line")
        counts |= origin.is_null() & elsewhere.is_null()
    sent = lines.sent.group_by("doc").agg(pl.len().alias("attempts"))
    known = pl.col("state").is_not_null()
    return (
        held.hstack(silent)
        .with_columns(lines.last(sent, "attempts").alias("attempts"), counts.alias("counts"))
        .with_columns(
            state=pl.coalesce("state", "state_silent", pl.lit("not_run")).cast(pl.Enum(STATES)),
            reason=pl.when(known).then("reason").otherwise(pl.coalesce("reason_silent", pl.lit("not asked"))),
            uncertain=pl.col("uncertain").fill_null(False),
            uncalled=pl.col("uncalled").fill_null(False),
            attempts=pl.when("counts").then("attempts").fill_null(0),
            scanned_at=pl.col("got_at"),
        )
        .select(_PAIRS)
    )


def _list_unanswered(lines: Lines, number: int) -> pl.DataFrame:
    """``doc``, ``state``, ``reason`` of documents that this version did not answer, but of which something is known.

    Of several rows of a document the last holds: answered under another version, in doubt, not scannable.
    """
    other = lines.readings.filter((pl.col("state") != "failed") & (pl.col("said") != number)).sort("said")
    names = pl.Series([f"answered under version {version or ''}" for version in lines.versions])
    reasons = names.gather(other.get_column("said")).alias("reason")
    known = [other.select("doc", reasons, state=pl.lit("not_run")).select("doc", "state", "reason").reverse()]
    if number == 0:
        read = lines.first(lines.readings.filter(pl.col("said") == 0), "at_line")
        left = lines.sent.filter(read.gather(lines.sent.get_column("doc")).is_null())
        scanned = lines.readings.filter(pl.col("origin") == "scan")
        for answered in (lines.retries, scanned):
            left = left.join(answered, on=["doc", "attempt"], how="anti", maintain_order="left")
        told = pl.format("sent at {}, no answer on record", "at")
        known.append(left.select("doc", state=pl.lit("in_doubt"), reason=told))
        known.append(lines.skipped.select("doc", state=pl.lit("not_scannable"), reason="reason"))
    return pl.concat(known)
