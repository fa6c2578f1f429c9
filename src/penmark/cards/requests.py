"""Requests of a card: the values that go into them, and what is wrong with how they are written (docs/format.md, 4).

*Reads* and *writes* nothing. *Never*: sends anything; looks for a placeholder in what took the place of another.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from decimal import ROUND_CEILING, Decimal
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from penmark.records import Price, Request, Send
from penmark.yaml_records import Remark

PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")
LOOPBACK = ("127.0.0.1", "::1", "localhost")
Value = str | int | float | bool
_TEXT = "{text}"
_OURS = {"text", "id", "version"}
_NOT_OURS = {"host", "content-length", "transfer-encoding", "accept-encoding", "connection"}
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VISIBLE = re.compile(r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?")


class Filled(NamedTuple):
    """A request with its values in place. ``step``: login, send, upload or poll."""

    step: str
    method: str
    url: str
    headers: dict[str, str]
    body: bytes | None


def list_steps(request: Request) -> list[tuple[str, Send]]:
    """The requests of a card in their order, by what they do."""
    named = (("login", request.login), ("send", request.send), ("upload", request.upload), ("poll", request.poll))
    return [(name, send) for name, send in named if send is not None]


def fill_request(step: str, send: Send, values: Mapping[str, Value]) -> Filled:
    """``send`` with ``values`` in the place of their names.

    A value in a URL is percent-encoded, unless it is all of it; a member or an item of the body whose value is not known
    is left out. Raises KeyError for a name that is not known elsewhere, ValueError for a value that no header can hold.
    """
    whole = PLACEHOLDER.fullmatch(send.url)
    url = str(values[whole[1]]) if whole else PLACEHOLDER.sub(lambda m: quote(str(values[m[1]]), safe=""), send.url)
    headers = {name: _fill_placeholders(value, values) for name, value in send.headers.items()}
    for name, value in headers.items():
        if _VISIBLE.fullmatch(value) is None:
            raise ValueError(f"the value for the header {name} has characters that no header can hold")
    body = None
    if send.body == _TEXT:
        body = str(values["text"]).encode()
    elif send.body is not None:
        body = json.dumps(
            _fill_part(_parse_template(send.body), values), ensure_ascii=False, separators=(",", ":")
        ).encode()
        headers = {"Content-Type": "application/json", **headers}
    return Filled(step, send.method, url, {"Accept": "application/json", **headers}, body)


def _fill_placeholders(template: str, values: Mapping[str, Value]) -> str:
    return PLACEHOLDER.sub(lambda m: str(values[m[1]]), template)


@lru_cache(maxsize=64)
def _parse_template(body: str) -> Any:
    return json.loads(body)


def _fill_part(part: Any, values: Mapping[str, Value]) -> Any:
    if isinstance(part, dict):
        return {
            key: _fill_part(value, values) for key, value in part.items() if not _is_unset_placeholder(value, values)
        }
    if isinstance(part, list):
        return [_fill_part(value, values) for value in part if not _is_unset_placeholder(value, values)]
    if not isinstance(part, str):
        return part
    whole = PLACEHOLDER.fullmatch(part)
    return values[whole[1]] if whole else _fill_placeholders(part, values)


def _is_unset_placeholder(part: Any, values: Mapping[str, Value]) -> bool:
    whole = PLACEHOLDER.fullmatch(part) if isinstance(part, str) else None
    return whole is not None and whole[1] not in values


def find_local_address(request: Request) -> str | None:
    """The address of a server on this machine that a card asks, where it is one."""
    host = urlsplit(request.send.url).hostname
    return host if host in LOOPBACK else None


def price_text(price: Price, words: int, characters: int) -> Decimal:
    """What the vendor takes for one text, in the currency of ``price``; rounded per text, as the vendor does it."""
    units = Decimal({"words": words, "characters": characters, "texts": 1}[price.unit]) / price.per
    return Decimal(price.amount) * (units.to_integral_value(ROUND_CEILING) if price.rounding == "up" else units)


# --- what is wrong with them ---------------------------------------------------------------------------------------


def check_request(request: Request) -> Iterator[Remark]:
    """Everything that is wrong with a request whose fields are each right; places are relative to the card."""
    if taken := sorted((_OURS & {*request.keys, *request.settings}) | (set(request.keys) & set(request.settings))):
        yield _make_remark((), f"{taken[0]} is the name of two things", "Give the key or the setting another name.")
    holds = [name for name, send in list_steps(request) if send.body is not None and _TEXT in send.body]
    if len(holds) != 1 or holds[0] in ("login", "poll"):
        yield _make_remark(("send", "body"), "{text} stands in one body, of `send` or of `upload`")
    known = set(request.keys)
    secret = {*request.keys, *(request.login.take if request.login is not None else ())}
    for name, send in list_steps(request):
        there = known if name == "login" else {"id", *known}
        yield from _check_step(request, name, send, there - secret if name == "upload" else there)
        known |= set(send.take)
    yield from _check_private_values(request)


def _make_remark(loc: tuple[str, ...], fact: str, remedy: str | None = None) -> Remark:
    return Remark(("ask", "request", *loc), fact, remedy)


def _check_step(request: Request, name: str, send: Send, known: set[str]) -> Iterator[Remark]:
    optional = set() if name == "login" else {"version", *request.settings}
    if not send.take and name == "login":
        yield _make_remark((name, "take"), "is empty", "Say where the token stands in the answer.")
    yield from _check_url(name, send.url, known)
    for header, value in send.headers.items():
        if _TOKEN.fullmatch(header) is None or header.lower() in _NOT_OURS:
            yield _make_remark((name, "headers", header), "is not a header that a card can set")
        yield from _check_placeholders((name, "headers", header), value, known)
    if send.body is None or send.body == _TEXT:
        return
    try:
        body = json.loads(send.body, object_pairs_hook=_require_unique_keys)
    except ValueError as error:
        yield _make_remark((name, "body"), f"is not JSON: {error}", "Write JSON, or {text} alone.")
        return
    for part in _list_strings(body):
        whole = PLACEHOLDER.fullmatch(part)
        if whole is None or whole[1] not in {"text", *optional}:
            yield from _check_placeholders((name, "body"), part, known)


def _check_url(name: str, url: str, known: set[str]) -> Iterator[Remark]:
    yield from _check_placeholders((name, "url"), url, known)
    if name == "upload" and PLACEHOLDER.fullmatch(url):
        return
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        host = ""
    if not host or "{" in parts.netloc or "@" in parts.netloc or parts.fragment:
        yield _make_remark((name, "url"), f"{url!r} is not a plain address", "Write https://host/path.")
    elif parts.scheme != "https" and not (parts.scheme == "http" and host in LOOPBACK):
        yield _make_remark(
            (name, "url"), "texts and keys travel by https only", "http is for this machine (127.0.0.1)."
        )


def _check_placeholders(loc: tuple[str, ...], template: str, known: set[str]) -> Iterator[Remark]:
    for name in PLACEHOLDER.findall(template):
        if name not in known:
            there = ", ".join(f"{{{each}}}" for each in sorted(known)) or "none"
            yield _make_remark(loc, f"{{{name}}} is not known here", f"Known here: {there}.")


def _check_private_values(request: Request) -> Iterator[Remark]:
    for pointer in request.private:
        try:
            part = json.loads(request.send.body or "null")
            for token in pointer.split("/")[1:]:
                part = part[token]
        except (ValueError, KeyError, TypeError):
            part = _TEXT
        if isinstance(part, dict | list) or (isinstance(part, str) and PLACEHOLDER.search(part)):
            yield _make_remark(("private",), f"{pointer} is not a fixed value in the body of `send`")


def _require_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)


def _list_strings(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict | list):
        for each in part.values() if isinstance(part, dict) else part:
            yield from _list_strings(each)
