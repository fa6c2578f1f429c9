"""Troubles of one detector: when to slow down, and when to stop, so that an outage does not eat the corpus.

*Reads* outcomes. *Writes* nothing. *Never* decides about a single text: that is ``settling``.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from penmark.errors import ServiceError
from penmark.plugins import UnansweredError
from penmark.stages.scan.outcome import SettledOutcome
from penmark.stages.scan.rate_limit import RateLimit
from penmark.stages.scan.threads import Outcome, UnsentError

GIVE_UP = 3
"""After so many texts in a row without an answer, all attempts made, the rest is left for another day."""
ALIKE = 5
"""So many texts in a row that came to nothing alike mean that the vendor, the address or the card is wrong."""


class CircuitBreaker:
    """``warm``: an answer came, or enough else to know that the detector is there."""

    def __init__(self, detector: str, pace: RateLimit, pause: Callable[[int], float]) -> None:
        self.warm = False
        self._detector, self._pace, self._pause = detector, pace, pause
        self._streak, self._calm, self._lost, self._heard = 0, 0.0, 0, 0

    def due(self, outcome: Outcome, failures: int) -> float:
        """When to ask again, by the clock that only goes forward."""
        asked = outcome.said.retry_after if isinstance(outcome.said, UnansweredError) else None
        return time.monotonic() + max(self._pause(failures), asked or 0.0)

    def saw(self, outcome: Outcome, done: SettledOutcome) -> ServiceError | None:
        """Take an outcome into account; why nothing more should be asked in this scan, or None."""
        if isinstance(outcome.said, UnansweredError):
            return self._unanswered(outcome, outcome.said, done)
        self._streak = self._lost = 0
        if done.judged is None or self.warm:
            return None
        self._heard += 1
        self.warm = done.judged.state == "answered" or self._heard >= ALIKE
        return None

    def _unanswered(self, outcome: Outcome, said: UnansweredError, done: SettledOutcome) -> ServiceError | None:
        if said.stop or isinstance(said, UnsentError):
            return None
        now = time.monotonic()
        if said.retry_after is not None:
            self._pace.close(said.retry_after)
        elif (
            said.again and not said.job and outcome.began >= self._calm
        ):  # not one of several that failed at the same moment
            self._streak += 1
            if self._streak > 1:
                rest = self._pause(self._streak - 1)
                self._pace.close(rest)
                now += rest
            self._calm = now
        if done.judged is None:
            return None
        self._lost += 1
        if self._lost < GIVE_UP:
            return None
        return ServiceError(
            f"{self._lost} texts in a row got no answer, the last: {said.faults[0].fact}",
            place=self._detector,
            remedy="See what is wrong with the vendor, or the way there, then run the same command again.",
        )
