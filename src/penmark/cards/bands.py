"""Bands of a scale and marks of confidence: what is wrong with them in a card whose fields are each right.

*Reads* and *writes* nothing. *Never* lets a band take a flag back: what is beyond a mixed score speaks no less for AI.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from penmark.cards.calls import classes, decimal, fold, meant_at, within
from penmark.handwritten import Remark
from penmark.records import Band, Card


def faults(card: Card) -> Iterator[Remark]:
    """Everything that is wrong with the bands and the marks of ``card``."""
    if card.bands and card.scale is None:
        yield Remark(("bands",), "a band needs a scale", "Write scale: {meaning, direction, low, high}.")
        return
    for number, band in enumerate(card.bands):
        yield from _band(card, number, band)
    if not _rises(card):
        yield Remark(
            ("bands",),
            "a score that speaks more for AI than a mixed one is neither mixed nor assisted",
            "Let the band reach the end of the scale that speaks for AI; the boundary comes first.",
        )
    value = card.model_dump(mode="json", by_alias=True)
    for pointer in card.confidence:
        if not _there(value, pointer):
            yield Remark(
                ("confidence", pointer), "points at nothing in this card", "Write a pointer, such as /boundary."
            )


def _band(card: Card, number: int, band: Band) -> Iterator[Remark]:
    low, high = decimal(band.low), decimal(band.high)
    if low > high:
        yield Remark(("bands", number), f"{band.low} is above {band.high}", "Write the lower end as low.")
    elif not (within(card, low) and within(card, high)):
        yield Remark(("bands", number), f"{band.low} to {band.high} lies outside the scale")
    if band.shown is not None and classes(card).get(fold(band.shown)) != band.verdict:
        yield Remark(("bands", number, "shown"), f"{band.shown!r} is not {band.verdict} in `verdicts`")


def _rises(card: Card) -> bool:
    """Whether from the first mixed or assisted score on, towards AI, all are."""
    if card.scale is None or not card.bands:
        return True
    ends = sorted({decimal(end) for band in card.bands for end in (band.low, band.high)})
    outermost = {"ai": card.scale.high, "human": card.scale.low}[card.scale.direction]
    if outermost is not None:
        ends = sorted({*ends, decimal(outermost)})
    points = sorted({*ends, *((one + next_) / 2 for one, next_ in itertools.pairwise(ends))})
    flags = [meant_at(card, point) in ("mixed", "assisted") for point in points]
    if card.scale.direction == "human":
        flags.reverse()
    return flags == sorted(flags) and not (outermost is None and any(flags))


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
