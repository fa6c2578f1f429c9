"""The departures of an edition, its cards held against those that ship: one list for status, commit, report and verify.

*Reads* corpus, frozen manifest, screening.csv, the evidence seal, tables/departures.csv, and the cards that come with penmark.
*Writes* nothing. *Never* holds what one release told against the cards of another: it says that it cannot know.
"""

from __future__ import annotations

from collections.abc import Mapping

from penmark import cards, protocol, study
from penmark.corpus import breaches
from penmark.errors import PenmarkError
from penmark.protocol import Departure, Unpublished
from penmark.records import Card, Protocol
from penmark.study import seal_files


def compute_departures(
    promised: Protocol, known: Mapping[str, Card], unpublished: Unpublished | None = None
) -> list[Departure]:
    """Every departure as this release tells it. ``known``: the cards by the name of the detector.

    Raises UnknownTemplate (a PenmarkError) where the template is none of this release.
    """
    shipped = {
        name: cards.load_card(cards.SHIPPED / f"{card.name}.yaml")
        for name, card in known.items()
        if cards.is_changed_card(card)
    }
    return protocol.list_departures(promised, known, unpublished, shipped)


def frozen(edition: study.Edition, promised: Protocol, known: Mapping[str, Card]) -> list[Departure]:
    """Every departure of a frozen edition: of the protocol from its template, then of the corpus from the promise."""
    return compute_departures(promised, known, protocol.count_unpublished(edition)) + breaches.frozen(edition, promised)


def recompute_departures(
    edition: study.Edition, promised: Protocol, known: Mapping[str, Card], place: study.Study | None = None
) -> list[Departure]:
    """The departures of an edition: as another release told them, where it sealed the evidence. Raises PenmarkError.

    ``place``: its study, whose corpus is looked at where it is not frozen.
    """
    path = edition.tables / "departures.csv"
    if edition.seal("evidence").exists() and path.is_file() and not seal_files.is_by_our_rules(edition):
        return protocol.parse_departures_csv(study.read_bytes(path), str(path))
    if place is not None and not edition.seal("corpus").exists():
        return compute_departures(promised, known) + breaches.collected(place, edition, promised)
    return frozen(edition, promised, known)


def reconstruct_departures(
    got: bytes, promised: Protocol, known: Mapping[str, Card], edition: study.Edition
) -> list[Departure]:
    """What another release must have told, where its table is ``got``: what follows without the cards that it ships, in
    this order, and in between what it says of those, which it alone can know. Raises as ``protocol.list_departures``."""
    sure = protocol.list_departures(promised, known, protocol.count_unpublished(edition))
    sure += breaches.frozen(edition, promised)
    try:
        found = protocol.parse_departures_csv(got, "")
    except PenmarkError:
        return sure
    rest = [each for each in found if each in sure or each.rule not in protocol.OF_CARDS]
    return found if rest == sure else sure
