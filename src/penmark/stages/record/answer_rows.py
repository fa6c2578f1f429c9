"""The rows of a file of answers: CSV (with commas, semicolons or tabs), JSON (a list), or JSON Lines; each with its exact
characters.

*Reads* one file. *Writes* nothing. *Never* parses a number: what stands in the file is what is kept.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from penmark import study
from penmark.errors import Fault, FaultsError, PenmarkError, UsageError
from penmark.journal import evidence_log
from penmark.stages.record.columns import MEND

MAX_FILE = 2**29
"""A file of answers is not larger than this (bytes)."""
MAX_COLUMNS = 1000
EXPECTED = (
    "An answer is an object with named fields: one that says which document it is about (--map document=FIELD), "
    "and those that the sealed card points at (detectors/NAME.json, under answer)."
)
CUT_OFF = f"It may be cut off. {MEND}"
_WHITE = " \t\r\n"
_DECODER = json.JSONDecoder()


class AnswerRow(NamedTuple):
    """``place``: file and line. ``body``: the row as JSON: its own characters, or for CSV an object of the cells as
    strings, an empty cell being null."""

    place: str
    body: bytes


def read_answer_rows(path: Path) -> list[AnswerRow]:
    """All rows. Raises FaultsError with every row that is none, UsageError for another kind of file."""
    kinds = {
        ".csv": _parse_csv,
        ".tsv": _parse_tsv,
        ".json": _parse_json_list,
        ".jsonl": _parse_json_lines,
        ".ndjson": _parse_json_lines,
    }
    kind = kinds.get(path.suffix.lower())
    if kind is None:
        raise UsageError(
            "is no file of answers by its name",
            place=str(path),
            remedy=f"Name it with one of {', '.join(kinds)}; save a spreadsheet as CSV UTF-8.",
        )
    raw = study.read_bytes(path, limit=MAX_FILE)
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise PenmarkError("is UTF-16", place=str(path), remedy="Save it as CSV UTF-8.")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PenmarkError(
            f"is not UTF-8 (byte {error.start})", place=str(path), remedy="Save the file as UTF-8."
        ) from None
    rows: list[AnswerRow] = []
    faults: list[Fault] = []
    for item in kind(str(path), text):
        if isinstance(item, Fault):
            faults.append(item)
        elif len(item.body) > evidence_log.MAX_BODY:
            fact = f"has {len(item.body)} bytes; at most {evidence_log.MAX_BODY} are kept"
            faults.append(Fault(item.place, fact, "Look what the row is: no vendor's answer is so long."))
        else:
            rows.append(item)
    if faults:
        raise FaultsError(faults)
    if not rows:
        raise PenmarkError("holds no answers", place=str(path), remedy="Look at the name of the file.")
    return rows


def _parse_json_list(place: str, text: str) -> Iterator[AnswerRow | Fault]:
    at, line = _past_white(text, 0), 1
    if text[at : at + 1] != "[":
        yield Fault(place, "is not a list of answers ([{…}, …])", "Name a file of lines .jsonl.")
        return
    counted, at = 0, _past_white(text, at + 1)
    if text[at : at + 1] == "]":
        at += 1
    else:
        while True:
            line, counted = line + text.count("\n", counted, at), at
            end = _find_value_end(f"{place}:{line}", text, at)
            if isinstance(end, Fault):
                yield end
                return  # where this one ends is not known, so neither is where the next begins
            yield _check_row(f"{place}:{line}", text[at:end])
            at = _past_white(text, end)
            mark, at = text[at : at + 1], _past_white(text, at + 1)
            if mark == "]":
                break
            if mark != ",":
                yield Fault(f"{place}:{line}", "no comma, and no end of the list, after this answer", CUT_OFF)
                return
    if _past_white(text, at) != len(text):
        yield Fault(place, "something stands after the list", "A file .json holds one list; name lines .jsonl.")


def _parse_json_lines(place: str, text: str) -> Iterator[AnswerRow | Fault]:
    for number, given in enumerate(text.split("\n"), 1):
        line = given.removesuffix("\r")
        start = _past_white(line, 0)
        if start == len(line):
            continue
        where = f"{place}:{number}"
        end = _find_value_end(where, line, start)
        if isinstance(end, Fault):
            yield end
        elif _past_white(line, end) != len(line):
            yield Fault(where, "something stands after the answer", "Each line holds one JSON object.")
        else:
            yield _check_row(where, line[start:end])


def _check_row(place: str, text: str) -> AnswerRow | Fault:
    if not text.startswith("{"):
        shown = " ".join(text[:61].split())
        return Fault(place, f"{shown if len(text) <= 60 else shown[:59] + '…'} is not an object ({{…}})", EXPECTED)
    try:
        return AnswerRow(place, text.encode())
    except UnicodeEncodeError:
        return Fault(place, "holds half of a surrogate pair", MEND)


def _find_value_end(place: str, text: str, start: int) -> int | Fault:
    try:
        return _DECODER.raw_decode(text, start)[1]
    except RecursionError:
        return Fault(place, "nests too deep", "No vendor answers so; look what the file is.")
    except ValueError as error:  # broken JSON, or a number of more digits than Python takes
        said = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        return Fault(place, f"is not JSON: {said}", MEND)


def _past_white(text: str, at: int) -> int:
    while at < len(text) and text[at] in _WHITE:
        at += 1
    return at


def _parse_csv(place: str, text: str, sign: str | None = None) -> Iterator[AnswerRow | Fault]:
    before = csv.field_size_limit(evidence_log.MAX_BODY)
    grid = study.Grid(place, io.StringIO(text, newline=""), sign)
    try:
        for line in grid:
            if len(grid.names) > MAX_COLUMNS:
                fact = f"{len(grid.names)} columns; at most {MAX_COLUMNS} are read"
                yield Fault(f"{place}:1", fact, "Leave out the columns that belong to no answer.")
                return
            if isinstance(line, Fault):
                yield line
            else:
                named = {name: cell if cell != "" else None for name, cell in line.cells.items()}
                yield AnswerRow(f"{place}:{line.number}", json.dumps(named, ensure_ascii=False).encode())
    except csv.Error as error:
        yield Fault(f"{place}:{grid.start}", f"is not CSV: {error}", "Save the table again as CSV in UTF-8.")
    finally:
        csv.field_size_limit(before)


def _parse_tsv(place: str, text: str) -> Iterator[AnswerRow | Fault]:
    return _parse_csv(place, text, "\t")
