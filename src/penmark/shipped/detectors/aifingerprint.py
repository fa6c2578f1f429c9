"""aifingerprint: ten checks for habits of AI prose, summed to an integer from 0 to 100.

*Reads* the package's seed corpus. *Writes* nothing. *Never* keeps what the checks found: those strings quote the text.
"""

from __future__ import annotations

import importlib
import unicodedata

from penmark import plugins
from penmark.errors import describe_install
from penmark.plugins import Answer
from penmark.shipped.detectors import package_facts


class AIFingerprint:
    """0 to 100; the package gives labels for bands of 20."""

    def __init__(self, options: dict[str, str]) -> None:
        plugins.check_options(options)
        module, self.version = package_facts.load_package(
            "aifingerprint", "aifingerprint", f"Install it: {describe_install('detectors')}"
        )
        # Its seed is loaded in two steps that a second thread can fall between: load it before there is one.
        _, seed_size = importlib.import_module("aifingerprint.checks.compression")._load_seed()
        self._analyze, self._label = module.analyze, module.score_label
        self._facts = {
            **package_facts.list_build_versions(),
            "seed_compressed_bytes": seed_size,
            "seed_sha256": package_facts.digest_package_file("aifingerprint", "data", "ai_seed_corpus.txt"),
            "unicode": unicodedata.unidata_version,
            "version": self.version,
        }

    def read(self, text: str) -> Answer:
        """The number, its label, and for each check how often it hit and its own raw score."""
        number, checks = self._analyze(text)
        parts = {
            name: {"hits": len(hits), "raw_score": package_facts.format_float(raw)}
            for name, (hits, raw) in checks.items()
        }
        return Answer(
            package_facts.encode_raw_answer(
                {"checks": parts, "label": self._label(number), "score": number, **self._facts}
            )
        )
