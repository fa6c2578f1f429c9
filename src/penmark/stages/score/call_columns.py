"""Calls in bulk: what ``cards.call_answer`` says of each answer, asked once for all answers that it cannot tell apart.

*Reads* and *writes* nothing. *Never* decides a call: ``cards.call_answer`` does. Binary floats only sort scores that lie well
clear of every threshold; whatever is near one, or is no plain decimal, is asked about by its exact characters.
"""

from __future__ import annotations

import polars as pl

from penmark import cards
from penmark.records import Card, Rule

_PLAIN = r"^-?[0-9]{1,15}(\.[0-9]{1,15})?$"
_CLEAR = 1e-12
"""A float of at most 30 digits is off by less than a thousandth of this, relatively."""


def call_columns(answers: pl.DataFrame, card: Card, rule: Rule) -> pl.DataFrame:
    """The calls of ``answers`` (columns ``score``, ``label``), row by row.

    ``call`` and ``call_lenient`` ("ai", "not-ai" or null), ``uncertain``, and ``why_not``, null where there is a call.
    """
    alike = answers.select("score", "label", side=_count_ends_below(answers.get_column("score"), card, rule))
    if rule.kind == "boundary":
        alike = alike.with_columns(exact=pl.when(pl.col("side").is_null()).then("score"))
    else:  # the score says nothing
        alike = alike.with_columns(exact=pl.lit(None, dtype=pl.String))
    kinds = alike.group_by("side", "exact", "label").agg(pl.col("score").first())
    calls = [cards.call_answer(card, rule, score, label) for score, label in kinds.select("score", "label").iter_rows()]
    judged = kinds.drop("score").with_columns(
        pl.Series("call", [c.strict for c in calls], dtype=pl.String),
        pl.Series("call_lenient", [c.lenient for c in calls], dtype=pl.String),
        pl.Series("uncertain", [c.uncertain for c in calls], dtype=pl.Boolean),
        pl.Series("why_not", [c.reason for c in calls], dtype=pl.String),
    )
    found = alike.join(judged, on=["side", "exact", "label"], how="left", nulls_equal=True, maintain_order="left")
    return found.select("call", "call_lenient", "uncertain", "why_not")


def _count_ends_below(score: pl.Series, card: Card, rule: Rule) -> pl.Series:
    """How many of the boundary and the ends of bands a score lies above; null where that is not plain to see."""
    if rule.kind == "verdict":
        return pl.repeat(None, len(score), dtype=pl.Int16, eager=True)
    ends = (None, None) if card.scale is None else (card.scale.low, card.scale.high)
    number = score.set(~score.str.contains(_PLAIN), None).cast(pl.Float64)
    least, most = ends
    plain = pl.repeat(True, len(score), eager=True)
    for digits, inside in ((least, number.__gt__), (most, number.__lt__)):
        if digits is not None:
            plain &= inside(float(digits)) & _is_clear_of(number, float(digits))
    side = pl.repeat(0, len(score), dtype=pl.Int16, eager=True)
    for digits in (rule.value or "0", *(end for band in card.bands for end in (band.low, band.high))):
        plain &= _is_clear_of(number, float(digits))
        side += number.fill_null(0) > float(digits)
    return side.set(~plain.fill_null(False), None)


def _is_clear_of(number: pl.Series, threshold: float) -> pl.Series:
    return (number - threshold).abs() > abs(threshold) * _CLEAR
