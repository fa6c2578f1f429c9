"""Answers that a card makes nothing of: counted by what is amiss, and told in one wording wherever they come up.

*Reads* and *writes* nothing. *Never* decides a call (``calls.call`` does), changes a state, or mends an answer.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from penmark import text
from penmark.cards.call_rules import NUMBER, call_answer, fold_classes, fold_verdict
from penmark.errors import count_noun
from penmark.records import Card, Rule

OUTSIDE = "score outside the declared scale"
BESIDE = "verdict not in the card, beside a number"
"""No reason of a call: the number alone decided, and the verdict that stood with it was not looked at."""
AGAINST = "number against verdict"
"""Nor this: the number alone decided, and the verdict that stood with it says the contrary."""
REMEDY = (
    "A reading is final and stays as it is. Look what such an answer means, ask its vendor, and correct the card for the "
    "next edition: `penmark amend` announces it."
)
_AMISS = {
    OUTSIDE: ("is outside the scale{scale} of its card", "are outside the scale{scale} of its card"),
    "score is not a decimal number": ("is no decimal number", "are no decimal numbers"),
    "verdict not in the card": ("is a verdict that its card does not know", "are verdicts that its card does not know"),
    "no verdict in the answer": ("has no verdict", "have no verdict"),
    "no score in the answer": ("has no number", "have no number"),
    "the boundary lies inside the numbers that the verdict stands for": (
        "is a verdict that stands for numbers on both sides of the boundary",
        "are verdicts that stand for numbers on both sides of the boundary",
    ),
    BESIDE: (
        "has beside its number a verdict that its card does not know",
        "have beside their numbers verdicts that its card does not know",
    ),
    AGAINST: (
        "has beside its number a verdict that says the contrary",
        "have beside their numbers verdicts that say the contrary",
    ),
}
_PLAIN = re.compile(r"-?[0-9]{1,300}(?:\.[0-9]{1,300})?")
_SHOWN = 80
"""Characters of what an answer shows that a message quotes."""
_KNOWN = 1000
"""So many displayed forms of known verdicts are remembered."""


class Missed(NamedTuple):
    """Answers of one detector with one thing amiss, so many. ``kind``: the reason of ``call_answer`` without what
    was shown, or one
    of the above.
    ``document``: of the first of them; ``shown``: what is amiss in it, None where something is lacking. ``message``: by
    ``render_misses``."""

    kind: str
    answers: int
    document: str
    shown: str | None
    message: str


def find_miss(card: Card, rule: Rule, score: str | None, label: str | None) -> tuple[str, str | None] | None:
    """What is amiss with an answer, and what shows it; None where nothing is."""
    found = call_answer(card, rule, score, label)
    if found.reason is not None:
        kind, mark, shown = found.reason.partition(": ")
        return kind, shown if mark else None
    known = fold_classes(card)
    if rule.kind == "verdict" or score is None or label is None or not known:
        return None
    if (meant := known.get(fold_verdict(label))) is None:
        return BESIDE, label
    return (AGAINST, label) if meant == {"ai": "human", "not-ai": "ai"}.get(str(found.strict)) else None


def describe_miss(card: Card, kind: str, count: int = 1) -> str:
    """What is amiss, read on from "it" or, where ``count`` is not 1, from "they"."""
    one, many = _AMISS[kind]
    return (one if count == 1 else many).format(scale=_describe_scale(card) if kind == OUTSIDE else "")


def render_misses(card: Card, kind: str, count: int, document: str, shown: str | None) -> str:
    """The message, read on from the detector's name: how many answers, what is amiss, the first, and what follows."""
    which = f"about {document}" if shown is None else f"{_quote_value(shown)} about {document}"
    one = count == 1
    first = "" if one else "the first " if shown is None else "the first: "
    if kind in (BESIDE, AGAINST):
        follows = "its number alone decides" if one else "their numbers alone decide"
    else:
        follows = (
            "it is kept as it is and counts as no result" if one else "they are kept as they are and count as no result"
        )
    fact = f"{count_noun(count, 'answer')} {describe_miss(card, kind, count)}"
    return f"{fact} ({first}{which}); {follows}"


def _quote_value(shown: str) -> str:
    """What an answer shows, no longer than a message bears: a number as it is, anything else on one line in quotes."""
    line = text.fold_white_space(shown)
    cut = line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"
    return cut if NUMBER.fullmatch(shown) else repr(cut)


def _describe_scale(card: Card) -> str:
    if card.scale is None:
        return ""
    match card.scale.low, card.scale.high:
        case str(low), str(high):
            return f" {low} to {high}"
        case str(low), None:
            return f", {low} and above,"
        case None, str(high):
            return f", up to {high},"
    return ""


class Misses:
    """Counts what is amiss with the answers of one detector, one after the other."""

    def __init__(self, card: Card, rule: Rule) -> None:
        self._card, self._rule = card, rule
        self._found: dict[str, tuple[int, str, str | None]] = {}
        self._known: dict[str, bool | None] = {}
        self._boundary = 0.0 if rule.value is None else float(rule.value)
        scale = card.scale
        low, high = (None, None) if scale is None else (scale.low, scale.high)
        self._low = float("-inf") if low is None else float(low)
        self._high = float("inf") if high is None else float(high)

    def add(self, document: str, score: str | None, label: str | None) -> None:
        """Take an answered reading."""
        if self._is_clearly_fine(score, label):
            return
        found = find_miss(self._card, self._rule, score, label)
        if found is not None:
            kind, shown = found
            count, first, its = self._found.get(kind, (0, document, shown))
            self._found[kind] = (count + 1, first, its)
        elif label is not None and len(self._known) < _KNOWN:
            # whether it speaks for AI, where it speaks for one of the two
            self._known[label] = {"ai": True, "human": False}.get(fold_classes(self._card).get(fold_verdict(label), ""))

    def found(self) -> list[Missed]:
        """What was amiss, by kind in the order of the first of each."""
        return [Missed(kind, *one, render_misses(self._card, kind, *one)) for kind, one in self._found.items()]

    def _is_clearly_fine(self, score: str | None, label: str | None) -> bool:
        """Whether nothing is amiss, where that is quickly seen: most answers. A float that lies inside the ends has digits that
        do, since rounding never changes an order."""
        if label is not None and label not in self._known:
            return False
        if self._rule.kind == "verdict":
            return label is not None
        if score is None or _PLAIN.fullmatch(score) is None or not self._low < (number := float(score)) < self._high:
            return False
        says = None if label is None else self._known[label]
        higher = str(self._rule.operator).startswith(">")
        return says is None or (number != self._boundary and (number > self._boundary) == (higher == says))
