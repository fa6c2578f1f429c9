"""One request over HTTP and its answer: sizes limited, nothing followed, what went wrong in words.

*Reads* the network. *Writes* nothing. *Never*: follows a redirect; keeps a cookie; reads an answer without end; lets a
secret into a message.
"""

from __future__ import annotations

import hashlib
import http.cookiejar
import re
import time
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import NamedTuple

import httpx2

from penmark.cards.requests import Filled
from penmark.http.redact import HIDDEN, Redaction
from penmark.plugins import Exchange, UnansweredError

MAX_ANSWER = 8 * 2**20
"""Bytes, unpacked: no vendor's answer is larger."""
_UNSENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError)
_OURS = (httpx2.LocalProtocolError, httpx2.UnsupportedProtocol, httpx2.InvalidURL)


class HttpReply(NamedTuple):
    """What a vendor answered. ``headers``: by lower-case name; ``body``: as it came, secrets and all; ``clean``: without
    them, None where one cannot be taken out."""

    status: int
    headers: dict[str, str]
    body: bytes
    clean: bytes | None


class HttpClient:
    """A pool of connections to one vendor. May be used by several threads."""

    def __init__(self, hiding: Redaction, *, timeout: float, connections: int, this_machine: bool) -> None:
        self._hiding = hiding
        nobody = http.cookiejar.CookieJar(http.cookiejar.DefaultCookiePolicy(allowed_domains=[]))
        self._client = httpx2.Client(
            timeout=httpx2.Timeout(timeout, connect=min(timeout, 10.0)),
            limits=httpx2.Limits(max_connections=connections, max_keepalive_connections=connections),
            headers={"Accept-Encoding": "identity"},
            cookies=nobody,
            follow_redirects=False,
            trust_env=not this_machine,
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def exchange(self, request: Filled) -> tuple[HttpReply, Exchange]:
        """Send ``request``; what came back, and what of it may be kept. Raises UnansweredError where nothing whole came."""
        sent_at = time.time()
        try:
            with self._client.stream(
                request.method, _make_url(request.url), headers=request.headers, content=request.body
            ) as response:
                body = self._encode_body(response)
            headers = {name.lower(): value for name, value in response.headers.items()}
            reply = HttpReply(response.status_code, headers, body, self._hiding.body(body))
        except (httpx2.RequestError, httpx2.InvalidURL, UnansweredError) as error:
            failed = error if isinstance(error, UnansweredError) else self._make_failure(error)
            failed.exchanges = (self._kept(request, sent_at, None),)
            raise failed from None  # what the client raised holds the request, and with it the key
        return reply, self._kept(request, sent_at, reply)

    def _encode_body(self, response: httpx2.Response) -> bytes:
        parts, size = list[bytes](), 0
        for part in response.iter_bytes():
            size += len(part)
            if size > MAX_ANSWER:
                raise UnansweredError(
                    f"the answer is larger than {MAX_ANSWER} bytes and was not read to its end",
                    remedy="No detector answers at such length: see whether the card's address is right.",
                    charged="maybe",
                )
            parts.append(part)
        return b"".join(parts)

    def _make_failure(self, error: Exception) -> UnansweredError:
        words = self._hiding.text(str(error)) or type(error).__name__
        if isinstance(error, _OURS):
            return UnansweredError(f"the request cannot be made: {words}", remedy="Correct the card.", stop=True)
        if isinstance(error, _UNSENT):
            return UnansweredError(f"no connection: {words}", again=True)
        if isinstance(error, httpx2.TimeoutException):
            return UnansweredError(f"no answer in time: {words}", again=True, charged="maybe")
        return UnansweredError(f"the connection broke: {words}", again=True, charged="maybe")

    def _kept(self, request: Filled, sent_at: float, reply: HttpReply | None) -> Exchange:
        url = self._hiding.text(request.url)
        if request.step == "upload":
            url = f"{url.partition('?')[0]}?{HIDDEN}"  # signed: whoever has it may write there
        if reply is None:
            return Exchange(request.step, request.method, url, sent_at, time.time(), None, (), None)
        if request.step == "login":  # all of it may be a secret
            return Exchange(request.step, request.method, url, sent_at, time.time(), reply.status, (), None)
        headers = tuple(
            (name, HIDDEN if name == "set-cookie" else self._hiding.text(value))
            for name, value in reply.headers.items()
        )
        digest = None if reply.clean is None else hashlib.sha256(reply.clean).hexdigest()
        return Exchange(request.step, request.method, url, sent_at, time.time(), reply.status, headers, digest)


@lru_cache(maxsize=64)
def _make_url(url: str) -> httpx2.URL:
    return httpx2.URL(url)  # a vendor is asked at the same address again and again, and to read one is dear


def parse_retry_after(headers: dict[str, str]) -> float | None:
    """Seconds for which a vendor asks to be left alone: a number, or a date, counted from its own clock where it tells it.

    None where it says nothing, or nothing that can be read.
    """
    said = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", said):
        return float(said)
    until = _date_said(said)
    if until is None:
        return None
    now = _date_said(headers.get("date", ""))
    return max(0.0, until - (time.time() if now is None else now))


def _date_said(said: str) -> float | None:
    try:
        return parsedate_to_datetime(said).timestamp()
    except (ValueError, OverflowError):
        return None
