"""The source ``folder``: text files, with a metadata file beside them that says what each of them is.

Options: ``path``; ``metadata`` (a file in the folder; without it ``metadata.csv``, ``.jsonl`` or ``.json`` is looked
for); ``unlisted=ignored`` (leave text files alone that the metadata do not name); columns and constants as in
``mapping``. A row has an id and a ``file`` (without it, ``<id>.txt``). Without any metadata each ``.txt`` file is a
text, and its name the id.
*Reads* the folder. *Writes* nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from penmark.errors import Fault, FaultsError, UsageError
from penmark.plugins import Draft
from penmark.sources.mapping import MAX_TEXT, Mapping, required_path
from penmark.sources.rows import Row, rows
from penmark.sources.unreadable import SUFFIXES, refusal

_METADATA = ("metadata.csv", "metadata.jsonl", "metadata.json")


class Folder:
    """Texts in files."""

    def __init__(self, options: dict[str, str]) -> None:
        self._folder = required_path(options, "folder", "the folder that holds the texts")
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
        self._mapping = Mapping(options, own=("path", "metadata", "unlisted"))

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

    def gather(self, arm_name: str) -> Iterator[Draft]:
        """A draft for each file. Raises FaultsError at the end."""
        faults: list[Fault] = []
        listed: set[Path] = set()
        yield from self._mapping.drafts(self._rows(faults, listed), self._folder, faults)
        if not self._ignoring:
            self._unlisted(faults, listed)
        if faults:
            raise FaultsError(faults)

    def _unlisted(self, faults: list[Fault], listed: set[Path]) -> None:
        for path in sorted(self._folder.iterdir()):
            if path in listed:
                continue
            if path.suffix == ".txt" and self._metadata is not None:
                remedy = "List it, move it elsewhere, or give unlisted=ignored."
                faults.append(Fault(str(path), f"is not named in {self._metadata.name}", remedy))
            elif path.suffix.lower() in SUFFIXES and path.is_file():
                with path.open("rb") as file:
                    fact, remedy = refusal(file.read(MAX_TEXT)) or (
                        "is no plain text",
                        "Save it as plain text (UTF-8).",
                    )
                faults.append(Fault(str(path), fact, f"{remedy} Or move it elsewhere, or give unlisted=ignored."))

    def _rows(self, faults: list[Fault], listed: set[Path]) -> Iterator[Row]:
        if self._metadata is None:
            files = sorted(self._folder.glob("*.txt"))
            if not files:
                fact = "holds neither .txt files nor a metadata file"
                faults.append(Fault(str(self._folder), fact, f"Put {_METADATA[0]} there: id, file, kind, grade, …"))
            for path in files:
                yield Row(str(path), {"id": path.stem, "file": path.name})
            return
        columns = self._mapping.columns
        file, name = columns.get("file", "file"), columns.get("id", "id")
        for row in rows(self._metadata, faults):
            cells = dict(row.cells)
            if cells.get(file, "") == "" and columns.get("text", "text") not in cells and cells.get(name, "") != "":
                cells[file] = f"{cells[name]}.txt"
            for column in (file, columns.get("draft_file", "draft_file")):
                if column in cells:
                    listed.add(self._folder / cells[column])
            yield Row(row.place, cells)
