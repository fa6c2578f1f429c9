"""One request and its answer: dates, sizes, cookies, redirects."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from email.utils import formatdate

import pytest

from penmark.cards.requests import Filled
from penmark.http import client
from penmark.http.client import HttpClient, parse_retry_after
from penmark.http.redact import Redaction
from penmark.plugins import UnansweredError

DAY = "Mon, 30 Nov 2026 00:00:00 GMT"
LATER = "Mon, 30 Nov 2026 00:01:30 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "120"}, 120.0),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "1e9"}, None),
        ({"retry-after": "9" * 400}, None),
        ({"retry-after": "٣"}, None),
        ({"retry-after": LATER, "date": DAY}, 90.0),
        ({"retry-after": DAY, "date": LATER}, 0.0),
        ({"retry-after": "30 Feb 2026", "date": DAY}, None),
        ({"retry-after": "Monday", "date": DAY}, None),
        ({"retry-after": "Mon, 30 Nov 2026 00:01:30 +0100", "date": DAY}, 0.0),
        ({"retry-after": "Mon, 30 Nov 99999999 00:00:00 GMT"}, None),
    ],
)
def test_how_long_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert parse_retry_after(headers) == seconds


def test_a_date_is_counted_from_ones_own_clock_where_the_vendor_tells_no_other() -> None:
    after = parse_retry_after({"retry-after": formatdate(4102444800, usegmt=True), "date": "garbage"})
    assert after is not None
    assert after > 1e9


@pytest.fixture
def raw() -> Iterator[Callable[[bytes], str]]:
    """Serves these bytes to every request, one connection each, and keeps what it was sent."""
    listening: list[socket.socket] = []
    threads: list[threading.Thread] = []
    heard: list[bytes] = []

    def start(answer: bytes) -> str:
        server = socket.create_server(("127.0.0.1", 0))
        listening.append(server)

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    with connection:
                        heard.append(connection.recv(2**16))
                        connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        threads.append(thread)
        return f"http://127.0.0.1:{server.getsockname()[1]}/path"

    start.heard = heard  # type: ignore[attr-defined]
    yield start
    for server in listening:
        with contextlib.suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        server.close()
    for thread in threads:
        thread.join()


def asked(url: str, *, step: str = "send") -> client.HttpReply:
    line = HttpClient(Redaction(), timeout=5.0, connections=1, this_machine=True)
    try:
        reply, exchange = line.exchange(Filled(step, "GET", url, {}, None))
        assert exchange.status == reply.status
        return reply
    finally:
        line.close()


def whole(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def test_a_redirect_is_an_answer_and_is_not_followed(raw: Callable[[bytes], str]) -> None:
    url = raw(whole(b"", "Location: http://192.0.2.1/other", status="307 Temporary Redirect"))
    assert asked(url).status == 307
    assert len(raw.heard) == 1  # type: ignore[attr-defined]


def test_a_cookie_does_not_come_back(raw: Callable[[bytes], str]) -> None:
    url = raw(whole(b"{}", "Set-Cookie: who=you; Path=/"))
    line = HttpClient(Redaction(), timeout=5.0, connections=1, this_machine=True)
    for _ in range(2):
        _, exchange = line.exchange(Filled("send", "GET", url, {}, None))
        assert dict(exchange.headers)["set-cookie"] == "[hidden]"
    line.close()
    assert b"cookie" not in raw.heard[1].lower()  # type: ignore[attr-defined]


def test_nobody_is_told_who_asks(raw: Callable[[bytes], str]) -> None:
    asked(raw(whole(b"{}")))
    assert b"penmark" not in raw.heard[0].lower()  # type: ignore[attr-defined]


@pytest.mark.parametrize("more", [0, 1])
def test_an_answer_is_read_up_to_a_limit(
    raw: Callable[[bytes], str], more: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "MAX_ANSWER", 1000)
    url = raw(whole(b"x" * (1000 + more)))
    if more == 0:
        assert len(asked(url).body) == 1000
        return
    with pytest.raises(UnansweredError, match="larger than 1000") as caught:
        asked(url)
    assert (caught.value.again, caught.value.stop) == (False, False)


@pytest.mark.parametrize(
    ("answer", "fact"),
    [
        (b"", "the connection broke"),
        (b"HTTP/1.1 200 OK\r\nContent-Le", "the connection broke"),
        (b"nonsense\r\n\r\n", "the connection broke"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{}", "the connection broke"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{", "the connection broke"),
        (whole(b"not gzip", "Content-Encoding: gzip"), "the connection broke"),
    ],
)
def test_half_an_answer_is_none(raw: Callable[[bytes], str], answer: bytes, fact: str) -> None:
    with pytest.raises(UnansweredError, match=fact) as caught:
        asked(raw(answer))
    assert (caught.value.again, caught.value.charged) == (True, "maybe")
    assert caught.value.exchanges[0].status is None


def test_nothing_of_the_answer_to_a_login_is_kept(raw: Callable[[bytes], str]) -> None:
    line = HttpClient(Redaction(), timeout=5.0, connections=1, this_machine=True)
    _, exchange = line.exchange(Filled("login", "GET", raw(whole(b'{"token": "t"}', "X-Token: t")), {}, None))
    line.close()
    assert (exchange.headers, exchange.body_sha256) == ((), None)


@pytest.mark.parametrize("url", ["nothing", "gopher://127.0.0.1/", "http://127.0.0.1:port/"])
def test_a_request_that_cannot_be_made_stops(url: str) -> None:
    with pytest.raises(UnansweredError) as caught:
        asked(url)
    assert caught.value.stop
