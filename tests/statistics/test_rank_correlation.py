"""Spearman's coefficient, held to exact arithmetic."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penmark.statistics.rank_correlation import correlate_ranks

NUMBERS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=12)


def _ranks(values: list[int]) -> list[Fraction]:
    return [Fraction(sum(v < value for v in values) * 2 + sum(v == value for v in values) + 1, 2) for value in values]


def test_by_hand() -> None:
    one, two = pl.Series([1, 2, 3, 4, 5]), pl.Series([2.0, 1.0, 4.0, 3.0, 5.0])
    assert correlate_ranks(one, two) == Decimal("0.8")  # 1 - 6 * 4 / (5 * 24)
    assert correlate_ranks(one, one) == 1
    assert correlate_ranks(one, -one) == -1


@pytest.mark.parametrize("values", [[], [1], [3, 3, 3]])
def test_without_an_order_there_is_none(values: list[int]) -> None:
    assert correlate_ranks(pl.Series(values, dtype=pl.Int64), pl.Series(range(len(values)), dtype=pl.Int64)) is None


def test_rows_without_a_value_do_not_count() -> None:
    one, two = pl.Series([1, None, 2, 3]), pl.Series([1, 0, 2, None])
    assert correlate_ranks(one, two) == 1


@settings(max_examples=100)
@given(NUMBERS)
def test_against_exact_fractions(pairs: list[tuple[int, int]]) -> None:
    x, y = (_ranks([pair[side] for pair in pairs]) for side in (0, 1))
    n = len(pairs)
    shared = sum(a * b for a, b in zip(x, y, strict=True)) - sum(x) * sum(y) / n
    spread = (sum(a * a for a in x) - sum(x) ** 2 / n) * (sum(b * b for b in y) - sum(y) ** 2 / n)
    got = correlate_ranks(pl.Series([pair[0] for pair in pairs]), pl.Series([pair[1] for pair in pairs]))
    if spread == 0:
        assert got is None
        return
    assert got is not None
    assert (got > 0) == (shared > 0)
    assert abs(Fraction(got) ** 2 - shared**2 / spread) < Fraction(1, 10**15)
