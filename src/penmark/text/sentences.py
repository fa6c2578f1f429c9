"""Sentences: where they stand, by two splitters that know abbreviations, quotations and decimals.

Two, because no splitter is always right: where they come to other verdicts about an edit, a person decides. Both
come with the extra ``corpus``; nothing else in penmark needs them.
*Reads* and *writes* nothing. *Never* lets a sentence run across a blank line, or be one without a word.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

from penmark.errors import ServiceError, installing
from penmark.text import WORD_RULE, alignment, word_list

Verdict = Literal["kept", "changed", "unclear"]
Span = tuple[int, int]
"""From where to where, in code points of the text."""
SPLITTERS = ("sentencex", "nupunkt")
"""The distributions; the alignment that is recorded is by the first."""
BLANK = re.compile(r"\n[^\S\n]*\n\s*")
"""A blank line, across which no sentence runs."""
_Split = Callable[[str], list[Span]]


class Aligned(NamedTuple):
    """What became of the sentences of a draft.

    ``because``: what is not kept, by kind; empty where all is. ``links``: kind, span in the draft and span in the text,
    by the first splitter; None where there is nothing on that side.
    """

    verdict: Verdict
    because: str
    links: list[tuple[alignment.Kind, Span | None, Span | None]]


def versions() -> tuple[str, str]:
    """Name and version of both splitters ("sentencex 1.0.32"). Raises ServiceError where one is not installed."""
    first, second = (f"{name} {_version(name)}" for name in SPLITTERS)
    return first, second


def sentences(text: str, splitter: str, language: str | None = None) -> list[Span]:
    """The sentences of a text, white space around them left out. ``language``: its code; English where it is not said.

    Raises ServiceError where the splitter is not installed.
    """
    split = _sentencex(language or "en") if splitter == "sentencex" else _nupunkt()
    spans = (
        _trimmed(text, start + a, start + b) for start, paragraph in _paragraphs(text) for a, b in split(paragraph)
    )
    return [(a, b) for a, b in spans if word_list(text[a:b])]


def aligned(draft: str, text: str, language: str | None = None, rule: str = WORD_RULE) -> Aligned:
    """Hold an edited text against its draft, sentence by sentence. Raises ServiceError as ``sentences``.

    ``kept``: by both splitters each sentence of the draft has its own in the text, in the same order, and none is left
    over. ``changed``: by both a sentence was added or deleted. ``unclear``: all else, and a person decides.
    """
    (verdict, because, links), (second, also, _) = (_aligned(draft, text, name, language, rule) for name in SPLITTERS)
    if verdict == second:
        return Aligned(verdict, because, links)
    told = ", ".join(f"{name} {why or 'all kept'}" for name, why in zip(SPLITTERS, (because, also), strict=True))
    return Aligned("unclear", f"the splitters disagree: {told}", links)


def _aligned(draft: str, text: str, splitter: str, language: str | None, rule: str) -> Aligned:
    before, after = sentences(draft, splitter, language), sentences(text, splitter, language)
    found = alignment.aligned(
        [alignment.plain(draft[a:b], rule) for a, b in before], [alignment.plain(text[a:b], rule) for a, b in after]
    )
    counts = Counter(link.kind for link in found if link.kind != "kept")
    verdict: Verdict = "kept" if not counts else "changed" if counts["added"] + counts["deleted"] else "unclear"
    counts["moved"] //= 2  # each is a link where it went and one where it came
    told = " and ".join(f"{count} {kind}" for kind, count in sorted(counts.items()) if count)
    return Aligned(verdict, told, [(link.kind, _whole(before, link.draft), _whole(after, link.text)) for link in found])


def _whole(spans: list[Span], part: tuple[int, int]) -> Span | None:
    held = spans[part[0] : part[1]]
    return (held[0][0], held[-1][1]) if held else None


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for gap in BLANK.finditer(text):
        yield start, text[start : gap.start()]
        start = gap.end()
    yield start, text[start:]


def _trimmed(text: str, start: int, end: int) -> Span:
    inside = text[start:end]
    return start + len(inside) - len(inside.lstrip()), end - len(inside) + len(inside.rstrip())


# --- the splitters -------------------------------------------------------------------------------------------------


@functools.cache
def _sentencex(language: str) -> _Split:
    boundaries = _load("sentencex").get_sentence_boundaries
    return lambda text: [(found["start_index"], found["end_index"]) for found in boundaries(language, text)]


@functools.cache
def _nupunkt() -> _Split:
    spans: _Split = _load("nupunkt").sent_spans
    return spans


def _load(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        raise _missing(name) from None


@functools.cache
def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        raise _missing(name) from None


def _missing(name: str) -> ServiceError:
    return ServiceError(
        f"the package {name}, which finds sentences, is not installed",
        remedy=f"Install it: {installing('corpus')}",
    )
