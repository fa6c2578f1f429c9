"""Secrets, kept out of everything that is stored or shown.

*Reads* nothing. *Writes* nothing. *Never* lets a body pass in which a secret still stands in another spelling.
"""

from __future__ import annotations

import base64
import html
import json
import re
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, quote_plus, unquote_plus

HIDDEN = "[hidden]"
_SPELLED = re.compile(rb"[\\%&+]")
"""What stands in any other spelling of a secret that the forms below do not know."""


class Redaction:
    """Knows secrets; more may be added at any time, from any thread."""

    def __init__(self) -> None:
        self._secrets: set[str] = set()
        self._pattern: re.Pattern[str] | None = None
        self._forms: tuple[bytes, ...] | None = None  # in small letters, where all of them are ASCII
        self._lock = threading.Lock()

    def add(self, secret: str) -> None:
        """Hide this too, from now on."""
        with self._lock:
            if secret in self._secrets:
                return
            self._secrets.add(secret)
            forms = sorted({form for each in self._secrets for form in _list_forms(each)}, key=len, reverse=True)
            plain = all(form.isascii() for form in forms)
            self._forms = tuple(form.lower().encode() for form in forms) if plain else None
            self._pattern = re.compile("|".join(re.escape(form) for form in forms), re.IGNORECASE)

    def text(self, words: str) -> str:
        """``words`` without the secrets."""
        return words if self._pattern is None else self._pattern.sub(HIDDEN, words)

    def body(self, raw: bytes) -> bytes | None:
        """``raw`` without the secrets; None where one stands in it in a way that cannot be taken out."""
        if self._pattern is None:
            return raw
        clean = raw
        if self._forms is None or any(map(raw.lower().__contains__, self._forms)):
            words = raw.decode("utf-8", "surrogateescape")  # so that bytes which are no UTF-8 stay what they are
            clean = self._pattern.sub(HIDDEN, words).encode("utf-8", "surrogateescape")
        if _SPELLED.search(clean) is not None and any(self._holds(words) for words in _list_readings(clean)):
            return None
        return clean

    def _holds(self, words: str) -> bool:
        return self._pattern is not None and self._pattern.search(words) is not None


def _list_forms(secret: str) -> Iterator[str]:
    """How a secret may stand in headers, addresses, JSON and pages."""
    written = json.dumps(secret)[1:-1]
    yield from (secret, written, written.replace("/", "\\/"), html.escape(secret))
    yield from (quote(secret, safe=""), quote(secret), quote_plus(secret))
    yield base64.b64encode(secret.encode()).decode().rstrip("=")


def _list_readings(clean: bytes) -> Iterator[str]:
    """The words that a reader of the body would see: as an address, as a page, as JSON."""
    words = clean.decode("utf-8", errors="replace")
    yield unquote_plus(words)
    yield html.unescape(words)
    try:
        yield "\n".join(_list_strings(json.loads(words)))
    except (ValueError, RecursionError):
        # No JSON that can be read whole; the escapes of JSON may still spell a secret.
        yield re.sub(r"\\u([0-9a-fA-F]{4})", lambda m: chr(int(m[1], 16)), words)


def _list_strings(value: Any) -> Iterator[str]:
    level = [value]
    while level:
        part = level.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict):
            level += [*part.keys(), *part.values()]
        elif isinstance(part, list):
            level += part
