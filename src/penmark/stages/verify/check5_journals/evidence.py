"""Check 5, answers: every reading says what its evidence says.

*Reads* evidence/, the readings of the journals, the sealed cards, the published texts. *Never* takes a score from a
journal on trust where the raw answer is there.
"""

from __future__ import annotations

import base64
import contextlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from penmark import cards, journal, study
from penmark.cards import judge
from penmark.errors import PenmarkError, count_noun
from penmark.format import canonical_json, versions
from penmark.journal import evidence_log
from penmark.records import Card
from penmark.stages.verify import gzip_files
from penmark.stages.verify.check4_corpus import Corpus, published_texts
from penmark.stages.verify.check5_journals import evidence_columns, same_shape, typed
from penmark.stages.verify.check_findings import Findings

_CHANGED = "A journal or the evidence was changed. Ask the publisher for the sealed files."
_AGAIN = "Get the bundle again."
_NO_REMARK = "Answers about attested texts have no remark."
_DOCUMENTS = {"document": pl.String, "position": pl.Int64, "attested": pl.Boolean}


class _Row(NamedTuple):
    """What is needed of a reading; ``position`` of its document, and whether that is attested."""

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
    read_by: str | None
    got_at: str | None
    position: int
    attested: bool


def check_answers(
    edition: study.Edition,
    name: str,
    card: Card,
    own: list[journal.Journal],
    known: Corpus,
    published: PublishedTexts,
    found: Findings,
    number: int,
) -> None:
    """Walk the readings of the detector ``name`` and its raw answers in step: evidence stands in their order. ``number``: of
    the format."""
    kept, alike, hands = _Kept(edition, name, found), same_shape.Shapes(card), typed.Typed(known, found)
    for one in own:
        place, ours = f"journal/{one.path.name}", _is_by_our_rules(one)
        readings = one.readings.join(published.documents, on="document", how="left", maintain_order="left")
        readings = readings.select(_Row._fields)
        for row in map(_Row._make, readings.filter(pl.col("evidence_sha256").is_null()).iter_rows()):
            _check_without_evidence(f"{place}:{row.line}", row, card, found)
        _check_hidden_remarks(place, readings, known, found)
        proven = readings.filter(pl.col("evidence_sha256").is_not_null(), pl.col("position").is_not_null())
        for row, file, body in _list_unproven(place, proven, kept, alike, found):
            where = f"{place}:{row.line}"
            salt = known.salts.get(row.document) if row.attested else None
            digest = canonical_json.fingerprint_text(salt, body) if salt is not None else canonical_json.sha256(body)
            if digest != row.evidence_sha256:
                found.failed(f"{file} for {where}", digest, row.evidence_sha256 or "", _CHANGED)
                continue
            text = published.text(row.position) if _has_echo(row, card, body) else None
            judged = _judge_answer(row, card, body, text, number)
            _check_reading(where, row, judged, text, found)
            if row.origin == "typed" and judged.found.displayed is not None:
                hands.hold(where, typed.Said(row.document, row.read_by, row.got_at), card, body)
            if row.state == "answered" and row.attested:
                found.equal(f"{where} (reason)", row.reason, None, _NO_REMARK)
            elif ours and (text is not None or row.reason is not None):
                said = published.text(row.position) if text is None else text
                _check_remark(where, row, card, body, said, found, number)
        if kept.lost:
            return
        if not ours:
            others = ", ".join(
                sorted({str(start["software"]) for start in one.starts if _find_rules_number(start) != versions.RULES})
            )
            why = f"other rules wrote it ({others}), whose remarks on answers are not held against the answers"
            found.not_checked(place, why, "Use the release that its start lines name.")
    file, more = kept.take(1)
    if more.height:
        found.failed(file, "answers without a reading", "one answer a reading", _CHANGED)


def _check_hidden_remarks(place: str, readings: pl.DataFrame, known: Corpus, found: Findings) -> None:
    """No remark on an answer about an attested text that is not here: nobody could look at either."""
    told = readings.filter(
        pl.col("position").is_null(),
        pl.col("evidence_sha256").is_not_null(),
        pl.col("state") == "answered",
        pl.col("reason").is_not_null(),
    )
    for document, line, reason in told.select("document", "line", "reason").iter_rows():
        if document in known.ids and known.attested[known.ids[document]]:
            found.failed(f"{place}:{line} (reason)", reason, "nothing", _NO_REMARK)


def _list_unproven(
    place: str, rows: pl.DataFrame, kept: _Kept, alike: same_shape.Shapes, found: Findings
) -> Iterator[tuple[_Row, str, bytes]]:
    """Each reading that is not proven with others, with the file and the bytes of its raw answer."""
    for file, both in _in_step(place, rows, kept, found):
        for *row, body in alike.unproven(both).iter_rows():
            yield _Row._make(row), file, body


