"""Check 5, typed: what people typed from a screen names its document, its reader and its date, and what counts follows
from it.

*Reads* raw answers that were typed, and the revealed seed. *Never* chooses between two displays: what two people typed
alike counts, or what somebody settled.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from penmark import cards
from penmark.errors import PenmarkError
from penmark.records import Card
from penmark.stages.verify.check4_corpus import Corpus
from penmark.stages.verify.check_findings import Findings

_TYPED = "A typed answer is about one document, as its readers typed it. Ask the publisher for the sealed files."
_NAMES = ("document", "number", "date", "read_by", "operator", "displayed", "version", "text")
_ROWS = ("displayed", "version", "date", "operator", "document", "number", "text")
_SETTLED = ("displayed", "version", "by", "why")
_POINTERS = (
    *(f"/{name}" for name in _NAMES),
    *(f"/settled/{name}" for name in _SETTLED),
    *(f"/readings/{number}/{name}" for number in range(3) for name in _ROWS),
)
_NUMBER = re.compile(r"0*([1-9][0-9]{0,8})")
_SHOWN = 60
Cells = dict[str, str | None]


class Said(NamedTuple):
    """What a typed reading says: whose screen it was, and who read it when."""

    document: str
    read_by: str | None
    got_at: str | None


class Typed:
    """Holds one typed answer after the other."""

    def __init__(self, known: Corpus, found: Findings) -> None:
        self._known, self._found = known, found

    def hold(self, where: str, said: Said, card: Card, body: bytes) -> None:
        """Hold the raw answer ``body``, which shows something, against the reading. Of a card with pointers only what has
        the names of a table of typed readings."""
        try:
            found = cards.look_up_pointers(body, *_POINTERS)
        except PenmarkError as error:
            self._found.failed(where, error.faults[0].fact, "what can be read", _TYPED)
            return
        cells = iter(None if cell is None or cell.strip() == "" else cell for cell in found)
        told, settled = _take_cells(_NAMES, cells), _take_cells(_SETTLED, cells)
        rows = [row for _ in range(3) if any((row := _take_cells(_ROWS, cells)).values())]
        screens = cards.is_read_by_display(card)
        self._named(where, said, told, whole=screens)
        reader, date = told["read_by" if screens else "operator"], told["date"]
        if (screens or reader is not None) and reader != said.read_by:
            self._found.failed(f"{where} (read_by)", f"read by {said.read_by}", f"{reader}, as was typed", _TYPED)
        if (screens or date is not None) and _parse_moment(date) != _parse_moment(said.got_at):
            self._found.failed(f"{where} (got_at)", f"got at {said.got_at}", f"{date}, as was typed", _TYPED)
        if not screens:
            return
        if not 1 <= len(rows) <= 2 or any(row["displayed"] is None for row in rows):
            got = f"{len(rows)} rows, or nothing displayed"
            self._found.failed(f"{where} (readings)", got, "one row or two, as they were typed", _TYPED)
            return
        self._list_rows(where, told, rows)
        self._counts(where, told, rows, settled)

    def _named(self, where: str, said: Said, told: Cells, *, whole: bool) -> None:
        """It names its document, or of a work sheet the number of it."""
        number, wanted = told["number"], self._known.turns.get(said.document, -1) + 1
        if told["document"] is not None:
            self._found.equal(f"{where} (document)", told["document"], said.document, _TYPED)
        elif whole and self._known.seed is not None and _parse_number(number) != wanted:
            got = "names no document" if number is None else f"is about number {number}"
            expected = f"number {wanted}, which is {said.document}"
            self._found.failed(f"{where} (number)", got, expected, _TYPED)

    def _list_rows(self, where: str, told: Cells, rows: list[Cells]) -> None:
        """The rows are about the same document; the date is that of the first, and the readers are those of all."""
        for row in rows:
            for name, read in (("document", str), ("number", _parse_number)):
                if told[name] is not None and row[name] is not None and read(row[name]) != read(told[name]):
                    self._found.failed(f"{where} (readings)", f"about {row[name]}", f"about {told[name]}", _TYPED)
        if told["date"] is not None and rows[0]["date"] != told["date"]:
            got = f"{told['date']}, and typed {rows[0]['date']}"
            self._found.failed(f"{where} (date)", got, "the date of the first row", _TYPED)
        scanned = [row["text"] for row in rows if row["text"] is not None]
        if (other := next((text for text in scanned if text != told["text"]), None)) is not None:
            got = f"the text that was scanned: {_shorten_text(told['text'])}"
            self._found.failed(f"{where} (text)", got, f"{_shorten_text(other)}, as was typed", _TYPED)
        readers = [row["operator"] for row in rows if row["operator"] is not None]
        if len(readers) == len(rows) and told["read_by"] != (all_of := "; ".join(dict.fromkeys(readers))):
            self._found.failed(f"{where} (read_by)", f"read by {told['read_by']}", f"{all_of}, who typed it", _TYPED)

    def _counts(self, where: str, told: Cells, rows: list[Cells], settled: Cells) -> None:
        """What counts is what was typed, by one or alike by two; or else what somebody settled, and why."""
        shown = [str(row["displayed"]) for row in rows]
        versions = [row["version"] for row in rows if row["version"] is not None]
        differs = any(len({each.strip() for each in held}) > 1 for held in (shown, versions))
        displayed, version = shown[0], next(iter(versions), None)
        if any(settled.values()):
            if (len(rows) > 1 and not differs) or None in (settled["displayed"], settled["by"], settled["why"]):
                got = f"settled as {settled['displayed']} by {settled['by']}: {settled['why']}"
                expected = "a difference, what counts, by whom and why"
                self._found.failed(f"{where} (settled)", got, expected, _TYPED)
                return
            displayed, version = str(settled["displayed"]), settled["version"] or version
        elif differs:
            got = f"{' and '.join([*shown, *versions])}, and nothing settled"
            self._found.failed(f"{where} (settled)", got, "what counts, by whom and why", _TYPED)
            return
        counts = (told["displayed"], told["version"])
        self._found.equal(f"{where} (displayed, version that count)", counts, (displayed, version), _TYPED)


def _take_cells(names: tuple[str, ...], cells: Iterator[str | None]) -> Cells:
    return {name: next(cells) for name in names}


def _shorten_text(text: str | None) -> str:
    return "none" if text is None else repr(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…")


def _parse_number(number: str | None) -> int | None:
    found = None if number is None else _NUMBER.fullmatch(number.strip())
    return None if found is None else int(found[1])


def _parse_moment(given: str | None) -> datetime | str | None:
    """A time, or a date as its first moment; what is neither stays as it is."""
    if given is None:
        return None
    try:
        at = datetime.fromisoformat(given)
    except ValueError:
        return given
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at
