"""The time that a scan writes down: this machine's, but never earlier than what it wrote before.

*Reads* the clock. *Writes* nothing. *Never* lets a journal's times run backwards, and never hides that the clock did.
"""

from __future__ import annotations

import threading
from datetime import datetime

from penmark.cards import judge
from penmark.errors import ServiceError

TOLERANCE = 2.0
"""Seconds that a clock may be put back, as time servers do it, without anybody being told."""


class Clock:
    """Shared by the threads of a scan. ``last``: the latest time that is on the disk already."""

    def __init__(self, last: str | None = None) -> None:
        self._last, self._fault = last, None if last is None else _find_clock_error(last, judge.get_time_now())
        self._lock = threading.Lock()

    def now(self) -> str:
        """The time, UTC, RFC 3339; the latest one again where the clock was put back."""
        with self._lock:
            at = judge.get_time_now()
            if self._last is not None and at.rstrip("Z") < self._last.rstrip("Z"):
                self._fault = self._fault or _find_clock_error(self._last, at)
                return self._last
            self._last = at
            return at

    @property
    def fault(self) -> ServiceError | None:
        """What is wrong with the clock, once it was put back by more than ``TOLERANCE``."""
        return self._fault


def _find_clock_error(last: str, at: str) -> ServiceError | None:
    behind = (datetime.fromisoformat(last) - datetime.fromisoformat(at)).total_seconds()
    if behind <= TOLERANCE:
        return None
    return ServiceError(
        f"this machine's clock went back: it says {at}, and {last} is written down already",
        remedy="Set the clock right, then run the same command again. Nothing was lost.",
    )
