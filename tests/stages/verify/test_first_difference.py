"""Where two texts differ, as it is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from penmark.stages.verify import first_difference
from penmark.stages.verify.check_findings import Findings

HEAD = b"detector,arm,n,note\n"


@pytest.mark.parametrize(
    ("got", "expected", "told"),
    [
        (b"coin,A,5,\n", b"coin,A,4,\n", ("t.csv:2 n (coin, A)", "5", "4")),
        (b"coin,A,4,x\n", b"coin,A,4,\n", ("t.csv:2 note (coin, A)", "x", "an empty cell")),
        (b"coin,A\n", b"coin,A,4,\n", ("t.csv:2", "coin,A", "coin,A,4,")),
        (b"", b"coin,A,4,\n", ("t.csv:2", "the end", "coin,A,4,")),
        (b"coin,A,4,\n\n", b"coin,A,4,\n", ("t.csv:3", "an empty line", "the end")),
        (b'coin,A,4,"a\nb"\n', b'coin,A,4,"a\nc"\n', ("t.csv:3", 'b"', 'c"')),
        (b"coin,A,4,", b"coin,A,4,\n", ("t.csv:2", "a line without", "a line with its end")),
        (b"coin,A,4,x\ry\n", b"coin,A,4,\n", ("t.csv:2", "coin,A,4,x\ry", "coin,A,4,")),
    ],
)
def test_the_cell_of_a_table(got: bytes, expected: bytes, told: tuple[str, str, str]) -> None:
    assert first_difference.find_first_difference("t.csv", HEAD + got, HEAD + expected) == told


def test_another_head() -> None:
    assert first_difference.find_first_difference("t.csv", b"a,b\n", b"a,c\n") == ("t.csv:1", "a,b", "a,c")


def test_long_lines_are_told_from_near_the_difference() -> None:
    place, got, expected = first_difference.find_first_difference(
        "page.html", b"a" * 1000 + b"x" + b"b" * 500, b"a" * 1000 + b"y"
    )
    assert place == "page.html:1"
    assert got.startswith("…" + "a" * 60 + "xb")
    assert expected == "…" + "a" * 60 + "y"


def test_no_fault_reads_alike_on_both_sides(tmp_path: Path) -> None:
    found = Findings(1, "sums", tmp_path)
    found.failed("a", "x" * 400 + "1", "x" * 400 + "2", "Look.")
    found.failed("b", "x" * 400, "x" * 401, "Look.")
    for check in found.checks():
        assert check.got != check.expected
