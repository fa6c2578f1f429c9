"""Where things are, and how files are read and written.

A study is a folder: ``study.yaml``, ``corpus/``, ``private/``, ``editions/<tag>/``.
*Reads* and *writes* bytes at the places it names. *Never* knows what is in them, but for texts kept by address.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from penmark.errors import PenmarkError
from penmark.format import canonical_json
from penmark.study.csv_files import detect_delimiter, encode_csv, escape_cell, make_validation_faults, unescape_cell
from penmark.study.files import (
    MAX_LINE,
    beside,
    compare_file_line_ends,
    compress_gzip,
    has_line_digest,
    lock_file,
    make_disk_error,
    own,
    read_blocks,
    read_bytes,
    read_json,
    read_json_lines,
    read_lines,
    sync_folder,
    write_bytes,
    write_private,
    write_records,
)
from penmark.study.grids import Grid, Line
from penmark.study.layout import EXTRACT, Edition, Study, find_study, is_bundle, refuse_extract

__all__ = [
    "EXTRACT",
    "LOOSE",
    "MAX_LINE",
    "SHARD",
    "Edition",
    "Grid",
    "Line",
    "Study",
    "beside",
    "compare_file_line_ends",
    "compress_gzip",
    "detect_delimiter",
    "encode_csv",
    "escape_cell",
    "find_study",
    "has_line_digest",
    "is_bundle",
    "lock_file",
    "make_disk_error",
    "make_validation_faults",
    "own",
    "read_blocks",
    "read_bytes",
    "read_json",
    "read_json_lines",
    "read_lines",
    "read_texts",
    "refuse_extract",
    "sync_folder",
    "unescape_cell",
    "write_bytes",
    "write_private",
    "write_records",
    "write_texts",
]

SHARD = 10_000
"""Records in one shard of texts."""
LOOSE = 1_000
"""From so many texts on, they lie in shards."""


def write_texts(folder: Path, texts: dict[str, bytes]) -> None:
    """Keep texts by address: loose ``<address>.txt`` below LOOSE of them, else shards ``<nnnn>.jsonl.gz`` of SHARD lines."""
    folder.mkdir(parents=True, exist_ok=True)
    if len(texts) < LOOSE:
        for address, raw in sorted(texts.items()):
            write_bytes(folder / f"{address}.txt", raw)
        return
    ordered = sorted(texts)
    # Last shard first: where texts were added, those that move to a later shard are there before the earlier loses them.
    for number, start in reversed(list(enumerate(range(0, len(ordered), SHARD), 1))):
        part = b"".join(
            canonical_json.encode_json({"address": a, "text": texts[a].decode("utf-8")}) + b"\n"
            for a in ordered[start : start + SHARD]
        )
        write_bytes(folder / f"{number:04d}.jsonl.gz", compress_gzip(part))


def read_texts(folder: Path) -> Iterator[tuple[str, bytes, str]]:
    """Address as named, raw bytes, and place, of every text kept in a folder; nothing is checked against the address."""
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if path.name.endswith(".txt"):
            yield path.name.removesuffix(".txt"), read_bytes(path), str(path)
        elif path.name.endswith(".jsonl.gz"):
            for number, value in read_json_lines(path):
                if set(value) != {"address", "text"} or not all(isinstance(v, str) for v in value.values()):
                    raise PenmarkError("is not {address, text}", place=f"{path}:{number}")
                yield value["address"], value["text"].encode(), f"{path}:{number}"
