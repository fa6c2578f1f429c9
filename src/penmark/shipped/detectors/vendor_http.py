"""A vendor with a JSON API, asked as its card says: log in, send, upload, poll.

*Reads* the environment variables that the card names, and what the vendor answers. *Writes* nothing. *Never*: asks
about a text that its caller did not give; sends a key where the card does not put one; tells one to anybody else.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from urllib.parse import unquote, urlsplit

from penmark.cards import requests
from penmark.cards.requests import LOOPBACK, Filled, Value
from penmark.errors import UsageError, suggest_name
from penmark.http.client import HttpClient
from penmark.http.redact import Redaction
from penmark.plugins import Answer, Declined, Heard
from penmark.records import Card, Request
from penmark.shipped.detectors.http_call import LEAST, HttpCall, Noted, is_secret
from penmark.shipped.detectors.vendor_account import VendorAccount


def sleep_seconds(seconds: float) -> bool:
    """Wait; False: nobody wants to end the waiting."""
    time.sleep(seconds)
    return False


class Vendor:
    """Asks one vendor. May be used by several threads; ``connections`` at once.

    ``settings`` and ``version``: as the protocol has them. ``base_url``: a server on this machine that is asked in the
    vendor's place. ``wait(seconds)`` returns True where the waiting is to end; ``turn(step)`` returns when the next request
    may leave, whichever it is. Raises UsageError for a key that is not in
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
        wait: Callable[[float], bool] = sleep_seconds,
        turn: Callable[[str], None] = lambda step: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        request = card.ask.request
        if request is None:
            raise UsageError("its card does not say how it is asked over HTTP", place=f"card {card.name}")
        keys, hiding = _collect_keys(request, environ), Redaction()
        for key in keys.values():
            hiding.add(str(key))
        origin = None if base_url is None else _format_origin(base_url)
        seconds = float(request.timeout) if timeout is None else timeout
        here = origin is not None or requests.find_local_address(request) is not None
        wire = HttpClient(hiding, timeout=seconds, connections=connections, this_machine=here)
        fixed = _collect_settings(request, settings, version)
        self._account = VendorAccount(
            card, request, fixed, keys, wire, hiding, origin=origin, wait=wait, turn=turn, clock=clock
        )

    def ask(self, text: str, call_id: str, noted: Noted = lambda job: None) -> Heard:
        """Ask about ``text``. ``call_id``: 3 to 36 letters and digits, for vendors that let the caller name the work.

        Raises UnansweredError.
        """
        return HttpCall(self._account, {"text": text, "id": call_id}).run(noted)

    def resume(self, job: Mapping[str, str]) -> Heard:
        """Ask what became of the work that ``noted`` was told of, without sending the text again. Raises UnansweredError."""
        return HttpCall(self._account, dict(job)).resumed()

    def read(self, text: str) -> Answer | Declined:
        """Ask about ``text`` under an id that nobody will know. Raises UnansweredError."""
        return self.ask(text, os.urandom(16).hex()).said

    def shown(self) -> list[Filled]:
        """The requests that ``ask`` would send: secrets by the names of their variables, what is not known by its place."""
        account = self._account
        hidden: dict[str, Value] = {name: f"{{env: {key.env}}}" for name, key in account.request.keys.items()}
        known: dict[str, Value] = {"text": "{text}", "id": "{id}", **account.fixed, **hidden}
        made = []
        for name, send in requests.list_steps(account.request):
            filled = requests.fill_request(name, send, known)
            made.append(filled._replace(url=unquote(account.at(filled.url))))
            known |= {taken: f"{{{taken}}}" for taken in send.take}
        return made

    def close(self) -> None:
        """Close the connections."""
        self._account.wire.close()


def _collect_keys(request: Request, environ: Mapping[str, str]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for name, key in request.keys.items():
        value = environ.get(key.env)
        if value is None or value == "":
            raise UsageError(
                f"the environment variable {key.env} is not set",
                remedy=f"It holds the vendor's {name}: export {key.env}=…",
            )
        if not is_secret(value):
            raise UsageError(
                f"{key.env} is shorter than {LEAST} characters, or has a space or a line end in it",
                remedy="Copy it again, alone.",
            )
        found[name] = value
    return found


def _collect_settings(request: Request, given: Mapping[str, str], version: str | None) -> dict[str, Value]:
    found: dict[str, Value] = {}
    asked = version if version is not None else request.version
    if asked is not None:
        found["version"] = asked
    for name, words in given.items():
        if name not in request.settings:
            known = ", ".join(request.settings) or "none"
            raise UsageError(
                f"its card has no setting {name}{suggest_name(name, request.settings)}", remedy=f"It has: {known}."
            )
        found[name] = _parse_value(name, words, request.settings[name])
    return found


def _parse_value(name: str, words: str, kind: str) -> Value:
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


def _format_origin(base_url: str) -> str:
    parts = urlsplit(base_url)
    if parts.scheme != "http" or parts.hostname not in LOOPBACK or parts.path not in ("", "/"):
        raise UsageError(
            f"{base_url} is no server on this machine",
            remedy="In a vendor's place only a server on this machine is asked: http://127.0.0.1:PORT.",
        )
    return parts.netloc
