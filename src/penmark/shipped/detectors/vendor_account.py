"""What stays from text to text while one vendor is asked: keys, settings, connections, the login.

*Reads* nothing. *Writes* nothing. *Never* keeps a token on the disk.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from penmark.cards import requests
from penmark.cards.requests import Value
from penmark.http.client import HttpClient
from penmark.http.redact import Redaction
from penmark.records import Card, Login, Request

MARGIN = 600.0
"""Seconds before the end of a login's time at which it is made anew."""


class Token(NamedTuple):
    """What a login gave, and until when (by the account's clock) it is used."""

    values: dict[str, Value]
    until: float


class VendorAccount:
    """One account with one vendor. Used by several threads.

    ``fixed``: version and settings that are sent; ``keys``: secrets by name; ``origin``: host and port of a server on this
    machine that is asked in the vendor's place. ``wait(seconds)`` returns True where the waiting is to end; ``turn(step)``
    returns when the next request may leave.
    """

    def __init__(
        self,
        card: Card,
        request: Request,
        fixed: Mapping[str, Value],
        keys: Mapping[str, Value],
        wire: HttpClient,
        hiding: Redaction,
        *,
        origin: str | None,
        wait: Callable[[float], bool],
        turn: Callable[[str], None],
        clock: Callable[[], float],
    ) -> None:
        self.card, self.request, self.fixed, self.keys = card, request, fixed, keys
        self.wire, self.hiding, self.origin = wire, hiding, origin
        self.wait, self.turn, self.clock = wait, turn, clock
        self._token: Token | None = None
        self._login = threading.Lock()

    @property
    def here(self) -> bool:
        """Whether a server on this machine is asked, in the vendor's place or by the card itself."""
        return self.origin is not None or requests.find_local_address(self.request) is not None

    def at(self, url: str) -> str:
        """``url``, or the same path on the server that is asked in the vendor's place."""
        if self.origin is None:
            return url
        return urlsplit(url)._replace(scheme="http", netloc=self.origin).geturl()

    def token(self, log_in: Callable[[Login], dict[str, str]], stale: Token | None = None) -> Token | None:
        """What the login gave, where the card has one; made anew where there is none yet, it is about to end, or is ``stale``."""
        login = self.request.login
        if login is None:
            return None
        with self._login:
            if self._token is None or self._token is stale or self.clock() > self._token.until:
                values = log_in(login)
                for value in values.values():
                    self.hiding.add(value)
                self._token = Token(dict(values), self.clock() + login.hours * 3600 - MARGIN)
            return self._token
