"""The threads that ask: few for quick calls, all of them for slow ones, and nothing waits behind one that hangs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from decimal import Decimal

import pytest

from penmark.cards.judge import AskedQuestion
from penmark.plugins import Answer, Heard, UnansweredError
from penmark.stages.scan.clock import Clock
from penmark.stages.scan.rate_limit import RateLimit
from penmark.stages.scan.threads import Item, Noted, Question, Threads

LONG = 30.0


class Vendor:
    """Answers at once, but for the texts that wait until ``free`` is set."""

    version: str | None = None
    connections = 4

    def __init__(self) -> None:
        self.pace, self.free = RateLimit(None), threading.Event()
        self.begun: list[tuple[str, int]] = []

    def ask(self, question: Question, noted: Noted) -> Heard:
        """An answer, or none."""
        self.begun.append((question.text, threading.get_ident()))
        if question.text.startswith("slow"):
            self.free.wait(LONG)
        if question.text == "broken":
            raise UnansweredError("no answer")
        return Heard(Answer(b"{}"), ())

    def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def vendor() -> Iterator[Vendor]:
    made = Vendor()
    yield made
    made.free.set()


def question(text: str) -> Question:
    pair = AskedQuestion(text, "0" * 64, 1, "scan", "2026-10-01T00:00:00.000000Z", None)
    return Question(Item(0, 1, None, None), pair, text, Decimal(0))


def crew(vendor: Vendor) -> Threads:
    return Threads(vendor, Clock(), threading.Event(), lambda question, job: None)


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + LONG
    while not holds():
        assert time.monotonic() < end, "it does not come to that"
        time.sleep(0.001)


def test_one_thread_that_is_woken_asks_all_that_waits(vendor: Vendor) -> None:
    asks = crew(vendor)
    asks.give([question(f"slow {n}") for n in range(4)], wake=4)
    until(lambda: len(vendor.begun) == 4)  # now there are four threads
    vendor.free.set()
    until(lambda: asks.busy == 0)
    vendor.begun.clear()
    asks.give([question(f"quick {n}") for n in range(20)], wake=1)
    until(lambda: len(vendor.begun) == 20)
    assert len({thread for _, thread in vendor.begun}) == 1
    until(lambda: asks.busy == 0)
    assert len(asks.outcomes()) == 24
    assert asks.load == 0


def test_behind_a_call_that_hangs_the_next_beats_wake_the_others(vendor: Vendor) -> None:
    asks = crew(vendor)
    asks.give([question("slow 0"), *(question(f"quick {n}") for n in range(3))], wake=1)
    until(lambda: len(vendor.begun) == 1)
    asks.give([], wake=1)
    until(lambda: len(vendor.begun) == 4)
    asks.give([question("slow 1"), question("slow 2"), question("slow 3"), question("quick 4")], wake=1)
    for busy in (2, 3, 4):
        until(lambda busy=busy: asks.busy == busy)  # type: ignore[misc]
        asks.give([], wake=1)
    assert [text for text, _ in vendor.begun][4:] == ["slow 1", "slow 2", "slow 3"]
    vendor.free.set()
    until(lambda: asks.busy == 0 and len(vendor.begun) == 8)


def test_what_no_thread_has_begun_with_is_taken_back(vendor: Vendor) -> None:
    asks = crew(vendor)
    asks.give([question("slow 0"), question("quick 1"), question("quick 2")], wake=1)
    until(lambda: len(vendor.begun) == 1)
    assert [each.text for each in asks.take_back()] == ["quick 1", "quick 2"]
    assert asks.load == 1
    asks.give([], wake=4)
    vendor.free.set()
    until(lambda: asks.busy == 0)
    assert [text for text, _ in vendor.begun] == ["slow 0"]


def test_after_a_call_without_an_answer_nothing_is_begun_before_that_was_dealt_with(vendor: Vendor) -> None:
    asks = crew(vendor)
    asks.give([question("broken"), question("quick 1"), question("quick 2")], wake=1)
    until(lambda: asks.busy == 0 and len(vendor.begun) == 1)
    time.sleep(0.05)
    assert [text for text, _ in vendor.begun] == ["broken"]
    assert len(asks.outcomes()) == 1
    asks.go_on()
    until(lambda: len(vendor.begun) == 3)
    until(lambda: len(asks.outcomes()) == 2 or asks.load == 0)


def test_threads_that_are_let_go_end(vendor: Vendor) -> None:
    before = threading.active_count()
    asks = crew(vendor)
    asks.give([question(f"slow {n}") for n in range(3)], wake=4)
    until(lambda: len(vendor.begun) == 3)
    asks.leave()
    vendor.free.set()
    until(lambda: threading.active_count() == before)
    assert asks.outcomes() == []
