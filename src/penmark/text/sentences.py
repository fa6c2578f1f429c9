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

from penmark.errors import ServiceError, describe_install
from penmark.text import WORD_RULE, alignment, list_words

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


def list_splitter_versions() -> tuple[str, str]:
    """Name and version of both splitters ("sentencex 1.0.32"). Raises ServiceError where one is not installed."""
    first, second = (f"{name} {_read_version(name)}" for name in SPLITTERS)
    return first, second


def split_sentences(text: str, splitter: str, language: str | None = None) -> list[Span]:
    """The sentences of a text, white space around them left out. ``language``: its code; English where it is not said.

    Raises ServiceError where the splitter is not installed.
    """
    split = _load_sentencex(language or "en") if splitter == "sentencex" else _load_nupunkt()
    spans = (
        _trim_span(text, start + a, start + b)
        for start, paragraph in _split_paragraphs(text)
        for a, b in split(paragraph)
    )
    return [(a, b) for a, b in spans if list_words(text[a:b])]


def align_edit(draft: str, text: str, language: str | None = None, rule: str = WORD_RULE) -> Aligned:
    """Hold an edited text against its draft, sentence by sentence. Raises ServiceError as ``split_sentences``.

    ``kept``: by both splitters each sentence of the draft has its own in the text, in the same order, and none is left
    over. ``changed``: by both a sentence was added or deleted. ``unclear``: all else, and a person decides.
    """
    (verdict, because, links), (second, also, _) = (
        _align_sentences(draft, text, name, language, rule) for name in SPLITTERS
    )
    if verdict == second:
        return Aligned(verdict, because, links)
    told = ", ".join(f"{name} {why or 'all kept'}" for name, why in zip(SPLITTERS, (because, also), strict=True))
    return Aligned("unclear", f"the splitters disagree: {told}", links)


def _align_sentences(draft: str, text: str, splitter: str, language: str | None, rule: str) -> Aligned:
    before, after = split_sentences(draft, splitter, language), split_sentences(text, splitter, language)
    found = alignment.align_sentences(
        [alignment.list_plain_words(draft[a:b], rule) for a, b in before],
        [alignment.list_plain_words(text[a:b], rule) for a, b in after],
    )
    counts = Counter(link.kind for link in found if link.kind != "kept")
    verdict: Verdict = "kept" if not counts else "changed" if counts["added"] + counts["deleted"] else "unclear"
    counts["moved"] //= 2  # each is a link where it went and one where it came
    told = " and ".join(f"{count} {kind}" for kind, count in sorted(counts.items()) if count)
    return Aligned(
        verdict,
        told,
        [(link.kind, _find_whole_span(before, link.draft), _find_whole_span(after, link.text)) for link in found],
    )


def _find_whole_span(spans: list[Span], part: tuple[int, int]) -> Span | None:
    held = spans[part[0] : part[1]]
    return (held[0][0], held[-1][1]) if held else None


def _split_paragraphs(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for gap in BLANK.finditer(text):
        yield start, text[start : gap.start()]
        start = gap.end()
    yield start, text[start:]


def _trim_span(text: str, start: int, end: int) -> Span:
    inside = text[start:end]
    return start + len(inside) - len(inside.lstrip()), end - len(inside) + len(inside.rstrip())


# --- the splitters -------------------------------------------------------------------------------------------------


@functools.cache
def _load_sentencex(language: str) -> _Split:
    boundaries = _import_package("sentencex").get_sentence_boundaries
    return lambda text: [(found["start_index"], found["end_index"]) for found in boundaries(language, text)]


@functools.cache
def _load_nupunkt() -> _Split:
    spans: _Split = _import_package("nupunkt").sent_spans
    return spans


def _import_package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        raise _make_missing_error(name) from None


@functools.cache
def _read_version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        raise _make_missing_error(name) from None


def _make_missing_error(name: str) -> ServiceError:
    return ServiceError(
        f"the package {name}, which finds sentences, is not installed",
        remedy=f"Install it: {describe_install('corpus')}",
    )
