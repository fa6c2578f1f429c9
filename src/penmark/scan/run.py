"""A scan: every detector's lane side by side, until all is asked or somebody stops it.

*Reads* the plan. *Writes* journals and evidence, through the lanes. *Never* lets one detector hold up another.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from penmark.errors import ServiceError
from penmark.records import Head
from penmark.scan import standing
from penmark.scan.lane import Lane, Tally
from penmark.scan.plan import Part, Plan

PATIENCE = 600.0
"""Seconds without an answer after which a detector is left alone: its pair is in doubt, the others go on."""


@dataclass(frozen=True)
class Ended:
    """How one detector's part of a scan ended. ``counts``: as ``Plan.counts``, by the journal as it stands now.

    ``changes``: what went otherwise than promised, in sentences, over all scans of this detector.
    """

    detector: str
    tally: Tally
    counts: dict[str, int]
    in_doubt: list[str]
    changes: list[str]


class Scan:
    """An opened scan. ``heads``: the journals as they stood before it, by path in the edition; after ``run``, as they stand."""

    def __init__(
        self, plan: Plan, lanes: Mapping[str, Lane], heads: dict[str, Head], patience: float = PATIENCE
    ) -> None:
        self.plan, self.heads = plan, heads
        self._lanes, self._patience = lanes, patience
        self._stop, self._wake = threading.Event(), threading.Event()
        self._signals = 0

    @property
    def begun(self) -> bool:
        """False where nothing is left to ask, and nothing was written."""
        return bool(self._lanes)

    def run(self, tell: Callable[[Lane, Part], None] = lambda lane, part: None) -> list[Ended]:
        """Ask until all is done. ``tell`` is called by the lanes, each from its own thread, after each group of answers.

        SIGINT and SIGTERM let the calls in flight end; a second one leaves them in doubt.
        """
        threads = {
            name: threading.Thread(target=self._lane, args=(lane, self.plan.parts[name], tell), name=name, daemon=True)
            for name, lane in self._lanes.items()
        }
        with self._signalled():
            for thread in threads.values():
                thread.start()
            self._watch(threads)
        ended = [self._ended(part) for part in self.plan.parts.values()]
        self.heads = {name: head for part in self.plan.parts.values() for name, head in part.standing.heads.items()}
        return ended

    def stop(self) -> None:
        """Ask for nothing more; what is in flight ends."""
        self._stop.set()

    def _lane(self, lane: Lane, part: Part, tell: Callable[[Lane, Part], None]) -> None:
        try:
            lane.run(self.plan.items(part), self._stop, lambda: tell(lane, part))
        finally:
            self._wake.set()

    def _watch(self, threads: Mapping[str, threading.Thread]) -> None:
        while any(threads[name].is_alive() and lane.tally.ended is None for name, lane in self._lanes.items()):
            self._wake.wait(min(1.0, self._patience))
            self._wake.clear()
            for lane in self._lanes.values():
                since = lane.busy_since
                if self._signals > 1:
                    lane.close("interrupted; the call in flight was left")
                elif since is not None and time.monotonic() - since > self._patience:
                    hung = ServiceError(
                        f"{lane.promised.detector} gave no answer for {self._patience:g} seconds and was left alone",
                        remedy="Its document is in doubt. See what is wrong with it, then run the same command again.",
                    )
                    lane.close(f"no answer for {self._patience:g} seconds", hung)

    @contextlib.contextmanager
    def _signalled(self) -> Iterator[None]:
        """Let SIGINT and SIGTERM stop the scan while in the block, where this is the main thread."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def heard(number: int, frame: Any) -> None:
            self._signals += 1
            self._stop.set()
            self._wake.set()

        before = {number: signal.signal(number, heard) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _ended(self, part: Part) -> Ended:
        name, ground, plan = part.detector.name, self.plan.ground, self.plan
        stopped, lane = plan.stopped(part), self._lanes.get(name)
        part.standing = standing.look(ground.edition.journals, name, plan.shard, plan.documents, ground.corpus_sha256)
        tally = Tally(ended=stopped or "nothing was left to ask") if lane is None else lane.tally
        says = ground.protocol.on_version_change
        changes = [
            f"the version changed from {c.expected} to {c.seen} (document {c.document}); the promise says: {says}"
            for c in part.standing.changes
        ]
        return Ended(name, tally, plan.counts(part), plan.in_doubt(part), changes)
