"""Journals: the append-only record of all attempts and readings of one detector (docs/format.md, 7).

``JournalWriter`` makes them; ``read_journal`` and ``read_journals`` hold them against the format and give their columns.
Nobody else parses them.
"""

from penmark.journal.append_log import JournalWriter
from penmark.journal.journal_lines import FIELDS, KINDS, STOPPED, make_start_line
from penmark.journal.journal_reader import MAX_FAULTS, Journal, make_schema, name_journal, read_journal, read_journals

__all__ = [
    "FIELDS",
    "KINDS",
    "MAX_FAULTS",
    "STOPPED",
    "Journal",
    "JournalWriter",
    "make_schema",
    "make_start_line",
    "name_journal",
    "read_journal",
    "read_journals",
]
