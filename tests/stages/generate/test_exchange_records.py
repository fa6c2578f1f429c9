"""The record of a generated text, from the flat row of a source: what it holds, and what is wrong with a row."""

from __future__ import annotations

import json

import pytest

from penmark.corpus import provenance
from penmark.errors import FaultsError
from penmark.records import Generated

ROW = {"kind": "generated", "grade": "stated", "provider": "P", "model": "m"}
BEFORE = {"gates": ["cut off", "word limits"], "matched": "A-1", "topic": "rivers", "words": 7}


def test_what_was_rejected_before_and_not_honoured_stands_in_the_record():
    row = ROW | {
        "attempt": "2",
        "tokens_read": "0",
        "not_honoured": "seed; top_k",
        "rejected_before": json.dumps([BEFORE]),
    }
    made = provenance.parse_row(row, "row 1")
    assert isinstance(made, Generated)
    assert (made.attempt, made.tokens_read, made.tokens_written) == (2, 0, None)
    assert made.not_honoured == ("seed", "top_k")
    assert [one.model_dump(exclude_none=True, mode="json") for one in made.rejected_before] == [BEFORE]


def test_what_says_nothing_is_not_written():
    plain = provenance.parse_row(ROW, "row 1").model_dump(mode="json")
    assert not {"attempt", "answer_id", "tokens_read", "not_honoured", "rejected_before"} & set(plain)
    assert "finish_reason" in plain  # fields of the first release are always there


@pytest.mark.parametrize(
    "value",
    [
        "no JSON",
        "{}",
        '[{"gates": [], "matched": "A", "topic": "t"}]',
        '[{"gates": ["ugly"], "matched": "A", "topic": "t"}]',
    ],
)
def test_a_list_of_rejected_texts_that_is_none(value):
    with pytest.raises(FaultsError, match="row 1: rejected_before is not a JSON list of rejected texts"):
        provenance.parse_row(ROW | {"rejected_before": value}, "row 1")
