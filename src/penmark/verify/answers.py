"""Check 5, answers: every reading says what its evidence says.

*Reads* evidence/, the readings of the journals, the sealed cards, the published texts. *Never* takes a score from a
journal on trust where the raw answer is there.
"""

from __future__ import annotations

import base64
import contextlib
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from penmark import __version__, canon, cards, evidence, journal, reading, study
from penmark.errors import PenmarkError
from penmark.records import Card
from penmark.verify import bulk, packed, texts
from penmark.verify.corpus import Corpus
from penmark.verify.found import Found

_CHANGED = "A journal or the evidence was changed. Ask the publisher for the sealed files."
_AGAIN = "Get the bundle again."


class _Row(NamedTuple):
    """What is needed of a reading."""

    document: str
    attempt: int
    evidence_sha256: str | None
    line: int
    state: str
    displayed: str | None
    score: str | None
    label: str | None
    version: str | None
    reason: str | None
    origin: str


def answers(
    edition: study.Edition,
    name: str,
    card: Card,
    own: list[journal.Journal],
    known: Corpus,
    published: Texts,
    found: Found,
) -> None:
    """Walk the readings of the detector ``name`` and its raw answers in step: evidence stands in their order."""
    kept = _kept(edition, name, found)
    for one in own:
        place, ours = f"journal/{one.path.name}", _ours(one)
        for row in map(_Row._make, one.readings.select(_Row._fields).iter_rows()):
            if row.evidence_sha256 is None:
                _displayed(f"{place}:{row.line}", row, card, found)
                continue
            at = known.ids.get(row.document)
            if at is None or known.withheld[at]:
                continue
            file, there = next(kept, (f"evidence/{name}", None))
            key = (row.document, row.attempt, row.evidence_sha256)
            where = f"{place}:{row.line}"
            if there is None or (there.document, there.attempt, there.sha256) != key:
                got = "nothing" if there is None else f"the answer about {there.document}, attempt {there.attempt}"
                wanted = f"the raw answer about {row.document} with digest {row.evidence_sha256}"
                found.failed(f"{file} for {where}", got, wanted, _CHANGED)
                return
            salt = known.salts.get(row.document) if known.attested[at] else None
            digest = canon.keyed(salt, there.body) if salt is not None else canon.sha256(there.body)
            if digest != row.evidence_sha256:
                found.failed(f"{file} for {where}", digest, row.evidence_sha256, _CHANGED)
                continue
            text = published.text(at) if card.answer.text is not None else None
            judged = _judged(row, card, there.body, text)
            _answer(where, row, judged, text, found)
            if row.state == "answered" and known.attested[at]:
                found.equal(f"{where} (reason)", row.reason, None, "Answers about attested texts have no remark.")
            elif ours and (text is not None or row.reason is not None):
                _remark(where, row, card, there.body, published.text(at) if text is None else text, found)
        if not ours and card.answer.text is not None:
            why = "another release wrote it, whose remarks on answers are not held against the answers"
            found.not_checked(place, why, "Use the release that its start lines name.")
    if (more := next(kept, None)) is not None:
        found.failed(more[0], "answers without a reading", "one answer a reading", _CHANGED)


def _judged(row: _Row, card: Card, body: bytes, text: str | None) -> reading.Judged:
    """What the raw answer comes to, as the sealed card reads it. Where the text is not here to compare with, an answer is
    about the text that it says."""
    if row.origin == "typed" and cards.by_display(card):
        return reading.judge_typed(card, body)
    if text is None:
        text = "" if card.answer.text is None else _echoed(card, body)
    return reading.judge(card, body, text)


def _answer(where: str, row: _Row, judged: reading.Judged, text: str | None, found: Found) -> None:
    """The reading says what its raw answer says."""
    shown = judged.found
    if (row.displayed, row.score, row.label, row.version) != shown[:4]:
        got, expected = str((row.displayed, row.score, row.label, row.version)), str(tuple(shown[:4]))
        remedy = "The reading is not what the answer says."
        found.failed(f"{where} (displayed, score, label, version)", got, expected, remedy)
    if judged.state == "answered" and row.state != "answered":
        expected_state = "answered: there is an answer in the evidence"
        found.failed(where, f"state {row.state}", expected_state, "An answer was left out.")
    if judged.state != "answered" and row.state == "answered":
        found.failed(where, "state answered", f"{judged.state}: {judged.reason}", "There is no answer in the evidence.")
    other = judged.reason == reading.OTHER_TEXT
    if other or (text is not None and row.reason == reading.OTHER_TEXT):
        expected_reason = reading.OTHER_TEXT if other else "the text that was sent is echoed"
        found.equal(f"{where} (reason)", row.reason, expected_reason, "What was scanned is another text.")


def _ours(one: journal.Journal) -> bool:
    """True where this release wrote the journal: what is worth a remark is not part of the format."""
    return all(start["software"] == f"penmark {__version__}" for start in one.starts)


