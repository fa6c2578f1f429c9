"""What is proven of answers of one shape is what each of them says by itself; whatever else there is, is left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penmark import cards
from penmark.cards import judge
from penmark.format import canonical_json
from penmark.records import Card
from penmark.stages.verify.check5_journals import same_shape

WORDS = cards.load_card(Path(__file__).parents[2] / "cards" / "worder.yaml")
COLUMNS = {
    "document": pl.String,
    "evidence_sha256": pl.String,
    "state": pl.String,
    "displayed": pl.String,
    "score": pl.String,
    "label": pl.String,
    "version": pl.String,
    "reason": pl.String,
    "origin": pl.String,
    "attested": pl.Boolean,
    "body": pl.Binary,
}


def card(**answer: Any) -> Card:
    told = WORDS.model_dump(mode="json") | {"answer": answer or {"score": "/p", "version": "/v"}}
    return Card.model_validate_json(json.dumps(told))


def row(by: Card, body: bytes, **other: Any) -> dict[str, Any]:
    """The reading that follows from a raw answer, but for ``other``."""
    judged = judge.judge_answer(by, body, "")
    found = judged.found._asdict()
    del found["text"]
    said = {"state": judged.state, "reason": judged.reason, "origin": "scan", "attested": False, "document": "d"}
    return found | said | {"evidence_sha256": canonical_json.sha256(body), "body": body} | other


def left(by: Card, *rows: dict[str, Any]) -> list[bytes]:
    """The raw answers that are not proven."""
    frame = pl.DataFrame(list(rows), schema=COLUMNS)
    rest = same_shape.Shapes(by).unproven(frame)
    assert rest.schema == frame.schema
    return rest["body"].to_list()


def bodies(*texts: str) -> list[bytes]:
    return [text.encode() for text in texts]


# --- what is proven -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "several",
    [
        bodies('{"p":0.50,"v":"a"}', '{"p":1,"v":""}', '{"p":-0.0e-7,"v":"ü 🙂"}', '{"p":12345678901234567890123,"v":"b"}'),
        bodies('{"v" : "a" ,\n"p":0.1, "of": [1, "x", null, {}]}', '{"v" : "b" ,\n"p":0.2, "of": [2, "\\n\\ud800", null, {}]}'),
        bodies('{"p":true,"v":"a"}', '{"p":false,"v":"a"}'),
        bodies('{"p":"AI","v":7}', '{"p":"","v":8}'),
        bodies('{"p":1,"v":null}', '{"p":2,"v":null}'),
        bodies('{"p":1,"v":[]}', '{"p":2,"v":[]}'),
        bodies('{"p":1}', '{"p":2}'),
    ],
)  # fmt: skip
def test_answers_of_one_shape_are_proven(several: list[bytes]) -> None:
    assert left(card(), *(row(card(), body) for body in several)) == []


def test_several_shapes_are_looked_for_and_kept() -> None:
    several = bodies('{"p":1}', '{"p":1,"v":"a"}', '{"p":"AI"}', '{"q":[1],"p":3}')
    known = same_shape.Shapes(card())
    for _ in range(3 * same_shape.MOST):
        frame = pl.DataFrame([row(card(), body) for body in several], schema=COLUMNS)
        assert known.unproven(frame).is_empty()


@pytest.mark.parametrize(
    "answer",
    [
        {"score": ""},
        {"score": "/0/a"},
        {"displayed": "/a~1b", "label": "/m~0n"},
        {"score": "/0", "unmeasured": [{"at": "/1", "among": ["short"], "because": "too short"}]},
    ],
)
def test_pointers_lead_where_they_lead_for_one_answer(answer: dict[str, Any]) -> None:
    by = card(**answer)
    for text in ("1", '[{"a":1}]', '{"0":{"a":2}}', '{"a/b":"x","m~n":"y"}', '[0.5,"long"]'):
        said = row(by, text.encode())
        assert left(by, said) == ([] if said["state"] == "answered" else [text.encode()])


# --- what is left ---------------------------------------------------------------------------------------------------

BEFORE = [row(card(), body) for body in bodies('{"p":0.25,"v":"a"}', '{"p":0.75,"v":"b"}')]


@pytest.mark.parametrize(
    "other",
    [
        {"displayed": "0.5"},
        {"displayed": None},
        {"score": "0.5"},
        {"score": None},
        {"label": "AI"},
        {"version": "b"},
        {"version": None},
        {"state": "declined"},
        {"reason": "a remark"},
        {"reason": ""},
        {"origin": "typed"},
        {"attested": True},
        {"evidence_sha256": "0" * 64},
    ],
)
def test_a_reading_that_says_anything_else_is_left(other: dict[str, Any]) -> None:
    body = b'{"p":0.50,"v":"a"}'
    assert left(card(), *BEFORE, row(card(), body)) == []
    assert left(card(), *BEFORE, row(card(), body, **other), *BEFORE) == [body]
    assert left(card(), row(card(), body, **other)) == [body]


@pytest.mark.parametrize(
    "text",
    [
        '{"p":0.50,"v":"a"',
        '{"p":0.50,"v":"a"}}',
        '{"p":0.50,"v":"a"} ',
        '{"p":0.50, "v":"a"}',
        '{"v":"a","p":0.50}',
        '{"p":0.50,"p":"a"}',
        '{"p":0.50,"v":"a","v":"b"}',
        '{"p":0.50,"v":"a\\u0062"}',
        '{"p":0.50,"v":"\\ud800"}',
        '{"p":0.50,"v":"a\tb"}',
        '{"p":0.50,"v":"a\x00b"}',
        '{"p":00.5,"v":"a"}',
        '{"p":+0.5,"v":"a"}',
        '{"p":.5,"v":"a"}',
        '{"p":1.,"v":"a"}',
        '{"p":1e,"v":"a"}',
        '{"p":٣,"v":"a"}',
        '{"p":NaN,"v":"a"}',
        '{"p":"0.5","v":"a"}',
        '{"p":null,"v":"a"}',
        '{"p":[0.5],"v":"a"}',
        '{"P":0.5,"v":"a"}',
        '{"p":0.50,"v":"a"}\n',
        '\ufeff{"p":0.50,"v":"a"}',
        "",
    ],
)
def test_an_answer_of_another_shape_is_no_part_of_this_one(text: str) -> None:
    """Whatever is claimed of it: that nothing is proven for it by the shape of the others."""
    claim = {"displayed": "0.50", "score": "0.50", "label": None, "version": "a", "state": "answered", "reason": None}
    one = row(card(), text.encode(), **claim)
    by_itself = judge.judge_answer(card(), text.encode(), "")
    true = (by_itself.state, by_itself.found[:4]) == ("answered", ("0.50", "0.50", None, "a"))
    proven = left(card(), *BEFORE, one) == []
    assert true or not proven


def test_bytes_that_are_no_text_are_left_and_the_others_are_proven() -> None:
    body = b'{"p":0.50,"v":"\xff"}'
    odd = BEFORE[0] | {"body": body, "evidence_sha256": canonical_json.sha256(body)}
    assert left(card(), *BEFORE, odd, *BEFORE) == left(card(), odd, *BEFORE) == [body]


def test_a_card_that_looks_in_very_many_places_has_no_shapes() -> None:
    signs = [{"at": f"/x/{n}", "among": ["yes"], "because": "no"} for n in range(same_shape.PLACES)]
    by = card(score="/p", unmeasured=signs)
    body = json.dumps({"p": 1, "x": ["no"] * same_shape.PLACES}).encode()
    assert left(by, row(by, body)) == [body]
    by = card(score="/p", unmeasured=signs[1:])
    assert left(by, row(by, body)) == []


def test_a_sign_that_nothing_was_measured_is_left() -> None:
    by = card(score="/p", unmeasured=[{"at": "/s", "among": ["short", "3"], "because": "too short"}])
    plain, signs = b'{"p":0.5,"s":"long"}', bodies('{"p":0.5,"s":"short"}', '{"p":0.5,"s":3}')
    claimed = row(by, plain)
    for body in signs:
        said = claimed | {"body": body, "evidence_sha256": canonical_json.sha256(body)}
        assert left(by, claimed, said) == [body]


def test_answers_that_echo_the_text_are_read_one_by_one() -> None:
    by = card(score="/p", text="/t")
    body = b'{"p":0.5,"t":""}'
    assert left(by, row(by, body)) == [body]


def test_shapes_beyond_the_most_and_long_answers_are_left() -> None:
    several = [f'{{"p":1,"k{number}":1}}'.encode() for number in range(same_shape.MOST + 3)]
    assert left(card(), *(row(card(), body) for body in several)) == several[same_shape.MOST :]
    long = b'{"p":1,"v":"%s"}' % (b"x" * same_shape.LONGEST)
    assert left(card(), row(card(), long)) == [long]


# --- against the one reader of answers --------------------------------------------------------------------------------

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["p", "v", "0", "a/b", ""]), inner),
    max_leaves=6,
)
POINTERS = st.sampled_from(["", "/p", "/v", "/0", "/p/0", "/p/p", "/0/v", "/a~1b", "/", "/v//p"])
EDITS = st.tuples(
    st.integers(0, 80), st.sampled_from(['"', "\\", "{", "]", ",", "1", "e", " ", "t", "\\u00e9", "-", ""])
)


@settings(max_examples=300, deadline=None)
@given(VALUES, POINTERS, POINTERS, st.lists(EDITS, max_size=6), st.booleans())
def test_nothing_is_proven_that_one_answer_by_itself_does_not_say(
    value: Any, score: str, version: str, edits: list[tuple[int, str]], ascii_only: bool
) -> None:
    by = card(score=score, version=version)
    text = json.dumps(value, ensure_ascii=ascii_only)
    texts = [text, *(text[: at % (len(text) + 1)] + new + text[at % (len(text) + 1) + 1 :] for at, new in edits)]
    several = [each.encode("utf-8", "surrogatepass") for each in texts]
    claims = [row(by, body) for body in several]
    rows = [
        claim | {"body": body, "evidence_sha256": canonical_json.sha256(body)} for body in several for claim in claims
    ]
    known = same_shape.Shapes(by)
    for start in range(0, len(rows), 3):
        some = pl.DataFrame(rows[start : start + 3], schema=COLUMNS)
        rest = set(known.unproven(some).iter_rows())
        for said in some.iter_rows(named=True):
            if tuple(said.values()) not in rest:
                assert {**said, "document": "d"} == row(by, said["body"])
                assert said["state"] == "answered"
