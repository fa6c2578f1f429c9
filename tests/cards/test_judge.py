"""From an answer to a reading."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.scripted_detector import CARD

from penmark import cards
from penmark.cards import judge
from penmark.cards.judge import AskedQuestion, Judged
from penmark.records import Card, Reading


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> Card:
    path: Path = tmp_path_factory.mktemp("cards") / "acting.yaml"
    path.write_text(CARD)
    return cards.load_card(path)


def body(**fields: object) -> bytes:
    return json.dumps({"score": 0.5, "text": "the text"} | fields).encode()


@pytest.mark.parametrize(
    ("given", "declined", "state", "reason"),
    [
        (body(), None, "answered", None),
        (body(), "it would not say", "answered", None),  # a shown verdict is final
        (body(score=None), "it would not say", "declined", "it would not say"),
        (body(score=None), None, "declined", "nothing in the answer where the card looks for it"),
        (body(text="the text "), None, "answered", None),
        (body(text="the texts"), None, "declined", "other text scanned"),
        (body(text="the texts"), "it would not say", "declined", "other text scanned"),
        (body(text=None), None, "answered", None),
        (b"", None, "declined", "the answer is not JSON: Expecting value (character 0)"),
        (b"<html>", "a page, not an answer", "declined", "a page, not an answer"),
    ],
)
def test_the_state_follows_from_the_answer(
    card: Card, given: bytes, declined: str | None, state: str, reason: str | None
) -> None:
    judged = judge.judge_answer(card, given, "the text", declined)
    assert (judged.state, judged.reason) == (state, reason)


def test_a_remark_stands_beside_an_answer_and_changes_no_state(card: Card) -> None:
    text = "The ferry leaves at nine and nobody waits. " * 20
    cut = body(text=text, scanned=text[:400])
    judged = judge.judge_answer(card, cut, text)
    assert judged.reason is None
    remarked = judge.add_remark(judged, card, cut, text)
    assert remarked == judged._replace(reason="the answer quotes only the first 400 of 860 characters")
    other = judge.judge_answer(card, body(text="another", scanned=text[:400]), text)
    assert judge.add_remark(other, card, body(text="another", scanned=text[:400]), text) == other


@settings(max_examples=50)
@given(st.text())
def test_a_reason_is_one_short_line_that_can_be_written(words: str) -> None:
    said = judge.clean_reason(words)
    assert len(said) <= judge.MAX_REASON
    assert "\n" not in said
    said.encode()


def test_the_line_is_a_reading_of_the_format(card: Card) -> None:
    asked = AskedQuestion("a", "0" * 64, 1, "scan", "2026-11-30T00:00:00Z", "2.0")
    line = judge.make_reading_line(
        asked,
        judge.judge_answer(card, body(), "the text"),
        at=judge.get_time_now(),
        got_at=judge.get_time_now(),
        evidence_sha256=None,
    )
    assert Reading.model_validate({k: v for k, v in line.items() if k not in ("kind", "at")}).score == "0.5"
    failed = judge.make_reading_line(
        asked, Judged("failed", "why", judge.NOTHING), at=judge.get_time_now(), got_at=None, evidence_sha256=None
    )
    assert Reading.model_validate({k: v for k, v in failed.items() if k not in ("kind", "at")}).displayed is None


def test_times_are_utc_with_microseconds() -> None:
    assert judge.format_timestamp(1_700_000_000.25) == "2023-11-14T22:13:20.250000Z"
