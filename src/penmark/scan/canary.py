"""The canary: one practice text that a vendor is asked about first and last, to see whether it stays the same meanwhile.

*Reads* the practice text and what was said of it before. *Writes* ``pilot/canary/<detector>.jsonl`` and its evidence.
*Never* scores it: what changed is told as a deviation.
"""

from __future__ import annotations

import contextlib
import fcntl
import threading
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path

import polars as pl

from penmark import evidence, journal
from penmark.errors import PenmarkError
from penmark.frozen import Ground
from penmark.scan.asking import Asking, Item
from penmark.scan.clock import Clock
from penmark.scan.lane import Files, Lane
from penmark.scan.plan import Part
from penmark.scan.practising import FIRST_PREV, Practice, runs
from penmark.scan.purse import MAYBE, Purse
from penmark.scan.purse import price as of_text
from penmark.scan.settling import Promised
from penmark.scan.work import Money
from penmark.study import Edition

TEXT = "ferry"
TIMES = 2
"""First and last."""


class Canary:
    """One detector's canary in a scan."""

    def __init__(
        self, ground: Ground, part: Part, asking: Asking, purse: Purse, clock: Clock, pause: Callable[[int], float]
    ) -> None:
        self._ground, self._part, self._asking = ground, part, asking
        self._purse, self._clock, self._pause = purse, clock, pause
        self._lane: Lane | None = None

    def ask(self, stop: threading.Event) -> tuple[str, PenmarkError] | None:
        """Ask about it once; why nothing else should be asked, where that shows."""
        name, protocol = self._part.detector.name, self._ground.protocol
        path, sealed = file(self._ground.edition, name), self._part.sealed
        terms = Promised(
            name,
            sealed.card,
            self._part.detector.version,
            protocol.attempts,
            False,
            protocol.window.closes,
            priced=self._part.tariff is not None,
        )
        try:
            with _alone(path), journal.Writer(path, FIRST_PREV) as writer:
                text = Practice(runs(path) + 1, TEXT)
                digest = self._ground.card_sha256[name]
                at = self._clock.now()
                writer.append(journal.start_line(name, sealed, digest, shard="1/1", at=at, number=protocol.format))
                self._lane = Lane(
                    terms,
                    self._asking,
                    text,
                    Files(writer, evidence.Writer(path.parent, name)),
                    pause=self._pause,
                    clock=self._clock,
                    money=Money(self._purse, lambda _, text: price(self._part)) if terms.priced else None,
                )
                self._lane.run(iter([Item(0)]), stop)
        except PenmarkError as error:
            return error.faults[0].fact, error
        tally = self._lane.tally
        return None if tally.error is None else (tally.ended or "", tally.error)

    def close(self) -> None:
        """Leave it, if it is being asked about."""
        if self._lane is not None:
            self._lane.close("interrupted; the call in flight was left")

    def nudge(self) -> None:
        """Let it see that the scan is stopped."""
        if self._lane is not None:
            self._lane.nudge()


def file(edition: Edition, detector: str) -> Path:
    """Where its readings are."""
    return edition.pilot / "canary" / f"{detector}.jsonl"


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold what all shards write to: each asks when the one before has its answer."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def price(part: Part) -> Decimal:
    """What it costs, each time."""
    return Decimal(0) if part.tariff is None else of_text(part.tariff, Practice(1, TEXT).text(0))


def spent(edition: Edition, part: Part) -> tuple[Decimal, Decimal]:
    """What was charged for it so far by what is on record, and what may have been beyond that."""
    path = file(edition, part.detector.name)
    if part.tariff is None or not path.exists() or path.stat().st_size == 0:
        return Decimal(0), Decimal(0)
    found = journal.read(path, FIRST_PREV)
    answered = found.readings.filter(pl.col("state") == "answered").height
    failed = pl.concat([found.retries["reason"], found.readings.filter(pl.col("state") == "failed")["reason"]])
    free = failed.filter(~failed.str.ends_with(MAYBE)).len()
    return price(part) * answered, price(part) * (found.sent.height - answered - free)


def drift(edition: Edition, detector: str) -> list[str]:
    """What was said of it otherwise than the first time, in sentences."""
    path = file(edition, detector)
    if not path.exists() or path.stat().st_size == 0:
        return []
    told = journal.read(path, FIRST_PREV).readings.filter(pl.col("state") == "answered")
    said = ("displayed", "label", "score", "version")
    other = told.unique(said, keep="first", maintain_order=True).rows(named=True)
    return [
        f"the canary text was displayed as {_shown(other[0])} at {other[0]['got_at']} and as {_shown(row)} at {row['got_at']}"
        for row in other[1:]
    ]


def _shown(row: dict[str, str | None]) -> str:
    parts = [str(row["displayed"])]
    parts += [f"score {row['score']}"] if row["score"] not in (None, row["displayed"]) else []
    parts += [f"version {row['version']}"] if row["version"] is not None else []
    return parts[0] + (f" ({', '.join(parts[1:])})" if parts[1:] else "")
