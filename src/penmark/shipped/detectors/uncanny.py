"""k-uncanny: the mean of a compression and a burstiness score, as its command line computes it by default.

*Reads* nothing but the package. *Writes* nothing. *Never* builds the package's perplexity analyzer, which fetches a model.
"""

from __future__ import annotations

import importlib
from typing import Any

from penmark import plugins
from penmark.errors import describe_install
from penmark.plugins import Answer
from penmark.shipped.detectors import package_facts

COMPRESSION = "uncanny.analyzers.compression"


class Uncanny:
    """A number in [0, 1]; the package says 0.0 = human, 1.0 = AI."""

    def __init__(self, options: dict[str, str]) -> None:
        plugins.check_options(options)
        remedy = f"Install it: {describe_install('detectors')}"
        ensemble, self.version = package_facts.load_package("uncanny.ensemble", "k-uncanny", remedy)
        compression = importlib.import_module(COMPRESSION)
        burstiness = importlib.import_module("uncanny.analyzers.burstiness")
        self._combine = ensemble.combine
        self._analyzers = [compression.CompressionAnalyzer(), burstiness.BurstinessAnalyzer()]
        self._facts = {
            **package_facts.list_build_versions(),
            "preludes_sha256": package_facts.digest_package_file("uncanny", "analyzers", "compression.py"),
            "version": self.version,
        }

    def read(self, text: str) -> Answer:
        """The unrounded score, the package's label, and what each of the two analyzers said."""
        result = self._combine([analyzer.analyze(text) for analyzer in self._analyzers])
        parts = {name: _format_plain({"score": part.score, **part.metadata}) for name, part in result.analyzers.items()}
        given = {"analyzers": parts, "label": result.label, "score": package_facts.format_float(result.score)}
        return Answer(package_facts.encode_raw_answer({**given, **self._facts}))


def _format_plain(value: Any) -> Any:
    if isinstance(value, float):
        return package_facts.format_float(value)
    if isinstance(value, dict):
        return {key: _format_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_format_plain(item) for item in value]
    return value
