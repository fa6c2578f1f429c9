"""Pace: when the next request to a vendor may leave.

*Reads* the clock that only goes forward. *Writes* nothing. *Never* lets more requests leave than the vendor permits in
any stretch of time of the length that its limit names, or any while the vendor asked to be left alone.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable

from penmark import records

UNUSED = 0.02
"""The part of a limit that is left alone: so many requests may still be on their way when others arrive."""
SLACK = 0.01
"""By so much the time of a limit is stretched: no two clocks are the same."""
BURST = 100
"""So many requests at most leave at once after a stretch without any."""
NO_LIMIT = 2**30
_TRIFLE = 1e-9


class RateLimit:
    """One vendor's limit: so many requests in so many seconds, spread over that time; None: no limit of its own.

    Used by several threads.
    """

    def __init__(self, limit: records.Pace | None, clock: Callable[[], float] = time.monotonic) -> None:
        self.limited = limit is not None
        self._most = NO_LIMIT if limit is None else math.ceil(limit.requests * (1 - UNUSED))
        self._span = 0.0 if limit is None else limit.seconds * (1 + SLACK)
        self._rate = 0.0 if limit is None else self._most / self._span
        self._room = float(min(BURST, max(1, self._most // 5)))
        self._clock, self._lock = clock, threading.Lock()
        self._tokens, self._filled, self._closed = self._room, clock(), 0.0
        self._left: deque[float] = deque()  # when the requests of the last span left
        self._taken = 0  # places of requests that have not left yet

    @property
    def rate(self) -> float | None:
        """Requests a second, as far as this limit goes."""
        return self._rate if self.limited else None

    def free(self) -> int:
        """For how many requests a place may be taken now."""
        with self._lock:
            return self._free(self._clock())

    def take(self, count: int = 1) -> None:
        """Take places for so many requests, which leave with ``turn(…, taken=True)``."""
        with self._lock:
            if self.limited:
                self._free(self._clock())
                self._tokens -= count
                self._taken += count

    def give_back(self, count: int = 1) -> None:
        """So many requests will not leave after all."""
        with self._lock:
            if self.limited:
                self._tokens = min(self._room, self._tokens + count)
                self._taken -= count

    def delay(self) -> float:
        """Seconds until a place may be free; 0.0: now."""
        with self._lock:
            now = self._clock()
            return 0.0 if self._free(now) > 0 else self._compute_delay(now)

    def close(self, seconds: float) -> None:
        """Let nothing leave for so long."""
        with self._lock:
            self._closed = max(self._closed, self._clock() + seconds)

    def turn(self, wait: Callable[[float], bool], *, taken: bool = False) -> bool:
        """Wait until a request may leave, and let it; False where ``wait`` says that the waiting is to end.

        ``taken``: it has its place. That is not enough: others may have been held up on their way, and leave now.
        """
        while True:
            with self._lock:
                now = self._clock()
                if self._try_to_leave(now, taken):
                    return True
                seconds = self._compute_delay(now)
            if wait(min(1.0, seconds)):
                return False

    def _free(self, now: float) -> int:
        if now < self._closed:
            return 0
        if not self.limited:
            return NO_LIMIT
        self._fill(now)
        return min(int(self._tokens + _TRIFLE), self._most - self._count_recent_requests(now) - self._taken)

    def _fill(self, now: float) -> None:
        self._tokens = min(self._room, self._tokens + (now - self._filled) * self._rate)
        self._filled = now

    def _count_recent_requests(self, now: float) -> int:
        """How many requests left in the span that ends now."""
        while self._left and self._left[0] <= now - self._span:
            self._left.popleft()
        return len(self._left)

    def _try_to_leave(self, now: float, taken: bool) -> bool:
        if now < self._closed or (self.limited and self._count_recent_requests(now) >= self._most):
            return False
        if not self.limited:
            return True
        if taken:
            self._taken -= 1
        elif self._free(now) > 0:
            self._tokens -= 1
        else:
            return False
        self._left.append(now)
        return True

    def _compute_delay(self, now: float) -> float:
        waits = [self._closed - now]
        if self.limited:
            self._fill(now)
            waits.append((1 - self._tokens) / self._rate)
            if self._count_recent_requests(now) >= self._most:
                waits.append(self._left[0] + self._span - now)
        return max(0.001, *waits)
