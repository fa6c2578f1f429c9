"""Requests of a card: what is filled in, and what is wrong with them."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penmark import cards
from penmark.cards import requests
from penmark.errors import FaultsError
from penmark.records import Price, Send

WHOLE = """name: own
title: A detector of one's own
vendor: Example
homepage: https://example.org
ask:
  by: http
  request:
    keys: {key: {env: OWN_KEY}}
    settings: {depth: number}
    send:
      url: https://example.org/ask
      headers: {Authorization: "Bearer {key}"}
      body: '{"text": "{text}", "store": false, "depth": "{depth}"}'
      take: {job: /id}
    poll:
      url: https://example.org/job/{job}
      headers: {Authorization: "Bearer {key}"}
      at: /state
      among: [done]
      every: "0.5"
    private: [/store]
answer: {score: /score}
scale: {meaning: probability, direction: ai, low: 0, high: 1}
boundary: {kind: boundary, operator: ">=", value: 0.5, source: its page, date: 2026-11-01}
display: document
terms: {where: its terms, results_may_be_published: unclear}
facts_as_of: 2026-11-01
"""


def load(path: Path, before: str = "", after: str = "") -> list[tuple[int, str]]:
    """Line and fact of every fault of the card, with one thing changed."""
    assert before in WHOLE
    path.write_text(WHOLE.replace(before, after, 1) if before else WHOLE)
    try:
        cards.load_card(path)
    except FaultsError as error:
        return [(int((fault.place or "").rpartition(":")[2]), fault.fact) for fault in error.faults]
    return []


def test_a_card_that_is_right(tmp_path: Path) -> None:
    assert load(tmp_path / "own.yaml") == []


@pytest.mark.parametrize(
    ("before", "after", "line", "fact"),
    [
        ("https://example.org/ask", "http://example.org/ask", 11, "by https only"),
        ("https://example.org/ask", "ftp://127.0.0.1/ask", 11, "by https only"),
        ("https://example.org/ask", "https://{key}.example.org/", 11, "not a plain address"),
        ("https://example.org/ask", "/ask", 11, "not a plain address"),
        ("https://example.org/ask", "https://me:you@example.org/", 11, "not a plain address"),
        ("https://example.org/ask", "https://example.org/{job}", 11, "{job} is not known here"),
        ("https://example.org/ask", "https://example.org/{text}", 11, "{text} is not known here"),
        ("job/{job}", "job/{jbo}", 16, "{jbo} is not known here"),
        ("Bearer {key}", "Bearer {token}", 12, "{token} is not known here"),
        ("Bearer {key}", "Bearer {depth}", 12, "{depth} is not known here"),
        ("Authorization: ", "Host: ", 12, "not a header that a card can set"),
        ("Authorization: ", '"A B": ', 12, "not a header that a card can set"),
        ('"store": false', '"store": flase', 13, "is not JSON"),
        ('"store": false', '"store": false, "store": true', 13, "a key stands twice"),
        ('"{text}"', '"{key}"', 13, "{text} stands in one body"),
        ('"{text}"', '"{txt}"', 13, "{text} stands in one body"),
        ('"store": false', '"store": "{depth}"', 21, "/store is not a fixed value"),
        ("[/store]", "[/stored]", 21, "/stored is not a fixed value"),
        ("depth: number", "key: number", 8, "is the name of two things"),
        ("depth: number", "version: number", 8, "version is the name of two things"),
        ("{env: OWN_KEY}", "{env: own-key}", 8, "keys.key.env: 'own-key'"),
        ("among: [done]", "among: []", 19, "has no item"),
        ("by: http", "by: people", 6, "only when `by` is http"),
    ],
)
def test_a_card_that_is_wrong(tmp_path: Path, before: str, after: str, line: int, fact: str) -> None:
    found = load(tmp_path / "own.yaml", before, after)
    assert any(fact in words for _, words in found), found
    assert abs(next(number for number, words in found if fact in words) - line) <= 1


def test_a_key_does_not_go_where_a_vendor_says(tmp_path: Path) -> None:
    upload = '    upload: {method: PUT, url: "{job}", headers: {X: "%s"}, body: "{text}"}\n    poll:'
    path = tmp_path / "own.yaml"
    for header, faults in (("{id}", 0), ("{key}", 1)):
        text = WHOLE.replace("    poll:", upload % header, 1).replace('"text": "{text}", ', "", 1)
        path.write_text(text)
        if faults == 0:
            cards.load_card(path)
            continue
        with pytest.raises(FaultsError, match=r"\{key\} is not known here"):
            cards.load_card(path)


def test_a_login_without_a_token_is_none(tmp_path: Path) -> None:
    login = "    login: {url: https://example.org/login, hours: 48%s}\n    send:"
    for take, fact in (
        (", take: {token: /t}", None),
        ("", "take: is empty"),
        (', take: {token: /t}, body: \'{"a": "{text}"}\'', "{text} stands in one body"),
    ):
        path = tmp_path / "own.yaml"
        path.write_text(WHOLE.replace("    send:", login % take, 1))
        if fact is None:
            cards.load_card(path)
        else:
            with pytest.raises(FaultsError) as caught:
                cards.load_card(path)
            assert fact in str(caught.value)


# --- filling -------------------------------------------------------------------------------------------------------

VALUES = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.sampled_from(
    ["{key}", "{text}{key}", '"}', "\\"]
)


@settings(max_examples=100, deadline=None)
@given(VALUES, VALUES)
def test_values_are_put_in_once_and_come_out_as_they_were(text: str, key: str) -> None:
    send = Send(
        url="https://example.org/{key}/x",
        body='{"a": "{text}", "b": ["{key}", "<{key}>", "{none}"], "c": "{none}", "d": 1.50}',
    )
    filled = requests.fill_request("send", send, {"text": text, "key": key})
    assert json.loads(filled.body or b"") == {"a": text, "b": [key, f"<{key}>"], "d": 1.5}
    assert "/" not in filled.url.removeprefix("https://example.org/").removesuffix("/x")
    assert filled.headers == {"Accept": "application/json", "Content-Type": "application/json"}


@pytest.mark.parametrize("value", ["two\r\nlines", "", " ", "caf\u00e9", "x\0"])
def test_a_header_cannot_become_two(value: str) -> None:
    with pytest.raises(ValueError, match="no header can hold"):
        requests.fill_request("send", Send(url="https://example.org/", headers={"A": "{key}"}), {"key": value})


def test_the_text_alone_is_sent_as_its_own_bytes() -> None:
    filled = requests.fill_request(
        "upload",
        Send(method="PUT", url="{place}", body="{text}"),
        {"text": "caf\u00e9\r\n", "place": "https://example.org/a?b=c d"},
    )
    assert (filled.body, filled.url) == ("caf\u00e9\r\n".encode(), "https://example.org/a?b=c d")
    assert "Content-Type" not in filled.headers


def test_numbers_and_truth_values_are_written_as_such() -> None:
    send = Send(url="https://example.org/", body='{"n": "{n}", "b": "{b}", "s": "n is {n}"}')
    assert requests.fill_request("send", send, {"n": 2, "b": False}).body == b'{"n":2,"b":false,"s":"n is 2"}'


@pytest.mark.parametrize(
    ("per", "unit", "rounding", "sizes", "total"),
    [
        (100, "words", "up", [(90, 500), (135, 700)], "3"),
        (100, "words", "none", [(90, 500), (135, 700)], "2.25"),
        (1000, "characters", "up", [(1, 1000), (1, 1001), (0, 0)], "3"),
        (1, "texts", "up", [(0, 0), (900, 9000)], "2"),
    ],
)
def test_a_price_is_rounded_text_by_text(
    per: int, unit: str, rounding: str, sizes: list[tuple[int, int]], total: str
) -> None:
    tariff = Price.model_validate(
        {"amount": "1", "currency": "credits", "per": per, "unit": unit, "rounding": rounding}
    )
    assert sum(requests.price_text(tariff, *size) for size in sizes) == Decimal(total)
