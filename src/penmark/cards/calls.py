"""From an answer to a call (docs/format.md, 4): exact decimals, whole verdicts, one outcome for everything.

*Reads* and *writes* nothing. *Never*: turns a number into a float; flips, rescales or clips a score; guesses a class.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from penmark import canon, text
from penmark.records import Band, Card, Rule, Verdict

NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


class Call(NamedTuple):
    """What an answer means under a rule: ``ai`` or ``not-ai``, or the ``reason`` why it has no call (both None)."""

    strict: str | None
    lenient: str | None
    uncertain: bool
    reason: str | None


def call(card: Card, rule: Rule, score: str | None, label: str | None) -> Call:
    """The call of an answered reading. Total: every score and label gets one call or one reason."""
    known = classes(card)
    meant = known.get(fold(label)) if label is not None else None
    if label is not None and known and meant is None and not (rule.kind == "boundary" and score is not None):
        return _none(f"verdict not in the card: {label}")
    if rule.kind == "verdict":
        if label is None:
            return _none("no verdict in the answer")
        return _called(meant == "ai", meant)
    if score is None:
        return _by_interval(card, rule, label, meant)
    if NUMBER.fullmatch(score) is None:
        return _none(f"score is not a decimal number: {score}")
    number = decimal(score)
    if not within(card, number):
        return _none(f"score outside the declared scale: {score}")
    if label is None:
        meant = meant_at(card, number)
    return _called(_holds(number, rule), meant)


def _by_interval(card: Card, rule: Rule, label: str | None, meant: Verdict | None) -> Call:
    """The call of a verdict that is displayed in place of the numbers of a band, where all of them lie on one side."""
    band = shown_for(card, label) if label is not None else None
    if band is None:
        return _none("no score in the answer")
    flagged = _holds(_bound(band.low), rule)
    if flagged != _holds(_bound(band.high), rule):
        return _none(f"the boundary lies inside the numbers that the verdict stands for: {label}")
    return _called(flagged, meant)


def meant_at(card: Card, number: Decimal) -> Verdict | None:
    """The class of a score by the card's bands: of the first that holds it."""
    return next((band.verdict for band in card.bands if _bound(band.low) <= number <= _bound(band.high)), None)


def shown_for(card: Card, label: str) -> Band | None:
    """The band in place of whose numbers ``label`` is displayed."""
    return next((band for band in card.bands if band.shown is not None and fold(band.shown) == fold(label)), None)


_SAID = {True: "ai", False: "not-ai"}


def _called(flagged: bool, meant: Verdict | None) -> Call:
    lenient = flagged or meant in ("mixed", "assisted")
    return Call(_SAID[flagged], _SAID[lenient], not flagged and meant == "uncertain", None)


def _none(reason: str) -> Call:
    return Call(None, None, False, reason)


def _holds(number: Decimal, rule: Rule) -> bool:
    boundary = _bound(rule.value or "0")
    match rule.operator:
        case ">":
            return number > boundary
        case ">=":
            return number >= boundary
        case "<":
            return number < boundary
    return number <= boundary


def within(card: Card, number: Decimal) -> bool:
    """Whether a score lies on the card's scale, ends included."""
    scale = card.scale
    if scale is None:
        return True
    return (scale.low is None or _bound(scale.low) <= number) and (scale.high is None or number <= _bound(scale.high))


def decimal(digits: str) -> Decimal:
    """The exact value of a decimal number, for comparison only.

    An exponent of more than eight digits becomes one of eight: beyond every bound that a card can declare, and of the
    same sign, so that no comparison changes and nothing is expanded.
    """
    mantissa, mark, exponent = digits.lower().partition("e")
    if mark and len(exponent.lstrip("+-").lstrip("0")) > 8:
        nonzero = Decimal(mantissa) != 0
        sign, way = ("-" if mantissa.startswith("-") else ""), ("-" if exponent.startswith("-") else "")
        return Decimal(f"{sign}{int(nonzero)}e{way}100000000")
    return Decimal(digits)


@lru_cache(maxsize=1024)
def _bound(digits: str) -> Decimal:
    return decimal(digits)


def fold(shown: str) -> str:
    """A displayed verdict as it is compared: white space trimmed and folded to one space, composed (NFC), case folded."""
    line = text.fold(shown)
    return (line if line.isascii() or canon.piled(line) else unicodedata.normalize("NFC", line)).casefold()


def classes(card: Card) -> dict[str, Verdict]:
    """The card's table of verdicts, by how they are compared."""
    return _folded(tuple(card.verdicts.items()))


@lru_cache(maxsize=1024)
def _folded(verdicts: tuple[tuple[str, Verdict], ...]) -> dict[str, Verdict]:
    return {fold(shown): meant for shown, meant in verdicts}
