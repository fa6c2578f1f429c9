"""One detector's lane: it asks about its documents, one after the other, and writes down what happens before and after.

*Reads* nothing but the text of the document in hand. *Writes* one journal and its evidence. *Never* gives a detector
anything but a text; never asks again once an answer is on disk.
What is durable when: a group's ``sent`` lines before its first call; its evidence after its last call; its readings
with the ``sent`` lines of the next group. A group is one text, and more only while calls are quick.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from penmark import canon, evidence, reading
from penmark.errors import PenmarkError, ServiceError
from penmark.evidence import Kept
from penmark.journal import Writer
from penmark.plugins import Answer, Declined, Detector
from penmark.reading import NOTHING, Asked, Judged
from penmark.records import Card

MAX_GROUP = 8
"""Texts in one group at most: so many pairs can be in doubt after a crash."""
QUICK = 0.02
"""Seconds: while a group's calls take less, the next group may be twice as large."""


class Item(NamedTuple):
    """One thing to do: ask about a document for the ``attempt``-th time, or write down why it is not asked about."""

    position: int
    attempt: int = 1
    skip: str | None = None


class Material(Protocol):
    """The documents that are asked about, by position."""

    def name(self, position: int) -> str: ...
    def address(self, position: int) -> str: ...
    def text(self, position: int) -> str: ...
    def digest(self, position: int, raw: bytes) -> str: ...


@dataclass(frozen=True)
class Promised:
    """What the promise says about asking this detector."""

    detector: str
    card: Card
    version_asked: str | None
    attempts: int
    stop_on_change: bool
    closes: str
    first_version: str | None = None  # the version that earlier answers came from
    stopped: str | None = None  # why nothing may be asked any more


@dataclass
class Tally:
    """What a lane has done in this run, and why it ended."""

    answered: int = 0
    declined: int = 0
    failed: int = 0
    skipped: int = 0
    recovered: int = 0
    ended: str | None = None
    error: PenmarkError | None = None
    changes: list[tuple[str, str, str]] = field(default_factory=list)  # version expected, version seen, document


def _silent() -> None:
    pass


class _Closed(Exception):  # noqa: N818 - not an error: the lane was ended from outside
    pass


