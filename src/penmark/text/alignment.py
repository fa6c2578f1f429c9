"""Which sentence of a draft became which sentence of the edited text.

An alignment keeps the order of both texts and links no sentence twice. It keeps as many words as can be: words that
stand in the same order on both sides, case and punctuation apart. Of two that keep as many, the one with fewer
sentences added, deleted, joined or split.
*Reads* and *writes* nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Literal, NamedTuple

from penmark.text import WORD_RULE, list_words

Kind = Literal["kept", "replaced", "joined", "split", "moved", "deleted", "added"]
"""What became of a sentence. ``replaced``: another one stands in its place, with less than a third of its words.
``joined``: two became one; ``split``: one became two. ``moved``: deleted here and added there, or the other way round."""

_REACH = 12
"""So far apart, beyond their difference in number, two sentences are still held against each other."""


class Link(NamedTuple):
    """Sentences of the draft, ``[first, last)``, and what they became in the text; one of the two may be empty."""

    kind: Kind
    draft: tuple[int, int]
    text: tuple[int, int]


def list_plain_words(sentence: str, rule: str = WORD_RULE) -> list[str]:
    """The words of a sentence as they are compared: case and punctuation at their ends apart."""
    return [_strip_punctuation(word) for word in list_words(sentence, rule)]


def count_kept_words(before: Sequence[str], after: Sequence[str]) -> int:
    """How many words of ``before`` stand in ``after`` in the same order (the longest common subsequence).

    Bit-parallel: Crochemore, M. et al. (2001), A fast and practical bit-vector algorithm for the longest common
    subsequence problem, Information Processing Letters 80(6): 279-285.
    """
    places: dict[str, int] = {}
    for i, word in enumerate(before):
        places[word] = places.get(word, 0) | 1 << i
    full = (1 << len(before)) - 1
    row = full
    for word in after:
        match = row & places.get(word, 0)
        row = (row + match | row - match) & full
    return len(before) - row.bit_count()


def align_sentences(draft: Sequence[list[str]], text: Sequence[list[str]]) -> list[Link]:
    """The links of two texts, given as the words of their sentences; every sentence is in one of them."""
    start = 0
    while start < min(len(draft), len(text)) and draft[start] == text[start]:
        start += 1
    end = 0
    while end < min(len(draft), len(text)) - start and draft[-1 - end] == text[-1 - end]:
        end += 1
    links = [Link("kept", (i, i + 1), (i, i + 1)) for i in range(start)]
    middle = _Grid(draft[start : len(draft) - end], text[start : len(text) - end]).links()
    links += [Link(k, (a + start, b + start), (c + start, d + start)) for k, (a, b), (c, d) in middle]
    links += [
        Link("kept", (len(draft) - i, len(draft) - i + 1), (len(text) - i, len(text) - i + 1))
        for i in range(end, 0, -1)
    ]
    return _mark_moved(links, draft, text)


class _Grid:
    """The best alignment of every beginning of one text with every beginning of the other."""

    _STEPS = ((1, 1), (1, 0), (0, 1), (2, 1), (1, 2))

    def __init__(self, draft: Sequence[list[str]], text: Sequence[list[str]]) -> None:
        self._draft, self._text = draft, text
        self._reach = _REACH + abs(len(draft) - len(text))

    def links(self) -> list[Link]:
        n, m = len(self._draft), len(self._text)
        best: dict[tuple[int, int], tuple[int, tuple[int, int]]] = {(0, 0): (0, (0, 0))}
        for i, j in product(range(n + 1), range(m + 1)):
            if (i, j) == (0, 0) or abs(i - j) > self._reach:
                continue
            ways = [
                (best[i - a, j - b][0] + worth, (a, b))
                for a, b in self._STEPS
                if (i - a, j - b) in best and (worth := self._compute_worth((i - a, i), (j - b, j))) is not None
            ]
            if ways:
                best[i, j] = max(ways, key=lambda way: way[0])  # of equals the first, in the order of the steps
        found: list[Link] = []
        i, j = n, m
        while (i, j) != (0, 0):
            a, b = best[i, j][1]
            found.append(Link(self._classify_link((i - a, i), (j - b, j)), (i - a, i), (j - b, j)))
            i, j = i - a, j - b
        return found[::-1]

    def _compute_worth(self, one: tuple[int, int], other: tuple[int, int]) -> int | None:
        """Twice the words that a link keeps, less one for all but a link of one to one; None where it is no link."""
        before, after = self._draft[slice(*one)], self._text[slice(*other)]
        if not before or not after:
            return -1
        if len(before) + len(after) == 3:
            whole, parts = (after[0], before) if len(before) == 2 else (before[0], after)
            if any(2 * count_kept_words(part, whole) < len(part) for part in parts):
                return None
            return 2 * count_kept_words(parts[0] + parts[1], whole) - 1
        return 2 * count_kept_words(before[0], after[0])

    def _classify_link(self, one: tuple[int, int], other: tuple[int, int]) -> Kind:
        before, after = self._draft[slice(*one)], self._text[slice(*other)]
        if not before or not after:
            return "deleted" if before else "added"
        if len(before) + len(after) == 3:
            return "joined" if len(before) == 2 else "split"
        longer = max(len(before[0]), len(after[0]))
        return "kept" if 3 * count_kept_words(before[0], after[0]) >= longer else "replaced"


def _mark_moved(links: list[Link], draft: Sequence[list[str]], text: Sequence[list[str]]) -> list[Link]:
    """A deleted sentence and an added one that share at least half of their words are one that moved."""
    gone = [i for i, link in enumerate(links) if link.kind == "deleted"]
    come = [i for i, link in enumerate(links) if link.kind == "added"]
    for i, j in product(gone, come):
        before, after = draft[links[i].draft[0]], text[links[j].text[0]]
        fresh = links[i].kind == "deleted" and links[j].kind == "added"
        if fresh and 2 * count_kept_words(before, after) >= max(len(before), len(after)):
            links[i], links[j] = links[i]._replace(kind="moved"), links[j]._replace(kind="moved")
    return links


def _strip_punctuation(word: str) -> str:
    start, end = 0, len(word)
    while not word[start].isalnum():
        start += 1
    while not word[end - 1].isalnum():
        end -= 1
    return word[start:end].casefold()
