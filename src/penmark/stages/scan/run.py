"""A scan: every detector's lane side by side, until all is asked or somebody stops it.

*Reads* the plan. *Writes* journals and evidence, through the lanes. *Never* lets one detector hold up another.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from penmark import cards
from penmark.cards import Missed
from penmark.records import Head
from penmark.stages.scan import canary, journal_state, private_log
from penmark.stages.scan.budget import Budget, Spend
from penmark.stages.scan.canary import Canary
from penmark.stages.scan.plan import Part, Plan
from penmark.stages.scan.worker import Tally, Worker
from penmark.study.stop_signals import catch_stop_signals


@dataclass(frozen=True)
class Ended:
    """How one detector's part of a scan ended. ``counts``: as ``Plan.counts``, by the journal as it stands now.

    ``changes``: what went otherwise than promised, in sentences, over all scans of this detector. ``account``: what it has
    cost, over all scans; None where it costs nothing. ``misses``: answers of which its card makes nothing, over all scans.
    """

    detector: str
    tally: Tally
    counts: dict[str, int]
    in_doubt: list[str]
    changes: list[str]
    account: Spend | None = None
    misses: tuple[Missed, ...] = ()
    stopped: str | None = None  # why what is left stays not run, by the promise


class Scan:
    """An opened scan. ``heads``: the journals as they stood before it, by path in the edition; after ``run``, as they stand.

    ``purse``: what it may cost and has cost; ``stopping``: set where nothing more is to be asked.
    """

    def __init__(
        self,
        plan: Plan,
        lanes: Mapping[str, Worker],
        canaries: Mapping[str, Canary],
        heads: dict[str, Head],
        stopping: threading.Event,
        purse: Budget,
    ) -> None:
        self.plan, self.heads, self.purse = plan, heads, purse
        self._lanes, self._canaries, self._stop = lanes, canaries, stopping
        self._wake, self._lock, self._open = threading.Event(), threading.Lock(), 0
        self._signals = 0

    @property
    def begun(self) -> bool:
        """False where nothing is left to ask, and nothing was written."""
        return bool(self._lanes)

    def asks(self, name: str) -> bool:
        """Whether something is asked of this detector, or written down about it."""
        return name in self._lanes

    def run(self, tell: Callable[[Worker, Part], None] = lambda lane, part: None) -> list[Ended]:
        """Ask until all is done. ``tell`` is called by the lanes, each from its own thread, after each group of answers.

        SIGINT and SIGTERM let the calls in flight end; a second one leaves them in doubt.
        """
        threads = [
            threading.Thread(target=self._lane, args=(lane, self.plan.parts[name], tell), name=name, daemon=True)
            for name, lane in self._lanes.items()
        ]
        self._open = len(threads)
        with catch_stop_signals(self._hear_signal):
            for thread in threads:
                thread.start()
            self._watch()
        ended = [self._ended(part) for part in self.plan.parts.values()]
        self.heads = {name: head for part in self.plan.parts.values() for name, head in part.standing.heads.items()}
        return ended

    def stop(self) -> None:
        """Ask for nothing more; what is in flight ends."""
        self._stop.set()
        for lane in self._lanes.values():
            lane.nudge()
        for bird in self._canaries.values():
            bird.nudge()

    def _lane(self, lane: Worker, part: Part, tell: Callable[[Worker, Part], None]) -> None:
        bird = self._canaries.get(part.detector.name)
        try:
            if bird is not None and (trouble := bird.ask(self._stop)) is not None:
                lane.close(*trouble)
            lane.run(self.plan.items(part), self._stop, lambda: tell(lane, part))
            if bird is not None and lane.tally.ended == "done":
                bird.ask(self._stop)
        finally:
            with self._lock:
                self._open -= 1
            self._wake.set()

    def _watch(self) -> None:
        """Wait until all lanes have ended; hand on to them what signals ask for."""
        while self._open > 0:
            self._wake.wait(1.0)
            self._wake.clear()
            if self._signals > 0:
                self.stop()
            if self._signals > 1:
                for bird in self._canaries.values():
                    bird.close()
                for lane in self._lanes.values():
                    lane.close("interrupted; the call in flight was left")

    def _hear_signal(self) -> None:
        self._signals += 1
        self._stop.set()
        self._wake.set()

    def _ended(self, part: Part) -> Ended:
        name, ground, plan = part.detector.name, self.plan.ground, self.plan
        stopped, lane = plan.stopped(part), self._lanes.get(name)
        misses = cards.Misses(part.sealed.card, cards.choose_rule(part.detector, part.sealed.card))
        where = (ground.edition.journals, name, plan.shard, plan.documents, ground.corpus_sha256)
        part.standing = journal_state.read_journal_state(*where, misses)
        tally = Tally(ended=stopped or "nothing was left to ask") if lane is None else lane.tally
        says = ground.protocol.on_version_change
        changes = [
            f"the version changed from {c.expected} to {c.seen} (document {c.document}); the promise says: {says}"
            for c in part.standing.changes
        ]
        if part.sealed.card.ask.by == "http":
            part.jobs = private_log.read_jobs(private_log.locate_jobs(plan.place, ground.edition.tag, name, plan.shard))
            changes += canary.list_drift(ground.edition, name)
        account = self.purse.accounts.get(name)
        return Ended(
            name,
            tally,
            plan.counts(part),
            plan.in_doubt(part),
            changes,
            account,
            tuple(misses.found()),
            plan.stopped(part),
        )
