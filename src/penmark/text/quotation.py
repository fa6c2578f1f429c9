"""How a raw answer quotes the text that it is about: repeated, with other white space, or only its beginning.

Many vendors send back what they scanned. Where that is not just the document's text, the reading stays answered and
says so in its ``reason`` (docs/format.md, 7), so that nobody takes a score of half a text for one of the whole.
*Reads* a raw answer and a text. *Writes* nothing. *Never* decides whether an answer counts: that is the card's pointer
``answer.text`` (another text was scanned) and the rule.
White space is left out of the comparison, since vendors fold it, trim it, and lose it at cuts.
An echo at the pointer ``answer.text`` is the same text where nothing but the form of its writing differs (``same``).
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from penmark.format import canonical_json

BEGINNING = 200
"""So many characters (white space left out) make a beginning of the text a quotation."""
REPEATED = 40
"""And so many a repetition of it: a very short text stands twice in some answer by chance. So many first characters in
common, and half of the length, make another form of the text: one that was changed on the way."""

_HOLDS = (str, dict, list)
_CUT = re.compile("the answer quotes only the first ([0-9]{1,9}) of ([0-9]{1,9}) characters")


def remark_on_quotation(body: bytes, text: str, echo: str | None) -> str | None:
    """What a reader of the score should know of how ``body`` quotes ``text``, in one line; None where there is nothing.

    ``echo``: the card's pointer to the text that was given (it is compared elsewhere), or None. Of all other strings,
    and of lists of blocks joined, the longest that quotes the text decides; between equals, the first.
    """
    numbers: list[str] = []
    try:
        value = json.loads(body.decode(), parse_constant=numbers.append)
        remarks = [_describe_quote(value, text, echo)]
    except (ValueError, RecursionError):
        return None
    if numbers:
        remarks.append("the answer holds NaN or Infinity (not JSON)")
    return "; ".join(each for each in remarks if each is not None) or None


def _describe_quote(value: Any, text: str, echo: str | None) -> str | None:
    bare = _remove_white_space(text)
    longest, shown = "", text
    way = None if echo is None else tuple(t.replace("~1", "/").replace("~0", "~") for t in echo.split("/")[1:])
    strings = [(found, bare if found == text else _remove_white_space(found)) for found in _list_strings(value, way)]
    for found, quoted in _list_candidates(value, text, bare, strings):
        if len(quoted) > len(longest) and _is_quote(quoted, bare):
            longest, shown = quoted, found
    if longest == "" and any(_is_near_quote(quoted, bare) for _, quoted in strings):
        return "the answer quotes another form of the text"
    if shown == text:
        return None
    times = len(longest) // len(bare)
    if times > 1:
        return f"the answer quotes the text {times} times"
    if times == 1:
        return "the answer quotes the text with other white space"
    return f"the answer quotes only the first {_count_quoted_characters(shown, len(longest), text)} of {len(text)} characters"


def _list_candidates(value: Any, text: str, bare: str, strings: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """What may quote the text, as it stands and without white space."""
    yield from strings
    for found in _join_blocks(value):
        quoted = _remove_white_space(found)
        if quoted == bare:
            yield text, quoted  # the white space between blocks is ours
        elif len(quoted) < len(bare):  # longer: alternatives, each with the whole text
            yield found, quoted


def _is_quote(quoted: str, bare: str) -> bool:
    times = len(quoted) // len(bare) if bare != "" else 0
    if times > 0:
        return len(quoted) >= REPEATED and quoted == bare * times
    return len(quoted) >= BEGINNING and bare.startswith(quoted)


def _is_near_quote(quoted: str, bare: str) -> bool:
    alike = len(bare) > REPEATED and quoted[:REPEATED] == bare[:REPEATED]
    return alike and 2 * len(quoted) > len(bare) and not bare.startswith(quoted)


def _count_quoted_characters(shown: str, count: int, text: str) -> int:
    """How many characters of the text its first ``count`` characters other than white space take."""
    if text.startswith(shown):
        return len(shown)
    return [at for at, character in enumerate(text, 1) if not character.isspace()][count - 1]


def _remove_white_space(text: str) -> str:
    return "".join(text.split())


def _list_strings(value: Any, way: tuple[str, ...] | None) -> Iterator[str]:
    """Every string of a JSON value that is long enough, in its order, but the one to which the keys of ``way`` lead."""
    left = [(value, way)]
    while left:
        part, rest = left.pop()
        if isinstance(part, str):
            if len(part) >= REPEATED and rest != ():
                yield part
        elif isinstance(part, dict):
            left += [(item, _follow_key(rest, key)) for key, item in reversed(part.items()) if isinstance(item, _HOLDS)]
        elif isinstance(part, list):
            held = [(item, _follow_key(rest, str(at))) for at, item in enumerate(part) if isinstance(item, _HOLDS)]
            left += reversed(held)


def _follow_key(way: tuple[str, ...] | None, key: str) -> tuple[str, ...] | None:
    return way[1:] if way and way[0] == key else None


def _join_blocks(value: Any) -> Iterator[str]:
    """For each list of objects, and each key under which all of them hold a string, these joined: blocks, sentences."""
    left = [value]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            left += [item for item in reversed(part.values()) if isinstance(item, (dict, list))]
        elif isinstance(part, list):
            blocks = [item for item in part if isinstance(item, dict)]
            for key in blocks[0] if len(blocks) == len(part) > 1 else ():
                parts: list[str] = []
                for block in blocks:  # up to the first without it: in all no more than the objects hold
                    if not isinstance(found := block.get(key), str):
                        break
                    parts.append(found)
                else:
                    yield " ".join(parts)
            left += [item for item in reversed(part) if isinstance(item, (dict, list))]


_CURLED = str.maketrans(dict.fromkeys("\u2018\u2019\u201a\u201b", "'") | dict.fromkeys("\u201c\u201d\u201e\u201f", '"'))
_BREAK = re.compile(r"<br[\t\n\f\r ]*/?>", re.IGNORECASE)
_ESCAPE = re.compile(r"""\\(?:u([0-9a-fA-F]{4})|([nrtbf"'\\/]))""")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


def same(echo: str, text: str) -> bool:
    """Whether an echo is the text that was sent, but for white space, composed characters, curled quotes, and escapes of
    HTML or of JSON that it was given on its way back."""
    return echo == text or _normalize_text(text) in _list_forms(echo)


def echoed(echo: str | None, text: str) -> str | None:
    """The remark on an echo that is the ``same``; None where it is the text to the character, or there is none."""
    if echo is None or echo == text:
        return None
    if _remove_white_space(echo) == _remove_white_space(text):
        return "the answer echoes the text with other white space"
    if _normalize_text(echo) == _normalize_text(text):
        return "the answer echoes the text with other quotes or otherwise composed characters"
    return "the answer echoes the text escaped"


def _list_forms(echo: str) -> set[str]:
    """What an echo may stand for: itself, and what comes of undoing escapes of HTML, of JSON, and of both."""
    unescaped = html.unescape(_BREAK.sub(" ", echo))
    return {_normalize_text(form) for form in (echo, unescaped, _unescape_json(echo), _unescape_json(unescaped))}


def _unescape_json(echo: str) -> str:
    def turned(found: re.Match[str]) -> str:
        return chr(int(found[1], 16)) if found[1] else _ESCAPED.get(found[2], found[2])

    return _ESCAPE.sub(turned, echo).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _normalize_text(text: str) -> str:
    """A text without white space and its mark at the beginning, its characters composed (NFC), its quotes straight."""
    composed = text if canonical_json.has_piled_marks(text) else unicodedata.normalize("NFC", text)
    return _remove_white_space(composed.translate(_CURLED).removeprefix("\ufeff"))


def describe_remarks(remarks: Iterable[str], answers: int) -> list[str]:
    """One sentence for each kind of remark among ``answers`` answers, read on from the detector's name."""
    counts: Counter[str] = Counter()
    reached = whole = 0
    for each in remarks:
        for part in each.split("; "):
            if (cut := _CUT.fullmatch(part)) is not None:
                reached, whole = reached + int(cut[1]), whole + int(cut[2])
            counts[_CUT.sub("the answer quotes only the beginning of the text", part)] += 1
    return [
        f"{kind.removeprefix('the answer ')} in {count} of {answers} answers"
        + (f", {100 * reached // whole} % of their characters" if "only the beginning" in kind and whole else "")
        for kind, count in sorted(counts.items())
    ]
