"""What is told of a changed figure: both verifiers name its row and its column, and show where it differs."""

from __future__ import annotations

import csv
import io

from tests.forgeries import both
from tests.forgeries.forger import Forger

from penmark import study


def test_a_digit_of_table_1(forger: Forger) -> None:
    """The row is longer than a message: both verifiers name the row, the column and both figures."""
    header, row, *rest = csv.reader(io.StringIO(forger.read("tables/table1.csv").decode(), newline=""))
    column = header.index("false_positives")
    was, row[column] = row[column], "7"
    forger.write("tables/table1.csv", study.csv_bytes(header, [row, *rest]))
    for told in (both.ours(forger.root), both.alone(forger.root)):
        assert f"tables/table1.csv:2 false_positives (edge.2, 2.0): 7; expected {was}" in told.faults(7)
    assert "7 (tables/table1.csv:2 false_positives)" in both.ours(forger.root).faults(8)


def test_a_character_far_into_a_long_cell(forger: Forger) -> None:
    path = "tables/documents.csv"
    data = forger.read(path)
    at = data.index(b'""word_target""')
    forger.write(path, data[:at] + data[at:].replace(b"30", b"31", 1))
    for told in (both.ours(forger.root), both.alone(forger.root)):
        [fault] = [line for line in told.faults(7).split("\n") if "documents.csv" in line]
        assert "provenance (C-01, C)" in fault
        got, _, expected = fault.partition("; expected ")
        assert "31" in got[-200:]
        assert got.partition(": ")[2] != expected
