"""Check 3, promise kept: the protocol as run is the protocol as promised, and what departs from its template is told.

*Reads* protocol.yaml, protocol.json, detectors/, amendments/ with their tokens, deviations.jsonl, tables/departures.csv.
*Never* asks an authority.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from penmark import amendments, cards, departed, protocol, seals, study, tokens, versions
from penmark.errors import PenmarkError
from penmark.records import Amendment, Card, Protocol, Seal
from penmark.verify import differing, stamps
from penmark.verify.found import Found
from penmark.verify.sums import digest


def promise(edition: study.Edition, promised: Protocol, sealed: Seal | None, trust: tokens.Trust, found: Found) -> None:
    """YAML = JSON; a card for each detector; departures recomputed; amendments announced before the promise."""
    _same(edition, promised, found)
    if sealed is not None:
        _as_promised(edition, promised, sealed, found)
    known = _cards(edition, promised, found)
    _departures(edition, promised, known, found)
    _amendments(edition, promised, sealed, trust, found)
    _deviations(edition, promised, found)
    if found.clean:
        found.ok("protocol.json", "protocol.yaml says the same; departures as computed")


def _same(edition: study.Edition, promised: Protocol, found: Found) -> None:
    if (number := versions.find_format(edition.root)) is not None:
        found.equal("protocol.json format", promised.format, number, "An edition is of one format.")
    try:
        readable = protocol.canonical(protocol.load(edition.protocol_yaml, unsaid=promised.format))
    except PenmarkError as error:
        found.error(error)
        return
    if readable != protocol.canonical(promised):
        found.failed(
            "protocol.yaml",
            "says something else than protocol.json",
            "the same protocol",
            "Ask the publisher which one was promised.",
        )


def _as_promised(edition: study.Edition, promised: Protocol, sealed: Seal, found: Found) -> None:
    """Protocol and cards are the files that the promise names, of its study and edition."""
    remedy = "Ask the publisher for what was promised."
    found.equal("protocol.json study", (promised.study, promised.edition), (sealed.study, sealed.edition), remedy)
    for path in ("protocol.json", "protocol.yaml", *(f"detectors/{d.name}.json" for d in promised.detectors)):
        try:
            got = digest(edition.root / path)
        except PenmarkError as error:
            found.error(error)
            continue
        found.equal(f"{path} (promised)", f"SHA-256 {got}", f"SHA-256 {sealed.digests.get(path)}", remedy)


def _cards(edition: study.Edition, promised: Protocol, found: Found) -> dict[str, Card]:
    known: dict[str, Card] = {}
    for detector in promised.detectors:
        subject = f"detectors/{detector.name}.json"
        try:
            sealed = cards.sealed(edition, detector.name)
            cards.rule_in_force(detector, sealed.card)
        except PenmarkError as error:
            found.error(error)
            continue
        found.equal(f"{subject} card.name", sealed.card.name, detector.card, "The protocol names another card.")
        code = None if sealed.plugin is None else sealed.plugin.name
        remedy = "The code that asks is promised with the card, where a plugin asks, and only there."
        found.equal(f"{subject} plugin", f"code of {code}", f"code of {sealed.card.ask.plugin}", remedy)
        known[detector.name] = sealed.card
    names = {d.name for d in promised.detectors}
    for path in sorted(edition.detectors.glob("*")) if edition.detectors.is_dir() else []:
        if path.name.removesuffix(".json") not in names:
            found.failed(
                f"detectors/{path.name}",
                "is a card of no detector of the protocol",
                "promised detectors only",
                "Remove it.",
            )
    return known


def _departures(edition: study.Edition, promised: Protocol, known: dict[str, Card], found: Found) -> None:
    if len(known) != len(promised.detectors):
        return
    path = "tables/departures.csv"
    try:
        got = study.read(edition.root / path)
        expected = protocol.departures_csv(_told(path, edition, promised, known, got, found))
    except protocol.UnknownTemplate as error:
        _unknown(path, promised, error, found)
        return
    except PenmarkError as error:
        found.error(error)
        return
    if got != expected:
        found.failed(*differing.first(path, got, expected), "Every departure is told. Ask for all.")


def _told(
    path: str, edition: study.Edition, promised: Protocol, known: dict[str, Card], got: bytes, found: Found
) -> list[protocol.Departure]:
    """The departures that the table must have; of another release's, whether cards are those that it ships is not known."""
    if seals.by_our_rules(edition):
        return departed.frozen(edition, promised, known)
    told = departed.theirs(got, promised, known, edition)
    why = f"the evidence was sealed {seals.describe_rules(edition)}: whether cards are those that shipped then, is not known"
    found.not_checked(f"{path}, of cards", why, "Use the release that the seal names.")
    return told


def _unknown(path: str, promised: Protocol, error: protocol.UnknownTemplate, found: Found) -> None:
    """What departs from a template that is not here follows from nothing; a released one is never edited."""
    fact = error.faults[0].fact
    if promised.template is not None and promised.template.name in protocol.TEMPLATES:
        remedy = "Under this name another template is shipped. Ask the publisher what the study departs from."
        found.failed("protocol.json template", fact, "name and digest of one template", remedy)
        return
    why = f"{fact}, so that departures are not known, whatever table and page say of them"
    found.not_checked(path, why, "Use the penmark release that shipped this template.")


# --- what changed ----------------------------------------------------------------------------------------------------


def _amendments(
    edition: study.Edition, promised: Protocol, sealed: Seal | None, trust: tokens.Trust, found: Found
) -> None:
    folder = edition.amendments
    for number, path in enumerate(sorted(folder.glob("*.json")) if folder.is_dir() else [], 1):
        subject = f"amendments/{path.name}"
        times = stamps.beside(path, trust, found)
        try:
            amendment = amendments.read(path)
            stamps.check_time(amendment.announced_at, subject)
        except PenmarkError as error:
            found.error(error)
            continue
        found.equal(f"{subject} number", amendment.number, number, "Amendments are numbered from one, without a gap.")
        if amendments.quarter(amendment.binds_from) <= amendments.quarter(promised.edition):
            _before(path, amendment, times, sealed, found)
    stamps.strays(folder, found)


def _before(path: Path, amendment: Amendment, times: list[stamps.Stamp], sealed: Seal | None, found: Found) -> None:
    """An amendment that binds this edition was announced before its promise, by its own word and by that of its token."""
    said = [(amendment.announced_at, "", timedelta())]
    if (stamped := stamps.first(times)) is not None:
        said.append((stamped, ", by its token", stamps.CLOCK))
    for at, whose, spare in said:
        if sealed is not None and tokens.moment(at) > tokens.moment(sealed.sealed_at) + spare:
            remedy = "An amendment binds only editions promised after it."
            expected = f"before the promise, {sealed.sealed_at}"
            found.failed(f"amendments/{path.name}", f"announced at {at}{whose}", expected, remedy)


def _deviations(edition: study.Edition, promised: Protocol, found: Found) -> None:
    names = {d.name for d in promised.detectors}
    try:
        for number, deviation in enumerate(amendments.deviations(edition), 1):
            place = f"deviations.jsonl:{number}"
            stamps.check_time(deviation.at, place)
            if deviation.detector is not None and deviation.detector not in names:
                found.failed(place, deviation.detector, "a detector of the protocol", "Ask the publisher.")
    except PenmarkError as error:
        found.error(error)
