"""Traces of a text in the files of a study: the text, a part of it, its salt, or a digest of it.

*Reads* every file below a folder, gzip files unpacked; not what git keeps. *Writes* nothing. *Never* changes a file:
what it finds is told, and whoever looks decides.
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from penmark.format import canonical_json

PART = 60
"""Bytes of a text that are looked for at its beginning, in its middle and at its end."""
_BLOCK = 2**20
_MOST = 2**33


class Trace(NamedTuple):
    """A file, relative to the study, and what it still holds."""

    path: str
    holds: str


def find_traces(root: Path, document: str, text: bytes | None, salt: bytes | None) -> Iterator[Trace]:
    """Each file below ``root`` that holds something of a text; of several things the gravest is told."""
    needles = list(_list_needles(text, salt))
    overlap = max((len(needle) for needle, _ in needles), default=1)
    for path in _list_files(root):
        held = _find_trace(path, needles, overlap)
        if held is not None:
            yield Trace(path.relative_to(root).as_posix(), held)


def _list_needles(text: bytes | None, salt: bytes | None) -> Iterator[tuple[bytes, str]]:
    """What is looked for, the gravest first: in the form of a text, and as it stands in JSON."""
    if text is not None:
        written = text.decode("utf-8", "replace")
        inside = canonical_json.encode_json(written)[1:-1]
        forms = dict.fromkeys((text, inside))
        yield from ((form, "the text") for form in forms if len(form) <= _BLOCK)
        for form in forms:
            middle = max(0, len(form) // 2 - PART // 2)
            parts = dict.fromkeys((form[:PART], form[middle : middle + PART], form[-PART:]))
            yield from ((part, "a part of the text") for part in parts if len(part) >= min(PART, 20))
    if salt is not None:
        yield salt.hex().encode(), "the salt"
    if text is not None:
        for form in dict.fromkeys((text, canonical_json.make_canonical_text(text))):
            yield canonical_json.sha256(form).encode(), "a digest of the text"


def _list_files(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(files):
            path = Path(folder) / name
            if path.is_file() and not path.is_symlink():
                yield path


def _find_trace(path: Path, needles: list[tuple[bytes, str]], overlap: int) -> str | None:
    found: set[str] = set()
    rest, total = b"", 0
    try:
        with gzip.open(path) if path.name.endswith(".gz") else path.open("rb") as file:
            while (block := file.read(_BLOCK)) and total < _MOST:
                total += len(block)
                held = rest + block
                found.update(what for needle, what in needles if needle in held)
                rest = held[-overlap:]
    except (OSError, EOFError, zlib.error):
        return "what cannot be read"
    return next((what for _, what in needles if what in found), None)
