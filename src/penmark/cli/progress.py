"""Progress of a scan: one line a detector. Not a verb; `penmark scan` draws with it.

*Reads* tallies. *Writes* to stderr, or events to stdout. *Never* slows a lane down: an event for each hundredth at most;
never ends one, where nobody reads on (a closed terminal, ``| head``): it falls silent.
"""

from __future__ import annotations

import contextlib
import json
import sys
import threading
import time
from types import TracebackType
from typing import Any, NamedTuple, Self

from penmark.stages.scan.plan import Part
from penmark.stages.scan.run import Scan
from penmark.stages.scan.worker import Worker

PAUSE = 10.0
"""Seconds between two plain lines of a detector."""
LONG = 600.0
"""Seconds after which there is a line though less than a tenth was done."""


class Now(NamedTuple):
    """How far a detector is. ``rate``: documents a second in this scan; ``left``: seconds, by that rate."""

    done: int
    documents: int
    declined: int
    failed: int
    rate: float
    left: float | None
    cost: str


class Progress:
    """Live lines where stderr is a terminal, a few plain lines where it is none, or JSON events each hundredth."""

    def __init__(self, scan: Scan, as_json: bool) -> None:
        self._scan, self._as_json, self._lock = scan, as_json, threading.Lock()
        self._before = {name: scan.plan.counts(part) for name, part in scan.plan.parts.items()}
        self._told: dict[str, tuple[int, float]] = {name: (-1, time.monotonic()) for name in self._before}
        self._live: Any = None
        self._silent = False
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> Self:
        if not self._as_json and sys.stderr.isatty():
            self._live, self._tasks = _make_live_display(self._before)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            with contextlib.suppress(OSError):
                self._live.stop()

    def tell(self, lane: Worker, part: Part) -> None:
        """Show how far a lane is. Called from the lane's thread."""
        with self._lock:
            if not self._silent:
                try:
                    self._tell(lane, part)
                except OSError:
                    self._silent = True

    def _tell(self, lane: Worker, part: Part) -> None:
        name, ended = part.detector.name, lane.tally.ended is not None
        now = self._compute_now(name, lane)
        if self._live is not None:
            told = {"failed": now.failed, "declined": now.declined, "rate": _format_rate(now), "cost": now.cost}
            self._live.update(self._tasks[name], completed=now.done, left=_format_left(now), **told)
        elif self._is_due(name, now, ended):
            self._print(name, now)

    def _compute_now(self, name: str, lane: Worker) -> Now:
        tally, before, account = lane.tally, self._before[name], self._scan.purse.accounts.get(name)
        new = tally.answered + tally.declined + tally.failed
        done = before["documents"] - before["to_ask"] + new + tally.recovered
        rate = new / max(1e-6, time.monotonic() - tally.began)
        left = max(0, before["documents"] - done) / rate if rate > 0 else None
        cost = "" if account is None else f"{account.due.normalize():f} {account.currency}"
        return Now(done, before["documents"], tally.declined, tally.failed, rate, left, cost)

    def _is_due(self, name: str, now: Now, ended: bool) -> bool:
        """Whether there is enough to tell: so much more done, and for plain lines so much later."""
        last, at = self._told[name]
        step = now.done * (100 if self._as_json else 10) // max(1, now.documents)
        since = time.monotonic() - at
        going = now.done < now.documents  # the last document is told at the end, once
        enough = step > last if self._as_json else going and since > PAUSE and (step > last or since > LONG)
        if enough or ended:
            self._told[name] = step, time.monotonic()
        return enough or ended

    def _print(self, name: str, now: Now) -> None:
        if self._as_json:
            value = {"event": "progress", "detector": name, "done": now.done, "documents": now.documents}
            value |= {"declined": now.declined, "failed": now.failed, "rate": round(now.rate, 3)}
            value |= {"seconds_left": None if now.left is None else round(now.left), "cost": now.cost or None}
            print(json.dumps(value), flush=True)
            return
        parts = [f"{count} {what}" for count, what in ((now.declined, "declined"), (now.failed, "failed")) if count]
        if now.done < now.documents:
            parts += [_format_rate(now), _format_left(now)]
        parts += [now.cost] if now.cost else []
        told = ", ".join(part for part in parts if part)
        print(f"{name}: {now.done} of {now.documents}{', ' if told else ''}{told}", file=sys.stderr, flush=True)


def _format_rate(now: Now) -> str:
    return f"{now.rate:.1f}/s" if now.rate >= 1 else f"{60 * now.rate:.1f}/min"


def _format_left(now: Now) -> str:
    if now.left is None or now.done >= now.documents:
        return ""
    minutes, seconds = divmod(round(now.left), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d} left"


def _make_live_display(before: dict[str, dict[str, int]]) -> tuple[Any, dict[str, Any]]:
    from rich import progress
    from rich.console import Console

    live = progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(bar_width=24),
        progress.MofNCompleteColumn(),
        progress.TextColumn("{task.fields[declined]} declined, {task.fields[failed]} failed"),
        progress.TextColumn("{task.fields[rate]}"),
        progress.TextColumn("{task.fields[cost]}"),
        progress.TextColumn("{task.fields[left]}"),
        console=Console(stderr=True),
    )
    tasks = {
        name: live.add_task(
            name,
            total=counts["documents"],
            completed=counts["documents"] - counts["to_ask"],
            declined=0,
            failed=0,
            rate="",
            cost="",
            left="",
        )
        for name, counts in before.items()
    }
    return live, tasks
