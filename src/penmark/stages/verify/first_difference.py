"""Where two texts differ, told so that a reader sees it: the first line, of a table the cell, from near the first character.

*Reads* and *writes* nothing. *Never* tells two texts in words that read alike.
"""

from __future__ import annotations

import csv
from itertools import zip_longest

_BEFORE = 60
"""So many characters of a line are shown before the first that differs."""
_KEYS = ("id", "rule", "detector", "version", "document", "group", "arm", "slice_by", "slice", "setting", "flagged_by")
"""The columns that say what a row of a table is about."""
_BLANK = "an empty cell"


def cut_around(got: str, expected: str) -> tuple[str, str]:
    """Both texts from shortly before the first character that differs."""
    at = next((n for n, (a, b) in enumerate(zip_longest(got, expected)) if a != b), 0)
    start = max(0, at - _BEFORE)
    cut = "…" if start else ""
    return cut + got[start:], cut + expected[start:]


def find_first_difference(path: str, got: bytes, expected: bytes) -> tuple[str, str, str]:
    """Place, what stands there, and what should, of the first line of a file that is another; lines count from 1.

    Of a table the place names the column and the row: ``tables/rates.csv:9 low (coin, A)``.
    """
    theirs, ours = (_split_lines(text) for text in (got, expected))
    at = next((n for n, (a, b) in enumerate(zip_longest(theirs, ours)) if a != b), 0)
    place, said, made = f"{path}:{at + 1}", _decode_line(theirs, at), _decode_line(ours, at)
    if said == made:
        got_end, made_end = (
            "a line with its end" if b"\n" in lines[at] else "a line without" for lines in (theirs, ours)
        )
        return place, got_end, made_end
    if path.endswith(".csv") and said is not None and made is not None and at:
        head, was, now = (_parse_cells(line) for line in (_decode_line(ours, 0) or "", said, made))
        if len(head) == len(was) == len(now) and was != now:
            column = next(n for n, (a, b) in enumerate(zip(was, now, strict=True)) if a != b)
            row = dict(zip(head, now, strict=True))
            about = ", ".join(row[key] for key in _KEYS if row.get(key))
            there, right = cut_around(was[column], now[column])
            return f"{place} {head[column]} ({about})", there or _BLANK, right or _BLANK
    there, right = cut_around(said or "", made or "")
    return place, _describe_line(said, there), _describe_line(made, right)


def _parse_cells(line: str) -> list[str]:
    """The cells of a row; none where it is no row that stands by itself."""
    try:
        return next(csv.reader([line]), [])
    except csv.Error:
        return []


def _split_lines(text: bytes) -> list[bytes]:
    """The lines, each with its end, but for a last one that has none."""
    *whole, rest = text.split(b"\n")
    return [line + b"\n" for line in whole] + ([rest] if rest else [])


def _decode_line(lines: list[bytes], at: int) -> str | None:
    """The line without its end, or None behind the last one."""
    return lines[at].removesuffix(b"\n").decode("utf-8", "replace") if at < len(lines) else None


def _describe_line(line: str | None, shown: str) -> str:
    return "the end" if line is None else shown or "an empty line"
