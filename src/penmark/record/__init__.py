"""Record: answers that exist elsewhere become readings: typed from a screen by people, or kept by somebody in the past.

*Reads* the sealed ground, the journals of the detector, the texts, and a file of answers. *Writes* the detector's
evidence, and then its journal in one group: all rows or none. *Never* dates an answer by itself, makes a second reading
of a pair, or takes an answer about another text for one about this.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from penmark import __version__, cards, evidence, frozen, journal, quoting, reading, study
from penmark.errors import Fault, FaultsError, PenmarkError, UsageError, did_you_mean
from penmark.evidence import Kept
from penmark.frozen import Documents, Ground, Texts
from penmark.journal.writing import untear
from penmark.reading import OTHER_TEXT, Asked, Judged
from penmark.record import mapping as mappings
from penmark.record import rows as files
from penmark.record.mapping import POSITION, Mapping
from penmark.record.rows import Row
from penmark.records import Head
from penmark.study import Edition, Study

MAX_FAULTS = 100
"""So many faults are told at once."""


class Recorded(NamedTuple):
    """What was imported. ``states``: how many readings in which state, declined ones with their reason.

    ``undated``: how many have no date. ``notes``: what the answers show of the texts that were scanned. ``heads``: the
    journal as it stands, by its path in the edition.
    """

    detector: str
    readings: int
    states: dict[str, int]
    undated: int
    notes: list[str]
    heads: dict[str, Head]


@dataclass(frozen=True)
class Import:
    """One file for one detector. ``arm``: the only arm that its rows may be about; needed to go by position."""

    detector: str
    mapping: Mapping | None = None
    arm: str | None = None
    by: str | None = None


def record(place: Study, edition: Edition, path: Path, wanted: Import) -> Recorded:
    """Import a file of answers.

    Raises FaultsError with what is wrong with every row (nothing is written then), UsageError where nothing is
    promised or frozen, or the names do not fit.
    """
    ground = frozen.ground(edition, verb="record")
    known = sorted(ground.cards)
    if wanted.detector not in known:
        raise UsageError(
            f"there is no detector {wanted.detector!r} in the promise{did_you_mean(wanted.detector, known)}",
            remedy=f"It has: {', '.join(known)}.",
        )
    with study.locked(edition.root / "scan.lock", "penmark record"):
        documents = frozen.documents(ground)
        with closing(Texts(place, documents)) as texts:
            rows = files.read(path)
            maker = _Maker(ground, documents, texts, wanted, wanted.mapping or mappings.default(rows[0].body))
            made = maker.make(rows)
        return _write(ground, wanted.detector, path, made)


# --- rows to readings ----------------------------------------------------------------------------------------------


class _Made(NamedTuple):
    line: dict[str, Any]
    kept: Kept | None


class _Maker:
    """Makes a reading of each row, and keeps count of what is wrong."""

    def __init__(self, ground: Ground, documents: Documents, texts: Texts, wanted: Import, mapping: Mapping) -> None:
        self._documents, self._texts, self._wanted, self._mapping = documents, texts, wanted, mapping
        self._card = ground.cards[wanted.detector].card
        self._version_asked = ground.protocol.detector(wanted.detector).version
        self._taken = _taken(ground, wanted.detector)
        if mapping.displayed is None:
            _check_card_reads(self._card.answer.text, mapping.text, "text", wanted.detector)
            _check_card_reads(self._card.answer.version, mapping.version, "version", wanted.detector)
        if wanted.arm is not None and wanted.arm not in documents.arms:
            raise UsageError(
                f"there is no arm {wanted.arm!r}{did_you_mean(wanted.arm, documents.arms)}",
                remedy=f"The manifest has: {', '.join(documents.arms)}.",
            )
        if mapping.document == POSITION and wanted.arm is None:
            raise UsageError("going by position needs an arm", remedy="Name it with --arm NAME.")

    def make(self, rows: list[Row]) -> list[_Made]:
        made: list[_Made] = []
        faults: list[Fault] = []
        seen: dict[int, str] = {}
        for row, position in zip(rows, self._positions(rows), strict=True):
            try:
                at = position if position is not None else self._named(row)
                if at in seen:
                    raise _at(row, f"is the second row about {self._documents.ids[at]}; the first is {seen[at]}")
                seen[at] = row.place
                if (before := self._taken.get(self._documents.ids[at])) is not None:
                    raise _at(
                        row, f"{self._documents.ids[at]} {before}", "A pair has one final reading; leave the row out."
                    )
                made.append(self._reading(row, at))
            except PenmarkError as error:
                faults += [f._replace(place=f.place or row.place) for f in error.faults]
        if faults:
            more = [Fault(None, f"{len(faults) - MAX_FAULTS} more faults")] if len(faults) > MAX_FAULTS else []
            raise FaultsError(faults[:MAX_FAULTS] + more)
        return made

    def _positions(self, rows: list[Row]) -> Iterator[int | None]:
        if self._mapping.document != POSITION:
            return iter([None] * len(rows))
        positions = self._documents.positions(str(self._wanted.arm))
        if len(positions) != len(rows):
            raise PenmarkError(
                f"{len(rows)} rows, and the arm {self._wanted.arm} has {len(positions)} documents",
                place=rows[0].place.rpartition(":")[0],
                remedy="Rows go by position only where there is one for each document, in the order of the ids.",
            )
        return iter(positions)

    def _named(self, row: Row) -> int:
        name = mappings.field_of(row.body, self._mapping.document)
        if name is None:
            raise _at(
                row, f"no document ({self._mapping.document})", "Map the field that holds the id: --map document=…"
            )
        position = self._documents.position(name)
        if position is None:
            shown = name if len(name) <= 80 else name[:79] + "…"
            remedy = "Map the field that holds the id (--map document=…), or go by position: --map document=position"
            raise _at(row, f"there is no document {shown!r} in the manifest", remedy)
        if self._wanted.arm not in (None, self._documents.arm(position)):
            raise _at(row, f"{name} belongs to the arm {self._documents.arm(position)}, not to {self._wanted.arm}")
        return position

    def _field(self, row: Row, pointer: str | None) -> str | None:
        found = None if pointer is None else mappings.field_of(row.body, pointer)
        return None if found is None or found.strip() == "" else found

    def _reading(self, row: Row, position: int) -> _Made:
        given, text = self._field(row, self._mapping.date), self._texts.text(position)
        got_at = None if given is None else mappings.moment(given)
        read_by = self._field(row, self._mapping.read_by) or self._wanted.by
        typed = self._mapping.displayed is not None
        judged, whole = self._typed(row, text) if typed else (reading.judge(self._card, row.body, text), True)
        name = self._documents.ids[position]
        kept = None
        if whole:
            if not self._documents.attested[position]:
                judged = reading.remarked(judged, self._card, row.body, text)
            kept = Kept(self._wanted.detector, name, 1, row.body, self._texts.digest(position, row.body))
        asked = Asked(
            document=name,
            address=self._documents.address(position),
            attempt=1,
            origin="typed" if typed else "recorded",
            sent_at=None,
            version_asked=self._version_asked,
            read_by=read_by,
        )
        sha256 = None if kept is None else kept.sha256
        return _Made(reading.line(asked, judged, at=reading.now(), got_at=got_at, evidence_sha256=sha256), kept)

    def _typed(self, row: Row, text: str) -> tuple[Judged, bool]:
        """The reading that the copied display makes; and True where the row can be kept as its evidence: where the
        card's own pointers read the same from it."""
        shown = self._field(row, self._mapping.displayed)
        if shown is None:
            raise _at(row, f"no display ({self._mapping.displayed})", "Type what the screen showed, word for word.")
        version = self._field(row, self._mapping.version)
        found = cards.from_display(self._card, shown)._replace(version=version)
        scanned = self._field(row, self._mapping.text)
        other = scanned is not None and scanned != text
        judged = Judged("declined", OTHER_TEXT, found) if other else Judged("answered", None, found)
        return judged, reading.judge(self._card, row.body, text)._replace(found=found) == judged and (
            cards.extract(self._card, row.body)._replace(text=None) == found
        )


