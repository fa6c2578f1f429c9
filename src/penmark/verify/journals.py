"""Check 5, journals: every attempt stands where it was written, by whom and when it was promised.

*Reads* journal/, the sealed cards, the seals, and of the manifest what skipped documents are. The answers themselves are
held against their evidence in ``answers``. *Never* takes a reason for not asking on trust.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import Any

import polars as pl

from penmark import canon, cards, journal, provenance, study, tokens
from penmark.errors import PenmarkError
from penmark.records import Document, Protocol, Seal, SealedCard
from penmark.verify import answers, stamps
from penmark.verify.corpus import Corpus
from penmark.verify.found import Found
from penmark.verify.seals import Sealed

_CHANGED = "A journal or the evidence was changed. Ask the publisher for the sealed files."


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
    sealed: Sealed,
    read: list[journal.Journal],
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
    for one in read:
        place = f"journal/{one.path.name}"
        if one.detector not in {d.name for d in promised.detectors}:
            remedy = "Nobody promised this detector."
            found.failed(place, f"answers of {one.detector}", "committed detectors only", remedy)
            continue
        _starts(place, one, edition, held.get(one.detector), found)
        _times(place, one, promised, sealed, found)
        _documents(place, one, known, found)
        _asked(place, one, promised.detector(one.detector).version, found)
    _heads(edition, sealed.seals, {f"journal/{one.path.name}": one for one in read}, found)
    texts = answers.Texts(edition, known)
    for name, card in held.items():
        own = [one for one in read if one.detector == name]
        _attempts(own, promised, found)
        answers.answers(edition, name, card.card, own, known, texts, found)
    _skips(edition, read, held, known, found)
    answers.strays(edition, set(held), found)
    if found.clean:
        found.ok("journal", f"{sum(j.lines for j in read)} lines in {len(read)} journals, chained and sealed")


def _starts(place: str, one: journal.Journal, edition: study.Edition, sealed: SealedCard | None, found: Found) -> None:
    digest = canon.sha256(study.read(edition.sealed_card(one.detector))) if sealed is not None else None
    last = one.sent["line"][-1] if one.sent.height else 0
    for start in one.starts:
        where = f"{place}:{start['line']}"
        found.equal(
            f"{where} card", start["card_sha256"], digest, "It was asked by another card than the promised one."
        )
        if sealed is not None and (start["plugin"] is not None or start["line"] < last):
            promised = sealed.plugin.model_dump() if sealed.plugin is not None else None
            found.equal(f"{where} plugin", start["plugin"], promised, "It was asked by other code than the promised.")


def _documents(place: str, one: journal.Journal, known: Corpus, found: Found) -> None:
    for frame in (one.sent, one.retries, one.skipped):
        for name in frame["document"].unique(maintain_order=True).to_list():
            if name not in known.ids:
                found.failed(place, f"the document {name}", "a document of the manifest", _CHANGED)
    for name, address, line in one.readings.select("document", "address", "line").iter_rows():
        at = known.ids.get(name)
        if at is None or known.addresses[at] != address:
            expected = "a document of the manifest" if at is None else known.addresses[at]
            found.failed(f"{place}:{line}", f"{name} with address {address}", expected, _CHANGED)


def _asked(place: str, one: journal.Journal, version: str | None, found: Found) -> None:
    """What a reading repeats of the question is what was asked: the promised version, and the time of its ``sent`` line."""
    other = one.readings.filter(pl.col("version_asked").ne_missing(pl.lit(version, dtype=pl.String)))
    for line, said in other.select("line", "version_asked").iter_rows():
        remedy = "The version that is asked for is promised."
        found.failed(f"{place}:{line}", f"asked for version {said}", f"version {version}", remedy)
    scanned = one.readings.lazy().filter(pl.col("origin") == "scan").select("document", "attempt", "sent_at", "line")
    sent = (
        one.sent.lazy()
        .select("document", "attempt", "at")
        .unique(["document", "attempt"], keep="last", maintain_order=True)
    )
    both = scanned.join(sent, on=["document", "attempt"], how="inner", maintain_order="left")
    for line, said, at in (
        both.filter(pl.col("sent_at") != pl.col("at")).select("line", "sent_at", "at").collect().iter_rows()
    ):
        found.failed(f"{place}:{line}", f"sent at {said}", f"{at}, as its `sent` line says", _CHANGED)


# --- times -----------------------------------------------------------------------------------------------------------


def _times(place: str, one: journal.Journal, promised: Protocol, sealed: Sealed, found: Found) -> None:
    """Scans lie inside the promised window, after the corpus seal and before the evidence seal."""
    readings = one.readings
    scanned = readings.filter(readings["origin"] == "scan")
    try:
        for times in (one.sent["at"], scanned["sent_at"].drop_nulls(), scanned["got_at"].drop_nulls()):
            if (span := _span(place, times)) is not None:
                _inside(place, span, promised, sealed.seals, found)
        answered = readings.filter(readings["state"] == "answered")["got_at"].drop_nulls()
        if (span := _span(place, answered)) is not None:
            _promised_before(place, span[0], sealed, found)
    except PenmarkError as error:
        found.error(error)


def _span(place: str, times: pl.Series) -> tuple[str, str] | None:
    """The earliest and the latest time; None where there is none. Raises PenmarkError where it is no time."""
    if times.is_empty():
        return None
    # Without its Z a time sorts as text: the shorter of two that are alike is the earlier.
    bare = times.str.strip_suffix("Z").sort()
    first, last = f"{bare[0]}Z", f"{bare[-1]}Z"
    for at in (first, last):
        stamps.check_time(at, place)
    return first, last


def _inside(place: str, span: tuple[str, str], promised: Protocol, seals: dict[str, Seal], found: Found) -> None:
    first, last = span
    opens, closes = promised.window.opens, promised.window.closes
    if first[:10] < opens or last[:10] > closes:
        got, expected = f"scanned from {first} to {last}", f"from {opens} to {closes}"
        found.failed(place, got, expected, "Scanned outside the promised window.")
    if "corpus" in seals and tokens.moment(first) < tokens.moment(seals["corpus"].sealed_at):
        expected = f"after the corpus seal, {seals['corpus'].sealed_at}"
        found.failed(place, f"scanned at {first}", expected, "Asked before the freeze.")
    if "evidence" in seals and tokens.moment(last) > tokens.moment(seals["evidence"].sealed_at):
        expected = f"before the evidence seal, {seals['evidence'].sealed_at}"
        found.failed(place, f"scanned at {last}", expected, "Asked after the evidence seal.")


def _promised_before(place: str, first: str, sealed: Sealed, found: Found) -> None:
    """Where others saw the promise only after an answer, the promise's own time does not make the edition prospective."""
    stamped, promise = sealed.stamped.get("promise"), sealed.seals.get("promise")
    if stamped is None or promise is None or tokens.moment(first) < tokens.moment(promise.sealed_at):
        return
    if tokens.moment(first) + stamps.CLOCK < tokens.moment(stamped):
        expected = f"after the promise, {stamped} by its token"
        found.failed(place, f"answered at {first}", expected, "The rules were written after the answers existed.")


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


