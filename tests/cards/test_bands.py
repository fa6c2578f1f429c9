"""Bands of a scale, verdicts that stand for numbers, and answers that hold nothing whatever stands in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penmark import cards, study
from penmark.errors import FaultsError, PenmarkError
from penmark.format import canonical_json
from penmark.records import Band, Card, Rule, SealedCard
from penmark.stages.score.call_columns import call_columns

HERE = Path(__file__).parent
PERCENT, WORDS = cards.load_card(HERE / "percenter.yaml"), cards.load_card(HERE / "worder.yaml")
TURNITIN, COPYLEAKS, SAPLING = (
    cards.load_card(cards.find_card(name, None)) for name in ("turnitin", "copyleaks", "sapling")
)
WINSTON = cards.load_card(cards.find_card("winston", None))


def rule(operator: str, value: str) -> Rule:
    return Rule(kind="boundary", operator=operator, value=value, source="s", date="2026-11-01")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("card", "score", "strict", "lenient", "uncertain"),
    [
        (WINSTON, "0", "ai", "ai", False),
        (WINSTON, "39.99", "ai", "ai", False),
        (WINSTON, "40", "not-ai", "not-ai", True),
        (WINSTON, "4e1", "not-ai", "not-ai", True),
        (WINSTON, "60.000", "not-ai", "not-ai", True),
        (WINSTON, "60.01", "not-ai", "not-ai", False),
        (SAPLING, "0.2", "not-ai", "not-ai", False),
        (SAPLING, "0.2000001", "not-ai", "not-ai", True),
        (SAPLING, "0.7999", "not-ai", "not-ai", True),
        (SAPLING, "0.8", "ai", "ai", False),
        (COPYLEAKS, "0", "not-ai", "not-ai", False),
        (COPYLEAKS, "-0.0", "not-ai", "not-ai", False),
        (COPYLEAKS, "1e-9", "not-ai", "ai", False),
        (COPYLEAKS, "0.5", "ai", "ai", False),
    ],
)
def test_a_score_without_a_verdict_has_the_class_of_its_band(
    card: Card, score: str, strict: str, lenient: str, uncertain: bool
) -> None:
    assert cards.call_answer(card, card.boundary, score, None) == cards.Call(strict, lenient, uncertain, None)


def test_a_verdict_comes_before_a_band() -> None:
    card = changed(WORDS, bands=(Band(low="0", high="1", verdict="mixed"),))
    assert cards.call_answer(card, rule("<=", "0.1"), "0.5", None).lenient == "ai"
    assert cards.call_answer(card, rule("<=", "0.1"), "0.5", "Human only").lenient == "not-ai"
    assert cards.call_answer(card, rule("<=", "0.1"), "0.5", "a verdict nobody knows").lenient == "not-ai"
    assert cards.call_answer(card, card.boundary, "0.5", None).reason == "no verdict in the answer"


INSIDE = "the boundary lies inside the numbers that the verdict stands for: *%"


@pytest.mark.parametrize(
    ("given_rule", "call"),
    [
        (TURNITIN.boundary, cards.Call("not-ai", "not-ai", True, None)),
        (rule(">", "19"), cards.Call("not-ai", "not-ai", True, None)),
        (rule(">=", "19"), cards.Call(None, None, False, INSIDE)),
        (rule(">=", "10"), cards.Call(None, None, False, INSIDE)),
        (rule(">", "1"), cards.Call(None, None, False, INSIDE)),
        (rule(">=", "1"), cards.Call("ai", "ai", False, None)),
        (rule(">=", "0.5"), cards.Call("ai", "ai", False, None)),
    ],
)
def test_an_asterisk_stands_for_numbers_and_is_none(given_rule: Rule, call: cards.Call) -> None:
    found = cards.extract_from_display(TURNITIN, " *% ")
    assert (found.displayed, found.score, found.label) == (" *% ", None, "*%")
    assert cards.call_answer(TURNITIN, given_rule, found.score, found.label) == call


@pytest.mark.parametrize(
    ("shown", "call"),
    [
        ("0%", ("not-ai", "not-ai", False)),
        ("20 %", ("ai", "ai", False)),
        ("100%", ("ai", "ai", False)),
        ("12%", ("not-ai", "not-ai", True)),
        ("--", (None, None, False)),
        ("!", (None, None, False)),
        ("15", (None, None, False)),
        ("101%", (None, None, False)),
    ],
)
def test_what_else_turnitin_shows(shown: str, call: tuple[str | None, str | None, bool]) -> None:
    found = cards.extract_from_display(TURNITIN, shown)
    assert cards.call_answer(TURNITIN, TURNITIN.boundary, found.score, found.label)[:3] == call


NUMBERS = st.from_regex(r"-?[0-9]{1,3}(\.[0-9]{1,3})?", fullmatch=True) | st.sampled_from(
    ["0.2", "0.8", "40", "60", "60.0000000000000001", "1e1", "x"]
)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.none() | NUMBERS, st.none() | st.sampled_from(["*%", "* %", "AI only", "Mixed"])),
        min_size=1,
        max_size=30,
    )
)
def test_calls_in_bulk_are_the_same_calls(answers: list[tuple[str | None, str | None]]) -> None:
    frame = pl.DataFrame(answers, schema={"score": pl.String, "label": pl.String}, orient="row")
    for card in (WINSTON, SAPLING, COPYLEAKS, TURNITIN, WORDS, PERCENT):
        for each in (card.boundary, rule("<=" if card.scale and card.scale.direction == "human" else ">=", "0.5")):
            assert call_columns(frame, card, each).rows() == [
                tuple(cards.call_answer(card, each, *answer)) for answer in answers
            ]


# --- answers that hold nothing -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "nothing"),
    [
        ('"FAILED"', True),
        ('"failed"', False),
        ('" FAILED"', False),
        ("0", True),
        ("0.0", False),
        ('"0"', True),
        ("false", True),
        ("null", False),
        ("[]", False),
    ],
)
def test_an_answer_that_says_so_holds_nothing(value: str, nothing: bool) -> None:
    row = {"at": "/state", "among": ("FAILED", "0", "false"), "because": "it failed"}
    card = changed(WORDS, answer={**WORDS.answer.model_dump(), "unmeasured": (row,)})
    document = '{"says": "Mixed", "human/score": 1, "text": "t"}'
    body = f'{{"state": {value}, "meta": {{"version": 3}}, "documents": [{document}]}}'.encode()
    held = cards.Extracted(None, None, None, "3", "t") if nothing else cards.Extracted("Mixed", "1", "Mixed", "3", "t")
    assert cards.extract_answer(card, body) == held
    assert cards.explain_unmeasured(card, body) == ("it failed" if nothing else None)


def test_pointers_can_be_looked_up_by_themselves() -> None:
    assert cards.look_up_pointers(b'{"a": [1.50, null], "b": {"c": "x"}}', "/a/0", "/a/1", "/b", "/b/c", "/z") == (
        "1.50",
        None,
        None,
        "x",
        None,
    )
    with pytest.raises(PenmarkError, match="is not JSON"):
        cards.look_up_pointers(b"<html>", "/a")


# --- cards as they are written -------------------------------------------------------------------------------------


def changed(card: Card, **values: Any) -> Card:
    return Card.model_validate(card.model_dump() | values)


@pytest.mark.parametrize(
    ("bands", "fact"),
    [
        ("[{low: 60, high: 40, verdict: uncertain}]", "60 is above 40"),
        ("[{low: 40, high: 101, verdict: uncertain}]", "lies outside the scale"),
        ("[{low: 10, high: 20, verdict: ai}]", "'ai' is not possible here"),
        ("[{low: 10, high: 20, verdict: mixed}]", "neither mixed nor assisted"),
        (
            "[{low: 30, high: 40, verdict: uncertain}, {low: 10, high: 100, verdict: mixed}]",
            "neither mixed nor assisted",
        ),
        ('[{low: 1, high: 19, verdict: human, shown: "* %"}]', "is not human in `verdicts`"),
        ("[{low: 1, high: 19, verdict: human, shown: none}]", "is not human in"),
        ("[{low: one, high: 19, verdict: human}]", "is not a decimal number"),
    ],
)
def test_bands_that_make_no_sense(tmp_path: Path, bands: str, fact: str) -> None:
    path = tmp_path / "percenter.yaml"
    path.write_text((HERE / "percenter.yaml").read_text() + f"bands: {bands}\n")
    with pytest.raises(FaultsError) as caught:
        cards.load_card(path)
    (fault,) = caught.value.faults
    assert fact in fault.fact
    assert (fault.place or "").startswith(f"{path}:14")


@pytest.mark.parametrize(
    "bands",
    [
        "[{low: 10, high: 100, verdict: mixed}]",
        "[{low: 0, high: 10, verdict: human}, {low: 5, high: 100, verdict: assisted}]",
        "[]",
        '[{low: 1, high: 19, verdict: uncertain, shown: "*  %"}]',
    ],
)
def test_bands_that_do(tmp_path: Path, bands: str) -> None:
    path = tmp_path / "percenter.yaml"
    path.write_text((HERE / "percenter.yaml").read_text() + f"bands: {bands}\n")
    assert cards.load_card(path).boundary.value == "65"


def test_a_mark_points_at_something(tmp_path: Path) -> None:
    path = tmp_path / "percenter.yaml"
    path.write_text(
        (HERE / "percenter.yaml").read_text()
        + "confidence: {/scale/low: seen, /scale/lowest: guess, /limits/minimum_words: guess}\n"
    )
    with pytest.raises(FaultsError) as caught:
        cards.load_card(path)
    assert [fault.fact.partition(":")[0] for fault in caught.value.faults] == [
        "confidence./scale/lowest",
        "confidence./limits/minimum_words",
    ]


def test_a_card_that_says_nothing_of_all_this_is_sealed_as_before(tmp_path: Path) -> None:
    whole = cards.encode_card(SealedCard(card=WORDS, plugin=None))
    value = canonical_json.decode_json(whole, place="here")["card"]
    assert not {"bands", "confidence"} & set(value)
    assert "request" not in value["ask"]
    assert "unmeasured" not in value["answer"]
    assert set(value["limits"]) == {
        "minimum_words",
        "maximum_words",
        "minimum_characters",
        "maximum_characters",
        "languages",
    }
    edition = study.Edition(tmp_path)
    for name in ("pangram", "turnitin", "copyleaks"):
        sealed = SealedCard(card=cards.load_card(cards.find_card(name, None)), plugin=None)
        study.write_bytes(edition.sealed_card(name), cards.encode_card(sealed))
        assert cards.read_sealed_card(edition, name) == sealed
