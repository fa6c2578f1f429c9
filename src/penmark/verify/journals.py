"""Check 5, journals: every attempt and answer stands where it was written, and says what its evidence says.

*Reads* journal/, evidence/, the sealed cards and the published texts. *Never* takes a score from a journal on trust
where the raw answer is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from penmark import canon, cards, evidence, journal, reading, study, tokens
from penmark.errors import PenmarkError
from penmark.records import Card, Protocol, Seal, SealedCard
from penmark.verify.corpus import Corpus
from penmark.verify.found import Found
from penmark.verify.sums import safe

_CHANGED = "A journal or the evidence was changed. Ask the publisher for the sealed files."
Keyed = dict[tuple[str, int], dict[str, Any]]


def read(edition: study.Edition, found: Found) -> list[journal.Journal]:
    """Every journal that keeps the format; what does not is a finding."""
    read: list[journal.Journal] = []
    try:
        first = canon.sha256(study.read(edition.seal("corpus")))
        for one in journal.read_all(edition.journal_files(), first):
            read.append(one)
    except PenmarkError as error:
        found.error(error)
    return read


def journals(
    edition: study.Edition,
    promised: Protocol,
    seals: dict[str, Seal],
    read: list[journal.Journal],
    known: Corpus,
    found: Found,
) -> None:
    """Committed detectors, sealed heads, window, versions, and every answer extracted again from its evidence."""
    sealed: dict[str, SealedCard] = {}
    for detector in promised.detectors:
        try:
            sealed[detector.name] = cards.sealed(edition, detector.name)
        except PenmarkError as error:
            found.error(error)
    for one in read:
        place = f"journal/{one.path.name}"
        if one.detector not in {d.name for d in promised.detectors}:
            found.failed(
                place, f"answers of {one.detector}", "committed detectors only", "Nobody promised this detector."
            )
            continue
        _starts(place, one, edition, sealed.get(one.detector), found)
        _times(place, one, promised, seals, found)
        _documents(place, one, known, found)
    _heads(edition, seals, found)
    for name, one_sealed in sealed.items():
        _evidence(edition, name, one_sealed.card, [j for j in read if j.detector == name], known, found)
    _strays(edition, set(sealed), found)
    if found.clean:
        found.ok("journal", f"{sum(j.lines for j in read)} lines in {len(read)} journals, chained and sealed")


def _starts(place: str, one: journal.Journal, edition: study.Edition, sealed: SealedCard | None, found: Found) -> None:
    digest = canon.sha256(study.read(edition.sealed_card(one.detector))) if sealed is not None else None
    for start in one.starts:
        where = f"{place}:{start['line']}"
        found.equal(
            f"{where} card", start["card_sha256"], digest, "It was asked by another card than the promised one."
        )
        if sealed is not None and start["plugin"] is not None:
            promised = sealed.plugin.model_dump() if sealed.plugin is not None else None
            found.equal(f"{where} plugin", start["plugin"], promised, "It was asked by other code than the promised.")


def _times(place: str, one: journal.Journal, promised: Protocol, seals: dict[str, Seal], found: Found) -> None:
    """Scans lie inside the promised window, after the corpus seal and before the evidence seal."""
    scanned = one.readings.filter(one.readings["origin"] == "scan")
    for times in (one.sent["at"], scanned["got_at"].drop_nulls()):
        if times.is_empty():
            continue
        # Without its Z a time sorts as text: the shorter of two that are alike is the earlier.
        bare = times.str.strip_suffix("Z")
        first, last = tokens.moment(f"{bare.sort()[0]}Z"), tokens.moment(f"{bare.sort()[-1]}Z")
        opens, closes = promised.window.opens, promised.window.closes
        if first.date().isoformat() < opens or last.date().isoformat() > closes:
            found.failed(
                place, f"scanned from {first} to {last}", f"from {opens} to {closes}", "Scanned outside the window."
            )
        if "corpus" in seals and first < tokens.moment(seals["corpus"].sealed_at):
            sealed_at = seals["corpus"].sealed_at
            found.failed(
                place, f"scanned at {first}", f"after the corpus seal, {sealed_at}", "Asked before the freeze."
            )
        if "evidence" in seals and last > tokens.moment(seals["evidence"].sealed_at):
            found.failed(
                place, f"scanned at {last}", f"before {seals['evidence'].sealed_at}", "Asked after the evidence seal."
            )


def _documents(place: str, one: journal.Journal, known: Corpus, found: Found) -> None:
    for frame in (one.sent, one.retries, one.skipped):
        for name in frame["document"].unique().to_list():
            if name not in known.ids:
                found.failed(place, f"the document {name}", "a document of the manifest", _CHANGED)
    for name, address, line in one.readings.select("document", "address", "line").iter_rows():
        at = known.ids.get(name)
        if at is None or known.addresses[at] != address:
            expected = "a document of the manifest" if at is None else known.addresses[at]
            found.failed(f"{place}:{line}", f"{name} with address {address}", expected, _CHANGED)


def _heads(edition: study.Edition, seals: dict[str, Seal], found: Found) -> None:
    """Each journal was, when it was sealed, a beginning of what it is now; at the evidence seal, all of it."""
    for name, seal in seals.items():
        for where, head in sorted(seal.journals.items()):
            folder, _, file = where.partition("/")
            if folder != "journal" or not safe(where) or not (edition.journals / file).is_file():
                found.failed(where, "is missing", f"the journal sealed in seals/{name}.json", _CHANGED)
                continue
            try:
                got = _line(edition.journals / file, head.lines, last=name == "evidence")
            except PenmarkError as error:
                found.error(error)
                continue
            found.equal(
                f"{where} (line {head.lines})", got, head.head, f"It is not the journal that seals/{name}.json saw."
            )


def _line(path: Path, wanted: int, *, last: bool) -> str:
    """Digest of line ``wanted``; with ``last``, of that line as the last one."""
    digest, count = "there is no such line", 0
    for number, line in study.lines(path):
        count = number
        if number == wanted:
            digest = canon.sha256(line)
            if not last:
                break
    return digest if not last or count == wanted else f"{count} lines, not {wanted}"


# --- evidence ------------------------------------------------------------------------------------------------------


def _evidence(
    edition: study.Edition, name: str, card: Card, read: list[journal.Journal], known: Corpus, found: Found
) -> None:
    """Walk readings and raw answers in step: evidence stands in the order of its readings."""
    kept = _kept(edition, name, found)
    texts = _Texts(edition, known) if card.answer.text is not None else None
    for one in read:
        place = f"journal/{one.path.name}"
        for row in one.readings.iter_rows(named=True):
            where = f"{place}:{row['line']}"
            if row["evidence_sha256"] is None:
                _displayed(where, row, card, found)
                continue
            at = known.ids.get(row["document"])
            if at is None or known.withheld[at]:
                continue
            there = next(kept, None)
            key = (row["document"], row["attempt"], row["evidence_sha256"])
            if there is None or (there.document, there.attempt, there.sha256) != key:
                got = "nothing" if there is None else f"the answer about {there.document}, attempt {there.attempt}"
                found.failed(f"evidence of {where}", got, f"the raw answer about {row['document']}", _CHANGED)
                return
            salt = known.salts.get(row["document"]) if known.attested[at] else None
            digest = canon.keyed(salt, there.body) if salt is not None else canon.sha256(there.body)
            if found.equal(f"evidence of {where}", digest, row["evidence_sha256"], _CHANGED):
                _answer(where, row, card, there.body, texts.text(at) if texts is not None else None, found)
    if next(kept, None) is not None:
        found.failed(f"evidence of {name}", "answers without a reading", "one answer a reading", _CHANGED)


def _answer(where: str, row: dict[str, Any], card: Card, body: bytes, text: str | None, found: Found) -> None:
    """The reading says what its raw answer says, as the sealed card reads it."""
    judged = reading.judge(card, body, text) if text is not None else reading.judge(card, body, _echoed(card, body))
    got = tuple(row[k] for k in ("displayed", "score", "label", "version"))
    expected = (judged.found.displayed, judged.found.score, judged.found.label, judged.found.version)
    found.equal(
        f"{where} (displayed, score, label, version)", got, expected, "The reading is not what the answer says."
    )
    if judged.state == "answered" and row["state"] != "answered":
        found.failed(
            where, f"state {row['state']}", "answered: there is an answer in the evidence", "An answer was left out."
        )
    if judged.state != "answered" and row["state"] == "answered":
        found.failed(where, "state answered", f"{judged.state}: {judged.reason}", "There is no answer in the evidence.")
    if judged.reason == reading.OTHER_TEXT:
        found.equal(f"{where} (reason)", row["reason"], reading.OTHER_TEXT, "The answer is about another text.")


def _echoed(card: Card, body: bytes) -> str:
    """Where the text is not here to compare with, an answer is about the text that it says."""
    try:
        return cards.extract(card, body).text or ""
    except PenmarkError:
        return ""


def _displayed(where: str, row: dict[str, Any], card: Card, found: Found) -> None:
    if row["origin"] == "scan" and row["state"] != "failed":
        found.failed(where, "an answer without evidence", "the raw answer of a scan", "A scan keeps every answer.")
    if row["state"] != "answered" or row["displayed"] is None:
        return
    told = cards.from_display(card, row["displayed"])
    got = (row["score"], row["label"])
    found.equal(f"{where} (score, label)", got, (told.score, told.label), "The reading is not what was displayed.")


def _kept(edition: study.Edition, name: str, found: Found) -> Iterator[evidence.Kept]:
    for path in sorted(edition.evidence.glob(f"{name}-*.jsonl.gz")) if edition.evidence.is_dir() else []:
        if not path.name.removeprefix(f"{name}-").removesuffix(".jsonl.gz").isdigit():
            continue  # of a detector with a longer name
        try:
            for number, value in study.records(path):
                one = evidence.parse(value, place=f"evidence/{path.name}:{number}")
                if one.detector != name:
                    found.failed(
                        f"evidence/{path.name}:{number}", f"an answer of {one.detector}", f"of {name}", _CHANGED
                    )
                yield one
        except PenmarkError as error:
            found.error(error)
            return


def _strays(edition: study.Edition, names: set[str], found: Found) -> None:
    for path in sorted(edition.evidence.glob("*")) if edition.evidence.is_dir() else []:
        stem, _, number = path.name.removesuffix(".jsonl.gz").rpartition("-")
        if stem not in names or not number.isdigit() or not path.name.endswith(".jsonl.gz"):
            found.failed(
                f"evidence/{path.name}", "is evidence of no promised detector", "promised detectors only", "Remove it."
            )


class _Texts:
    """Published texts by position; read once, where a detector echoes what it scanned."""

    def __init__(self, edition: study.Edition, known: Corpus) -> None:
        self._known = known
        try:
            self._texts = {address: raw for address, raw, _ in study.read_texts(edition.root / "texts")}
        except PenmarkError:
            self._texts = {}  # check 4 says so

    def text(self, at: int) -> str | None:
        raw = self._texts.get(self._known.addresses[at])
        return raw.decode("utf-8", "replace") if raw is not None else None
