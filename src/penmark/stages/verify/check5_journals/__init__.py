"""Check 5, journals: every attempt stands where it was written, by whom and when it was promised.

*Reads* journal/, the sealed cards, the seals, and of the manifest who can be asked about what. When and in which order
things were asked is held in ``times`` and ``question_order``, the answers against their evidence in ``evidence``. *Never* takes a
reason for not asking on trust.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import polars as pl

from penmark import cards, journal, study, timestamps
from penmark.corpus import provenance
from penmark.errors import PenmarkError
from penmark.format import canonical_json
from penmark.records import Protocol, Seal, SealedCard
from penmark.stages.verify.check2_seals import Sealed, seal_tokens
from penmark.stages.verify.check4_corpus import Corpus
from penmark.stages.verify.check5_journals import evidence, question_order, stops, times
from penmark.stages.verify.check_findings import Findings

_CHANGED = "A journal or the evidence was changed. Ask the publisher for the sealed files."


class Read(NamedTuple):
    """The journals of a bundle that keep the format, and what is wrong with the others."""

    journals: tuple[journal.Journal, ...]
    error: PenmarkError | None


def read_bundle_journals(edition: study.Edition) -> Read:
    """Every journal."""
    held: list[journal.Journal] = []
    try:
        first = canonical_json.sha256(study.read_bytes(edition.seal("corpus")))
        held.extend(journal.read_journals(edition.journal_files(), first))
    except PenmarkError as error:
        return Read(tuple(held), error)
    return Read(tuple(held), None)


def list_readable(read: Read, found: Findings) -> tuple[journal.Journal, ...]:
    """Those that keep the format; what does not is a finding."""
    if read.error is not None:
        found.error(read.error)
    return read.journals


def check_journals(
    edition: study.Edition,
    promised: Protocol,
    sealed: Sealed,
    read: tuple[journal.Journal, ...],
    known: Corpus,
    found: Findings,
) -> None:
    """Committed detectors, sealed heads, window, attempts, and every answer extracted again from its evidence."""
    held: dict[str, SealedCard] = {}
    for detector in promised.detectors:
        try:
            held[detector.name] = cards.read_sealed_card(edition, detector.name)
        except PenmarkError as error:
            found.error(error)
    positions = list(known.ids.values())
    frozen = pl.DataFrame(
        {"document": list(known.ids), "frozen": [known.addresses[at] for at in positions]},
        schema={"document": pl.String, "frozen": pl.String},
    )
    for one in read:
        place = f"journal/{one.path.name}"
        if one.detector not in {d.name for d in promised.detectors}:
            remedy = "Nobody promised this detector."
            found.failed(place, f"answers of {one.detector}", "committed detectors only", remedy)
            continue
        _check_starts(place, one, edition, promised.format, held.get(one.detector), found)
        times.check_times(place, one, promised, sealed, found)
        _check_documents(place, one, frozen, found)
        _check_questions(place, one, promised.detector(one.detector).version, found)
        _check_skipped(place, one, known, found)
        _taken_back(place, one, known, found)
        stops.check_stops(place, one, sealed.seals, found)
    _check_heads(edition, sealed.seals, {f"journal/{one.path.name}": one for one in read}, found)
    texts = evidence.PublishedTexts(edition, known)
    for name, card in held.items():
        own = [one for one in read if one.detector == name]
        question_order.check_order(own, promised, promised.detector(name), found)
        _check_origins(name, card, own, found)
        evidence.check_answers(edition, name, card.card, own, known, texts, found, promised.format)
    evidence.find_stray_evidence(edition, set(held), found)
    if found.clean:
        found.ok("journal", f"{sum(j.lines for j in read)} lines in {len(read)} journals, chained and sealed")


def _check_starts(
    place: str,
    one: journal.Journal,
    edition: study.Edition,
    number: int,
    sealed: SealedCard | None,
    found: Findings,
) -> None:
    digest = canonical_json.sha256(study.read_bytes(edition.sealed_card(one.detector))) if sealed is not None else None
    last = one.sent["line"][-1] if one.sent.height else 0
    for start in one.starts:
        where = f"{place}:{start['line']}"
        if ("rules" in start) != (number > 1):
            held = "rules" if "rules" in start else "no rules"
            found.failed(where, f"a start line with {held}", "rules in every start line from format 2 on", _CHANGED)
        found.equal(
            f"{where} card", start["card_sha256"], digest, "It was asked by another card than the promised one."
        )
        if sealed is not None and (start["plugin"] is not None or start["line"] < last):
            promised = sealed.plugin.model_dump() if sealed.plugin is not None else None
            found.equal(f"{where} plugin", start["plugin"], promised, "It was asked by other code than the promised.")


def _check_documents(place: str, one: journal.Journal, known: pl.DataFrame, found: Findings) -> None:
    """``known``: ``document`` and ``frozen``, its address, of the manifest."""
    for frame in (one.sent, one.retries, one.skipped):
        strange = frame.select(pl.col("document").unique(maintain_order=True)).join(known, on="document", how="anti")
        for name in strange["document"].to_list():
            found.failed(place, f"the document {name}", "a document of the manifest", _CHANGED)
    read = one.readings.select("document", "address", "line").join(
        known, on="document", how="left", maintain_order="left"
    )
    other = read.filter(pl.col("address").ne_missing(pl.col("frozen")))
    for name, address, line, frozen in other.iter_rows():
        expected = "a document of the manifest" if frozen is None else frozen
        found.failed(f"{place}:{line}", f"{name} with address {address}", expected, _CHANGED)


def _check_questions(place: str, one: journal.Journal, version: str | None, found: Findings) -> None:
    """What a reading repeats of the question is what was asked: the promised version, and the time of its ``sent`` line.
    Nobody reads the answers of a scan, and penmark did not see when others asked."""
    other = one.readings.filter(pl.col("version_asked").ne_missing(pl.lit(version, dtype=pl.String)))
    for line, said in other.select("line", "version_asked").iter_rows():
        remedy = "The version that is asked for is promised."
        found.failed(f"{place}:{line}", f"asked for version {said}", f"version {version}", remedy)
    scan = pl.col("origin") == "scan"
    odd = one.readings.filter((scan & pl.col("read_by").is_not_null()) | (~scan & pl.col("sent_at").is_not_null()))
    for line, origin, reader, at in odd.select("line", "origin", "read_by", "sent_at").iter_rows():
        got = f"a {origin}, read by {reader}" if origin == "scan" else f"{origin}, sent at {at}"
        found.failed(
            f"{place}:{line}", got, "read by nobody where it is of a scan, else without a time of sending", _CHANGED
        )
    scanned = one.readings.lazy().filter(pl.col("origin") == "scan").select("document", "attempt", "sent_at", "line")
    sent = (
        one.sent.lazy()
        .select("document", "attempt", "at")
        .unique(["document", "attempt"], keep="last", maintain_order=True)
    )
    both = scanned.join(sent, on=["document", "attempt"], how="inner", maintain_order="left")
    for line, said, at in (
        both.filter(pl.col("sent_at").ne_missing(pl.col("at"))).select("line", "sent_at", "at").collect().iter_rows()
    ):
        got = "no time of sending" if said is None else f"sent at {said}"
        found.failed(f"{place}:{line}", got, f"{at}, as its `sent` line says", _CHANGED)


# --- sealed heads ----------------------------------------------------------------------------------------------------


def _check_heads(
    edition: study.Edition, seals: dict[str, Seal], read: dict[str, journal.Journal], found: Findings
) -> None:
    """Each journal was, when it was sealed, a beginning of what it is now; at the evidence seal, all of it."""
    closed = seals["evidence"].journals if "evidence" in seals else {}
    for where in sorted(set(read) - set(closed)):
        found.failed(where, "has no sealed head", "a head in seals/evidence.json", _CHANGED)
    for name, seal in seals.items():
        for where, head in sorted(seal.journals.items()):
            path = edition.journals / where.removeprefix("journal/")
            if path not in edition.journal_files():
                found.failed(where, "is missing", f"the journal sealed in seals/{name}.json", _CHANGED)
                continue
            try:
                whole = read.get(where)
                if name == "evidence" and whole is not None:
                    got = whole.head if whole.lines == head.lines else f"{whole.lines} lines"
                else:
                    got = _digest_line(path, head.lines, last=name == "evidence")
            except PenmarkError as error:
                found.error(error)
                continue
            remedy = f"It is not the journal that seals/{name}.json saw."
            found.equal(f"{where} (line {head.lines})", got, head.head, remedy)


def _digest_line(path: Path, wanted: int, *, last: bool) -> str:
    """Digest of line ``wanted``; with ``last``, of that line as the last one."""
    digest, count = "there is no such line", 0
    for number, line in study.read_lines(path):
        count = number
        if number == wanted:
            digest = canonical_json.sha256(line)
            if not last:
                break
    return digest if not last or count == wanted else f"{count} lines"


# --- who can be asked about what --------------------------------------------------------------------------------------


def _check_skipped(place: str, one: journal.Journal, known: Corpus, found: Findings) -> None:
    """A document that was not asked about was withdrawn, or is one that the sealed card says cannot be, for that reason; one
    that cannot be is not asked about. Which documents are asked about is nobody's choice."""
    unfit = known.unfit.get(one.detector, {})
    for document, reason, line, at in one.skipped.select("document", "reason", "line", "at").iter_rows():
        if reason == provenance.WITHDRAWN and document in known.withdrawn:
            _check_withdrawal_time(f"{place}:{line}", document, at, known, found)
            continue
        if document not in known.ids:
            continue
        if document in known.broken:
            continue  # check 4 says what is wrong with it
        expected = unfit.get(document, f"{document} is asked about")
        remedy = "By the promised card the document could be asked about."
        found.equal(f"{place}:{line}", reason, expected, remedy)
    if unfit:
        asked = one.sent.filter(pl.col("document").is_in(list(unfit)))
        for document, line in asked.select("document", "line").iter_rows():
            remedy = "By the promised card the document could not be asked about."
            found.failed(f"{place}:{line}", f"{document} is asked about", f"skipped: {unfit[document]}", remedy)


