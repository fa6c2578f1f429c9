"""Every vendor's card against its double: what is said, and what follows from everything that goes wrong."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.shipped.detectors.vendor_rehearsal import TEXT, outcome, rehearsal, shipped

from penmark import cards
from penmark.plugins import Answer, UnansweredError
from penmark.records import Card
from penmark.testing.doubles import VENDORS, Behaviour
from penmark.testing.doubles.misbehaviour import Kind

HUMAN, AI, MIXED, UNCERTAIN = (
    ("not-ai", "not-ai", False),
    ("ai", "ai", False),
    ("not-ai", "ai", False),
    ("not-ai", "not-ai", True),
)
HTTP = sorted(path.stem for path in cards.SHIPPED.glob("*.yaml") if cards.load_card(path).ask.by == "http")
ALL = sorted(path.stem for path in cards.SHIPPED.glob("*.yaml"))


def test_every_card_that_is_asked_over_http_has_a_double() -> None:
    assert sorted(VENDORS) == HTTP


# --- the plain case ------------------------------------------------------------------------------------------------

# What the vendor makes of a text that is in between; those that know no such thing draw a line at one half.
BETWEEN = {
    "copyleaks": (MIXED, MIXED),
    "gptzero": (MIXED, MIXED),
    "grammarly": (AI, AI),
    "hive": (AI, AI),
    "huggingface": (AI, AI),
    "originality-lite": (HUMAN, HUMAN),
    "originality-turbo": (HUMAN, HUMAN),
    "pangram": (MIXED, MIXED),
    "sapling": (UNCERTAIN, UNCERTAIN),
    "undetectable": (UNCERTAIN, UNCERTAIN),
    "winston": (UNCERTAIN, UNCERTAIN),
    "zerogpt": (MIXED, MIXED),
}


@pytest.mark.parametrize("name", HTTP)
def test_what_a_vendor_says_is_read_and_called(name: str) -> None:
    wanted = {"human": HUMAN, "ai": AI, "mixed": BETWEEN[name][0], "uncertain": BETWEEN[name][1]}
    with rehearsal(name) as (there, vendor, _, card):
        for number, (word, call) in enumerate(wanted.items(), 1):
            text = f"{TEXT}double:{word} of it"
            heard = vendor.ask(text, f"id{number}")
            assert outcome(card, heard, text) == ("answered", None, call)
            assert heard.exchanges[-1].status == 200
            assert there.ledger.billed == number
        assert there.ledger.leaks == 0


@pytest.mark.parametrize("name", HTTP)
def test_the_same_text_gets_the_same_answer(name: str) -> None:
    said = []
    for _ in range(2):
        with rehearsal(name) as (_, vendor, _, card):
            body = vendor.ask(TEXT, "one").said.body
            assert body is not None
            said.append(cards.extract_answer(card, body))
    assert said[0] == said[1]


# --- everything that goes wrong ------------------------------------------------------------------------------------

# (what follows, whether the vendor may have charged or a part of the reason, texts charged for)
REFUSED = {
    "wrong key": ("stop", "no", 0),
    "no credit": ("stop", "no", 0),
    "too short": ("declined", "HTTP 4", 0),
    "too long": ("declined", "HTTP 4", 0),
    "rate limited": ("again", "no", 0),
    "broken": ("again", "maybe", 0),
    "busy": ("again", "maybe", 0),
    "expired login": ("answered", "", 1),
    "drop before": ("again", "maybe", 0),
    "drop after": ("again", "maybe", 1),
    "half body": ("again", "maybe", 1),
    "html": ("declined", "is not JSON", 1),
    "slow": ("again", "maybe", 1),
    "redirect": ("stop", "no", 0),
    "huge": ("failed", "maybe", 1),
    "echo key": ("answered", "", 1),
    "missing field": ("declined", "nothing in the answer", 1),
    "null score": ("declined", "nothing in the answer", 1),
    "extra field": ("answered", "", 1),
    "echo changed": ("declined", "other text scanned", 1),
    "failed job": ("declined", "failed", 0),
    "endless job": ("again", "maybe", 1),
}
OTHERWISE: dict[tuple[str, str], tuple[str, str, int]] = {
    # The vendor's own words show something else than score or verdict.
    ("zerogpt", "missing field"): ("declined", "no score in the answer", 1),
    ("zerogpt", "null score"): ("declined", "no score in the answer", 1),
    ("pangram", "missing field"): ("declined", "no verdict in the answer", 1),
    ("pangram", "null score"): ("declined", "no verdict in the answer", 1),
    ("originality-lite", "missing field"): ("declined", "no verdict in the answer", 1),
    ("originality-lite", "null score"): ("declined", "no verdict in the answer", 1),
    ("originality-turbo", "missing field"): ("declined", "no verdict in the answer", 1),
    ("originality-turbo", "null score"): ("declined", "no verdict in the answer", 1),
    ("gptzero", "missing field"): ("declined", "no verdict in the answer", 1),
    ("gptzero", "null score"): ("declined", "no verdict in the answer", 1),
    ("huggingface", "missing field"): ("declined", "no verdict in the answer", 1),
    ("huggingface", "null score"): ("declined", "no verdict in the answer", 1),
    # It may change the text that it sends back, so that is not held against the one that was sent.
    ("pangram", "echo changed"): ("answered", "", 1),
    # A refusal that comes with status 200.
    ("undetectable", "wrong key"): ("stop", "maybe", 0),
    ("undetectable", "no credit"): ("stop", "maybe", 0),
    ("zerogpt", "wrong key"): ("stop", "maybe", 0),
    ("zerogpt", "no credit"): ("stop", "maybe", 0),
    # A page in the place of a job's name.
    ("pangram", "html"): ("declined", "holds no task", 1),
    ("undetectable", "html"): ("declined", "holds no job", 1),
    # No text was given yet when this went wrong; what was charged is nothing.
    ("grammarly", "html"): ("declined", "holds no", 0),
    ("grammarly", "drop after"): ("again", "maybe", 0),
    ("grammarly", "half body"): ("again", "maybe", 0),
    ("grammarly", "slow"): ("again", "maybe", 0),
    ("grammarly", "huge"): ("failed", "maybe", 0),
}


def able(name: str, kind: str) -> bool:
    try:
        VENDORS[name].able(Behaviour(kind))  # type: ignore[arg-type]
    except ValueError:
        return False
    return True


CASES = [(name, kind) for name in HTTP for kind in get_args(Kind) if able(name, kind)]


def test_every_case_of_every_vendor_is_in_the_table() -> None:
    assert len(CASES) > 190
    assert set(REFUSED) == set(get_args(Kind))
    assert set(OTHERWISE) <= set(CASES)


@pytest.mark.parametrize(("name", "kind"), CASES, ids=[f"{name}-{kind.replace(' ', '-')}" for name, kind in CASES])
def test_what_follows_when_something_goes_wrong(name: str, kind: str) -> None:
    follows, detail, charged = OTHERWISE.get((name, kind), REFUSED[kind])
    # With a login, a key is wrong there: a token that counts no longer is a login that ran out.
    at = "login" if (name, kind) == ("copyleaks", "wrong key") else "send"
    act = Behaviour(kind, at=at, times=None if kind in ("wrong key", "broken") else 1)  # type: ignore[arg-type]
    with rehearsal(name, [act], timeout=0.6 if kind == "slow" else 5.0) as (there, vendor, _, card):
        if follows in ("answered", "declined"):
            heard = vendor.ask(TEXT, "one")
            found = outcome(card, heard, TEXT)
            assert found.state == follows
            assert detail in (found.reason or "")
            assert heard.exchanges
        else:
            with pytest.raises(UnansweredError) as caught:
                vendor.ask(TEXT, "one")
            error = caught.value
            assert {"again": (True, False), "stop": (False, True), "failed": (False, False)}[follows] == (
                error.again,
                error.stop,
            )
            assert error.charged == detail
            assert error.exchanges
        assert there.ledger.billed == charged


@pytest.mark.parametrize("name", HTTP)
@pytest.mark.parametrize(
    ("said", "seconds"),
    [("7", 7.0), ("Mon, 30 Nov 2099 00:00:00 GMT", ...), (None, None), ("soon", None), ("-1", None)],
)
def test_for_how_long_a_vendor_wants_to_be_left_alone(name: str, said: str | None, seconds: float | None) -> None:
    with rehearsal(name, [Behaviour("rate limited", retry_after=said)]) as (there, vendor, *_):
        with pytest.raises(UnansweredError) as caught:
            vendor.ask(TEXT, "one")
        assert caught.value.again
        after = caught.value.retry_after
        assert after == seconds if seconds is not ... else after is not None and after > 1e9
        assert isinstance(vendor.ask(TEXT, "two").said, Answer)
        assert there.ledger.billed == 1


@pytest.mark.parametrize("name", HTTP)
def test_a_version_that_changes_is_read_from_the_answers(name: str) -> None:
    with rehearsal(name, version_after=2) as (there, vendor, _, card):
        bodies = [vendor.ask(f"{TEXT} {n}", f"id{n}").said.body for n in range(3)]
        versions = [cards.extract_answer(card, body).version for body in bodies if body is not None]
        told = there.vendor.versions
        assert versions == ([told[0], told[0], told[1]] if told is not None else [None] * 3)


@pytest.mark.parametrize("name", HTTP)
def test_credit_that_runs_out_stops_a_vendor_that_knows_credit(name: str) -> None:
    with rehearsal(name, credit=1) as (there, vendor, *_):
        vendor.ask(TEXT, "one")
        if "no credit" not in VENDORS[name].refusals:
            assert isinstance(vendor.ask(TEXT, "two").said, Answer)
            return
        with pytest.raises(UnansweredError) as caught:
            vendor.ask(TEXT, "two")
        assert caught.value.stop
        assert there.ledger.billed == 1


@pytest.mark.parametrize("length", [50_000, 50_001, 60_000])
def test_a_text_that_is_cut_in_silence_is_no_result(length: int) -> None:
    text = ("word " * 12_001)[:length]
    with rehearsal("gptzero") as (_, vendor, _, card):
        found = outcome(card, vendor.ask(text, "one"), text)
    assert found.state == ("answered" if length == 50_000 else "declined")
    assert found.reason == (None if length == 50_000 else "other text scanned")


def test_a_text_in_which_the_vendor_finds_no_words_is_not_measured() -> None:
    with rehearsal("zerogpt") as (_, vendor, _, card):
        heard = vendor.ask("N/A", "one")
        assert b'"isHuman": 25' in (heard.said.body or b"")
        assert outcome(card, heard, "N/A")[:2] == ("declined", "the vendor found no words in it")


def test_a_text_that_grammarly_does_not_score_is_no_result() -> None:
    with rehearsal("grammarly") as (_, vendor, _, card):
        assert outcome(card, vendor.ask("only four words here", "one"), "only four words here").state == "declined"


# --- the vendor's own number ---------------------------------------------------------------------------------------

STEPS = st.integers(0, 1000).map(lambda n: Decimal(n) / 1000)


def rank(card: Card, score: str | None, label: str | None) -> int | None:
    """How much a call speaks for AI; None where there is no call."""
    call = cards.call_answer(card, card.boundary, score, label)
    return None if call.reason is not None else 4 * (call.strict == "ai") + 2 * (call.lenient == "ai") + call.uncertain


@pytest.mark.parametrize("name", HTTP)
@settings(max_examples=40, deadline=None)
@given(STEPS, STEPS)
def test_the_more_a_vendor_says_ai_the_less_is_called_human(name: str, one: Decimal, other: Decimal) -> None:
    card, kind = shipped(name), VENDORS[name](credit=None, version_after=None, polls=0)
    ranks = []
    for number in sorted((one, other)):
        found = cards.extract_answer(card, json.dumps(kind.result(TEXT, number)).encode())
        ranks.append(rank(card, found.score, found.label))
    assert ranks[0] is not None
    assert ranks[1] is not None
    assert ranks[0] <= ranks[1]


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_raising_the_number_that_speaks_for_ai_never_moves_a_call_towards_human(name: str, data: st.DataObject) -> None:
    card = shipped(name)
    if card.scale is None or card.scale.meaning == "confidence in label":
        return  # no number of theirs speaks for AI by itself
    low, high = Decimal(card.scale.low or "-100"), Decimal(card.scale.high or "5000")
    ends = [Decimal(end) for band in card.bands for end in (band.low, band.high)] + [
        Decimal(card.boundary.value or low)
    ]
    numbers = st.decimals(low, high, places=4) | st.sampled_from(ends)
    one, other = sorted((data.draw(numbers), data.draw(numbers)), reverse=card.scale.direction == "human")
    label = data.draw(st.none() | st.sampled_from([*card.verdicts, "a verdict nobody knows"]))
    before, after = rank(card, f"{one:f}", label), rank(card, f"{other:f}", label)
    assert (before is None) == (after is None)
    assert before is None or after is None or before <= after


@pytest.mark.parametrize("name", ALL)
def test_a_boundary_that_the_vendor_does_not_state_says_so(name: str) -> None:
    card = shipped(name)
    if card.boundary.source.startswith("ours"):
        assert card.boundary.confidence in ("inferred", "convention", "guess")
    if card.ask.by != "plugin":
        assert card.terms.results_may_be_published == "unclear"  # nobody has read them yet
