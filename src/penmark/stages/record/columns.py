"""Which field of a row is what: the document, the display, the text that was scanned, the version, the date, the reader.

*Reads* a mapping file (YAML), and fields of rows. *Writes* nothing. *Never* says where score or verdict stand: the card does.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from penmark import cards, yaml_records
from penmark.errors import PenmarkError, UsageError, quote_blanks, suggest_name
from penmark.records import Answer, Card, Pointer, Record

POSITION = "position"
MEND = "Mend the file, or take it again from where it came. Nothing was recorded."
_NAMES = ("document", "number")
_POINTER = TypeAdapter(Pointer)


class FieldMapping(Record):
    """RFC 6901 pointers into a row; None where there is no such field. What somebody set is in ``model_fields_set``.

    ``document``: the document's id, or the word ``position``: the rows stand in the order that a file names.
    ``number``: the number on a work sheet (``record.sheets``), in place of the id.
    ``displayed``: the words that somebody copied from a screen; without it the card's pointers read the answer.
    ``text``: the text that was scanned. ``date``: when the answer was given. ``read_by``: who read the screen.
    """

    document: str = "/document"
    number: Pointer | None = None
    displayed: Pointer | None = None
    text: Pointer | None = None
    version: Pointer | None = None
    date: Pointer | None = None
    read_by: Pointer | None = None


FIELDS = tuple(FieldMapping.model_fields)
COLUMNS = {
    "document": "document",
    "number": "number",
    "displayed": "displayed",
    "text": "text",
    "version": "version",
    "date": "date",
    "operator": "read_by",
}
"""The columns that a table of typed readings has, where nothing else is mapped, and what they are."""


def load(path: Path) -> FieldMapping:
    """The mapping in a YAML file. Raises FaultsError with every fault at its line."""
    return make_mapping(yaml_records.read_record(path, _Written).model_dump(exclude_none=True).items())


class _Written(Record):
    """A mapping as people write it: pointers, or names of fields."""

    document: str | None = None
    number: str | None = None
    displayed: str | None = None
    text: str | None = None
    version: str | None = None
    date: str | None = None
    read_by: str | None = None


def parse(given: Iterable[str]) -> FieldMapping:
    """The mapping in ``field=pointer`` words; a name without a leading slash is that field of the row itself."""
    pairs = []
    for word in given:
        field, sign, pointer = word.partition("=")
        if not sign or not pointer:
            raise UsageError(
                f"{word!r} is not field=pointer", remedy="For example: --map document=id --map date=/meta/at"
            )
        pairs.append((field, pointer))
    return make_mapping(pairs)


def make_mapping(pairs: Iterable[tuple[str, str]]) -> FieldMapping:
    """The mapping of field names to pointers or names. Raises UsageError for a field that is none, or is given twice."""
    found: dict[str, str] = {}
    for field, given in pairs:
        if field in ("score", "label"):
            raise UsageError(
                f"a mapping cannot say where the {field} stands: the promise does, in the card (answer.{field})",
                remedy="Leave it out. Where somebody copied the display of a screen, map that: displayed=…",
            )
        if field not in FIELDS:
            raise UsageError(
                f"there is no field {field!r}{suggest_name(field, FIELDS)}", remedy=f"Fields: {', '.join(FIELDS)}."
            )
        if field in found:
            raise UsageError(f"{field} is mapped twice", remedy="Map each field once.")
        found[field] = given if given == POSITION and field == "document" else _parse_pointer(field, given)
    if "document" in found and "number" in found:
        raise UsageError("a row names its document by id or by number, not by both", remedy="Map one of them.")
    return FieldMapping(**found)


def complete_mapping(given: FieldMapping | None, first: bytes) -> FieldMapping:
    """What is mapped, and beside that the columns of a table of typed readings, by their names. ``first``: the first row; if
    it has a ``displayed``, it is such a table, unless the display is said to stand elsewhere."""
    found = {} if given is None else given.model_dump(include=given.model_fields_set)
    names = set(json.loads(first))
    if "displayed" not in names or found.get("displayed", "/displayed") != "/displayed":
        return FieldMapping(**found)
    named = found.keys() & {"document", "number"} or {"document" if "document" in names else "number"} & names
    own = {field: f"/{column}" for column, field in COLUMNS.items() if field in named or field not in _NAMES}
    return FieldMapping(**(own | found))


def check_mapping(mapping: FieldMapping, first: bytes, card: Card) -> None:
    """Raises UsageError where nothing could be read of a row like the ``first``: neither whose it is, nor an answer."""
    value = json.loads(first)
    names = list(value) if isinstance(value, dict) else []
    there = f"The columns: {', '.join(map(quote_blanks, names))}."
    pointers = (card.answer.displayed, card.answer.score, card.answer.label)
    if mapping.displayed is None and all(pointer is None for pointer in pointers):
        fact = f"there is no column displayed{suggest_name('displayed', names)}"
        fact += f", and the card {card.name} does not say where else an answer is"
        raise UsageError(fact, remedy=f"Map it: --map displayed=COLUMN. {there}")
    held = mapping.document
    if mapping.number is None and held == "/document" and names and "document" not in names:
        raise UsageError(
            f"there is no column document{suggest_name('document', names)}",
            remedy=f"Map it: --map document=COLUMN. {there}",
        )


def read_field(body: bytes, pointer: str) -> str | None:
    """What stands at a pointer of a row, character by character. Raises PenmarkError where the row cannot be read."""
    try:
        return cards.extract_answer(_make_probe_card(pointer), body).text
    except PenmarkError as error:
        raise PenmarkError(error.faults[0].fact, remedy=MEND) from None


def parse_moment(given: str) -> str:
    """A date or a time with its zone, as a time in UTC. A date is its first moment: never taken for later than it was.

    Raises PenmarkError for anything else, and for the future.
    """
    try:
        at = datetime.fromisoformat(given)
    except ValueError:
        raise PenmarkError(f"{given!r} is not a date", remedy="Write 2026-11-30, or 2026-11-30T14:05:00Z.") from None
    if at.tzinfo is None:
        if len(given) > len("2026-11-30"):
            raise PenmarkError(f"{given!r} has no time zone", remedy="Write it in UTC: 2026-11-30T14:05:00Z.")
        at = at.replace(tzinfo=UTC)
    try:
        at = at.astimezone(UTC)
    except OverflowError:
        raise PenmarkError(f"{given!r} is not a date") from None
    if at > datetime.now(UTC):
        raise PenmarkError(f"{given!r} lies in the future", remedy="Look at the date, and at this machine's clock.")
    return at.isoformat().replace("+00:00", "Z")


def _parse_pointer(field: str, given: str) -> str:
    pointer = given if given.startswith("/") else "/" + given.replace("~", "~0").replace("/", "~1")
    try:
        return _POINTER.validate_python(pointer, strict=True)
    except ValidationError:
        raise UsageError(f"{field}: {given!r} is not a JSON pointer", remedy="Write /name, or /outer/inner.") from None


@lru_cache(maxsize=64)
def _make_probe_card(pointer: str) -> Card:
    """A card that reads one field as the text, so that mapping and card understand pointers in the same way."""
    return _BLANK.model_copy(update={"answer": Answer(text=pointer)})


_BLANK = Card.model_validate(
    {
        "name": "row",
        "title": "",
        "vendor": "",
        "homepage": "",
        "display": "document",
        "facts_as_of": "2026-11-30",
        "ask": {"by": "people"},
        "answer": {},
        "scale": {"meaning": "points", "direction": "ai"},
        "boundary": {"kind": "boundary", "operator": ">", "value": "0", "source": "", "date": "2026-11-30"},
        "terms": {"where": "", "results_may_be_published": "unclear"},
    }
)
