"""One text on its way to a vendor: the requests of its card, one after the other, and what each answer means.

*Reads* what the vendor answers. *Writes* nothing. *Never*: sends a text twice, but where a login had run out; asks for a
job by sending its text again; lets a vendor's words into a reason where they quote the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import urlsplit

from penmark import cards
from penmark.cards import requests
from penmark.cards.requests import LOOPBACK, Value
from penmark.errors import PenmarkError
from penmark.http.client import HttpReply, parse_retry_after
from penmark.plugins import Answer, Declined, Exchange, Heard, UnansweredError
from penmark.records import Login, Request, Send, Sign
from penmark.shipped.detectors.vendor_account import Token, VendorAccount

LEAST = 6
"""Characters of a secret: to hide a shorter one would change innocent words."""
MAX_WORDS = 120
"""Characters of a vendor's own words in a reason."""
QUOTE = 24
"""So many characters in a row, found in the text, are taken for a quotation of it."""
_STOP = {401, 402, 403, 404, 405, 410}
_GONE = {404, 410}
_PLAIN = re.compile(r"[A-Za-z0-9_~:=-][A-Za-z0-9._~:=-]{0,199}")
_SECRET = re.compile(r"[\x21-\x7e]+")
_SAID = ("/error/message", "/error", "/message", "/msg", "/detail")

Noted = Callable[[dict[str, str]], None]
"""Is told what the vendor calls the work, as soon as it has taken it on."""


