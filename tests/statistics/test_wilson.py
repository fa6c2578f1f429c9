"""Wilson to the sixth decimal, against values from elsewhere."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.expected_findings import rows

from penmark.statistics.wilson import (
    Z,
    bound_worst_case,
    compute_rate,
    compute_score_interval,
    compute_wilson,
    format_six,
)

KNOWN = [  # k, n, low, high; statsmodels 0.15.0, proportion_confint(method="wilson")
    (5, 100, "0.021544", "0.111750"),
    (150, 150, "0.975030", "1.000000"),
    (2, 150, "0.003664", "0.047307"),
    (0, 35, "0.000000", "0.098901"),
    (0, 1, "0.000000", "0.793451"),
    (1, 1, "0.206549", "1.000000"),
    (8, 16, "0.279996", "0.720004"),
    (390, 637, "0.573842", "0.649302"),
    (0, 628, "0.000000", "0.006080"),
]


def counts(inputs: str) -> tuple[int, int]:
    match = re.match(r"k=(\d+);n=(\d+)", inputs)
    assert match is not None, inputs
    return int(match[1]), int(match[2])


@pytest.mark.parametrize(("k", "n", "low", "high"), KNOWN)
def test_known_values(k: int, n: int, low: str, high: str) -> None:
    found = compute_wilson(k, n)
    assert found is not None
    assert (format_six(found.low), format_six(found.high)) == (low, high)


def test_every_expected_row() -> None:
    checked = 0
    for row in rows("wilson95"):
        k, n = counts(row["inputs"])
        if k > n:
            assert row["expected"].startswith("error")
            with pytest.raises(ValueError, match="k = 6 is not between 0 and n = 5"):
                compute_wilson(k, n)
        elif n == 0:
            assert row["expected"].startswith("undefined")
            assert compute_wilson(k, n) is compute_rate(k, n) is None
        else:
            point, low, high = re.findall(r"(?:point|lo|hi)=([\d.]+)", row["expected"])
            found = compute_wilson(k, n)
            assert found is not None
            assert (format_six(compute_rate(k, n)), format_six(found.low), format_six(found.high)) == (
                point,
                low,
                high,
            ), row["inputs"]
            checked += 1
    assert checked > 30


def test_expected_bounds_stay_inside() -> None:
    (row,) = rows("wilson95_bounds")
    for k, n in re.findall(r"k=(\d+);n=(\d+)", row["inputs"]):
        found = compute_wilson(int(k), int(n))
        assert found is not None
        assert 0 <= found.low <= found.high <= 1
        assert found.high == 1 if k == n else found.low == 0


def test_a_rounded_z_agrees_to_two_decimals_of_a_percent() -> None:
    for row in rows("wilson95_z1.96"):
        k, n = counts(row["inputs"])
        low, high = re.findall(r"(?:lo|hi)=([\d.]+)", row["expected"])
        found = compute_wilson(k, n)
        assert found is not None
        assert abs(found.low - Decimal(low)) < Decimal("0.00001")
        assert abs(found.high - Decimal(high)) < Decimal("0.00001")


def test_it_is_none_of_the_intervals_that_look_like_it() -> None:
    for row in rows("NOT_wilson_lookalikes"):
        k, n = counts(row["inputs"])
        found = compute_wilson(k, n)
        assert found is not None
        others = re.findall(r"=([\d.]+)\.\.([\d.]+)", row["expected"])
        assert len(others) == 5
        assert (format_six(found.low), format_six(found.high)) not in others


def test_levels() -> None:
    widths = [found.high - found.low for level in ("0.90", "0.95", "0.99") if (found := compute_wilson(5, 100, level))]
    assert widths == sorted(widths)
    assert len(widths) == 3
    with pytest.raises(KeyError):
        compute_wilson(1, 2, "0.5")


def test_worst_counts_every_missing_answer_both_ways() -> None:
    # One flag of seven answers, three without a result: between 1 of 10 and 4 of 10.
    ends, least, most = bound_worst_case(1, 7, 3), compute_wilson(1, 10), compute_wilson(4, 10)
    assert ends is not None
    assert least is not None
    assert most is not None
    assert ends == (least.low, most.high)
    assert bound_worst_case(0, 0, 0) is None
    assert bound_worst_case(0, 0, 2) == (Decimal(0), Decimal(1))


def test_six_never_rounds_to_certainty() -> None:
    assert format_six(Decimal("0.0000001")) == "0.000001"
    assert format_six(Decimal("0.9999999")) == "0.999999"
    assert format_six(Decimal("-0")) == "0.000000"
    assert format_six(Decimal("0.0000005")) == "0.000001"
    assert format_six(Decimal("0.1234565")) == "0.123456"  # half to even
    assert format_six(Decimal("0.1234575")) == "0.123458"
    assert format_six(None) == ""


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.sampled_from(sorted(Z)))
def test_properties(pair: tuple[int, int], level: str) -> None:
    k, n = pair
    found, mirrored = compute_wilson(k, n, level), compute_wilson(n - k, n, level)
    share = compute_rate(k, n)
    assert found is not None
    assert mirrored is not None
    assert share is not None
    assert 0 <= found.low <= share <= found.high <= 1
    assert found.low < found.high
    assert (found.low == 0) == (k == 0)
    assert (found.high == 1) == (k == n)
    assert abs(found.low - (1 - mirrored.high)) < Decimal("1e-26")  # Python subtracts with 28 digits
    # It is what Wilson's equation says: the ends p solve (k/n - p)^2 = z^2 p (1 - p) / n.
    for end in found:
        left, right = (share - end) ** 2, Z[level] ** 2 * end * (1 - end) / n
        if 0 < end < 1:
            assert abs(left - right) < Decimal("1e-20")


def test_effective_sizes_need_not_be_whole() -> None:
    whole, part = (
        compute_score_interval(Decimal(3), Decimal(30), "0.95"),
        compute_score_interval(Decimal("3.5"), Decimal("30.5"), "0.95"),
    )
    assert (format_six(whole.low), format_six(whole.high)) == ("0.034600", "0.256211")
    assert part.low < Decimal("3.5") / Decimal("30.5") < part.high
