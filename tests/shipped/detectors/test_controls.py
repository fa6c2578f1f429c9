"""The controls: known answers, and cards that read them."""

from __future__ import annotations

import hashlib
import hmac
import json
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penmark import cards, plugins
from penmark.errors import UsageError
from penmark.plugins import Answer, Declined

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


def made(name: str, **options: str) -> plugins.Detector:
    return plugins.load_detector(name)(options)


def answer(said: Answer | Declined) -> dict[str, object]:
    assert isinstance(said, Answer)
    value = json.loads(said.body)
    assert isinstance(value, dict)
    return value


@settings(max_examples=50)
@given(TEXTS)
def test_always_human_and_always_ai_say_the_same_of_every_text(text: str) -> None:
    assert answer(made("always-human").read(text)) == {"label": "human", "version": "1"}
    assert answer(made("always-ai").read(text)) == {"label": "ai", "version": "1"}


def test_the_coin_hangs_on_text_and_seed_alone() -> None:
    assert answer(made("coin", seed="heads").read("one text")) == answer(made("coin", seed="heads").read("one text"))
    assert answer(made("coin", seed="heads").read("one text")) != answer(made("coin", seed="tails").read("one text"))
    first = int.from_bytes(hmac.digest(b"heads", b"one text", hashlib.sha256)[:8], "big")
    expected = Decimal(first * 1_000_001 // 2**64).scaleb(-6)
    assert Decimal(str(answer(made("coin", seed="heads").read("one text"))["score"])) == expected


@settings(max_examples=100)
@given(TEXTS)
def test_the_coin_shows_six_decimals_between_zero_and_one(text: str) -> None:
    score = str(answer(made("coin").read(text))["score"])
    assert len(score) == 8
    assert Decimal(0) <= Decimal(score) <= Decimal(1)


def test_the_coin_is_fair_enough() -> None:
    coin = made("coin", seed="any")
    heads = sum(Decimal(str(answer(coin.read(f"text {n}"))["score"])) >= Decimal("0.5") for n in range(10_000))
    assert 4_800 < heads < 5_200  # four standard deviations; the tosses are the same in every run


def test_length_counts_words_by_the_one_rule() -> None:
    assert answer(made("length").read("Two words — and three, don’t-stop: 7")) == {"version": "penmark-2", "words": 6}
    assert answer(made("length").read(""))["words"] == 0


@pytest.mark.parametrize("name", ["always-human", "always-ai", "length"])
def test_options_that_a_control_does_not_take_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="has no option seed"):
        made(name, seed="x")
    with pytest.raises(UsageError, match="has no option sed"):
        made("coin", sed="x")


@pytest.mark.parametrize(("name", "call"), [("always-human", "not-ai"), ("always-ai", "ai"), ("length", "not-ai")])
def test_the_card_reads_what_the_control_says(name: str, call: str) -> None:
    card = cards.load_card(cards.find_card(name, None))
    said = made(name).read("three short words")
    assert isinstance(said, Answer)
    found = cards.extract_answer(card, said.body)
    assert cards.call_answer(card, card.boundary, found.score, found.label).strict == call
    assert found.version == made(name).version
