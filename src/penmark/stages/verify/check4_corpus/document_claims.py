"""Check 4, claims: what a document says of itself can be, and its author agreed to; which detectors can be asked about it.

*Reads* one document at a time, the sealed cards, the time of the corpus seal. *Never* says that a claim is true: only that
it contradicts nothing here.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache
from typing import Any

from pydantic import BaseModel

from penmark import cards, study, timestamps
from penmark.errors import PenmarkError
from penmark.records import Card, Document, Protocol, Seal
from penmark.stages.verify.check4_corpus import Corpus
from penmark.stages.verify.check_findings import Findings

_DATES = ("evidence_date", "written_on", "generated_on")
_FROZEN = "The corpus was changed after the freeze, or says what cannot be. Ask the publisher."


class Claims:
    """What is asked of each document as it goes by. ``frozen``: the corpus seal, where it can be read."""

    def __init__(
        self, edition: study.Edition, promised: Protocol, frozen: Seal | None, known: Corpus, found: Findings
    ) -> None:
        self._known, self._found = known, found
        # A date is of some time zone: the day after the seal is still the day of the seal somewhere.
        day = date.max if frozen is None else timestamps.parse_rfc3339(frozen.sealed_at).date()
        self._last = None if day == date.max else (day + timedelta(days=1)).isoformat()
        self._cards = dict(_read_cards(edition, promised))
        self._limited: dict[str, tuple[Card, list[str]]] = {}  # detectors with the same limits leave out the same texts
        for name, card in self._cards.items():
            if _has_limits(card):
                self._limited.setdefault(card.limits.model_dump_json(), (card, []))[1].append(name)
        for name in self._cards:
            known.unfit[name] = {}

    def see(self, document: Document) -> None:
        """Hold its dates against the calendar and the seal, its text against its author's consent, and note which
        detectors cannot be asked about it."""
        place = f"manifest.jsonl, {document.id}"
        own = document.provenance
        for record in (own, own.draft) if own.kind == "edited" else (own,):
            for name in _list_date_fields(type(record)):
                self._date_draft(place, name, getattr(record, name))
        if own.kind == "attested" and document.withheld is None and not own.consent.publish:
            got = "is published, and its author did not agree to that"
            self._found.failed(place, got, "a withheld text", "Ask the publisher, and the author.")
        alone = [(card, [name]) for name, card in self._cards.items()] if document.attested else []
        for card, names in alone or self._limited.values():
            if (why := cards.explain_not_scannable(card, document)) is not None:
                for name in names:
                    self._known.unfit[name][document.id] = why

    def _date_draft(self, place: str, name: str, value: Any) -> None:
        if value is None:
            return
        try:
            date.fromisoformat(value)
        except ValueError:
            self._found.failed(f"{place} ({name})", value, "a date", _FROZEN)
            return
        if self._last is not None and value > self._last:
            self._found.failed(
                f"{place} ({name})", value, f"a date before the corpus was sealed, {self._last}", _FROZEN
            )


@cache
def _list_date_fields(kind: type[BaseModel]) -> tuple[str, ...]:
    """Which dates provenance of that kind has."""
    return tuple(name for name in _DATES if name in kind.model_fields)


def _read_cards(edition: study.Edition, promised: Protocol) -> Iterator[tuple[str, Card]]:
    for detector in promised.detectors:
        try:
            yield detector.name, cards.read_sealed_card(edition, detector.name).card
        except PenmarkError:
            continue  # check 3 says so


def _has_limits(card: Card) -> bool:
    """Whether its limits leave any document out."""
    return any(value is not None and value != () for name, value in card.limits if not name.startswith("beyond"))
