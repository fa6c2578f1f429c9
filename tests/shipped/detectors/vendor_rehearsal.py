"""A vendor's card against its double: what tests of the engine need, and nothing else."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from penmark import cards
from penmark.cards import judge
from penmark.plugins import Answer, Declined, Heard
from penmark.records import Card
from penmark.shipped.detectors.vendor_http import Vendor
from penmark.testing.doubles import Behaviour, Double, run_double

TEXT = "Some words about nothing in particular, put in a row to be long enough for everybody. " * 5
SETTINGS: dict[str, str] = {}


class Clock:
    """Time that passes only while somebody waits. ``end``: whether the waiting is to end."""

    def __init__(self) -> None:
        self.now, self.waits, self.end = 0.0, list[float](), False

    def __call__(self) -> float:
        return self.now

    def wait(self, seconds: float) -> bool:
        self.now += seconds
        self.waits.append(seconds)
        return self.end


class Rehearsal(NamedTuple):
    """A double, the vendor object that asks it, and the time that passes for that object."""

    there: Double
    vendor: Vendor
    clock: Clock
    card: Card


class Outcome(NamedTuple):
    """State of a reading, its reason, and its call (strict, lenient, uncertain)."""

    state: str
    reason: str | None
    call: tuple[str | None, str | None, bool]


def shipped(name: str) -> Card:
    """The card that ships under this name."""
    return cards.load_card(cards.find_card(name, None))


@contextlib.contextmanager
def rehearsal(
    name: str,
    behaviours: Sequence[str | Behaviour | None] = (),
    *,
    timeout: float = 5.0,
    settings: dict[str, str] = SETTINGS,
    version: str | None = None,
    connections: int = 1,
    **double_options: Any,
) -> Iterator[Rehearsal]:
    """A vendor object that asks the double of ``name``."""
    card, clock = shipped(name), Clock()
    assert card.ask.request is not None
    with run_double(name, behaviours=behaviours, **double_options) as there:
        environ = {key.env: there.keys[of] for of, key in card.ask.request.keys.items()}
        vendor = Vendor(
            card,
            settings,
            version,
            environ=environ,
            base_url=there.url,
            connections=connections,
            timeout=timeout,
            wait=clock.wait,
            clock=clock,
        )
        with contextlib.closing(vendor):
            yield Rehearsal(there, vendor, clock, card)


def outcome(card: Card, said: Answer | Declined | Heard, text: str) -> Outcome:
    """What a reading of this would be, and be called."""
    answer = said.said if isinstance(said, Heard) else said
    if answer.body is None:
        assert isinstance(answer, Declined)
        return Outcome("declined", answer.reason, (None, None, False))
    judged = judge.judge_answer(card, answer.body, text, getattr(answer, "reason", None))
    if judged.state != "answered":
        return Outcome(judged.state, judged.reason, (None, None, False))
    called = cards.call_answer(card, card.boundary, judged.found.score, judged.found.label)
    if called.reason is not None:
        return Outcome("declined", called.reason, (None, None, False))
    return Outcome("answered", None, (called.strict, called.lenient, called.uncertain))
