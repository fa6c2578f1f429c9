"""thinkst-zippy: how well a text compresses after a prelude of AI text (LZMA, one pass over the whole text).

*Reads* the package's prelude. *Writes* nothing. *Never* takes the package's chunked path, which starts a pool of
processes for every longer text and gives other numbers: what is asked here is said on the card.
"""

from __future__ import annotations

from penmark import plugins
from penmark.detectors import facts
from penmark.errors import installing
from penmark.plugins import Answer, Declined


class Zippy:
    """Higher than zero: the text compresses better after AI text than the AI text itself does."""

    def __init__(self, options: dict[str, str]) -> None:
        plugins.options(options)
        module, self.version = facts.load("zippy.zippy", "thinkst-zippy", f"Install it: {installing('detectors')}")
        # Not zippy.Zippy(): that reads the same prelude again, in the encoding of the locale, and fails in some.
        self._detector = module.LzmaLlmDetector(prelude_str=module.PRELUDE_STR)
        self._clean = module.clean_text
        self._facts = {
            **facts.versions(),
            "prelude_ratio": facts.decimal(self._detector.prelude_ratio),
            "prelude_sha256": facts.file_sha256("zippy", "ai-generated.txt"),
            "version": self.version,
        }

    def read(self, text: str) -> Answer | Declined:
        """Label and magnitude as the package gives them, and the signed score."""
        scored = self._detector.score_text(self._clean(text))
        if scored is None:
            return Declined("zippy gave no score")
        label, magnitude = scored
        score = magnitude if label == "AI" else -magnitude
        given = {"label": label, "magnitude": facts.decimal(magnitude), "score": facts.decimal(score)}
        return Answer(facts.body({**given, **self._facts}))
