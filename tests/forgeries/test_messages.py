"""What is told of a changed figure: both verifiers name its row and its column, and show where it differs."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from pathlib import Path

import pytest
from tests.forgeries import both_verifiers
from tests.forgeries.forger import Forger

from penmark import study
from penmark.standalone import __file__ as beside

VERIFIER = Path(beside).with_name("verify.py")


def test_a_digit_of_table_1(forger: Forger) -> None:
    """The row is longer than a message: both verifiers name the row, the column and both figures."""
    header, row, *rest = csv.reader(io.StringIO(forger.read("tables/table1.csv").decode(), newline=""))
    column = header.index("false_positives")
    was, row[column] = row[column], "7"
    forger.write("tables/table1.csv", study.encode_csv(header, [row, *rest]))
    for told in (both_verifiers.ours(forger.root), both_verifiers.alone(forger.root)):
        assert f"tables/table1.csv:2 false_positives (edge.2, 2.0): 7; expected {was}" in told.faults(7)
    assert "7 (tables/table1.csv:2 false_positives)" in both_verifiers.ours(forger.root).faults(8)


def test_a_character_far_into_a_long_cell(forger: Forger) -> None:
    path = "tables/documents.csv"
    data = forger.read(path)
    at = data.index(b'""word_target""')
    forger.write(path, data[:at] + data[at:].replace(b"30", b"31", 1))
    for told in (both_verifiers.ours(forger.root), both_verifiers.alone(forger.root)):
        [fault] = [line for line in told.faults(7).split("\n") if "documents.csv" in line]
        assert "provenance (C-01, C)" in fault
        got, _, expected = fault.partition("; expected ")
        assert "31" in got[-200:]
        assert got.partition(": ")[2] != expected


@pytest.mark.parametrize("cell", [b"x\ry", b"x" * 200_000], ids=["a lone CR", "a long cell"])
@pytest.mark.parametrize("path", ["tables/rates.csv", "tables/readings.csv"])
def test_a_cell_that_no_reader_of_tables_takes(forger: Forger, path: str, cell: bytes) -> None:
    lines = forger.read(path).split(b"\n")
    lines[2] = lines[2].rpartition(b",")[0] + b"," + cell
    forger.write(path, b"\n".join(lines))
    forger.sums()
    for verify in (["-m", "penmark", "verify"], [str(VERIFIER)]):
        done = subprocess.run([sys.executable, *verify, str(forger.root)], capture_output=True, text=True, check=False)
        assert done.returncode == 1, done.stderr
        assert f"{path}:3" in done.stdout
        assert "annot be checked" not in done.stdout
        failed = {line[0] for line in done.stdout.splitlines() if line[1:2] == " " and " failed " in line.lower()}
        assert "7" in failed, done.stdout
        assert "5" not in failed, done.stdout


def test_a_table_with_very_many_lines_is_not_made_a_page_of(forger: Forger) -> None:
    forger.write("tables/rates.csv", forger.read("tables/rates.csv") + b"\n" * 300_000)
    forger.sums()
    told = both_verifiers.ours(forger.root)
    assert 7 in told.failed
    assert "see check 7" in told.unknown()
