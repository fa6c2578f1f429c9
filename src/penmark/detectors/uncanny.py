"""k-uncanny: the mean of a compression and a burstiness score, as its command line computes it by default.

*Reads* nothing but the package. *Writes* nothing. *Never* builds the package's perplexity analyzer, which fetches a model.
"""

from __future__ import annotations

import importlib
from typing import Any

from penmark import plugins
from penmark.detectors import facts
from penmark.errors import installing
from penmark.plugins import Answer

COMPRESSION = "uncanny.analyzers.compression"


class Uncanny:
    """A number in [0, 1]; the package says 0.0 = human, 1.0 = AI."""

    def __init__(self, options: dict[str, str]) -> None:
        plugins.options(options)
        remedy = f"Install it: {installing('detectors')}"
        ensemble, self.version = facts.load("uncanny.ensemble", "k-uncanny", remedy)
        compression = importlib.import_module(COMPRESSION)
        burstiness = importlib.import_module("uncanny.analyzers.burstiness")
        self._combine = ensemble.combine
        self._analyzers = [compression.CompressionAnalyzer(), burstiness.BurstinessAnalyzer()]
        self._facts = {
            **facts.versions(),
            "preludes_sha256": facts.file_sha256("uncanny", "analyzers", "compression.py"),
            "version": self.version,
        }

    def read(self, text: str) -> Answer:
        """The unrounded score, the package's label, and what each of the two analyzers said."""
        result = self._combine([analyzer.analyze(text) for analyzer in self._analyzers])
        parts = {name: _plain({"score": part.score, **part.metadata}) for name, part in result.analyzers.items()}
        given = {"analyzers": parts, "label": result.label, "score": facts.decimal(result.score)}
        return Answer(facts.body({**given, **self._facts}))


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return facts.decimal(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
