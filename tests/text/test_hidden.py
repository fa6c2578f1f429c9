"""Hidden marks are named, with what they say; what scripts and emoji need is not; both verifiers look alike."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penmark.standalone.verify import concealing
from penmark.text.hidden import KINDS, TRAILING, hidden

TAGS = "".join(chr(0xE0000 + ord(c)) for c in "ai")
SELECTORS = "".join(chr(0xFE00 + b if b < 16 else 0xE0100 + b - 16) for b in b"C2PATXT\0")
BITS = "".join("\u200b\u200c"[int(bit)] for bit in f"{ord('h'):08b}{ord('i'):08b}")
ENDS = "".join(f"line{''.join(chr(9) if bit == '1' else ' ' for bit in f'{byte:08b}')}\n" for byte in b"ai")
HIDDEN = {
    f"The ferry {TAGS}crossed.": ("tag characters", 2, '"ai"'),
    f"The ferry{SELECTORS} crossed.": ("variation selectors", 8, "bytes 43 32 50 41 54 58 54 00"),
    f"The {BITS}ferry.": ("characters without width", 16, '"hi"'),
    "so\u00adft": ("characters without width", 1, ""),
    "a\u200bb": ("characters without width", 1, ""),
    "Auf\u200clage": ("characters without width", 1, ""),
    "a\u2062b": ("characters without width", 1, ""),
    "left \u2066to\u2069 right": ("marks of direction", 2, ""),
    "x\u3164y\u115fz\u034f": ("fillers", 3, ""),
    "a \u2800 b": ("fillers", 1, ""),
    "a\ufff9b\ufffac\ufffb": ("annotation and format controls", 3, ""),
    "a\ufdd0b\uffff\U0001fffe": ("code points without a character", 3, ""),
    "a\x07b\x9f": ("control characters", 2, ""),
    "a\u2004b": ("spaces of other widths", 1, ""),
    ENDS: (TRAILING, 16, '"ai"'),
    "a\ufe0fb": ("variation selectors", 1, "bytes 0f"),
    "❤\ufe0f\ufe0f": ("variation selectors", 1, "bytes 0f"),
    "\u0645\u06cc\u200c\u200c\u062e": ("characters without width", 1, ""),
    "\ufeff\ufeffa": ("characters without width", 1, ""),
    "葛a\U000e0100": ("variation selectors", 1, "bytes 10"),
    f"\U0001f3f4{TAGS}\U000e007f": ("tag characters", 3, "bytes 61 69 7f"),
    "Latin\u180bwords": ("fillers", 1, ""),
}
FINE = {
    "emoji": "a ❤\ufe0f b 👩\u200d👩\u200d👧 1\ufe0f\u20e3 ☎\ufe0e 👩🏽\u200d🚀 🏳\ufe0f\u200d🌈",
    "flags": "".join(
        "\U0001f3f4" + "".join(chr(0xE0000 + ord(c)) for c in code) + "\U000e007f" for code in ("gbeng", "ustx")
    ),
    "Persian": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "Hindi": "\u0915\u094d\u200d\u0937 \u0915\u094d\u200c\u0937",
    "Mongolian": "\u182e\u1823\u1829\u182d\u1823\u182f\u180e\u1820\u180b",
    "ideographs": "葛\U000e0100城 \u4fae\ufe00",
    "Thai": "สวัสดี\u200bครับ",
    "Hebrew": "\u05e9\u05dc\u05d5\u05dd \u200f(x) \u2067a\u2069",
    "byte order mark": "\ufeffplain text\n",
    "line ends": "hard  \nbreak  \r\nand a tab\t\n",
    "French": "Vraiment\u202f? Oui\u00a0: «\u00a0a\u2009b\u00a0»",
    "indented": "\u2003one\n\u2003two",
    "Braille": "\u2801\u2800\u2803",
    "Korean": "\u1112\u1161\u11ab\u115f\u1161",
    "mathematics": "\u2229\ufe00",
    "plain": "Nothing here.\n\nAt all.\tBut a tab.",
}


@pytest.mark.parametrize("text", HIDDEN, ids=ascii)
def test_what_no_reader_sees_is_named(text: str) -> None:
    assert hidden(text) == [HIDDEN[text]]
    assert concealing(text)


@pytest.mark.parametrize("name", FINE)
def test_what_scripts_and_emoji_need_is_not(name: str) -> None:
    assert hidden(FINE[name]) == []
    assert not concealing(FINE[name])


def test_two_texts_that_were_met(shared: Path) -> None:
    path = shared.parent / "cases2" / "hidden-marks.json"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    tags, selectors = json.loads(path.read_text())
    assert hidden(tags["text"]) == [("tag characters", 2, '"ai"')]
    assert [each[:2] for each in hidden(selectors["text"])] == [
        ("variation selectors", 40),
        ("characters without width", 1),
    ]


POOL = [
    *"ab \t\n\r1#",
    "❤",
    "👩",
    "\U0001f3f4",
    "葛",
    "\u0645",
    "\u0915",
    "\u182e",
    "\u1100",
    "\u2801",
    "\u0301",
    "\u3000",
    "\u0e01",
]
POOL += (
    "\u2060\u200b\u200c\u200d\ufeff\u00ad\ufe00\ufe0d\ufe0e\ufe0f\u180b\u180e\u180f\u115f\u034f\u2800\u2003\u1680\u202a"
)
POOL += [
    "\U000e0100",
    "\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "\U000e0061",
    "\x07",
    "\u17b4",
    "\u1780",
]


@settings(max_examples=600, deadline=None)
@given(st.lists(st.sampled_from(POOL), max_size=12).map("".join))
def test_both_programs_find_the_same(text: str) -> None:
    assert concealing(text) == (hidden(text) != [])


EVERY = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)


@pytest.mark.parametrize("kind", KINDS)
def test_every_character_of_a_kind_between_letters_is_found_by_both(kind: str) -> None:
    found = re.findall(f"[{KINDS[kind]}]", EVERY)
    assert found
    for char in found:
        assert [each.kind for each in hidden(f"a{char}b")] == [kind]
        assert concealing(f"a{char}b")


@pytest.mark.parametrize("unit", [" ", "\t ", "\u200b", "\u2003", "\U000e0061"])
def test_it_takes_time_linear_in_the_text(unit: str) -> None:
    assert isinstance(hidden(unit * 400_000 + "x"), list)
    assert isinstance(concealing(unit * 400_000 + "x"), bool)
