"""thinkst-zippy: how well a text compresses after a prelude of AI text (LZMA, one pass over the whole text).

*Reads* the package's prelude. *Writes* nothing. *Never* takes the package's chunked path, which starts a pool of
processes for every longer text and gives other numbers: what is asked here is said on the card.
"""

from __future__ import annotations

from penmark import plugins
from penmark.errors import describe_install
from penmark.plugins import Answer, Declined
from penmark.shipped.detectors import package_facts


class Zippy:
    """Higher than zero: the text compresses better after AI text than the AI text itself does."""

    def __init__(self, options: dict[str, str]) -> None:
        plugins.check_options(options)
        module, self.version = package_facts.load_package(
            "zippy.zippy", "thinkst-zippy", f"Install it: {describe_install('detectors')}"
        )
        # Not zippy.Zippy(): that reads the same prelude again, in the encoding of the locale, and fails in some.
        self._detector = module.LzmaLlmDetector(prelude_str=module.PRELUDE_STR)
        self._clean = module.clean_text
        self._facts = {
            **package_facts.list_build_versions(),
            "prelude_ratio": package_facts.format_float(self._detector.prelude_ratio),
            "prelude_sha256": package_facts.digest_package_file("zippy", "ai-generated.txt"),
            "version": self.version,
        }

    def read(self, text: str) -> Answer | Declined:
        """Label and magnitude as the package gives them, and the signed score."""
        scored = self._detector.score_text(self._clean(text))
        if scored is None:
            return Declined("zippy gave no score")
        label, magnitude = scored
        score = magnitude if label == "AI" else -magnitude
        given = {
            "label": label,
            "magnitude": package_facts.format_float(magnitude),
            "score": package_facts.format_float(score),
        }
        return Answer(package_facts.encode_raw_answer({**given, **self._facts}))
