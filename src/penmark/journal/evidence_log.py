"""Raw answers, kept word for word: ``evidence/<detector>-<nnnn>.jsonl`` while an edition is being made.

*Reads* and *writes* these files only (docs/format.md, 8; ``publish`` sorts and compresses them). *Never* changes a line
that is on disk. The shards of a detector keep files of their own: ``<detector>.<i>of<W>-<nnnn>.jsonl``.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from penmark import study
from penmark.errors import PenmarkError
from penmark.format import canonical_json

MAX_BODY = 8 * 2**20
"""No raw answer that is kept is larger than this (bytes)."""
MAX_LINES = 100_000
"""Lines in one file."""
KEYS = {"attempt", "body", "detector", "document", "encoding", "sha256"}
_FIELDS = itemgetter(*sorted(KEYS))
_BODY: dict[str, Callable[[str], bytes]] = {
    "utf-8": str.encode,
    "base64": lambda body: base64.b64decode(body, validate=True),
}
_TYPES = (int, str, str, str, str, str)
_BLOCK = 2**16


class Kept(NamedTuple):
    """One line of evidence. ``body``: the raw answer; ``sha256``: its address, keyed for an attested document."""

    detector: str
    document: str
    attempt: int
    body: bytes
    sha256: str


def make_evidence_line(kept: Kept) -> dict[str, Any]:
    """The line as it is written: text where the body is UTF-8, else base64."""
    try:
        body, encoding = kept.body.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        body, encoding = base64.b64encode(kept.body).decode("ascii"), "base64"
    return {
        "attempt": kept.attempt,
        "body": body,
        "detector": kept.detector,
        "document": kept.document,
        "encoding": encoding,
        "sha256": kept.sha256,
    }


def parse_evidence(value: Any, *, place: str) -> Kept:
    """The evidence in a line. Raises PenmarkError for anything but the form that ``make_evidence_line`` gives."""
    if not isinstance(value, dict) or value.keys() != KEYS or tuple(map(type, _FIELDS(value))) != _TYPES:
        raise PenmarkError(f"is not {{{', '.join(sorted(KEYS))}}}", place=place)
    attempt, body, detector, document, encoding, sha256 = _FIELDS(value)
    try:
        raw = _BODY[encoding](body)
    except (KeyError, ValueError):
        raise PenmarkError("the body is not in its encoding (utf-8, base64)", place=place) from None
    return Kept(detector, document, attempt, raw, sha256)


def list_evidence_files(folder: Path, detector: str) -> list[Path]:
    """The plain evidence files of a detector, all shards, by name."""
    name = re.compile(re.escape(detector) + r"(\.\d+of\d+)?-\d{4}\.jsonl")
    found = folder.iterdir() if folder.is_dir() else ()
    return sorted((path for path in found if name.fullmatch(path.name)), key=lambda path: path.name)


def read_evidence(folder: Path, detector: str) -> Iterator[Kept]:
    """All evidence of a detector, in the order in which it was kept; streams."""
    for path in list_evidence_files(folder, detector):
        for number, value in study.read_json_lines(path):
            kept = parse_evidence(value, place=f"{path}:{number}")
            if kept.detector == detector:  # "a.1of2" may be a detector, or a shard of "a"
                yield kept


class EvidenceWriter:
    """Appends to the evidence of one detector, or of one of its shards (``stem``: the file name before the number).

    Opening moves an unfinished last line to ``<name>.torn``. Not for several threads at once.
    """

    def __init__(self, folder: Path, stem: str) -> None:
        self._folder, self._stem = folder, stem
        name = re.compile(re.escape(stem) + r"-(\d{4})\.jsonl")
        found = folder.iterdir() if folder.is_dir() else ()
        self._number = max((int(m[1]) for path in found if (m := name.fullmatch(path.name))), default=1)
        _move_torn_end(self._path)
        self._lines = _count_lines(self._path)

    @property
    def _path(self) -> Path:
        return self._folder / f"{self._stem}-{self._number:04d}.jsonl"

    def append(self, kept: Iterable[Kept]) -> None:
        """Write the lines and make them durable. Raises ServiceError where the disk refuses."""
        lines = [canonical_json.encode_json(make_evidence_line(item)) + b"\n" for item in kept]
        while lines:
            if self._lines >= MAX_LINES:
                self._number, self._lines = self._number + 1, 0
            now, lines = lines[: MAX_LINES - self._lines], lines[MAX_LINES - self._lines :]
            _append_data(self._path, b"".join(now))
            self._lines += len(now)

    def unread(self, known: Callable[[str, int], bool]) -> list[Kept]:
        """The last lines for which ``known(document, attempt)`` is False, oldest first: answers without a reading.

        Lines are written in the order of their readings, so only the end of the last files is read.
        """
        tail: list[Kept] = []
        for number in range(self._number, 0, -1):
            path = self._folder / f"{self._stem}-{number:04d}.jsonl"
            for raw in _read_lines_backwards(path):
                kept = parse_evidence(canonical_json.decode_json(raw, place=str(path)), place=str(path))
                if known(kept.document, kept.attempt):
                    return tail[::-1]
                tail.append(kept)
        return tail[::-1]

    def last_written(self) -> float:
        """When the last line came to the disk (seconds since 1970), by the file's own time; 0.0 where there is none."""
        return self._path.stat().st_mtime if self._path.exists() else 0.0

    def drop(self, unread: list[Kept]) -> None:
        """Move the last lines, which ``unread`` gave, to ``<name>.torn``: an import that did not come to its end."""
        for _ in unread:
            if self._lines == 0:
                self._number -= 1
                self._lines = _count_lines(self._path)
            size = len(next(_read_lines_backwards(self._path))) + 1
            _move_end(self._path, self._path.stat().st_size - size)
            self._lines -= 1


