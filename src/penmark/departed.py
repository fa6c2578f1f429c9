"""The departures of an edition, its cards held against those that ship: one list for status, commit, report and verify.

*Reads* the frozen manifest, the evidence seal, tables/departures.csv, and the cards that come with penmark.
*Writes* nothing. *Never* holds what one release told against the cards of another: it says that it cannot know.
"""

from __future__ import annotations

from collections.abc import Mapping

from penmark import cards, protocol, seals, study
from penmark.errors import PenmarkError
from penmark.protocol import Departure, Unpublished
from penmark.records import Card, Protocol


def now(promised: Protocol, known: Mapping[str, Card], unpublished: Unpublished | None = None) -> list[Departure]:
    """Every departure as this release tells it. ``known``: the cards by the name of the detector.

    Raises UnknownTemplate (a PenmarkError) where the template is none of this release.
    """
    shipped = {
        name: cards.load(cards.SHIPPED / f"{card.name}.yaml") for name, card in known.items() if cards.changed(card)
    }
    return protocol.departures(promised, known, unpublished, shipped)


def told(edition: study.Edition, promised: Protocol, known: Mapping[str, Card]) -> list[Departure]:
    """The departures of an edition: as another release told them, where it sealed the evidence. Raises PenmarkError."""
    path = edition.tables / "departures.csv"
    if edition.seal("evidence").exists() and path.is_file() and not seals.by_our_rules(edition):
        return protocol.departures_read(study.read(path), str(path))
    return now(promised, known, protocol.unpublished(edition))


def theirs(got: bytes, promised: Protocol, known: Mapping[str, Card], edition: study.Edition) -> list[Departure]:
    """What another release must have told, where its table is ``got``: what follows without the cards that it ships, in
    this order, and in between what it says of those, which it alone can know. Raises as ``protocol.departures``."""
    sure = protocol.departures(promised, known, protocol.unpublished(edition))
    try:
        found = protocol.departures_read(got, "")
    except PenmarkError:
        return sure
    rest = [each for each in found if each in sure or each.rule not in protocol.OF_CARDS]
    return found if rest == sure else sure
