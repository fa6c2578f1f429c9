"""The engine: what it sends, what it waits for, what it keeps, and what it never tells anybody."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.shipped.detectors.vendor_rehearsal import TEXT, outcome, rehearsal, shipped

from penmark import cards
from penmark.cards import requests
from penmark.errors import UsageError
from penmark.plugins import Answer, Declined, UnansweredError
from penmark.records import Card
from penmark.shipped.detectors.vendor_http import Vendor
from penmark.testing.doubles import VENDORS, Behaviour
from penmark.testing.doubles.fake_vendor import DoubleAnswer

HTTP = sorted(VENDORS)


def changed(card: Card, **request: Any) -> Card:
    """The card with other fields in its request."""
    values = card.model_dump(by_alias=True)
    values["ask"]["request"] = {**values["ask"]["request"], **request}
    return Card.model_validate(values)


# --- what is sent --------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"]))
        | st.sampled_from(["{key}", "{text}", '"', "\\", "\r\n", "\0", "\u2028"])
    )
)
def test_a_text_arrives_as_it_is(echoing: Any, parts: list[str]) -> None:
    text = "".join(parts)
    said = echoing.ask(text, "one").said
    assert json.loads(said.body)["documents"][0]["inputText"] == text


@pytest.fixture(scope="module")
def echoing() -> Any:
    with rehearsal("gptzero") as (_, vendor, *_):
        yield vendor


@pytest.mark.parametrize("name", HTTP)
def test_what_would_be_sent_is_shown_without_a_secret(name: str) -> None:
    with rehearsal(name) as (there, vendor, _, card):
        request = card.ask.request
        assert request is not None
        shown = vendor.shown()
        assert [filled.step for filled in shown] == [step for step, _ in requests.list_steps(request)]
        words = repr(shown)
        assert not [key for key in there.keys.values() if key in words]
        assert all(f"{{env: {key.env}}}" in words for key in request.keys.values())
        assert words.count("{text}") == 1
        body = json.loads(next(filled.body for filled in shown if filled.step == "send") or b"")
        for pointer in request.private:
            assert body[pointer[1:]] is False
        assert there.ledger.requests.total() == 0


def test_what_keeps_a_text_private_is_always_sent() -> None:
    private = {name: card.ask.request.private for name in HTTP if (card := shipped(name)).ask.request is not None}
    assert {name for name, pointers in private.items() if pointers} == {
        "copyleaks",
        "originality-lite",
        "originality-turbo",
        "pangram",
    }


def test_a_default_is_a_setting_that_is_not_sent() -> None:
    def body(version: str | None, **given: str) -> Any:
        with rehearsal("gptzero", settings=given, version=version) as (_, vendor, *_):
            return json.loads(vendor.shown()[0].body or b"")

    assert body(None) == {"document": "{text}"}
    assert body("2026-09-30-base") == {"document": "{text}", "modelVersion": "2026-09-30-base"}
    assert body(None, multilingual="true") == {"document": "{text}", "multilingual": True}
    with rehearsal("winston") as (_, vendor, *_):
        assert json.loads(vendor.shown()[0].body or b"")["version"] == "latest"
    with rehearsal("winston", version="4.0") as (_, vendor, *_):
        assert json.loads(vendor.shown()[0].body or b"")["version"] == "4.0"


@pytest.mark.parametrize(
    ("name", "given", "fact"),
    [
        ("gptzero", {"multilingual": "yes"}, "multilingual is a boolean, not 'yes'"),
        ("copyleaks", {"sensitivity": "high"}, "sensitivity is a number"),
        ("copyleaks", {"sensitivity": "true"}, "sensitivity is a number"),
        ("copyleaks", {"sensitivty": "2"}, r"did you mean sensitivity\?"),
        ("pangram", {"public_dashboard_link": "true"}, "has no setting public_dashboard_link"),
    ],
)
def test_a_setting_that_the_card_does_not_have_is_refused(name: str, given: dict[str, str], fact: str) -> None:
    with pytest.raises(UsageError, match=fact), rehearsal(name, settings=given):
        pass


@pytest.mark.parametrize(
    ("value", "fact"),
    [
        (None, "GPTZERO_API_KEY is not set"),
        ("", "is not set"),
        ("abcde", "shorter than 6"),
        ("a key with spaces", "has a space"),
        ("abcdefgh\n", "line end"),
    ],
)
def test_a_key_that_is_none_is_told_before_anything_is_sent(value: str | None, fact: str) -> None:
    environ = {} if value is None else {"GPTZERO_API_KEY": value}
    with pytest.raises(UsageError, match=fact) as caught:
        Vendor(shipped("gptzero"), {}, environ=environ)
    assert value is None or value == "" or value not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1:1",
        "http://example.org",
        "http://127.0.0.1.example.org",
        "http://127.0.0.1:1/path",
        "127.0.0.1:1",
    ],
)
def test_only_a_server_on_this_machine_stands_in_for_a_vendor(url: str) -> None:
    with pytest.raises(UsageError, match="no server on this machine"):
        Vendor(shipped("sapling"), {}, environ={"SAPLING_API_KEY": "k" * 12}, base_url=url)


def test_a_card_that_is_not_asked_over_http_is_refused() -> None:
    with pytest.raises(UsageError, match="does not say how"):
        Vendor(shipped("turnitin"), {}, environ={})


@pytest.mark.parametrize(
    ("name", "steps"),
    [("copyleaks", "login send"), ("pangram", "send poll poll"), ("grammarly", "send upload poll poll")],
)
def test_every_request_waits_for_its_turn(name: str, steps: str) -> None:
    turns: list[tuple[str, int]] = []
    with rehearsal(name) as (there, vendor, *_):
        vendor._account.turn = lambda step: turns.append((step, there.ledger.requests.total()))
        vendor.ask(TEXT, "one")
    assert turns == [(step, before) for before, step in enumerate(steps.split())]


# --- login ---------------------------------------------------------------------------------------------------------


def test_a_login_is_made_once_and_kept_for_its_hours() -> None:
    with rehearsal("copyleaks") as (there, vendor, clock, _):
        for n, hours in enumerate((0, 24, 47, 48, 50)):
            clock.now = hours * 3600.0
            assert isinstance(vendor.ask(f"{TEXT}{n}", f"scan{n}").said, Answer)
        assert there.ledger.requests == {"login": 2, "send": 5}


def test_many_threads_make_one_login() -> None:
    with rehearsal("copyleaks", connections=8) as (there, vendor, *_), ThreadPoolExecutor(8) as pool:
        said = list(pool.map(lambda n: vendor.ask(f"{TEXT}{n}", f"scan{n:02d}").said, range(40)))
        assert all(isinstance(each, Answer) for each in said)
        assert there.ledger.requests == {"login": 1, "send": 40}


def test_a_login_that_ran_out_is_made_anew_once_and_the_text_is_charged_once() -> None:
    with rehearsal("copyleaks", [None, "expired login", None, Behaviour("expired login", times=None)]) as (
        there,
        vendor,
        *_,
    ):
        vendor.ask(TEXT, "scan1")
        heard = vendor.ask(TEXT, "scan2")
        assert [(exchange.step, exchange.status) for exchange in heard.exchanges] == [
            ("send", 401),
            ("login", 200),
            ("send", 200),
        ]
        with pytest.raises(UnansweredError) as caught:
            vendor.ask(TEXT, "scan3")
        assert caught.value.stop
        assert [exchange.step for exchange in caught.value.exchanges] == ["send", "login", "send"]
        assert there.ledger.billed == 2


def test_too_many_logins_may_be_tried_again_later() -> None:
    with rehearsal("copyleaks") as (there, vendor, *_):
        there.vendor.logged_in = 12  # type: ignore[attr-defined]
        with pytest.raises(UnansweredError) as caught:
            vendor.ask(TEXT, "scan1")
        assert (caught.value.again, caught.value.charged) == (True, "no")


@pytest.mark.parametrize("kind", ["drop before", "drop after", "broken"])
def test_a_login_that_breaks_costs_nothing(kind: str) -> None:
    with rehearsal("copyleaks", [Behaviour(kind, at="login")]) as (there, vendor, *_):  # type: ignore[arg-type]
        with pytest.raises(UnansweredError) as caught:
            vendor.ask(TEXT, "scan1")
        assert (caught.value.again, caught.value.charged) == (True, "no")
        assert isinstance(vendor.ask(TEXT, "scan1").said, Answer)
        assert there.ledger.billed == 1


@pytest.mark.parametrize(
    "value", [{}, {"access_token": None}, {"access_token": "short"}, {"access_token": "two words of it"}]
)
def test_a_login_without_a_token_stops(value: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    with rehearsal("copyleaks") as (there, vendor, *_):
        monkeypatch.setattr(there.vendor, "login", lambda: DoubleAnswer(200, value))
        with pytest.raises(UnansweredError, match="holds no token") as caught:
            vendor.ask(TEXT, "scan1")
        assert caught.value.stop


def test_an_id_that_the_vendor_knows_is_not_paid_for_twice() -> None:
    with rehearsal("copyleaks", ["drop after"]) as (there, vendor, *_):
        with pytest.raises(UnansweredError) as first:
            vendor.ask(TEXT, "scan1")
        assert (first.value.again, first.value.charged) == (True, "maybe")
        with pytest.raises(UnansweredError, match="under the same id") as second:
            vendor.ask(TEXT, "scan1")
        assert (second.value.again, second.value.stop) == (False, False)
        assert there.ledger.billed == 1


# --- jobs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["pangram", "undetectable", "grammarly"])
def test_a_job_is_noted_before_it_is_asked_for_and_can_be_taken_up_again(name: str) -> None:
    noted: list[tuple[dict[str, str], int]] = []
    with rehearsal(name, polls=3) as (there, vendor, clock, card):
        heard = vendor.ask(TEXT, "one", lambda job: noted.append((job, there.ledger.requests["poll"])))
        ((job, polls_before),) = noted
        assert polls_before == 0
        assert list(job.values()) == ["job-00000001"]
        assert len(clock.waits) == 3
        again = vendor.resume(job)
        assert outcome(card, again, TEXT) == outcome(card, heard, TEXT)
        assert [exchange.step for exchange in again.exchanges] == ["poll"]
        assert there.ledger.requests["send"] == there.ledger.billed == 1


@pytest.mark.parametrize("name", ["pangram", "undetectable", "grammarly"])
@pytest.mark.parametrize("kind", ["broken", "busy", "rate limited", "drop before", "drop after", "half body", "html"])
def test_what_goes_wrong_while_a_job_is_asked_for_costs_nothing(name: str, kind: str) -> None:
    acts = [Behaviour(kind, at="poll", times=2, retry_after="9" if kind == "rate limited" else None)]  # type: ignore[arg-type]
    with rehearsal(name, acts, polls=0) as (there, vendor, clock, card):
        assert outcome(card, vendor.ask(TEXT, "one"), TEXT).state == "answered"
        assert there.ledger.requests["send"] == there.ledger.billed == 1
        assert there.ledger.requests["poll"] == 3
        assert clock.waits[:2] == ([9.0, 9.0] if kind == "rate limited" else clock.waits[:1] * 2)


@pytest.mark.parametrize("name", ["pangram", "undetectable", "grammarly"])
def test_a_job_that_does_not_end_is_told_with_its_name(name: str) -> None:
    with rehearsal(name, ["endless job"]) as (there, vendor, clock, _):
        with pytest.raises(UnansweredError, match="within 300 seconds") as caught:
            vendor.ask(TEXT, "one")
        assert 290 < clock.now <= 300
        assert list(caught.value.job.values()) == ["job-00000001"]
        with pytest.raises(UnansweredError) as second:
            vendor.resume(caught.value.job)
        assert second.value.job == caught.value.job
        assert there.ledger.requests["send"] == 1


def test_waiting_for_a_job_ends_when_somebody_wants_it_to() -> None:
    with rehearsal("pangram", ["endless job"]) as (_, vendor, clock, _):
        clock.end = True
        with pytest.raises(UnansweredError, match="interrupted") as caught:
            vendor.ask(TEXT, "one")
        assert len(clock.waits) == 1
        assert caught.value.job == {"task": "job-00000001"}


def test_a_job_that_nobody_knows_has_failed() -> None:
    with rehearsal("pangram") as (_, vendor, *_), pytest.raises(UnansweredError, match="HTTP 404") as caught:
        vendor.resume({"task": "job-00000009"})
    assert (caught.value.again, caught.value.stop, caught.value.charged) == (False, False, "maybe")


@pytest.mark.parametrize("odd", ["../other", "a/b", "..", "", "a b", "x" * 201, "a?b", "%2e%2e"])
def test_the_name_of_a_job_stays_one_part_of_an_address(odd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with rehearsal("pangram") as (there, vendor, *_):
        monkeypatch.setattr(there.vendor, "accepted", lambda name: {"task_id": odd})
        said = vendor.ask(TEXT, "one").said
        assert isinstance(said, Declined)
        assert "holds no task" in said.reason
        assert there.ledger.requests["poll"] == 0


@pytest.mark.parametrize(
    "place",
    [
        "http://example.org/up",
        "ftp://127.0.0.1/up",
        "file:///etc/passwd",
        "up",
        "//example.org/up",
        "https://[half",
        "https://",
    ],
)
def test_a_text_is_not_put_where_others_could_read_it(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with rehearsal("grammarly") as (there, vendor, *_):
        do = there.vendor.do
        monkeypatch.setattr(there.vendor, "do", lambda asked, act: _placed(do(asked, act), place))
        with pytest.raises(UnansweredError, match="not https") as caught:
            vendor.ask(TEXT, "one")
        assert caught.value.stop
        assert there.ledger.requests == {"send": 1}


def _placed(said: Any, place: str) -> Any:
    return said._replace(value={**said.value, "file_upload_url": place})


# --- secrets -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HTTP)
def test_a_secret_that_the_vendor_repeats_is_kept_nowhere(name: str) -> None:
    steps = [step for _, _, step in VENDORS[name].routes]
    for at in steps:
        acts = [Behaviour("echo key", at=at), Behaviour("wrong key", at=at)]  # type: ignore[arg-type]
        with rehearsal(name, acts) as (there, vendor, _, card):
            kept: list[object] = [vendor.shown()]
            secrets = set(there.keys.values())
            for call in ("one", "two"):
                try:
                    heard = vendor.ask(TEXT, call)
                    kept += [heard, heard.said.body, outcome(card, heard, TEXT)]
                except UnansweredError as error:
                    kept += [str(error), repr(error), error.exchanges, error.job, error.faults, error.args]
            secrets |= {str(getattr(there.vendor, "token", None) or "no token")} - {"no token"}
            assert len(kept) > 2
            found = [(secret, each) for secret in secrets for each in map(repr, kept) if secret in each]
            assert not found


def test_a_body_that_hides_a_secret_in_another_spelling_is_not_kept(answering: Callable[..., str]) -> None:
    spelled = "".join(f"\\u{ord(c):04x}" for c in "k" * 12)
    url = answering(200, f'{{"score": 0.5, "note": "{spelled}"}}'.encode())
    with contextlib.closing(
        Vendor(shipped("sapling"), {}, environ={"SAPLING_API_KEY": "k" * 12}, base_url=url)
    ) as vendor:
        heard = vendor.ask(TEXT, "one")
    assert isinstance(heard.said, Declined)
    assert heard.said.body is None
    assert "repeats a secret" in heard.said.reason
    assert heard.exchanges[0].body_sha256 is None


def test_a_reason_does_not_quote_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    private = "The secret of the house by the lake is known to nobody but its writer. " * 5
    for words, kept in ((f"cannot judge: {private}", False), ("too short for us", True)):
        refusals = {
            **VENDORS["winston"].refusals,
            "too short": VENDORS["winston"].refusals["too short"]._replace(value={"error": words}),
        }
        with rehearsal("winston", ["too short"]) as (there, vendor, *_):
            monkeypatch.setattr(there.vendor, "refusals", refusals)
            said = vendor.ask(private, "one").said
            assert isinstance(said, Declined)
            assert said.reason == ("HTTP 400 (too short for us)" if kept else "HTTP 400")


def test_the_address_of_an_upload_is_kept_without_what_signs_it() -> None:
    with rehearsal("grammarly") as (there, vendor, *_):
        heard = vendor.ask(TEXT, "one")
        (upload,) = [exchange for exchange in heard.exchanges if exchange.step == "upload"]
        assert upload.url == f"{there.url}/upload/job-00000001?[hidden]"
        assert there.ledger.leaks == 0


# --- other cards ---------------------------------------------------------------------------------------------------


def test_a_detector_of_ones_own_is_an_address_and_two_pointers() -> None:
    own = Card.model_validate(
        {
            **shipped("hive").model_dump(by_alias=True),
            "name": "own",
            "ask": {
                "by": "http",
                "request": {"send": {"url": "http://127.0.0.1:9/hf", "body": '{"text_data": "{text}"}'}},
            },
            "confidence": {},
        }
    )
    assert not list(cards.check_card(own))
    with pytest.raises(UnansweredError, match="no connection") as caught:
        Vendor(own, {}, environ={}, timeout=2.0).ask(TEXT, "one")
    assert (caught.value.again, caught.value.charged) == (True, "no")


@pytest.mark.parametrize(
    ("signs", "status", "means"),
    [
        ([], 200, None),
        ([], 204, None),
        ([], 301, "stop"),
        ([], 400, "declined"),
        ([], 401, "stop"),
        ([], 402, "stop"),
        ([], 403, "stop"),
        ([], 404, "stop"),
        ([], 405, "stop"),
        ([], 409, "declined"),
        ([], 410, "stop"),
        ([], 413, "declined"),
        ([], 422, "declined"),
        ([], 429, "again"),
        ([], 500, "again"),
        ([], 599, "again"),
        ([{"status": (500,), "means": "failed", "because": "b"}], 500, "failed"),
        ([{"status": (500,), "means": "failed", "because": "b"}], 502, "again"),
        ([{"at": "/e/c", "among": ("7",), "means": "again", "because": "b"}], 200, "again"),
        ([{"at": "/e/c", "among": ("8",), "means": "again", "because": "b"}], 200, None),
        ([{"at": "/e/w", "holds": "NO credit", "means": "stop", "because": "b"}], 400, "stop"),
        ([{"at": "/e/w", "means": "declined", "because": "b"}], 200, "declined"),
        ([{"at": "/e", "means": "declined", "because": "b"}], 200, None),
        ([{"at": "/n", "means": "declined", "because": "b"}], 200, None),
        (
            [
                {"status": (200,), "at": "/e/c", "among": ("7",), "means": "failed", "because": "b"},
                {"status": (200,), "means": "stop", "because": "b"},
            ],
            200,
            "failed",
        ),
    ],
)
def test_what_an_answer_means(
    signs: list[dict[str, Any]], status: int, means: str | None, answering: Callable[..., str]
) -> None:
    card = changed(shipped("winston"), errors=tuple(signs))
    url = answering(status, b'{"e": {"c": 7, "w": "You have no credit left"}, "n": null}')
    environ = {"WINSTON_API_KEY": "k" * 12}
    with contextlib.closing(Vendor(card, {}, environ=environ, base_url=url, timeout=5.0)) as vendor:
        if means in (None, "declined"):
            assert isinstance(vendor.ask(TEXT, "one").said, Answer if means is None else Declined)
            return
        with pytest.raises(UnansweredError) as caught:
            vendor.ask(TEXT, "one")
    assert (caught.value.again, caught.value.stop) == (means == "again", means == "stop")


@pytest.fixture
def answering() -> Any:
    """Serves one answer, whatever is asked."""
    servers: list[tuple[HTTPServer, threading.Thread]] = []

    def start(status: int, body: bytes) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(status)
                self.send_header("Content-Length", "0" if status == 204 else str(len(body)))
                self.end_headers()
                self.wfile.write(b"" if status == 204 else body)

            def log_message(self, *args: Any) -> None:
                pass

        server = HTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        servers.append((server, thread))
        return f"http://127.0.0.1:{server.server_address[1]}"

    yield start
    for server, thread in servers:
        server.shutdown()
        thread.join()
        server.server_close()