def _at(row: Row, fact: str, remedy: str | None = None) -> PenmarkError:
    return PenmarkError(fact, place=row.place, remedy=remedy)


def _check_card_reads(card: str | None, mapped: str | None, field: str, detector: str) -> None:
    if mapped is not None and mapped != card:
        says = f"says {card}" if card is not None else "has no such pointer"
        raise UsageError(
            f"the mapping takes the {field} from {mapped}, and the sealed card of {detector} {says}",
            remedy=f"Whoever checks reads the answer by the card: promise it as answer.{field}, or leave the mapping out.",
        )


# --- journal and evidence ------------------------------------------------------------------------------------------


def _taken(ground: Ground, detector: str) -> dict[str, str]:
    """The documents that can have no further reading, and why."""
    taken: dict[str, str] = {}
    for found in _journals(ground, detector):
        taken |= dict.fromkeys(found.skipped["document"], "was skipped as not scannable")
        taken |= dict.fromkeys(found.readings["document"], f"has its final reading already, in {found.path.name}")
    return taken


def _journals(ground: Ground, detector: str) -> Iterator[journal.Journal]:
    own = ground.edition.journals / journal.file_name(detector)
    if own.exists():
        untear(own)
    paths = [p for p in ground.edition.journal_files() if p == own or p.name.startswith(f"{detector}.")]
    for found in journal.read_all([p for p in paths if p.stat().st_size > 0], ground.corpus_sha256):
        if found.detector == detector:
            yield found


