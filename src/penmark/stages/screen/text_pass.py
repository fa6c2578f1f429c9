"""Every text of a corpus, read once: against its record, by itself, and against all others, those of before included.

*Reads* ``corpus/<arm>/`` and ``private/``; a second time only the arms in which texts seem alike. *Writes* nothing.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from penmark import study
from penmark.corpus import provenance
from penmark.format import canonical_json
from penmark.stages.screen import personal_data
from penmark.stages.screen.confounds import SHORT_WORDS, describe_arms, find_contrasts, find_short_arms
from penmark.stages.screen.earlier_editions import ANEW, Old
from penmark.stages.screen.edited_texts import compare_edit
from penmark.stages.screen.features import Case, Vocabulary
from penmark.stages.screen.findings import ScreeningFindings, Where
from penmark.stages.screen.language import load_tools
from penmark.stages.screen.near_duplicates import SHARED, Duplicates, Sketches, verify_candidates
from penmark.stages.screen.record_pass import Entry, RecordPass
from penmark.stages.screen.text_marks import TextMark, find_odd_characters, find_prompt_echo, find_text_marks
from penmark.study import Study
from penmark.text import WORD_RULE, count_words, countable, fold_white_space

AGAIN = 0.5
"""Texts that were made anew never share so much of their five-word sequences with an old one."""
SAMPLE = 1000
"""Texts of an arm by which arms are contrasted, at most; which ones follows from their ids."""
_AGAIN = "Collect it again; texts and records are changed by `penmark collect` alone."
_REPLACE = "Replace one of them, or let it stand: it is counted twice."
_EXPOSED = "Replace it, or let it stand: a detector may have met the text before."
_LANGUAGE = "A person reads it: correct the record, or replace the text."

_UNCOUNTABLE = (
    "Leave it out: its length, its limits and its edits cannot be told. docs/format.md, 1 has the scripts that can be."
)


class TextPass:
    """The pass over all texts of a ledger. ``old`` gives the texts of before, each time it is called."""

    def __init__(
        self,
        place: Study,
        ledger: RecordPass,
        found: ScreeningFindings,
        progress: Callable[[int], None],
        old: Callable[[], Iterator[Old]] = lambda: iter(()),
    ) -> None:
        self._place, self._ledger, self._found, self._progress, self._old = place, ledger, found, progress, old
        self._arms = ledger.protocol.arms
        self._salts = provenance.read_salts(place)
        self._vocabulary, self._totals = Vocabulary(), Counter[str]()
        self._cases: dict[str, list[Case]] = {arm.name: [] for arm in self._arms}
        self._named = Counter[str]()  # texts of an arm that seem to name persons
        self._short: dict[str, list[int]] = {arm.name: [] for arm in self._arms}  # characters of its short texts
        self._sampled = _draw_sample(ledger)
        self._twins, self._sketches = Duplicates(), Sketches()
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
        for number, (position, raw) in enumerate(self._read_texts(range(len(self._arms))), 1):
            missing.discard(position)
            self._make_one(position, raw)
            if number % 1000 == 0:
                self._progress(number)
        every = len(self._ledger.entries)
        before = self._before(every)
        for position in sorted(missing - self._told):
            self._found.add("missing-text", self._ledger.entries[position].where, "its text is not there", _AGAIN)
        self._check_edits()
        self._children()
        self._check_near_duplicates(before)
        self._check_persons()
        find_short_arms(self._short, self._totals, self._found)
        describe_arms(self._arms, self._cases, self._totals, self._found)
        find_contrasts(self._arms, self._cases, self._vocabulary.words, self._found)

    def _read_texts(self, numbers: Iterable[int]) -> Iterator[tuple[int, bytes]]:
        """Position and bytes of every text of some arms that has its address; others are told."""
        for number in numbers:
            positions = self._positions[number]
            for address, raw, where in study.read_texts(self._place.arm(self._arms[number].name)):
                if address not in positions and address not in self._wanted:
                    continue
                if canonical_json.sha256(raw) == address:
                    if address in self._wanted:
                        self._kept[address] = raw.decode("utf-8", "replace")
                    yield from ((position, raw) for position in positions.get(address, ()))
                else:
                    self._add_changed_text(positions.get(address, []), where, raw, address)
            yield from self._read_private_texts(positions)

    def _read_private_texts(self, positions: dict[str, list[int]]) -> Iterator[tuple[int, bytes]]:
        for address, several in positions.items():
            entry = self._ledger.entries[several[0]]
            path = self._place.private_texts / f"{address}.txt"
            if not entry.attested or not path.exists():
                continue
            raw, salt = study.read_bytes(path), self._salts.get(entry.where.document)
            if salt is None:
                self._add_changed_text(several, "the text whose salt is missing")
            elif canonical_json.fingerprint_text(salt, raw) != address:
                self._add_changed_text(several, "its private text")
            else:
                yield from ((position, raw) for position in several)

    def _add_changed_text(self, positions: list[int], where: str, raw: bytes = b"", address: str = "") -> None:
        why = canonical_json.compare_line_ends(raw, lambda other: canonical_json.sha256(other) == address)
        file = where.removeprefix(f"{self._place.root}/")
        for position in set(positions) - self._told:
            self._told.add(position)
            message = f"{file} is not the text that was collected: its digest is another{why}"
            self._found.add("changed-text", self._ledger.entries[position].where, message, _AGAIN)

    def _make_one(self, position: int, raw: bytes) -> None:
        entry = self._ledger.entries[position]
        arm, where = self._arms[entry.number].name, entry.where
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            fact = f"its text is not UTF-8 (byte 0x{raw[error.start]:02x} at {error.start})"
            self._found.add("invalid-record", where, fact, _AGAIN)
            return
        if canonical_json.has_piled_marks(text):
            self._found.add("invalid-record", where, f"its text {canonical_json.PILED}", canonical_json.UNPILE)
            return
        count, folded = count_words(text), fold_white_space(text)
        digests = _compute_digests(raw, folded)
        if count == 0:
            self._found.add("empty", where, "the text holds no word", "Replace it.", of_text=True)
        elif not countable(text, count):
            fact = f"{len(text)} characters are {count} words by {WORD_RULE}: no rule here can count this script"
            self._found.add("uncountable", where, fact, _UNCOUNTABLE, of_text=True)
        self._check_measures(entry, (count, len(text), digests[1].hex()))
        self._check_word_limits(entry, count)
        for remark in self._find_remarks(entry, text) if count else find_odd_characters(text):
            self._found.add(remark.rule, where, remark.message, remark.remedy, of_text=True)
        twin = self._twins.add(position, digests) if count else None
        if twin is not None:
            rule, fact, first = twin
            self._add_pair(rule, position, first, fact)
        elif count:
            self._sketches.add(position, folded)
        if not where.hidden:
            self._totals[arm] += 1
            if count < SHORT_WORDS:
                self._short[arm].append(len(text))
            if position in self._sampled:
                self._cases[arm].append(self._vocabulary.case(entry.unit, text, count))

    def _find_remarks(self, entry: Entry, text: str) -> Iterator[TextMark]:
        """What the text shows, by itself and beside its record."""
        arm = self._arms[entry.number]
        yield from find_text_marks(text, arm.truth)
        if entry.prompt is not None:
            yield from find_prompt_echo(text, entry.prompt)
        if entry.published:
            yield from personal_data.find_contacts(text)
            if entry.attested:
                yield from personal_data.find_names(text)
            elif arm.truth == "human":
                self._named[arm.name] += bool(personal_data.find_name_positions(text))
        language = load_tools().language
        said = (entry.language or "").split("-")[0].lower()
        read = language(text) if language is not None and said else None
        if read is not None and read != said:
            yield TextMark("other-language", f"reads as {read}; its record says {entry.language}", _LANGUAGE)

    def _check_persons(self) -> None:
        for arm, count in self._named.items():
            message = f"{count} of {self._totals[arm]} public texts seem to name persons (by their form, in English)"
            remedy = "Public sources name people; a text about a private person is better left out."
            if count:
                self._found.add("personal-name", Where(arm), message, remedy)

    def _before(self, start: int) -> list[Old]:
        """Take the sketches of the texts of before, from the position ``start`` on; what they are, without their bytes."""
        called: list[Old] = []
        for old in self._old():
            text = old.raw.decode("utf-8", "replace")
            folded = fold_white_space(text)
            digests = _compute_digests(old.raw, folded, old.name)
            same = self._twins.like(digests)
            if same is not None:
                self._seen(same[1], same[0], old, 1.0)
            else:
                self._sketches.add(start + len(called), folded)
            called.append(old._replace(raw=b""))
        return called

    def _seen(self, position: int, fact: str, old: Old, share: float) -> None:
        """``share``: of the wording. In an arm that is made anew a text of an earlier edition stops the freeze."""
        entry = self._ledger.entries[position]
        where = entry.where._replace(hidden=entry.where.hidden or old.hidden)
        again = old.edition and share >= AGAIN and not self._arms[entry.number].persists
        if not again:
            self._found.add("seen-before", where, f"{fact} {old.name}", _EXPOSED, of_text=True)
        elif entry.where.document not in self._ledger.again:  # by its record
            self._found.add("made-before", where, f"{fact} {old.name}", ANEW, of_text=True)

    def _check_measures(self, entry: Entry, measured: tuple[int, int, str]) -> None:
        """The record says what the text is; of a withheld one it says nothing."""
        recorded = (entry.words, entry.characters, entry.canonical_sha256)
        for name, said, own in zip(("words", "characters", "canonical_sha256"), recorded, measured, strict=True):
            if entry.where.hidden and said is not None:
                self._found.add("wrong-record", entry.where, f"{name} is told, though the text is withheld", _AGAIN)
            elif not entry.where.hidden and said != own:
                self._found.add("wrong-record", entry.where, f"{name} is {said}; the text has {own}", _AGAIN)

    def _check_word_limits(self, entry: Entry, count: int) -> None:
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

    def _add_pair(self, rule: str, position: int, other: int, fact: str) -> None:
        one, first = self._ledger.entries[position].where, self._ledger.entries[other].where
        where = one._replace(hidden=one.hidden or first.hidden)
        self._found.add(rule, where, f"{fact} {first.document} ({first.file}:{first.row})", _REPLACE, of_text=True)

    def _check_edits(self) -> None:
        for edit in self._ledger.edits:
            where = edit.entry.where
            draft, text = self._kept.get(edit.draft_sha256), self._kept.get(edit.entry.address)
            if draft is None:
                self._found.add("missing-text", where, f"its draft {edit.draft_sha256} is not there", _AGAIN)
            elif text is not None:
                for rule, told in compare_edit(edit, draft, text):
                    self._found.add(rule, where, told, _AGAIN)

    def _children(self) -> None:
        """A text that was made from another document of the study: from that very text?"""
        remedy = "Find out what was rewritten; a pair whose texts differ is no matched pair."
        for child in self._ledger.children:
            position = self._ledger.ids.get(child.parent)
            if position is None:
                continue
            parent = self._ledger.entries[position]
            text = self._kept.get(parent.address)
            own, other = (self._ledger.protocol.arms[entry.number].truth for entry in (child.entry, parent))
            if own == "ai" and other != "ai":
                message = f"the arm's truth is ai, and the parent {child.parent} is of truth {other}"
                self._found.add("missing-provenance", child.entry.where, message, "Put it into an arm of mixed truth")
            if child.parent_sha256 is not None and not parent.attested and child.parent_sha256 != parent.address:
                message = f"the parent {child.parent} is not the text whose digest is recorded"
                self._found.add("contradictory-provenance", child.entry.where, message, remedy)
            elif (
                text is not None
                and child.prompt is not None
                and fold_white_space(text) not in fold_white_space(child.prompt)
            ):
                message = f"the prompt does not hold the text of the parent {child.parent} as it is in the corpus"
                self._found.add("contradictory-provenance", child.entry.where, message, remedy)

    def _check_near_duplicates(self, before: list[Old]) -> None:
        every = len(self._ledger.entries)
        pairs = [p for p in self._sketches.candidates() if p[0] < every and (p[1] >= every or not self._is_related(*p))]
        within = {position for pair in pairs for position in pair}
        if not within:
            return
        numbers = sorted({self._ledger.entries[position].number for position in within if position < every})
        least = float(self._ledger.protocol.near_duplicates or SHARED)
        for one, other, share in verify_candidates(self._sketches, pairs, self._again(numbers, within), least):
            if other < every:
                self._add_pair("near-duplicate", other, one, f"shares {share:.0%} of its five-word sequences with")
            else:
                told = f"shares {share:.0%} of its five-word sequences with"
                self._seen(one, told, before[other - every], share)

    def _again(self, numbers: list[int], within: set[int]) -> Iterator[tuple[int, str]]:
        """Position and text of all that are held against another."""
        for position, raw in self._read_texts(numbers):
            if position in within:
                yield position, fold_white_space(raw.decode("utf-8", "replace"))
        for position, old in enumerate(self._old(), len(self._ledger.entries)):
            if position in within:
                yield position, fold_white_space(old.raw.decode("utf-8", "replace"))

    def _is_related(self, one: int, other: int) -> bool:
        """True where one of them is said to be made of the other."""
        first, second = (self._ledger.entries[position].where.document for position in (one, other))
        return self._parent.get(first) == second or self._parent.get(second) == first


def _compute_digests(raw: bytes, folded: str, place: str | None = None) -> tuple[bytes, bytes, bytes]:
    """Of the raw bytes, the canonical text, and the canonical text with white space folded."""
    same = canonical_json.make_canonical_text(raw, place)
    forms = (raw, same, (folded if same == raw else fold_white_space(same.decode())).encode())
    one, other, third = (hashlib.sha256(form).digest() for form in forms)
    return one, other, third


def _draw_sample(ledger: RecordPass) -> set[int]:
    """The positions of the texts by which arms are contrasted: all, or of a large arm SAMPLE by a draw of their ids."""
    arms: dict[int, list[int]] = {}
    for position, entry in enumerate(ledger.entries):
        arms.setdefault(entry.number, []).append(position)
    chosen: set[int] = set()
    for positions in arms.values():
        if len(positions) > SAMPLE:
            named = sorted(positions, key=lambda p: hashlib.sha256(ledger.entries[p].where.document.encode()).digest())
            positions = named[:SAMPLE]
        chosen.update(positions)
    return chosen