def _check_withdrawal_time(place: str, document: str, at: str, known: Corpus, found: Findings) -> None:
    """A text that was left out since its author took it back was taken back before."""
    seal_tokens.check_time(at, place)
    if (since := known.since.get(document)) is not None and since > timestamps.parse_rfc3339(at) + seal_tokens.CLOCK:
        expected = f"after {known.withdrawn[document]}, when {document} was withdrawn"
        found.failed(place, f"left out at {at}, since it was withdrawn", expected, "One of the two times was made up.")


def _taken_back(place: str, one: journal.Journal, known: Corpus, found: Findings) -> None:
    """Nobody asks about a text that its author took back before."""
    asked = one.sent.filter(pl.col("document").is_in(list(known.since)))
    for document, line, at in asked.select("document", "line", "at").iter_rows():
        where = f"{place}:{line}"
        seal_tokens.check_time(at, where)
        if known.since[document] + seal_tokens.CLOCK < timestamps.parse_rfc3339(at):
            expected = f"nothing sent: it was withdrawn at {known.withdrawn[document]}"
            remedy = "Its author had taken the text back, or one of the two times was made up. Ask the publisher."
            found.failed(where, f"{document} is asked about at {at}", expected, remedy)


def _check_origins(name: str, card: SealedCard, own: list[journal.Journal], found: Findings) -> None:
    """Answers of a detector that a program asks, and that were not given to it."""
    if card.card.ask.by == "people":
        return
    if count := sum(one.readings.filter(pl.col("origin") != "scan").height for one in own):
        got = f"{count} answer{'s' if count > 1 else ''} from elsewhere: a program could have asked, and did not"
        found.not_checked(f"journal/{name}", got, "Ask the publisher how they came about; readings.csv says which.")
