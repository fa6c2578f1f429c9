"""Answers of which a card makes nothing are counted by what is amiss, and told in one wording."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.judged_study import card

from penmark import cards
from penmark.cards import Missed, call_rules
from penmark.records import Card

VERDICTS = {"AI": "ai", "Human": "human"}


def found(made: Card, *answers: tuple[str | None, str | None]) -> list[Missed]:
    misses = cards.Misses(made, made.boundary)
    for number, (score, label) in enumerate(answers, 1):
        misses.add(f"d-{number}", score, label)
    return misses.found()


def messages(made: Card, *answers: tuple[str | None, str | None]) -> list[str]:
    return [each.message for each in found(made, *answers)]


def test_good_answers_are_not_counted() -> None:
    assert found(card("x"), ("0", None), ("1", None), ("0.5", None), ("1e-9", None), ("-0", None)) == []
    assert found(card("x", verdicts=VERDICTS), ("0.2", "Human"), ("0.2", " human"), ("0.2", "Human")) == []
    assert found(card("x"), ("0.2", "whatever")) == []  # the card has no table of verdicts
    assert found(card("x", operator=None), (None, "AI"), (None, "AI"), ("7", "mixed")) == []


def test_numbers_outside_the_scale() -> None:
    given = [("0.2", None), ("1.7", None), ("-0.1", None), ("1e999", None), ("1.00000000000000000001", None)]
    assert found(card("x"), *given) == [
        Missed(
            cards.OUTSIDE,
            4,
            "d-2",
            "1.7",
            "4 answers are outside the scale 0 to 1 of its card (the first: 1.7 about d-2); they are kept as they are and "
            "count as no result",
        )
    ]
    assert messages(card("x"), ("1.7", None)) == [
        "1 answer is outside the scale 0 to 1 of its card (1.7 about d-1); it is kept as it is and counts as no result"
    ]


@pytest.mark.parametrize(
    ("low", "high", "score", "told"),
    [("0", None, "-1", "the scale, 0 and above, of its"), (None, "1", "2", "the scale, up to 1, of its")],
)
def test_a_scale_with_one_end(low: str | None, high: str | None, score: str, told: str) -> None:
    scale = {"meaning": "points", "direction": "ai", "low": low, "high": high}
    [message] = messages(card("x", scale=scale), ("0.5", None), (score, None))
    assert told in message


@pytest.mark.parametrize("score", ["NaN", "nan", "Infinity", "62%", "1_0", " 0.5", "٠", ""])
def test_what_is_no_number(score: str) -> None:
    [one] = found(card("x"), (score, None))
    assert one.kind == "score is not a decimal number"
    assert one.message.startswith(f"1 answer is no decimal number ({score.strip()!r} about d-1); ")


def test_kinds_stand_in_the_order_of_their_first() -> None:
    given = [("0.2", None), (None, None), ("62%", None), ("9", None), ("NaN", None)]
    assert [(each.kind.partition(" ")[2], each.answers, each.document) for each in found(card("x"), *given)] == [
        ("score in the answer", 1, "d-2"),
        ("is not a decimal number", 2, "d-3"),
        ("outside the declared scale", 1, "d-4"),
    ]


def test_verdicts_that_the_card_does_not_know() -> None:
    words = card("x", operator=None)
    assert messages(words, (None, "AI"), (None, "Cyborg"), (None, "Robot"), ("0.9", None)) == [
        "2 answers are verdicts that its card does not know (the first: 'Cyborg' about d-2); they are kept as they are and "
        "count as no result",
        "1 answer has no verdict (about d-4); it is kept as it is and counts as no result",
    ]


def test_a_verdict_beside_a_number_changes_no_call_and_is_told() -> None:
    both = card("x", verdicts=VERDICTS)
    assert cards.call_answer(both, both.boundary, "0.9", "Cyborg").strict == "ai"
    assert found(both, ("0.9", "Cyborg"), ("0.9", "AI"), ("0.1", "Cyborg")) == [
        Missed(
            cards.BESIDE,
            2,
            "d-1",
            "Cyborg",
            "2 answers have beside their numbers verdicts that its card does not know (the first: 'Cyborg' about d-1); "
            "their numbers alone decide",
        )
    ]
    assert [each.kind for each in found(both, ("9", "Cyborg"))] == [cards.OUTSIDE]


def test_what_an_answer_shows_is_quoted_on_one_line_and_cut() -> None:
    [message] = messages(card("x", operator=None), (None, "=AI()\n\x1b[31m" + "y" * 500))
    assert "\n" not in message
    assert "\x1b" not in message
    assert len(message) < 250


def test_a_verdict_in_place_of_numbers_on_both_sides_of_the_boundary() -> None:
    band = {"low": "0", "high": "0.4", "verdict": "human", "shown": "Low"}
    banded = card("x", verdicts={"Low": "human", "High": "ai"}, bands=[band], value="0.35")
    assert messages(banded, (None, "Low")) == [
        "1 answer is a verdict that stands for numbers on both sides of the boundary ('Low' about d-1); it is kept as it is "
        "and counts as no result"
    ]


def test_every_reason_of_a_call_has_its_words() -> None:
    """A reason without words would end a scan with a fault of ours."""
    reasons = re.findall(r'_make_missing_call\(f?"([^":]+)', Path(call_rules.__file__).read_text(encoding="utf-8"))
    assert len(reasons) == len(set(reasons)) == 6
    for kind in (*reasons, cards.BESIDE):
        assert cards.describe_miss(card("x"), kind) != cards.describe_miss(card("x"), kind, 2)
