"""A provider of models, asked over HTTP for one text at a time. What differs between providers is said by those that follow.

*Reads* the environment variable that holds the key, and the network. *Writes* nothing. *Never*: sends a setting that
nobody asked for (but where a provider insists on one); asks twice; takes a text from anywhere but the bytes of the answer.
"""

from __future__ import annotations

import ipaddress
import json
import os
import re
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple
from urllib.parse import urlsplit

import orjson

from penmark.cards.requests import Filled
from penmark.errors import UsageError, suggest_name
from penmark.http.client import HttpClient, HttpReply, parse_retry_after
from penmark.http.redact import HIDDEN, Redaction
from penmark.plugins import Exchange, Prepared, UnansweredError, Written
from penmark.shipped.generators.json_values import NUMBER, get_string, parse_setting

TIMEOUT = 600.0
"""Seconds without a byte: a model may think for minutes before its answer begins."""
LEAST = 6
"""Characters of a key: to hide a shorter one would change innocent words."""
_OWN = ("model", "base_url", "key", "timeout")
_SETTING = "settings."
_STOP = {401, 402, 403, 404, 405, 410}
_AGAIN = {408, 425, 429}
_SPENT = re.compile(r"insufficient_quota|credit balance|billing", re.IGNORECASE)
_FILTER = re.compile(r"content[ _]?(?:filter|policy|management)|moderation|safety system", re.IGNORECASE)
_VISIBLE = re.compile(r"[\x21-\x7e]+")


class ProviderAnswer(NamedTuple):
    """What stands in an answer. ``text``: None where it holds none. ``cut``: not for a reason that is known to mean a whole
    text; servers invent others."""

    text: str | None
    finish_reason: str | None = None
    cut: bool = False
    refused: bool = False
    model: str | None = None
    answer_id: str | None = None
    fingerprint: str | None = None
    tokens_read: int | None = None
    tokens_written: int | None = None


