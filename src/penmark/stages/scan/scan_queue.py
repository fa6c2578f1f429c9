"""What one lane asks about next: in the sealed order, failures again when they are due, and only what may be asked now.

*Reads* the text of the document in hand. *Writes* nothing. *Never* passes a document over, or takes a text on for which
there is no money, no place in the vendor's pace, or no time left in the promised window.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Literal, NamedTuple

from penmark.cards import judge
from penmark.cards.judge import AskedQuestion
from penmark.errors import PenmarkError, ServiceError
from penmark.stages.scan.budget import Budget
from penmark.stages.scan.clock import Clock
from penmark.stages.scan.outcome import Material, Promised
from penmark.stages.scan.rate_limit import RateLimit
from penmark.stages.scan.threads import Item, Question

ROOM = 32 * 2**20
"""Bytes: with less room on the disk nothing is asked, since the answer could not be kept."""
SKIPS = 1000
"""So many reasons for not asking are written at once."""


@dataclass(frozen=True)
class Money:
    """The purse, and what a document costs, by position and text."""

    purse: Budget
    price: Callable[[int, str], Decimal]


class Ends(NamedTuple):
    """Why a lane ends, and what is wrong, where something is."""

    why: str
    error: PenmarkError | None = None


class Taken(NamedTuple):
    """What may be asked now, what is not to be asked at all, and why nothing more may be asked."""

    questions: list[Question]
    skipped: list[tuple[str, str]]  # name and reason
    ends: Ends | None


class Queue:
    """What is left to do for one detector. ``folder``: where its answers will be kept."""

    def __init__(
        self,
        promised: Promised,
        material: Material,
        pace: RateLimit,
        clock: Clock,
        money: Money | None,
        folder: Path,
    ) -> None:
        self.items: Iterator[Item] = iter(())
        self._promised, self._material, self._pace, self._clock = promised, material, pace, clock
        self._money, self._folder = money, folder
        self._again: list[tuple[float, Item]] = []  # when, by the clock that only goes forward, and what
        self._held: list[Item] = []  # picked, and not yet permitted; the last one goes first
        self._exhausted = self._cut = self._short = False  # all picked; too many skips at once; no money yet

    @property
    def done(self) -> bool:
        """Whether all was taken."""
        return self._exhausted and not self._held and not self._again

    def later(self, due: float, item: Item) -> None:
        """Take ``item`` again from ``due`` on."""
        self._again.append((due, item))

    def delay(self, room: int) -> float | None:
        """Seconds until something may be taken that may not be taken now; None where that hangs on an outcome."""
        if self._cut:
            return 0.0
        waits = [due - time.monotonic() for due, _ in self._again]
        if self._held and not self._short:
            waits.append(self._pace.delay())
        return max(0.0, min(waits)) if waits and room > 0 else None

    def take(self, room: int, waiting: bool) -> Taken:
        """Up to ``room`` questions; their money is set aside, and they have their places in the pace.

        ``waiting``: calls are under way, which may set money free. Raises ServiceError where the disk has no room.
        """
        taken, permits, at = Taken([], [], None), self._pace.free(), ""
        self._short = False
        while len(taken.questions) < room and len(taken.skipped) < SKIPS and (item := self._pick()) is not None:
            if item.skip is not None:
                taken.skipped.append((self._material.name(item.position), item.skip))
                continue
            at = at or self._clock.now()
            ends = self._open(at)
            if ends is not None or (item.job is None and permits <= 0):
                self._held.append(item)
                taken = taken._replace(ends=ends)
                break
            try:
                question = self._make_question(item, at)
            except PenmarkError as error:
                taken = taken._replace(ends=Ends(judge.clean_reason(error.faults[0].fact), error))
                break
            if not self._paid(question):
                self._held.append(item)
                self._short = True
                taken = taken._replace(ends=None if waiting or taken.questions else self._make_budget_end(question))
                break
            taken.questions.append(question)
            permits -= item.job is None
        self._cut = len(taken.skipped) >= SKIPS
        self._pace.take(sum(question.item.job is None for question in taken.questions))
        return taken

    def settle(self, question: Question, charged: Literal["yes", "maybe", "no"]) -> None:
        """Its call has ended, and may have cost something."""
        if self._money is not None:
            self._money.purse.settle(self._promised.detector, question.price, charged)

    def give_back(self, questions: list[Question]) -> None:
        """They were not asked after all."""
        for question in questions:
            self.settle(question, "no" if question.item.job is None else "maybe")
        self._pace.give_back(sum(question.item.job is None for question in questions))

    def _pick(self) -> Item | None:
        due = min(self._again, key=lambda each: each[0], default=None)
        if due is not None and due[0] <= time.monotonic():
            self._again.remove(due)
            return due[1]
        if self._held:
            return self._held.pop()
        item = next(self.items, None)
        self._exhausted = item is None
        return item

    def _open(self, at: str) -> Ends | None:
        if at[:10] > self._promised.closes:
            return Ends(f"the scan window closed on {self._promised.closes}")
        if shutil.disk_usage(self._folder).free >= ROOM:
            return None
        full = ServiceError(
            f"the disk has less than {ROOM >> 20} MiB left",
            place=str(self._folder),
            remedy="Free some space and run the same command again; nothing was lost.",
        )
        return Ends(full.faults[0].fact, full)

    def _make_question(self, item: Item, at: str) -> Question:
        text, name = self._material.text(item.position), self._material.name(item.position)
        sent_at = at if item.job is None else item.sent_at
        address = self._material.address(item.position)
        pair = AskedQuestion(name, address, item.attempt, "scan", sent_at, self._promised.version_asked)
        price = Decimal(0) if self._money is None else self._money.price(item.position, text)
        return Question(item, pair, text, price)

    # --- money ---

    def _paid(self, question: Question) -> bool:
        """Set the price aside; False where there is no money."""
        if self._money is None:
            return True
        purse, name, item = self._money.purse, self._promised.detector, question.item
        if item.job is None:
            return purse.reserve(name, question.price)
        if item.rounds == 0:  # of a scan before
            purse.known(name, question.price)
        return True

    def _make_budget_end(self, question: Question) -> Ends:
        assert self._money is not None
        account = self._money.purse.accounts[self._promised.detector]
        return Ends(
            f"the budget does not suffice: up to {account.due.normalize():f} {account.currency} are due, "
            f"and the next text costs {question.price.normalize():f}"
        )