def _remark(where: str, row: _Row, card: Card, body: bytes, text: str | None, found: Found) -> None:
    """An answered reading has the remark that its raw answer calls for. ``text``: None where it is not here."""
    if text is None or row.state != "answered":
        return
    judged = reading.judge(card, body, text)
    if row.origin == "typed" and cards.by_display(card):
        judged = reading.judge_typed(card, body)
    if judged.state == "answered":
        said = reading.remarked(judged, card, body, text).reason
        found.equal(f"{where} (reason)", row.reason, said, "The remark is not what the answer shows.")


def _echoed(card: Card, body: bytes) -> str:
    """The text that an answer says it is about."""
    try:
        return cards.extract(card, body).text or ""
    except PenmarkError:
        return ""


def _displayed(where: str, row: _Row, card: Card, found: Found) -> None:
    """A reading without a raw answer: nothing of a scan was shown, or somebody copied a screen."""
    if row.origin != "typed" and row.state == "answered":
        expected = "the raw answer, unless somebody copied a screen"
        found.failed(where, "an answer without evidence", expected, "What programs read, they keep.")
    if row.state == "answered" and row.reason is not None:
        remedy = "The operator says something of an answer that follows from nothing."
        found.failed(f"{where} (reason)", row.reason, "no remark on an answer that nobody can look at", remedy)
    shown = row.displayed
    if row.state != "answered" and shown is not None:
        found.failed(
            where, f"{row.state}, and displayed {shown}", "nothing displayed, or an answer", "An answer was left out."
        )
    told = (None, None) if shown is None else cards.from_display(card, shown)[1:3]
    got = (row.score, row.label)
    found.equal(f"{where} (score, label)", got, told, "The reading is not what was displayed.")


def _kept(edition: study.Edition, name: str, found: Found) -> Iterator[tuple[str, evidence.Kept]]:
    """The raw answers about one detector, file by file, each with its file."""
    for number, path in enumerate(_files(edition, name), 1):
        place, wanted = f"evidence/{path.name}", f"{name}-{number:04d}.jsonl.gz"
        found.equal(place, path.name, wanted, f"Evidence is numbered without a gap. {_AGAIN}")
        try:
            for first, lines in packed.blocks(path, evidence.MAX_LINES):
                several = bulk.kept(lines)
                singly = (_one(f"{place}:{n}", f"{path}:{n}", line, found) for n, line in enumerate(lines, first))
                for number, one in enumerate(singly if several is None else several, first):
                    if one.detector != name:
                        found.failed(f"{place}:{number} detector", one.detector, name, _CHANGED)
                    yield place, one
        except PenmarkError as error:
            found.error(error)
            return


def _one(where: str, place: str, line: bytes, found: Found) -> evidence.Kept:
    """The raw answer in one line. Raises PenmarkError where it is none."""
    value = packed.record(line, place)
    one = evidence.parse(value, place=where)
    if value["encoding"] == "base64":  # bits that no reader sees could differ
        found.equal(f"{where} body", value["body"], base64.b64encode(one.body).decode(), _CHANGED)
    return one


def _files(edition: study.Edition, name: str) -> list[Any]:
    pattern = re.compile(re.escape(name) + r"-[0-9]{4,6}\.jsonl\.gz")
    held = edition.evidence.iterdir() if edition.evidence.is_dir() else ()
    return sorted((path for path in held if pattern.fullmatch(path.name)), key=lambda path: (len(path.name), path.name))


def strays(edition: study.Edition, names: set[str], found: Found) -> None:
    """Evidence of detectors that nobody promised."""
    known = {path for name in names for path in _files(edition, name)}
    for path in sorted(edition.evidence.iterdir()) if edition.evidence.is_dir() else []:
        if path not in known:
            found.failed(
                f"evidence/{path.name}", "is evidence of no promised detector", "promised ones only", "Remove it."
            )


class Texts:
    """Published texts by position; read once, when a detector echoes what it scanned."""

    def __init__(self, edition: study.Edition, known: Corpus) -> None:
        self._edition, self._known = edition, known
        self._salts = {known.ids[name]: salt for name, salt in known.salts.items() if name in known.ids}
        self._texts: dict[str, bytes] | None = None

    def text(self, at: int) -> str | None:
        """The text of the document at that position; None where it is not here, or not the frozen one."""
        if self._texts is None:
            self._texts = {}
            silent = Found(4, "corpus")  # check 4 says what is wrong with them
            with contextlib.suppress(PenmarkError):
                self._texts |= {address: raw for _, address, raw in texts.read(self._edition, silent)}
        address = self._known.addresses[at]
        raw = self._texts.get(address)
        salt = self._salts.get(at) if raw is not None and self._known.attested[at] else None
        if raw is None or (canon.sha256(raw) if salt is None else canon.keyed(salt, raw)) != address:
            return None
        return raw.decode("utf-8", "replace")