class HttpCall:
    """One text on its way, and what is known of it so far."""

    def __init__(self, account: VendorAccount, values: dict[str, str]) -> None:
        self.account, self.request = account, account.request
        self.values: dict[str, Value] = {**account.fixed, **values}
        self.token: Token | None = None
        self.exchanges: list[Exchange] = []
        self.job: dict[str, str] = {}

    def run(self, noted: Noted) -> Heard:
        """Send the text, and wait for the answer. Raises UnansweredError."""
        return self._told(lambda: self._run(noted))

    def resumed(self) -> Heard:
        """Wait for the answer to a text that was sent before. Raises UnansweredError."""
        self.job = {name: str(value) for name, value in self.values.items() if name not in self.account.fixed}
        return self._told(self._poll_result)

    def _told(self, work: Callable[[], Answer | Declined]) -> Heard:
        try:
            return Heard(work(), tuple(self.exchanges))
        except UnansweredError as error:
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
            return self._make_final_answer(reply)
        polled = {name for name in taken if name in _list_placeholders(self.request.poll)}
        self.job = {name: taken[name] for name in sorted(polled)}
        noted(self.job)
        return self._poll_result()

    def _poll_result(self) -> Answer | Declined:
        poll = self.request.poll
        assert poll is not None
        until = self.account.clock() + poll.patience
        while True:
            pause = float(poll.every)
            try:
                reply, declined = self._sent("poll", poll)
                if declined is not None:
                    return declined
                if self._explain_value(reply, poll.at) in poll.among:
                    return self._make_final_answer(reply)
                trouble = UnansweredError(
                    f"the vendor did not come to an end within {poll.patience} seconds", again=True, charged="maybe"
                )
            except UnansweredError as error:
                if not error.again:
                    error.charged = "maybe"
                    raise
                trouble, pause = error, max(pause, error.retry_after or 0.0)
            if self.account.clock() + pause > until:
                trouble.charged = "maybe"
                raise trouble
            if self.account.wait(pause):
                raise UnansweredError("interrupted while the vendor was at work", again=True, charged="maybe")

    def _sent(self, step: str, send: Send) -> tuple[HttpReply, Declined | None]:
        """The answer to a request; a login that no longer counts is made anew, once."""
        self.token = self.account.token(self.login)
        reply = self._exchange_request(step, send)
        if reply.status == 401 and self.token is not None and step != "login":
            self.token = self.account.token(self.login, stale=self.token)
            reply = self._exchange_request(step, send)
        return reply, self._explain_meaning(step, reply)

    def login(self, login: Login) -> dict[str, str]:
        """Log in; what the answer gives. Raises UnansweredError."""
        reply = self._exchange_request("login", login)
        if (refused := self._explain_meaning("login", reply)) is not None:
            raise UnansweredError(f"the login was refused: {refused.reason}", stop=True)
        found = {name: self._explain_value(reply, pointer) for name, pointer in login.take.items()}
        values = {name: value for name, value in found.items() if value is not None and is_secret(value)}
        if len(values) < len(found):
            raise UnansweredError("the answer to the login holds no token where the card looks for it", stop=True)
        return values

    def _exchange_request(self, step: str, send: Send) -> HttpReply:
        secrets = {} if step == "upload" else {**self.account.keys, **(self.token.values if self.token else {})}
        try:
            filled = requests.fill_request(step, send, {**self.values, **secrets})
        except ValueError as error:
            raise UnansweredError(str(error), stop=True) from None
        filled = filled._replace(url=self._make_address(step, send, filled.url))
        self.account.turn(step)
        try:
            reply, exchange = self.account.wire.exchange(filled)
        except UnansweredError as error:
            self.exchanges += error.exchanges
            error.charged = "no" if step == "login" else error.charged
            raise
        self.exchanges.append(exchange)
        return reply

    def _make_address(self, step: str, send: Send, url: str) -> str:
        """Where the request goes. An address that the vendor gave may be anywhere, but not in the open."""
        if requests.PLACEHOLDER.fullmatch(send.url) is None:
            return self.account.at(url)
        try:
            scheme, host = urlsplit(url).scheme, urlsplit(url).hostname
        except ValueError:
            scheme, host = "", None
        here = self.account.here and scheme == "http" and host in LOOPBACK
        if host is None or not (scheme == "https" or here):
            raise UnansweredError(f"the vendor gave an address for the {step} that is not https", stop=True)
        return url

    def _explain_meaning(self, step: str, reply: HttpReply) -> Declined | None:
        """Declined where the vendor does not judge this text, None where it goes on. Raises UnansweredError for all else."""
        sign = next((sign for sign in self.request.errors if self._is_fitting(sign, reply)), None)
        if sign is None and reply.status < 300:
            return None
        means = _format_unsigned(step, reply.status) if sign is None else sign.means
        words = f"HTTP {reply.status}" + ("" if sign is None else f": {sign.because}") + self._words(reply)
        if means == "declined":
            return Declined(words, reply.clean)
        raise UnansweredError(
            words,
            again=means == "again",
            stop=means == "stop",
            retry_after=parse_retry_after(reply.headers),
            charged="maybe" if step != "login" and (reply.status >= 500 or reply.status < 300) else "no",
        )

    def _is_fitting(self, sign: Sign, reply: HttpReply) -> bool:
        if sign.status and reply.status not in sign.status:
            return False
        if sign.at is None:
            return True
        found = self._explain_value(reply, sign.at)
        if found is None or (not sign.among and sign.holds is None):
            return found is not None
        return found in sign.among or (sign.holds is not None and sign.holds.casefold() in found.casefold())

    def _explain_value(self, reply: HttpReply, pointer: str) -> str | None:
        try:
            return cards.look_up_pointers(reply.body, pointer)[0]
        except PenmarkError:
            return None

    def _taken(self, send: Send, reply: HttpReply) -> dict[str, str] | Declined:
        """What later requests need. What goes into a path is checked: it must stay one part of it."""
        whole = _whole_addresses(self.request)
        found = {}
        for name, pointer in send.take.items():
            value = self._explain_value(reply, pointer)
            if value is None or not (name in whole or _PLAIN.fullmatch(value)):
                return Declined(f"the answer holds no {name} where the card looks for it", reply.clean)
            found[name] = value
        return found

    def _make_final_answer(self, reply: HttpReply) -> Answer | Declined:
        if reply.clean is None:
            return Declined("the answer repeats a secret in a way that cannot be taken out, so it was not kept")
        if self.account.card.answer.unmeasured:
            try:
                why = cards.explain_unmeasured(self.account.card, reply.clean)
            except PenmarkError:
                why = None  # whoever reads the answer says what is wrong with it
            if why is not None:
                return Declined(why, reply.clean)
        return Answer(reply.clean)

    def _words(self, reply: HttpReply) -> str:
        """What the vendor says about it, where it says so in a usual place. A reason is public; the text may not be."""
        text = self.values.get("text")
        for said in (self._explain_value(reply, pointer) for pointer in _SAID):
            if said is None or not said.strip() or not isinstance(text, str):
                continue
            words = self.account.hiding.text(said)
            words = words if len(words) <= MAX_WORDS else words[: MAX_WORDS - 1] + "…"
            quoted = any(words[n : n + QUOTE] in text for n in range(max(1, len(words) - QUOTE + 1)))
            return "" if quoted else f" ({words})"
        return ""


def _format_unsigned(step: str, status: int) -> str:
    """What a status means where the card has no sign for it."""
    if status == 429 or status >= 500:
        return "again"
    if step == "poll" and status in _GONE:
        return "failed"
    return "stop" if status < 400 or status in _STOP else "declined"


def _list_placeholders(send: Send) -> set[str]:
    places = (send.url, send.body or "", *send.headers.values())
    return {name for place in places for name in requests.PLACEHOLDER.findall(place)}


def _whole_addresses(request: Request) -> set[str]:
    matches = (requests.PLACEHOLDER.fullmatch(send.url) for _, send in requests.list_steps(request))
    return {match[1] for match in matches if match is not None}


def is_secret(value: str) -> bool:
    """Whether a value can be a key or a token: visible characters, and enough of them."""
    return len(value) >= LEAST and _SECRET.fullmatch(value) is not None
