"""Cards: what stands in an answer, and what it means (docs/format.md, 4)."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penmark import cards, study
from penmark.cards.extraction import MAX_DEPTH
from penmark.errors import FaultsError, PenmarkError, UsageError
from penmark.format import canonical_json
from penmark.records import Attested, Card, Consent, Detector, Document, Rule, SealedCard

HERE = Path(__file__).parent
PERCENT = cards.load_card(HERE / "percenter.yaml")
WORDS = cards.load_card(HERE / "worder.yaml")
BOUNDARY = Rule(kind="boundary", operator="<=", value="0.4", source="s", date="2026-11-01")
ANSWER = b'{"meta": {"version": "3.0"}, "documents": [{"says": "Mixed", "human/score": 0.50, "text": "caf\\u00e9"}]}'


def changed(card: Card, **values: Any) -> Card:
    return Card.model_validate(card.model_dump() | values)


# --- extraction ----------------------------------------------------------------------------------------------------


def test_pointers_find_the_exact_characters() -> None:
    assert cards.extract_answer(WORDS, ANSWER) == cards.Extracted("Mixed", "0.50", "Mixed", "3.0", "café")


@pytest.mark.parametrize(
    "digits", ["0", "-0", "0.50", "1e5", "1E+05", "-0.0e-0", "1234567890123456789012345678901234567890", "3" * 9000]
)
def test_a_number_keeps_its_digits(digits: str) -> None:
    body = f'{{"documents": [{{"human/score": {digits}}}]}}'.encode()
    found = cards.extract_answer(WORDS, body)
    assert found.score == found.displayed == digits
    assert type(found.score) is str


@settings(max_examples=60, deadline=None)
@given(st.decimals(allow_nan=False, allow_infinity=False), st.sampled_from(["%s", "[%s]", '{"a": %s}']))
def test_a_json_number_anywhere_comes_out_as_it_stands(number: Decimal, around: str) -> None:
    digits = str(number).replace("E", "e")
    pointer = {"%s": "", "[%s]": "/0", '{"a": %s}': "/a"}[around]
    card = changed(WORDS, answer={"score": pointer})
    assert cards.extract_answer(card, (around % digits).encode()).score == digits


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ('"0.5"', "0.5"),
        ("true", "true"),
        ("false", "false"),
        ("null", None),
        ("{}", None),
        ("[1]", None),
        ('""', ""),
        ("NaN", "NaN"),
        ("-Infinity", "-Infinity"),
    ],
)
def test_what_is_not_a_number_or_a_string(value: str, found: str | None) -> None:
    card = changed(WORDS, answer={"score": "/a"})
    assert cards.extract_answer(card, f'{{"a": {value}}}'.encode()).score == found


@pytest.mark.parametrize(
    ("pointer", "found"),
    [
        ("/a~1b", "1"),
        ("/m~0n", "2"),
        ("/~01", "3"),
        ("/list/1", "5"),
        ("/list/01", None),
        ("/list/-", None),
        ("/list/2", None),
        ("/list/١", None),
        ("/", "6"),
        ("/missing", None),
        ("/list/0/deep", None),
        ("/0", "7"),
        ("/list/99999999999999999999", None),
    ],
)
def test_rfc_6901(pointer: str, found: str | None) -> None:
    body = b'{"a/b": 1, "m~n": 2, "~1": 3, "list": [4, 5], "": 6, "0": 7}'
    assert cards.extract_answer(changed(WORDS, answer={"label": pointer}), body).label == found


def test_displayed_falls_back_to_the_score_then_to_the_label() -> None:
    both = changed(WORDS, answer={"displayed": "/d", "score": "/s", "label": "/l"})
    assert cards.extract_answer(both, b'{"s": 0, "l": "x"}').displayed == "0"
    assert cards.extract_answer(both, b'{"d": null, "l": "x"}').displayed == "x"
    assert cards.extract_answer(both, b"{}") == cards.Extracted(None, None, None, None, None)


@pytest.mark.parametrize(
    ("body", "fact"),
    [
        (b"", "is not JSON"),
        (b"<html>", "is not JSON"),
        (b"{} {}", "is not JSON"),
        (b"01", "is not JSON"),
        (b"\xff{}", "is not UTF-8"),
        ("{}".encode("utf-16"), "is not UTF-8"),
        (b"\xef\xbb\xbf{}", "is not JSON"),
        (b'{"a": 1, "a": 2}', "a key twice"),
        (b'{"documents": [{"b": 1, "b": 1}]}', "a key twice"),
        (b'{"documents": [{"says": "\\ud800"}]}', "surrogate"),
        (b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), "nests deeper"),
        (b"[" * 200_000, "nests deeper"),
        (b'{"a":' * 200_000, "nests deeper"),
    ],
)
def test_an_answer_that_two_readers_could_read_differently_is_refused(body: bytes, fact: str) -> None:
    with pytest.raises(PenmarkError, match=fact):
        cards.extract_answer(WORDS, body)


def test_nesting_up_to_the_limit_is_read_and_brackets_in_strings_do_not_count() -> None:
    card = changed(WORDS, answer={"label": "/0"})
    assert cards.extract_answer(card, b"[" * MAX_DEPTH + b"]" * MAX_DEPTH).label is None
    assert cards.extract_answer(card, json.dumps(["[" * 500]).encode()).label == "[" * 500


@pytest.mark.parametrize(
    ("displayed", "score", "label"),
    [
        ("65 %", "65", None),
        ("65%", "65", None),
        (" 65.50\u202f% ", "65.50", None),
        ("-12 %", "-12", None),
        ("* %", None, "* %"),
        ("65", None, "65"),
        ("LIKELY  ai", None, "LIKELY  ai"),
        ("no result", None, "no result"),
        ("٦٥ %", None, "٦٥ %"),
        ("", None, ""),
    ],
)
def test_what_somebody_copied_from_a_screen(displayed: str, score: str | None, label: str | None) -> None:
    assert cards.extract_from_display(PERCENT, displayed) == cards.Extracted(displayed, score, label, None, None)


def test_a_bare_number_is_a_score_where_the_scale_has_no_sign() -> None:
    assert cards.extract_from_display(WORDS, "0.50") == cards.Extracted("0.50", "0.50", None, None, None)


# --- calls ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "strict", "lenient", "uncertain"),
    [
        ("AI only", "ai", "ai", False),
        (" ai\u00a0\n ONLY ", "ai", "ai", False),
        ("Mixed", "not-ai", "ai", False),
        ("Polished", "not-ai", "ai", False),
        ("Human only", "not-ai", "not-ai", False),
        ("Unclear", "not-ai", "not-ai", True),
    ],
)
def test_a_verdict_rule(label: str, strict: str, lenient: str, uncertain: bool) -> None:
    assert cards.call_answer(WORDS, WORDS.boundary, None, label) == cards.Call(strict, lenient, uncertain, None)


@pytest.mark.parametrize(
    ("score", "label", "strict", "lenient", "uncertain"),
    [
        ("65", None, "ai", "ai", False),
        ("64.999999999999999999999999", None, "not-ai", "not-ai", False),
        ("6.5e1", None, "ai", "ai", False),
        ("0", "* %", "not-ai", "not-ai", True),
        ("100", "* %", "ai", "ai", False),
        ("3", "a verdict nobody knows", "not-ai", "not-ai", False),
        ("-0", None, "not-ai", "not-ai", False),
        ("0e99999999999999999999999", None, "not-ai", "not-ai", False),
        ("3", "Likely AI", "not-ai", "not-ai", False),
        ("1e-99999999999999999999999", None, "not-ai", "not-ai", False),
    ],
)
def test_a_boundary_rule(score: str, label: str | None, strict: str, lenient: str, uncertain: bool) -> None:
    assert cards.call_answer(PERCENT, PERCENT.boundary, score, label) == cards.Call(strict, lenient, uncertain, None)


def test_mixed_and_assisted_classes_count_leniently_beside_a_boundary() -> None:
    assert cards.call_answer(WORDS, BOUNDARY, "0.9", "Mixed") == cards.Call("not-ai", "ai", False, None)
    assert cards.call_answer(WORDS, BOUNDARY, "0.4", "Human only") == cards.Call("ai", "ai", False, None)


@pytest.mark.parametrize(
    ("card", "rule", "score", "label", "reason"),
    [
        (WORDS, WORDS.boundary, "0.1", None, "no verdict in the answer"),
        (WORDS, WORDS.boundary, "0.1", "Cyborg", "verdict not in the card: Cyborg"),
        (WORDS, BOUNDARY, None, "Cyborg", "verdict not in the card: Cyborg"),
        (WORDS, BOUNDARY, None, "Mixed", "no score in the answer"),
        (WORDS, BOUNDARY, None, None, "no score in the answer"),
        (WORDS, BOUNDARY, "1.01", None, "score outside the declared scale: 1.01"),
        (WORDS, BOUNDARY, "-1e-400", None, "score outside the declared scale: -1e-400"),
        (
            PERCENT,
            PERCENT.boundary,
            "1e999999999999999999999999",
            None,
            "score outside the declared scale: 1e999999999999999999999999",
        ),
        (PERCENT, PERCENT.boundary, "NaN", None, "score is not a decimal number: NaN"),
        (PERCENT, PERCENT.boundary, " 65", None, "score is not a decimal number:  65"),
        (PERCENT, PERCENT.boundary, "65\n", None, "score is not a decimal number: 65\n"),
        (PERCENT, PERCENT.boundary, "٦٥", None, "score is not a decimal number: ٦٥"),
        (PERCENT, PERCENT.boundary, "1_0", None, "score is not a decimal number: 1_0"),
        (PERCENT, PERCENT.boundary, "", None, "score is not a decimal number: "),
    ],
)
def test_no_call_has_a_reason(card: Card, rule: Rule, score: str | None, label: str | None, reason: str) -> None:
    assert cards.call_answer(card, rule, score, label) == cards.Call(None, None, False, reason)


CARDS = [(PERCENT, PERCENT.boundary), (WORDS, WORDS.boundary), (WORDS, BOUNDARY)]
NUMBERS = st.from_regex(r"-?[0-9]{1,4}(\.[0-9]{1,6})?([eE][+-]?[0-9]{1,12})?", fullmatch=True)
SCORES = st.none() | st.text(max_size=6) | NUMBERS
LABELS = st.none() | st.text(max_size=6) | st.sampled_from([*WORDS.verdicts, *PERCENT.verdicts])


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(CARDS), SCORES, LABELS)
def test_the_rule_is_total(which: tuple[Card, Rule], score: str | None, label: str | None) -> None:
    made = cards.call_answer(*which, score, label)
    if made.reason is None:
        assert made.strict in ("ai", "not-ai")
        assert made.lenient == "ai" if made.strict == "ai" else made.lenient in ("ai", "not-ai")
        assert not (made.uncertain and made.strict == "ai")
    else:
        assert (made.strict, made.lenient, made.uncertain) == (None, None, False)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(["ai", "human"]), st.sampled_from(["loose", "tight"]), NUMBERS, NUMBERS, LABELS)
def test_raising_the_number_that_speaks_for_ai_never_takes_a_flag_back(
    direction: str, kind: str, one: str, other: str, label: str | None
) -> None:
    operator = {("ai", "loose"): ">=", ("ai", "tight"): ">", ("human", "loose"): "<=", ("human", "tight"): "<"}[
        direction, kind
    ]
    card = changed(WORDS, scale={"meaning": "points", "direction": direction})
    rule = Rule(kind="boundary", operator=operator, value="12.5", source="s", date="2026-11-01")  # type: ignore[arg-type]
    low, high = sorted((one, other), key=cards.parse_decimal)
    less, more = (low, high) if direction == "ai" else (high, low)
    if cards.call_answer(card, rule, less, label).strict == "ai":
        assert cards.call_answer(card, rule, more, label).strict == "ai"


# --- cards as files ------------------------------------------------------------------------------------------------


def test_scalars_are_words_until_the_record_types_them() -> None:
    assert PERCENT.terms.results_may_be_published == "no"
    assert PERCENT.boundary.value == "65"
    assert WORDS.limits.minimum_words == 50
    assert WORDS.limits.languages == ("en", "fr")
    assert PERCENT.verdicts["* %"] == "uncertain"


def test_every_card_that_ships_is_whole() -> None:
    paths = sorted(cards.SHIPPED.glob("*.yaml"))
    assert {path.stem for path in paths} >= {"zippy", "uncanny", "aifingerprint"}
    assert [cards.load_card(path).name for path in paths] == [path.stem for path in paths]


def test_all_faults_of_a_card_come_at_once_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "percenter.yaml"
    text = (HERE / "percenter.yaml").read_text()
    text = text.replace("vendor: Example", "vendr: Example").replace("2026-11-01}\ndisplay", "2026-11-31}\ndisplay")
    path.write_text(
        text.replace("display: both", "display: document and sentence").replace("ask: {by: people}", "ask: {by: phone}")
    )
    with pytest.raises(FaultsError) as caught:
        cards.load_card(path)
    assert [(fault.place, fault.fact) for fault in caught.value.faults] == [
        (f"{path}:2", "vendor: is missing"),
        (f"{path}:4", "vendr: unknown key (did you mean vendor?)"),
        (f"{path}:6", "ask.by: 'phone' is not possible here"),
        (f"{path}:10", "boundary.date: '2026-11-31' is not on the calendar"),
        (f"{path}:11", "display: 'document and sentence' is not possible here"),
    ]


@pytest.mark.parametrize(
    ("before", "after", "line", "fact"),
    [
        ("name: percenter", "name: other", 2, "'other' in a file named percenter.yaml"),
        ("value: 65", "value: 650", 10, "650 lies outside the scale, 0 to 100"),
        ("low: 0,", "low: 100,", 8, "100 is not below the high end, 100"),
        ("Likely AI: ai", '"*  %": ai', 9, "reads the same as '* %'"),
        ('operator: ">="', 'operator: "<"', 2, "on this scale a higher number means ai"),
        ("value: 65", "value: sixty", 10, "'sixty' is not a decimal number"),
    ],
)
def test_a_card_that_contradicts_itself(tmp_path: Path, before: str, after: str, line: int, fact: str) -> None:
    path = tmp_path / "percenter.yaml"
    path.write_text((HERE / "percenter.yaml").read_text().replace(before, after))
    with pytest.raises(FaultsError) as caught:
        cards.load_card(path)
    (fault,) = caught.value.faults
    assert fact in fault.fact
    assert fault.place == f"{path}:{line}"


def test_find_prefers_the_study_and_guesses_names(tmp_path: Path) -> None:
    assert cards.find_card("zippy", None) == cards.SHIPPED / "zippy.yaml"
    (tmp_path / "zippy.yaml").write_text("name: zippy\n")
    assert cards.find_card("zippy", tmp_path) == tmp_path / "zippy.yaml"
    with pytest.raises(UsageError, match="did you mean uncanny"):
        cards.find_card("uncany", tmp_path)
    for odd in ("../zippy", "/etc/passwd", "", "Zippy\n"):
        with pytest.raises(UsageError, match="there is no card"):
            cards.find_card(odd, tmp_path)


def test_sealed_cards_are_whole_and_canonical(tmp_path: Path) -> None:
    edition = study.Edition(tmp_path)
    whole = SealedCard(card=WORDS, plugin=None)
    study.write_bytes(edition.sealed_card("d"), cards.encode_card(whole))
    assert cards.read_sealed_card(edition, "d") == whole
    value = json.loads(cards.encode_card(whole))
    for spoil, fact in (
        (lambda v: v["card"].pop("notes"), "leaves fields out"),
        (lambda v: v["card"].update(extra=1), "extra"),
        (lambda v: v["card"]["verdicts"].update({"ai  only": "human"}), "reads the same"),
        (lambda v: v["card"].update(boundary=BOUNDARY.model_dump() | {"value": "7"}), "outside the scale"),
    ):
        other = json.loads(json.dumps(value))
        spoil(other)
        study.write_bytes(edition.sealed_card("d"), canonical_json.encode_json(other))
        with pytest.raises(PenmarkError, match=fact):
            cards.read_sealed_card(edition, "d")
    study.write_bytes(edition.sealed_card("d"), json.dumps(value).encode())
    with pytest.raises(PenmarkError, match="canonical"):
        cards.read_sealed_card(edition, "d")


def test_the_rule_in_force() -> None:
    given = {"name": "d", "card": "worder", "surface": "api", "tier": "t", "payer": "p", "relation": "none"}
    assert cards.choose_rule(Detector.model_validate(given), WORDS) == WORDS.boundary
    assert cards.choose_rule(Detector.model_validate(given | {"rule": BOUNDARY}), WORDS) == BOUNDARY
    wrong = BOUNDARY.model_copy(update={"operator": ">"})
    with pytest.raises(PenmarkError, match="a higher number means human"):
        cards.choose_rule(Detector.model_validate(given | {"rule": wrong}), WORDS)
    beyond = BOUNDARY.model_copy(update={"value": "40"})
    with pytest.raises(PenmarkError, match="outside the scale"):
        cards.choose_rule(Detector.model_validate(given | {"rule": beyond}), WORDS)


def _document(
    words: int | None = 100,
    characters: int | None = 500,
    language: str | None = "en",
    vendors: tuple[str, ...] | None = None,
) -> Document:
    if vendors is None:
        provenance: Any = {"kind": "generated", "grade": "stated", "provider": "P", "model": "M"}
    else:
        provenance = Attested(
            grade="stated",
            attestation="a",
            attestation_sha256="0" * 64,
            written_on="2026-11-01",
            adult=True,
            consent=Consent(publish=True, vendors=vendors),
            review="r",
        )
    return Document(
        id="d",
        arm="A",
        address="0" * 64,
        canonical_sha256=None,
        words=words,
        characters=characters,
        language=language,
        provenance=provenance,
    )


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (_document(), None),
        (_document(words=50), None),
        (_document(words=49), "49 words, fewer than 50"),
        (_document(words=None), None),
        (_document(characters=1001), "1001 characters, more than 1000"),
        (_document(characters=1000), None),
        (_document(language="de"), "language de, not en or fr"),
        (_document(language=None), None),
        (_document(vendors=("*",)), None),
        (_document(vendors=("worder",)), None),
        (_document(vendors=("Example Words",)), None),
        (_document(vendors=("other",)), "no consent for Example Words"),
        (_document(vendors=()), "no consent for Example Words"),
    ],
)
def test_which_documents_cannot_be_scanned(document: Document, reason: str | None) -> None:
    assert cards.explain_not_scannable(WORDS, document) == reason
