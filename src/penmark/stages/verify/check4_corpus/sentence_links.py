"""Check 4, links: what an edit's record says became of the sentences of its draft follows from draft and text.

*Reads* and *writes* nothing. Without splitters: links cover both texts in order, no word is left out or stands in two,
and each kind follows from the words. With the splitters that the record names, installed in that version: the same links.
*Never* takes longer than words and links are many: who looks for moved sentences stops after some pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice, product

from penmark.errors import ServiceError
from penmark.records import SentenceLink, Sentences
from penmark.text import sentences
from penmark.text.alignment import count_kept_words, list_plain_words
from penmark.text.sentences import BLANK

PAIRS = 2_500
"""Sentences that went and that came are held against each other, so many pairs at most."""
AGAIN = 100_000
"""Code points of a text that is split again, at most."""
DISAGREE = "the splitters disagree: "
_SIDES = {"deleted": (True, False), "added": (False, True)}
_BOTH = (True, True)
Words = list[list[str]]


def explain_wrong_links(told: Sentences, draft: str, text: str, rule: str) -> str | None:
    """What the record says that draft and text do not; None where all of it follows."""
    for name, side, whole in (("draft", [link.draft for link in told.links], draft),
                              ("text", [link.text for link in told.links], text)):  # fmt: skip
        if (fact := _explain_uncovered(side, whole)) is not None:
            return f"the links of the {name} {fact}"
    for number, link in enumerate(told.links, 1):
        if (fact := _explain_crossing(link, draft, text)) is not None:
            return f"link {number} {fact}"
    before = [[] if link.draft is None else list_plain_words(draft[slice(*link.draft)], rule) for link in told.links]
    after = [[] if link.text is None else list_plain_words(text[slice(*link.text)], rule) for link in told.links]
    for number, (link, one, other) in enumerate(zip(told.links, before, after, strict=True), 1):
        if (fact := _explain_wrong_kind(link, one, other)) is not None:
            return f"link {number} {fact}"
    if (at := _find_wrong_move(told.links, before, after)) is not None:
        return f"link {at + 1} is called {told.links[at].kind}, and the words say otherwise"
    return _explain_wrong_verdict(told)


def realign_links(told: Sentences, draft: str, text: str, language: str | None, rule: str) -> str | None:
    """Why the texts were not split again; None where they were, or what they give otherwise.

    Raises ValueError, with what is otherwise, where the splitters find other links.
    """
    try:
        here = sentences.list_splitter_versions()
    except ServiceError as error:
        return error.faults[0].fact
    if here != told.splitters:
        return f"the sentences were found by {' and '.join(told.splitters)}; installed are {' and '.join(here)}"
    if max(len(draft), len(text)) > AGAIN:
        return f"draft or text has more than {AGAIN} characters"
    found = sentences.align_edit(draft, text, language, rule)
    links = [(link.kind, link.draft, link.text) for link in told.links]
    if (found.verdict, found.because, found.links) != (told.verdict, told.because, links):
        raise ValueError(found.verdict if found.verdict != told.verdict else f"{found.verdict}, by other links")
    return None


def _explain_uncovered(spans: Sequence[tuple[int, int] | None], whole: str) -> str | None:
    """Why some spans do not cover a text in order; between them stands no letter and no digit."""
    at = 0
    for start, end in (*(span for span in spans if span is not None), (len(whole), len(whole))):
        if start < at or end > len(whole) or (start >= end and start < len(whole)):
            return f"are out of order, or beyond it, at {start} to {end}"
        if any(map(str.isalnum, whole[at:start])):
            return f"leave out words between {at} and {start}"
        at = end
    return None


def _explain_crossing(link: SentenceLink, draft: str, text: str) -> str | None:
    """Why a side is more than its one sentence, or two: no sentence runs across a blank line."""
    for span, whole, most in (
        (link.draft, draft, 1 + (link.kind == "joined")),
        (link.text, text, 1 + (link.kind == "split")),
    ):
        parts = [] if span is None else BLANK.split(whole[slice(*span)])
        if sum(any(map(str.isalnum, part)) for part in parts) > most:
            return f"is called {link.kind}, and runs across a blank line"
    return None


def _explain_wrong_kind(link: SentenceLink, before: list[str], after: list[str]) -> str | None:
    """Why a link is not of its kind: by its sides, then by the words that it keeps."""
    sides = (link.draft is not None, link.text is not None)
    if sides not in ((True, False), (False, True)) if link.kind == "moved" else sides != _SIDES.get(link.kind, _BOTH):
        return f"is called {link.kind}, and has other sides"
    if (link.draft is not None and not before) or (link.text is not None and not after):
        return "holds no word"
    return _explain_wrong_words(link, before, after) if sides == _BOTH else None


def _explain_wrong_words(link: SentenceLink, before: list[str], after: list[str]) -> str | None:
    """Why a link of two sides is not of its kind, by the words that it keeps."""
    shared = count_kept_words(before, after)
    if link.kind in ("kept", "replaced"):
        right = (3 * shared >= max(len(before), len(after))) == (link.kind == "kept")
    else:  # of each of the two parts, half of the words at least stand in the whole
        parts = before if link.kind == "joined" else after
        right = len(parts) >= 2 and 4 * shared >= len(parts)
    total = f"{shared} words of {len(before)} and {len(after)}"
    return None if right else f"is called {link.kind}, and keeps {total}"


def _find_wrong_move(links: Sequence[SentenceLink], before: Words, after: Words) -> int | None:
    """The first link that is called moved and is not, or is and is not called so."""
    gone = [i for i, link in enumerate(links) if link.text is None]
    come = [i for i, link in enumerate(links) if link.draft is None]
    moved: set[int] = set()
    for i, j in islice(product(gone, come), PAIRS):
        if not {i, j} & moved and 2 * count_kept_words(before[i], after[j]) >= max(len(before[i]), len(after[j])):
            moved |= {i, j}
    if len(gone) * len(come) > PAIRS:
        return next((i for i in sorted(moved) if links[i].kind != "moved"), None)
    return next((i for i in sorted({*gone, *come}) if (i in moved) != (links[i].kind == "moved")), None)


def _explain_wrong_verdict(told: Sentences) -> str | None:
    """Why verdict and reason do not follow from the links; two splitters that disagree make it unclear."""
    counts = Counter(link.kind for link in told.links if link.kind != "kept")
    verdict = "kept" if not counts else "changed" if counts["added"] + counts["deleted"] else "unclear"
    counts["moved"] //= 2  # each is a link where it went and one where it came
    because = " and ".join(f"{count} {kind}" for kind, count in sorted(counts.items()) if count)
    first = told.splitters[0].split(" ")[0]
    disagree = f"{DISAGREE}{first} {because or 'all kept'}, "
    if told.verdict == "unclear" and told.because.startswith(disagree):
        return None
    if (told.verdict, told.because) == (verdict, because):
        return None
    return f"the verdict is {told.verdict} ({told.because or 'nothing else'}); the links give {verdict} ({because})"
