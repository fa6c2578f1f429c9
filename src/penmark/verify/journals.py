"""Check 5, journals: every attempt stands where it was written, by whom and when it was promised.

*Reads* journal/, the sealed cards, the seals, and of the manifest who can be asked about what. When and in which order
things were asked is held in ``hours`` and ``turns``, the answers against their evidence in ``answers``. *Never* takes a
reason for not asking on trust.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import polars as pl

from penmark import canon, cards, journal, provenance, study, tokens
from penmark.errors import PenmarkError
from penmark.records import Protocol, Seal, SealedCard
from penmark.verify import answers, hours, stamps, stops, turns
from penmark.verify.corpus import Corpus
from penmark.verify.found import Found
from penmark.verify.seals import Sealed

_CHANGED = "A journal or the evidence was changed. Ask the publisher for the sealed files."


class Read(NamedTuple):
    """The journals of a bundle that keep the format, and what is wrong with the others."""

    journals: tuple[journal.Journal, ...]
    error: PenmarkError | None


def read(edition: study.Edition) -> Read:
    """Every journal."""
    held: list[journal.Journal] = []
    try:
        first = canon.sha256(study.read(edition.seal("corpus")))
        held.extend(journal.read_all(edition.journal_files(), first))
    except PenmarkError as error:
        return Read(tuple(held), error)
    return Read(tuple(held), None)


def readable(read: Read, found: Found) -> tuple[journal.Journal, ...]:
    """Those that keep the format; what does not is a finding."""
    if read.error is not None:
        found.error(read.error)
    return read.journals


def journals(
    edition: study.Edition,
    promised: Protocol,
    sealed: Sealed,
    read: tuple[journal.Journal, ...],
    known: Corpus,
    found: Found,
) -> None:
    """Committed detectors, sealed heads, window, attempts, and every answer extracted again from its evidence."""
    held: dict[str, SealedCard] = {}
    for detector in promised.detectors:
        try:
            held[detector.name] = cards.sealed(edition, detector.name)
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
        _starts(place, one, edition, promised.format, held.get(one.detector), found)
        hours.hours(place, one, promised, sealed, found)
        _documents(place, one, frozen, found)
        _asked(place, one, promised.detector(one.detector).version, found)
        _fit(place, one, known, found)
        _taken_back(place, one, known, found)
        stops.stops(place, one, sealed.seals, found)
    _heads(edition, sealed.seals, {f"journal/{one.path.name}": one for one in read}, found)
    texts = answers.Texts(edition, known)
    for name, card in held.items():
        own = [one for one in read if one.detector == name]
        turns.turns(own, promised, promised.detector(name), found)
        _elsewhere(name, card, own, found)
        answers.answers(edition, name, card.card, own, known, texts, found, promised.format)
    answers.strays(edition, set(held), found)
    if found.clean:
        found.ok("journal", f"{sum(j.lines for j in read)} lines in {len(read)} journals, chained and sealed")


def _starts(
    place: str,
    one: journal.Journal,
    edition: study.Edition,
    number: int,
    sealed: SealedCard | None,
    found: Found,
) -> None:
    digest = canon.sha256(study.read(edition.sealed_card(one.detector))) if sealed is not None else None
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


def _documents(place: str, one: journal.Journal, known: pl.DataFrame, found: Found) -> None:
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


def _asked(place: str, one: journal.Journal, version: str | None, found: Found) -> None:
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


def _heads(edition: study.Edition, seals: dict[str, Seal], read: dict[str, journal.Journal], found: Found) -> None:
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
                    got = _line(path, head.lines, last=name == "evidence")
            except PenmarkError as error:
                found.error(error)
                continue
            remedy = f"It is not the journal that seals/{name}.json saw."
            found.equal(f"{where} (line {head.lines})", got, head.head, remedy)


def _line(path: Path, wanted: int, *, last: bool) -> str:
    """Digest of line ``wanted``; with ``last``, of that line as the last one."""
    digest, count = "there is no such line", 0
    for number, line in study.lines(path):
        count = number
        if number == wanted:
            digest = canon.sha256(line)
            if not last:
                break
    return digest if not last or count == wanted else f"{count} lines"


# --- who can be asked about what --------------------------------------------------------------------------------------


def _fit(place: str, one: journal.Journal, known: Corpus, found: Found) -> None:
    """A document that was not asked about was withdrawn, or is one that the sealed card says cannot be, for that reason; one
    that cannot be is not asked about. Which documents are asked about is nobody's choice."""
    unfit = known.unfit.get(one.detector, {})
    for document, reason, line, at in one.skipped.select("document", "reason", "line", "at").iter_rows():
        if reason == provenance.WITHDRAWN and document in known.withdrawn:
            _gone(f"{place}:{line}", document, at, known, found)
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


def _gone(place: str, document: str, at: str, known: Corpus, found: Found) -> None:
    """A text that was left out since its author took it back was taken back before."""
    stamps.check_time(at, place)
    if (since := known.since.get(document)) is not None and since > tokens.moment(at) + stamps.CLOCK:
        expected = f"after {known.withdrawn[document]}, when {document} was withdrawn"
        found.failed(place, f"left out at {at}, since it was withdrawn", expected, "One of the two times was made up.")


def _taken_back(place: str, one: journal.Journal, known: Corpus, found: Found) -> None:
    """Nobody asks about a text that its author took back before."""
    asked = one.sent.filter(pl.col("document").is_in(list(known.since)))
    for document, line, at in asked.select("document", "line", "at").iter_rows():
        where = f"{place}:{line}"
        stamps.check_time(at, where)
        if known.since[document] + stamps.CLOCK < tokens.moment(at):
            expected = f"nothing sent: it was withdrawn at {known.withdrawn[document]}"
            remedy = "Its author had taken the text back, or one of the two times was made up. Ask the publisher."
            found.failed(where, f"{document} is asked about at {at}", expected, remedy)


def _elsewhere(name: str, card: SealedCard, own: list[journal.Journal], found: Found) -> None:
    """Answers of a detector that a program asks, and that were not given to it."""
    if card.card.ask.by == "people":
        return
    if count := sum(one.readings.filter(pl.col("origin") != "scan").height for one in own):
        got = f"{count} answer{'s' if count > 1 else ''} from elsewhere: a program could have asked, and did not"
        found.not_checked(f"journal/{name}", got, "Ask the publisher how they came about; readings.csv says which.")
