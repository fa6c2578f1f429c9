"""From the columns of a table to a draft: which column holds what, and constants for all rows.

Options of a table or folder: ``column.NAME=COLUMN`` takes NAME from COLUMN (from none, where COLUMN is empty);
``where.COLUMN=VALUE`` keeps the rows that have it; ``NAME=VALUE`` holds for every row whose own cell is empty.
Without ``column.NAME`` a column is taken for what it is called.
*Reads* the files that rows name. *Writes* nothing. *Never* changes a text.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from penmark.errors import Fault, UsageError, count_noun, quote_blanks, suggest_name
from penmark.plugins import Draft
from penmark.records import Archive, Attested, Consent, Edited, Generated, Session, Transformed
from penmark.shipped.sources.table_rows import TableRow, encode_cell
from penmark.shipped.sources.unreadable import LFS, explain_unreadable

FIELDS = ("language", "register", "subgroup", "author", "topic", "source", "exposures", "withheld")
"""What a document says of itself beside its provenance. ``withheld``: why its text is not published."""
KNOWN = frozenset({"kind", "id", "text", "file", "draft", "draft_file", "draft_grade", "modified", *FIELDS}).union(
    *(record.model_fields for record in (Archive, Attested, Consent, Session, Generated, Edited, Transformed))
)
"""The names that a row, or an option for all rows, may have."""
_FREELY = ("settings.", "locator.", "provenance.", "claimed_")
MAX_TEXT = 16 * 2**20
"""No text file is larger than this (bytes)."""
_TEXTS = ("text", "file", "draft", "draft_file")


class ColumnMapping:
    """The options, taken apart. ``own``: the names that are the plugin's own options."""

    def __init__(self, options: dict[str, str], own: tuple[str, ...]) -> None:
        self.columns = {k.removeprefix("column."): v for k, v in options.items() if k.startswith("column.")}
        self.where = {k.removeprefix("where."): v for k, v in options.items() if k.startswith("where.")}
        taken = (*own, *(k for k in options if k.startswith(("column.", "where."))))
        self.constants = {k: v for k, v in options.items() if k not in taken}
        for name in self.constants:
            if name not in KNOWN and not name.startswith(_FREELY):
                raise UsageError(
                    f"no record has {name!r}{suggest_name(name, KNOWN)}, and it is no option of this source",
                    remedy="An option that is not the source's own holds for every row, and goes into its record: "
                    "kind, grade, evidence_date, language, …",
                )
        self.dropped = 0
        """Rows that ``where`` left out."""
        self._seen: set[str] = set()
        self._files: set[str] = set()

    def drafts(self, rows: Iterator[TableRow], folder: Path, faults: list[Fault]) -> Iterator[Draft]:
        """The drafts of the rows; text files are looked for in ``folder``. What is wrong goes to ``faults``."""
        incomplete: list[Fault] = []
        for row, values in self.chosen(rows):
            draft = self._draft(row, values, folder, faults, incomplete)
            if draft is not None:
                yield draft
        # A column that is nowhere is one fault, not one for each row that lacks it.
        faults.extend(self._make_missing_error(self._file(folder)) or self._check_unnamed(incomplete) or incomplete)

    def chosen(self, rows: Iterator[TableRow]) -> Iterator[tuple[TableRow, dict[str, str]]]:
        """The rows that are kept, with their values by NAME."""
        used = set(self.columns.values())
        for row in rows:
            self._seen.update(row.cells)
            self._files.add(row.place.rpartition(":")[0])
            if any(row.cells.get(column, "") != value for column, value in self.where.items()):
                self.dropped += 1
                continue
            values = {n: v for n, v in row.cells.items() if n not in used and n not in self.columns}
            values |= {name: row.cells[column] for name, column in self.columns.items() if column in row.cells}
            values |= {name: value for name, value in self.constants.items() if values.get(name, "") == ""}
            yield row, values

    @property
    def notes(self) -> list[str]:
        """What was left out of the rows, and why, in words."""
        if self.dropped == 0:
            return []
        asked = ", ".join(f"where.{quote_blanks(column)}={quote_blanks(value)}" for column, value in self.where.items())
        return [f"{count_noun(self.dropped, 'row')} left out: {asked}"]

    def _file(self, folder: Path) -> str:
        """The file that the rows stand in; the folder, where it is more than one, or none."""
        return next(iter(self._files)) if len(self._files) == 1 and "" not in self._files else str(folder)

    def _make_missing_error(self, place: str) -> list[Fault]:
        wanted = {f"column.{name}": column for name, column in self.columns.items() if column != ""}
        wanted |= {f"where.{column}": column for column in self.where}
        return [
            Fault(
                place,
                f"{option}: no row has a column {column!r}{suggest_name(column, self._seen)}",
                f"Columns: {self._columns()}.",
            )
            for option, column in wanted.items()
            if self._seen and column not in self._seen
        ]

    def _check_unnamed(self, incomplete: list[Fault]) -> list[Fault]:
        """One fault where no row has a column for the id, or none for the text."""
        have = self._seen | self.columns.keys() | self.constants.keys()
        absent = [name for name, also in (("id", ("id",)), ("text", ("text", "file"))) if have.isdisjoint(also)]
        if not absent or not incomplete:
            return []
        told = {"id": "no column `id`", "text": "neither a column `text` nor a column `file`"}
        guessed = [f"--column {shlex.quote(f'{name}={_suggest_near(name, self._seen)}')}" for name in absent]
        fact = f"has {' and '.join(told[name] for name in absent)}; its columns: {self._columns()}"
        place = (incomplete[0].place or "").rpartition(":")[0] or incomplete[0].place
        return [Fault(place, fact, f"Say which column holds it: {' '.join(guessed)}")]

    def _columns(self) -> str:
        return ", ".join(map(quote_blanks, sorted(self._seen)))

    @property
    def columns_seen(self) -> tuple[str, ...]:
        """What the columns of the rows are called, as far as they were read."""
        return tuple(sorted(self._seen))

    def _draft(
        self, row: TableRow, values: dict[str, str], folder: Path, faults: list[Fault], incomplete: list[Fault]
    ) -> Draft | None:
        before = len(faults), len(incomplete)
        name = values.get("id", "")
        if name == "":
            incomplete.append(Fault(row.place, "no id", "Name the column that holds it: --column id=…"))
        text = self._text("text", "file", values, row.place, folder, faults)
        draft = self._text("draft", "draft_file", values, row.place, folder, faults)
        if text is None and len(faults) == before[0]:
            fact = "no text: neither a column `text` nor a column `file`"
            incomplete.append(
                Fault(row.place, fact, "Name the column that holds it: --column text=… or --column file=…")
            )
        if text is None or (len(faults), len(incomplete)) != before:
            return None
        fields = {n: values[n] for n in FIELDS if values.get(n, "") != ""}
        known = {"id", *_TEXTS, *FIELDS}
        provenance = {n.removeprefix("provenance."): v for n, v in values.items() if n not in known and v != ""}
        if provenance.get("kind") == "archive" and "source" in fields:
            provenance.setdefault("source", fields["source"])
        fault = _explain_stale(provenance, provenance.pop("modified", ""), row.place)
        if fault is not None:
            faults.append(fault)
            return None
        return Draft(name, text, row.place, fields, provenance, draft=draft)

    def _text(
        self, inline: str, named: str, values: dict[str, str], place: str, folder: Path, faults: list[Fault]
    ) -> bytes | None:
        file = values.get(named, "")
        if file == "":
            return _find_inline(encode_cell(values[inline]), place, inline, faults) if inline in values else None
        if values.get(inline, "") != "":
            faults.append(Fault(place, f"has both `{inline}` and `{named}`", "Leave one of them empty."))
            return None
        return read_text_file(folder, file, place, faults)


