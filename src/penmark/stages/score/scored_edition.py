"""The whole of an edition, scored: documents, versions, and how the answers stand in time to the promise.

*Reads* protocol.json, detectors/, manifest.jsonl, the promise and corpus seals, journal/. *Writes* nothing.
*Never* scores what is not whole: a fault that could make a number wrong ends it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import polars as pl
from pydantic import ValidationError

from penmark import cards, journal, protocol, study
from penmark.cards.judge import OTHER_TEXT, UNREAD
from penmark.errors import Fault, FaultsError, PenmarkError, UsageError, suggest_name
from penmark.format import canonical_json
from penmark.journal import Journal
from penmark.records import Card, Detector, Head, Protocol, Rule
from penmark.stages.score import document_columns
from penmark.stages.score.journal_checks import Lines, find_journal_faults
from penmark.stages.score.pair_states import Version, list_versions, sort_times
from penmark.study import Edition, seal_files

ANSWER = (
    (pl.col("state") == "answered")
    | pl.col("displayed").is_not_null()
    | (pl.col("reason") == OTHER_TEXT)
    | pl.col("reason").str.starts_with(UNREAD)
).fill_null(False)
"""The readings that have an answer, as ``reading.is_answer`` says of one."""


@dataclass(frozen=True)
class Scored:
    """An edition, scored. ``document_columns``: one row a document, the columns of documents.csv, in manifest order.

    ``versions``: by detector's name, then by first appearance. ``heads``: lines and last digest of each journal, by
    file name. ``boundaries``: those that were asked for instead of the promised ones ({} in earnest).
    """

    protocol: Protocol
    documents: pl.DataFrame
    versions: tuple[Version, ...]
    timing: Literal["prospective", "retrospective"]
    heads: dict[str, Head]
    boundaries: dict[str, str]

    @property
    def level(self) -> str:
        """The level of every interval: "0.95"."""
        return self.protocol.level

    def pairs(self) -> pl.DataFrame:
        """Every pair in one frame: ``detector``, ``version``, ``document``, ``arm``, the columns of Version.pairs."""
        held = self.documents.select(pl.col("id").alias("document"), "arm")
        return pl.concat(
            held.select(
                pl.lit(v.detector.name).alias("detector"),
                pl.lit(v.version, dtype=pl.String).alias("version"),
                "document",
                "arm",
            ).hstack(v.pairs)
            for v in self.versions
        )


def score_edition(
    edition: Edition, boundaries: Mapping[str, str] | None = None, *, journals: Iterable[Journal] | None = None
) -> Scored:
    """Score an edition, or a bundle. ``boundaries``: other boundaries by detector, for a what-if. ``journals``: those of
    the edition, all of them, by whoever has read them already.

    Raises PenmarkError or FaultsError naming file and line for whatever would make a number wrong; UsageError for a
    boundary that names no detector or does not fit its scale.
    """
    promised = protocol.read_sealed(edition)
    judging = {d.name: _read_card_and_rule(edition, d, boundaries or {}) for d in promised.detectors}
    if unknown := set(boundaries or {}) - set(judging):
        name = min(unknown)
        raise UsageError(
            f"there is no detector {name}{suggest_name(name, judging)}",
            place="--boundary",
            remedy=f"Name one of {', '.join(sorted(judging))}.",
        )
    frozen = _Frozen(
        edition,
        promised,
        document_columns.read_document_columns(edition, promised),
        seal_files.read_seal(edition, "promise").sealed_at,
    )
    wrong: list[Fault] = []
    heads: dict[str, Head] = {}
    found: dict[str, Future[_Judged]] = {}
    with ThreadPoolExecutor(1) as beside:  # the journals of the next detector are read while one is judged
        for name, held in _by_detector(edition, judging, journals, wrong):
            heads |= {j.path.name: Head(lines=j.lines, head=j.head) for j in held}
            found[name] = beside.submit(frozen.judge, name, held, *judging[name])
    each = {name: found[name].result() for name in sorted(found)}
    wrong += (fault for one in each.values() for fault in one.faults)
    if wrong:
        raise FaultsError(wrong[: journal.MAX_FAULTS])
    return Scored(
        protocol=promised,
        documents=frozen.documents,
        versions=tuple(version for one in each.values() for version in one.versions),
        timing="retrospective" if any(one.late for one in each.values()) else "prospective",
        heads=heads,
        boundaries=dict(boundaries or {}),
    )


class _Judged(NamedTuple):
    """One detector: what is wrong with its journals, or its versions; ``late`` where answers are older than the promise."""

    faults: list[Fault]
    versions: list[Version]
    late: bool


@dataclass(frozen=True)
class _Frozen:
    """What the answers are held against."""

    edition: Edition
    promised: Protocol
    documents: pl.DataFrame
    sealed_at: str

    def judge(self, name: str, held: list[Journal], card: Card, rule: Rule) -> _Judged:
        """The detector ``name`` by its journals."""
        ids = self.documents.select(
            pl.col("id").alias("document"), pl.int_range(pl.len(), dtype=pl.UInt32).alias("doc")
        )
        lines = Lines(held, ids)
        wrong = [
            *_other_card(self.edition, name, held),
            *find_journal_faults(lines, self.documents.get_column("address")),
        ]
        if wrong:
            return _Judged(wrong, [], False)
        found = list_versions(lines, self.promised.detector(name), card, rule)
        return _Judged([], found, _any_before(lines.readings, self.sealed_at))


def _by_detector(
    edition: Edition, known: Mapping[str, Any], given: Iterable[Journal] | None, wrong: list[Fault]
) -> Iterator[tuple[str, list[Journal]]]:
    """The journals of each detector of the protocol, [] where it has none, as they are read."""

    def order(path: Path) -> tuple[bytes, bytes]:
        stem = path.name.removesuffix(".jsonl")
        owner = stem if stem in known else re.sub(r"\.[0-9]+of[0-9]+$", "", stem)
        return owner.encode(), path.name.encode()

    if given is None:
        first_prev = canonical_json.sha256(study.read_bytes(edition.seal("corpus")))
        every = journal.read_journals(sorted(edition.journal_files(), key=order), first_prev)
    else:
        every = iter(sorted(given, key=lambda one: order(one.path)))
    seen: set[str] = set()
    for name, group in itertools.groupby(every, key=lambda one: one.detector):
        held = list(group)
        seen.add(name)
        if name in known:
            yield name, held
        else:
            remedy = "Only detectors that were committed are scored; take it out."
            wrong.append(Fault(str(held[0].path), f"the protocol has no detector {name}", remedy))
    yield from ((name, []) for name in known if name not in seen)


def _other_card(edition: Edition, name: str, given: list[Journal]) -> list[Fault]:
    sealed = canonical_json.sha256(study.read_bytes(edition.sealed_card(name)))
    return [
        Fault(
            one.place(start["line"]),
            f"was made by another card than the sealed detectors/{name}.json",
            "Restore the sealed card; answers of another card belong to another edition.",
        )
        for one in given
        for start in one.starts
        if start["card_sha256"] != sealed
    ]


def _any_before(readings: pl.DataFrame, sealed_at: str) -> bool:
    """Whether an answer is older than the promise, or undated."""
    times = readings.filter(ANSWER).get_column("got_at")
    second = times.str.slice(0, 19)
    if times.null_count() > 0 or (second < sealed_at[:19]).any():
        return True
    near = pl.DataFrame({"got_at": times.filter(second == sealed_at[:19])})
    limit = pl.DataFrame({"at": [sealed_at]}).select(sort_times("at")).item()
    return near.select((sort_times("got_at") < limit).any()).item() is True


# --- the rule --------------------------------------------------------------------------------------------------------


def _read_card_and_rule(edition: Edition, detector: Detector, boundaries: Mapping[str, str]) -> tuple[Card, Rule]:
    card = cards.read_sealed_card(edition, detector.name).card
    rule = cards.choose_rule(detector, card)
    if detector.name not in boundaries:
        return card, rule
    return card, change_boundary(detector, card, rule, boundaries[detector.name])


def change_boundary(detector: Detector, card: Card, promised: Rule, boundary: str) -> Rule:
    """The promised rule with another boundary, which says of itself that it is not the promised one.

    Raises UsageError where ``boundary`` is no decimal number, or the card has no scale for it to lie on.
    """
    place = f"--boundary {detector.name}={boundary}"
    if card.scale is None:
        raise UsageError(
            f"{detector.name} shows verdicts, no number", place=place, remedy="It has no boundary to move."
        )
    operator = promised.operator or (">=" if card.scale.direction == "ai" else "<=")
    source = f"what if: not the promised rule ({promised})"
    try:
        rule = Rule(kind="boundary", operator=operator, value=boundary, source=source, date=promised.date)
        return cards.choose_rule(detector.model_copy(update={"rule": rule}), card)
    except ValidationError:
        raise UsageError("is not a decimal number", place=place, remedy="Write it as in 0.65.") from None
    except PenmarkError as error:
        raise UsageError(error.faults[0].fact, place=place, remedy=error.faults[0].remedy) from None
