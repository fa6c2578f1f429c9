"""Notes: lines in ``private/`` that help a later scan, or somebody who looks for a fault. No part of the record.

*Reads* and *writes* files below ``private/``, never published. *Never*: anything that a verifier would need.
``locate_jobs``: what a vendor calls the work that it took on, so that a scan which was cut off asks for that work instead of
sending the text again. ``locate_exchanges``: each request, without secrets and texts. ``aside``: answers that were held back
(``scan.aside``).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from penmark import journal, study
from penmark.cards import judge
from penmark.errors import PenmarkError
from penmark.format import canonical_json
from penmark.plugins import Exchange
from penmark.stages.scan.threads import Job
from penmark.study import Study


def locate_jobs(place: Study, edition: str, detector: str, shard: str = "1/1") -> Path:
    """Where the jobs of a detector, or of one of its shards, are noted."""
    return place.private / "jobs" / edition / journal.name_journal(detector, shard)


def locate_exchanges(place: Study, edition: str, detector: str, shard: str = "1/1") -> Path:
    """Where its exchanges are noted."""
    return place.private / "exchanges" / edition / journal.name_journal(detector, shard)


def aside(place: Study, edition: str, detector: str, shard: str = "1/1") -> Path:
    """Where is noted what was held back."""
    return place.private / "aside" / edition / journal.name_journal(detector, shard)


class Notes:
    """Appends lines to one file, which is made with the first. May be used by several threads."""

    def __init__(self, path: Path, *, durable: bool) -> None:
        self._path, self._durable = path, durable
        self._file: int | None = None
        self._lock = threading.Lock()

    def append(self, *values: Mapping[str, Any]) -> None:
        """Write the lines. Raises ServiceError where the disk refuses."""
        data = b"".join(canonical_json.encode_json(value) + b"\n" for value in values)
        try:
            with self._lock:
                if self._file is None:
                    self._file = _open_for_append(self._path)
                os.write(self._file, data)
                if self._durable:
                    os.fsync(self._file)
        except OSError as error:
            raise study.make_disk_error(error, self._path) from None

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            if self._file is not None:
                os.close(self._file)
                self._file = None


def read_notes(path: Path) -> Iterator[dict[str, Any]]:
    """The whole lines of a file that a crash may have cut; what is none is passed over."""
    for line in path.read_bytes().split(b"\n")[:-1] if path.exists() else ():
        try:
            value = canonical_json.decode_json(line, place=str(path))
        except PenmarkError:
            continue
        if isinstance(value, dict):
            yield value


def read_jobs(path: Path) -> dict[tuple[str, int], Job]:
    """The jobs in a file, by document and attempt."""
    found: dict[tuple[str, int], Job] = {}
    for value in read_notes(path):
        match value:
            case {"document": str(document), "attempt": int(attempt), "job": dict(job)}:
                found[document, attempt] = {str(name): str(part) for name, part in job.items()}
    return found


def make_job_line(document: str, attempt: int, job: Mapping[str, str]) -> dict[str, Any]:
    """The line for a job."""
    return {"attempt": attempt, "document": document, "job": dict(job)}


def make_exchange_line(document: str, attempt: int, exchange: Exchange) -> dict[str, Any]:
    """The line for an exchange."""
    return {
        "attempt": attempt,
        "body_sha256": exchange.body_sha256,
        "document": document,
        "got_at": judge.format_timestamp(exchange.got_at),
        "headers": [f"{name}: {value}" for name, value in exchange.headers],
        "method": exchange.method,
        "sent_at": judge.format_timestamp(exchange.sent_at),
        "status": exchange.status,
        "step": exchange.step,
        "url": exchange.url,
    }


def _open_for_append(path: Path) -> int:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    end = os.fstat(handle).st_size
    if end > 0 and os.pread(handle, 1, end - 1) != b"\n":
        os.write(handle, b"\n")  # what a crash cut is a line of its own, and is passed over
    return handle
