"""From an answer to a call (docs/format.md, 4): exact decimals, whole verdicts, one outcome for everything.

*Reads* and *writes* nothing. *Never*: turns a number into a float; flips, rescales or clips a score; guesses a class.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from penmark import text
from penmark.format import canonical_json
from penmark.records import Band, Card, Rule, Verdict

NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


class Call(NamedTuple):
    """What an answer means under a rule: ``ai`` or ``not-ai``, or the ``reason`` why it has no call (both None)."""

    strict: str | None
    lenient: str | None
    uncertain: bool
    reason: str | None


def call_answer(card: Card, rule: Rule, score: str | None, label: str | None) -> Call:
    """The call of an answered reading. Total: every score and label gets one call or one reason."""
    known = fold_classes(card)
    meant = known.get(fold_verdict(label)) if label is not None else None
    if label is not None and known and meant is None and not (rule.kind == "boundary" and score is not None):
        return _make_missing_call(f"verdict not in the card: {label}")
    if rule.kind == "verdict":
        if label is None:
            return _make_missing_call("no verdict in the answer")
        return _make_call(meant == "ai", meant)
    if score is None:
        return _by_interval(card, rule, label, meant)
    if NUMBER.fullmatch(score) is None:
        return _make_missing_call(f"score is not a decimal number: {score}")
    number = parse_decimal(score)
    if not is_within_scale(card, number):
        return _make_missing_call(f"score outside the declared scale: {score}")
    if label is None:
        meant = find_class_at(card, number)
    return _make_call(_is_rule_met(number, rule), meant)


def _by_interval(card: Card, rule: Rule, label: str | None, meant: Verdict | None) -> Call:
    """The call of a verdict that is displayed in place of the numbers of a band, where all of them lie on one side."""
    band = find_band_of(card, label) if label is not None else None
    if band is None:
        return _make_missing_call("no score in the answer")
    flagged = _is_rule_met(_parse_boundary(band.low), rule)
    if flagged != _is_rule_met(_parse_boundary(band.high), rule):
        return _make_missing_call(f"the boundary lies inside the numbers that the verdict stands for: {label}")
    return _make_call(flagged, meant)


def find_class_at(card: Card, number: Decimal) -> Verdict | None:
    """The class of a score by the card's bands: of the first that holds it."""
    return next(
        (band.verdict for band in card.bands if _parse_boundary(band.low) <= number <= _parse_boundary(band.high)), None
    )


def find_band_of(card: Card, label: str) -> Band | None:
    """The band in place of whose numbers ``label`` is displayed."""
    return next(
        (band for band in card.bands if band.shown is not None and fold_verdict(band.shown) == fold_verdict(label)),
        None,
    )


_SAID = {True: "ai", False: "not-ai"}


def _make_call(flagged: bool, meant: Verdict | None) -> Call:
    lenient = flagged or meant in ("mixed", "assisted")
    return Call(_SAID[flagged], _SAID[lenient], not flagged and meant == "uncertain", None)


def _make_missing_call(reason: str) -> Call:
    return Call(None, None, False, reason)


def _is_rule_met(number: Decimal, rule: Rule) -> bool:
    boundary = _parse_boundary(rule.value or "0")
    match rule.operator:
        case ">":
            return number > boundary
        case ">=":
            return number >= boundary
        case "<":
            return number < boundary
    return number <= boundary


def is_within_scale(card: Card, number: Decimal) -> bool:
    """Whether a score lies on the card's scale, ends included."""
    scale = card.scale
    if scale is None:
        return True
    return (scale.low is None or _parse_boundary(scale.low) <= number) and (
        scale.high is None or number <= _parse_boundary(scale.high)
    )


def parse_decimal(digits: str) -> Decimal:
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
def _parse_boundary(digits: str) -> Decimal:
    return parse_decimal(digits)


def fold_verdict(shown: str) -> str:
    """A displayed verdict as it is compared: white space trimmed and folded to one space, composed (NFC), case folded."""
    line = text.fold_white_space(shown)
    return (
        line if line.isascii() or canonical_json.has_piled_marks(line) else unicodedata.normalize("NFC", line)
    ).casefold()


def fold_classes(card: Card) -> dict[str, Verdict]:
    """The card's table of verdicts, by how they are compared."""
    return _fold_verdicts(tuple(card.verdicts.items()))


@lru_cache(maxsize=1024)
def _fold_verdicts(verdicts: tuple[tuple[str, Verdict], ...]) -> dict[str, Verdict]:
    return {fold_verdict(shown): meant for shown, meant in verdicts}
