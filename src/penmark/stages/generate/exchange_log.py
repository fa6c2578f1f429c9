"""What was sent to a provider and what came back, word for word: ``<stem>-<nnnn>.jsonl``, chained lines, append only.

*Reads* these files when they are opened. *Writes* them, by appending: what ``append`` returns from is on the disk.
*Never* rewrites a line, or holds a secret. A line has ``kind``, ``at``, and ``prev``, the SHA-256 of the line before
without its LF (of the promise's seal, for the first); the files of a stem are one chain. Kinds: ``start``, ``sent`` (on
the disk before its request leaves), ``retry``, ``answer``, ``decision``, ``stop``.
"""

from __future__ import annotations

import base64
import errno
import os
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from penmark import study
from penmark.errors import PenmarkError, ServiceError
from penmark.format import canonical_json
from penmark.journal.append_log import move_torn_end

KINDS = ("start", "sent", "retry", "answer", "decision", "stop")
MAX_LINES = 20_000
"""Lines in one file."""
Line = dict[str, Any]


def list_exchange_files(folder: Path, stem: str) -> list[Path]:
    """The files of a stem, in their order."""
    name = re.compile(re.escape(stem) + r"-\d{4}\.jsonl")
    found = folder.iterdir() if folder.is_dir() else ()
    return sorted(path for path in found if name.fullmatch(path.name))


def read_exchanges(folder: Path, stem: str, first_prev: str) -> Iterator[tuple[str, Line]]:
    """Place and value of each line, in order; streams. Raises PenmarkError where the chain is broken."""
    prev = first_prev
    for path in list_exchange_files(folder, stem):
        for number, line in study.read_lines(path):
            place = f"{path}:{number}"
            value = canonical_json.decode_json(line, place=place)
            if not isinstance(value, dict) or value.get("kind") not in KINDS or value.get("prev") != prev:
                raise PenmarkError(
                    "does not follow the line before it",
                    place=place,
                    remedy="Restore the files of this folder together, as they were.",
                )
            prev = canonical_json.sha256(line)
            yield place, value


class Exchanges:
    """Appends to the files of a stem; several threads may. Opening moves an unfinished last line to ``<name>.torn``.

    ``see`` is shown every line: those that are there, and each one as soon as it is on the disk.
    """

    def __init__(self, folder: Path, stem: str, first_prev: str, see: Callable[[Line], None]) -> None:
        self._folder, self._stem, self._see = folder, stem, see
        self._lock = threading.Lock()
        self._file: int | None = None
        self._closed = False
        self.head, self.lines = first_prev, 0
        there = list_exchange_files(folder, stem)
        self._number = len(there) if there else 1
        if there:
            move_torn_end(there[-1])
        last = str(there[-1]) if there else ""
        self._in_file = 0
        for place, value in read_exchanges(folder, stem, first_prev):
            self.head, self.lines = canonical_json.sha256(canonical_json.encode_json(value)), self.lines + 1
            self._in_file += place.rpartition(":")[0] == last
            see(value)

    @property
    def begun(self) -> bool:
        """Whether there is a line."""
        return self.lines > 0

    def append(self, line: Line) -> None:
        """Write one line, without its ``prev``, and make it durable. Raises ServiceError where the disk refuses: then it
        is not there."""
        with self._lock:
            value = {**line, "prev": self.head}
            encoded = canonical_json.encode_json(value)
            if len(encoded) > study.MAX_LINE:
                raise PenmarkError("an exchange is too long to be kept", remedy="See what the provider sends.")
            if self._closed:
                raise ServiceError(
                    "the exchanges are closed", place=str(self._folder), remedy="Run the same command again."
                )
            if self._in_file >= MAX_LINES:
                self._let_go()
                self._number, self._in_file = self._number + 1, 0
            self._write(encoded + b"\n")
            self.head, self.lines, self._in_file = canonical_json.sha256(encoded), self.lines + 1, self._in_file + 1
            self._see(value)

    def _write(self, data: bytes) -> None:
        path = self._folder / f"{self._stem}-{self._number:04d}.jsonl"
        size = None
        try:
            if self._file is None:
                self._folder.mkdir(parents=True, exist_ok=True)
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
                self._file = os.open(path, flags, 0o644)
                study.sync_folder(self._folder)
            size = os.fstat(self._file).st_size
            if os.write(self._file, data) != len(data):  # a disk that is nearly full takes what it can
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self._file)
        except OSError as error:
            self._cut_back(size)
            raise study.make_disk_error(error, path) from None

    def _cut_back(self, size: int | None) -> None:
        """To the last whole line; where even that fails, whoever opens the file next moves the rest away."""
        try:
            if self._file is not None and size is not None:
                os.ftruncate(self._file, size)
                os.fsync(self._file)
        except OSError:
            self._closed = True
            raise ServiceError(
                "the disk took half of a line, and it could not be taken back",
                place=str(self._folder),
                remedy="Free some space and run the same command again; nothing was lost.",
            ) from None

    def close(self) -> None:
        """Let go of the file; every line is already durable, and none is added any more."""
        with self._lock:
            self._closed = True
            self._let_go()

    def _let_go(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def encode_kept_body(raw: bytes) -> dict[str, str]:
    """Bytes as a line holds them: ``body`` with its ``encoding`` (utf-8, or base64 where they are none) and ``sha256``."""
    try:
        body, encoding = raw.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        body, encoding = base64.b64encode(raw).decode("ascii"), "base64"
    return {"body": body, "encoding": encoding, "sha256": canonical_json.sha256(raw)}
