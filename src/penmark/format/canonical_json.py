"""Canonical bytes and digests: the one reading of every byte.

A record's canonical form is RFC 8785 JSON, further restricted: keys are ASCII (but the verdicts of a card), numbers are
integers below 2**53, decimals travel as strings. A JSON line in any penmark file equals its own canonical form, or it is a
fault.
*Never*: floats, duplicate keys, two spellings of one value.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import unicodedata
from collections.abc import Callable
from typing import Any

import orjson

from penmark.errors import PenmarkError

MAX_INTEGER = 2**53 - 1
MAX_DEPTH = 32
DISPLAYED = "verdicts"
"""The key under which keys are words that a screen displays, in whichever script."""
MOST_MARKS = 100
"""So many combining marks stand in a row at most: to put longer rows in order (NFC) takes the square of their length."""
_STACKED = "\u0f73\u0f75\u0f81"  # of class 0, but made of marks that are not
# Marks are no letters, digits or white space: only where many such others stand in a row is it worth counting.
_ODD = re.compile(rf"(?<![^\w\s\0-\u02ff])[^\w\s\0-\u02ff]{{{MOST_MARKS + 1},}}")


def encode_json(value: Any) -> bytes:
    """Canonical bytes of a JSON value (no newline). Raises PenmarkError for what has no canonical form."""
    if _require_canonical(value, 0):
        return orjson.dumps(_sort_keys(value))
    # For ASCII keys and no floats orjson's sorted output is RFC 8785 byte for byte (tests hold it to rfc8785).
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def decode_json(data: bytes, *, place: str) -> Any:
    """The value of ``data``, which must be its own canonical form.

    Raises PenmarkError naming ``place`` for invalid JSON, duplicate keys, floats, white space, another key order.
    """
    try:
        value = orjson.loads(data)
    except ValueError as error:
        raise PenmarkError(
            f"not valid JSON ({error})", place=place, remedy="Restore the file from where it came."
        ) from None
    try:
        again = encode_json(value)
    except PenmarkError as error:
        raise PenmarkError(error.faults[0].fact, place=place, remedy="Decimals are written as strings.") from None
    if again != data:
        raise PenmarkError(
            "not in canonical form (RFC 8785: sorted ASCII keys, no white space, each key once)",
            place=place,
            remedy="Do not edit these files by hand; restore the file from where it came.",
        )
    return value


def format_json(value: Any) -> bytes:
    """JSON for people (indented, one final newline); never an input to a digest."""
    return (json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True) + "\n").encode()


def sha256(data: bytes) -> str:
    """Lower-case hexadecimal SHA-256 of ``data``."""
    return hashlib.sha256(data).hexdigest()


def fingerprint_text(salt: bytes, data: bytes) -> str:
    """The keyed fingerprint of an attested text: HMAC-SHA-256 under its own 32-byte salt, in hexadecimal."""
    return hmac.digest(salt, data, "sha256").hex()


def rank_name(seed: bytes, purpose: str, name: str) -> bytes:
    """The sort key of ``name`` in the draw ``purpose``: HMAC-SHA-256(seed, purpose ‖ 0 ‖ name)."""
    return hmac.digest(seed, purpose.encode() + b"\0" + name.encode(), "sha256")


def make_canonical_text(raw: bytes, place: str | None = None) -> bytes:
    """The canonical text of raw UTF-8 bytes: no BOM, line ends LF, NFC. Used to find look-alikes, never to scan.

    Raises UnicodeDecodeError where ``raw`` is not UTF-8, PenmarkError at ``place`` where it is ``has_piled_marks``.
    """
    text = raw.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if has_piled_marks(text):
        raise PenmarkError(PILED, place=place, remedy=UNPILE)
    return unicodedata.normalize("NFC", text).encode()


def has_piled_marks(text: str) -> bool:
    """Whether more than MOST_MARKS combining marks stand in a row. Takes time linear in the text."""
    for row in () if text.isascii() else _ODD.findall(text):
        marks = 0
        for char in row:
            marks = marks + 1 if unicodedata.combining(char) or char in _STACKED else 0
            if marks > MOST_MARKS:
                return True
    return False


PILED = f"holds more than {MOST_MARKS} combining marks in a row"
UNPILE = "No script is written so: take the text from a better copy, or leave it out."


def compare_line_ends(raw: bytes, same: Callable[[bytes], bool]) -> str:
    """What to add to "is another file" where ``raw`` would be the ``same`` with LF or with CRLF line ends; else nothing."""
    plain = raw.replace(b"\r\n", b"\n")
    turned = same(plain) or same(plain.replace(b"\n", b"\r\n"))
    return "; it differs only by its line ends, which some program converted" if turned else ""


def encodable(key: str) -> bool:
    """Whether a text has bytes in UTF-8: half of a surrogate pair has none."""
    return not any("\ud800" <= character <= "\udfff" for character in key)


def _sort_keys(value: Any) -> Any:
    """The value with its keys in the order of RFC 8785, by their UTF-16 code units."""
    if isinstance(value, dict):
        return {key: _sort_keys(value[key]) for key in sorted(value, key=lambda key: key.encode("utf-16-be"))}
    return [_sort_keys(item) for item in value] if isinstance(value, list | tuple) else value


def _require_canonical(value: Any, depth: int, displayed: bool = False) -> bool:
    """Raises PenmarkError for what has no canonical form. ``displayed``: the keys are words that a screen displays. Whether
    one of the keys is not ASCII."""
    if depth > MAX_DEPTH:
        raise PenmarkError(f"nested deeper than {MAX_DEPTH} levels")
    wide = False
    match value:
        case None | bool() | str():
            return False
        case int():
            if abs(value) > MAX_INTEGER:
                raise PenmarkError(f"the integer {value} is not below 2^53")
        case dict():
            for key, item in value.items():
                if not isinstance(key, str) or not (key.isascii() or (displayed and encodable(key))):
                    raise PenmarkError(f"the key {key!r} is not an ASCII string")
                wide = wide or not key.isascii()
                # Nearly all that is in records are texts and nothing: no call for each of them.
                if (type(item) is not str and item is not None) or depth >= MAX_DEPTH:
                    wide |= _require_canonical(item, depth + 1, key == DISPLAYED)
        case list() | tuple():
            for item in value:
                wide |= _require_canonical(item, depth + 1)
        case _:
            raise PenmarkError(f"{type(value).__name__} values have no canonical form here (decimals are strings)")
    return wide
