"""What a scan has to do: the sealed order, and for each detector what is done, left, in doubt, and not scannable.

*Reads* the sealed ground and the journals. *Writes* nothing. *Never* orders by anything but the sealed draw.
"""

from __future__ import annotations

import contextlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from penmark import cards, errors
from penmark.cards import requests
from penmark.corpus import provenance, sealed_edition
from penmark.corpus.sealed_edition import Documents, SealedEdition, Texts
from penmark.errors import PenmarkError, UsageError
from penmark.format import canonical_json
from penmark.records import Detector, Document, Price, Protocol, SealedCard
from penmark.stages.scan import budget, journal_state, private_log
from penmark.stages.scan.journal_state import JournalState
from penmark.stages.scan.threads import Item, Job
from penmark.study import Study
from penmark.text import count_words as counted


@dataclass
class Part:
    """One detector's part. ``skips``: why a document is not scannable, by position, over all documents. ``jobs``: what the
    vendor called the work that it took on, by document and attempt. ``tariff``: None where a text costs nothing."""

    detector: Detector
    sealed: SealedCard
    standing: JournalState
    skips: dict[int, str] = field(default_factory=dict)
    jobs: dict[tuple[str, int], Job] = field(default_factory=dict)
    tariff: Price | None = None


class Sizes:
    """Words and characters of each document, by position: as the manifest has them, or counted where it is silent
    (about texts that are withheld). ``wanted``: where False, nothing is kept. ``texts``: opens the texts."""

    def __init__(self, wanted: bool) -> None:
        self._wanted, self._counts = wanted, array("l")
        self.texts: Callable[[], Texts] | None = None

    def add(self, document: Document) -> None:
        """Take the next document of the manifest."""
        if self._wanted:
            known = document.words is not None and document.characters is not None
            self._counts.extend((document.words or 0, document.characters or 0) if known else (-1, -1))

    def of(self, position: int) -> tuple[int, int]:
        """Words and characters of one document."""
        words, characters = self._counts[2 * position], self._counts[2 * position + 1]
        if words < 0:
            assert self.texts is not None
            try:
                with contextlib.closing(self.texts()) as opened:
                    text = opened.text(position)
            except PenmarkError:
                text = ""  # withdrawn since; what it cost is not known any more
            words, characters = counted(text), len(text)
            self._counts[2 * position : 2 * position + 2] = array("l", (words, characters))
        return words, characters


@dataclass
class Plan:
    """What there is to do in one shard. ``order``: the positions of the shard's documents, as they are asked about.
    ``sizes``: words and characters of every document, where a price hangs on them; ``seed``: the secret one."""

    place: Study
    ground: SealedEdition
    documents: Documents
    shard: str
    order: array[int]
    parts: dict[str, Part]
    sizes: Sizes
    seed: bytes

    def items(self, part: Part) -> Iterator[Item]:
        """What is left to do for a detector, in order. A pair in doubt is asked again only where the promise allows it."""
        promised = self.ground.protocol
        for position in self.order:
            if part.standing.done[position]:
                continue
            before = part.standing.open.get(position)
            if before is None:
                yield Item(position, 1, part.skips.get(position))
            elif position in part.skips:
                continue  # withdrawn after it was sent
            elif before.unused:
                yield Item(position, before.attempt)
            elif (job := self._find_job(part, position)) is not None:
                yield Item(position, before.attempt, job=job, sent_at=before.sent_at)
            elif (before.failed or promised.ask_again_in_doubt) and before.attempt < promised.attempts:
                yield Item(position, before.attempt + 1)

    def _find_job(self, part: Part, position: int) -> Job | None:
        """The job that the vendor took on and gave no answer to yet."""
        before = part.standing.open[position]
        return None if before.failed else part.jobs.get((self.documents.ids[position], before.attempt))

    def in_doubt(self, part: Part) -> list[str]:
        """The documents that were sent, are not answered, and will not be asked about again."""
        again = self.ground.protocol.ask_again_in_doubt
        left = self.ground.protocol.attempts
        open_ones = ((p, o) for p, o in part.standing.open.items() if not o.failed and self._find_job(part, p) is None)
        stuck = (position for position, each in open_ones if not (again and each.attempt < left))
        return [self.documents.ids[position] for position in sorted(stuck)]

    def left(self, part: Part) -> list[int]:
        """The positions of the documents that are to be asked about."""
        return [item.position for item in self.items(part) if item.skip is None]

    def price(self, part: Part, position: int, text: str | None = None) -> Decimal:
        """What a document costs, rounded as the vendor does it; 0 where it costs nothing.

        Words as the manifest counts them, or where the ``text`` is in hand, as white space parts them, if those are more:
        how a vendor counts them nobody knows.
        """
        if part.tariff is None:
            return Decimal(0)
        words, characters = self.sizes.of(position)
        if text is not None:
            words, characters = max(words, len(text.split())), max(characters, len(text))
        return requests.price_text(part.tariff, words, characters)

    def ahead(self, part: Part) -> Decimal:
        """What all that is left to ask costs, each text asked about once."""
        total = Decimal(0)
        with contextlib.closing(Texts(self.place, self.documents)) as texts:
            for position in self.left(part) if part.tariff is not None else ():
                total += self.price(part, position, texts.text(position))
        return total

    def behind(self, part: Part, positions: Iterable[int]) -> Decimal:
        """What these documents, which were asked about, cost together."""
        if (tariff := part.tariff) is None:
            return Decimal(0)
        sizes = Counter(map(self.sizes.of, positions))
        return sum((requests.price_text(tariff, *size) * count for size, count in sizes.items()), Decimal(0))

    def counts(self, part: Part) -> dict[str, int]:
        """How many documents of the shard are in which state; the numbers other than ``documents`` add up to it."""
        to_do = Counter("to_ask" if item.skip is None else "not_scannable" for item in self.items(part))
        to_do["not_scannable"] += sum(p in part.skips and o.failed for p, o in part.standing.open.items())
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