def _in_step(place: str, rows: pl.DataFrame, kept: _Kept, found: Findings) -> Iterator[tuple[str, pl.DataFrame]]:
    """Readings with their raw answers (``body``), and the file of these, as long as they stand in the same order."""
    while rows.height:
        file, there = kept.take(rows.height)
        here = rows.head(there.height)
        same = (here["document"] == there["document"]) & (here["attempt"] == there["attempt"])
        same &= here["evidence_sha256"] == there["sha256"]
        good = there.height if same.all() else same.arg_min() or 0
        yield file, here.head(good).with_columns(there["body"].head(good))
        if there.is_empty() or good < there.height:
            row, got = _Row._make(rows.row(good)), "nothing"
            if there.height:
                document, attempt = there.select("document", "attempt").row(good)
                got = f"the answer about {document}, attempt {attempt}"
            wanted = f"the raw answer about {row.document} with digest {row.evidence_sha256}"
            found.failed(f"{file} for {place}:{row.line}", got, wanted, _CHANGED)
            kept.lost = True
            return
        rows = rows.slice(there.height)


def _judge_answer(row: _Row, card: Card, body: bytes, text: str | None, number: int) -> judge.Judged:
    """What the raw answer comes to, as the sealed card reads it. Where the text is not here to compare with, an answer is
    about the text that it says."""
    if _is_from_screen(row, card):
        return judge.judge_typed(card, body, text, number=number)
    if text is None:
        text = "" if card.answer.text is None else _extract_echo(card, body)
    return judge.judge_answer(card, body, text, number=number)


def _is_from_screen(row: _Row, card: Card) -> bool:
    """Whether the raw answer is what people typed from a screen."""
    return row.origin == "typed" and cards.is_read_by_display(card)


def _has_echo(row: _Row, card: Card, body: bytes) -> bool:
    """Whether the raw answer may say of which text it is."""
    if not _is_from_screen(row, card):
        return card.answer.text is not None
    try:
        return cards.extract_typed(card, body).text is not None
    except PenmarkError:
        return False


def _check_reading(where: str, row: _Row, judged: judge.Judged, text: str | None, found: Findings) -> None:
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
    if row.origin != "scan" and judged.state != "answered" and str(judged.reason).startswith(judge.UNREAD):
        found.equal(f"{where} (reason)", row.reason, judged.reason, "An answer that cannot be read is an answer.")
    other = judged.reason == judge.OTHER_TEXT
    if other or (text is not None and row.reason == judge.OTHER_TEXT):
        expected_reason = judge.OTHER_TEXT if other else "the text that was sent is echoed"
        found.equal(f"{where} (reason)", row.reason, expected_reason, "What was scanned is another text.")


def _is_by_our_rules(one: journal.Journal) -> bool:
    """True where the rules of this release wrote the journal: what is worth a remark is not part of the format."""
    return all(_find_rules_number(start) == versions.RULES for start in one.starts)


def _find_rules_number(start: Mapping[str, Any]) -> int | None:
    return versions.rules_of(str(start["software"]), start.get("rules"))


def _check_remark(
    where: str, row: _Row, card: Card, body: bytes, text: str | None, found: Findings, number: int
) -> None:
    """An answered reading has the remark that its raw answer calls for. ``text``: None where it is not here."""
    if text is None or row.state != "answered":
        return
    judged = _judge_answer(row, card, body, text, number)
    if judged.state == "answered":
        said = judge.add_remark(judged, card, body, text).reason
        found.equal(f"{where} (reason)", row.reason, said, "The remark is not what the answer shows.")


def _extract_echo(card: Card, body: bytes) -> str:
    """The text that an answer says it is about."""
    try:
        return cards.extract_answer(card, body).text or ""
    except PenmarkError:
        return ""


def _check_without_evidence(where: str, row: _Row, card: Card, found: Findings) -> None:
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
    told = (None, None) if shown is None else cards.extract_from_display(card, shown)[1:3]
    got = (row.score, row.label)
    found.equal(f"{where} (score, label)", got, told, "The reading is not what was displayed.")


class _Kept:
    """The raw answers about one detector, taken in their order. ``lost``: the readings stand in another one."""

    def __init__(self, edition: study.Edition, name: str, found: Findings) -> None:
        self._none = f"evidence/{name}", evidence_columns.make_kept_table([])
        self._blocks = _read_blocks(edition, name, found)
        self._file, self._next = self._none
        self.lost = False

    def take(self, most: int) -> tuple[str, pl.DataFrame]:
        """The file of the next answers, and up to ``most`` of them (columns as in ``evidence_columns``); none where
        there are no more."""
        while self._next.is_empty() and (block := next(self._blocks, None)) is not None:
            self._file, self._next = block
        if self._next.is_empty():
            return self._none
        taken, self._next = self._next.head(most), self._next.slice(most)
        return self._file, taken


