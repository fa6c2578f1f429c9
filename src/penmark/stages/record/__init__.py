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

from penmark import cards, study
from penmark.cards import Missed, judge
from penmark.corpus import sealed_edition
from penmark.corpus.sealed_edition import Documents, SealedEdition, Texts
from penmark.errors import UsageError, count_noun
from penmark.records import Head
from penmark.stages.record import accept, double_entry, screenshots, store
from penmark.stages.record import answer_rows as files
from penmark.stages.record import columns as mappings
from penmark.stages.record.answer_rows import AnswerRow
from penmark.stages.record.blind_numbers import Numbers
from penmark.stages.record.columns import POSITION, FieldMapping
from penmark.stages.record.make_readings import MadeReading, Maker
from penmark.stages.record.screenshots import Picture
from penmark.study import Edition, Study
from penmark.text import quotation

_VERSIONS = 5
"""So many versions are named."""


class Recorded(NamedTuple):
    """What was imported. ``states``: how many readings in which state, declined ones with their reason.

    ``undated``: how many answers have no date; ``older``: how many are older than the promise. ``notes``: the remarks on the
    answers, counted: what they show of the texts that were scanned. ``heads``: the journal as it stands, by its path in the
    edition. ``otherwise``: what went otherwise than promised. The others are as in ``double_entry.Merged``, ``settled`` with the
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
    mapping: FieldMapping | None = None
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


def record_answers(place: Study, edition: Edition, path: Path, wanted: Import) -> Recorded:
    """Import a file of answers.

    Raises FaultsError with what is wrong with every row (nothing is written then), UsageError where nothing is
    promised or frozen, or the names do not fit.
    """
    ground = sealed_edition.open_sealed_edition(edition, verb="record")
    store.check_promised(ground, wanted.detector)
    if not wanted.elsewhere:
        accept.check_asked_of_people(ground, wanted.detector)
    with study.lock_file(edition.root / "scan.lock", "penmark record"):
        documents = sealed_edition.load_documents(ground)
        rows = files.read_answer_rows(path)
        fields = mappings.complete_mapping(wanted.mapping, rows[0].body)
        typed = _typed_rows(place, ground, documents, rows, wanted, fields)
        mapping = fields if typed is None else double_entry.SHEET
        if typed is None:
            mappings.check_mapping(mapping, rows[0].body, ground.cards[wanted.detector].card)
        with closing(Texts(place, documents)) as texts:
            numbers = None if typed is None else typed.numbers
            maker = Maker(
                ground, documents, texts, wanted.detector, mapping, wanted.arm, wanted.by, numbers, wanted.order
            )
            made = maker.make(rows if typed is None else typed.merged.rows)
        _require_admitted(ground, wanted, made)
        if typed is not None:
            screenshots.copy_pictures(edition, typed.pictures)
        named = " and ".join(f"{each.name}, SHA-256 {_digest_file(each)}" for each in wanted.files(path))
        why = f"recorded {len(made)} answers from {named}"
        if wanted.order is not None:
            why += f", in the order of {wanted.order.name}, SHA-256 {_digest_file(wanted.order)}"
        lines, kept = [each.reading.line for each in made], [each.kept for each in made if each.kept is not None]
        heads = store.write_readings(ground, wanted.detector, lines, kept, why)
    done = _make_recorded(ground, wanted.detector, lines, heads, typed)._replace(
        misses=accept.list_uncallable(ground, wanted.detector, lines),
        one_sided=_one_sided(ground, documents, wanted.detector, lines),
    )
    told = (_describe_late_answers(ground, lines), _describe_other_versions(ground, wanted.detector, lines))
    return done._replace(otherwise=tuple(what for what in told if what is not None))


def _require_admitted(ground: SealedEdition, wanted: Import, made: Sequence[MadeReading]) -> None:
    """Raises FaultsError with what becomes final only where somebody says so."""
    card, rule = accept.choose_card_and_rule(ground, wanted.detector)
    held = [each.reading for each in made]
    faults = [*(accept.check_pre_committed if wanted.retrospective else accept.check_timed)(ground, held)]
    if not wanted.as_displayed:
        bodies = [None if each.kept is None else each.kept.body for each in made]
        faults += [*accept.check_called(card, rule, held), *accept.empty(card, rule, held)]
        faults += accept.contrary(card, rule, held, bodies)
    accept.raise_faults(faults)


def _one_sided(
    ground: SealedEdition, documents: Documents, detector: str, lines: Sequence[dict[str, Any]]
) -> str | None:
    """That all of the answers are called alike, whoever wrote the texts; None where they are not, or are few."""
    card, rule = accept.choose_card_and_rule(ground, detector)
    calls = []
    for line in lines:
        said = (
            cards.call_answer(card, rule, line["score"], line["label"]).strict if line["state"] == "answered" else None
        )
        at = documents.position(line["document"])
        if said is not None and at is not None:
            calls.append((ground.protocol.arm(documents.arm(at)).truth, said))
    return cards.one_sided(calls)


class _Typed(NamedTuple):
    merged: double_entry.Merged
    numbers: Numbers
    by_number: bool
    pictures: list[Picture]


def _typed_rows(
    place: Study,
    ground: SealedEdition,
    documents: Documents,
    rows: list[AnswerRow],
    wanted: Import,
    fields: FieldMapping,
) -> _Typed | None:
    """What comes of tables that people typed from work sheets, or typed twice; None for any other file of answers."""
    if fields.number is None and (wanted.second, wanted.settlements, wanted.screenshots) == (None, None, None):
        return None
    if fields.displayed is None or fields.document == POSITION:
        remedy = "Such a table has the columns number (or document), displayed, version, date, operator, note."
        raise UsageError("only readings that people typed can be typed twice, or numbered", remedy=remedy)
    if not cards.is_read_by_display(ground.cards[wanted.detector].card):
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

    shots = {} if wanted.screenshots is None else screenshots.find_pictures(wanted.screenshots, pictured)
    merged = double_entry.merge_entries(
        rows,
        None if wanted.second is None else files.read_answer_rows(wanted.second),
        () if wanted.settlements is None else files.read_answer_rows(wanted.settlements),
        fields,
        key,
        by=wanted.by,
        pictures={name: [each.sha256 for each in held] for name, held in shots.items()},
        at=judge.get_time_now(),
    )
    if by_number:
        said = {documents.ids[numbers.position(name)]: words for name, words in merged.settled.items()}
        merged = merged._replace(settled=said)
    return _Typed(merged, numbers, by_number, [each for held in shots.values() for each in held])


def _digest_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _describe_late_answers(ground: SealedEdition, lines: Sequence[dict[str, Any]]) -> str | None:
    """How many answers were given on days that the promise does not name, in whichever table they came; None where none was.
    Kept answers that are older than the promise are told as that."""
    window = ground.protocol.window
    older = {id(line) for line in accept.list_late_lines(ground, lines) if line["origin"] != "typed"}
    days = [line["got_at"][:10] for line in lines if line["got_at"] is not None and id(line) not in older]
    late = sum(not window.opens <= day <= window.closes for day in days)
    what = "screens were read" if all(line["origin"] == "typed" for line in lines) else "answers were given"
    return f"{late} {what} outside the promised window, {window.opens} to {window.closes}" if late else None


def _describe_other_versions(ground: SealedEdition, detector: str, lines: Sequence[dict[str, Any]]) -> str | None:
    """That answers name another version than the promise, or than the other answers, in whichever table they came."""
    told = [line for line in lines if line["state"] == "answered" and line["version"] is not None]
    asked = ground.protocol.detector(detector).version
    expected = asked if asked is not None else store.version(ground, detector)
    other = [line for line in told if line["version"] != expected]
    if expected is None or not other:
        return None
    names = sorted({judge.clean_reason(line["version"]) for line in other})
    shown = ", ".join(names[:_VERSIONS]) + (f" and {len(names) - _VERSIONS} more" if len(names) > _VERSIONS else "")
    return (
        f"{count_noun(len(other), 'answer')} of another version than {expected}: {shown} (the first about "
        f"{other[0]['document']}); the promise says: {ground.protocol.on_version_change}"
    )


def _make_recorded(
    ground: SealedEdition, detector: str, lines: Sequence[dict[str, Any]], heads: dict[str, Head], typed: _Typed | None
) -> Recorded:
    answered = [line for line in lines if line["state"] == "answered"]
    others = Counter(f"{line['state']}: {line['reason']}" for line in lines if line["state"] != "answered")
    states = ({"answered": len(answered)} if answered else {}) | dict(others.most_common())
    late = [*accept.list_late_lines(ground, lines)]
    undated = sum(line["got_at"] is None for line in late)
    notes = quotation.describe_remarks(
        (line["reason"] for line in answered if line["reason"] is not None), len(answered)
    )
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
