"""A vendor with a JSON API, asked as its card says: log in, send, upload, poll.

*Reads* the environment variables that the card names, and what the vendor answers. *Writes* nothing. *Never*: sends a
text that its caller did not give; sends it twice in one call; sends a key where the card does not put one; keeps one.
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from penmark import cards
from penmark.cards import requests
from penmark.cards.requests import LOOPBACK, Filled, Value
from penmark.detectors.hiding import LEAST, Hiding
from penmark.detectors.wire import Reply, Wire, retry_after
from penmark.errors import PenmarkError, UsageError, did_you_mean
from penmark.plugins import Answer, Declined, Exchange, Heard, Unanswered
from penmark.records import Card, Request, Send, Sign

MARGIN = 600.0
"""Seconds before the end of a login's time at which it is made anew."""
MAX_WORDS = 120
"""Characters of a vendor's own words in a reason."""
_STOP = {401, 402, 403, 404, 405, 410}
_PLAIN = re.compile(r"[A-Za-z0-9_~:=-][A-Za-z0-9._~:=-]{0,199}")
_SECRET = re.compile(r"[\x21-\x7e]+")

Noted = Callable[[dict[str, str]], None]
"""Is told what the vendor calls the work, as soon as it has taken it on."""


def sleep(seconds: float) -> bool:
    """Wait; False: nobody wants to end the waiting."""
    time.sleep(seconds)
    return False


class Token(NamedTuple):
    """What a login gave, and until when (by the vendor object's clock) it is used."""

    values: dict[str, Value]
    until: float