def _read_blocks(edition: study.Edition, name: str, found: Findings) -> Iterator[tuple[str, pl.DataFrame]]:
    """File and answers, thousands at a time."""
    files = _list_evidence_files(edition, name)
    for number, path in enumerate(files, 1):
        place, wanted = f"evidence/{path.name}", f"{name}-{number:04d}.jsonl.gz"
        found.equal(place, path.name, wanted, f"Evidence is numbered without a gap. {_AGAIN}")
        held = 0
        try:
            for first, lines in gzip_files.read_gzip_blocks(path, evidence_log.MAX_LINES):
                held += len(lines)
                block, error = evidence_columns.parse_kept_columns(lines), None
                if block is None:
                    block, error = _read_one_by_one(place, path, first, lines, found)
                other = block.with_row_index("line", first).filter(pl.col("detector") != name)
                for line, detector in other.select("line", "detector").iter_rows():
                    found.failed(f"{place}:{line} detector", detector, name, _CHANGED)
                yield place, block
                if error is not None:
                    raise error
        except PenmarkError as error:
            found.error(error)
            return
        if held == 0 or (held < evidence_log.MAX_LINES and number < len(files)):
            expected = f"{evidence_log.MAX_LINES} where another file follows, else at least one"
            found.failed(place, f"holds {count_noun(held, 'line')}", expected, _CHANGED)


def _read_one_by_one(
    place: str, path: Path, first: int, lines: list[bytes], found: Findings
) -> tuple[pl.DataFrame, PenmarkError | None]:
    """The raw answers in lines of which one is not like most; up to the one that is none, and what is wrong with it."""
    kept = []
    try:
        for number, line in enumerate(lines, first):
            kept.append(_parse_answer(f"{place}:{number}", f"{path}:{number}", line, found))
    except PenmarkError as error:
        return evidence_columns.make_kept_table(kept), error
    return evidence_columns.make_kept_table(kept), None


def _parse_answer(where: str, place: str, line: bytes, found: Findings) -> evidence_log.Kept:
    """The raw answer in one line. Raises PenmarkError where it is none."""
    value = gzip_files.parse_gzip_record(line, place)
    one = evidence_log.parse_evidence(value, place=where)
    if value["encoding"] == "base64":  # bits that no reader sees could differ
        found.equal(f"{where} body", value["body"], base64.b64encode(one.body).decode(), _CHANGED)
    return one


def _list_evidence_files(edition: study.Edition, name: str) -> list[Path]:
    pattern = re.compile(re.escape(name) + r"-[0-9]{4,6}\.jsonl\.gz")
    held = study.own(edition.evidence)
    return sorted((path for path in held if pattern.fullmatch(path.name)), key=lambda path: (len(path.name), path.name))


def find_stray_evidence(edition: study.Edition, names: set[str], found: Findings) -> None:
    """Evidence of detectors that nobody promised."""
    known = {path for name in names for path in _list_evidence_files(edition, name)}
    for path in study.own(edition.evidence):
        if path not in known:
            found.failed(
                f"evidence/{path.name}", "is evidence of no promised detector", "promised ones only", "Remove it."
            )


class PublishedTexts:
    """Published texts by position; read once, when a detector echoes what it scanned. ``documents``: which ones they are."""

    def __init__(self, edition: study.Edition, known: Corpus) -> None:
        self._edition, self._known = edition, known
        held = [(name, at, known.attested[at] != 0) for name, at in known.ids.items() if not known.withheld[at]]
        self.documents = pl.DataFrame(held, schema=_DOCUMENTS, orient="row")
        self._salts = {known.ids[name]: salt for name, salt in known.salts.items() if name in known.ids}
        self._texts: dict[str, bytes] | None = None

    def text(self, at: int) -> str | None:
        """The text of the document at that position; None where it is not here, or not the frozen one."""
        if self._texts is None:
            self._texts = {}
            silent = Findings(4, "corpus")  # check 4 says what is wrong with them
            with contextlib.suppress(PenmarkError):
                self._texts |= {
                    address: raw for _, address, raw in published_texts.read_published_texts(self._edition, silent)
                }
        address = self._known.addresses[at]
        raw = self._texts.get(address)
        salt = self._salts.get(at) if raw is not None and self._known.attested[at] else None
        if (
            raw is None
            or (canonical_json.sha256(raw) if salt is None else canonical_json.fingerprint_text(salt, raw)) != address
        ):
            return None
        return raw.decode("utf-8", "replace")
