"""Writing a journal: what ``append`` returns from is on the disk.

*Reads* the journal once, when it is opened. *Writes* it, by appending, and ``<name>.torn`` beside it.
*Never* rewrites a line, deletes what a crash left unfinished, or leaves half a line where the disk was full.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from penmark import study
from penmark.errors import Fault, FaultsError, PenmarkError, ServiceError
from penmark.format import canonical_json
from penmark.journal import journal_lines as form
from penmark.journal import journal_reader
from penmark.records import Head

_BLOCK = 1 << 16


class JournalWriter:
    """Appends to one journal. ``head``: the digest of the last line, or ``first_prev`` (the SHA-256 of
    ``seals/corpus.json``) before the first; ``lines``: how many there are.

    Opening a journal that exists moves an unfinished last line to ``<name>.torn`` and holds the rest against the
    format, unless the caller has read it, and says how it stands (``known``). Raises FaultsError where it does not keep
    it, ServiceError where the disk refuses. One writer a file, one thread at a time.
    """

    def __init__(self, path: Path, first_prev: str, known: Head | None = None) -> None:
        self.path, self.head, self.lines = path, first_prev, 0
        self._file: int | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists():
                move_torn_end(path)
            if path.exists() and path.stat().st_size > 0:
                found = known if known is not None else journal_reader.read_journal(path, first_prev)
                self.head, self.lines = found.head, found.lines
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
            self._size = os.fstat(self._file).st_size
            study.sync_folder(path.parent)
        except OSError as error:
            self.close()
            raise study.make_disk_error(error, path) from None

    def append(self, *lines: Mapping[str, Any]) -> None:
        """Write the lines, each without its ``prev``, in one group: one write, one fsync.

        Raises FaultsError for a line that is none (nothing is written), ServiceError where the disk refuses: then the
        journal is cut back to its last whole line, and none of these lines is in it.
        """
        first = self.lines + 1
        faults = [
            fault
            for number, line in enumerate(lines, first)
            for fault in form.check_line({**line, "prev": self.head}, f"{self.path}:{number}")
        ]
        if first == 1 and lines and lines[0].get("kind") != "start":
            faults.insert(0, Fault(f"{self.path}:1", "a journal begins with a start line"))
        if faults:
            raise FaultsError(faults)
        head, data = self.head, bytearray()
        for line in lines:
            encoded = canonical_json.encode_json({**line, "prev": head})
            head = canonical_json.sha256(encoded)
            data += encoded + b"\n"
        self._write(bytes(data))
        self.head, self.lines = head, self.lines + len(lines)

    def _write(self, data: bytes) -> None:
        if self._file is None:
            raise ServiceError("the journal is closed", place=str(self.path), remedy="Run the same command again.")
        try:
            written = os.write(self._file, data)
            if written != len(data):  # a disk that is nearly full takes what it can
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self._file)
        except OSError as error:
            self._cut_back()
            raise study.make_disk_error(error, self.path) from None
        self._size += len(data)

    def _cut_back(self) -> None:
        """To the last whole line that was known to be durable. Where even that fails, nothing more is written: whoever
        opens the journal next finds an unfinished line, or whole lines, and both are in order."""
        try:
            assert self._file is not None
            os.ftruncate(self._file, self._size)
            os.fsync(self._file)
        except OSError:
            self.close()

    def close(self) -> None:
        """Let go of the file; every line is already durable."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def move_torn_end(path: Path) -> int:
    """Move what stands after the last line end to the end of ``<name>.torn``; how many bytes that were.

    The copy is durable before the original is cut, so that a crash in between can only double it.
    """
    with path.open("r+b") as file:
        size = os.fstat(file.fileno()).st_size
        end = _after_last_line_end(file.fileno(), size)
        if size - end > study.MAX_LINE:
            fact = f"{size - end} bytes stand after its last line end; no line is so long"
            raise PenmarkError(fact, place=str(path), remedy="Restore the journal from a copy, or look what it is.")
        file.seek(end)
        rest = file.read()
        if rest:
            with path.with_name(path.name + ".torn").open("ab") as torn:
                torn.write(rest + b"\n")
                torn.flush()
                os.fsync(torn.fileno())
            study.sync_folder(path.parent)
            file.truncate(end)
            os.fsync(file.fileno())
    return len(rest)


def _after_last_line_end(handle: int, size: int) -> int:
    end = size
    while end > 0:
        start = max(0, end - _BLOCK)
        cut = os.pread(handle, end - start, start).rfind(b"\n")
        if cut >= 0:
            return start + cut + 1
        end = start
    return 0
