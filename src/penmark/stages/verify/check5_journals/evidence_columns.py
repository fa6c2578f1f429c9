"""Raw answers, thousands at a time: lines of evidence that a fast parser reads, and that it is not trusted with.

polars reads the columns, which are written out again in canonical form and compared with the lines, byte for byte: columns
that give back the lines are what they say (as in ``journal.reading``). Whatever fails that is read line by line.
*Reads* and *writes* nothing. *Never* says what is wrong with a line, or takes one for sound that ``evidence.parse`` refuses.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from penmark.format import canonical_json
from penmark.journal.evidence_log import KEYS, Kept

COLUMNS: dict[str, pl.DataType] = {
    "detector": pl.String(),
    "document": pl.String(),
    "attempt": pl.Int64(),
    "body": pl.Binary(),
    "sha256": pl.String(),
}
"""Columns of raw answers: the fields of ``evidence.Kept``."""

_SCHEMA: dict[str, pl.DataType] = {key: pl.Int64() if key == "attempt" else pl.String() for key in sorted(KEYS)}
_SOUND = (
    (pl.struct(*_SCHEMA).struct.json_encode().cast(pl.Binary) == pl.col("_raw"))
    & pl.all_horizontal(pl.col(*_SCHEMA).is_not_null())
    & pl.col("attempt").is_between(-canonical_json.MAX_INTEGER, canonical_json.MAX_INTEGER)
    & (pl.col("encoding") == "utf-8")
)


def parse_kept_columns(lines: list[bytes]) -> pl.DataFrame | None:
    """The evidence in canonical lines, whose bodies are text; None where one of them is not proven to be such a line."""
    try:
        frame = pl.read_ndjson(b"\n".join(lines), schema=_SCHEMA)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
    if frame.height != len(lines):
        return None
    sound = frame.with_columns(pl.Series("_raw", lines, dtype=pl.Binary)).select(_SOUND).to_series()
    if sound.null_count() or not sound.all():
        return None
    return frame.select(COLUMNS.keys()).cast({"body": pl.Binary})


def make_kept_table(kept: Iterable[Kept]) -> pl.DataFrame:
    """The same columns of evidence that was read line by line."""
    return pl.DataFrame(list(kept), schema=COLUMNS, orient="row")
