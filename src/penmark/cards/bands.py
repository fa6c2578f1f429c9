"""Bands of a scale and marks of confidence: what is wrong with them in a card whose fields are each right.

*Reads* and *writes* nothing. *Never* lets a band take a flag back: what is beyond a mixed score speaks no less for AI.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from penmark.cards.call_rules import find_class_at, fold_classes, fold_verdict, is_within_scale, parse_decimal
from penmark.records import Band, Card
from penmark.yaml_records import Remark


def check_bands(card: Card) -> Iterator[Remark]:
    """Everything that is wrong with the bands and the marks of ``card``."""
    if card.bands and card.scale is None:
        yield Remark(("bands",), "a band needs a scale", "Write scale: {meaning, direction, low, high}.")
        return
    for number, band in enumerate(card.bands):
        yield from _check_band(card, number, band)
    if not _has_monotone_flags(card):
        yield Remark(
            ("bands",),
            "a score that speaks more for AI than a mixed one is neither mixed nor assisted",
            "Let the band reach the end of the scale that speaks for AI; the boundary comes first.",
        )
    value = card.model_dump(mode="json", by_alias=True)
    for pointer in card.confidence:
        if not _has_value_at(value, pointer):
            yield Remark(
                ("confidence", pointer), "points at nothing in this card", "Write a pointer, such as /boundary."
            )


def _check_band(card: Card, number: int, band: Band) -> Iterator[Remark]:
    low, high = parse_decimal(band.low), parse_decimal(band.high)
    if low > high:
        yield Remark(("bands", number), f"{band.low} is above {band.high}", "Write the lower end as low.")
    elif not (is_within_scale(card, low) and is_within_scale(card, high)):
        yield Remark(("bands", number), f"{band.low} to {band.high} lies outside the scale")
    if band.shown is not None and fold_classes(card).get(fold_verdict(band.shown)) != band.verdict:
        yield Remark(("bands", number, "shown"), f"{band.shown!r} is not {band.verdict} in `verdicts`")


def _has_monotone_flags(card: Card) -> bool:
    """Whether from the first mixed or assisted score on, towards AI, all are."""
    if card.scale is None or not card.bands:
        return True
    ends = sorted({parse_decimal(end) for band in card.bands for end in (band.low, band.high)})
    outermost = {"ai": card.scale.high, "human": card.scale.low}[card.scale.direction]
    if outermost is not None:
        ends = sorted({*ends, parse_decimal(outermost)})
    points = sorted({*ends, *((one + next_) / 2 for one, next_ in itertools.pairwise(ends))})
    flags = [find_class_at(card, point) in ("mixed", "assisted") for point in points]
    if card.scale.direction == "human":
        flags.reverse()
    return flags == sorted(flags) and not (outermost is None and any(flags))


def _has_value_at(value: Any, pointer: str) -> bool:
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return False
    return value is not None
