"""What a text is like in length, format and topic words: the marks by which ``confounds`` tells arms apart.

*Reads* and *writes* nothing. Everything takes time linear in the text.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

LETTERS = 4
"""A topic word has so many letters at least, in lower case."""

FEATURES = (
    "a final line end",
    "white space at the beginning",
    "a line break inside",
    "a blank line inside",
    "two spaces in a row",
    "a space before a comma or full stop",
    "curly quotation marks or apostrophes",
    "straight quotation marks",
    "an en or em dash",
    "three dashes or more in a hundred words",
    "a hyphen between spaces",
    "a list mark at the start of a line",
    "a line like a heading",
    "no final mark",
    "a character outside ASCII",
)
"""Matters of format, by number."""
_LIST = re.compile(r"^[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]", re.MULTILINE)
_HEADING = re.compile(r"^(?:#{1,6} \S.*|[A-Z][^\n.!?;:]{2,60})\n(?=\S|\n)", re.MULTILINE)
_FINAL = re.compile(r"[.!?…:;][\"'”’»)\]*_]*\Z")
_TOPIC = re.compile(rf"[^\W\d_]{{{LETTERS},}}")
# Words that fit any topic.
_WORDS = """
    about above across after again against ahead almost alone along already also although always among amount
    another anyone anything anyway around away back became because become becomes been before behind being below
    best better between beyond both bring brought came cannot cause certain come comes coming could couldn daily
    despite didn different does doesn doing done down during each early either else enough especially even ever
    every everyone everything exactly example fact feel feels felt find finds first five follow following form found
    four from full further gave general gets getting give given gives giving goes going gone good great had hadn
    half happen happened hard hardly hasn have haven having hence here herself high himself hold however hundred
    idea indeed instead into isn itself just keep keeps kept kind knew know known knows large last late later least
    leave left less likely little long longer look looked looking looks made main make makes making many matter
    maybe mean means might mind moment more moreover most much must myself near nearly need needed needs neither
    never nevertheless next none nothing often once only onto other others otherwise ours over own part particular
    perhaps place point possible quite rather real really reason right said same saying says second seem seemed
    seems seen sense several shall should shouldn show shown shows side simple simply since small some someone
    something sometimes soon sort still such sure take taken takes taking tell than that their theirs them
    themselves then there therefore these they thing things think third this those though thought three through
    throughout thus time times today together told took toward towards true truly turn twice type under unless
    unlike until upon used uses using usually various very want wanted wants wasn ways well went were weren what
    whatever when where whether which while whole whom whose will with within without word words work would wouldn
    year years yes yesterday your yours yourself"""
_PLAIN = frozenset(_WORDS.split())


class Case(NamedTuple):
    """A public text. ``unit``: what it is kept together with; ``format``: numbers of FEATURES; ``once``, ``again``:
    numbers of the words that stand in it, and of those that stand in it twice or more."""

    unit: str
    words: int
    format: frozenset[int]
    once: array[int]
    again: array[int]


class Vocabulary:
    """Numbers for words of four letters or more, without those that fit any topic."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self._numbers: dict[str, int] = {}

    def case(self, unit: str, text: str, words: int) -> Case:
        """What ``confounds`` keeps of a text that has so many words."""
        counts = Counter(_TOPIC.findall(text.lower()))
        held = sorted(counts.keys() - _PLAIN)
        once = array("L", map(self._number, held))
        again = array("L", (self._number(word) for word in held if counts[word] > 1))
        return Case(unit, words, frozenset(list_features(text, words)), once, again)

    def _number(self, word: str) -> int:
        if word not in self._numbers:
            self._numbers[word] = len(self.words)
            self.words.append(word)
        return self._numbers[word]


def list_features(text: str, words: int) -> Iterator[int]:
    """The numbers of the matters of format, of FEATURES, that a text of so many words has."""
    inside = text.strip()
    dashes = text.count("–") + text.count("—")
    has = (
        text.endswith(("\n", "\r")),
        text[:1].isspace(),
        "\n" in inside or "\r" in inside,
        "\n\n" in inside,
        "  " in inside,
        " ," in inside or " ." in inside,
        any(c in text for c in "“”‘’"),
        '"' in text,
        dashes > 0,
        dashes * 100 >= 3 * words > 0 and dashes >= 3,
        " - " in text,
        _LIST.search(text) is not None,
        _HEADING.search(text) is not None,
        _FINAL.search(inside[-20:]) is None,
        not text.isascii(),
    )
    return (number for number, present in enumerate(has) if present)
