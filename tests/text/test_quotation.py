"""How a raw answer quotes its text."""

from __future__ import annotations

import json

import pytest

from penmark.text.quotation import describe_remarks, remark_on_quotation

TEXT = "The ferry leaves at nine , and nobody waits for those who are late.\n" * 9
HALF = TEXT[:300]


def _said(value: object, text: str = TEXT, echo: str | None = None) -> str | None:
    return remark_on_quotation(json.dumps(value).encode(), text, echo)


@pytest.mark.parametrize(
    "value",
    [
        {"score": 0.5},
        {"text": TEXT, "score": 0.5},
        {"text": "something else that is as long as it likes " * 20},
        {"blocks": [{"text": HALF}, {"text": TEXT[300:]}], "content": TEXT},
        {"sentences": [{"sentence": line} for line in TEXT.split("\n")], "text": TEXT},
        {"text": TEXT[:100]},
        [],
        None,
    ],
)
def test_nothing_to_tell(value: object) -> None:
    assert _said(value) is None


def test_repeated() -> None:
    folded = " ".join(TEXT.split())
    assert _said({"a": {"content": f"{folded} {folded}"}}) == "the answer quotes the text 2 times"
    assert _said([{"content": TEXT * 3}, {"content": TEXT * 2}]) == "the answer quotes the text 3 times"


def test_only_the_beginning() -> None:
    assert _said({"text": HALF}) == f"the answer quotes only the first 300 of {len(TEXT)} characters"
    lost = HALF.replace(" ,", ",")
    assert _said({"text": lost}) == f"the answer quotes only the first 300 of {len(TEXT)} characters"
    assert _said({"text": HALF, "sentences": [{"text": HALF[:250]}]}) == _said({"text": HALF})


def test_blocks_are_joined_before_they_are_compared() -> None:
    """The first block, or sentence, of an answer is not a text that was cut."""
    assert _said({"blocks": [{"text": HALF, "p": 1}, {"text": TEXT[300:], "p": 0}]}) is None
    first, second, third = TEXT[:250], TEXT[250:300], TEXT[300:400]
    blocks = [{"sentence": first}, {"sentence": second}, {"sentence": third}]
    assert _said({"parts": blocks}) == f"the answer quotes only the first 400 of {len(TEXT)} characters"


def test_other_white_space() -> None:
    assert _said({"text": TEXT.strip()}) == "the answer quotes the text with other white space"
    assert _said({"text": TEXT.replace(" ,", ",")}) == "the answer quotes the text with other white space"


def test_another_form() -> None:
    form = "the answer quotes another form of the text"
    assert _said({"text": TEXT.replace("late", "early")}) == form
    assert _said({"text": TEXT + HALF}) == form
    assert _said({"text": TEXT.replace("late", "early"), "sent": TEXT}) is None
    assert _said({"text": TEXT[:100].replace("late", "early")}) is None


def test_the_text_that_was_given_is_compared_elsewhere() -> None:
    cut = {"document": TEXT, "result": {"text": HALF}, "a/b~c": TEXT * 2}
    assert _said(cut, echo="/document") == "the answer quotes the text 2 times"
    assert _said(cut, echo="/a~1b~0c") is None
    del cut["a/b~c"]
    assert _said(cut, echo="/document") == f"the answer quotes only the first 300 of {len(TEXT)} characters"


def test_short_texts_stand_in_answers_by_chance() -> None:
    assert _said({"label": "haha"}, text="ha") is None
    assert _said({"label": "", "text": ""}, text="") is None
    assert _said({"text": "a cup of tea and toast a cup of tea and toast"}, text="a cup of tea and toast") is None
    assert _said({"text": "a cup of tea and toast " * 3}, text="a cup of tea and toast") is not None


def test_numbers_that_json_forbids() -> None:
    forbidden = "the answer holds NaN or Infinity (not JSON)"
    assert remark_on_quotation(b'{"score": 0.5, "parts": [NaN]}', TEXT, None) == forbidden
    both = b'{"score": NaN, "text": ' + json.dumps(HALF).encode() + b"}"
    cut = f"the answer quotes only the first 300 of {len(TEXT)} characters"
    assert remark_on_quotation(both, TEXT, None) == f"{cut}; {forbidden}"


@pytest.mark.parametrize("body", [b"", b"no json", b"\xff", b"[" * 100_000])
def test_what_cannot_be_read_quotes_nothing(body: bytes) -> None:
    assert remark_on_quotation(body, TEXT, None) is None


def test_remarks_are_counted_by_kind() -> None:
    cut, twice = "the answer quotes only the first {} of {} characters", "the answer quotes the text 2 times"
    forbidden = "the answer holds NaN or Infinity (not JSON)"
    remarks = [cut.format(300, 400), f"{cut.format(200, 600)}; {forbidden}", twice, twice, "a person wrote this"]
    assert describe_remarks(remarks, 9) == [
        "a person wrote this in 1 of 9 answers",
        "holds NaN or Infinity (not JSON) in 1 of 9 answers",
        "quotes only the beginning of the text in 2 of 9 answers, 50 % of their characters",
        "quotes the text 2 times in 2 of 9 answers",
    ]
    assert describe_remarks([], 9) == []
