"""What stands in an answer: a raw one (JSON), by the card's pointers, or one that somebody copied from a screen.

*Reads* and *writes* nothing. *Never*: parses a number; takes an answer that two readers could read differently.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, NamedTuple, NoReturn

from penmark.cards import numbers
from penmark.cards.call_rules import fold_classes, fold_verdict
from penmark.errors import PenmarkError
from penmark.records import Card

MAX_DEPTH = 128
"""A raw answer that nests deeper is not read."""


class Extracted(NamedTuple):
    """What stands in an answer, character by character; None where nothing does. ``score`` by the rules of the card."""

    displayed: str | None
    score: str | None
    label: str | None
    version: str | None
    text: str | None


class _RepeatedError(ValueError):
    """An object has a key twice."""


def _require_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _RepeatedError
    return found


# The hooks keep the digits: no number is ever parsed. NaN and the infinities come as the words that they are.
_DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str, object_pairs_hook=_require_unique_keys)


def extract_answer(card: Card, body: bytes) -> Extracted:
    """What the card's pointers find in a raw answer. Raises PenmarkError where the answer is not JSON in UTF-8,
    has a key twice in one object, or nests deeper than MAX_DEPTH."""
    value = _parse_json(body)
    at = card.answer
    score, label = _find_at_pointer(value, at.score), _find_at_pointer(value, at.label)
    displayed = _find_at_pointer(value, at.displayed)
    # All of them are looked up first: half of a surrogate pair under any pointer makes an answer unreadable.
    signs = [_find_at_pointer(value, row.at) for row in at.unmeasured]
    if any(sign in row.among for sign, row in zip(signs, at.unmeasured, strict=True)):
        return Extracted(None, None, None, _find_at_pointer(value, at.version), _find_at_pointer(value, at.text))
    if displayed is None:
        displayed = label if score is None else score
    score = numbers.score(card, score, label)
    return Extracted(displayed, score, label, _find_at_pointer(value, at.version), _find_at_pointer(value, at.text))


def is_read_by_display(card: Card) -> bool:
    """True where the card has no pointer to a display, a score or a verdict: people copy what a screen shows."""
    return card.answer.displayed is None and card.answer.score is None and card.answer.label is None


def extract_typed(card: Card, body: bytes) -> Extracted:
    """What stands in a row that people typed from a screen, for a card that reads a display. Raises as ``extract_answer``."""
    displayed, version, text = look_up_pointers(body, "/displayed", "/version", "/text")
    if displayed is None:
        return Extracted(None, None, None, version, None)
    given = None if text is None or text.strip() == "" else text
    return extract_from_display(card, displayed)._replace(version=version, text=given)


def look_up_pointers(body: bytes, *pointers: str) -> tuple[str | None, ...]:
    """What stands at each of ``pointers`` in a raw answer; None where nothing does. Raises as ``extract_answer``."""
    value = _parse_json(body)
    return tuple(_find_at_pointer(value, pointer) for pointer in pointers)


def explain_unmeasured(card: Card, body: bytes) -> str | None:
    """Why the card takes a raw answer for none, whatever stands in it, or None. Raises as ``extract_answer``."""
    rows = card.answer.unmeasured
    for row, value in zip(rows, look_up_pointers(body, *(row.at for row in rows)), strict=True):
        if value in row.among:
            return row.because
    return None


def _parse_json(body: bytes) -> Any:
    try:
        text = body.decode()
        try:
            value, end = _DECODER.raw_decode(text)
        except json.JSONDecodeError:
            end = -1
        if end != len(text):  # white space around the value, or no value
            value = _DECODER.decode(text)
    except UnicodeDecodeError as error:
        _refuse_answer(f"is not UTF-8 (byte {error.start})")
    except json.JSONDecodeError as error:
        _refuse_answer(f"is not JSON: {error.msg} (character {error.pos})")
    except _RepeatedError:
        _refuse_answer("is not JSON that has one meaning: an object has a key twice")
    except RecursionError:
        _refuse_answer(f"nests deeper than {MAX_DEPTH} levels")
    # The depth that the parser itself bears differs between releases of Python; what is read must not.
    if body.count(b"[") + body.count(b"{") > MAX_DEPTH and _measure_depth(value) > MAX_DEPTH:
        _refuse_answer(f"nests deeper than {MAX_DEPTH} levels")
    return value


def _measure_depth(value: Any) -> int:
    level, depth = [value], 0
    while level := [each for each in level if isinstance(each, dict | list)]:
        level = [each for held in level for each in (held.values() if isinstance(held, dict) else held)]
        depth += 1
    return depth


def _refuse_answer(fact: str) -> NoReturn:
    raise PenmarkError(f"the answer {fact}", remedy="It is kept as evidence; it has no score and no verdict.") from None


def _find_at_pointer(value: Any, pointer: str | None) -> str | None:
    if pointer is None:
        return None
    for key, index in parse_pointer(pointer):
        if type(value) is dict:
            value = value.get(key)
        elif type(value) is list and index is not None and index < len(value):
            value = value[index]
        else:
            return None
    if isinstance(value, str):
        return value if value.isascii() else _require_text(value)
    return ("true" if value else "false") if isinstance(value, bool) else None


def _require_text(found: str) -> str:
    try:
        found.encode()
    except UnicodeEncodeError:
        _refuse_answer("holds half of a surrogate pair, which has no bytes in UTF-8")
    return found


@lru_cache(maxsize=1024)
def parse_pointer(pointer: str) -> tuple[tuple[str, int | None], ...]:
    """RFC 6901: each token as a key and, where it can be one, as a position in an array."""
    tokens = [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]
    return tuple((t, int(t) if re.fullmatch(r"0|[1-9][0-9]{0,8}", t) else None) for t in tokens)


def extract_from_display(card: Card, displayed: str) -> Extracted:
    """What words copied from a screen say: a verdict of the card, else a number, else a verdict that the card lacks."""
    shown = displayed.strip(numbers.WHITE)
    number = None if fold_verdict(shown) in fold_classes(card) else numbers.displayed(card, shown)
    return Extracted(displayed, number, shown if number is None else None, None, None)
