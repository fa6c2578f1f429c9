"""Rows of a CSV, TSV, JSON, JSONL or parquet file, every value a string exactly as it is written.

*Reads* the file that it is given, as a stream where the format allows. *Writes* nothing.
*Never* guesses a type: "007", "NA", "0.50" and "null" stay what they are. Only a null of JSON or parquet is absent.
A byte that is not UTF-8 travels as a lone surrogate, so that it can be told with its row.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from penmark import study
from penmark.errors import Fault
from penmark.shipped.sources.unreadable import LFS, explain_unreadable

MAX_LINE = 64 * 2**20
"""No line (and no cell) is longer than this (characters)."""
MAX_WHOLE = 2 * 2**30
"""No file that has to be read whole (JSON) is larger than this (bytes)."""
FORMATS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet")


class TableRow(NamedTuple):
    """One row: ``file:line`` (``file: item n`` where there are no lines), and its cells by column name."""

    place: str
    cells: dict[str, str]


def read_table_rows(
    path: Path, faults: list[Fault], delimiter: str | None = None, lists: tuple[str, ...] = ()
) -> Iterator[TableRow]:
    """The good rows of a file; what is wrong goes to ``faults``, with its row. Nothing is raised for a bad file.

    ``delimiter``: of CSV; without it what its first line shows, a comma or a semicolon. ``lists``: columns of JSON and
    parquet whose lists stay JSON, to be taken apart; others are joined with ``;``.
    """
    suffix = path.suffix.lower()
    if not path.exists():
        faults.append(
            Fault(str(path), "there is no such file or folder", "Look at the name, and at the option --path.")
        )
        return
    if path.is_dir():
        remedy = "Name the file in it. A folder of texts is read by `--from folder`."
        faults.append(Fault(str(path), "is a folder, not a table", remedy))
        return
    try:
        with path.open("rb") as file:
            if (beginning := file.read(len(LFS))) == LFS:
                faults.append(Fault(str(path), *(explain_unreadable(beginning) or ("", None))))
                return
        if suffix in (".csv", ".tsv"):
            yield from _list_csv(path, faults, delimiter or ("\t" if suffix == ".tsv" else None))
        elif suffix in (".jsonl", ".ndjson"):
            yield from _list_jsonl(path, faults, lists)
        elif suffix == ".json":
            yield from _list_json(path, faults, lists)
        elif suffix == ".parquet":
            yield from _list_parquet(path, faults, lists)
        else:
            remedy = f"Give a file that ends in {', '.join(FORMATS)}."
            faults.append(Fault(str(path), "is not a kind of table that can be read", remedy))
    except FileNotFoundError:
        faults.append(Fault(str(path), "there is no such file", "Look at the name; `path` is relative to the study."))
    except OSError as error:
        faults.append(Fault(str(path), str(error.strerror or error).lower(), "Look at the file and its permissions."))


def encode_cell(value: str) -> bytes:
    """The bytes that a cell was read from (lone surrogates give back what was no UTF-8)."""
    try:
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogatepass")


# --- CSV -----------------------------------------------------------------------------------------------------------


def _list_csv(path: Path, faults: list[Fault], given: str | None) -> Iterator[TableRow]:
    with path.open("rb") as binary:
        if binary.read(2) in (b"\xff\xfe", b"\xfe\xff"):
            faults.append(Fault(str(path), "is UTF-16", "Save it as CSV UTF-8."))
            return
    csv.field_size_limit(MAX_LINE)
    with path.open("r", encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        seen = [""]
        grid = study.Grid(str(path), _list_lines(file, seen), given)
        try:
            for line in grid:
                if isinstance(line, Fault):
                    faults.append(line)
                elif _check_whole(grid, faults):
                    yield TableRow(f"{path}:{line.number}", line.cells)
                else:
                    return
        except csv.Error as error:
            remedy = "Look for a quote that is not closed, or not doubled; nothing after this row was read."
            faults.append(_make_broken(f"{path}:{grid.start}", seen[0], f"is not CSV: {error}", remedy))


def _list_lines(file: IO[str], seen: list[str]) -> Iterator[str]:
    """The lines; the one that is being read is kept in ``seen``."""
    while line := file.readline(MAX_LINE + 1):
        seen[0] = line
        if len(line) > MAX_LINE:
            raise csv.Error("the line is too long")
        yield line


def _check_whole(grid: study.Grid, faults: list[Fault]) -> bool:
    """Whether the cells are parted by the sign that stands between their names."""
    for other, named in ((";", "'delimiter=;'"), ("\t", "delimiter=tab"), (",", "delimiter=,")):
        if len(grid.names) == 1 and other != grid.sign and other in grid.names[0]:
            remedy = f"If another sign parts the cells, give --option {named}"
            faults.append(Fault(f"{grid.place}:1", "has one column only", remedy))
            return False
    return True


# --- JSON ----------------------------------------------------------------------------------------------------------


def _list_jsonl(path: Path, faults: list[Fault], lists: tuple[str, ...]) -> Iterator[TableRow]:
    with path.open("r", encoding="utf-8-sig", errors="surrogateescape", newline="\n") as file:
        number = 0
        while line := file.readline(MAX_LINE + 1):
            number += 1
            place = f"{path}:{number}"
            if len(line) > MAX_LINE:
                faults.append(Fault(place, "the line is too long", "Nothing after this line was read."))
                return
            if line.strip() == "":
                continue
            try:
                value = _parse_json(line)
            except (ValueError, RecursionError) as error:
                faults.append(_make_broken(place, line, f"is not valid JSON ({error})", "Correct the line."))
                continue
            row = _find_object(value, place, faults, lists)
            if row is not None:
                yield row


def _list_json(path: Path, faults: list[Fault], lists: tuple[str, ...]) -> Iterator[TableRow]:
    if path.stat().st_size > MAX_WHOLE:
        faults.append(Fault(str(path), "is too large to be read whole", "Save it as JSONL, one object a line."))
        return
    text = path.read_text(encoding="utf-8-sig", errors="surrogateescape")
    try:
        value = _parse_json(text)
    except (ValueError, RecursionError) as error:
        faults.append(_make_broken(str(path), text, f"is not valid JSON ({error})", "Correct the file."))
        return
    if not isinstance(value, list):
        faults.append(Fault(str(path), "is not a list of objects", "Give a JSON list with one object a text."))
        return
    for number, item in enumerate(value, 1):
        row = _find_object(item, f"{path}: item {number}", faults, lists)
        if row is not None:
            yield row


def _make_broken(place: str, text: str, fact: str, remedy: str) -> Fault:
    """What is wrong with a text that cannot be parsed: bytes that are no UTF-8, where it holds some."""
    for c in text:
        if "\udc80" <= c <= "\udcff":
            return Fault(place, f"is not UTF-8 (byte 0x{ord(c) - 0xDC00:02x})", "Save the file as UTF-8.")
    return Fault(place, fact, remedy)


def _parse_json(text: str) -> Any:
    return json.loads(
        text, parse_int=str, parse_float=str, parse_constant=_explain_refusal, object_pairs_hook=_require_unique_keys
    )


def _explain_refusal(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _require_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(n for n in names if names.count(n) > 1)!r} stands there twice")
    return found


def _find_object(value: Any, place: str, faults: list[Fault], lists: tuple[str, ...]) -> TableRow | None:
    if not isinstance(value, dict):
        shown = json.dumps(value, ensure_ascii=False)[:60]
        faults.append(Fault(place, f"is not an object: {shown}", "Each text is an object such as {id, text, …}."))
        return None
    return TableRow(
        place, {name: _format_word(item, name in lists) for name, item in value.items() if item is not None}
    )


def _format_word(value: Any, whole: bool = False) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list) and not whole and all(isinstance(item, str) for item in value):
        return ";".join(value)
    return json.dumps(value, ensure_ascii=False, default=str)


# --- parquet -------------------------------------------------------------------------------------------------------


def _list_parquet(path: Path, faults: list[Fault], lists: tuple[str, ...]) -> Iterator[TableRow]:
    import polars as pl

    try:
        with path.open("rb") as file:  # an open file: a name could be taken for a pattern
            table = pl.read_parquet(file)
        plain = [n for n, kind in table.schema.items() if not (kind in (pl.String, pl.Binary) or kind.is_nested())]
        table = table.with_columns(pl.col(plain).cast(pl.String))
    except pl.exceptions.PolarsError as error:
        faults.append(Fault(str(path), f"is not a parquet file that can be read ({error})", "Save it again."))
        return
    for number, values in enumerate(table.iter_rows(), 1):
        cells = {
            name: value.decode("utf-8", "surrogateescape")
            if isinstance(value, bytes)
            else _format_word(value, name in lists)
            for name, value in zip(table.columns, values, strict=True)
            if value is not None
        }
        yield TableRow(f"{path}: row {number}", cells)