def _append_data(path: Path, data: bytes) -> None:
    try:
        new = not path.exists()
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab", buffering=0) as file:
            written = 0
            while written < len(data):
                written += file.write(data[written:]) or 0
            os.fsync(file.fileno())
        if new:
            study.sync_folder(path.parent)
    except OSError as error:
        raise study.make_disk_error(error, path) from None


def _count_lines(path: Path) -> int:
    if not path.exists():
        return 0
    with path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(2**20), b""))


def _move_torn_end(path: Path) -> None:
    if not path.exists():
        return
    size = path.stat().st_size
    with path.open("rb") as file:
        end = size
        while end > 0:
            start = max(0, end - _BLOCK)
            file.seek(start)
            cut = file.read(end - start).rfind(b"\n")
            if cut >= 0:
                end = start + cut + 1
                break
            end = start
    if size - end > study.MAX_LINE:
        fact = f"{size - end} bytes stand after its last line end; no line is so long"
        raise PenmarkError(fact, place=str(path), remedy="Restore the file from a copy, or look what it is.")
    if end < size:
        _move_end(path, end)


def _move_end(path: Path, start: int) -> None:
    """Append what stands from ``start`` on to ``<name>.torn``, then cut it off."""
    try:
        with path.open("r+b") as file:
            file.seek(start)
            rest = file.read()
            _append_data(path.with_name(path.name + ".torn"), rest if rest.endswith(b"\n") else rest + b"\n")
            file.truncate(start)
            os.fsync(file.fileno())
    except OSError as error:
        raise study.make_disk_error(error, path) from None


def _read_lines_backwards(path: Path) -> Iterator[bytes]:
    """The lines of a file from the last to the first, without their LF."""
    if not path.exists():
        return
    with path.open("rb") as file:
        end, rest = path.stat().st_size, b""
        while end > 0:
            start = max(0, end - _BLOCK)
            file.seek(start)
            rest = file.read(end - start) + rest
            end = start
            while (cut := rest.rfind(b"\n", 0, len(rest) - 1)) >= 0:
                yield rest[cut + 1 : -1]
                rest = rest[: cut + 1]
            if len(rest) > study.MAX_LINE:
                raise PenmarkError("a line is too long", place=str(path))
        if rest:
            yield rest[:-1]
