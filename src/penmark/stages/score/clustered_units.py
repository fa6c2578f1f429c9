"""Rates where texts of one unit (an author, a source, a topic) are alike: the interval on fewer, effective texts.

With k_c of n_c flagged in unit c, and p = k/n over all, the linearised variance of p is sum (k_c - n_c p)^2 / n^2 (CR0:
the variance of a ratio without a small-sample factor), and the design effect, deff, is that over p (1 - p) / n.
*Reads* and *writes* nothing. *Never*: an effective size above n, an interval from too few units, a float.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import NamedTuple

import polars as pl

from penmark.stages.score.pair_states import Version
from penmark.stages.score.scored_edition import Scored
from penmark.statistics.wilson import Interval, compute_score_interval

MIN_UNITS = 15
"""Below so many units there is no interval: what they vary by is not known."""
WARN_FROM = Decimal("1.5")
_CONTEXT = Context(prec=50, rounding=ROUND_HALF_EVEN)


class Effective(NamedTuple):
    """``deff`` >= 1 and ``n`` / deff, with the interval on it; None where there is none, for the ``reason``."""

    units: int
    deff: Decimal | None
    n: Decimal | None
    interval: Interval | None
    reason: str | None


class UnitRate(NamedTuple):
    """One version and one arm whose unit is not the document. ``n``: answered; ``k``: called ai (strict)."""

    version: Version
    arm: str
    unit: str
    documents: int
    n: int
    k: int
    effective: Effective


def compute_effective(counts: Iterable[tuple[int, int]], level: str) -> Effective:
    """From (k_c, n_c) of each unit. At k = 0 or k = n the units are what is counted: deff is n / units."""
    held = [(k, n) for k, n in counts if n > 0]
    units, k, n = len(held), sum(k for k, _ in held), sum(n for _, n in held)
    if n == 0:
        return Effective(0, None, None, None, "no answers")
    if k in (0, n):
        deff = _CONTEXT.divide(Decimal(n), Decimal(units))
    else:
        # sum (k_c - n_c p)^2 / (n p (1 - p)) over a common denominator: whole numbers until the last division.
        squares = sum((kc * n - nc * k) ** 2 for kc, nc in held)
        deff = max(Decimal(1), _CONTEXT.divide(Decimal(squares), Decimal(n * k * (n - k))))
    size = _CONTEXT.divide(Decimal(n), deff) if k not in (0, n) else Decimal(units)
    if units < MIN_UNITS:
        return Effective(units, deff, size, None, f"fewer than {MIN_UNITS} units")
    flagged = size if k == n else _CONTEXT.divide(Decimal(k), deff)
    return Effective(units, deff, size, compute_score_interval(flagged, size, level), None)


def rate_units(scored: Scored) -> list[UnitRate]:
    """Each version's rate in each arm that declares a unit other than the document; by version, then arm."""
    arms = [arm for arm in scored.protocol.arms if arm.unit != "document"]
    return [_compute_rate(scored, version, arm.name, arm.unit) for version in scored.versions for arm in arms]


def _compute_rate(scored: Scored, version: Version, arm: str, unit: str) -> UnitRate:
    named = pl.col("provenance").str.json_path_match("$.parent") if unit == "parent" else pl.col(unit)
    held = scored.documents.select("arm", named.alias("unit")).hstack(version.pairs.select("state", "call"))
    mine = held.filter(pl.col("arm") == arm)
    answered = mine.filter(pl.col("state") == "answered")
    k = int((answered.get_column("call") == "ai").sum())
    unnamed = answered.get_column("unit").null_count()
    if unnamed:
        found = Effective(
            answered.get_column("unit").drop_nulls().n_unique(), None, None, None, f"{unnamed} without {unit}"
        )
    else:
        counts = answered.group_by("unit").agg((pl.col("call") == "ai").sum().alias("k"), pl.len().alias("n"))
        found = compute_effective(counts.select("k", "n").iter_rows(), scored.level)
    return UnitRate(version, arm, unit, mine.height, answered.height, k, found)
