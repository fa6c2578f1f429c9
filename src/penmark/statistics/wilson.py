"""Wilson intervals and what is derived from them, in decimal: the same digits on any machine.

Wilson, E. B. (1927), Probable inference, the law of succession, and statistical inference, JASA 22(158): 209-212.
No continuity correction. z is the 0.975 quantile of the normal distribution to 15 decimals.
*Never*: floats, an interval outside [0, 1], a zero-width interval at k = 0 or k = n, a minus zero.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import NamedTuple

Z = {"0.90": Decimal("1.644853626951473"), "0.95": Decimal("1.959963984540054"), "0.99": Decimal("2.575829303548901")}
_CONTEXT = Context(prec=50, rounding=ROUND_HALF_EVEN)
_SIX = Decimal("0.000001")
_ONE = Decimal(1)
_ZERO = Decimal(0)


class Interval(NamedTuple):
    """Both ends of an interval in [0, 1]."""

    low: Decimal
    high: Decimal


def compute_rate(k: int, n: int) -> Decimal | None:
    """k/n in [0, 1]; None where n is 0. Raises ValueError unless 0 <= k <= n."""
    _require_k_within_n(k, n)
    return None if n == 0 else _CONTEXT.divide(Decimal(k), Decimal(n))


def compute_wilson(k: int, n: int, level: str = "0.95") -> Interval | None:
    """The Wilson score interval of k of n; None where n is 0. low = 0 at k = 0 and high = 1 at k = n, exactly.

    Raises ValueError unless 0 <= k <= n, KeyError for a level other than 0.90, 0.95, 0.99.
    """
    _require_k_within_n(k, n)
    if n == 0:
        return None
    return compute_score_interval(Decimal(k), Decimal(n), level)


def compute_score_interval(k: Decimal, n: Decimal, level: str) -> Interval:
    """Wilson's formula for real-valued counts (an effective sample size), 0 <= k <= n and n > 0."""
    c, z = _CONTEXT, Z[level]
    square = c.multiply(z, z)
    p = c.divide(k, n)
    centre = c.add(p, c.divide(square, c.multiply(Decimal(2), n)))
    spread = c.add(
        c.divide(c.multiply(p, c.subtract(_ONE, p)), n),
        c.divide(square, c.multiply(Decimal(4), c.multiply(n, n))),
    )
    half = c.multiply(z, c.sqrt(spread))
    scale = c.add(_ONE, c.divide(square, n))
    low = _ZERO if k == 0 else c.divide(c.subtract(centre, half), scale)
    high = _ONE if k == n else c.divide(c.add(centre, half), scale)
    return Interval(low, high)


def bound_worst_case(k: int, n: int, no_result: int, level: str = "0.95") -> Interval | None:
    """Bounds if every pair without a result had gone one way: Wilson low of k of n + no_result,
    Wilson high of k + no_result of n + no_result. None where n + no_result is 0."""
    least, most = compute_wilson(k, n + no_result, level), compute_wilson(k + no_result, n + no_result, level)
    return None if least is None or most is None else Interval(least.low, most.high)


def format_six(value: Decimal | None) -> str:
    """Six decimals, half to even; "" for None. Rounding never makes 0 or 1 of what is neither."""
    if value is None:
        return ""
    rounded = value.quantize(_SIX, rounding=ROUND_HALF_EVEN, context=_CONTEXT)
    if rounded == 0 and value != 0:
        rounded = _SIX
    if rounded == 1 and value != 1:
        rounded = _ONE - _SIX
    return f"{abs(rounded):f}"


def _require_k_within_n(k: int, n: int) -> None:
    if not 0 <= k <= n:
        raise ValueError(f"k = {k} is not between 0 and n = {n}")
