"""CSV in the one form that penmark writes, and faults of records told by field.

*Reads* and *writes* nothing. *Never* lets a spreadsheet run a cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from penmark.errors import Fault, FaultsError

RESTORE = "What penmark wrote is not edited by hand: restore the file from where it came."

_DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\Z")


def cell(value: str) -> str:
    """A CSV cell: guarded against spreadsheets that run it, then quoted where needed (docs/format.md, 1)."""
    if value and value[0] in "=+-@\t\r\n" and not _DECIMAL.match(value):
        value = "'" + value
    if any(c in value for c in ',"\r\n'):
        return '"' + value.replace('"', '""') + '"'
    return value


def csv_bytes(header: Iterable[str], rows: Iterable[Iterable[str | int | None]]) -> bytes:
    """CSV in the one form that penmark writes; None is an empty cell."""
    out = [",".join(header)]
    for row in rows:
        cells = [cell("" if v is None else str(v)) for v in row]
        out.append('""' if cells == [""] else ",".join(cells))
    return ("\n".join(out) + "\n").encode()


def validated(place: str, errors: Iterable[Any], remedy: str = RESTORE) -> FaultsError:
    """The faults that a record's validation found, each with the place of its field. ``errors``: pydantic's list."""
    faults = []
    for error in errors:
        where = ".".join(str(part) for part in error["loc"])
        given = error.get("input")
        shown = f" (given: {given!r})" if isinstance(given, str | int) and error["type"] != "missing" else ""
        fact = error["msg"].removeprefix("Value error, ")
        faults.append(Fault(f"{place}: {where}" if where else place, f"{fact}{shown}", remedy))
    return FaultsError(faults)
