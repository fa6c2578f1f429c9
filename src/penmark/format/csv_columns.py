"""CSV by columns: the bytes that ``study.csv_bytes`` would write, row by row, for millions of rows.

*Reads* and *writes* nothing. *Never* differs from ``study.csv_bytes`` by a byte (tests hold them together).
"""

from __future__ import annotations

import io
from collections.abc import Collection, Iterable, Sequence

import polars as pl

_RUNS = r"^[=+\-@\t\r\n]"
_NUMBER = r"^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$"
_QUOTED = r'[,"\r\n]'
_PART = 2**16
"""Rows that are written at a time: their lines stand in memory twice."""


def encode_csv_frame(frame: pl.DataFrame, *, safe: Collection[str] = ()) -> bytes:
    """``frame`` as CSV with its header; null is an empty cell. ``safe``: text columns that are known to hold nothing
    which a spreadsheet runs or CSV quotes (digests, times, fixed words)."""
    return join_csv_frames(frame.columns, [frame], safe=safe)


def join_csv_frames(header: Sequence[str], frames: Iterable[pl.DataFrame], *, safe: Collection[str] = ()) -> bytes:
    """The rows of ``frames``, which have the columns ``header``, one after the other as one CSV."""
    out = io.BytesIO()
    out.write((",".join(header) + "\n").encode())
    for frame in frames:
        for part in frame.iter_slices(_PART):
            _write_frame(part, out, safe)
    return out.getvalue()


def _write_frame(frame: pl.DataFrame, out: io.BytesIO, safe: Collection[str]) -> None:
    if frame.is_empty():
        return
    cells = [_make_cell_expression(frame, name, name in safe) for name in frame.columns]
    if len(cells) == 1:
        cells = [pl.when(cells[0] == "").then(pl.lit('""')).otherwise(cells[0])]
    lines = frame.select(pl.concat_str(cells, separator=","))
    lines.write_csv(out, include_header=False, quote_style="never", line_terminator="\n")


def _make_cell_expression(frame: pl.DataFrame, name: str, safe: bool) -> pl.Expr:
    held = frame.get_column(name)
    text = pl.col(name).cast(pl.String).fill_null("")
    if safe or held.dtype != pl.String:
        return text
    if held.str.contains(_RUNS).any():
        text = pl.when(text.str.contains(_RUNS) & ~text.str.contains(_NUMBER)).then("'" + text).otherwise(text)
    if held.str.contains(_QUOTED).any():
        inner = text.str.replace_all('"', '""', literal=True)
        text = pl.when(text.str.contains(_QUOTED)).then('"' + inner + '"').otherwise(text)
    return text
