"""Rows to readings: what each row of a file of answers says, about which document, and what is kept of it as evidence.

*Reads* rows, the frozen documents and their texts, the sealed card. *Writes* nothing. *Never* makes a second reading of a
pair, or takes an answer about another text for one about this.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from penmark import cards
from penmark.cards import judge
from penmark.cards.judge import OTHER_TEXT, AskedQuestion, Judged
from penmark.corpus.sealed_edition import Documents, SealedEdition, Texts
from penmark.errors import Fault, PenmarkError, UsageError, suggest_name
from penmark.journal.evidence_log import Kept
from penmark.stages.record import accept, double_entry, store
from penmark.stages.record import columns as mappings
from penmark.stages.record import order as orders
from penmark.stages.record.accept import Again
from penmark.stages.record.accept import Made as Reading
from penmark.stages.record.answer_rows import AnswerRow
from penmark.stages.record.blind_numbers import Numbers
from penmark.stages.record.columns import POSITION, FieldMapping
from penmark.text import fold_white_space


class MadeReading(NamedTuple):
    """A reading that could be written, and what is kept as its evidence."""

    reading: Reading
    kept: Kept | None


class Maker:
    """Makes a reading of each row, and keeps count of what is wrong."""

    def __init__(
        self,
        ground: SealedEdition,
        documents: Documents,
        texts: Texts,
        detector: str,
        mapping: FieldMapping,
        arm: str | None,
        by: str | None,
        numbers: Numbers | None,
        order: Path | None = None,
    ) -> None:
        self._documents, self._texts, self._detector, self._mapping = documents, texts, detector, mapping
        self._arm, self._by, self._numbers = arm, by, numbers
        self._card = ground.cards[detector].card
        self._number = ground.protocol.format
        self._version_asked = ground.protocol.detector(detector).version
        self._taken = store.list_taken(ground, detector)
        if mapping.displayed is None:
            _check_card_reads(self._card.answer.text, mapping.text, "text", detector)
            _check_card_reads(self._card.answer.version, mapping.version, "version", detector)
        if arm is not None and arm not in documents.arms:
            raise UsageError(
                f"there is no arm {arm!r}{suggest_name(arm, documents.arms)}",
                remedy=f"The manifest has: {', '.join(documents.arms)}.",
            )
        if mapping.document == POSITION and arm is None:
            raise UsageError("going by position needs an arm", remedy="Name it with --arm NAME.")
        if (mapping.document == POSITION) != (order is not None):
            fact = (
                "going by position needs a file that names the order"
                if order is None
                else "the answers name their texts"
            )
            raise UsageError(fact, remedy=orders.REMEDY if order is None else "Leave --order out.")
        self._order = None if order is None else orders.Order(order, documents, texts, str(arm))

    def make(self, rows: list[AnswerRow]) -> list[MadeReading]:
        made: list[MadeReading] = []
        faults: list[Fault] = []
        again: list[Again] = []
        seen: dict[int, str] = {}
        for row, position in zip(rows, self._positions(rows), strict=True):
            try:
                at = position if position is not None else self._named(row)
                name = self._documents.ids[at]
                shown = name if self._numbers is None else self._read_field(row, self._mapping.number) or name
                if at in seen:
                    fact = f"is the second row about {shown}; the first is {seen[at]}"
                    raise _make_row_error(row, fact, "A document has one answer: leave one of the two out.")
                seen[at] = row.place
                if (before := self._taken.get(name)) is not None:
                    again.append(Again(row.place, shown, before))
                else:
                    made.append(self._make_reading(row, at, shown))
            except PenmarkError as error:
                faults += [f._replace(place=f.place or row.place) for f in error.faults]
        accept.raise_faults([*faults, *accept.check_recorded(again, len(rows))])
        return made

    def _positions(self, rows: list[AnswerRow]) -> Iterator[int | None]:
        if self._order is None:
            return iter([None] * len(rows))
        if len(self._order.positions) != len(rows):
            raise PenmarkError(
                f"{len(rows)} rows, and the order names {len(self._order.positions)} documents",
                place=rows[0].place.rpartition(":")[0],
                remedy="Rows go by position only where the file of the order has one for each of them.",
            )
        accept.raise_faults([*self._order.faults(rows)])
        return iter(self._order.positions)

    def _named(self, row: AnswerRow) -> int:
        number = None if self._numbers is None else self._read_field(row, self._mapping.number)
        if number is not None and self._numbers is not None:
            return self._numbers.position(number)
        name = mappings.read_field(row.body, self._mapping.document)
        if name is None:
            raise _make_row_error(
                row, f"no document ({self._mapping.document})", "Map the field that holds the id: --map document=…"
            )
        position = self._documents.position(name)
        if position is None:
            shown = name if len(name) <= 80 else name[:79] + "…"
            remedy = (
                "Map the field that holds the id: --map document=…. Where the answers name no text, and a file has the "
            )
            remedy += "order in which the texts were given: --map document=position --order FILE."
            raise _make_row_error(row, f"there is no document {shown!r} in the manifest", remedy)
        if self._arm not in (None, self._documents.arm(position)):
            fact = f"{name} belongs to the arm {self._documents.arm(position)}, not to {self._arm}"
            raise _make_row_error(row, fact, "Leave the row out, or name its arm with --arm.")
        return position

    def _read_field(self, row: AnswerRow, pointer: str | None) -> str | None:
        found = None if pointer is None else mappings.read_field(row.body, pointer)
        return None if found is None or found.strip() == "" else found

    def _make_reading(self, row: AnswerRow, position: int, shown: str) -> MadeReading:
        given, text = self._read_field(row, self._mapping.date), self._texts.text(position)
        got_at = None if given is None else mappings.parse_moment(given)
        read_by = self._read_field(row, self._mapping.read_by) or self._by
        typed, name = self._mapping.displayed is not None, self._documents.ids[position]
        if typed and read_by is None:
            raise _make_row_error(row, double_entry.NOBODY, double_entry.NAME_THEM)
        if typed:
            judged, body = self._judge_display(row, text, {"/document": name, "/date": given, "/operator": read_by})
        else:
            judged, body = judge.judge_answer(self._card, row.body, text, number=self._number), row.body
        kept = None
        if body is not None:
            if not self._documents.attested[position]:
                judged = judge.add_remark(judged, self._card, body, text)
            kept = Kept(self._detector, name, 1, body, self._texts.digest(position, body))
        asked = AskedQuestion(
            document=name,
            address=self._documents.address(position),
            attempt=1,
            origin="typed" if typed else "recorded",
            sent_at=None,
            version_asked=self._version_asked,
            read_by=read_by,
        )
        sha256 = None if kept is None else kept.sha256
        line = judge.make_reading_line(asked, judged, at=judge.get_time_now(), got_at=got_at, evidence_sha256=sha256)
        return MadeReading(Reading(row.place, shown, line, given), kept)

    def _judge_display(self, row: AnswerRow, text: str, says: dict[str, str | None]) -> tuple[Judged, bytes | None]:
        """The reading that the copied display makes; and its evidence, where there can be any. For a card that reads a
        display that is what was typed, where it comes from work sheets or has the text that was scanned; for another the
        row, where the card's own pointers read the same from it. ``says``: what the reading says, by the columns."""
        shown = self._read_field(row, self._mapping.displayed)
        if shown is None:
            raise _make_row_error(
                row, f"no display ({self._mapping.displayed})", "Type what the screen showed, word for word."
            )
        version = self._read_field(row, self._mapping.version)
        found = cards.extract_from_display(self._card, shown)._replace(version=version)
        screens = cards.is_read_by_display(self._card)
        scanned = [
            self._read_field(row, at) for at in (self._mapping.text, None if screens else self._card.answer.text)
        ]
        self._alike(row, scanned[0], text)
        other = any(judge.is_other(each, text, self._number) for each in scanned)
        judged = Judged("declined", OTHER_TEXT, found) if other else Judged("answered", None, found)
        if self._numbers is not None:
            return judged, row.body
        if screens and scanned[0] is not None:
            return judged, double_entry.encode_single_entry(
                row, self._mapping, str(says["/document"]), str(says["/operator"])
            )
        whole = judge.judge_answer(self._card, row.body, text, number=self._number)._replace(found=found) == judged
        whole = whole and cards.extract_answer(self._card, row.body)._replace(text=None) == found
        # What has the names of a table of typed readings says what the reading says.
        whole = whole and all((cell := self._read_field(row, at)) is None or cell == said for at, said in says.items())
        if other and not whole:  # nobody could look at the display, nor see that it is of another text
            judged = judged._replace(found=judge.NOTHING._replace(version=version))
        return judged, row.body if whole else None

    def _alike(self, row: AnswerRow, scanned: str | None, text: str) -> None:
        """A column that was found by its name may have been turned on its way; whoever maps one means what stands there."""
        if (
            self._mapping.text == "/text"
            and scanned not in (None, text)
            and fold_white_space(str(scanned)) == fold_white_space(text)
        ):
            fact = "the text that was scanned differs from the document's in nothing but white space and line ends"
            raise _make_row_error(
                row, fact, "Programs turn these: leave the column out, or give the text to the character."
            )


def _make_row_error(row: AnswerRow, fact: str, remedy: str | None = None) -> PenmarkError:
    return PenmarkError(fact, place=row.place, remedy=remedy)


def _check_card_reads(card: str | None, mapped: str | None, field: str, detector: str) -> None:
    if mapped is not None and mapped != card:
        says = f"says {card}" if card is not None else "has no such pointer"
        raise UsageError(
            f"the mapping takes the {field} from {mapped}, and the sealed card of {detector} {says}",
            remedy=f"Whoever checks reads the answer by the card: promise it as answer.{field}, or leave the mapping out.",
        )
