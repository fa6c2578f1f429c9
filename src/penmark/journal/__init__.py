"""Journals: the append-only record of all attempts and readings of one detector (docs/format.md, 7).

``Writer`` makes them; ``read`` and ``read_all`` hold them against the format and give their columns.
Nobody else parses them.
"""

from penmark.journal.lines import FIELDS, KINDS, STOPPED, start_line
from penmark.journal.reading import MAX_FAULTS, Journal, file_name, read, read_all, schema
from penmark.journal.writing import Writer

__all__ = [
    "FIELDS",
    "KINDS",
    "MAX_FAULTS",
    "STOPPED",
    "Journal",
    "Writer",
    "file_name",
    "read",
    "read_all",
    "schema",
    "start_line",
]
