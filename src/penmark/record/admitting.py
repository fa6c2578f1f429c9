"""What is asked of answers before they become final: that they can be dated, called, and laid to somebody who was asked.

*Reads* the sealed ground, and the journals of the edition where an answer may be older than its promise. *Writes*
nothing. *Never* lets one answer turn a prospective edition retrospective, or a slip of the finger become a reading,
unless whoever records says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from penmark import cards, journal, seals, text, tokens
from penmark.errors import Fault, UsageError
from penmark.frozen import Ground
from penmark.records import Card, Rule

_DAY = len("2026-11-30")
_NAMED = 5
"""So many rows are named by their place, of those that have one fault together."""
_SHOWN = 80


class Made(NamedTuple):
    """A reading that could be written. ``place``: of its row. ``line``: of the journal. ``date``: as the row has it."""

    place: str
    line: dict[str, Any]
    date: str | None


def asked_of_people(ground: Ground, detector: str) -> None:
    """Raises UsageError where the sealed card says that a program asks this detector, and not people."""
    by = ground.cards[detector].card.ask.by
    if by != "people":
        how = "a plugin" if by == "plugin" else "HTTP requests"
        raise UsageError(
            f"the sealed card says that {detector} is asked by {how}, so its answers come from `penmark scan`",
            place=f"detectors/{detector}.json",
            remedy="Where these answers were made elsewhere, say so: --elsewhere. They are marked typed or recorded.",
        )


def timed(ground: Ground, made: Sequence[Made]) -> Iterator[Fault]:
    """What would make a prospective edition retrospective: answers without a date, older ones, and those of the
    promise's own day without a time, which nobody can put before or after it."""
    sealed_at = seals.read(ground.edition, "promise").sealed_at
    answered = [one for one in made if one.line["state"] == "answered"]
    same_day: list[Made] = []
    others: list[Made] = []
    for one in answered:
        (same_day if _is_day(one, sealed_at[:_DAY]) else others).append(one)
    if same_day:
        yield Fault(
            _places(same_day),
            f"{len(same_day)} answers say {sealed_at[:_DAY]}, the day of the promise ({sealed_at}), and no time: "
            "whether they came before or after it cannot be told",
            f"Write the time in UTC: {sealed_at[:_DAY]}T14:05:00Z. If nobody knows it: --retrospective.",
        )
    undated = [one for one in answered if one.line["got_at"] is None]
    older = [one for one in others if _before(one.line["got_at"], sealed_at)]
    if not (undated or older) or _retrospective(ground, sealed_at):
        return
    means = "the whole edition would be retrospective: every table and page would say that its rules were written after"
    means += " the answers existed, and no later answer takes that back"
    say = "If these answers are what the edition is about, say so: --retrospective."
    if undated:
        yield Fault(
            _places(undated), f"{len(undated)} answers have no date; {means}", f"Give each its date and time. {say}"
        )
    if older:
        fact = f"{len(older)} answers are older than the promise of {sealed_at}; {means}"
        yield Fault(_places(older), fact, f"Look at the dates. {say}")


def called(card: Card, rule: Rule, made: Sequence[Made]) -> Iterator[Fault]:
    """Every typed display that comes to no call under the rule in force, with the reason."""
    for one in made:
        line = one.line
        if line["origin"] != "typed" or line["state"] != "answered":
            continue
        why = cards.call(card, rule, line["score"], line["label"]).reason
        if why is not None:
            shown = text.fold(line["displayed"])
            shown = shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 1]}…"
            yield Fault(
                one.place,
                f"{line['document']} shows {shown!r}, which comes to no call: {why}",
                "Look at the screen again and correct the row. If it really showed this: --as-displayed.",
            )


def _is_day(one: Made, day: str) -> bool:
    """Whether the row says this day and no time. What has no time is no longer than a day in any of its forms."""
    return one.date is not None and len(one.date) <= _DAY and str(one.line["got_at"])[:_DAY] == day


def _before(at: str | None, sealed_at: str) -> bool:
    return at is not None and tokens.moment(at) < tokens.moment(sealed_at)


def _retrospective(ground: Ground, sealed_at: str) -> bool:
    """Whether the edition is so already: then nothing is left to lose."""
    paths = [path for path in ground.edition.journal_files() if path.stat().st_size > 0]
    for held in journal.read_all(paths, ground.corpus_sha256):
        states = held.readings.select("state", "got_at").iter_rows()
        if any(state == "answered" and (at is None or _before(at, sealed_at)) for state, at in states):
            return True
    return False


def _places(made: Sequence[Made]) -> str:
    first, *others = [one.place for one in made[:_NAMED]]
    named = ", ".join([first, *(place.rpartition(":")[2] for place in others)])
    return named if len(made) <= _NAMED else f"{named} and {len(made) - _NAMED} more rows"
