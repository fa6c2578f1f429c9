"""One detector's lane: it hands its documents out to be asked about, and writes down what happens before and after.

*Reads* what ``work`` gives it. *Writes* one journal, its evidence, and notes. *Never* gives a detector anything but a
text; never asks again once an answer is on disk.
What is durable when: the ``sent`` line of a text before it is handed out; the evidence of an answer before its reading;
both with all that came at the same time, in one write each. Only the lane's own thread writes.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from penmark.cards import judge
from penmark.cards.judge import Judged
from penmark.errors import PenmarkError, ServiceError
from penmark.journal import JournalWriter, evidence_log
from penmark.stages.scan.aside import Aside, Came, aside_line
from penmark.stages.scan.circuit_breaker import CircuitBreaker
from penmark.stages.scan.clock import Clock
from penmark.stages.scan.outcome import Material, Promised, SettledOutcome, make_not_sent_line, settle_outcome
from penmark.stages.scan.private_log import Notes, make_exchange_line, make_job_line
from penmark.stages.scan.scan_queue import Ends, Money, Queue
from penmark.stages.scan.threads import Asking, Item, Job, Outcome, Question, Threads

QUICK = 0.02
"""Seconds: only while answers come faster may texts wait for a free thread, their ``sent`` lines written."""
AHEAD = 16
"""So many at most; they are in doubt after a crash."""
BEAT = 0.01
"""Seconds: while calls are quick, the disk is not written to more often."""
PATIENCE = 600.0
"""Seconds without a sign of life after which a detector is left alone: its pair is in doubt, the others go on."""


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
    changes: list[tuple[str, str, str]] = field(default_factory=list)  # version before, version seen, document


@dataclass(frozen=True)
class Files:
    """What a lane writes. ``exchanges``, ``jobs``, ``aside``: None where they are not noted."""

    journal: JournalWriter
    kept: evidence_log.EvidenceWriter
    exchanges: Notes | None = None
    jobs: Notes | None = None
    aside: Notes | None = None


def _do_nothing() -> None:
    pass


class Worker:
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
        patience: float = PATIENCE,
    ) -> None:
        self.promised, self.tally = promised, Tally()
        self._asking, self._material, self._files, self._clock = asking, material, files, clock
        self._wake, self._patience, self._tell = threading.Event(), patience, _do_nothing
        self._crew = Threads(asking, clock, self._wake, self._noted)
        self._work = Queue(promised, material, asking.pace, clock, money, files.journal.path.parent)
        self._troubles = CircuitBreaker(promised.detector, asking.pace, pause)
        self._aside = Aside(promised.detector, promised.card, promised.rule, accepts=promised.accepts)
        self._lines: list[dict[str, Any]] = []  # not yet in the journal
        self._ended: Ends | None = None
        self._left = self._broken = False
        self._expected = promised.first_version or promised.version_asked
        self._versions = {promised.first_version, promised.version_asked}
        self._took, self._cycle, self._beat = QUICK, BEAT, time.monotonic()

    def run(self, items: Iterator[Item], stop: threading.Event, tell: Callable[[], None] = _do_nothing) -> None:
        """Do all ``items`` until that is done, ``stop`` is set, or something ends it; then write the stop line.

        What is in flight ends first. ``tell`` is called after each write of answers, and at the end.
        """
        self._work.items, self._tell, self.tally.began = items, tell, time.monotonic()
        if self.promised.stopped is not None:
            self._end(judge.clean_reason(self.promised.stopped))
        try:
            while self._take_turn(stop):
                self._await_work()
        except Exception as error:  # a fault of ours: told as one, and the other lanes go on
            fault = PenmarkError(f"this should not happen ({type(error).__name__}: {error})")
            self._end("a fault of penmark", fault)
        self._finish()

    def close(self, ended: str, error: PenmarkError | None = None) -> None:
        """End the lane from outside, at once: what is in flight is left, its pairs in doubt."""
        self._ended = Ends(ended, error)
        self._leave()

    def _leave(self) -> None:
        self._crew.leave()
        self._left = True
        self._wake.set()

    def nudge(self) -> None:
        """Let the lane see that ``stop`` was set."""
        self._wake.set()

    def recover(self, line: dict[str, Any]) -> None:
        """Take a reading whose evidence was on disk when the scan before was cut off, or the line of an answer that was held
        back then; written with the next lines."""
        self._lines.append(line)
        self.tally.recovered += line["kind"] == "reading"

    # --- one turn: settle what came, write, hand out what may be asked ---

    def _take_turn(self, stop: threading.Event) -> bool:
        """Whether another turn is to follow."""
        self._wake.clear()
        left = self._left  # what came before somebody closed the lane is still settled
        questions: list[Question] = []
        try:
            if self._settle(stopping=self._ended is not None or stop.is_set()):
                self._tell()
            self._look(stop)
            questions = self._take()
            self._flush()
        except PenmarkError as error:
            self._end(judge.clean_reason(error.faults[0].fact), error)
            self._work.give_back(questions)  # their lines were cut back
            questions = []
        self._crew.give(questions, wake=1 if self._is_quick() else self._asking.connections)
        self._crew.go_on()
        if left or self._broken or (self._crew.load == 0 and self._finish_if_done()):
            return False
        if (hung := self._crew.hung(self._patience)) > 0:
            self._end(f"no answer for {self._patience:g} seconds", self._make_silence_error())
            if hung == self._crew.busy:
                self._leave()
        return True

    def _look(self, stop: threading.Event) -> None:
        """End the lane where something other than an outcome ends it."""
        if self._clock.fault is not None:
            self._end("this machine's clock went back", self._clock.fault)
        if stop.is_set():
            self._end("interrupted")
        if self.tally.changes and self.promised.stop_on_change:
            self._end("the version changed from {} to {} (document {})".format(*self.tally.changes[0]))

    def _finish_if_done(self) -> bool:
        if self._ended is None and self._work.done:
            self._end_on_trouble(self._aside.trouble(last=True))
            self._end("done")
        if self._ended is not None and self._aside.held:
            self._resolve()
        return self._ended is not None and not self._lines

    def _await_work(self) -> None:
        """Wait until there may be something to do."""
        quick = self._is_quick()
        waits = [1.0, self._patience / 2]
        if (delay := self._work.delay(self._room())) is not None:
            waits.append(delay)
        if quick and self._crew.load > 0:
            waits.append(BEAT)
        self._wake.wait(0.0 if self._left or self._lines else min(waits))
        beat = self._beat + BEAT - time.monotonic()
        if quick and self._asking.pace.limited and beat > 0:
            time.sleep(beat)  # what comes until then is written in one go
        now = time.monotonic()
        self._cycle = max(now - self._beat, 0.9 * self._cycle)
        self._beat = now

    def _is_quick(self) -> bool:
        """Whether answers come one upon the other."""
        return self._troubles.warm and self._took < QUICK * self._asking.connections

    # --- what is asked next ---

    def _room(self) -> int:
        """So many more questions may be handed out: until the first answer one at a time, so that a bad key costs one
        call. Ahead of the threads go as many as they will have asked by the next write."""
        threads = self._asking.connections
        if not self._troubles.warm:
            threads = 1
        elif self._is_quick():
            threads += min(AHEAD, int(self._cycle * threads / max(self._took, 1e-6)))
        return threads - self._crew.load

    def _take(self) -> list[Question]:
        """What is to be asked now, its lines ready to be written; or where the lane ends, what it takes back."""
        questions: list[Question] = []
        if self._ended is None:
            taken = self._work.take(self._room(), waiting=self._crew.load > 0)
            for name, reason in taken.skipped:
                self._lines.append({"at": self._clock.now(), "document": name, "kind": "skipped", "reason": reason})
            self.tally.skipped += len(taken.skipped)
            questions = taken.questions
            if taken.ends is not None:
                self._end(*taken.ends)
        if self._ended is None:
            self._lines += [_make_sent_line(question) for question in questions if question.item.job is None]
            return questions
        back = self._crew.take_back()
        self._lines += [
            make_not_sent_line(question, self._clock.now()) for question in back if question.item.job is None
        ]
        self._work.give_back([*questions, *back])
        return []

    # --- what came ---

    def _settle(self, *, stopping: bool) -> bool:
        """Make the evidence of what came durable; the lines follow with the next write. Whether anything came."""
        outcomes = self._crew.outcomes()
        if not outcomes:
            return False
        at, version = self._clock.now(), self._asking.version
        done = [settle_outcome(self.promised, o, self._material, version, at=at, stopping=stopping) for o in outcomes]
        final: list[Came] = []
        for outcome, each in zip(outcomes, done, strict=True):
            final += self._aside.sift(Came(outcome, each))
            self._make_one(outcome, each)
        self._note_aside()
        self._keep(final)
        if self._ended is None:
            self._end_on_trouble(self._aside.trouble())
        if self._files.exchanges is not None:
            pairs = ((outcome.question.pair, each) for outcome in outcomes for each in outcome.exchanges)
            self._files.exchanges.append(
                *(make_exchange_line(pair.document, pair.attempt, each) for pair, each in pairs)
            )
        return True

    def _make_one(self, outcome: Outcome, done: SettledOutcome) -> None:
        self._took += (outcome.seconds - self._took) / 8
        if done.charged is not None:
            self._work.settle(outcome.question, done.charged)
        self._end_on_trouble(done.ends or self._troubles.saw(outcome, done))
        if done.again is not None:
            failures = done.again.rounds or done.again.attempt - 1
            self._work.later(self._troubles.due(outcome, failures), done.again)

    def _keep(self, final: list[Came]) -> None:
        """Make the evidence of what is final durable; its lines follow with the next write."""
        if kept := [each.done.kept for each in final if each.done.kept is not None]:
            with self._guard_writes():
                self._files.kept.append(kept)
        at = self._clock.now()
        for outcome, done in final:
            if done.line is not None:
                self._lines.append({**done.line, "at": at})
            if done.judged is not None:
                self._count(done.judged, outcome.question.pair.document)

    def _note_aside(self) -> None:
        """What is held back is known after a crash as well."""
        new = self._aside.news()
        if self._files.aside is not None and new:
            self._files.aside.append(*map(aside_line, new))

    def _resolve(self) -> None:
        """Nothing follows that could tell: few answers of which nothing can be made are final, many are asked about again."""
        if self._aside.doubted:
            self._lines += self._aside.put_back(self._clock.now())
        else:
            self._keep(self._aside.release())

    def _end_on_trouble(self, trouble: ServiceError | None) -> None:
        if trouble is not None:
            self._end(judge.clean_reason(trouble.faults[0].fact), trouble)

    def _count(self, judged: Judged, document: str) -> None:
        setattr(self.tally, judged.state, getattr(self.tally, judged.state) + 1)
        version = judged.found.version
        if version is None:
            return
        if self._expected is not None and version not in self._versions:
            self.tally.changes.append((self._expected, version, document))
        self._expected = version
        self._versions.add(version)

    # --- writing, and the end ---

    def _noted(self, question: Question, job: Job) -> None:
        """Called by the threads that ask, as soon as a vendor has taken a text on."""
        if self._files.jobs is not None:
            with contextlib.suppress(ServiceError):  # a disk that is full: the answer may come all the same
                self._files.jobs.append(make_job_line(question.pair.document, question.pair.attempt, job))

    def _flush(self) -> None:
        lines, self._lines = self._lines, []
        if lines:
            with self._guard_writes():
                self._files.journal.append(*lines)

    @contextlib.contextmanager
    def _guard_writes(self) -> Iterator[None]:
        """After a write that failed nothing more is written: the next scan finds the unfinished line and moves it away."""
        try:
            yield
        except PenmarkError:
            self._broken = True
            raise

    def _make_silence_error(self) -> ServiceError:
        return ServiceError(
            f"{self.promised.detector} gave no answer for {self._patience:g} seconds and was left alone",
            remedy="Its document is in doubt. See what is wrong with it, then run the same command again.",
        )

    def _end(self, why: str, error: PenmarkError | None = None) -> None:
        """Ask for nothing more, for this reason; the first one counts."""
        if self._ended is None:
            self._ended = Ends(why, error)

    def _finish(self) -> None:
        self._crew.leave()
        ended, error = self._ended or Ends("")
        try:
            if not self._broken:
                self._lines += self._aside.put_back(self._clock.now())
                self._lines.append({"at": self._clock.now(), "kind": "stop", "reason": ended})
                self._flush()
        except PenmarkError as refused:
            error = refused
        self.tally.error, self.tally.ended = error, ended
        self._tell()


def _make_sent_line(question: Question) -> dict[str, Any]:
    pair = question.pair
    return {"at": pair.sent_at, "attempt": pair.attempt, "document": pair.document, "kind": "sent"}
