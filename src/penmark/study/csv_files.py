"""CSV in the one form that penmark writes and the two that people save, and faults of records told by field.

*Reads* and *writes* nothing. *Never* lets a spreadsheet run a cell.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import Any

from penmark.errors import Fault, FaultsError
from penmark.records import patterns

RESTORE = "What penmark wrote is not edited by hand: restore the file from where it came."

_FIRST = 2**16
"""A first line is judged by so many of its characters."""
_DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\Z")


def escape_cell(value: str) -> str:
    """A CSV cell: guarded against spreadsheets that run it, then quoted where needed (docs/format.md, 1)."""
    if _is_formula(value):
        value = "'" + value
    if any(c in value for c in ',"\r\n'):
        return '"' + value.replace('"', '""') + '"'
    return value


def unescape_cell(value: str) -> str:
    """What a cell said before it was guarded, unless it only looks guarded: of ``'=A`` nobody can tell."""
    return value[1:] if value[:1] == "'" and _is_formula(value[1:]) else value


def _is_formula(value: str) -> bool:
    """Whether a spreadsheet may take it for more than text."""
    return value != "" and value[0] in "=+-@\t\r\n" and not _DECIMAL.match(value)


def encode_csv(header: Iterable[str], rows: Iterable[Iterable[str | int | None]]) -> bytes:
    """CSV in the one form that penmark writes; None is an empty cell."""
    out = [",".join(header)]
    for row in rows:
        cells = [escape_cell("" if v is None else str(v)) for v in row]
        out.append('""' if cells == [""] else ",".join(cells))
    return ("\n".join(out) + "\n").encode()


def detect_delimiter(table: str) -> str:
    """The sign between the cells of a table that somebody saved, by its first line. It is ``;``, or else a tab, where that
    line has no other sign in question: spreadsheets write it so where a comma is the decimal sign. Else it is ``,``."""
    first = re.split("[\r\n]", table[:_FIRST], maxsplit=1)[0]
    by_comma, by_semicolon, by_tab = (len(next(csv.reader([first], delimiter=sign), [])) for sign in ",;\t")
    if by_comma == 1 < by_semicolon:
        return ";"
    return "\t" if by_comma == 1 < by_tab else ","


def make_validation_faults(place: str, errors: Iterable[Any], remedy: str = RESTORE) -> FaultsError:
    """The faults that a record's validation found, each with the place of its field. ``errors``: pydantic's list."""
    faults = []
    for error in errors:
        where = ".".join(str(part) for part in error["loc"])
        given = error.get("input")
        shown = f" (given: {given!r})" if isinstance(given, str | int) and error["type"] != "missing" else ""
        fact = patterns.explain_pattern(error) or error["msg"].removeprefix("Value error, ")
        faults.append(Fault(f"{place}: {where}" if where else place, f"{fact}{shown}", remedy))
    return FaultsError(faults)
