"""The source ``table``: texts, or names of text files, in the rows of a CSV, TSV, JSON, JSONL or parquet file.

Options: ``path``; ``delimiter`` (one character, or ``tab``; comma and semicolon are told apart
without it); the columns and constants of ``mapping``.
*Reads* that file and the text files that it names, in the folder where it lies. *Writes* nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from penmark.errors import Fault, FaultsError, UsageError
from penmark.plugins import Draft
from penmark.shipped.sources.column_mapping import ColumnMapping, require_path
from penmark.shipped.sources.table_rows import TableRow, read_table_rows


class Table:
    """Texts in a table."""

    def __init__(self, options: dict[str, str]) -> None:
        self._path = require_path(options, "table", "the CSV, JSON, JSONL or parquet file")
        delimiter = options.get("delimiter")
        self._delimiter = "\t" if delimiter == "tab" else delimiter
        if self._delimiter is not None and len(self._delimiter) != 1:
            raise UsageError(f"delimiter={delimiter} is not one character", remedy="Give one, or `tab`.")
        self._mapping = ColumnMapping(options, own=("path", "delimiter"))

    @property
    def columns(self) -> tuple[str, ...]:
        """What the columns of the table are called."""
        return self._mapping.columns_seen

    @property
    def notes(self) -> list[str]:
        """What was left out of the rows, and why."""
        return self._mapping.notes

    def gather(self, arm_name: str) -> Iterator[Draft]:
        """A draft for each row. Raises FaultsError at the end."""
        faults: list[Fault] = []
        count = 0

        def counted() -> Iterator[TableRow]:
            nonlocal count
            for row in read_table_rows(self._path, faults, self._delimiter):
                count += 1
                yield row

        yield from self._mapping.drafts(counted(), self._path.parent, faults)
        if count == 0 and not faults:
            faults.append(Fault(str(self._path), "holds no rows", "Look at the name of the file."))
        if faults:
            raise FaultsError(faults)
