"""Calls in bulk: what ``cards.call`` says of each answer, asked once for all answers that it cannot tell apart.

*Reads* and *writes* nothing. *Never* decides a call: ``cards.call`` does. Binary floats only sort scores that lie well
clear of every threshold; whatever is near one, or is no plain decimal, is asked about by its exact characters.
"""

from __future__ import annotations

import polars as pl

from penmark import cards
from penmark.records import Card, Rule

_PLAIN = r"^-?[0-9]{1,15}(\.[0-9]{1,15})?$"
_CLEAR = 1e-12
"""A float of at most 30 digits is off by less than a thousandth of this, relatively."""


def called(answers: pl.DataFrame, card: Card, rule: Rule) -> pl.DataFrame:
    """The calls of ``answers`` (columns ``score``, ``label``), row by row: ``call``, ``call_lenient`` ("ai", "not-ai" or
    null), ``uncertain``, and ``why_not``, which is null where there is a call."""
    alike = answers.select("score", "label", *_alike(card, rule))
    kinds = alike.group_by("side", "exact", "label").agg(pl.col("score").first())
    calls = [cards.call(card, rule, score, label) for score, label in kinds.select("score", "label").iter_rows()]
    judged = kinds.drop("score").with_columns(
        pl.Series("call", [c.strict for c in calls], dtype=pl.String),
        pl.Series("call_lenient", [c.lenient for c in calls], dtype=pl.String),
        pl.Series("uncertain", [c.uncertain for c in calls], dtype=pl.Boolean),
        pl.Series("why_not", [c.reason for c in calls], dtype=pl.String),
    )
    found = alike.join(judged, on=["side", "exact", "label"], how="left", nulls_equal=True, maintain_order="left")
    return found.select("call", "call_lenient", "uncertain", "why_not")


def _alike(card: Card, rule: Rule) -> list[pl.Expr]:
    """``side``: between which thresholds a score lies, or null; ``exact``: then its characters, else null."""
    if rule.kind == "verdict":  # the score says nothing
        return [pl.lit(0, dtype=pl.Int8).alias("side"), pl.lit(None, dtype=pl.String).alias("exact")]
    scale, score = card.scale, pl.col("score")
    low, high = (None, None) if scale is None else (scale.low, scale.high)
    number = pl.when(score.str.contains(_PLAIN)).then(score.cast(pl.Float64, strict=False))
    thresholds = [float(digits) for digits in (low, rule.value, high) if digits is not None]
    clear = pl.all_horizontal((number - at).abs() > abs(at) * _CLEAR for at in thresholds)
    inside = pl.lit(True)
    if low is not None:
        inside &= number > float(low)
    if high is not None:
        inside &= number < float(high)
    side = pl.when(clear & inside).then((number > float(rule.value or 0)).cast(pl.Int8))
    return [side.alias("side"), pl.when(side.is_null()).then(score).alias("exact")]
