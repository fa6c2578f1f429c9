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

from penmark import journal
from penmark.corpus.sealed_edition import SealedEdition
from penmark.errors import PenmarkError
from penmark.journal import evidence_log
from penmark.stages.scan.budget import MAYBE, Budget
from penmark.stages.scan.budget import price_unlisted_text as of_text
from penmark.stages.scan.clock import Clock
from penmark.stages.scan.outcome import Promised
from penmark.stages.scan.plan import Part
from penmark.stages.scan.practice_texts import FIRST_PREV, Practice, count_runs
from penmark.stages.scan.scan_queue import Money
from penmark.stages.scan.threads import Asking, Item
from penmark.stages.scan.worker import Files, Worker
from penmark.study import Edition

TEXT = "ferry"
TIMES = 2
"""First and last."""


class Canary:
    """One detector's canary in a scan."""

    def __init__(
        self,
        ground: SealedEdition,
        part: Part,
        asking: Asking,
        purse: Budget,
        clock: Clock,
        pause: Callable[[int], float],
    ) -> None:
        self._ground, self._part, self._asking = ground, part, asking
        self._purse, self._clock, self._pause = purse, clock, pause
        self._lane: Worker | None = None

    def ask(self, stop: threading.Event) -> tuple[str, PenmarkError] | None:
        """Ask about it once; why nothing else should be asked, where that shows."""
        name, protocol = self._part.detector.name, self._ground.protocol
        path, sealed = locate_canary_file(self._ground.edition, name), self._part.sealed
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
            with _hold_canary_lock(path), journal.JournalWriter(path, FIRST_PREV) as writer:
                text = Practice(count_runs(path) + 1, TEXT)
                digest = self._ground.card_sha256[name]
                at = self._clock.now()
                writer.append(journal.make_start_line(name, sealed, digest, shard="1/1", at=at, number=protocol.format))
                self._lane = Worker(
                    terms,
                    self._asking,
                    text,
                    Files(writer, evidence_log.EvidenceWriter(path.parent, name)),
                    pause=self._pause,
                    clock=self._clock,
                    money=Money(self._purse, lambda _, text: price_canary(self._part)) if terms.priced else None,
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


def locate_canary_file(edition: Edition, detector: str) -> Path:
    """Where its readings are."""
    return edition.pilot / "canary" / f"{detector}.jsonl"


@contextlib.contextmanager
def _hold_canary_lock(path: Path) -> Iterator[None]:
    """Hold what all shards write to: each asks when the one before has its answer."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def price_canary(part: Part) -> Decimal:
    """What it costs, each time."""
    return Decimal(0) if part.tariff is None else of_text(part.tariff, Practice(1, TEXT).text(0))


def sum_canary_cost(edition: Edition, part: Part) -> tuple[Decimal, Decimal]:
    """What was charged for it so far by what is on record, and what may have been beyond that."""
    path = locate_canary_file(edition, part.detector.name)
    if part.tariff is None or not path.exists() or path.stat().st_size == 0:
        return Decimal(0), Decimal(0)
    found = journal.read_journal(path, FIRST_PREV)
    answered = found.readings.filter(pl.col("state") == "answered").height
    failed = pl.concat([found.retries["reason"], found.readings.filter(pl.col("state") == "failed")["reason"]])
    free = failed.filter(~failed.str.ends_with(MAYBE)).len()
    return price_canary(part) * answered, price_canary(part) * (found.sent.height - answered - free)


def list_drift(edition: Edition, detector: str) -> list[str]:
    """What was said of it otherwise than the first time, in sentences."""
    path = locate_canary_file(edition, detector)
    if not path.exists() or path.stat().st_size == 0:
        return []
    told = journal.read_journal(path, FIRST_PREV).readings.filter(pl.col("state") == "answered")
    said = ("displayed", "label", "score", "version")
    other = told.unique(said, keep="first", maintain_order=True).rows(named=True)
    return [
        f"the canary text was displayed as {_describe_reading(other[0])} at {other[0]['got_at']} and as {_describe_reading(row)} "
        f"at {row['got_at']}"
        for row in other[1:]
    ]


def _describe_reading(row: dict[str, str | None]) -> str:
    parts = [str(row["displayed"])]
    parts += [f"score {row['score']}"] if row["score"] not in (None, row["displayed"]) else []
    parts += [f"version {row['version']}"] if row["version"] is not None else []
    return parts[0] + (f" ({', '.join(parts[1:])})" if parts[1:] else "")
