"""Asking an archive as it wants to be asked: one request at a time, with a pause, a name, and its robots.txt in mind.

*Reads* the network. *Writes* nothing. *Never*: two requests at once; a request before the pause is over; a redirect
followed; a cookie kept; an answer read without end; an archive asked again that said it wants to be left alone.
"""

from __future__ import annotations

import http.cookiejar
import re
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import penmark
from penmark.errors import ServiceError, UsageError
from penmark.shipped.sources import robots
from penmark.shipped.sources.payloads import MAX_PAGE

ATTEMPTS = 4
LONGEST = 300.0
"""Seconds that are waited for an archive that asks for it; who asks for more is left alone."""
PAUSE = 3.0
"""Seconds between two requests, unless told otherwise: the Wayback Machine takes 24 index queries a minute."""
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_AGAIN = (429, 500, 502, 503, 504)


class ArchiveReply(NamedTuple):
    """An answer: ``headers`` by lower-case name, ``body`` as it came over the wire, still packed."""

    status: int
    headers: dict[str, str]
    body: bytes


class PoliteClient:
    """One polite client. ``contact``: an address under which the archive can reach whoever runs this."""

    def __init__(self, contact: str, pause: float = PAUSE, sleep: Callable[[float], None] = time.sleep) -> None:
        self._agent = f"penmark/{penmark.__version__} (research corpus; contact: {contact})"
        self._pause, self._sleep = pause, sleep
        self._last: float | None = None
        self._rules: dict[str, robots.Robots] = {}
        self._clients: dict[bool, Any] = {}

    def get(self, url: str, headers: Mapping[str, str] | None = None, *, limit: int = MAX_PAGE) -> ArchiveReply:
        """The answer to a GET, whatever its status. Raises ServiceError where there is none, or robots.txt forbids it."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"{url!r} is no address", remedy="Give one that begins with https://.")
        place = f"{parts.scheme}://{parts.netloc}"
        if place not in self._rules:
            self._rules[place] = self._make_robots(place)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        rule = self._rules[place].forbids(path)
        if rule is not None:
            raise ServiceError(
                f"{place}/robots.txt asks programs not to fetch {path} (line {rule.line})",
                remedy="Ask the archive for another way, such as WARC files, and collect from those.",
            )
        pause = max(self._pause, self._rules[place].delay)
        return self._list_asked(url, headers or {}, pause, limit)

    def _make_robots(self, place: str) -> robots.Robots:
        reply = self._list_asked(f"{place}/robots.txt", {}, self._pause, robots.MAX_ROBOTS * 4)
        # RFC 9309: no such file means that everything may be fetched.
        body = reply.body if reply.status == 200 else b""
        return robots.parse_robots(body, "penmark")

    def _list_asked(self, url: str, headers: Mapping[str, str], pause: float, limit: int) -> ArchiveReply:
        for attempt in range(1, ATTEMPTS + 1):
            self._wait(pause)
            reply = self._ask_once(url, headers, limit)
            self._last = time.monotonic()
            if isinstance(reply, ArchiveReply) and reply.status not in _AGAIN:
                return reply
            asked = _retry_after(reply.headers) if isinstance(reply, ArchiveReply) else None
            if asked is not None and asked > LONGEST:
                raise ServiceError(
                    f"{_format_host(url)} asks to be left alone for {asked:.0f} seconds",
                    remedy="Run the same command again after that time.",
                )
            if attempt < ATTEMPTS:
                self._sleep(asked if asked is not None else pause * 2**attempt)
        said = f"status {reply.status}" if isinstance(reply, ArchiveReply) else reply
        raise ServiceError(
            f"{_format_host(url)} did not answer {url} in {ATTEMPTS} attempts ({said})",
            remedy="Run the same command again later.",
        )

    def _wait(self, pause: float) -> None:
        if self._last is not None and (left := self._last + pause - time.monotonic()) > 0:
            self._sleep(left)

    def _ask_once(self, url: str, headers: Mapping[str, str], limit: int) -> ArchiveReply | str:
        import httpx2

        given = {"User-Agent": self._agent, "Accept-Encoding": "gzip", **headers}
        try:
            with self._client(urlsplit(url).hostname in _LOOPBACK).stream("GET", url, headers=given) as response:
                parts, size = list[bytes](), 0
                for part in response.iter_raw():  # as it came: the archive's digest is of these bytes
                    size += len(part)
                    if size > limit:
                        raise ServiceError(f"the answer to {url} is larger than {limit} bytes", remedy="Leave it out.")
                    parts.append(part)
                named = {name.lower(): value for name, value in response.headers.items()}
                return ArchiveReply(response.status_code, named, b"".join(parts))
        except httpx2.InvalidURL as error:
            raise UsageError(f"{url!r} is no address ({error})", remedy="Correct it.") from None
        except httpx2.RequestError as error:
            return str(error) or type(error).__name__

    def _client(self, this_machine: bool) -> Any:
        import httpx2

        if this_machine not in self._clients:
            nobody = http.cookiejar.CookieJar(http.cookiejar.DefaultCookiePolicy(allowed_domains=[]))
            self._clients[this_machine] = httpx2.Client(
                timeout=httpx2.Timeout(60.0, connect=20.0),
                cookies=nobody,
                follow_redirects=False,
                trust_env=not this_machine,
            )
        return self._clients[this_machine]


def make_polite_client(options: Mapping[str, str], addresses: tuple[str, ...]) -> PoliteClient:
    """The client that the options ``contact`` and ``pause`` describe, for these addresses. Raises UsageError."""
    here = all(urlsplit(address).hostname in _LOOPBACK for address in addresses)
    contact = options.get("contact", "").strip()
    if contact == "" and not here:
        raise UsageError(
            "archives ask programs to say who runs them",
            remedy="Give --option contact=ADDRESS: a mail address or a page under which you can be reached.",
        )
    if not contact.isascii() or not contact.isprintable():
        raise UsageError(f"contact={contact!r} cannot stand in a header", remedy="Use plain ASCII characters.")
    text = options.get("pause", str(PAUSE))
    if re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,3})?", text) is None or (float(text) < 1 and not here):
        raise UsageError(f"pause={text} is not a number of seconds, at least 1", remedy="Give --option pause=3.")
    return PoliteClient(contact or "none", float(text))


def _retry_after(headers: Mapping[str, str]) -> float | None:
    said = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,9}", said):
        return float(said)
    try:
        return max(0.0, parsedate_to_datetime(said).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _format_host(url: str) -> str:
    return urlsplit(url).netloc
