"""The source ``folder``: text files, with a metadata file beside them that says what each of them is.

Options: ``path``; ``metadata`` (a file in the folder; without it ``metadata.csv``, ``.jsonl`` or ``.json`` is looked
for); ``unlisted=ignored`` (leave files alone that are not taken; else each that may be a text is a fault: what the metadata do
not name, and without metadata what does not end in ``.txt`` or lies deeper); columns and constants as in
``mapping``. A row has an id and a ``file`` (without it, ``<id>.txt``). Without any metadata each ``.txt`` file is a
text, and its name the id.
*Reads* the folder. *Writes* nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from penmark.errors import Fault, FaultsError, UsageError, count_noun, quote_blanks
from penmark.plugins import Draft
from penmark.shipped.sources.column_mapping import MAX_TEXT, ColumnMapping, require_path
from penmark.shipped.sources.table_rows import TableRow, read_table_rows
from penmark.shipped.sources.unreadable import SUFFIXES, explain_unreadable

_LITTER = frozenset({"Thumbs.db", "desktop.ini"})
_TEXTS = frozenset({".txt", ".text", ".md", ".markdown", ".html", ".htm", ".rst", *SUFFIXES})
"""How files end that may be meant as texts: where such a file is not taken, it is a fault; others are told."""
_METADATA = ("metadata.csv", "metadata.jsonl", "metadata.json")


class Folder:
    """Texts in files."""

    def __init__(self, options: dict[str, str]) -> None:
        self._folder = require_path(options, "folder", "the folder that holds the texts")
        if self._folder.is_file():
            remedy = "A table is read by `--from table`; a folder of texts is named without the file in it."
            raise UsageError("is a file, not a folder", place=str(self._folder), remedy=remedy)
        if not self._folder.is_dir():
            raise UsageError("there is no such folder", place=str(self._folder), remedy="Correct the option `path`.")
        self._metadata = self._find(options.get("metadata"))
        if options.get("unlisted", "ignored") != "ignored":
            raise UsageError(
                f"unlisted={options['unlisted']} means nothing", remedy="Give unlisted=ignored, or leave it out."
            )
        self._ignoring = "unlisted" in options
        self._others: list[str] = []
        self._mapping = ColumnMapping(options, own=("path", "metadata", "unlisted"))

    def _find(self, named: str | None) -> Path | None:
        if named is not None:
            return self._folder / named
        found = [self._folder / name for name in _METADATA if (self._folder / name).is_file()]
        if len(found) > 1:
            shown = ", ".join(path.name for path in found)
            raise UsageError(f"several metadata files: {shown}", place=str(self._folder), remedy="Give metadata=NAME.")
        return found[0] if found else None

    @property
    def columns(self) -> tuple[str, ...]:
        """What the columns of the metadata are called."""
        return self._mapping.columns_seen

    @property
    def notes(self) -> list[str]:
        """What was left out of the rows, and why, and which files are no texts."""
        shown = ", ".join(map(quote_blanks, self._others[:5])) + (", …" if len(self._others) > 5 else "")
        others = [f"{count_noun(len(self._others), 'file')} not taken: {shown}"] if self._others else []
        return self._mapping.notes + others

    def gather(self, arm_name: str) -> Iterator[Draft]:
        """A draft for each file. Raises FaultsError at the end."""
        faults: list[Fault] = []
        listed: set[Path] = set()
        yield from self._mapping.drafts(self._list_rows(faults, listed), self._folder, faults)
        if not self._ignoring:
            self._check_unlisted(faults, listed)
        if faults:
            raise FaultsError(faults)

    def _check_unlisted(self, faults: list[Fault], listed: set[Path]) -> None:
        """What lies there and is not taken is a fault, so that nothing is missing without a word."""
        read = {path.resolve() for path in listed}
        for path in sorted(self._folder.rglob("*")):
            within = path.relative_to(self._folder)
            if not path.is_file() or path.resolve() in read or within.parts[0].startswith(".") or self._list_own(path):
                continue
            if path.suffix.lower() not in _TEXTS:
                self._others.append(within.as_posix())
                continue
            fact, remedy = self._make_why(path)
            remedy = f"{remedy} Or move it elsewhere, or give unlisted=ignored."
            faults.append(Fault(str(path), fact, remedy))

    def _list_own(self, path: Path) -> bool:
        """Whether a file is the metadata, or one that systems put into folders."""
        return path == self._metadata or path.name.startswith(".") or path.name in _LITTER

    def _make_why(self, path: Path) -> tuple[str, str]:
        """Why a file is not taken, and what to do about it."""
        with path.open("rb") as file:
            refused = explain_unreadable(file.read(MAX_TEXT))
        if refused is None and path.suffix.lower() in SUFFIXES:
            refused = "is no plain text", "Save it as plain text (UTF-8)."
        if refused is not None:
            return refused
        if self._metadata is not None:
            return f"is not named in {self._metadata.name}", "List it."
        if path.parent != self._folder:
            return "lies in a folder within the folder, and is not taken", "Name each file in a metadata.csv: id, file."
        return (
            "does not end in .txt, and is not taken",
            "Name it in a metadata.csv (id, file), or end its name in .txt.",
        )

    def _list_rows(self, faults: list[Fault], listed: set[Path]) -> Iterator[TableRow]:
        if self._metadata is None:
            files = sorted(self._folder.glob("*.txt"))
            listed.update(files)
            if not files:
                fact = "holds neither .txt files nor a metadata file"
                faults.append(Fault(str(self._folder), fact, f"Put {_METADATA[0]} there: id, file, kind, grade, …"))
            for path in files:
                yield TableRow(str(path), {"id": path.stem, "file": path.name})
            return
        columns = self._mapping.columns
        file, name = columns.get("file", "file"), columns.get("id", "id")
        for row in read_table_rows(self._metadata, faults):
            cells = dict(row.cells)
            if cells.get(file, "") == "" and columns.get("text", "text") not in cells and cells.get(name, "") != "":
                cells[file] = f"{cells[name]}.txt"
            for column in (file, columns.get("draft_file", "draft_file")):
                if column in cells:
                    listed.add(self._folder / cells[column])
            yield TableRow(row.place, cells)