# --- attempts, and reasons for none ----------------------------------------------------------------------------------


def _attempts(own: list[journal.Journal], promised: Protocol, found: Found) -> None:
    """Every question is answered by a reading or a retry before the next; none is asked more often than promised."""
    events: defaultdict[str, list[tuple[int, int, str, int, str]]] = defaultdict(list)
    for number, one in enumerate(own):
        place = f"journal/{one.path.name}"
        readings = one.readings.filter(one.readings["origin"] == "scan")
        odd = _odd(one, readings)
        for kind, frame in (("sent", one.sent), ("retry", one.retries), ("reading", readings)):
            rows = frame if len(own) > 1 else frame.filter(pl.col("document").is_in(odd.implode()))
            for document, attempt, line in rows.select("document", "attempt", "line").iter_rows():
                events[document].append((number, line, kind, attempt, f"{place}:{line}"))
    for document, happened in events.items():
        for place, got, expected in _in_turn(sorted(happened), promised):
            found.failed(place, f"{document}: {got}", expected, "The journal is not what a scan writes.")


def _odd(one: journal.Journal, readings: pl.DataFrame) -> pl.Series:
    """The documents about which more happened than one question, and at most its answer."""
    return pl.concat(
        [
            one.retries["document"],
            one.sent.filter(pl.col("document").is_duplicated() | (pl.col("attempt") != 1))["document"],
            readings.filter(pl.col("document").is_duplicated() | (pl.col("attempt") != 1))["document"],
        ]
    ).unique()


def _in_turn(happened: Iterable[tuple[int, int, str, int, str]], promised: Protocol) -> Iterator[tuple[str, str, str]]:
    """Place, fact and what would be right, of each event about one document that has no place there."""
    left: set[int] = set()
    for _, _, kind, attempt, place in happened:
        if kind != "sent":
            if attempt not in left and kind == "retry":
                yield place, f"attempt {attempt} is to be made again", "a question before it that nothing answers"
            left.discard(attempt)
            continue
        if attempt in left or (left and not promised.ask_again_in_doubt):
            yield place, "sent again, the question before is not answered", "a pair in doubt is left so, as promised"
        if attempt > promised.attempts:
            yield place, f"attempt {attempt}", f"at most {promised.attempts}, as promised"
        left.add(attempt)


def _skips(
    edition: study.Edition, read: list[journal.Journal], held: dict[str, SealedCard], known: Corpus, found: Found
) -> None:
    """A document that was not asked about was withdrawn, or is one that the sealed card says cannot be, for that reason."""
    skipped: defaultdict[str, list[tuple[str, str, SealedCard]]] = defaultdict(list)
    for one in read:
        if (card := held.get(one.detector)) is not None:
            for document, reason, line in one.skipped.select("document", "reason", "line").iter_rows():
                skipped[document].append((f"journal/{one.path.name}:{line}", reason, card))
    for each in _chosen(edition, skipped) if skipped else ():
        for place, reason, card in skipped[each.id]:
            if reason == provenance.WITHDRAWN and each.id in known.withdrawn:
                continue
            expected = cards.not_scannable(card.card, each)
            remedy = "By the promised card the document could be asked about."
            found.equal(place, reason, expected if expected is not None else f"{each.id} is asked about", remedy)


def _chosen(edition: study.Edition, names: Container[str]) -> Iterator[Document]:
    """The documents of the manifest with these ids; a line that is none is told by check 4."""
    for number, line in study.lines(edition.manifest):
        value: Any = canon.decode(line, place=f"manifest.jsonl:{number}")
        if number > 1 and isinstance(value, dict) and value.get("id") in names:
            yield Document.model_validate_json(line)
