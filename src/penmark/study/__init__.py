"""Where things are, and how files are read and written.

A study is a folder: ``study.yaml``, ``corpus/``, ``private/``, ``editions/<tag>/``.
*Reads* and *writes* bytes at the places it names. *Never* knows what is in them, but for texts kept by address.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from penmark import canon
from penmark.errors import PenmarkError
from penmark.study.cells import cell, csv_bytes, delimiter, exact, validated
from penmark.study.files import (
    MAX_LINE,
    begins,
    beside,
    blocks,
    disk,
    gzipped,
    lines,
    locked,
    only_line_ends,
    own,
    read,
    read_json,
    records,
    sync_folder,
    write,
    write_private,
    write_records,
)
from penmark.study.grids import Grid, Line
from penmark.study.places import EXTRACT, Edition, Study, find, is_bundle, refuse_extract

__all__ = [
    "EXTRACT",
    "LOOSE",
    "MAX_LINE",
    "SHARD",
    "Edition",
    "Grid",
    "Line",
    "Study",
    "begins",
    "beside",
    "blocks",
    "cell",
    "csv_bytes",
    "delimiter",
    "disk",
    "exact",
    "find",
    "gzipped",
    "is_bundle",
    "lines",
    "locked",
    "only_line_ends",
    "own",
    "read",
    "read_json",
    "read_texts",
    "records",
    "refuse_extract",
    "sync_folder",
    "validated",
    "write",
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
            write(folder / f"{address}.txt", raw)
        return
    ordered = sorted(texts)
    # Last shard first: where texts were added, those that move to a later shard are there before the earlier loses them.
    for number, start in reversed(list(enumerate(range(0, len(ordered), SHARD), 1))):
        part = b"".join(
            canon.encode({"address": a, "text": texts[a].decode("utf-8")}) + b"\n"
            for a in ordered[start : start + SHARD]
        )
        write(folder / f"{number:04d}.jsonl.gz", gzipped(part))


def read_texts(folder: Path) -> Iterator[tuple[str, bytes, str]]:
    """Address as named, raw bytes, and place, of every text kept in a folder; nothing is checked against the address."""
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if path.name.endswith(".txt"):
            yield path.name.removesuffix(".txt"), read(path), str(path)
        elif path.name.endswith(".jsonl.gz"):
            for number, value in records(path):
                if set(value) != {"address", "text"} or not all(isinstance(v, str) for v in value.values()):
                    raise PenmarkError("is not {address, text}", place=f"{path}:{number}")
                yield value["address"], value["text"].encode(), f"{path}:{number}"
