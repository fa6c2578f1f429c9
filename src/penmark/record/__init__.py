"""Record: answers that exist elsewhere become readings: typed from a screen by people, or kept by somebody in the past.

*Reads* the sealed ground, the journals of the detector, the texts, and a file of answers. *Writes* the detector's
evidence, and then its journal in one group: all rows or none. *Never* dates an answer by itself, makes a second reading
of a pair, or takes an answer about another text for one about this.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from penmark import cards, frozen, quoting, reading, study
from penmark.cards import Missed
from penmark.errors import UsageError, counted
from penmark.frozen import Documents, Ground, Texts
from penmark.record import admitting, keeping, pictures, twice
from penmark.record import mapping as mappings
from penmark.record import rows as files
from penmark.record.making import Made, Maker
from penmark.record.mapping import POSITION, Mapping
from penmark.record.numbers import Numbers
from penmark.record.pictures import Picture
from penmark.record.rows import Row
from penmark.records import Head
from penmark.study import Edition, Study

_VERSIONS = 5
"""So many versions are named."""


class Recorded(NamedTuple):
    """What was imported. ``states``: how many readings in which state, declined ones with their reason.

    ``undated``: how many answers have no date; ``older``: how many are older than the promise. ``notes``: the remarks on the
    answers, counted: what they show of the texts that were scanned. ``heads``: the journal as it stands, by its path in the
    edition. ``otherwise``: what went otherwise than promised. The others are as in ``twice.Merged``, ``settled`` with the
    documents' ids; ``screenshots``: how many pictures were kept. ``misses``: answers of which the card makes nothing.
    ``one_sided``: that all of them are called alike.
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
    misses: tuple[Missed, ...] = ()
    older: int = 0
    one_sided: str | None = None


@dataclass(frozen=True)
class Import:
    """One file for one detector. ``arm``: the only arm that its rows may be about; needed to go by position.

    Of readings that people typed: ``second``: the table in which they were typed again; ``settlements``: what counts
    where the two differ; ``screenshots``: the folder of the pictures. ``order``: of answers that go by position, the file
    that names the order.

    What is refused unless somebody says so. ``retrospective``: answers that make the edition so. ``as_displayed``:
    displays that come to no call, and numbers that say the contrary of their verdicts. ``elsewhere``: answers for a
    detector that is asked by a program.
    """

    detector: str
    mapping: Mapping | None = None
    arm: str | None = None
    by: str | None = None
    second: Path | None = None
    settlements: Path | None = None
    screenshots: Path | None = None
    order: Path | None = None
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
        fields = mappings.completed(wanted.mapping, rows[0].body)
        typed = _typed_rows(place, ground, documents, rows, wanted, fields)
        mapping = fields if typed is None else twice.SHEET
        if typed is None:
            mappings.check(mapping, rows[0].body, ground.cards[wanted.detector].card)
        with closing(Texts(place, documents)) as texts:
            numbers = None if typed is None else typed.numbers
            maker = Maker(
                ground, documents, texts, wanted.detector, mapping, wanted.arm, wanted.by, numbers, wanted.order
            )
            made = maker.make(rows if typed is None else typed.merged.rows)
        _admitted(ground, wanted, made)
        if typed is not None:
            pictures.keep(edition, typed.pictures)
        named = " and ".join(f"{each.name}, SHA-256 {_digest(each)}" for each in wanted.files(path))
        why = f"recorded {len(made)} answers from {named}"
        if wanted.order is not None:
            why += f", in the order of {wanted.order.name}, SHA-256 {_digest(wanted.order)}"
        lines, kept = [each.reading.line for each in made], [each.kept for each in made if each.kept is not None]
        heads = keeping.write(ground, wanted.detector, lines, kept, why)
    done = _told(ground, wanted.detector, lines, heads, typed)._replace(
        misses=admitting.misses(ground, wanted.detector, lines),
        one_sided=_one_sided(ground, documents, wanted.detector, lines),
    )
    told = (_outside(ground, lines), _versions(ground, wanted.detector, lines))
    return done._replace(otherwise=tuple(what for what in told if what is not None))


