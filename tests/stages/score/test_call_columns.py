"""Calls in bulk are the calls of ``cards.call_answer``, one by one."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.judged_study import card

from penmark import cards
from penmark.records import Card, Rule
from penmark.stages.score.call_columns import call_columns

VERDICTS = {"AI": "ai", "Human": "human", "Mixed": "mixed", "Edited": "assisted", "Unsure": "uncertain"}
SCALES: list[dict[str, Any]] = [
    {"meaning": "probability", "direction": "ai", "low": "0", "high": "1"},
    {"meaning": "probability", "direction": "human", "low": "0", "high": "100", "unit": "percent"},
    {"meaning": "distance", "direction": "ai"},
    {"meaning": "points", "direction": "ai", "low": "-1e3"},
    {"meaning": "length", "direction": "human", "high": "0.39934855699539185"},
]
NEAR = [
    *(
        "0",
        "-0",
        "0.0",
        "0.5",
        "0.50",
        "0.500000000000000000001",
        "0.49999999999999999999",
        "5e-1",
        "1",
        "1.0",
        "1.00000001",
    ),
    *(
        "100",
        "100.0000000000000000001",
        "1e2",
        "-1000",
        "-1000.0000001",
        "0.39934855699539185",
        "0.399348556995391850001",
    ),
    *("0.3993485569953919", "1e-400", "-1e-400", "1e99999999", "-1e999999999999", "9" * 40, "0." + "1" * 60),
    *(
        "NaN",
        "inf",
        "-inf",
        "",
        " 0.5",
        "0.5 ",
        "+0.5",
        ".5",
        "5.",
        "0x1",
        "1_0",
        "٠",
        "<1%",
        "0.5%",
        "true",
        "1e",
        "1e1.5",
    ),
]
BOUNDARIES = ["0.5", "0", "-0.000", "50", "1e-400", "0.39934855699539185", "0.5000000000000000000000000000001", "1e300"]


def single(answers: pl.DataFrame, held: Card, rule: Rule) -> list[tuple[Any, ...]]:
    return [tuple(cards.call_answer(held, rule, score, label)) for score, label in answers.iter_rows()]


@st.composite
def cases(draw: st.DrawFn) -> tuple[pl.DataFrame, Card, Rule]:
    scale = draw(st.sampled_from(SCALES))
    operator = draw(st.sampled_from([">", ">="] if scale["direction"] == "ai" else ["<", "<="]))
    rule = Rule(
        kind="boundary", operator=operator, value=draw(st.sampled_from(BOUNDARIES)), source="s", date="2026-01-01"
    )
    held = card("x", operator=operator, value="1", scale=scale, verdicts=draw(st.sampled_from([{}, VERDICTS])))
    if held.verdicts and draw(st.integers(0, 2)) == 0:
        rule = Rule(kind="verdict", source="s", date="2026-01-01")
    numbers = st.one_of(
        st.sampled_from(NEAR),
        st.decimals(-2000, 2000, places=draw(st.integers(0, 25))).map(lambda d: f"{d:f}"),
        st.floats(allow_nan=True).map(repr),
        st.text(max_size=3),
        st.none(),
    )
    labels = st.sampled_from([None, None, "AI", " ai ", "HUMAN", "mixed", "edited", "unsure", "Likely AI", ""])
    rows = draw(st.lists(st.tuples(numbers, labels), max_size=60))
    return pl.DataFrame(rows, schema={"score": pl.String, "label": pl.String}, orient="row"), held, rule


@settings(max_examples=100, deadline=None)
@given(cases())
def test_bulk_is_single(case: tuple[pl.DataFrame, Card, Rule]) -> None:
    answers, held, rule = case
    found = call_columns(answers, held, rule)
    assert found.columns == ["call", "call_lenient", "uncertain", "why_not"]
    assert found.rows() == single(answers, held, rule)


@pytest.mark.parametrize("operator", [">", ">="])
@pytest.mark.parametrize("value", BOUNDARIES)
def test_every_awkward_score_at_every_awkward_boundary(operator: str, value: str) -> None:
    for scale in SCALES:
        turned = operator if scale["direction"] == "ai" else operator.replace(">", "<")
        held = card("x", operator=turned, value="1", scale=scale, verdicts=VERDICTS)
        rule = Rule(kind="boundary", operator=turned, value=value, source="s", date="2026-01-01")
        answers = pl.DataFrame(
            {"score": NEAR * 2, "label": [None] * len(NEAR) + ["unsure"] * len(NEAR)},
            schema_overrides={"label": pl.String},
        )
        assert call_columns(answers, held, rule).rows() == single(answers, held, rule)


def test_few_questions_are_asked_of_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str | None] = []
    real = cards.call_answer
    monkeypatch.setattr(
        cards, "call_answer", lambda c, r, score, label: (asked.append(score), real(c, r, score, label))[1]
    )
    answers = pl.DataFrame(
        {"score": [f"0.{n:05d}" for n in range(100_000)], "label": [None] * 100_000},
        schema_overrides={"label": pl.String},
    )
    held = card("x")
    found = call_columns(answers, held, held.boundary)
    assert found["call"].to_list() == ["not-ai"] * 50_000 + ["ai"] * 50_000
    assert len(asked) == 4  # below and above the boundary, at it, and at the end of the scale
