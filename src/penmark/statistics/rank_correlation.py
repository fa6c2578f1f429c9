"""Rank correlation: whether two columns order the same texts alike, whatever their scales are.

Spearman's coefficient is Pearson's over average ranks (Spearman, C. (1904), American Journal of Psychology 15(1):
72-101). Twice the average ranks are whole numbers, so that all but the last root and division is exact.
*Reads* and *writes* nothing. *Never* a float in a result.
"""

from __future__ import annotations

from decimal import Context, Decimal
from math import isqrt

import polars as pl

_CONTEXT = Context(prec=30)


def correlate_ranks(one: pl.Series, two: pl.Series) -> Decimal | None:
    """The coefficient in [-1, 1] over the rows in which both have a value; None where either has one value only."""
    both = pl.DataFrame([one.alias("one"), two.alias("two")]).drop_nulls()
    ranks = both.select((pl.all().rank(method="average") * 2).cast(pl.Int64))
    x, y, n = pl.col("one"), pl.col("two"), both.height
    sums = ranks.select(x.sum().alias("x"), y.sum().alias("y"), xx=(x * x).sum(), yy=(y * y).sum(), xy=(x * y).sum())
    held: dict[str, int] = sums.row(0, named=True)
    shared = n * held["xy"] - held["x"] * held["y"]
    spread = (n * held["xx"] - held["x"] ** 2) * (n * held["yy"] - held["y"] ** 2)
    if spread == 0:
        return None
    # The root to 20 digits below the unit: whole numbers again.
    root = _CONTEXT.divide(Decimal(isqrt(spread * 10**40)), Decimal(10**20))
    found = _CONTEXT.divide(Decimal(shared), root)
    return min(max(found, Decimal(-1)), Decimal(1))
