"""Tables as spreadsheets write them: read, or refused with a remedy that fits, by every verb in one way."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from tests.stages.record.test_record import imported, made, readings, untouched, written

from penmark import study
from penmark.errors import Fault, FaultsError, PenmarkError, UsageError
from penmark.shipped.sources.table_rows import read_table_rows

HEAD = "document,displayed,operator"
READ = {
    "plain": f"{HEAD}\n001,0.1,AB\n002,0.9,AB\n",
    "blank rows": f"{HEAD}\n001,0.1,AB\n,,\n002,0.9,AB\n,,\n , ,\n\n",
    "blank rows above": f",,\n\n{HEAD}\n001,0.1,AB\n002,0.9,AB\n",
    "blank columns": f",{HEAD},,\n,001,0.1,AB,,\n,002,0.9,AB,,\n",
    "more blank cells": f"{HEAD}\n001,0.1,AB,,\n002,0.9,AB\n",
    "sep": f"sep=;\r\n{HEAD};\r\n001;0.1;AB\r\n002;0.9;AB\r\n".replace(",", ";"),
    "quoted sep and mark": f'\ufeff"sep=,"\n{HEAD}\n001,0.1,AB\n002,0.9,AB\n',
    "semicolons": f"{HEAD}\n001,0.1,AB\n002,0.9,AB\n".replace(",", ";"),
    "tabs": f"{HEAD}\r\n001,0.1,AB\r\n002,0.9,AB\r\n".replace(",", "\t"),
    "mark": f"\ufeff{HEAD}\n001,0.1,AB\n002,0.9,AB\n",
}
REFUSED = {
    "title": (f"Screen readings November,,\n{HEAD}\n001,0.1,AB\n", ":2", "Screen readings November", "delete the rows"),
    "short title": (f"Screen readings\n{HEAD}\n001,0.1,AB\n", ":2", "Screen readings", "delete the rows"),
    "a cell without a name": (
        f"{HEAD},\n001,0.1,AB,\n002,0.9,AB,note\n",
        ":3",
        "'note' stands in column 4",
        "Name the",
    ),
    "an unquoted comma": (f"{HEAD}\n001,0,1,AB\n", ":2", "4 cells, where the header has 3", "Quote cells"),
    "a short row": (f"{HEAD}\n001,0.1\n", ":2", "2 cells, where the header has 3", "Quote cells"),
    "names twice": (f"{HEAD},operator\n001,0.1,AB,AB\n", ":1", "two columns are named 'operator'", "a name of its own"),
}


@pytest.mark.parametrize("text", READ.values(), ids=READ)
def test_what_spreadsheets_add_is_left_out_for_record_and_collect(tmp_path: Path, text: str) -> None:
    place, edition = made(tmp_path)
    path = written(tmp_path, text, "screen.csv")
    imported(place, edition, path)
    assert {name: row["displayed"] for name, row in readings(edition).items()} == {"001": "0.1", "002": "0.9"}
    faults: list[Fault] = []
    assert [row.cells for row in read_table_rows(path, faults)] == [
        {"document": "001", "displayed": "0.1", "operator": "AB"},
        {"document": "002", "displayed": "0.9", "operator": "AB"},
    ]
    assert faults == []


@pytest.mark.parametrize(("text", "line", "fact", "remedy"), REFUSED.values(), ids=REFUSED)
def test_what_could_be_read_in_two_ways_is_refused_with_a_remedy_that_fits(
    tmp_path: Path, text: str, line: str, fact: str, remedy: str
) -> None:
    place, edition = made(tmp_path)
    path = written(tmp_path, text, "screen.csv")
    with pytest.raises(FaultsError) as caught:
        imported(place, edition, path)
    faults: list[Fault] = []
    list(read_table_rows(path, faults))
    assert untouched(edition)
    for told in (caught.value.faults[0], faults[0]):
        assert str(told.place).endswith(f"screen.csv{line}")
        assert fact in told.fact
        assert remedy in str(told.remedy)


def test_rows_keep_the_numbers_that_they_have_in_the_file() -> None:
    text = 'sep=;\n\na;b\n1;"x\ny"\n;\n2;z\n'
    found = list(study.Grid("t", io.StringIO(text, newline="")))
    assert [line.number for line in found if isinstance(line, study.Line)] == [4, 7]


def test_other_files_of_spreadsheets_are_refused_with_what_to_do(tmp_path: Path) -> None:
    place, edition = made(tmp_path)
    with pytest.raises(UsageError, match="save a spreadsheet as CSV UTF-8"):
        imported(place, edition, written(tmp_path, b"PK", "screen.xlsx"))
    with pytest.raises(PenmarkError, match=r"is UTF-16\n.*Save it as CSV UTF-8"):
        imported(place, edition, written(tmp_path, READ["tabs"].encode("utf-16"), "screen.csv"))
    imported(place, edition, written(tmp_path, READ["tabs"], "screen.tsv"))
    assert len(readings(edition)) == 2
