"""Check 8, wording: the few words that must stand on a page, those that must not, and nothing that passes for a figure.

*Reads* a parsed page. *Never* judges what else is said (docs/threats.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from penmark.page.markup import PHRASES, Element, Fault

NEVER = re.compile(
    r"\bwinners?\b|\bmost accurate\b|\bbest detectors?\b|\bmost reliable\b|\branked\b|\branking\b", re.IGNORECASE
)
"""What a snapshot cannot support; told only in citations."""
AFTER = "retrospective edition: the rules were written after the answers existed"
PRIVATE = "not publicly pre-registered"
_PASSES = re.compile(r"%|(?<![A-Za-z])[OoIl]+(?![A-Za-z])|[^\x00-\x7f\u00a0·–—’‘“”…†]")
"""What passes for a figure without a digit, or for another letter: a percent sign, a word of O and l alone, other scripts."""
_CITED = ("data-cell", "data-quote", "data-over", "data-path", "data-fixed")
_FOLDED = ("details", "nav", "small")
Part = tuple[str, str | None]
"""A text, and for a citation its place."""


def check_wording(tree: Element, retrospective: bool, announced: bool, fault: Fault) -> None:
    """All words of a page, read as they are seen: block by block, whatever phrases they are cut into."""
    demands = [AFTER] if retrospective else []
    demands += [] if announced else [PRIVATE]
    banners = [e for e in tree.walk() if e.attributes.get("class") == "banner" and e.inside("header") is not None]
    said = [" ".join("".join(t for t, _ in _list_parts(e, skip=_FOLDED)).split()).casefold() for e in banners]
    for demand in demands:
        if not any(demand in each for each in said):
            fault(1, f"does not say: {demand}", f"a page whose banner says: {demand}")
    for block in tree.walk():
        if block.name in PHRASES or block.name in ("style", "html", "head"):
            continue
        parts = list(_list_parts(block))
        ours = _join_texts((text if place is None else " \ufffc ") for text, place in parts)
        if (never := NEVER.search(ours)) is not None:
            fault(block.line, f"says {never[0]}: {ours}", "no rank and no winner")
        passes = next((m[0] for t, place in parts if place is None and (m := _PASSES.search(t)) is not None), None)
        if passes is not None:
            fault(block.line, f"{passes!a} in: {ours}", "figures in citations, and letters of English")
        if retrospective:
            _check_timing_claims(
                block,
                ours,
                _join_texts(text for text, place in parts if not (place or "").startswith("replies/")),
                fault,
            )


def _check_timing_claims(block: Element, ours: str, all_but_replies: str, fault: Fault) -> None:
    if re.search(r"pre-?committed", all_but_replies, re.IGNORECASE):
        fault(block.line, all_but_replies, "a retrospective edition is not pre-committed")
    if re.search(r"\bprospective\b", ours, re.IGNORECASE):
        fault(block.line, ours, "a retrospective edition is not prospective")


def _join_texts(texts: Iterator[str]) -> str:
    return " ".join("".join(texts).split())


def _list_parts(block: Element, skip: tuple[str, ...] = ()) -> Iterator[Part]:
    """The texts of a block, through its phrases and not into blocks inside it."""
    place = next((block.attributes[kind] for kind in _CITED if kind in block.attributes), None)
    for part in block.held:
        if isinstance(part, str):
            yield part, place
        elif part.name == "br":
            yield " ", None
        elif part.name in PHRASES and part.name not in skip and part.attributes.get("class") != "more":
            yield from _list_parts(part, skip)
