"""Readings that people typed: once, or twice by two people, whose differences somebody settles on the record.

*Reads* the rows of the tables. *Writes* nothing: of each document it makes one row, which holds all that was typed, the
settlement, and the digests of the pictures. *Never* chooses between two displays, or takes a blank for an answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from penmark import text
from penmark.errors import Fault, FaultsError, PenmarkError
from penmark.stages.record import columns as mappings
from penmark.stages.record.answer_rows import AnswerRow
from penmark.stages.record.columns import FieldMapping as Fields

SHEET = Fields(
    document="/document",
    number="/number",
    displayed="/displayed",
    text="/text",
    version="/version",
    date="/date",
    read_by="/read_by",
)
"""Where things stand in a row that ``merge_entries`` makes."""
SETTLE = "number,displayed,by,why"
_COLUMNS = {"number", "document", "displayed", "version", "by", "why"}
NOBODY = "says not who read the screen"
NAME_THEM = "Fill in the column operator, or name the one who read all of them: --by NAME."
_SHOWN = 80


class Hand(NamedTuple):
    """One typed row: its place and body, and the fields of it that count; None where the cell is blank."""

    row: AnswerRow
    displayed: str
    version: str | None
    date: str | None
    read_by: str
    text: str | None


class SettledEntry(NamedTuple):
    """What somebody decided about a document that was read in two ways, and why."""

    place: str
    displayed: str
    version: str | None
    by: str
    why: str


class Merged(NamedTuple):
    """One row a document. ``blank``: rows that nobody filled in. ``once``: documents that were typed once only.
    ``one_hand``: typed twice, by one and the same person. ``settled``: by key, the settlements in words."""

    rows: list[AnswerRow]
    blank: int
    once: int
    one_hand: int
    settled: dict[str, str]


Key = Callable[[str], str]
"""What a document is called in the tables: its id as it is, or its number as work sheets have it."""


def merge_entries(
    first: Sequence[AnswerRow],
    second: Sequence[AnswerRow] | None,
    settlements: Sequence[AnswerRow],
    fields: Fields,
    key: Key,
    *,
    by: str | None,
    pictures: Mapping[str, list[str]],
    at: str,
) -> Merged:
    """One row for each document that was read. ``fields``: of both tables. ``by``: who typed, where no cell says so.

    ``pictures``: digests by key. ``at``: now. Raises FaultsError with every difference that nobody settled, and
    everything else that does not fit.
    """
    faults: list[Fault] = []
    ones, blank = _read_hands(first, fields, key, by, faults)
    twos, blank_too = _read_hands(second or (), fields, key, by, faults)
    decided = _read_settlements(settlements, fields, key, faults)
    rows, open_ones = list[AnswerRow](), list[Fault]()
    told: dict[str, str] = {}
    for name in dict.fromkeys([*ones, *twos]):
        hands = [hand for hand in (ones.get(name), twos.get(name)) if hand is not None]
        differs = second is not None and _describe_difference(ones.get(name), twos.get(name))
        settled = decided.pop(name, None)
        faults += _of_two_texts(name, hands)
        if differs and settled is None:
            open_ones.append(Fault(_format_places(hands), f"{name}: {differs}"))
            continue
        if settled is not None:
            faults += _check_settlement(name, settled, hands, bool(differs))
            told[name] = _describe_settlement(hands, settled, differs or "")
        rows.append(_make_row(name, hands, settled, fields, pictures.get(name, []), at))
    faults += [Fault(row.place, f"{name} is in none of the tables that were typed") for name, row in decided.items()]
    faults += [
        Fault(None, f"there is a screenshot of {name}, and nobody typed what it shows")
        for name in sorted(pictures.keys() - ones.keys() - twos.keys())
    ]
    if open_ones:
        open_ones[-1] = open_ones[-1]._replace(remedy=_REMEDY)
    if open_ones or faults:
        raise FaultsError([*faults, *open_ones])
    if not rows:
        raise PenmarkError(
            "nothing is filled in", place=first[0].place.rpartition(":")[0], remedy="Fill in `displayed`."
        )
    twice = [(ones[name], twos[name]) for name in ones.keys() & twos.keys()]
    one_hand = sum(one.read_by == two.read_by for one, two in twice)
    return Merged(rows, max(blank, blank_too), len(rows) - len(twice), one_hand, told)


_REMEDY = (
    "Look at the screens or the screenshots again. Correct a table where it was mistyped; or write what counts, and why, "
    f"into a table {SETTLE}, and give it with --settle FILE. Nothing was recorded."
)


def encode_single_entry(row: AnswerRow, fields: Fields, name: str, read_by: str) -> bytes:
    """What is kept of a row that ``read_by`` typed about the document ``name``, in a table without numbers."""
    displayed, version, date, scanned = (
        _read_cell(row, at) for at in (fields.displayed, fields.version, fields.date, fields.text)
    )
    return _make_row(name, [Hand(row, displayed or "", version, date, read_by, scanned)], None, fields, [], "").body


def _read_hands(
    rows: Sequence[AnswerRow], fields: Fields, key: Key, by: str | None, faults: list[Fault]
) -> tuple[dict[str, Hand], int]:
    """The filled-in rows by key, and how many are blank."""
    found: dict[str, Hand] = {}
    blank = 0
    for row in rows:
        try:
            name = _find_row_key(row, fields, key)
            displayed = _read_cell(row, fields.displayed)
            if displayed is None:
                blank += 1
                continue
            if name in found:
                fact = f"is the second row about {name}; the first is {found[name].row.place}"
                faults.append(Fault(row.place, fact, "A document has one row in a table: leave one of the two out."))
                continue
            read_by = by if (named := _read_cell(row, fields.read_by)) is None else named
            if read_by is None:
                raise PenmarkError(NOBODY, place=row.place, remedy=NAME_THEM)
            version, date, scanned = (_read_cell(row, each) for each in (fields.version, fields.date, fields.text))
            found[name] = Hand(row, displayed, version, date, read_by, scanned)
        except PenmarkError as error:
            faults += [fault._replace(place=fault.place or row.place) for fault in error.faults]
    return found, blank


def _find_row_key(row: AnswerRow, fields: Fields, key: Key) -> str:
    pointer = fields.number if fields.number is not None else fields.document
    name = mappings.read_field(row.body, pointer)
    if name is None:
        what = "number" if fields.number is not None else "document"
        raise PenmarkError(f"no {what} ({pointer})", place=row.place, remedy=f"Map the field: --map {what}=…")
    return key(name)


def _read_cell(row: AnswerRow, pointer: str | None) -> str | None:
    found = None if pointer is None else mappings.read_field(row.body, pointer)
    return None if found is None or found.strip() == "" else found


def _describe_difference(one: Hand | None, two: Hand | None) -> str | None:
    """In what two hands differ, in words; None where they agree. White space at the ends is nobody's reading."""
    shown = [_quote_display(None if hand is None else hand.displayed) for hand in (one, two)]
    if one is None or two is None or one.displayed.strip() != two.displayed.strip():
        return f"{shown[0]} and {shown[1]}"
    if one.version is not None and two.version is not None and one.version.strip() != two.version.strip():
        return f"version {_quote_display(one.version)} and version {_quote_display(two.version)}"
    return None


