"""The budget, in exact amounts."""

from __future__ import annotations

from decimal import Decimal

import pytest

from penmark.errors import UsageError
from penmark.records import TokenPrice
from penmark.stages.generate.budget import TokenBudget

MODEL = ("P", "m")
PRICE = TokenPrice(read="3", written="10", currency="USD", per=1000)


def line(kind: str, number: int = 1, **further: object) -> dict[str, object]:
    return {
        "kind": kind, "document": f"C-{number}", "turn": 1, "attempt": 1, "provider": "P", "model": "m"
    } | further  # fmt: skip


def sent(number: int = 1) -> dict[str, object]:
    return line("sent", number, request={"body": "x" * 300}, word_target=50)


ESTIMATE = (Decimal(3) * (100 + 16) + Decimal(10) * 100) / 1000


def test_an_answer_costs_what_the_provider_counted_and_a_lost_one_its_estimate():
    purse = TokenBudget({MODEL: PRICE}, None)
    assert purse.estimate(MODEL, 300, 50) == ESTIMATE
    purse.take(sent(1))
    assert purse.spent == ESTIMATE
    purse.take(line("answer", 1, tokens_read=100, tokens_written=70))
    assert purse.spent == Decimal("1.0")
    purse.take(sent(2))  # in doubt
    assert purse.spent == 1 + ESTIMATE
    purse.take(line("retry", 2, charged="no"))
    assert purse.spent == 1
    purse.take(sent(2))
    purse.take(line("retry", 2, charged="maybe"))
    assert purse.spent == 1 + ESTIMATE
    purse.take(sent(3))
    purse.take(line("answer", 3, tokens_read=None, tokens_written=None))
    assert purse.spent == 1 + 2 * ESTIMATE


def test_nothing_is_reserved_beyond_the_budget():
    purse = TokenBudget({MODEL: PRICE}, 2 * ESTIMATE)
    assert purse.reserve(ESTIMATE)
    assert purse.reserve(ESTIMATE)
    assert not purse.reserve(Decimal("0.0001"))
    purse.free(ESTIMATE)
    purse.take(sent())
    assert not purse.reserve(Decimal("0.0001"))
    assert not TokenBudget({MODEL: PRICE}, Decimal(0)).reserve(ESTIMATE)


def test_a_model_that_thinks_long_is_expected_to_do_so_again():
    purse = TokenBudget({MODEL: PRICE}, None)
    purse.take(sent())
    purse.take(line("answer", tokens_read=100, tokens_written=5000))
    assert purse.estimate(MODEL, 300, 50) == (Decimal(3) * 116 + Decimal(10) * 5000) / 1000
    assert purse.estimate(("P", "free"), 300, 50) == 0


def test_one_budget_is_in_one_currency():
    other = TokenPrice(read="1", written="1", currency="EUR")
    with pytest.raises(UsageError, match="EUR and USD"):
        TokenBudget({MODEL: PRICE, ("P", "n"): other}, Decimal(1))
