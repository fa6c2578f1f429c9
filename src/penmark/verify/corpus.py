"""Check 4, corpus: the frozen documents are what the promise asks for, their texts are the frozen texts, nothing was picked.

*Reads* manifest.jsonl, texts/, salts.jsonl, seed.json, screening.csv and the order of first ``sent`` lines.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pydantic import ValidationError

from penmark import canon, provenance, study, text
from penmark.errors import PenmarkError
from penmark.journal import Journal
from penmark.records import Arm, Document, Protocol
from penmark.verify.found import Found

_HEX = re.compile(r"[0-9a-f]{64}\Z")
_FROZEN = "The corpus was changed after the freeze. Ask the publisher for the frozen one."


@dataclass
class Corpus:
    """The documents of a manifest, small: by position, with what later checks need."""

    ids: dict[str, int] = field(default_factory=dict)
    addresses: list[str] = field(default_factory=list)
    withheld: bytearray = field(default_factory=bytearray)
    attested: bytearray = field(default_factory=bytearray)
    salts: dict[str, bytes] = field(default_factory=dict)
    seed: bytes | None = None

    def add(self, document: Document) -> None:
        """Take the next document."""
        self.ids.setdefault(document.id, len(self.addresses))
        self.addresses.append(document.address)
        self.withheld.append(document.withheld is not None)
        self.attested.append(document.attested)


def corpus(edition: study.Edition, promised: Protocol, known: Corpus, found: Found) -> None:
    """Manifest, texts, provenance, budgets; fills ``known`` with what the later checks need."""
    _secrets(edition, promised, known, found)
    wanted: dict[str, list[Document]] = {}
    try:
        for document in _manifest(edition, promised, known, found):
            if document.withheld is None:
                wanted.setdefault(document.address, []).append(document)
    except PenmarkError as error:
        found.error(error)
    _texts(edition, wanted, known, found)
    if withheld := sum(known.withheld):
        found.not_checked(
            "texts", f"{withheld} texts are withheld", "Rates over published texts alone can be made from readings.csv."
        )
    if found.clean:
        found.ok("manifest.jsonl", f"{len(known.addresses)} documents, {len(wanted)} texts as frozen")


def order(journals: Iterable[Journal], known: Corpus, found: Found) -> None:
    """The documents were first sent in the sealed order: the draw is replayed."""
    if known.seed is None:
        return
    seed = known.seed
    ranked = sorted(known.ids, key=lambda name: canon.rank(seed, "scan", name))
    position = {name: i for i, name in enumerate(ranked)}
    for journal in journals:
        part, _, whole = journal.shard.partition("/")
        last = -1
        for name in journal.first_sent():
            at = position.get(name, -1)
            wrong_shard = at % int(whole) != int(part) - 1
            if at <= last or wrong_shard:
                found.failed(
                    f"journal/{journal.path.name}", f"{name} was sent out of the sealed order", "the order that follows from the seed",
                    "The order of the questions was not the promised one.",
                )  # fmt: skip
                break
            last = at


# --- secrets -------------------------------------------------------------------------------------------------------


def _secrets(edition: study.Edition, promised: Protocol, known: Corpus, found: Found) -> None:
    try:
        value = study.read_json(edition.root / "seed.json")
        seed = value.get("seed") if isinstance(value, dict) else None
        if isinstance(seed, str) and _HEX.match(seed):
            known.seed = bytes.fromhex(seed)
            got = f"a seed with SHA-256 {canon.sha256(known.seed)}"
            found.equal(
                "seed.json",
                got,
                f"a seed with SHA-256 {promised.seed_sha256}",
                "The revealed seed is not the promised one.",
            )
            found.equal("seed.json beacon", value.get("beacon"), promised.beacon, "The beacon is the promised one.")
        else:
            found.failed("seed.json", "holds no seed", "64 hexadecimal digits", "Get the bundle again.")
        path = edition.root / "salts.jsonl"
        for number, line in study.records(path) if path.exists() else []:
            if (
                set(line) != {"document", "salt"}
                or not _HEX.match(str(line["salt"]))
                or line["document"] in known.salts
            ):
                found.failed(
                    f"salts.jsonl:{number}", "is not one new {document, salt}", "a salt", "Get the bundle again."
                )
            else:
                known.salts[str(line["document"])] = bytes.fromhex(line["salt"])
    except PenmarkError as error:
        found.error(error)


# --- manifest ------------------------------------------------------------------------------------------------------


def _manifest(edition: study.Edition, promised: Protocol, known: Corpus, found: Found) -> Iterator[Document]:
    arms = {arm.name: (i, arm) for i, arm in enumerate(promised.arms)}
    counts: Counter[str] = Counter()
    cells: Counter[tuple[str, tuple[tuple[str, str | None], ...]]] = Counter()
    late = _told(edition)
    head: object = None
    last: tuple[int, str] = (-1, "")
    for number, line in study.lines(edition.manifest):
        place = f"manifest.jsonl:{number}"
        value = canon.decode(line, place=place)
        if number == 1:
            head = value
            continue
        try:
            document = Document.model_validate_json(line)
        except ValidationError as error:
            found.error(study.validated(place, error.errors()))
            continue
        if document.arm not in arms:
            found.failed(place, f"the arm {document.arm}", "an arm of the protocol", _FROZEN)
            continue
        at, arm = arms[document.arm]
        if document.id in known.ids:
            found.failed(place, f"the id {document.id} again", "each id once", _FROZEN)
        if (at, document.id) <= last:
            found.failed(place, f"{document.arm} {document.id} stands here", "documents sorted by arm and id", _FROZEN)
        last = (at, document.id)
        known.add(document)
        counts[document.arm] += 1
        for quota in arm.quotas:
            cells[document.arm, tuple((k, document.facet(k)) for k in sorted(quota.where))] += 1
        _sufficient(place, document, arm, late, found)
        yield document
    expected = {
        "arms": {arm.name: counts[arm.name] for arm in promised.arms},
        "documents": sum(counts.values()),
        "edition": promised.edition,
        "kind": "manifest",
        "study": promised.study,
        "word_rule": text.WORD_RULE,
    }
    found.equal("manifest.jsonl:1", head, expected, _FROZEN)
    _quotas(promised, counts, cells, found)


def _quotas(
    promised: Protocol,
    counts: Counter[str],
    cells: Counter[tuple[str, tuple[tuple[str, str | None], ...]]],
    found: Found,
) -> None:
    for arm in promised.arms:
        found.equal(f"arm {arm.name}", counts[arm.name], arm.documents, "The arm does not have the promised size.")
        same = Counter(tuple(sorted(quota.where)) for quota in arm.quotas)
        for quota in arm.quotas:
            where = tuple((k, quota.where[k]) for k in sorted(quota.where))
            got = cells[arm.name, where] // same[tuple(sorted(quota.where))]
            found.equal(f"arm {arm.name}, {dict(where)}", got, quota.documents, "The quota is not met.")


def _sufficient(place: str, document: Document, arm: Arm, told: set[tuple[str, str]], found: Found) -> None:
    """What the arm asks of provenance is there; a date after the cutoff is a fault where screening did not tell it."""
    for lack in provenance.insufficient(document, arm):
        if (lack.rule, document.id) not in told:
            found.failed(place, lack.message, "provenance as promised, or a finding in screening.csv", lack.remedy)
    limits, count = arm.words, document.words
    if limits is None or count is None or limits.minimum <= count <= limits.maximum:
        return
    if ("word-limit", document.id) not in told:
        expected = f"{limits.minimum} to {limits.maximum} words, or a finding in screening.csv"
        found.failed(place, f"{count} words", expected, _FROZEN)


def _told(edition: study.Edition) -> set[tuple[str, str]]:
    """(rule, document) of each finding of screening.csv."""
    if not edition.screening.exists():
        return set()
    rows = csv.DictReader(io.StringIO(study.read(edition.screening).decode("utf-8", "replace"), newline=""))
    return {(row.get("rule") or "", row.get("document") or "") for row in rows}


# --- texts ---------------------------------------------------------------------------------------------------------


def _texts(edition: study.Edition, wanted: dict[str, list[Document]], known: Corpus, found: Found) -> None:
    drafts = {d.provenance.draft_sha256: d for same in wanted.values() for d in same if d.provenance.kind == "edited"}
    held: dict[str, bytes] = {}
    seen: set[str] = set()
    try:
        for address, raw, place in study.read_texts(edition.root / "texts"):
            where = place.removeprefix(f"{edition.root}/")
            if address in seen or not (address in wanted or address in drafts):
                found.failed(where, "is a text of no document, or is there twice", "the published texts, once", _FROZEN)
                continue
            seen.add(address)
            same = wanted.get(address, [])
            salt = known.salts.get(same[0].id) if same and same[0].attested else None
            got = canon.keyed(salt, raw) if salt is not None else canon.sha256(raw)
            if found.equal(where, got, address, "The text is not the one that was frozen.") and same:
                _measured(where, same, raw, found)
            if address in drafts or any(d.provenance.kind == "edited" for d in same):
                held[address] = raw
    except PenmarkError as error:
        found.error(error)
    for address in sorted((set(wanted) | set(drafts)) - seen):
        name = wanted[address][0].id if address in wanted else f"the draft of {drafts[address].id}"
        found.failed(f"texts/{address}.txt", f"the text of {name} is missing", "every published text", _FROZEN)
    for same in wanted.values():
        for document in same:
            _edit(document, held, found)


def _measured(place: str, same: list[Document], raw: bytes, found: Found) -> None:
    try:
        decoded = raw.decode("utf-8")
    except UnicodeDecodeError:
        found.failed(place, "is not UTF-8", "UTF-8", _FROZEN)
        return
    got = (text.words(decoded), len(decoded), canon.sha256(canon.canonical_text(raw)))
    for document in same:
        expected = (document.words, document.characters, document.canonical_sha256)
        found.equal(f"{place} ({document.id}: words, characters, canonical text)", got, expected, _FROZEN)


def _edit(document: Document, held: dict[str, bytes], found: Found) -> None:
    """The number of changed words, counted again from draft and text."""
    own = document.provenance
    if own.kind != "edited" or document.address not in held or own.draft_sha256 not in held:
        return
    before = text.word_list(held[own.draft_sha256].decode("utf-8", "replace"))
    after = text.word_list(held[document.address].decode("utf-8", "replace"))
    got = (text.edit_distance(before, after), len(before))
    found.equal(
        f"{document.id} (words changed, words of the draft)", got, (own.words_changed, own.draft_words), _FROZEN
    )