def _admitted(ground: Ground, wanted: Import, made: Sequence[Made]) -> None:
    """Raises FaultsError with what becomes final only where somebody says so."""
    card, rule = admitting.judging(ground, wanted.detector)
    held = [each.reading for each in made]
    faults = [*(admitting.pre_committed if wanted.retrospective else admitting.timed)(ground, held)]
    if not wanted.as_displayed:
        bodies = [None if each.kept is None else each.kept.body for each in made]
        faults += [*admitting.called(card, rule, held), *admitting.empty(card, rule, held)]
        faults += admitting.contrary(card, rule, held, bodies)
    admitting.refuse(faults)


def _one_sided(ground: Ground, documents: Documents, detector: str, lines: Sequence[dict[str, Any]]) -> str | None:
    """That all of the answers are called alike, whoever wrote the texts; None where they are not, or are few."""
    card, rule = admitting.judging(ground, detector)
    calls = []
    for line in lines:
        said = cards.call(card, rule, line["score"], line["label"]).strict if line["state"] == "answered" else None
        at = documents.position(line["document"])
        if said is not None and at is not None:
            calls.append((ground.protocol.arm(documents.arm(at)).truth, said))
    return cards.one_sided(calls)


class _Typed(NamedTuple):
    merged: twice.Merged
    numbers: Numbers
    by_number: bool
    pictures: list[Picture]


def _typed_rows(
    place: Study, ground: Ground, documents: Documents, rows: list[Row], wanted: Import, fields: Mapping
) -> _Typed | None:
    """What comes of tables that people typed from work sheets, or typed twice; None for any other file of answers."""
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
    """How many answers were given on days that the promise does not name, in whichever table they came; None where none was.
    Kept answers that are older than the promise are told as that."""
    window = ground.protocol.window
    older = {id(line) for line in admitting.late(ground, lines) if line["origin"] != "typed"}
    days = [line["got_at"][:10] for line in lines if line["got_at"] is not None and id(line) not in older]
    late = sum(not window.opens <= day <= window.closes for day in days)
    what = "screens were read" if all(line["origin"] == "typed" for line in lines) else "answers were given"
    return f"{late} {what} outside the promised window, {window.opens} to {window.closes}" if late else None


def _versions(ground: Ground, detector: str, lines: Sequence[dict[str, Any]]) -> str | None:
    """That answers name another version than the promise, or than the other answers, in whichever table they came."""
    told = [line for line in lines if line["state"] == "answered" and line["version"] is not None]
    asked = ground.protocol.detector(detector).version
    expected = asked if asked is not None else keeping.version(ground, detector)
    other = [line for line in told if line["version"] != expected]
    if expected is None or not other:
        return None
    names = sorted({reading.reason(line["version"]) for line in other})
    shown = ", ".join(names[:_VERSIONS]) + (f" and {len(names) - _VERSIONS} more" if len(names) > _VERSIONS else "")
    return (
        f"{counted(len(other), 'answer')} of another version than {expected}: {shown} (the first about "
        f"{other[0]['document']}); the promise says: {ground.protocol.on_version_change}"
    )


def _told(
    ground: Ground, detector: str, lines: Sequence[dict[str, Any]], heads: dict[str, Head], typed: _Typed | None
) -> Recorded:
    answered = [line for line in lines if line["state"] == "answered"]
    others = Counter(f"{line['state']}: {line['reason']}" for line in lines if line["state"] != "answered")
    states = ({"answered": len(answered)} if answered else {}) | dict(others.most_common())
    late = [*admitting.late(ground, lines)]
    undated = sum(line["got_at"] is None for line in late)
    notes = quoting.told((line["reason"] for line in answered if line["reason"] is not None), len(answered))
    done = Recorded(detector, len(lines), states, undated, notes, heads, older=len(late) - undated)
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
