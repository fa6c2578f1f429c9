"""Every text of a corpus, read once: against its record, by itself, and against all others.

*Reads* ``corpus/<arm>/`` and ``private/``; a second time only the arms in which texts seem alike. *Writes* nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator

from penmark import canon, provenance, study
from penmark.screening.contrast import Tally, contrasts, short
from penmark.screening.findings import Findings
from penmark.screening.ledger import Entry, Ledger
from penmark.screening.twins import Sketches, Twins, verified
from penmark.screening.wording import characters, remarks
from penmark.study import Study
from penmark.text import edit_distance, fold, word_list, words

_AGAIN = "Collect it again; texts and records are changed by `penmark collect` alone."
_REPLACE = "Replace one of them, or let it stand: it is counted twice."


class Texts:
    """The pass over all texts of a ledger."""

    def __init__(self, place: Study, ledger: Ledger, found: Findings, progress: Callable[[int], None]) -> None:
        self._place, self._ledger, self._found, self._progress = place, ledger, found, progress
        self._arms = ledger.protocol.arms
        self._salts = provenance.salts(place)
        self._tallies = {arm.name: Tally() for arm in self._arms}
        self._twins, self._sketches = Twins(), Sketches()
        self._told: set[int] = set()  # positions whose text is not the one that was collected
        self._kept: dict[str, str] = {}  # by address: drafts, edited texts, parents
        self._parent = {child.entry.where.document: child.parent for child in ledger.children}
        self._wanted = {edit.draft_sha256 for edit in ledger.edits} | {edit.entry.address for edit in ledger.edits}
        parents = {ledger.ids[name] for name in self._parent.values() if name in ledger.ids}
        self._wanted |= {ledger.entries[position].address for position in parents}
        self._positions: list[dict[str, list[int]]] = [{} for _ in self._arms]  # by arm and address
        for position, entry in enumerate(ledger.entries):
            self._positions[entry.number].setdefault(entry.address, []).append(position)

    def read(self) -> None:
        """Read each text once; then hold texts against each other."""
        missing = set(range(len(self._ledger.entries)))
        for number, (position, raw) in enumerate(self._all(range(len(self._arms))), 1):
            missing.discard(position)
            self._one(position, raw)
            if number % 1000 == 0:
                self._progress(number)
        for position in sorted(missing - self._told):
            self._found.add("missing-text", self._ledger.entries[position].where, "its text is not there", _AGAIN)
        self._edits()
        self._children()
        self._near()
        short(self._arms, self._tallies, self._found)
        contrasts(self._arms, self._tallies, self._found)

    def _all(self, numbers: Iterable[int]) -> Iterator[tuple[int, bytes]]:
        """Position and bytes of every text of some arms that has its address; others are told."""
        for number in numbers:
            positions = self._positions[number]
            for address, raw, where in study.read_texts(self._place.arm(self._arms[number].name)):
                if address not in positions and address not in self._wanted:
                    continue
                if canon.sha256(raw) == address:
                    if address in self._wanted:
                        self._kept[address] = raw.decode("utf-8", "replace")
                    yield from ((position, raw) for position in positions.get(address, ()))
                else:
                    self._changed(positions.get(address, []), where)
            yield from self._private(positions)

    def _private(self, positions: dict[str, list[int]]) -> Iterator[tuple[int, bytes]]:
        for address, several in positions.items():
            entry = self._ledger.entries[several[0]]
            path = self._place.private_texts / f"{address}.txt"
            if not entry.attested or not path.exists():
                continue
            raw, salt = study.read(path), self._salts.get(entry.where.document)
            if salt is None:
                self._changed(several, "the text whose salt is missing")
            elif canon.keyed(salt, raw) != address:
                self._changed(several, "its private text")
            else:
                yield from ((position, raw) for position in several)

    def _changed(self, positions: list[int], where: str) -> None:
        file = where.removeprefix(f"{self._place.root}/")
        for position in set(positions) - self._told:
            self._told.add(position)
            message = f"{file} is not the text that was collected: its digest is another"
            self._found.add("changed-text", self._ledger.entries[position].where, message, _AGAIN)

    def _one(self, position: int, raw: bytes) -> None:
        entry = self._ledger.entries[position]
        arm, where = self._arms[entry.number], entry.where
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            fact = f"its text is not UTF-8 (byte 0x{raw[error.start]:02x} at {error.start})"
            self._found.add("invalid-record", where, fact, _AGAIN)
            return
        count, canonical = words(text), hashlib.sha256(canon.canonical_text(raw))
        if count == 0:
            self._found.add("empty", where, "the text holds no word", "Replace it.", of_text=True)
        self._measures(entry, (count, len(text), canonical.hexdigest()))
        self._limits(entry, count)
        for remark in remarks(text, arm.truth) if count else characters(text):
            self._found.add(remark.rule, where, remark.message, remark.remedy, of_text=True)
        folded = fold(text)
        digests = (hashlib.sha256(raw).digest(), canonical.digest(), hashlib.sha256(folded.encode()).digest())
        twin = self._twins.add(position, digests) if count else None
        if twin is not None:
            rule, fact, first = twin
            self._pair(rule, position, first, fact)
        elif count:
            self._sketches.add(position, folded)
        if not where.hidden:
            self._tallies[arm.name].add(text, count)

    def _measures(self, entry: Entry, measured: tuple[int, int, str]) -> None:
        """The record says what the text is; of a withheld one it says nothing."""
        recorded = (entry.words, entry.characters, entry.canonical_sha256)
        for name, said, own in zip(("words", "characters", "canonical_sha256"), recorded, measured, strict=True):
            if entry.where.hidden and said is not None:
                self._found.add("wrong-record", entry.where, f"{name} is told, though the text is withheld", _AGAIN)
            elif not entry.where.hidden and said != own:
                self._found.add("wrong-record", entry.where, f"{name} is {said}; the text has {own}", _AGAIN)

    def _limits(self, entry: Entry, count: int) -> None:
        limits = self._arms[entry.number].words
        if limits is None:
            return
        asked = f"the arm takes {limits.minimum} to {limits.maximum}"
        if not limits.minimum <= count <= limits.maximum:
            self._found.add("word-limit", entry.where, f"{count} words; {asked}", "Replace the text.", of_text=True)
        elif min(count - limits.minimum, 0) or any(
            50 * abs(count - edge) <= edge for edge in (limits.minimum, limits.maximum)
        ):
            remedy = "Nothing need be done; another counting rule may place it outside."
            self._found.add("word-limit-margin", entry.where, f"{count} words; {asked}", remedy, of_text=True)

    def _pair(self, rule: str, position: int, other: int, fact: str) -> None:
        one, first = self._ledger.entries[position].where, self._ledger.entries[other].where
        where = one._replace(hidden=one.hidden or first.hidden)
        self._found.add(rule, where, f"{fact} {first.document} ({first.file}:{first.row})", _REPLACE, of_text=True)

    def _edits(self) -> None:
        for edit in self._ledger.edits:
            where = edit.entry.where
            draft, text = self._kept.get(edit.draft_sha256), self._kept.get(edit.entry.address)
            if draft is None:
                self._found.add("missing-text", where, f"its draft {edit.draft_sha256} is not there", _AGAIN)
            elif text is not None:
                before = word_list(draft)
                measured = edit_distance(before, word_list(text)), len(before)
                if measured != (edit.words_changed, edit.draft_words):
                    message = "{} of {} words changed is recorded; the texts give {} of {}"
                    told = message.format(edit.words_changed, edit.draft_words, *measured)
                    self._found.add("wrong-record", where, told, _AGAIN)

    def _children(self) -> None:
        """A text that was made from another document of the study: from that very text?"""
        remedy = "Find out what was rewritten; a pair whose texts differ is no matched pair."
        for child in self._ledger.children:
            position = self._ledger.ids.get(child.parent)
            if position is None:
                continue
            parent = self._ledger.entries[position]
            text = self._kept.get(parent.address)
            if child.parent_sha256 is not None and not parent.attested and child.parent_sha256 != parent.address:
                message = f"the parent {child.parent} is not the text whose digest is recorded"
                self._found.add("contradictory-provenance", child.entry.where, message, remedy)
            elif text is not None and child.prompt is not None and fold(text) not in fold(child.prompt):
                message = f"the prompt does not hold the text of the parent {child.parent} as it is in the corpus"
                self._found.add("contradictory-provenance", child.entry.where, message, remedy)

    def _near(self) -> None:
        pairs = [pair for pair in self._sketches.candidates() if not self._related(*pair)]
        within = {position for pair in pairs for position in pair}
        if not within:
            return
        numbers = sorted({self._ledger.entries[position].number for position in within})
        texts = ((p, fold(raw.decode("utf-8", "replace"))) for p, raw in self._all(numbers) if p in within)
        for one, other, share in verified(self._sketches, pairs, texts):
            self._pair("near-duplicate", other, one, f"shares {share:.0%} of its five-word sequences with")

    def _related(self, one: int, other: int) -> bool:
        """True where one of them is said to be made of the other."""
        first, second = (self._ledger.entries[position].where.document for position in (one, other))
        return self._parent.get(first) == second or self._parent.get(second) == first