class Lane:
    """Runs in a thread of its own. ``tally`` may be read at any time; ``abandon`` ends it from outside."""

    def __init__(
        self,
        promised: Promised,
        asker: Detector,
        material: Material,
        journal: Writer,
        kept: evidence.Writer,
        *,
        pause: Callable[[int], float],
    ) -> None:
        self.promised, self.tally = promised, Tally()
        self.busy_since: float | None = None
        self._asker, self._material, self._journal, self._kept = asker, material, journal, kept
        self._pause, self._tell = pause, _silent
        self._lines: list[dict[str, Any]] = []  # not yet in the journal
        self._answers: list[tuple[Kept | None, dict[str, Any]]] = []  # of the group in flight: evidence and reading
        self._again: list[Item] = []
        self._expected = promised.first_version or promised.version_asked
        self._lock = threading.Lock()
        self._closed = False

    def run(self, work: Iterator[Item], stop: threading.Event, tell: Callable[[], None] = _silent) -> None:
        """Do ``work`` until it is done, ``stop`` is set, or something ends it; then write the stop line.

        ``tell`` is called after each group, and at the end.
        """
        self._tell = tell
        try:
            ended = self._work(work, stop)
        except PenmarkError as error:
            self.tally.error, ended = error, reading.reason(error.faults[0].fact)
        except _Closed:
            return
        except Exception as error:  # a fault of ours: told as one, and the other lanes go on
            self.tally.error = PenmarkError(f"this should not happen ({type(error).__name__}: {error})")
            ended = "a fault of penmark"
        self.close(ended)

    def _work(self, work: Iterator[Item], stop: threading.Event) -> str:
        size = 1
        if self.promised.stopped is not None:
            return reading.reason(self.promised.stopped)
        while not stop.is_set():
            if reading.now()[:10] > self.promised.closes:
                return f"the scan window closed on {self.promised.closes}"
            if self._again and stop.wait(self._pause(self._again[0].attempt - 1)):
                break
            group = self._next_group(work, size)
            if not group and not self._lines:
                return "done"
            seconds = self._ask(group)
            size = min(size * 2, MAX_GROUP) if seconds < QUICK else 1
            if self.tally.changes and self.promised.stop_on_change:
                return "the version changed from {} to {} (document {})".format(*self.tally.changes[0])
        return "interrupted"

    def _next_group(self, work: Iterator[Item], size: int) -> list[Item]:
        group, self._again = self._again, []
        while len(group) < size and (item := next(work, None)) is not None:
            if item.skip is None:
                group.append(item)
                continue
            self.tally.skipped += 1
            name = self._material.name(item.position)
            self._lines.append({"at": reading.now(), "document": name, "kind": "skipped", "reason": item.skip})
            if len(self._lines) >= 1000:
                break
        return group

    def _ask(self, group: list[Item]) -> float:
        """Ask about each text of the group; the seconds that the calls took. Raises _Closed where ``close`` came first."""
        texts = [self._material.text(item.position) for item in group]
        asked = []
        for item in group:
            name, at = self._material.name(item.position), reading.now()
            self._lines.append({"at": at, "attempt": item.attempt, "document": name, "kind": "sent"})
            address = self._material.address(item.position)
            asked.append(Asked(name, address, item.attempt, "scan", at, self.promised.version_asked))
        with self._open():
            self._flush()
        seconds = 0.0
        for item, pair, text in zip(group, asked, texts, strict=True):
            self.busy_since = began = time.monotonic()
            said = self._call(text)
            self.busy_since = None
            seconds += time.monotonic() - began
            with self._open():
                self._answers.append(self._heard(item, pair, text, said))
        with self._open():
            self._settle()
        self._tell()
        return seconds

    @contextlib.contextmanager
    def _open(self) -> Iterator[None]:
        """Hold the lane's files, which ``close`` may have closed from another thread."""
        with self._lock:
            if self._closed:
                raise _Closed
            yield

    def _call(self, text: str) -> Answer | Declined | ServiceError | str:
        """What the plugin says; a ServiceError where the transport failed, a reason where the plugin did."""
        try:
            said = self._asker.read(text)
        except ServiceError as error:
            return error
        except (Exception, SystemExit) as error:  # whatever a plugin does wrong costs its own reading, nothing else
            return reading.reason(f"{type(error).__name__}: {error}")
        body = getattr(said, "body", None)
        if not isinstance(said, Answer | Declined) or not isinstance(body, bytes | None):
            return reading.reason(
                f"TypeError: the plugin returned {type(said).__name__}, not Answer or Declined with bytes"
            )
        if body is not None and len(body) > evidence.MAX_BODY:
            return f"ValueError: an answer of {len(body)} bytes; at most {evidence.MAX_BODY} are kept"
        return said

    def _heard(
        self, item: Item, pair: Asked, text: str, said: Answer | Declined | ServiceError | str
    ) -> tuple[Kept | None, dict[str, Any]]:
        """The evidence to keep, and the line to write: a reading, or a retry."""
        at = reading.now()
        if isinstance(said, ServiceError):
            why = reading.reason(said.faults[0].fact)
            if item.attempt < self.promised.attempts:
                self._again.append(item._replace(attempt=item.attempt + 1))
                line = {"at": at, "attempt": item.attempt, "document": pair.document, "kind": "retry", "reason": why}
                return None, line
            said = why
        kept = None
        if isinstance(said, str):
            judged = Judged("failed", said, NOTHING)
        elif said.body is None:
            # No echo to read a version from: it is the plugin's own word.
            judged = Judged("declined", reading.reason(said.reason), NOTHING._replace(version=self._asker.version))
        else:
            declined = reading.reason(said.reason) if isinstance(said, Declined) else None
            judged = reading.judge(self.promised.card, said.body, text, declined)
            digest = self._material.digest(item.position, said.body)
            if digest == canon.sha256(said.body):  # not keyed: the text is not an attested one
                judged = reading.remarked(judged, self.promised.card, said.body, text)
            kept = Kept(self.promised.detector, pair.document, pair.attempt, said.body, digest)
        self._count(judged, pair.document)
        sha256 = None if kept is None else kept.sha256
        return kept, reading.line(pair, judged, at=at, got_at=at, evidence_sha256=sha256)

    def _count(self, judged: Judged, document: str) -> None:
        setattr(self.tally, judged.state, getattr(self.tally, judged.state) + 1)
        version = judged.found.version
        if version is None:
            return
        if self._expected is not None and version != self._expected:
            self.tally.changes.append((self._expected, version, document))
        self._expected = version

    def _flush(self) -> None:
        lines, self._lines = self._lines, []
        if lines:
            with self._whole():
                self._journal.append(*lines)

    def _settle(self) -> None:
        """Make the evidence of the answers durable; their readings follow with the next lines of the journal."""
        answers, self._answers = self._answers, []
        with self._whole():
            self._kept.append([kept for kept, _ in answers if kept is not None])
        self._lines += [line for _, line in answers]

    @contextlib.contextmanager
    def _whole(self) -> Iterator[None]:
        """After a write that failed nothing more is written: the next scan finds the unfinished line and moves it away."""
        try:
            yield
        except PenmarkError:
            self._closed = True
            raise

    def recover(self, line: dict[str, Any]) -> None:
        """Take a reading whose evidence was on disk when the scan before was cut off; written with the next lines."""
        self._lines.append(line)
        self.tally.recovered += 1

    def close(self, ended: str, error: PenmarkError | None = None) -> None:
        """Write what is known and the stop line, once; answers that come later are lost, and their pairs in doubt."""
        with self._lock:
            if self.tally.ended is not None:
                return
            self.tally.ended, self.tally.error = ended, error or self.tally.error
            try:
                if not self._closed:
                    self._settle()
                    self._lines.append({"at": reading.now(), "kind": "stop", "reason": ended})
                    self._flush()
            except PenmarkError as error:
                self.tally.error = error
            self._closed = True
        self._tell()