class Vendor:
    """Asks one vendor. May be used by several threads; ``connections`` at once.

    ``settings`` and ``version``: as the protocol has them. ``base_url``: a server on this machine that is asked in the
    vendor's place. ``wait(seconds)`` returns True where the waiting is to end. Raises UsageError for a key that is not in
    the environment, and for settings that the card does not have.
    """

    version: str | None = None
    """The vendor's version is what stands in its answers."""

    def __init__(
        self,
        card: Card,
        settings: Mapping[str, str],
        version: str | None = None,
        *,
        environ: Mapping[str, str] = os.environ,
        base_url: str | None = None,
        connections: int = 1,
        timeout: float | None = None,
        wait: Callable[[float], bool] = sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        request = card.ask.request
        if request is None:
            raise UsageError("its card does not say how it is asked over HTTP", place=f"card {card.name}")
        self.card, self.request = card, request
        self.wait, self.clock = wait, clock
        self.fixed = _settings(request, settings, version)
        self.hiding = Hiding()
        self.keys = _keys(request, environ)
        for key in self.keys.values():
            self.hiding.add(str(key))
        self.origin = None if base_url is None else _origin(base_url)
        seconds = float(request.timeout) if timeout is None else timeout
        self.wire = Wire(self.hiding, timeout=seconds, connections=connections, this_machine=self.origin is not None)
        self._token: Token | None = None
        self._login = threading.Lock()

    def ask(self, text: str, call_id: str, noted: Noted = lambda job: None) -> Heard:
        """Ask about ``text``. ``call_id``: 3 to 36 letters and digits, for vendors that let the caller name the work.

        Raises Unanswered.
        """
        return _Call(self, {"text": text, "id": call_id}).run(noted)

    def resume(self, job: Mapping[str, str]) -> Heard:
        """Ask what became of the work that ``noted`` was told of, without sending the text again. Raises Unanswered."""
        return _Call(self, dict(job)).resumed()

    def read(self, text: str) -> Answer | Declined:
        """Ask about ``text`` under an id that nobody will know. Raises Unanswered."""
        return self.ask(text, os.urandom(16).hex()).said

    def shown(self) -> list[Filled]:
        """The requests that ``ask`` would send: secrets by the names of their variables, what is not known by its place."""
        hidden: dict[str, Value] = {name: f"{{env: {key.env}}}" for name, key in self.request.keys.items()}
        known: dict[str, Value] = {"text": "{text}", "id": "{id}", **self.fixed, **hidden}
        made = []
        for name, send in requests.steps(self.request):
            filled = requests.filled(name, send, known)
            made.append(filled._replace(url=unquote(self.at(filled.url))))
            known |= {taken: f"{{{taken}}}" for taken in send.take}
        return made

    def close(self) -> None:
        """Close the connections."""
        self.wire.close()

    def at(self, url: str) -> str:
        """``url``, or the same path on the server that is asked in the vendor's place."""
        if self.origin is None:
            return url
        return urlsplit(url)._replace(scheme="http", netloc=self.origin).geturl()

    def token(self, call: _Call, stale: Token | None = None) -> Token | None:
        """What the login gave; made anew where there is none, it is about to end, or it is ``stale``."""
        login = self.request.login
        if login is None:
            return None
        with self._login:
            if self._token is None or self._token is stale or self.clock() > self._token.until:
                values = call.login(login)
                for value in values.values():
                    self.hiding.add(value)
                self._token = Token(dict(values), self.clock() + login.hours * 3600 - MARGIN)
            return self._token


class _Call:
    """One text on its way, and what is known of it so far."""

    def __init__(self, vendor: Vendor, values: dict[str, str]) -> None:
        self.vendor, self.request = vendor, vendor.request
        self.values: dict[str, Value] = {**vendor.fixed, **values}
        self.token: Token | None = None
        self.exchanges: list[Exchange] = []
        self.job: dict[str, str] = {}

    def run(self, noted: Noted) -> Heard:
        return self._told(lambda: self._run(noted))

    def resumed(self) -> Heard:
        self.job = {name: str(value) for name, value in self.values.items() if name not in self.vendor.fixed}
        return self._told(self._polled)

    def _told(self, work: Callable[[], Answer | Declined]) -> Heard:
        try:
            return Heard(work(), tuple(self.exchanges))
        except Unanswered as error:
            error.exchanges, error.job = tuple(self.exchanges), self.job
            raise

    def _run(self, noted: Noted) -> Answer | Declined:
        reply, declined = self._sent("send", self.request.send)
        if declined is not None:
            return declined
        taken = self._taken(self.request.send, reply)
        if isinstance(taken, Declined):
            return taken
        self.values |= taken
        if self.request.upload is not None:
            _, declined = self._sent("upload", self.request.upload)
            if declined is not None:
                return declined
        if self.request.poll is None:
            return self._final(reply)
        polled = {name for name in taken if name in _placeholders(self.request.poll)}
        self.job = {name: taken[name] for name in sorted(polled)}
        noted(self.job)
        return self._polled()

    def _polled(self) -> Answer | Declined:
        poll = self.request.poll
        assert poll is not None
        until = self.vendor.clock() + poll.patience
        while True:
            pause = float(poll.every)
            try:
                reply, declined = self._sent("poll", poll)
                if declined is not None:
                    return declined
                if self._value(reply, poll.at) in poll.among:
                    return self._final(reply)
                trouble = Unanswered(
                    f"the vendor did not come to an end within {poll.patience} seconds", again=True, charged="maybe"
                )
            except Unanswered as error:
                if not error.again:
                    error.charged = "maybe"
                    raise
                trouble, pause = error, max(pause, error.retry_after or 0.0)
            if self.vendor.clock() + pause > until:
                trouble.charged = "maybe"
                raise trouble
            if self.vendor.wait(pause):
                raise Unanswered("interrupted while the vendor was at work", again=True, charged="maybe")

    def _sent(self, step: str, send: Send) -> tuple[Reply, Declined | None]:
        """The answer to a request; a login that no longer counts is made anew, once."""
        self.token = self.vendor.token(self)
        reply = self._exchanged(step, send)
        if reply.status == 401 and self.token is not None and step != "login":
            self.token = self.vendor.token(self, stale=self.token)
            reply = self._exchanged(step, send)
        return reply, self._meant(step, reply)

    def login(self, login: Send) -> dict[str, str]:
        """Log in; what the answer gives. Raises Unanswered."""
        reply = self._exchanged("login", login)
        if (refused := self._meant("login", reply)) is not None:
            raise Unanswered(f"the login was refused: {refused.reason}", stop=True)
        found = {name: self._value(reply, pointer) for name, pointer in login.take.items()}
        values = {name: value for name, value in found.items() if value is not None and _is_secret(value)}
        if len(values) < len(found):
            raise Unanswered("the answer to the login holds no token where the card looks for it", stop=True)
        return values

    def _exchanged(self, step: str, send: Send) -> Reply:
        secrets = {} if step == "upload" else {**self.vendor.keys, **(self.token.values if self.token else {})}
        try:
            filled = requests.filled(step, send, {**self.values, **secrets})
        except ValueError as error:
            raise Unanswered(str(error), stop=True) from None
        filled = filled._replace(url=self._addressed(step, send, filled.url))
        try:
            reply, exchange = self.vendor.wire.exchange(filled)
        except Unanswered as error:
            self.exchanges += error.exchanges
            raise
        self.exchanges.append(exchange)
        return reply

    def _addressed(self, step: str, send: Send, url: str) -> str:
        """Where the request goes. An address that the vendor gave may be anywhere, but not in the open."""
        if requests.PLACEHOLDER.fullmatch(send.url) is None:
            return self.vendor.at(url)
        parts = urlsplit(url)
        here = self.vendor.origin is not None and parts.scheme == "http" and parts.hostname in LOOPBACK
        if parts.scheme != "https" and not here:
            raise Unanswered(f"the vendor gave an address for the {step} that is not https", stop=True)
        return url

    def _meant(self, step: str, reply: Reply) -> Declined | None:
        """Declined where the vendor does not judge this text, None where it goes on. Raises Unanswered for all else."""
        sign = next((sign for sign in self.request.errors if self._fits(sign, reply)), None)
        if sign is None and reply.status < 300:
            return None
        means = _unsigned(reply.status) if sign is None else sign.means
        words = f"HTTP {reply.status}" + ("" if sign is None else f": {sign.because}") + self._words(reply)
        if means == "declined":
            return Declined(words, reply.clean)
        raise Unanswered(
            words,
            again=means == "again",
            stop=means == "stop",
            retry_after=retry_after(reply.headers),
            charged="maybe" if step != "login" and (reply.status >= 500 or reply.status < 300) else "no",
        )

    def _fits(self, sign: Sign, reply: Reply) -> bool:
        if sign.status and reply.status not in sign.status:
            return False
        if sign.at is None:
            return True
        found = self._value(reply, sign.at)
        if found is None or (not sign.among and sign.holds is None):
            return found is not None
        return found in sign.among or (sign.holds is not None and sign.holds.casefold() in found.casefold())

    def _value(self, reply: Reply, pointer: str) -> str | None:
        try:
            return cards.looked_up(reply.body, pointer)[0]
        except PenmarkError:
            return None

    def _taken(self, send: Send, reply: Reply) -> dict[str, str] | Declined:
        """What later requests need. What goes into a path is checked: it must stay one part of it."""
        whole = _whole_addresses(self.request)
        found = {}
        for name, pointer in send.take.items():
            value = self._value(reply, pointer)
            if value is None or not (name in whole or _PLAIN.fullmatch(value)):
                return Declined(f"the answer holds no {name} where the card looks for it", reply.clean)
            found[name] = value
        return found

    def _final(self, reply: Reply) -> Answer | Declined:
        if reply.clean is None:
            return Declined("the answer repeats a secret in a way that cannot be taken out, so it was not kept")
        if self.vendor.card.answer.unmeasured:
            try:
                why = cards.unmeasured(self.vendor.card, reply.clean)
            except PenmarkError:
                why = None  # whoever reads the answer says what is wrong with it
            if why is not None:
                return Declined(why + self._words(reply), reply.clean)
        return Answer(reply.clean)

    def _words(self, reply: Reply) -> str:
        """What the vendor says about it, where it says so in one of the usual places."""
        for pointer in ("/error/message", "/error", "/message", "/msg", "/detail"):
            said = self._value(reply, pointer)
            if said is not None and said.strip():
                words = self.vendor.hiding.text(said)
                return f" ({words if len(words) <= MAX_WORDS else words[: MAX_WORDS - 1] + '…'})"
        return ""


def _unsigned(status: int) -> str:
    """What a status means where the card has no sign for it."""
    if status == 429 or status >= 500:
        return "again"
    return "stop" if status < 400 or status in _STOP else "declined"


def _placeholders(send: Send) -> set[str]:
    places = (send.url, send.body or "", *send.headers.values())
    return {name for place in places for name in requests.PLACEHOLDER.findall(place)}


def _whole_addresses(request: Request) -> set[str]:
    matches = (requests.PLACEHOLDER.fullmatch(send.url) for _, send in requests.steps(request))
    return {match[1] for match in matches if match is not None}


def _is_secret(value: str) -> bool:
    return len(value) >= LEAST and _SECRET.fullmatch(value) is not None


def _keys(request: Request, environ: Mapping[str, str]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for name, key in request.keys.items():
        value = environ.get(key.env)
        if value is None or value == "":
            raise UsageError(
                f"the environment variable {key.env} is not set",
                remedy=f"It holds the vendor's {name}: export {key.env}=…",
            )
        if not _is_secret(value):
            raise UsageError(
                f"{key.env} is shorter than {LEAST} characters, or has a space or a line end in it",
                remedy="Copy it again, alone.",
            )
        found[name] = value
    return found


def _settings(request: Request, given: Mapping[str, str], version: str | None) -> dict[str, Value]:
    found: dict[str, Value] = {}
    asked = version if version is not None else request.version
    if asked is not None:
        found["version"] = asked
    for name, words in given.items():
        if name not in request.settings:
            known = ", ".join(request.settings) or "none"
            raise UsageError(
                f"its card has no setting {name}{did_you_mean(name, request.settings)}", remedy=f"It has: {known}."
            )
        found[name] = _typed(name, words, request.settings[name])
    return found


def _typed(name: str, words: str, kind: str) -> Value:
    if kind == "text":
        return words
    try:
        value = json.loads(words)
    except ValueError:
        value = None
    if kind == "boolean" and isinstance(value, bool):
        return value
    if kind == "number" and isinstance(value, int | float) and not isinstance(value, bool):
        return value
    raise UsageError(f"the setting {name} is a {kind}, not {words!r}")


def _origin(base_url: str) -> str:
    parts = urlsplit(base_url)
    if parts.scheme != "http" or parts.hostname not in LOOPBACK or parts.path not in ("", "/"):
        raise UsageError(
            f"{base_url} is no server on this machine",
            remedy="In a vendor's place only a server on this machine is asked: http://127.0.0.1:PORT.",
        )
    return parts.netloc