def _of_two_texts(name: str, hands: list[Hand]) -> Iterator[Fault]:
    if len({hand.text for hand in hands if hand.text is not None}) > 1:
        fact = f"{name}: the two tables have different texts as what was scanned"
        yield Fault(_format_places(hands), fact, "Look which text it was, and correct a table.")


def _quote_display(displayed: str | None) -> str:
    if displayed is None:
        return "nothing typed"
    line = text.fold_white_space(displayed)
    return repr(line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…")


def _format_places(hands: list[Hand]) -> str:
    return " and ".join(hand.row.place for hand in hands)


# --- what was settled ----------------------------------------------------------------------------------------------


def _read_settlements(
    rows: Sequence[AnswerRow], fields: Fields, key: Key, faults: list[Fault]
) -> dict[str, SettledEntry]:
    found: dict[str, SettledEntry] = {}
    name_of = Fields(document="/document", number=None if fields.number is None else "/number")
    for row in rows:
        try:
            unknown = sorted(set(json.loads(row.body)) - _COLUMNS)
            if unknown:
                raise PenmarkError(
                    f"the column {unknown[0]!r} is none of a settlement", remedy=f"It has {SETTLE}, version."
                )
            name = _find_row_key(row, name_of, key)
            displayed, version, by, why = (
                _read_cell(row, f"/{each}") for each in ("displayed", "version", "by", "why")
            )
            if displayed is None or by is None or why is None:
                raise PenmarkError(
                    f"{name}: says not what counts, who settled it, and why", remedy="Fill in all three."
                )
            if name in found:
                raise PenmarkError(f"{name} is settled twice; the first time at {found[name].place}")
            found[name] = SettledEntry(row.place, displayed, version, by.strip(), why.strip())
        except PenmarkError as error:
            faults += [fault._replace(place=fault.place or row.place) for fault in error.faults]
    return found


def _check_settlement(name: str, settled: SettledEntry, hands: list[Hand], differs: bool) -> Iterator[Fault]:
    if not differs:
        remedy = "A reading that nobody disputes stands as it was typed: leave the row out."
        yield Fault(settled.place, f"{name} needs no settlement", remedy)
    versions = {hand.version.strip() for hand in hands if hand.version is not None}
    if differs and len(versions) > 1 and settled.version is None:
        shown = " and ".join(sorted(map(repr, versions)))
        yield Fault(settled.place, f"{name}: the versions differ too, {shown}", "Settle them in a column `version`.")


def _describe_settlement(hands: list[Hand], settled: SettledEntry, differs: str) -> str:
    readers = " and ".join(hand.read_by for hand in hands)
    return (
        f"read by {readers} as {differs}; settled as {_quote_display(settled.displayed)} by {settled.by}: {settled.why}"
    )


def _make_row(
    name: str, hands: list[Hand], settled: SettledEntry | None, fields: Fields, pictures: list[str], at: str
) -> AnswerRow:
    """The row that counts, and all that it stands on. The date is that of the first hand: who was at the screen."""
    one = hands[0]
    version = next((hand.version for hand in hands if hand.version is not None), None)
    scanned = next((hand.text for hand in hands if hand.text is not None), None)
    readers = list(dict.fromkeys(hand.read_by for hand in hands))
    body: dict[str, Any] = {
        "date": one.date,
        "displayed": one.displayed if settled is None else settled.displayed,
        "number" if fields.number is not None else "document": name,
        "read_by": "; ".join(readers),
        "readings": [_make_typed_cells(hand.row, fields) for hand in hands],
        "version": version if settled is None or settled.version is None else settled.version,
    }
    if scanned is not None:
        body["text"] = scanned
    if settled is not None:
        body["settled"] = {"at": at, **settled._asdict()}
        del body["settled"]["place"]
    if pictures:
        body["screenshots"] = pictures
    return AnswerRow(one.row.place, json.dumps(body, ensure_ascii=False, sort_keys=True).encode())


def _make_typed_cells(row: AnswerRow, fields: Fields) -> Any:
    """The row as it was typed; a number of JSON as its characters. Of a table with other columns those that a table of
    typed readings has, by which a verifier reads them, and the ``row``."""
    value = json.loads(row.body, parse_float=str, parse_int=str, parse_constant=str)
    other = "document" if fields.number is not None else "number"
    named = {column: getattr(fields, field) for column, field in mappings.COLUMNS.items() if column != other}
    named |= {"document": None} if fields.document == mappings.POSITION else {}
    if all(value.get(column) is None if at is None else at == f"/{column}" for column, at in named.items()):
        return value
    read = {column: _read_cell(row, at) for column, at in named.items()}
    return {**{column: cell for column, cell in read.items() if cell is not None}, "row": value}