def _write(ground: Ground, detector: str, path: Path, made: list[_Made]) -> Recorded:
    kept = evidence.Writer(ground.edition.evidence, detector)
    _settle(ground, detector, kept)
    own = ground.edition.journals / journal.file_name(detector)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    with journal.Writer(own, ground.corpus_sha256) as writer:
        lines = [_start(ground, detector)] if writer.lines == 0 else []
        lines += [each.line for each in made]
        why = f"recorded {len(made)} answers from {path.name}, SHA-256 {digest}"
        lines.append({"at": reading.now(), "kind": "stop", "reason": why})
        kept.append([each.kept for each in made if each.kept is not None])
        writer.append(*lines)
        heads = {f"journal/{own.name}": Head(lines=writer.lines, head=writer.head)}
    answered = [each.line for each in made if each.line["state"] == "answered"]
    others = Counter(f"{each.line['state']}: {each.line['reason']}" for each in made if each.line not in answered)
    states = ({"answered": len(answered)} if answered else {}) | dict(others.most_common())
    undated = sum(line["got_at"] is None for line in answered)
    notes = quoting.told((line["reason"] for line in answered if line["reason"] is not None), len(answered))
    return Recorded(detector, len(made), states, undated, notes, heads)


def _settle(ground: Ground, detector: str, kept: evidence.Writer) -> None:
    """The end of the evidence is answered: an import that was cut off is moved aside, a scan has to come back first."""
    answered: set[tuple[str, int]] = set()
    waiting: set[tuple[str, int]] = set()
    for found in _journals(ground, detector):
        answered |= set(found.readings.select("document", "attempt").iter_rows())
        waiting |= set(found.sent.select("document", "attempt").iter_rows())
    unread = kept.unread(lambda document, attempt: (document, attempt) in answered)
    if any((item.document, item.attempt) in waiting for item in unread):
        raise UsageError(
            f"a scan of {detector} was cut off, and answers that it had are not in its journal yet",
            remedy=f"Run `penmark scan --detector {detector}` first: it keeps them.",
        )
    kept.drop(unread)


def _start(ground: Ground, detector: str) -> dict[str, Any]:
    plugin = ground.cards[detector].plugin
    return {
        "at": reading.now(),
        "card_sha256": ground.card_sha256[detector],
        "detector": detector,
        "kind": "start",
        "plugin": None if plugin is None else plugin.model_dump(),
        "shard": "1/1",
        "software": f"penmark {__version__}",
    }
