"""Secrets in every spelling that an answer could have them in."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penmark.http.redact import HIDDEN, Redaction

ODD = "pl/anted+key=%&<\"'\\x~"
SPELLINGS: list[Callable[[str], str]] = [
    str,
    str.upper,
    str.swapcase,
    lambda s: json.dumps(s)[1:-1],
    lambda s: json.dumps(s)[1:-1].replace("/", "\\/"),
    html.escape,
    lambda s: quote(s, safe=""),
    quote,
    quote_plus,
    lambda s: quote(s, safe="").lower(),
    lambda s: base64.b64encode(s.encode()).decode(),
]


def hiding(*secrets: str) -> Redaction:
    made = Redaction()
    for secret in secrets:
        made.add(secret)
    return made


@pytest.mark.parametrize("secret", [ODD, "planted-secret-0", "gepflanzt-für-0"])
@pytest.mark.parametrize("spelled", SPELLINGS)
@pytest.mark.parametrize("around", ["%s", '{"note": "%s"}', "<p>%s</p>", "key=%s&x=1", "%s%s"])
def test_every_spelling_is_hidden(secret: str, spelled: Callable[[str], str], around: str) -> None:
    words = around.replace("%s", spelled(secret))
    clean = hiding(secret, "another secret").body(words.encode())
    assert clean is not None
    assert spelled(secret) not in clean.decode()
    assert HIDDEN in clean.decode()
    assert spelled(secret) not in hiding(secret).text(words)


@pytest.mark.parametrize(
    "spelled",
    [
        lambda s: json.dumps("".join(f"\\u{ord(c):04X}" for c in s)).replace("\\\\", "\\"),
        lambda s: '{"' + "".join(f"\\u{ord(c):04x}" for c in s) + '": 1}',
        lambda s: '{"broken": "' + "".join(f"\\u{ord(c):04x}" for c in s),
        lambda s: "".join(f"%{ord(c):02x}" for c in s),
        lambda s: "".join(f"&#{ord(c)};" for c in s),
        lambda s: "".join(f"&#x{ord(c):x};" for c in s),
    ],
)
@pytest.mark.parametrize("secret", [ODD, "planted-secret-0"])
def test_a_spelling_that_cannot_be_taken_out_gives_no_body(secret: str, spelled: Callable[[str], str]) -> None:
    assert hiding(secret).body(spelled(secret).encode()) is None


@settings(max_examples=80, deadline=None)
@given(st.binary(max_size=300))
def test_bytes_without_a_secret_stay_what_they_are(raw: bytes) -> None:
    assert Redaction().body(raw) == raw
    assert hiding("planted-secret-0").body(raw) == raw


@settings(max_examples=80, deadline=None)
@given(
    st.text(st.characters(codec="ascii", min_codepoint=33), min_size=6, max_size=40),
    st.binary(max_size=50),
    st.binary(max_size=50),
)
def test_no_secret_is_left_in_any_body(secret: str, before: bytes, after: bytes) -> None:
    clean = hiding(secret).body(before + secret.encode() + after)
    assert clean is None or secret.encode() not in clean.replace(HIDDEN.encode(), b"")


def test_secrets_may_be_added_later_and_twice() -> None:
    made = hiding("first-secret")
    assert made.text("second-secret") == "second-secret"
    made.add("second-secret")
    made.add("second-secret")
    assert made.text("first-secret and SECOND-secret") == f"{HIDDEN} and {HIDDEN}"


def test_the_longer_of_two_secrets_goes_first() -> None:
    assert hiding("abcdef", "abcdefghij").text("abcdefghij") == HIDDEN
