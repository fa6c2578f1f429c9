"""Characters that no reader sees, where no script and no emoji needs them: a text can carry a message in them.

What a character is follows from the ranges below alone, and not from a table of Unicode that is another in each Python.
*Reads* and *writes* nothing. Everything takes time linear in the text. *Never* repairs, and never says who put them there.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

_EMOJI = "\u2190-\u2bff\u3030\u303d\u3297\u3299\u00a9\u00ae\U0001f000-\U0001faff"
_IDEOGRAPHS = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_RTL = "\u0590-\u061b\u061d-\u08ff\ufb1d-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
# Scripts in which joiners change what is seen: from Arabic to Tibetan, Myanmar, Khmer, Mongolian, their extensions.
_JOINING = (
    "\u0600-\u109f\u1700-\u180a\u180f-\u1cff\ua800-\ua8ff\ua900-\uaadf\uabc0-\uabff\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc"
    "\U00010a00-\U00011fff\U0001e900-\U0001e95f"
)
_UNSPACED = f"\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u1950-\u1aaf\u3000-\u30ff{_IDEOGRAPHS}"
_TAG = "\U000e0000-\U000e007f"
_SELECTOR = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_ZERO = "\u200b-\u200d\u2060-\u2064\ufeff\u00ad"

KINDS: dict[str, str] = {
    "tag characters": _TAG,
    "variation selectors": _SELECTOR,
    "characters without width": _ZERO,
    "marks of direction": "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069",
    "fillers": "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0",
    "annotation and format controls": "\u206a-\u206f\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a",
    "code points without a character": (
        "\u2065\ufdd0-\ufdef\ufff0-\ufff8\ufffe\uffff\U000e0080-\U000e00ff\U000e01f0-\U000e0fff"
        + "".join(chr(0x10000 * plane + 0xFFFE) + chr(0x10000 * plane + 0xFFFF) for plane in range(1, 17))
    ),
    "control characters": "\x01-\x08\x0e-\x1f\x7f-\x84\x86-\x9f",
    "spaces of other widths": "\u1680\u2000-\u2006\u2008\u205f",
}
"""What is looked for, by kind: characters, as in a set of a regular expression."""
_ANY = re.compile(f"[{''.join(KINDS.values())}]|(?<![ \t])[ \t]+(?=\r?\n|\\Z)")
# What scripts and emoji need, tried before anything else is called hidden.
_NEEDED = re.compile(
    "|".join(
        (
            "(?<=\U0001f3f4)(?:\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074"
            "|\U000e0077\U000e006c\U000e0073)|[\U000e0061-\U000e007a]{2}[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,3})"
            "\U000e007f",
            f"(?<=[{_EMOJI}0-9#*])[\ufe0e\ufe0f]",
            f"(?<=[\u2200-\u22ff\u2a00-\u2aff\u1000-\u109f\uaa60-\uaa7f\ua840-\ua877\u3000-\u30ff\uff00-\uffef{_IDEOGRAPHS}])"
            "[\ufe00-\ufe0d]",
            f"(?<=[{_IDEOGRAPHS}])[\U000e0100-\U000e01ef]",
            f"(?<=[{_EMOJI}\ufe0f])\u200d(?=[{_EMOJI}])",
            f"(?<=[{_JOINING}])[\u200c\u200d]",
            f"(?<=[{_UNSPACED}])\u200b|\u200b(?=[{_UNSPACED}])",
            "(?<=[\u0300-\u036f\u0590-\u05ff])\u034f",
            "(?<=[\u1100-\u11ff])[\u115f\u1160]|[\u115f\u1160](?=[\u1100-\u11ff])",
            "(?<=[\u1780-\u17ff])[\u17b4\u17b5]|(?<=[\u1800-\u18af])[\u180b-\u180f]",
            "(?<=[\u2801-\u28ff])\u2800|\u2800(?=[\u2801-\u28ff])",
            "(?<=[\u1681-\u169c])\u1680|(?:(?<=\n)|\\A)[\u2000-\u2006\u3000]+",
            "(?<=[\U0001bc00-\U0001bc9f])[\U0001bca0-\U0001bca3]|(?<=[\U0001d100-\U0001d1ff])[\U0001d173-\U0001d17a]",
            "\\A\ufeff",
        )
    )
)
_TURNS = re.compile(f"[{KINDS['marks of direction']}]")
_TURNED = re.compile(f"[{_RTL}]")
_FIND = re.compile(
    f"(?P<needed>{_NEEDED.pattern})|(?P<end>(?<![ \t])[ \t]+(?=\r?\n|\\Z))|(?P<hidden>[{''.join(KINDS.values())}])"
)
_CLASSES = {kind: re.compile(f"[{characters}]") for kind, characters in KINDS.items()}
TRAILING = "spaces and tabs at line ends"
_WRITTEN = 8
"""So many bits, at least, are read as a message; so many spaces and tabs at the ends of lines are one."""


class Hidden(NamedTuple):
    """So many characters of a kind, and what they say: ASCII in quotes, else bytes; empty where nothing is known of it."""

    kind: str
    number: int
    says: str


def hidden(text: str) -> list[Hidden]:
    """Every kind of hidden character of a text, in the order of KINDS; empty for nearly all texts."""
    if _ANY.search(text) is None:
        return []
    held: dict[str, list[str]] = {}
    ends: list[str] = []
    turned = _TURNED.search(text) is not None
    for found in _FIND.finditer(text):
        if found["end"] is not None:
            ends.append(found["end"])
        elif (mark := found["hidden"]) is not None and not (turned and _TURNS.match(mark)):
            held.setdefault(_find_kind(mark), []).append(mark)
    made = [
        Hidden(kind, len(held[kind]), _SAYS.get(kind, _decode_nothing)(held[kind])) for kind in KINDS if kind in held
    ]
    spaces = "".join(ends)
    if len(spaces) >= _WRITTEN and any(" " in end and "\t" in end for end in ends):
        made.append(Hidden(TRAILING, len(spaces), _decode_bits(list(spaces))))
    return made


def _find_kind(mark: str) -> str:
    return next(kind for kind, pattern in _CLASSES.items() if pattern.match(mark) is not None)


def _decode_nothing(marks: list[str]) -> str:
    return ""


def _decode_tags(marks: list[str]) -> str:
    return _describe_bytes(bytes(ord(mark) - 0xE0000 for mark in marks))


def _decode_selectors(marks: list[str]) -> str:
    """Bytes, as C2PA's manifests of texts are written: the first 16 selectors are 0 to 15, the others 16 to 255."""
    codes = [ord(mark) for mark in marks]
    return _describe_bytes(bytes(code - 0xFE00 if code < 0xFE10 else code - 0xE0100 + 16 for code in codes))


def _decode_bits(marks: list[str]) -> str:
    """What two characters write as bits, the rarer one or the other as 1, where that is ASCII."""
    ones = [mark for mark, _ in Counter(marks).most_common()]
    if len(ones) != 2 or len(marks) < _WRITTEN:
        return ""
    for one in ones:
        bits = "".join("1" if mark == one else "0" for mark in marks)
        data = bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) - 7, 8))
        if all(0x20 <= byte < 0x7F for byte in data):
            return _describe_bytes(data)
    return ""


def _describe_bytes(data: bytes) -> str:
    cut = data[:24]
    more = "…" if len(data) > len(cut) else ""
    if all(0x20 <= byte < 0x7F for byte in cut):
        return f'"{cut.decode()}{more}"'
    return f"bytes {cut.hex(' ')}{more}"


_SAYS = {
    "tag characters": _decode_tags,
    "variation selectors": _decode_selectors,
    "characters without width": _decode_bits,
}
