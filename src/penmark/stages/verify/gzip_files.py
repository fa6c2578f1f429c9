"""The one reading of a ``.gz`` file: one gzip member without name, time or comment, and nothing behind it.

Readers differ on the rest: some stop after the first member, some skip what follows, some take the name. *Reads* one
file, streaming, within limits on its lines and on all that it expands to. *Never* guesses where a stream ends.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from penmark import study
from penmark.errors import PenmarkError
from penmark.format import canonical_json

EXPANDED = 8 * 2**30
"""No file expands to more than this (bytes)."""
FREE, RATIO = 2**24, 200
"""Nor to more than FREE, and RATIO times its own size: what is worth packing is nowhere near as dense."""
_CHUNK = 2**20
_START = b"\x1f\x8b\x08\0\0\0\0\0"
_AGAIN = "Get the file again from where it was published."


def read_gzip_records(path: Path, most: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number and object of each canonical line, of which there are at most ``most``. Raises PenmarkError at its place."""
    for first, lines in read_gzip_blocks(path, most):
        for number, line in enumerate(lines, first):
            yield number, parse_gzip_record(line, f"{path}:{number}")


def parse_gzip_record(line: bytes, place: str) -> dict[str, Any]:
    """The object in a canonical line. Raises PenmarkError at ``place``."""
    value = canonical_json.decode_json(line, place=place)
    if not isinstance(value, dict):
        raise PenmarkError("is not a JSON object", place=place, remedy=_AGAIN)
    return value


def read_gzip_blocks(path: Path, most: int) -> Iterator[tuple[int, list[bytes]]]:
    """The lines (without LF) of a file, many at a time, with the number of the first. Raises PenmarkError where they are
    more than ``most``, or the file is not what it should be."""
    number = 1
    for lines in _read_lines(path):
        if number + len(lines) - 1 > most:
            yield number, lines[: most + 1 - number]
            raise PenmarkError(f"has more than {most} lines", place=f"{path}:{most + 1}", remedy=_AGAIN)
        yield number, lines
        number += len(lines)


def _read_lines(path: Path) -> Iterator[list[bytes]]:
    parts: list[bytes] = []
    size = 0
    for piece in _expand_member(path):
        first, *more = piece.split(b"\n")
        parts.append(first)
        size += len(first)
        if size > study.MAX_LINE:
            raise PenmarkError("has a line that is too long", place=str(path), remedy=_AGAIN)
        if more:
            yield [b"".join(parts), *more[:-1]]
            parts, size = [more[-1]], len(more[-1])
    if size:
        raise PenmarkError("ends in the middle of a line", place=str(path), remedy=_AGAIN)


def _expand_member(path: Path) -> Iterator[bytes]:
    """What the one member holds, piece by piece."""
    stream, total, start = zlib.decompressobj(31), 0, b""
    try:
        most = min(EXPANDED, FREE + RATIO * path.stat().st_size)
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                start = start or chunk[: len(_START)]
                if start != _START:
                    raise PenmarkError("is not gzip without name, time and comment", place=str(path), remedy=_AGAIN)
                while chunk and not stream.eof:
                    piece = stream.decompress(chunk, _CHUNK)
                    chunk, total = stream.unconsumed_tail, total + len(piece)
                    if total > most:
                        raise PenmarkError(f"expands to more than {most} bytes", place=str(path), remedy=_AGAIN)
                    yield piece
                if chunk or stream.unused_data:
                    raise PenmarkError("goes on behind its end", place=str(path), remedy=_AGAIN)
        yield stream.flush()
    except OSError as error:
        raise PenmarkError(f"cannot be read ({error.strerror})", place=str(path), remedy=_AGAIN) from None
    except zlib.error as error:
        raise PenmarkError(f"is damaged ({error})", place=str(path), remedy=_AGAIN) from None
    if not stream.eof:
        raise PenmarkError("is cut off", place=str(path), remedy=_AGAIN)
