"""Tables as people save them from spreadsheets: one reader for every verb that takes one.

Commas, semicolons and tabs are told apart; a first line ``sep=;`` says which; blank rows, and columns without a name and
without a cell, are left out. What cannot be read in one way only (a title above the names, a cell under no name) is told.
*Reads* and *writes* nothing. *Never* takes a cell for anything but text, or moves one to another column.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from penmark.errors import Fault
from penmark.study.csv_files import detect_delimiter

_SEP = re.compile(r'"?sep=([^"])"?', re.IGNORECASE)
_BLANK = ' ,;\t"\r\n\ufeff'
_SHOWN = 60
SIGNS = {",": "commas", ";": "semicolons", "\t": "tabs"}
TITLE = "If it is a title, delete the rows above the one that names the columns"


class Line(NamedTuple):
    """A row: the number of its first line in the file, and its cells by the names of their columns."""

    number: int
    cells: dict[str, str]


class Grid:
    """The rows of one table. ``start``: where the row begins that is being read. ``sign``: what stands between cells; without
    one, what the first line shows. ``names``: of the columns, once the first row was read; iterating may raise csv.Error."""

    def __init__(self, place: str, lines: Iterable[str], sign: str | None = None) -> None:
        self.place, self.sign, self.names, self.start = place, sign or ",", list[str](), 1
        self._lines = self._list_opened(iter(lines), sign)

    def _list_opened(self, lines: Iterator[str], sign: str | None) -> Iterator[str]:
        """All lines but the one that says which sign parts the cells. Looks for the first that is not blank."""
        head: list[str] = []
        for line in lines:
            told = _SEP.fullmatch(line.strip(" \r\n\ufeff")) if not head else None
            if told is not None and told[1] is not None:
                sign = sign or told[1]
                head.append("\n")  # a blank line: lines keep their numbers
                continue
            head.append(line)
            if line.strip(_BLANK):
                break
        self.sign = sign or detect_delimiter(head[-1].removeprefix("\ufeff") if head else "")
        return itertools.chain(head, lines)

    def __iter__(self) -> Iterator[Line | Fault]:
        reader = csv.reader(self._lines, delimiter=self.sign, strict=True)
        header: list[str] | None = None
        first = True
        for cells in reader:
            number, self.start = self.start, reader.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if header is None:
                header, faults = cells, list(self._check_header(number, cells))
                yield from faults
                if faults:
                    return
                continue
            row = self._make_row(number, header, cells, first)
            yield row
            if first and isinstance(row, Fault) and self._is_titled(header, cells):
                return
            first = False
        if header is None:
            yield Fault(f"{self.place}:1", "is empty, and has no header", "The first row names the columns.")

    def _check_header(self, number: int, header: list[str]) -> Iterator[Fault]:
        self.names = [name for name in header if name.strip() != ""]
        for name in sorted({name for name in self.names if self.names.count(name) > 1})[:20]:
            fact = f"two columns are named {name[:_SHOWN]!r}"
            yield Fault(f"{self.place}:{number}", fact, "Give each column a name of its own.")

    def _is_titled(self, header: list[str], cells: list[str]) -> bool:
        return len(self.names) == 1 < sum(cell.strip() != "" for cell in cells) and header != cells

    def _make_row(self, number: int, header: list[str], cells: list[str], first: bool) -> Line | Fault:
        place = f"{self.place}:{number}"
        quote = f"uote cells that hold {SIGNS.get(self.sign, 'that sign')} or line ends."
        if first and self._is_titled(header, cells):
            fact = f"has {len(cells)} cells, and above it only {self.names[0][:_SHOWN]!r} is a name of a column"
            return Fault(place, fact, f"{TITLE}; else name each column, or q{quote}")
        while len(cells) > len(header) and cells[-1].strip() == "":
            cells = cells[:-1]
        if not any(name.strip() for name in header[len(cells) :]):
            cells = cells + [""] * (len(header) - len(cells))
        if len(cells) != len(header):
            return Fault(place, f"{len(cells)} cells, where the header has {len(header)}", f"Q{quote}")
        for column, (name, cell) in enumerate(zip(header, cells, strict=True), 1):
            if name.strip() == "" and cell.strip() != "":
                fact = f"{cell[:_SHOWN]!r} stands in column {column}, which has no name"
                return Fault(place, fact, "Name the column, or empty it.")
        return Line(number, {name: cell for name, cell in zip(header, cells, strict=True) if name.strip() != ""})
