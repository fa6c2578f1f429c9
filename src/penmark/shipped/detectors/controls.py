"""Four controls that know nothing of AI: what any detector must beat, and what shows that the machinery works.

*Reads* the text. *Writes* nothing. *Never* looks at the clock, a random source or the network: the same text gets the
same answer everywhere.
"""

from __future__ import annotations

import hashlib
import hmac

from penmark import plugins
from penmark import text as texts
from penmark.plugins import Answer
from penmark.shipped.detectors import package_facts

STEPS = 1_000_001
"""The coin shows one of so many numbers: 0.000000 to 1.000000."""


class AlwaysHuman:
    """Says that every text is human: no false positives, no detections."""

    version = "1"
    label = "human"

    def __init__(self, options: dict[str, str]) -> None:
        plugins.check_options(options)

    def read(self, text: str) -> Answer:
        """The same verdict for every text."""
        return Answer(package_facts.encode_raw_answer({"label": self.label, "version": self.version}))


class AlwaysAI(AlwaysHuman):
    """Says that every text is AI: all of it is detected, and every human accused."""

    label = "ai"


class Coin:
    """A number in [0, 1] that hangs on the text and the option ``seed`` alone. At 0.5 it flags half of anything."""

    version = "1"

    def __init__(self, options: dict[str, str]) -> None:
        self._seed = plugins.check_options(options, "seed").get("seed", "").encode()

    def read(self, text: str) -> Answer:
        """Six decimals, from the first 8 bytes of HMAC-SHA-256(seed, text in UTF-8)."""
        tossed = hmac.new(self._seed, text.encode(), hashlib.sha256).digest()[:8]
        step = (int.from_bytes(tossed, "big") * STEPS) >> 64
        score = f"{step // 1_000_000}.{step % 1_000_000:06d}"
        return Answer(package_facts.encode_raw_answer({"score": score, "version": self.version}))


class Length:
    """Counts words: how far length alone separates the arms."""

    version = texts.WORD_RULE

    def __init__(self, options: dict[str, str]) -> None:
        plugins.check_options(options)

    def read(self, text: str) -> Answer:
        """The number of words by penmark's one rule."""
        return Answer(package_facts.encode_raw_answer({"version": self.version, "words": texts.count_words(text)}))
