"""Check 4, texts: the published texts are the frozen ones, each is there once, and what is said of them follows from them.

*Reads* texts/. *Never* opens more than one text or shard at a time, or takes a text for another's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from typing import NamedTuple

from penmark import study, text
from penmark.errors import PenmarkError, count_noun
from penmark.format import canonical_json
from penmark.records import Document, Sentences
from penmark.stages.verify import gzip_files
from penmark.stages.verify.check4_corpus import sentence_links
from penmark.stages.verify.check_findings import Findings
from penmark.text.hidden import hidden

LONGEST = 2**26
"""No text is longer (bytes)."""


class Facts(NamedTuple):
    """What a manifest says of a published text. ``draft``: for an edited one its draft's digest, the number of words
    that were changed, and the words of the draft; ``sentences``: what it says of them, and the language by which."""

    id: str
    attested: bool
    measured: tuple[int | None, int | None, str | None]
    draft: tuple[str, int, int] | None
    sentences: tuple[Sentences, str | None] | None = None


Wanted = dict[str, tuple[Facts, ...]]
"""By address: what is said of the documents that have it."""
MARKS = "hidden-marks"
"""The rule under which screening.csv tells of characters that no reader sees."""
_FROZEN = "The corpus was changed after the freeze. Ask the publisher for the frozen one."


def keep_facts(document: Document) -> Facts:
    """What is kept of a document until its text is read."""
    form = document.canonical_sha256
    measured = (document.words, document.characters, document.address if form == document.address else form)
    own = document.provenance
    draft = (own.draft_sha256, own.words_changed, own.draft_words) if own.kind == "edited" else None
    told = own.sentences if own.kind == "edited" else None
    sentences = None if told is None else (told, document.language)
    return Facts(document.id, document.attested, measured, draft, sentences)


def check_texts(
    edition: study.Edition,
    wanted: Wanted,
    salts: Mapping[str, bytes],
    found: Findings,
    rule: str,
    marked: Set[str] | None = None,
) -> None:
    """Hold every text of ``texts/`` against the documents that name it.

    ``rule``: by which words are counted. ``marked``: those of which screening.csv tells hidden marks; None where it did not
    look for them (format 1).
    """
    drafts = {d.draft[0]: d for same in wanted.values() for d in same if d.draft is not None}
    edits = {address for address, same in wanted.items() if any(d.draft is not None for d in same)} | set(drafts)
    held: dict[str, bytes] = {}
    seen: set[str] = set()
    try:
        for place, address, raw in read_published_texts(edition, found):
            if address in seen or not (address in wanted or address in drafts):
                expected = "the published texts, each once"
                found.failed(place, "is a text of no document, or is there twice", expected, _FROZEN)
                continue
            seen.add(address)
            same = wanted.get(address, ())
            salt = salts.get(same[0].id) if same and same[0].attested else None
            got = canonical_json.fingerprint_text(salt, raw) if salt is not None else canonical_json.sha256(raw)
            if found.equal(place, got, address, "The text is not the one that was frozen."):
                _check_measures(place, same, raw, found, rule, marked)
            if address in edits:
                held[address] = raw
    except PenmarkError as error:
        found.error(error)
    for address in sorted((set(wanted) | set(drafts)) - seen):
        name = wanted[address][0].id if address in wanted else f"the draft of {drafts[address].id}"
        found.failed(f"texts/{address}.txt", f"the text of {name} is missing", "every published text", _FROZEN)
    unsplit: Counter[str] = Counter()
    for address in sorted(edits & set(wanted)):
        counted_from: dict[str, tuple[int, int]] = {}
        for document in wanted[address]:
            if _check_edit(document, held.get(address), held, counted_from, found, rule):
                unsplit.update(_check_sentences(document, held[address], held, found, rule))
    for why, count in unsplit.items():
        edits_of = f"{count_noun(count, 'edit')}: {why}"
        found.not_checked("texts, sentences", edits_of, "What is held without splitters is in docs/format.md, 5.")


def read_published_texts(edition: study.Edition, found: Findings) -> Iterator[tuple[str, str, bytes]]:
    """Place, address as named, and bytes of every text; the form of the folder is held against the format.

    Raises PenmarkError where a shard cannot be read.
    """
    folder = edition.root / "texts"
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    loose = [name for name in names if re.fullmatch(r"[0-9a-f]{64}\.txt", name)]
    shards = [name for name in names if re.fullmatch(r"[0-9]{4,6}\.jsonl\.gz", name)]
    for name in loose:
        try:
            yield f"texts/{name}", name.removesuffix(".txt"), study.read_bytes(folder / name, limit=LONGEST)
        except PenmarkError as error:
            found.error(error)
    last, total = "", 0
    for number, name in enumerate(shards, 1):
        place = f"texts/{name}"
        found.equal(place, name, f"{number:04d}.jsonl.gz", "Shards are numbered without a gap. Get the bundle again.")
        line = 0
        for line, value in gzip_files.read_gzip_records(folder / name, study.SHARD):
            where, address, body = f"{place}:{line}", value.get("address"), value.get("text")
            if set(value) != {"address", "text"} or not isinstance(address, str) or not isinstance(body, str):
                raise PenmarkError("is not {address, text}", place=where, remedy="Get the bundle again.")
            if address <= last:
                found.failed(where, f"{address} stands here", "texts sorted by address", "Get the bundle again.")
            last, total = address, total + 1
            yield where, address, body.encode()
        if line == 0 or (line < study.SHARD and number < len(shards)):
            expected = f"{study.SHARD} where another shard follows, else at least one"
            found.failed(place, f"holds {count_noun(line, 'text')}", expected, "Get the bundle again.")
    if (loose and shards) or len(loose) >= study.LOOSE or (shards and total < study.LOOSE):
        expected = f"loose texts below {study.LOOSE} of them, else shards"
        found.failed("texts", f"{len(loose)} loose texts, {total} in shards", expected, "Get the bundle again.")


def _check_measures(
    place: str, same: tuple[Facts, ...], raw: bytes, found: Findings, rule: str, marked: Set[str] | None
) -> None:
    try:
        decoded = raw.decode("utf-8")
    except UnicodeDecodeError:
        found.failed(place, "is not UTF-8", "UTF-8", _FROZEN)
        return
    if canonical_json.has_piled_marks(decoded):
        found.failed(place, canonical_json.PILED, f"{canonical_json.MOST_MARKS} at most", _FROZEN)
        return
    got = (
        text.count_words(decoded, rule),
        len(decoded),
        canonical_json.sha256(canonical_json.make_canonical_text(raw)),
    )
    for document in same:
        what = f"manifest.jsonl, {document.id} (words, characters, canonical text)"
        found.equal(what, document.measured, got, "What the manifest says does not follow from the text.")
    for document in same if marked is not None else ():
        marks = ", ".join(f"{each.number} {each.kind}" for each in hidden(decoded))
        if (document.id in (marked or ())) != (marks != ""):
            told = "a finding of hidden marks" if marks else "no finding of hidden marks"
            remedy = "A detector can read what no reader sees: each such text is told."
            found.failed(f"screening.csv, {document.id}", f"the text holds {marks or 'none'}", told, remedy)


def _check_edit(
    document: Facts,
    after: bytes | None,
    held: Mapping[str, bytes],
    changed: dict[str, tuple[int, int]],
    found: Findings,
    rule: str,
) -> bool:
    """The number of changed words, counted again from draft and text. ``changed``: what was counted from each draft of it.

    False where draft or text are not there, or too long to be counted."""
    if document.draft is None or after is None or document.draft[0] not in held:
        return False
    what, address = f"manifest.jsonl, {document.id} (words changed, words of the draft)", document.draft[0]
    if address not in changed:
        before, now = (text.list_words(raw.decode("utf-8", "replace"), rule) for raw in (held[address], after))
        if (most := max(len(before), len(now))) > text.MOST_EDITED:
            found.failed(what, f"{most} words of draft or text", f"{text.MOST_EDITED} at most", _FROZEN)
            return False
        changed[address] = text.count_changed_words(before, now), len(before)
    remedy = "What the manifest says does not follow from draft and text."
    found.equal(what, document.draft[1:], changed[address], remedy)
    return True


def _check_sentences(
    document: Facts, after: bytes, held: Mapping[str, bytes], found: Findings, rule: str
) -> Iterator[str]:
    """What is said of the sentences of an edit is held against draft and text; why they were not split again, if so."""
    if document.sentences is None or document.draft is None:
        return
    told, language = document.sentences
    draft, now = (raw.decode("utf-8", "replace") for raw in (held[document.draft[0]], after))
    what, remedy = f"manifest.jsonl, {document.id} (sentences)", "Ask the publisher for the links that the texts give."
    if (fact := sentence_links.explain_wrong_links(told, draft, now, rule)) is not None:
        found.failed(what, fact, "links that cover draft and text in order, each of its kind", remedy)
        return
    try:
        if (why := sentence_links.realign_links(told, draft, now, language, rule)) is not None:
            yield why
    except ValueError as error:
        found.failed(what, told.verdict, str(error), remedy)
