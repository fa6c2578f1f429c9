"""Progress of a scan: one line a detector. Not a verb; `penmark scan` draws with it.

*Reads* tallies. *Writes* to stderr, or events to stdout. *Never* slows a lane down: a line for each hundredth at most.
"""

from __future__ import annotations

import json
import sys
import threading
from types import TracebackType
from typing import Any, Self

from penmark.scan.lane import Lane
from penmark.scan.plan import Part, Plan


class Progress:
    """Live lines where stderr is a terminal, plain lines each tenth where it is none, or JSON events each hundredth."""

    def __init__(self, plan: Plan, as_json: bool) -> None:
        self._as_json, self._lock = as_json, threading.Lock()
        self._before = {name: plan.counts(part) for name, part in plan.parts.items()}
        self._told: dict[str, int] = dict.fromkeys(plan.parts, -1)
        self._live: Any = None
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> Self:
        if not self._as_json and sys.stderr.isatty():
            self._live, self._tasks = _live(self._before)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def tell(self, lane: Lane, part: Part) -> None:
        """Show how far a lane is. Called from the lane's thread."""
        name, tally, before = part.detector.name, lane.tally, self._before[part.detector.name]
        new = tally.answered + tally.declined + tally.failed + tally.recovered
        done, whole = before["documents"] - before["to_ask"] + new, max(1, before["documents"])
        with self._lock:
            if self._live is not None:
                states = {"failed": tally.failed, "declined": tally.declined}
                self._live.update(self._tasks[name], completed=done, **states)
                return
            step = done * (100 if self._as_json else 10) // whole
            if step <= self._told[name] and tally.ended is None:
                return
            self._told[name] = step
            if self._as_json:
                value = {"event": "progress", "detector": name, "done": done, "documents": before["documents"]}
                value |= {"declined": tally.declined, "failed": tally.failed}
                print(json.dumps(value), flush=True)
            else:
                trouble = f", {tally.failed} failed" if tally.failed else ""
                print(f"{name}: {done} of {before['documents']}{trouble}", file=sys.stderr, flush=True)


def _live(before: dict[str, dict[str, int]]) -> tuple[Any, dict[str, Any]]:
    from rich import progress
    from rich.console import Console

    live = progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("{task.fields[declined]} declined, {task.fields[failed]} failed"),
        progress.TimeRemainingColumn(),
        console=Console(stderr=True),
    )
    tasks = {
        name: live.add_task(
            name,
            total=counts["documents"],
            completed=counts["documents"] - counts["to_ask"],
            declined=0,
            failed=0,
        )
        for name, counts in before.items()
    }
    return live, tasks
