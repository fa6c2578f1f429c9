"""How the number of an answer becomes its score: confidence in the verdict, numerals of screens; both implementations."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.forgeries import both_verifiers

from penmark import cards
from penmark.errors import FaultsError
from penmark.records import Card

BASE: dict[str, Any] = {
    "name": "w",
    "title": "W",
    "vendor": "someone",
    "homepage": "https://example.org",
    "display": "document",
    "facts_as_of": "2026-11-30",
    "ask": {"by": "people"},
    "answer": {},
    "scale": {"meaning": "probability", "direction": "ai", "low": "0", "high": "1"},
    "verdicts": {"Real": "human", "Fake": "ai", "Both": "mixed"},
    "boundary": {"kind": "boundary", "operator": ">", "value": "0.5", "source": "", "date": "2026-11-30"},
    "terms": {"where": "", "results_may_be_published": "unclear"},
}
OF_LABEL = {"score": "/confidence", "label": "/label", "score_of": "label"}
STANDALONE = both_verifiers._load()


def made(**further: Any) -> Card:
    return Card.model_validate_json(json.dumps(BASE | further))


def judge(card: Card) -> Any:
    return STANDALONE.Judge(card.model_dump(mode="json", by_alias=True), None)


def both_read(card: Card, body: bytes) -> tuple[str | None, str | None, str | None]:
    """displayed, score and label of a raw answer, as both implementations have them."""
    found = cards.extract_answer(card, body)
    other = judge(card).extract(body)
    assert (found.displayed, found.score, found.label) == (other["displayed"], other["score"], other["label"])
    return found[:3]


def both_see(card: Card, shown: str) -> tuple[str | None, str | None]:
    """score and label of a display, as both implementations have them."""
    found, other = cards.extract_from_display(card, shown), judge(card).from_display(shown)
    assert (found.score, found.label) == (other["score"], other["label"])
    assert found.displayed == shown
    return found.score, found.label


@pytest.mark.parametrize(
    ("number", "label", "score"),
    [
        ("0.9", "Real", "0.1"),
        ("0.950", "Real", "0.050"),
        ("0.9", " real ", "0.1"),
        ("0.9", "Fake", "0.9"),
        ("1", "Real", "0"),
        ("1e-3", "Real", "0.999"),
        ("9.5E-1", "Fake", "9.5E-1"),
        ("1.5", "Real", "-0.5"),
        ("0.9", "Both", None),
        ("0.9", "Imaginary", None),
        ("NaN", "Real", "NaN"),
        ("1e-99999", "Real", None),
    ],
)
def test_a_confidence_in_the_verdict_is_read_together_with_it(number: str, label: str, score: str | None) -> None:
    card = made(answer=OF_LABEL)
    body = f'{{"label": {json.dumps(label)}, "confidence": {number}}}'.encode()
    assert both_read(card, body) == (number, score, label)
    percent = made(answer=OF_LABEL, scale=BASE["scale"] | {"high": "100"})
    assert both_read(percent, b'{"label": "Real", "confidence": 99.9}')[1] == "0.1"
    human = made(
        answer=OF_LABEL,
        scale=BASE["scale"] | {"direction": "human"},
        boundary=BASE["boundary"] | {"operator": "<"},
    )
    assert both_read(human, b'{"label": "Fake", "confidence": 0.9}')[1] == "0.1"


def test_a_number_on_a_screen_is_no_score_where_nobody_sees_its_verdict() -> None:
    assert both_see(made(answer=OF_LABEL), "0.9") == (None, "0.9")
    assert both_see(made(answer=OF_LABEL), "Real") == (None, "Real")


@given(st.decimals(0, 1, places=9), st.sampled_from(["Real", "Fake"]))
@settings(deadline=None)
def test_what_is_left_of_the_scale_is_exact(number: Decimal, label: str) -> None:
    card = made(answer=OF_LABEL)
    _, score, _ = both_read(card, f'{{"label": "{label}", "confidence": {number:f}}}'.encode())
    assert score is not None
    assert Decimal(score) == (number if label == "Fake" else 1 - number)


@pytest.mark.parametrize(
    ("further", "said"),
    [
        ({"answer": OF_LABEL | {"label": None}}, "needs the pointers"),
        ({"answer": OF_LABEL, "scale": {"meaning": "points", "direction": "ai"}}, "needs a scale with both ends"),
        ({"answer": OF_LABEL, "verdicts": {"Fake": "ai"}}, "needs verdicts of both kinds"),
    ],
)
def test_a_card_whose_number_cannot_be_read_with_its_verdict_is_refused(further: dict[str, Any], said: str) -> None:
    assert [remark.fact for remark in cards.check_card(made(**further)) if said in remark.fact]


def test_a_boundary_on_confidences_in_whichever_verdict_is_refused_where_people_write_it(tmp_path: Path) -> None:
    card = BASE | {
        "answer": {"score": "/confidence", "label": "/label"},
        "scale": BASE["scale"] | {"meaning": "confidence in label"},
    }
    (tmp_path / "w.yaml").write_text(json.dumps(card))
    with pytest.raises(FaultsError, match="means nothing"):
        cards.load_card(tmp_path / "w.yaml")
    card["answer"] = OF_LABEL
    (tmp_path / "w.yaml").write_text(json.dumps(card))
    assert cards.load_card(tmp_path / "w.yaml").answer.score_of == "label"


PERCENT = {"meaning": "share of text", "direction": "ai", "low": "0", "high": "100", "unit": "percent"}


@pytest.mark.parametrize(
    ("numerals", "shown", "score"),
    [
        ("comma", "12,5%", "12.5"),
        ("comma", "12,5\u00a0%", "12.5"),
        ("comma", "12,5\u202f%", "12.5"),
        ("comma", "%12,5", "12.5"),
        ("comma", "100%", "100"),
        ("comma", "12.5%", None),
        ("comma", "1,2,5%", None),
        ("comma", "12,5", None),
        ("comma", "١٢٫٥٪", "12.5"),
        ("point", "\u200f١٢٫٥\u200e٪", "12.5"),
        ("point", "९७%", "97"),
        ("point", "９７．５％", "97.5"),
        ("comma", "９７，５％", "97.5"),
        ("point", "97.5 %", "97.5"),
        ("point", "97,5%", None),
        ("point", "²%", None),
        ("point", "\u22125%", "-5"),
        (None, "12,5%", None),
        (None, "９７%", None),
        (None, "%12", None),
        (None, "12.5%", "12.5"),
    ],
)
def test_a_display_is_kept_and_its_number_follows_from_the_numerals_of_the_card(
    numerals: str | None, shown: str, score: str | None
) -> None:
    card = made(scale=PERCENT if numerals is None else PERCENT | {"numerals": numerals}, verdicts={})
    assert both_see(card, shown) == (score, None if score is not None else shown)


def test_numerals_hold_for_strings_of_raw_answers_too() -> None:
    scale = PERCENT | {"numerals": "comma"}
    card = made(scale=scale, answer={"score": "/share"}, boundary=BASE["boundary"] | {"value": "50"})
    assert both_read(card, b'{"share": "12,5 %"}') == ("12,5 %", "12.5", None)
    assert both_read(card, b'{"share": "12,5"}') == ("12,5", "12.5", None)
    assert both_read(card, b'{"share": 12.5}') == ("12.5", "12.5", None)
    assert both_read(card, b'{"share": "much"}') == ("much", "much", None)


def test_less_than_one_percent_is_a_verdict_that_stands_for_its_numbers() -> None:
    bands = [{"low": "0", "high": "1", "verdict": "human", "shown": "<1%"}]
    card = made(scale=PERCENT, verdicts={"<1%": "human"}, bands=bands, boundary=BASE["boundary"] | {"value": "20"})
    assert both_see(card, "<1%") == (None, "<1%")
    assert cards.call_answer(card, card.boundary, None, "<1%").strict == "not-ai"


@given(st.text("0123456789.,٫%٪％\u221212९７\u200f \u00a0eE", max_size=12), st.sampled_from([None, "point", "comma"]))
@settings(deadline=None, max_examples=300)
def test_both_implementations_read_the_same_of_any_display(shown: str, numerals: str | None) -> None:
    for unit in ("", "percent"):
        both_see(
            made(scale=PERCENT | {"unit": unit} | ({"numerals": numerals} if numerals else {}), verdicts={}), shown
        )