def _find_inline(text: bytes, place: str, column: str, faults: list[Fault]) -> bytes | None:
    """The text of a cell; None, and a fault, where a pointer stands in its place."""
    if not text.startswith(LFS):
        return text
    fact, remedy = explain_unreadable(text) or ("", None)
    faults.append(Fault(place, f"{column} {fact}", remedy))
    return None


def _suggest_near(name: str, columns: set[str]) -> str:
    """The column that is called nearly so, or a word that stands for it."""
    return next((column for column in sorted(columns) if column.strip().casefold() == name), "COLUMN")


def _explain_stale(provenance: dict[str, str], modified: str, place: str) -> Fault | None:
    """A page that was modified after the date that it states is no proof of that date; a kept copy of it is."""
    on = provenance.get("evidence_date", "")
    if provenance.get("kind") != "archive" or provenance.get("grade") != "stated" or not modified[:10] > on:
        return None
    remedy = "Find an archived copy of it, and take the date of that copy (`penmark collect ARM --from web-archive`)."
    return Fault(place, f"is said to be of {on or 'no date'}, and was modified on {modified[:10]}", remedy)


def read_text_file(folder: Path, name: str, place: str, faults: list[Fault]) -> bytes | None:
    """The bytes of a text file inside ``folder``; None, and a fault at ``place``, where it cannot be read."""
    path = folder / name
    try:
        if not path.resolve().is_relative_to(folder.resolve()):
            faults.append(Fault(place, f"{name} lies outside {folder}", "Put the file into the folder."))
        elif not path.is_file():
            faults.append(Fault(place, f"there is no file {name} in {folder}", "Correct the name, or add the file."))
        elif path.stat().st_size > MAX_TEXT:
            faults.append(Fault(place, f"{name} is larger than {MAX_TEXT} bytes", "Is it one text?"))
        else:
            read = path.read_bytes()
            refused = explain_unreadable(read)
            if refused is None:
                return read
            faults.append(Fault(place, f"{name} {refused[0]}", refused[1]))
    except (OSError, ValueError) as error:
        reason = os.strerror(error.errno).lower() if isinstance(error, OSError) and error.errno else str(error)
        faults.append(Fault(place, f"{name} cannot be read: {reason}", "Look at the name and its permissions."))
    return None


def require_path(options: dict[str, str], plugin: str, what: str) -> Path:
    """The option ``path``. Raises UsageError where it is not given."""
    if options.get("path", "") == "":
        raise UsageError(f"the source {plugin} needs the option `path`: {what}", remedy="Give it with --option path=…")
    return Path(options["path"])
