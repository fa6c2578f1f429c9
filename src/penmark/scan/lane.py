"""One detector's lane: it hands its documents out to be asked about, and writes down what happens before and after.

*Reads* nothing but the text of the document in hand. *Writes* one journal, its evidence, and notes. *Never* gives a
detector anything but a text; never asks again once an answer is on disk.
What is durable when: the ``sent`` line of a text before it is handed out; the evidence of an answer before its reading;
both with all that came at the same time, in one write each. Only this thread writes.
"""

from __future__ import annotations

import contextlib
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from penmark import evidence, reading
from penmark.errors import PenmarkError, ServiceError
from penmark.evidence import Kept
from penmark.journal import Writer
from penmark.plugins import UnansweredError
from penmark.reading import Asked
from penmark.scan.asking import Asking, Crew, Item, Outcome, Question
from penmark.scan.clock import Clock
from penmark.scan.notes import Notes, exchange_line
from penmark.scan.purse import Purse
from penmark.scan.settling import Material, Promised, Settled, not_sent, settled
from penmark.scan.troubles import Troubles

QUICK = 0.02
"""Seconds: only while calls take less may texts wait for a free thread, their ``sent`` lines written."""
AHEAD = 16
"""So many at most; they are in doubt after a crash."""
BEAT = 0.01
"""Seconds: while calls are quick, the disk is not written to more often."""
ROOM = 32 * 2**20
"""Bytes: with less room on the disk nothing is asked, since the answer could not be kept."""


@dataclass
class Tally:
    """What a lane has done in this run, and why it ended. ``began``: by the clock that only goes forward."""

    answered: int = 0
    declined: int = 0
    failed: int = 0
    skipped: int = 0
    recovered: int = 0
    began: float = field(default_factory=time.monotonic)
    ended: str | None = None
    error: PenmarkError | None = None
    changes: list[tuple[str, str, str]] = field(default_factory=list)  # version expected, version seen, document


@dataclass(frozen=True)
class Files:
    """What a lane writes. ``exchanges``: None where nothing is asked over HTTP."""

    journal: Writer
    kept: evidence.Writer
    exchanges: Notes | None = None


@dataclass(frozen=True)
class Money:
    """The purse, and what a document costs, by position."""

    purse: Purse
    price: Callable[[int], Decimal]


def _silent() -> None:
    pass


class Lane:
    """Runs in a thread of its own. ``tally`` may be read at any time; ``close`` ends it from outside."""

    def __init__(
        self,
        promised: Promised,
        asking: Asking,
        material: Material,
        files: Files,
        *,
        pause: Callable[[int], float],
        clock: Clock,
        money: Money | None = None,
        patience: float = 600.0,
    ) -> None:
        self.promised, self.tally = promised, Tally()
        self._asking, self._material, self._files, self._money = asking, material, files, money
        self._clock, self._patience, self._tell = clock, patience, _silent
        self._wake = threading.Event()
        self._crew = Crew(asking, clock, self._wake)
        self._troubles = Troubles(promised.detector, asking.pace, pause)
        self._lines: list[dict[str, Any]] = []  # not yet in the journal
        self._held: Item | None = None  # the next one, for which there was no money yet
        self._again: list[tuple[float, Item]] = []  # when, by the clock that only goes forward, and what
        self._expected = promised.first_version or promised.version_asked
        self._ended: tuple[str, PenmarkError | None] | None = None
        self._left = self._broken = False
        self._took, self._wrote, self._beat = QUICK, 0.0, 0.0

    def run(self, work: Iterator[Item], stop: threading.Event, tell: Callable[[], None] = _silent) -> None:
        """Do ``work`` until it is done, ``stop`` is set, or something ends it; then write the stop line.

        What is in flight ends first. ``tell`` is called after each write of answers, and at the end.
        """
        self._tell, self.tally.began = tell, time.monotonic()
        if self.promised.stopped is not None:
            self._end(self.promised.stopped)
        try:
            while self._turn(work, stop):
                pass
        except Exception as error:  # a fault of ours: told as one, and the other lanes go on
            self._end("a fault of penmark", _ours(error))
        self._finish()

    def close(self, ended: str, error: PenmarkError | None = None) -> None:
        """End the lane from outside, at once: what is in flight is left, its pairs in doubt."""
        self._end(ended, error)
        self._crew.leave()
        self._left = True
        self._wake.set()

    def nudge(self) -> None:
        """Let the lane see that ``stop`` was set."""
        self._wake.set()

    def recover(self, line: dict[str, Any]) -> None:
        """Take a reading whose evidence was on disk when the scan before was cut off; written with the next lines."""
        self._lines.append(line)
        self.tally.recovered += 1

    # --- one turn: settle what came, hand out what may be asked, wait ---

    def _turn(self, work: Iterator[Item], stop: threading.Event) -> bool:
        """Whether another turn is to follow."""
        self._wake.clear()
        left = self._left
        questions: list[Question] = []
        try:
            if self._settle(stop.is_set()):
                self._tell()
            self._look(stop)
            if self._ended is None:
                questions = self._next(work)
            if self._ended is not None:
                self._lines += [not_sent(question, self._clock.now()) for question in self._withdrawn(questions)]
                questions = []
            self._flush()
        except PenmarkError as error:
            self._end(reading.reason(error.faults[0].fact), error)
            questions = []
        for question in questions:
            self._crew.give(question)
        if left or self._broken or (self._crew.load == 0 and self._done()):
            return False
        if self._crew.hung(self._patience):
            self.close(f"no answer for {self._patience:g} seconds", self._hung())
            return True
        self._rest()
        return True

    def _done(self) -> bool:
        if self._ended is None and not self._again and self._held is None and not self._lines and self._exhausted:
            self._end("done")
        return self._ended is not None and not self._lines