class Provider:
    """Options: ``model``; ``base_url``, another server of the same shape; ``key``, the name of the environment variable
    that holds the key; ``timeout`` in seconds; ``settings.NAME``. Raises UsageError for what is missing or unknown.
    """

    base_url: ClassVar[str]
    key: ClassVar[str | None]
    """The environment variable that holds the key, unless told otherwise."""
    names: ClassVar[Mapping[str, str | None]] = {}
    """What a setting is called here; None where this provider has none of the kind. Others are sent as they are called."""
    required: ClassVar[Mapping[str, str]] = {}
    """Settings without which this provider does not answer."""
    request_ids: ClassVar[tuple[str, ...]] = ("x-request-id", "request-id")

    def __init__(self, options: dict[str, str], *, environ: Mapping[str, str] = os.environ) -> None:
        given = {n.removeprefix(_SETTING): v for n, v in options.items() if n.startswith(_SETTING)}
        for name in options:
            if name not in _OWN and not name.startswith(_SETTING):
                raise UsageError(
                    f"a generator has no option {name!r}{suggest_name(name, _OWN)}",
                    remedy=f"It has {', '.join(_OWN)}, and settings.NAME for what is sent.",
                )
        if options.get("model", "") == "":
            raise UsageError("no model is named", remedy="Name it under generation.models in the protocol.")
        self.model = options["model"]
        self.url = options.get("base_url", self.base_url).rstrip("/")
        if self.url == "":
            raise UsageError(
                "this generator needs the option `base_url`", remedy="Write base_url: http://127.0.0.1:8000/v1."
            )
        self.local = _is_local(self.url)
        self.settings, self.not_honoured = self._named(given)
        self._hiding = Redaction()
        self._secret = self._found(options.get("key"), environ)
        timeout = _compute_seconds(options.get("timeout"))
        self._wire = HttpClient(self._hiding, timeout=timeout, connections=1, this_machine=self.local)

    @classmethod
    def here(cls, options: Mapping[str, str]) -> bool:
        """Whether the server is on this machine; needs no key. Raises UsageError for an address to which none should go."""
        url = options.get("base_url", cls.base_url)
        return url != "" and _is_local(url)

    def _named(self, given: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
        sent = dict(self.required)
        for name, value in given.items():
            here = self.names.get(name, name)
            if here is not None:
                sent[here] = value
        return dict(sorted(sent.items())), tuple(sorted(n for n in given if self.names.get(n, n) is None))

    def _found(self, name: str | None, environ: Mapping[str, str]) -> str | None:
        self.variable = variable = name if name is not None else self.key
        if variable is None:
            return None
        value = environ.get(variable, "").strip()
        if value == "" and name is None and self.local:
            return None
        if _VISIBLE.fullmatch(value) is None or len(value) < LEAST:
            raise UsageError(
                f"the environment variable {variable} {'is not set' if value == '' else 'holds no key'} "
                f"(the key for {self.model})",
                remedy=f"export {variable}=…; penmark never writes it down.",
            )
        self._hiding.add(value)
        return value

    def prepare(self, prompt: str) -> Prepared:
        """The request for a text. Nothing is sent."""
        body = orjson.dumps(self.body(prompt, {name: parse_setting(value) for name, value in self.settings.items()}))
        headers = {"Accept": "application/json", "Content-Type": "application/json", "User-Agent": "penmark"}
        headers |= self.headers()
        url = f"{self.url}{self.path()}"
        return Prepared("POST", url, tuple(headers.items()), body, self.settings, self.not_honoured)

    def write(self, prepared: Prepared) -> Written:
        """Ask once. Raises UnansweredError where no text came, with what to do about it."""
        headers = {**dict(prepared.headers), **(self.credentials(self._secret) if self._secret is not None else {})}
        try:
            reply, exchange = self._wire.exchange(Filled("send", prepared.method, prepared.url, headers, prepared.body))
        except UnansweredError as error:
            raise _make_ours_error(error) from None
        value = _make_json(reply.body)
        if not 200 <= reply.status < 300:
            return self._explain_refusal(reply, exchange, value)
        said = self.said(value) if isinstance(value, dict) and value.get("error") is None else None
        if said is None:
            fact = self._told(reply, value) or "the answer is not in the provider's form"
            raise UnansweredError(f"no text came: {fact}", again=True, charged="maybe")
        return self._make_written(said, reply, exchange, None)

    def close(self) -> None:
        """Close the connections."""
        self._wire.close()

    def _explain_refusal(self, reply: HttpReply, exchange: Exchange, value: Any) -> Written:
        """An answer of another status than success: a filter that would not let the prompt or the text pass, or none."""
        told = self._told(reply, value)
        words = reply.body[:4000].decode("utf-8", "replace")
        fact = f"HTTP {reply.status}{f': {told}' if told else ''}"
        if reply.status == 429 and _SPENT.search(words):
            raise UnansweredError(fact, remedy="See the account at the provider.", stop=True)
        if reply.status in _AGAIN or reply.status >= 500:
            raise UnansweredError(fact, again=True, retry_after=parse_retry_after(reply.headers), charged="no")
        if reply.status in (400, 403, 422) and _FILTER.search(words):
            return self._make_written(ProviderAnswer(None, f"HTTP {reply.status}", refused=True), reply, exchange, told)
        remedy = {
            401: f"See whether the environment variable {self.variable or '(none is named)'} holds the right key.",
            404: "See whether the model is called so, and the address is right.",
        }.get(reply.status, "The next prompt would fare no better: see what the provider says.")
        raise UnansweredError(fact, remedy=remedy, stop=True)

    def _make_written(self, said: ProviderAnswer, reply: HttpReply, exchange: Exchange, remark: str | None) -> Written:
        text = said.text
        if reply.clean is None or (text is not None and self._hiding.text(text) != text):
            text, remark = None, "the answer repeats the key; it is not kept"
        elif text is not None and not _is_unicode(text):
            text, remark = None, "the answer's text is no Unicode text (NUL, or half of a surrogate pair)"
        elif text is None and remark is None:
            remark = "the answer holds no text"
        headers = dict(exchange.headers)
        return Written(
            text=text,
            finish_reason=said.finish_reason,
            cut=said.cut,
            refused=said.refused,
            remark=remark,
            model=said.model,
            answer_id=said.answer_id,
            request_id=next((headers[name] for name in self.request_ids if name in headers), None),
            fingerprint=said.fingerprint,
            tokens_read=said.tokens_read,
            tokens_written=said.tokens_written,
            status=reply.status,
            headers=exchange.headers,
            body=HIDDEN.encode() if reply.clean is None else reply.clean,
            sent_at=exchange.sent_at,
            got_at=exchange.got_at,
        )

    def _told(self, reply: HttpReply, value: Any) -> str | None:
        """The provider's own words about what went wrong, short, and without secrets."""
        for path in (("error", "message"), ("error",), ("message",), ("detail",)):
            words = get_string(value, *path)
            if words:
                clean = " ".join(self._hiding.text(words).split())
                return clean if len(clean) <= 160 else f"{clean[:159]}…"
        return None

    # What differs between providers.

    def path(self) -> str:
        """What follows the address of the server."""
        raise NotImplementedError

    def headers(self) -> dict[str, str]:
        """Headers beside the usual ones, no secret among them."""
        return {}

    def credentials(self, secret: str) -> dict[str, str]:
        """The header that carries the key."""
        return {"Authorization": f"Bearer {secret}"}

    def body(self, prompt: str, settings: dict[str, Any]) -> dict[str, Any]:
        """The body of a request."""
        raise NotImplementedError

    def said(self, value: dict[str, Any]) -> ProviderAnswer | None:
        """What stands in an answer; None where it has not the provider's form."""
        raise NotImplementedError


# --- what comes in ----------------------------------------------------------------------------------------------------


def _make_json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _is_unicode(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _is_local(url: str) -> bool:
    """Whether the server is on this machine. Raises UsageError for an address to which no key should go."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        local = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        local = False
    if host == "" or parts.scheme not in ("http", "https") or parts.username is not None or parts.query:
        raise UsageError(f"{url!r} is no address of a server", remedy="Write it like https://host/v1.")
    if parts.scheme == "http" and not local:
        raise UsageError(f"{url!r} would send prompts and the key in the clear", remedy="Write https://.")
    return local


def _compute_seconds(given: str | None) -> float:
    if given is None:
        return TIMEOUT
    if NUMBER.fullmatch(given) is None or not 0 < float(given) <= 86400:
        raise UsageError(f"the option timeout is no number of seconds: {given!r}", remedy="Write timeout: 600.")
    return float(given)


def _make_ours_error(error: UnansweredError) -> UnansweredError:
    """The same in words that speak of a provider, not of a card."""
    fault = error.faults[0]
    remedy = "See whether the address of the server is right." if error.stop else None
    return UnansweredError(
        fault.fact, remedy=remedy, again=error.again or not error.stop, stop=error.stop, charged=error.charged
    )
