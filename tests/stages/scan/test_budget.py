"""The purse: no call leaves that could make more than the budget due."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penmark import cards
from penmark.errors import UsageError
from penmark.records import Card, Price
from penmark.stages.scan.budget import (
    ALL,
    TEXTS,
    Spend,
    check_budget_given,
    describe_spend,
    find_tariff,
    make_budget,
    price_unlisted_text,
)
from penmark.testing.doubles import VENDORS, place_card

AMOUNTS = st.integers(0, 40).map(lambda n: Decimal(n) / 4)
CALLS = st.lists(st.tuples(st.sampled_from("ab"), AMOUNTS, st.sampled_from(["yes", "maybe", "no", None])), max_size=40)


@settings(max_examples=80, deadline=None)
@given(AMOUNTS, AMOUNTS, AMOUNTS, CALLS)
def test_what_is_due_never_exceeds_a_budget(
    one: Decimal, other: Decimal, whole: Decimal, calls: list[tuple[str, Decimal, str | None]]
) -> None:
    money = make_budget({"a": "USD", "b": "USD"}, {"a": one, "b": other, ALL: whole}, ["a", "b", "c"])
    for name, amount, charged in calls:
        if money.reserve(name, amount) and charged is not None:
            money.settle(name, amount, charged)  # type: ignore[arg-type]
        due = [account.due for account in money.accounts.values()]
        assert due[0] <= one
        assert due[1] <= other
        assert sum(due) <= whole
        assert all(
            account.sure >= 0 and account.maybe >= 0 and account.held >= 0 for account in money.accounts.values()
        )


def test_what_the_vendor_refused_costs_nothing_and_can_be_spent_again() -> None:
    money = make_budget({"a": "USD"}, {"a": Decimal(1)}, ["a"])
    assert money.reserve("a", Decimal(1))
    assert not money.reserve("a", Decimal("0.01"))
    money.settle("a", Decimal(1), "no")
    assert money.reserve("a", Decimal(1))
    money.settle("a", Decimal(1), "maybe")
    assert not money.reserve("a", Decimal("0.01"))
    assert describe_spend(money.accounts["a"]) == "cost 0 to 1 USD of 1"


def test_a_job_of_an_earlier_scan_is_counted_once() -> None:
    money = make_budget({"a": "USD"}, {"a": Decimal(2)}, ["a"])
    money.accounts["a"].maybe = Decimal(2)
    money.known("a", Decimal(2))
    money.settle("a", Decimal(2), "yes")
    assert (money.accounts["a"].sure, money.accounts["a"].due) == (2, 2)


def test_one_budget_holds_those_that_have_none_of_their_own() -> None:
    money = make_budget({"a": "USD", "b": "USD", "c": "words"}, {"c": Decimal(9), ALL: Decimal(3)}, ["a", "b", "c"])
    assert money.reserve("a", Decimal(2))
    assert not money.reserve("b", Decimal(2))
    assert money.reserve("c", Decimal(9))
    check_budget_given(money, "abc", lambda name: Decimal(99))
    with pytest.raises(UsageError, match="this costs money: b up to 5 USD"):
        check_budget_given(
            make_budget({"a": "USD", "b": "USD"}, {"a": Decimal(1)}, ["a", "b"]), "ab", lambda name: Decimal("5.00")
        )


def test_what_is_left_to_ask_and_costs_nothing_needs_no_budget() -> None:
    check_budget_given(make_budget({"a": "USD"}, {}, ["a"]), [], lambda name: Decimal(1))


def test_words_are_counted_in_the_way_that_counts_more() -> None:
    each = Price(amount="1", currency="words", per=1, unit="words", rounding="up")
    assert price_unlisted_text(each, "one two — three & four") == 6
    assert price_unlisted_text(each, "one—two—three") == 3


def card(name: str, url: str | None = None) -> Card:
    """A shipped card, or the same for a server on this machine."""
    found = cards.load_card(cards.find_card(name, None))
    if url is None or found.ask.request is None:
        return found
    sent = found.ask.request.send.model_copy(update={"url": f"{url}/x"})
    return found.model_copy(
        update={"ask": found.ask.model_copy(update={"request": found.ask.request.model_copy(update={"send": sent})})}
    )


@pytest.mark.parametrize("name", sorted(VENDORS))
def test_every_vendor_costs_something_and_a_price_that_is_not_told_is_a_number_of_texts(name: str) -> None:
    request = card(name).ask.request
    assert request is not None
    assert find_tariff(card(name)) == (request.price if request.price is not None else TEXTS)


def test_a_server_on_this_machine_and_a_plugin_cost_nothing() -> None:
    assert find_tariff(card("hive", "http://127.0.0.1:8000")) is None
    assert find_tariff(card("hive", "https://example.org")) == TEXTS
    assert find_tariff(card("coin")) is None
    assert "127.0.0.1" in place_card("url: https://api.example.org/v1", "http://127.0.0.1:9")


def test_an_account_says_what_is_due() -> None:
    assert describe_spend(Spend("words", "words of a", None, Decimal(10))) == "cost 10 words"