def make_plan(place: Study, ground: SealedEdition, names: Iterable[str], shard: str = "1/1") -> Plan:
    """The plan for the detectors ``names``. ``shard``: "i/W", positions ≡ i - 1 mod W of the sealed order.

    Raises UsageError for a shard that is none, PenmarkError for a broken manifest or journal, a missing or other seed.
    """
    part, whole = _parse_shard(shard)
    seed = sealed_edition.read_seed(place, ground.protocol)
    chosen = {name: (ground.protocol.detector(name), ground.cards[name]) for name in names}
    skips: dict[str, dict[int, str]] = {name: {} for name in chosen}
    gone = provenance.read_withdrawn(place)
    tariffs = {name: budget.find_tariff(sealed.card) for name, (_, sealed) in chosen.items()}
    sizes = Sizes(any(tariff is not None for tariff in tariffs.values()))

    def see(position: int, document: Document) -> None:
        sizes.add(document)
        for name, (_, sealed) in chosen.items():
            reason = provenance.WITHDRAWN if document.id in gone else cards.explain_not_scannable(sealed.card, document)
            if reason is not None:
                skips[name][position] = reason

    documents = sealed_edition.load_documents(ground, see)
    sizes.texts = lambda: Texts(place, documents)
    ranks = [canonical_json.rank_name(seed, "scan", name) for name in documents.ids]
    order = array("L", sorted(range(len(documents)), key=ranks.__getitem__)[part - 1 :: whole])
    folder = ground.edition.journals
    parts = {
        name: Part(
            *chosen[name],
            journal_state.read_journal_state(folder, name, shard, documents, ground.corpus_sha256),
            skips[name],
            private_log.read_jobs(private_log.locate_jobs(place, ground.edition.tag, name, shard)),
            tariffs[name],
        )
        for name in chosen
    }
    return Plan(place, ground, documents, shard, order, parts, sizes, seed)


def check_named(promised: Protocol, wanted: Iterable[str]) -> list[str]:
    """``wanted``, sorted. Raises UsageError for a name that is not in the promise."""
    known = [detector.name for detector in promised.detectors]
    for name in sorted(set(wanted)):
        if name not in known:
            raise UsageError(
                f"there is no detector {name!r} in the promise{errors.suggest_name(name, known)}",
                remedy=f"It has: {', '.join(sorted(known))}.",
            )
    return sorted(set(wanted))


def choose_detectors(promised: Protocol, cards_of: Mapping[str, SealedCard], wanted: Iterable[str]) -> list[str]:
    """The detectors to ask: those ``wanted``, or all that a program asks. Sorted by name.

    Raises UsageError for a name that is not in the promise, or that only people can ask.
    """
    names = check_named(promised, wanted)
    for name in names:
        if cards_of[name].card.ask.by == "people":
            raise UsageError(
                f"{name} is asked by people, not by a program",
                remedy=f"Type its answers into a table and import it: `penmark record FILE --detector {name}`.",
            )
    names = names or sorted(name for name, sealed in cards_of.items() if sealed.card.ask.by != "people")
    if not names:
        raise UsageError(
            "no detector of this study is asked by a program", remedy="Import the answers with `penmark record FILE`."
        )
    return names


def _parse_shard(shard: str) -> tuple[int, int]:
    part, slash, whole = shard.partition("/")
    if slash and part.isascii() and whole.isascii() and part.isdigit() and whole.isdigit():
        i, w = int(part), int(whole)
        if 1 <= i <= w <= 9999 and shard == f"{i}/{w}":
            return i, w
    raise UsageError(f"{shard!r} is not a shard", remedy="Write i/W with i from 1 to W: --shard 2/4.")
