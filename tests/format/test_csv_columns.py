"""CSV by columns is CSV by rows, whatever stands in the cells."""

from __future__ import annotations

import csv as reference
import io

import polars as pl
from hypothesis import example, given, settings
from hypothesis import strategies as st

from penmark import study
from penmark.format.csv_columns import encode_csv_frame

CELLS = st.one_of(
    st.none(),
    st.sampled_from(
        ["", "=1+1", "-12 %", "-12", "-1e5", "-", "+1", "@x", "\tx", "\n=x", "\r", "a,b", '"', '""', "'", "-0.5\n"]
    ),
    st.text(alphabet=st.sampled_from("=+-@\t\r\n,\"' 0159.eE%\u2028é\x00"), max_size=6),
    st.text(max_size=6),
)


@st.composite
def frames(draw: st.DrawFn) -> pl.DataFrame:
    height, width = draw(st.integers(0, 6)), draw(st.integers(1, 4))
    columns = {f"c{n}": draw(st.lists(CELLS, min_size=height, max_size=height)) for n in range(width)}
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    if draw(st.booleans()):
        numbers = draw(st.lists(st.one_of(st.none(), st.integers(-5, 10**6)), min_size=height, max_size=height))
        frame = frame.with_columns(pl.Series("n", numbers, dtype=pl.Int64))
    return frame


@settings(max_examples=100, deadline=None)
@example(pl.DataFrame({"only": ["", None, "x"]}))
@example(pl.DataFrame({"a": ["-5", "-5x"], "b": ['say "=1"', "\r\n"]}))
@given(frames())
def test_bulk_is_the_reference(frame: pl.DataFrame) -> None:
    assert encode_csv_frame(frame) == study.encode_csv(frame.columns, frame.rows())


@settings(max_examples=50, deadline=None)
@given(frames())
def test_a_reader_gets_the_cells_back(frame: pl.DataFrame) -> None:
    # Python's reader knows no null, and its C strings no NUL in old releases; what it reads is what was guarded.
    rows = [["" if cell is None else str(cell) for cell in row] for row in frame.rows()]
    got = list(reference.reader(io.StringIO(encode_csv_frame(frame).decode(), newline="")))
    assert got[0] == frame.columns
    for row, read in zip(rows, got[1:], strict=True):
        assert [cell.removeprefix("'") if cell[1:] == raw else cell for cell, raw in zip(read, row, strict=True)] == row


def test_safe_columns_are_written_as_they_are() -> None:
    frame = pl.DataFrame({"digest": ["ab" * 32, None], "word": ["answered", "not_run"]})
    assert (
        encode_csv_frame(frame, safe=("digest",))
        == encode_csv_frame(frame)
        == study.encode_csv(frame.columns, frame.rows())
    )
