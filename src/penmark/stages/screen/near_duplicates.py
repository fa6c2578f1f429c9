"""Texts that are alike: the same, the same but for form, and those that share much of their wording.

Candidates for a shared wording come from sketches (the SKETCH least hashes of a text's five-word sequences; Broder,
A. (1997), On the resemblance and containment of documents); each is then verified exactly. Time and memory grow
linearly: a sequence that many texts have links each of them to the next only.
*Reads* and *writes* nothing.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from array import array
from collections.abc import Iterator

import polars as pl

SEQUENCE = 5
"""Words in a sequence."""
SKETCH = 24
"""Hashes in a sketch."""
SHARED = 0.30
"""From this Jaccard similarity of their five-word sequences on, two texts share much of their wording, unless the
protocol says otherwise."""
_FEWEST = 8
_VOCABULARY = 200_000
_PLAIN = re.compile(r"[^\W_]+")


class Sketches:
    """The sketches of all texts, by position."""

    def __init__(self) -> None:
        self._hashes, self._positions = array("q"), array("q")
        self._words: dict[str, int] = {}

    def sequences(self, text: str) -> set[int]:
        """Hashes of the five-word sequences of a text, case and punctuation apart; empty for a very short one."""
        if len(self._words) > _VOCABULARY:
            self._words.clear()
        words = _PLAIN.findall((text if text.isascii() else _normalize_letters(text)).lower())
        if len(words) < _FEWEST:
            return set()
        known = self._words
        numbers = []
        for word in words:
            number = known.get(word)
            if number is None:
                number = known[word] = zlib.crc32(word.encode())
            numbers.append(number)
        return set(map(hash, zip(*(numbers[i:] for i in range(SEQUENCE)), strict=False)))

    def add(self, position: int, text: str) -> None:
        """Take a text's sketch."""
        least = sorted(self.sequences(text))[:SKETCH]
        self._hashes.extend(least)
        self._positions.extend([position] * len(least))

    def candidates(self) -> list[tuple[int, int]]:
        """Pairs of positions whose sketches share at least two hashes, the smaller position first."""
        held = pl.DataFrame(
            {"hash": pl.Series(self._hashes, dtype=pl.Int64), "position": pl.Series(self._positions, dtype=pl.Int64)}
        ).sort("hash", "position")
        pairs = (
            held.with_columns(before=pl.col("position").shift(1), same=pl.col("hash") == pl.col("hash").shift(1))
            .filter(pl.col("same"))
            .group_by("before", "position")
            .len()
            .filter(pl.col("len") > 1)
            .sort("before", "position")
        )
        return list(zip(pairs["before"].to_list(), pairs["position"].to_list(), strict=True))


def _normalize_letters(text: str) -> str:
    """The text as its letters read, whatever their Unicode form, without characters that nobody sees."""
    return "".join(c for c in unicodedata.normalize("NFKC", text) if unicodedata.category(c) != "Cf")


def compute_jaccard(one: set[int], other: set[int]) -> float:
    """The Jaccard similarity of two sets of sequences, in [0, 1]."""
    union = len(one | other)
    return len(one & other) / union if union else 0.0


class Duplicates:
    """Finds texts that are the same: by raw bytes, by canonical text, by text with white space folded."""

    FORMS = (
        ("duplicate-bytes", "has the same bytes as"),
        ("duplicate-text", "is the same, but for BOM, line ends or Unicode form, as"),
        ("duplicate-folded", "is the same, but for white space, as"),
    )

    def __init__(self) -> None:
        self._seen: tuple[dict[bytes, int], ...] = ({}, {}, {})

    def like(self, digests: tuple[bytes, bytes, bytes]) -> tuple[str, int] | None:
        """In which way a text is the same as one with these digests, and its position; None where there is none."""
        for (_, words), seen, digest in zip(self.FORMS, self._seen, digests, strict=True):
            if digest in seen:
                return words, seen[digest]
        return None

    def add(self, position: int, digests: tuple[bytes, bytes, bytes]) -> tuple[str, str, int] | None:
        """The rule, its words, and the position of an earlier text that is the same; None for a new text."""
        found = None
        for (rule, words), seen, digest in zip(self.FORMS, self._seen, digests, strict=True):
            first = seen.setdefault(digest, position)
            if first != position and found is None:
                found = (rule, words, first)
        return found


def verify_candidates(
    sketches: Sketches, pairs: list[tuple[int, int]], texts: Iterator[tuple[int, str]], least: float = SHARED
) -> Iterator[tuple[int, int, float]]:
    """The candidates that share at least ``least`` of their sequences. ``texts``: position and text of all in pairs."""
    held = {position: array("q", sorted(sketches.sequences(text))) for position, text in texts}
    for one, other in pairs:
        if one in held and other in held:
            share = compute_jaccard(set(held[one]), set(held[other]))
            if share >= least:
                yield one, other, share
