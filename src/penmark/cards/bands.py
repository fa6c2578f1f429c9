"""Bands of a scale and marks of confidence: what is wrong with them in a card whose fields are each right.

*Reads* and *writes* nothing. *Never* lets a band take a flag back: what is beyond a mixed score speaks no less for AI.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penmark.cards.calls import classes, decimal, fold, within
from penmark.handwritten import Remark
from penmark.records import Band, Card


def faults(card: Card) -> Iterator[Remark]:
    """Everything that is wrong with the bands and the marks of ``card``."""
    if card.bands and card.scale is None:
        yield Remark(("bands",), "a band needs a scale", "Write scale: {meaning, direction, low, high}.")
        return
    for number, band in enumerate(card.bands):
        yield from _band(card, number, band)
    value = card.model_dump(mode="json", by_alias=True)
    for pointer in card.confidence:
        if not _there(value, pointer):
            yield Remark(("confidence", pointer), "points at nothing in this card", "Write a pointer like /limits/minimum_words.")


def _band(card: Card, number: int, band: Band) -> Iterator[Remark]:
    low, high = decimal(band.low), decimal(band.high)
    if low > high:
        yield Remark(("bands", number), f"{band.low} is above {band.high}", "Write the lower end as low.")
    elif not (within(card, low) and within(card, high)):
        yield Remark(("bands", number), f"{band.low} to {band.high} lies outside the scale")
    elif band.verdict in ("mixed", "assisted") and not _reaches(card, number):
        yield Remark(
            ("bands", number),
            f"scores beyond a {band.verdict} one would speak less for AI",
            "Let it reach the end of the scale that speaks for AI; the boundary comes first.",
        )
    if band.shown is not None and classes(card).get(fold(band.shown)) != band.verdict:
        yield Remark(("bands", number, "shown"), f"{band.shown!r} is not {band.verdict} in `verdicts`")


def _reaches(card: Card, number: int) -> bool:
    """Whether every score from this band to the end that speaks for AI is mixed or assisted, or holds a shown verdict."""
    band, scale = card.bands[number], card.scale
    assert scale is not None
    towards_ai = scale.direction == "ai"
    end, edge = (scale.high, band.high) if towards_ai else (scale.low, band.low)
    if end is None or decimal(edge) != decimal(end):
        return False
    earlier = [each for each in card.bands[:number] if each.verdict not in ("mixed", "assisted")]
    outer = (lambda each: decimal(each.high) > decimal(band.low)) if towards_ai else (lambda each: decimal(each.low) < decimal(band.high))
    return all(not _cuts(each, band, towards_ai) for each in earlier if outer(each))


def _cuts(other: Band, band: Band, towards_ai: bool) -> bool:
    """Whether an earlier band takes scores out of the inside of ``band``, so that mixed ones lie before it."""
    if towards_ai:
        return decimal(other.low) > decimal(band.low)
    return decimal(other.high) < decimal(band.high)


def _there(value: Any, pointer: str) -> bool:
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return False
    return value is not None
