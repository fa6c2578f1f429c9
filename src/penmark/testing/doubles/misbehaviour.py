"""What a double does wrong, and when: a script, taken request by request.

*Reads* and *writes* nothing. *Never* draws lots.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal[
    "wrong key", "no credit", "too short", "too long", "rate limited", "broken", "busy", "expired login",
    "drop before", "drop after", "half body", "html", "slow", "redirect", "huge", "echo key",
    "missing field", "null score", "extra field", "echo changed", "failed job", "endless job",
]  # fmt: skip
REFUSALS = ("wrong key", "no credit", "too short", "too long", "rate limited", "broken", "busy")
"""Answers in the vendor's own words that are none: nothing is charged."""
OF_RESULTS = ("missing field", "null score", "extra field", "echo changed", "failed job", "endless job")
"""What goes wrong with a result; where there is a job, with the result of that job."""
Step = Literal["login", "send", "upload", "poll"]


@dataclass(frozen=True)
class Behaviour:
    """One thing that goes wrong, ``times`` times (None: from then on always), with requests of the step ``at``.

    ``retry_after``: the header, word for word. ``seconds``: how long a slow answer takes, unless the double is closed.
    ``tells``: the answer, whatever it is, repeats the key in its headers, in an address, in its words and its body.

    | kind | what happens | charged |
    |---|---|---|
    | wrong key, no credit, too short, too long, rate limited, broken (500), busy (503) | the vendor's own refusal | no |
    | expired login | the token no longer counts | no |
    | drop before | the connection breaks before the request is read | no |
    | drop after | the request is read and charged, then the connection breaks | yes |
    | half body | half of the answer, then the connection breaks | yes |
    | html | a page in place of the answer, status 200 | yes |
    | slow | the answer comes after ``seconds`` | yes |
    | redirect | 307 to another host | no |
    | huge | an answer that does not end | yes |
    | echo key | the answer repeats the key in a header and in its body | yes |
    | missing field, null score, extra field, echo changed | in an answer that is otherwise right | yes |
    | failed job | the job ends without a result, status 200 | no |
    | endless job | the job does not end | yes |
    """

    kind: Kind
    at: Step = "send"
    times: int | None = 1
    retry_after: str | None = None
    seconds: float = 30.0
    tells: bool = False

    @classmethod
    def of(cls, given: str | Behaviour | None) -> Behaviour | None:
        """A behaviour by its kind. Raises ValueError for a kind that there is not."""
        if given is None or isinstance(given, Behaviour):
            return given
        for kind in get_args(Kind):
            if kind == given:
                return cls(kind)
        raise ValueError(f"there is no behaviour {given!r}; there are {', '.join(get_args(Kind))}")


class Limit:
    """So many requests in any ``seconds``; those beyond it are refused, and not counted. Used by several threads."""

    def __init__(self, requests: int, seconds: float = 1.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._requests, self._seconds, self._clock = requests, seconds, clock
        self._came: deque[float] = deque()
        self._lock = threading.Lock()

    def permits(self) -> bool:
        """Whether one more request is within the limit."""
        with self._lock:
            now = self._clock()
            while self._came and self._came[0] <= now - self._seconds:
                self._came.popleft()
            if len(self._came) >= self._requests:
                return False
            self._came.append(now)
            return True


class Script:
    """What goes wrong with the next requests, step by step. Used by several threads."""

    def __init__(self, acts: list[Behaviour | None]) -> None:
        self._acts: dict[str, list[Behaviour | None]] = defaultdict(list)
        for act in acts:
            self._acts["send" if act is None else act.at] += [act] * (
                1 if act is None or act.times is None else act.times
            )
        self._lock = threading.Lock()

    def all(self) -> list[Behaviour]:
        """Every behaviour that is still to come."""
        with self._lock:
            return [act for acts in self._acts.values() for act in acts if act is not None]

    def next(self, step: str) -> Behaviour | None:
        """What goes wrong with the next request of ``step``."""
        with self._lock:
            acts = self._acts[step]
            if not acts:
                return None
            act = acts[0]
            if act is None or act.times is not None:
                acts.pop(0)
            return act
