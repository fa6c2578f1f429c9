"""Check 4, corpus: the frozen documents are what the promise asks for, nothing was picked.

*Reads* manifest.jsonl, salts.jsonl, seed.json, screening.csv and the order of first ``sent`` lines; the texts by way of
``published_texts``. *Never* holds a document of millions whole: what later checks need of it is small.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, get_args

import polars as pl
from pydantic import ValidationError

from penmark import study, text
from penmark.corpus import grades, provenance
from penmark.errors import PenmarkError
from penmark.format import canonical_json
from penmark.journal import Journal
from penmark.records import Arm, Document, Protocol, Time
from penmark.stages.verify.check4_corpus import parents, pools, published_texts, screening_table
from penmark.stages.verify.check_findings import Findings

_HEX = re.compile(r"[0-9a-f]{64}")
_TIME = re.compile(get_args(Time)[1].pattern)
_FROZEN = "The corpus was changed after the freeze. Ask the publisher for the frozen one."
_KEYS = frozenset(f.alias or name for name, f in Document.model_fields.items()) - {"gathered_by"}
"""The fields of each document; from format 2 on, of one that a source gave, also that source."""
_TURNS = {"document": pl.String, "turn": pl.Int64}
_TWINS = ("duplicate-bytes", "duplicate-text")
_EXCUSED = ("after-cutoff", "over-budget", "not-edited", "sentences-changed", "sentences-unclear")
"""What of provenance may be otherwise than promised, where screening.csv says so; kind, grade and truth may not."""
Cells = Counter[tuple[str, tuple[tuple[str, str | None], ...]]]


@dataclass
class Corpus:
    """The documents of a manifest, small: by position, with what later checks need.

    ``withdrawn``: when, by document; ``since``: that moment, where it is one. ``broken``: lines that are no documents.
    ``unfit``: by detector and document, why its sealed card says that it cannot be asked about it.
    """

    ids: dict[str, int] = field(default_factory=dict)
    addresses: list[str] = field(default_factory=list)
    withheld: bytearray = field(default_factory=bytearray)
    attested: bytearray = field(default_factory=bytearray)
    salts: dict[str, bytes] = field(default_factory=dict)
    withdrawn: dict[str, str] = field(default_factory=dict)
    since: dict[str, datetime] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    unfit: dict[str, dict[str, str]] = field(default_factory=dict)
    seed: bytes | None = None

    @cached_property
    def turns(self) -> dict[str, int]:
        """The place of each document in the sealed scan order, from 0; for when all are taken. Empty without a seed."""
        if (seed := self.seed) is None:
            return {}
        ranked = sorted(self.ids, key=lambda name: canonical_json.rank_name(seed, "scan", name))
        return {name: at for at, name in enumerate(ranked)}

    def add(self, name: str, address: str, *, withheld: bool, attested: bool) -> None:
        """Take the next document."""
        self.ids.setdefault(name, len(self.addresses))
        self.addresses.append(address)
        self.withheld.append(withheld)
        self.attested.append(attested)


def check_corpus(
    edition: study.Edition, promised: Protocol, known: Corpus, see: Callable[[Document], None], found: Findings
) -> None:
    """Manifest, texts, provenance, budgets; fills ``known`` with what the later checks need. ``see`` is shown each document."""
    _check_seed(edition, promised, known, found)
    _check_salts(edition, known, found)
    _check_withdrawn_texts(edition, known, found)
    drawn, made = pools.Pools(edition, promised, found), parents.Parents(promised, found)
    screened = screening_table.read_screening_table(edition, found)
    wanted: published_texts.Wanted = {}
    try:
        for document in _Manifest(edition, promised, known, screened.rules, found).documents():
            drawn.see(document)
            made.see(document)
            see(document)
            if document.withheld is None and document.id not in known.withdrawn:
                wanted[document.address] = (*wanted.get(document.address, ()), published_texts.keep_facts(document))
        screening_table.check_finding_subjects(screened, promised, known.ids, found)
    except PenmarkError as error:
        found.error(error)
    salted = [name for name, at in known.ids.items() if known.attested[at] and not known.withheld[at]]
    if list(known.salts) != salted:
        odd = sorted(set(known.salts) ^ set(salted))
        got = f"differs in {', '.join(odd)}" if odd else "is in another order"
        remedy = "A text without its salt cannot be checked; a salt without its text gives a withheld one away."
        found.failed("salts.jsonl", got, "a salt for each attested text that is published, in manifest order", remedy)
    marked = None if promised.format < 2 else {name for rule, name in screened.rules if rule == published_texts.MARKS}
    published_texts.check_texts(edition, wanted, known.salts, found, text.rule_of(promised.format), marked)
    drawn.replay(known.seed, found)
    made.hold(known.ids, known.addresses, known.attested, screened.rules)
    if (said := [name for name in known.ids if name in known.withdrawn]) != [
        n for n in known.withdrawn if n in known.ids
    ]:
        found.failed("withdrawn.jsonl", "is in another order", f"manifest order: {', '.join(said)}", _FROZEN)
    if odd := sorted(known.withdrawn.keys() - known.ids.keys()):
        found.failed("withdrawn.jsonl", f"names {', '.join(odd)}", "documents of the manifest", _FROZEN)
    if gone := len(known.withdrawn.keys() & known.ids.keys()):
        told = "text was withdrawn by its author" if gone == 1 else "texts were withdrawn by their authors"
        remedy = "A bundle of before has them; the rates count what was answered about them."
        found.not_checked("texts", f"{gone} {told}", remedy)
    if withheld := sum(
        hidden and name not in known.withdrawn for name, hidden in zip(known.ids, known.withheld, strict=False)
    ):
        told = "text is withheld" if withheld == 1 else "texts are withheld"
        remedy = "Rates over published texts alone can be made from readings.csv."
        found.not_checked("texts", f"{withheld} {told}", remedy)
    if found.clean:
        found.ok("manifest.jsonl", f"{len(known.addresses)} documents, {len(wanted)} texts as frozen")


def check_scan_order(journals: Iterable[Journal], known: Corpus, found: Findings) -> None:
    """The documents were first sent in the sealed order: the draw is replayed."""
    if known.seed is None:
        return
    turns = pl.DataFrame({"document": list(known.turns), "turn": range(len(known.turns))}, schema=_TURNS)
    for journal in journals:
        part, _, whole = journal.shard.partition("/")
        # Check 5 says which are no documents.
        sent = journal.first_sent().to_frame().join(turns, on="document", how="inner", maintain_order="left")
        early = pl.col("turn") <= pl.col("turn").shift()
        other_shard = pl.col("turn") % int(whole) != int(part) - 1
        for name in sent.filter(early | other_shard)["document"].head(1):
            place, got = f"journal/{journal.path.name}", f"{name} was sent out of the sealed order"
            remedy = "The order of the questions was not the promised one."
            found.failed(place, got, "the order that follows from the seed", remedy)


# --- secrets -------------------------------------------------------------------------------------------------------


def _check_seed(edition: study.Edition, promised: Protocol, known: Corpus, found: Findings) -> None:
    remedy = "The revealed seed is not the promised one. Ask the publisher."
    try:
        value = study.read_json(edition.root / "seed.json")
    except PenmarkError as error:
        found.error(error)
        return
    seed = value.get("seed") if isinstance(value, dict) and set(value) == {"beacon", "seed"} else None
    if not isinstance(seed, str) or not _HEX.fullmatch(seed):
        found.failed("seed.json", "holds no seed", '{"beacon": …, "seed": 64 hexadecimal digits}', remedy)
        return
    known.seed = bytes.fromhex(seed)
    got, wanted = canonical_json.sha256(known.seed), promised.seed_sha256
    found.equal("seed.json", f"a seed with SHA-256 {got}", f"a seed with SHA-256 {wanted}", remedy)
    found.equal("seed.json beacon", value["beacon"], promised.beacon, "The beacon is the promised one.")


def _check_salts(edition: study.Edition, known: Corpus, found: Findings) -> None:
    path = edition.root / "salts.jsonl"
    count = 0
    try:
        for count, line in study.read_json_lines(path) if path.exists() else []:
            name, salt = line.get("document"), line.get("salt")
            fits = set(line) == {"document", "salt"} and isinstance(name, str) and isinstance(salt, str)
            if not fits or not _HEX.fullmatch(str(salt)) or name in known.salts:
                remedy = "Get the bundle again."
                found.failed(f"salts.jsonl:{count}", "is not one new {document, salt}", "a salt", remedy)
            else:
                known.salts[str(name)] = bytes.fromhex(str(salt))
        if path.exists() and count == 0:
            found.failed("salts.jsonl", "is empty", "no file where there is no salt", "Get the bundle again.")
    except PenmarkError as error:
        found.error(error)


def _check_withdrawn_texts(edition: study.Edition, known: Corpus, found: Findings) -> None:
    """Texts that their authors took back after the freeze: neither they, their salts nor answers about them are here."""
    path = edition.root / "withdrawn.jsonl"
    number = 0
    try:
        for number, line in study.read_json_lines(path) if path.exists() else ():
            name, at = line.get("document"), line.get("at")
            fits = set(line) == {"at", "document"} and isinstance(name, str) and isinstance(at, str)
            if not fits or name in known.withdrawn or not _TIME.fullmatch(str(at)):
                found.failed(f"withdrawn.jsonl:{number}", "is not one new {at, document}", "a tombstone", _FROZEN)
            else:
                known.withdrawn[str(name)] = str(at)
        if path.exists() and number == 0:
            found.failed("withdrawn.jsonl", "is empty", "no file where nobody took a text back", _FROZEN)
    except PenmarkError as error:
        found.error(error)


# --- manifest ------------------------------------------------------------------------------------------------------


class _Manifest:
    """One pass over the manifest; every fault of a document is told at its line."""

    def __init__(
        self, edition: study.Edition, promised: Protocol, known: Corpus, told: set[tuple[str, str]], found: Findings
    ) -> None:
        self.edition, self.promised, self.known, self.found = edition, promised, known, found
        self.arms = {arm.name: (i, arm) for i, arm in enumerate(promised.arms)}
        self.counts: Counter[str] = Counter()
        self.cells: Cells = Counter()
        self.forms, self.places = array("Q"), array("Q")
        self.further = {"gathered_by"} if promised.format > 1 else set[str]()
        self.told = told
        self.last: tuple[int, str] = (-1, "")

    def documents(self) -> Iterator[Document]:
        """Each document that is one, in order; raises PenmarkError where a line cannot be read."""
        head: object = None
        number = 0
        for number, line in study.read_lines(self.edition.manifest):
            place = f"manifest.jsonl:{number}"
            value = canonical_json.decode_json(line, place=place)
            if number == 1:
                head = value
            elif not isinstance(value, dict) or value.keys() - self.further != _KEYS:
                odd = sorted(_KEYS ^ (value.keys() - self.further)) if isinstance(value, dict) else ["no object"]
                self.found.failed(place, f"has not the fields of a document ({', '.join(odd)})", "all of them", _FROZEN)
            else:
                yield from self._check_document(place, line, value)
        if number == 0:
            self.found.failed("manifest.jsonl", "is empty", "a head, and a line for each frozen document", _FROZEN)
        else:
            self._check_head(head)
        self._check_quotas()
        self._alike()

    def _check_document(self, place: str, line: bytes, value: dict[str, Any]) -> Iterator[Document]:
        found = self.found
        try:
            document = Document.model_validate_json(line)
        except ValidationError as error:
            found.error(study.make_validation_faults(place, error.errors(include_url=False)))
            self._broken(value)
            return
        if document.arm not in self.arms:
            found.failed(place, f"the arm {document.arm}", "an arm of the protocol", _FROZEN)
            return
        at, arm = self.arms[document.arm]
        if document.id in self.known.ids:
            found.failed(place, f"the id {document.id} again", "each id once", _FROZEN)
        if (at, document.id) <= self.last:
            found.failed(place, f"{document.arm} {document.id} stands here", "documents sorted by arm and id", _FROZEN)
        self.last = (at, document.id)
        gone = document.id in self.known.withdrawn
        if gone and not document.attested:
            got = f"{document.id} is withdrawn, and nobody attested it"
            found.failed(place, got, "only texts that their authors attested are withdrawn", _FROZEN)
        withheld = document.withheld is not None or gone
        self.known.add(document.id, document.address, withheld=withheld, attested=document.attested)
        self.counts[document.arm] += 1
        for quota in arm.quotas:
            self.cells[document.arm, tuple((k, document.facet(k)) for k in sorted(quota.where))] += 1
        self._check_measures(place, document)
        if self.promised.format > 1 and (lack := grades.lacking(document)) is not None:
            remedy = "A grade is a claim about evidence: without it the text is of grade stated. Ask the publisher."
            found.failed(place, lack, "what a stranger can ask again, or the grade stated", remedy)
        _check_provenance(place, document, arm, self.told, found)
        yield document

    def _broken(self, value: dict[str, Any]) -> None:
        """Of a line that is no document: as much as keeps later checks from stumbling over it again."""
        name, address, own, arm = (value[key] for key in ("id", "address", "provenance", "arm"))
        if isinstance(name, str) and isinstance(address, str) and isinstance(own, dict) and isinstance(arm, str):
            attested = own.get("kind") == "attested"
            self.known.add(name, address, withheld=value["withheld"] is not None, attested=attested)
            self.known.broken.add(name)
            self.counts[arm] += 1

    def _check_measures(self, place: str, document: Document) -> None:
        """Nothing outside depends on a withheld attested text; the forms of all others are kept, to find equal ones."""
        facts = (document.canonical_sha256, document.words, document.characters)
        if document.attested and document.withheld is not None and facts != (None, None, None):
            remedy = "Facts of a text that nobody may read give it away."
            self.found.failed(place, "facts of a withheld attested text", "no digest, words and characters", remedy)
        if document.canonical_sha256 is not None:
            self.forms.append(int(document.canonical_sha256[:16], 16))
            self.places.append(len(self.known.addresses) - 1)

    def _check_head(self, head: object) -> None:
        expected = {
            "arms": {arm.name: self.counts[arm.name] for arm in self.promised.arms},
            "documents": sum(self.counts.values()),
            "edition": self.promised.edition,
            "kind": "manifest",
            "study": self.promised.study,
            "word_rule": text.rule_of(self.promised.format),
        }
        self.found.equal("manifest.jsonl:1", head, expected, _FROZEN)

    def _check_quotas(self) -> None:
        for arm in self.promised.arms:
            place, counts = f"manifest.jsonl, arm {arm.name}", self.counts
            self.found.equal(place, counts[arm.name], arm.documents, "The arm does not have the promised size.")
            same = Counter(tuple(sorted(quota.where)) for quota in arm.quotas)
            for quota in arm.quotas:
                where = tuple((k, quota.where[k]) for k in sorted(quota.where))
                got = self.cells[arm.name, where] // same[tuple(sorted(quota.where))]
                self.found.equal(f"{place}, {dict(where)}", got, quota.documents, "The quota is not met.")

    def _alike(self) -> None:
        """Of texts that are the same, all but one have a finding."""
        held = pl.DataFrame({"form": self.forms, "at": self.places}, schema={"form": pl.UInt64, "at": pl.UInt64})
        twins = held.filter(pl.col("form").is_duplicated()).group_by("form", maintain_order=True).agg("at")
        every = list(self.known.ids) if twins.height else []
        for places in twins["at"].to_list():
            names = [every[at] for at in places if at < len(every)]
            told = sum(any((rule, name) in self.told for rule in _TWINS) for name in names)
            if told < len(names) - 1:
                got = f"says nothing of {', '.join(names)}, which have the same text"
                self.found.failed("screening.csv", got, "a finding for each but one of them", _FROZEN)


def _check_provenance(place: str, document: Document, arm: Arm, told: set[tuple[str, str]], found: Findings) -> None:
    """What the arm asks of provenance is there; a date after the cutoff is a fault where screening did not tell it."""
    for lack in provenance.list_shortfalls(document, arm):
        if lack.rule not in _EXCUSED:
            found.failed(place, lack.message, "provenance as promised, whatever screening.csv says", lack.remedy)
        elif (lack.rule, document.id) not in told:
            found.failed(place, lack.message, "provenance as promised, or a finding in screening.csv", lack.remedy)
    limits, count = arm.words, document.words
    if limits is None or count is None or limits.minimum <= count <= limits.maximum:
        return
    if ("word-limit", document.id) not in told:
        expected = f"{limits.minimum} to {limits.maximum} words, or a finding in screening.csv"
        found.failed(place, f"{count} words", expected, _FROZEN)
