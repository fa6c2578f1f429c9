"""What a scan has to do: the sealed order, and for each detector what is done, left, in doubt, and not scannable.

*Reads* the sealed ground and the journals. *Writes* nothing. *Never* orders by anything but the sealed draw.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from penmark import canon, cards, errors, frozen, provenance
from penmark.errors import UsageError
from penmark.frozen import Documents, Ground
from penmark.records import Detector, Document, Protocol, SealedCard
from penmark.scan import standing
from penmark.scan.lane import Item
from penmark.scan.standing import Standing
from penmark.study import Study

WITHDRAWN = "its author withdrew the text"
"""Why a text that is gone is not scannable."""


@dataclass
class Part:
    """One detector's part. ``skips``: why a document is not scannable, by position, over all documents."""

    detector: Detector
    sealed: SealedCard
    standing: Standing
    skips: dict[int, str] = field(default_factory=dict)


@dataclass
class Plan:
    """What there is to do in one shard. ``order``: the positions of the shard's documents, as they are asked about."""

    ground: Ground
    documents: Documents
    shard: str
    order: array[int]
    parts: dict[str, Part]

    def items(self, part: Part) -> Iterator[Item]:
        """What is left to do for a detector, in order. A pair in doubt is asked again only where the promise allows it."""
        promised = self.ground.protocol
        for position in self.order:
            if part.standing.done[position]:
                continue
            before = part.standing.open.get(position)
            if before is None:
                yield Item(position, 1, part.skips.get(position))
            elif (before.failed or promised.ask_again_in_doubt) and before.attempt < promised.attempts:
                yield Item(position, before.attempt + 1)

    def in_doubt(self, part: Part) -> list[str]:
        """The documents that were sent, are not answered, and will not be asked about again."""
        again = self.ground.protocol.ask_again_in_doubt
        left = self.ground.protocol.attempts
        stuck = (p for p, o in part.standing.open.items() if not o.failed and not (again and o.attempt < left))
        return [self.documents.ids[position] for position in sorted(stuck)]

    def counts(self, part: Part) -> dict[str, int]:
        """How many documents of the shard are in which state; the numbers other than ``documents`` add up to it."""
        to_do = Counter("to_ask" if item.skip is None else "not_scannable" for item in self.items(part))
        stood = part.standing.counts
        return {
            "documents": len(self.order),
            "answered": stood["answered"],
            "declined": stood["declined"],
            "failed": stood["failed"],
            "in_doubt": len(self.in_doubt(part)),
            "not_scannable": stood["skipped"] + to_do["not_scannable"],
            "to_ask": to_do["to_ask"],
        }

    def reasons(self, part: Part) -> dict[str, int]:
        """Why documents of the shard are not scannable, and how many; most first."""
        there = Counter(part.skips[position] for position in self.order if position in part.skips)
        return dict(there.most_common())

    def stopped(self, part: Part) -> str | None:
        """Why nothing more may be asked of this detector, by the promise; or None."""
        changes = part.standing.changes
        if not changes or self.ground.protocol.on_version_change != "stop":
            return None
        return f"its version changed from {changes[0].expected} to {changes[0].seen}, and the promise says: stop"


def make(place: Study, ground: Ground, names: Iterable[str], shard: str = "1/1") -> Plan:
    """The plan for the detectors ``names``. ``shard``: "i/W", positions ≡ i - 1 mod W of the sealed order.

    Raises UsageError for a shard that is none, PenmarkError for a broken manifest or journal, a missing or other seed.
    """
    part, whole = _shard(shard)
    seed = frozen.seed(place, ground.protocol)
    chosen = {name: (ground.protocol.detector(name), ground.cards[name]) for name in names}
    skips: dict[str, dict[int, str]] = {name: {} for name in chosen}
    gone = provenance.withdrawn(place)

    def see(position: int, document: Document) -> None:
        for name, (_, sealed) in chosen.items():
            reason = WITHDRAWN if document.id in gone else cards.not_scannable(sealed.card, document)
            if reason is not None:
                skips[name][position] = reason

    documents = frozen.documents(ground, see)
    ranks = [canon.rank(seed, "scan", name) for name in documents.ids]
    order = array("L", sorted(range(len(documents)), key=ranks.__getitem__)[part - 1 :: whole])
    folder = ground.edition.journals
    parts = {
        name: Part(*chosen[name], standing.look(folder, name, shard, documents, ground.corpus_sha256), skips[name])
        for name in chosen
    }
    return Plan(ground, documents, shard, order, parts)


def named(promised: Protocol, wanted: Iterable[str]) -> list[str]:
    """``wanted``, sorted. Raises UsageError for a name that is not in the promise."""
    known = [detector.name for detector in promised.detectors]
    for name in sorted(set(wanted)):
        if name not in known:
            raise UsageError(
                f"there is no detector {name!r} in the promise{errors.did_you_mean(name, known)}",
                remedy=f"It has: {', '.join(sorted(known))}.",
            )
    return sorted(set(wanted))


def chosen(promised: Protocol, cards_of: Mapping[str, SealedCard], wanted: Iterable[str]) -> list[str]:
    """The detectors to ask: those ``wanted``, or all that a plugin asks. Sorted by name.

    Raises UsageError for a name that is not in the promise, or that only people can ask.
    """
    names = named(promised, wanted)
    for name in names:
        if cards_of[name].card.ask.by == "people":
            raise UsageError(
                f"{name} is asked by people, not by a program",
                remedy=f"Type its answers into a table and import it: `penmark record FILE --detector {name}`.",
            )
    names = names or sorted(name for name, sealed in cards_of.items() if sealed.card.ask.by == "plugin")
    if not names:
        raise UsageError(
            "no detector of this study is asked by a program", remedy="Import the answers with `penmark record FILE`."
        )
    return names


def _shard(shard: str) -> tuple[int, int]:
    part, slash, whole = shard.partition("/")
    if slash and part.isascii() and whole.isascii() and part.isdigit() and whole.isdigit():
        i, w = int(part), int(whole)
        if 1 <= i <= w <= 9999 and shard == f"{i}/{w}":
            return i, w
    raise UsageError(f"{shard!r} is not a shard", remedy="Write i/W with i from 1 to W: --shard 2/4.")
