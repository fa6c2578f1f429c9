"""Record: answers that exist elsewhere become readings: typed from a screen by people, or kept by somebody in the past.

*Reads* the sealed ground, the journals of the detector, the texts, and a file of answers. *Writes* the detector's
evidence, and then its journal in one group: all rows or none. *Never* dates an answer by itself, makes a second reading
of a pair, or takes an answer about another text for one about this.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from penmark import cards, frozen, quoting, reading, study
from penmark.errors import Fault, FaultsError, PenmarkError, UsageError, did_you_mean
from penmark.evidence import Kept
from penmark.frozen import Documents, Ground, Texts
from penmark.reading import OTHER_TEXT, Asked, Judged
from penmark.record import admitting, keeping, pictures, twice
from penmark.record import mapping as mappings
from penmark.record import rows as files
from penmark.record.admitting import Again, Made
from penmark.record.mapping import POSITION, Mapping
from penmark.record.numbers import Numbers
from penmark.record.pictures import Picture
from penmark.record.rows import Row
from penmark.records import Head
from penmark.study import Edition, Study

MAX_FAULTS = 100
"""So many faults are told at once."""


class Recorded(NamedTuple):
    """What was imported. ``states``: how many readings in which state, declined ones with their reason.

    ``undated``: how many have no date. ``notes``: the remarks on the answers, counted: what they show of the texts that
    were scanned. ``heads``: the journal as it stands, by its path in the edition. ``otherwise``: what went otherwise than
    promised. The others are as in ``twice.Merged``, ``settled`` with the documents' ids; ``screenshots``: how many pictures
    were kept.
    """

    detector: str
    readings: int
    states: dict[str, int]
    undated: int
    notes: list[str]
    heads: dict[str, Head]
    otherwise: tuple[str, ...] = ()
    blank: int = 0
    once: int = 0
    one_hand: int = 0
    settled: tuple[str, ...] = ()
    screenshots: int = 0


@dataclass(frozen=True)
class Import:
    """One file for one detector. ``arm``: the only arm that its rows may be about; needed to go by position.

    Of readings that people typed: ``second``: the table in which they were typed again; ``settlements``: what counts
    where the two differ; ``screenshots``: the folder of the pictures.

    What is refused unless somebody says so. ``retrospective``: answers that make the edition so. ``as_displayed``:
    displays that come to no call. ``elsewhere``: answers for a detector that is asked by a program.
    """

    detector: str
    mapping: Mapping | None = None
    arm: str | None = None
    by: str | None = None
    second: Path | None = None
    settlements: Path | None = None
    screenshots: Path | None = None
    retrospective: bool = False
    as_displayed: bool = False
    elsewhere: bool = False

    def files(self, first: Path) -> list[Path]:
        """The tables, the first of them first."""
        return [path for path in (first, self.second, self.settlements) if path is not None]


def record(place: Study, edition: Edition, path: Path, wanted: Import) -> Recorded:
    """Import a file of answers.

    Raises FaultsError with what is wrong with every row (nothing is written then), UsageError where nothing is
    promised or frozen, or the names do not fit.
    """
    ground = frozen.ground(edition, verb="record")
    keeping.promised(ground, wanted.detector)
    if not wanted.elsewhere:
        admitting.asked_of_people(ground, wanted.detector)
    with study.locked(edition.root / "scan.lock", "penmark record"):
        documents = frozen.documents(ground)
        rows = files.read(path)
        typed = _typed_rows(place, ground, documents, rows, wanted)
        mapping = wanted.mapping or mappings.default(rows[0].body) if typed is None else twice.SHEET
        if typed is None:
            mappings.check(mapping, rows[0].body, ground.cards[wanted.detector].card)
        with closing(Texts(place, documents)) as texts:
            maker = _Maker(ground, documents, texts, wanted, mapping, None if typed is None else typed.numbers)
            made = maker.make(rows if typed is None else typed.merged.rows)
        _admitted(ground, wanted, [each.reading for each in made])
        if typed is not None:
            pictures.keep(edition, typed.pictures)
        named = " and ".join(f"{each.name}, SHA-256 {_digest(each)}" for each in wanted.files(path))
        why = f"recorded {len(made)} answers from {named}"
        lines, kept = [each.reading.line for each in made], [each.kept for each in made if each.kept is not None]
        heads = keeping.write(ground, wanted.detector, lines, kept, why)
    done = _told(wanted.detector, lines, heads, typed)
    outside = _outside(ground, lines) if typed is not None else None
    return done if outside is None else done._replace(otherwise=(outside,))


def _admitted(ground: Ground, wanted: Import, made: Sequence[Made]) -> None:
    """Raises FaultsError with what becomes final only where somebody says so."""
    card = ground.cards[wanted.detector].card
    rule = cards.rule_in_force(ground.protocol.detector(wanted.detector), card)
    faults = [] if wanted.retrospective else [*admitting.timed(ground, made)]
    faults += [] if wanted.as_displayed else [*admitting.called(card, rule, made)]
    _refuse(faults)


def _refuse(faults: list[Fault]) -> None:
    if faults:
        more = [Fault(None, f"{len(faults) - MAX_FAULTS} more faults")] if len(faults) > MAX_FAULTS else []
        raise FaultsError(faults[:MAX_FAULTS] + more)


class _Typed(NamedTuple):
    merged: twice.Merged
    numbers: Numbers
    by_number: bool
    pictures: list[Picture]


def _typed_rows(place: Study, ground: Ground, documents: Documents, rows: list[Row], wanted: Import) -> _Typed | None:
    """What comes of tables that people typed from work sheets, or typed twice; None for any other file of answers."""
    fields = wanted.mapping or mappings.default(rows[0].body)
    if fields.number is None and (wanted.second, wanted.settlements, wanted.screenshots) == (None, None, None):
        return None
    if fields.displayed is None or fields.document == POSITION:
        remedy = "Such a table has the columns number (or document), displayed, version, date, operator, note."
        raise UsageError("only readings that people typed can be typed twice, or numbered", remedy=remedy)
    if not cards.by_display(ground.cards[wanted.detector].card):
        raise UsageError(
            f"the sealed card of {wanted.detector} reads raw answers, not what a screen displays",
            remedy="Work sheets are for detectors whose card has no pointers (answer: {}) and is asked by people.",
        )
    numbers = Numbers(place, ground, documents)
    by_number = fields.number is not None

    def key(given: str) -> str:
        return numbers.read(given) if by_number else given

    def pictured(given: str) -> str:
        return numbers.read(given) if by_number else documents.ids[numbers.position(given)]

    shots = {} if wanted.screenshots is None else pictures.found(wanted.screenshots, pictured)
    merged = twice.merged(
        rows,
        None if wanted.second is None else files.read(wanted.second),
        () if wanted.settlements is None else files.read(wanted.settlements),
        fields,
        key,
        by=wanted.by,
        pictures={name: [each.sha256 for each in held] for name, held in shots.items()},
        at=reading.now(),
    )
    if by_number:
        said = {documents.ids[numbers.position(name)]: words for name, words in merged.settled.items()}
        merged = merged._replace(settled=said)
    return _Typed(merged, numbers, by_number, [each for held in shots.values() for each in held])


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _outside(ground: Ground, lines: Sequence[dict[str, Any]]) -> str | None:
    """How many screens were read on days that the promise does not name; None where none was."""
    window = ground.protocol.window
    days = [line["got_at"][:10] for line in lines if line["got_at"] is not None]
    late = sum(not window.opens <= day <= window.closes for day in days)
    return f"{late} screens were read outside the promised window, {window.opens} to {window.closes}" if late else None


def _told(detector: str, lines: Sequence[dict[str, Any]], heads: dict[str, Head], typed: _Typed | None) -> Recorded:
    answered = [line for line in lines if line["state"] == "answered"]
    others = Counter(f"{line['state']}: {line['reason']}" for line in lines if line["state"] != "answered")
    states = ({"answered": len(answered)} if answered else {}) | dict(others.most_common())
    undated = sum(line["got_at"] is None for line in answered)
    notes = quoting.told((line["reason"] for line in answered if line["reason"] is not None), len(answered))
    done = Recorded(detector, len(lines), states, undated, notes, heads)
    if typed is None:
        return done
    merged = typed.merged
    settled = tuple(f"{name} was {words}" for name, words in merged.settled.items())
    return done._replace(
        blank=merged.blank,
        once=merged.once,
        one_hand=merged.one_hand,
        settled=settled,
        screenshots=len(typed.pictures),
    )


# --- rows to readings ----------------------------------------------------------------------------------------------


class _Made(NamedTuple):
    reading: Made
    kept: Kept | None


class _Maker:
    """Makes a reading of each row, and keeps count of what is wrong."""

    def __init__(
        self,
        ground: Ground,
        documents: Documents,
        texts: Texts,
        wanted: Import,
        mapping: Mapping,
        numbers: Numbers | None = None,
    ) -> None:
        self._documents, self._texts, self._wanted, self._mapping = documents, texts, wanted, mapping
        self._numbers = numbers
        self._card = ground.cards[wanted.detector].card
        self._version_asked = ground.protocol.detector(wanted.detector).version
        self._taken = keeping.taken(ground, wanted.detector)
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
        again: list[Again] = []
        seen: dict[int, str] = {}
        for row, position in zip(rows, self._positions(rows), strict=True):
            try:
                at = position if position is not None else self._named(row)
                name = self._documents.ids[at]
                shown = name if self._numbers is None else self._field(row, self._mapping.number) or name
                if at in seen:
                    raise _at(row, f"is the second row about {shown}; the first is {seen[at]}")
                seen[at] = row.place
                if (before := self._taken.get(name)) is not None:
                    again.append(Again(row.place, shown, before))
                else:
                    made.append(self._reading(row, at, shown))
            except PenmarkError as error:
                faults += [f._replace(place=f.place or row.place) for f in error.faults]
        _refuse([*faults, *admitting.recorded(again, len(rows))])
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
        number = None if self._numbers is None else self._field(row, self._mapping.number)
        if number is not None and self._numbers is not None:
            return self._numbers.position(number)
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

    def _reading(self, row: Row, position: int, shown: str) -> _Made:
        given, text = self._field(row, self._mapping.date), self._texts.text(position)
        got_at = None if given is None else mappings.moment(given)
        read_by = self._field(row, self._mapping.read_by) or self._wanted.by
        typed = self._mapping.displayed is not None
        if typed and read_by is None:
            raise _at(row, twice.NOBODY, twice.NAME_THEM)
        judged, whole = self._typed(row, text) if typed else (reading.judge(self._card, row.body, text), True)
        name = self._documents.ids[position]
        if typed and self._numbers is None:
            whole = whole and self._says(row, {"/document": name, "/date": given, "/operator": read_by})
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
        line = reading.line(asked, judged, at=reading.now(), got_at=got_at, evidence_sha256=sha256)
        return _Made(Made(row.place, shown, line, given), kept)

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
        if self._numbers is not None:
            return judged, not other
        return judged, reading.judge(self._card, row.body, text)._replace(found=found) == judged and (
            cards.extract(self._card, row.body)._replace(text=None) == found
        )

    def _says(self, row: Row, reading: dict[str, str | None]) -> bool:
        """Whether what has the names of a table of typed readings says what the reading says: then a row can be evidence."""
        return all((cell := self._field(row, at)) is None or cell == said for at, said in reading.items())


def _at(row: Row, fact: str, remedy: str | None = None) -> PenmarkError:
    return PenmarkError(fact, place=row.place, remedy=remedy)


def _check_card_reads(card: str | None, mapped: str | None, field: str, detector: str) -> None:
    if mapped is not None and mapped != card:
        says = f"says {card}" if card is not None else "has no such pointer"
        raise UsageError(
            f"the mapping takes the {field} from {mapped}, and the sealed card of {detector} {says}",
            remedy=f"Whoever checks reads the answer by the card: promise it as answer.{field}, or leave the mapping out.",
        )
