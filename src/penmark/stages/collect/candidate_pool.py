"""The pool of an arm: who was a candidate, who was eligible, who was drawn, and why not.

*Reads* the arm's pool. *Writes* ``corpus/<arm>/pool-<edition>.jsonl``. *Never* keeps the text of a candidate that was
not drawn; never says of a withheld text more than that it is not eligible.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from penmark.corpus import draw, provenance
from penmark.records import Arm, Document
from penmark.stages.collect.document_builder import BuiltDocument


class Drawn(NamedTuple):
    """A draw: the documents that were drawn, and the lines of the pool."""

    documents: set[str]
    lines: list[dict[str, Any]]


def draw_candidates(arm: Arm, seed: bytes, entries: Iterable[BuiltDocument], kept: Iterable[Document]) -> Drawn:
    """Draw the arm from these candidates. ``kept``: documents of earlier editions, which stay."""
    held = list(kept)
    forms = {document.canonical_sha256: document.id for document in held if document.canonical_sha256 is not None}
    candidates = sorted(entries, key=lambda each: each.document.id)
    unfit: dict[str, str] = {}
    cells: dict[str, draw.Cell] = {}
    for entry in candidates:
        document = entry.document
        cells[document.id] = draw.list_quota_values(document, arm)
        why = next(_list_reasons(document, arm, entry.words, forms), None)
        if why is None:
            why = draw.explain_unfit(cells[document.id], arm)
        elif document.attested and document.withheld is not None:
            why = "not eligible"  # the reason would follow from the text
        if why is not None:
            unfit[document.id] = why
        elif document.canonical_sha256 is not None:
            forms[document.canonical_sha256] = document.id
    eligible = {name: cell for name, cell in cells.items() if name not in unfit}
    found = draw.draw_sample(arm, seed, eligible, [draw.list_quota_values(document, arm) for document in held])
    lines = [
        {
            "address": None if each.document.attested else each.document.address,
            "arm": arm.name,
            "cell": cells[each.document.id],
            "document": each.document.id,
            "drawn": found.get(each.document.id, "") is None,
            "eligible": each.document.id in eligible,
            "reason": unfit.get(each.document.id, found.get(each.document.id)),
        }
        for each in candidates
    ]
    return Drawn({name for name, why in found.items() if why is None}, lines)


def _list_reasons(document: Document, arm: Arm, words: int, forms: dict[str, str]) -> Iterator[str]:
    """Why the arm does not take a text, the provenance first."""
    yield from (lack.message for lack in provenance.list_shortfalls(document, arm))
    if words == 0:
        yield "the text holds no word"
    if arm.words is not None and not arm.words.minimum <= words <= arm.words.maximum:
        yield f"{words} words; the arm takes {arm.words.minimum} to {arm.words.maximum}"
    if document.canonical_sha256 in forms:
        yield f"the same text as {forms[document.canonical_sha256 or '']}"
