"""Check 3, promise kept: the protocol as run is the protocol as promised, and what departs from its template is told.

*Reads* protocol.yaml, protocol.json, detectors/, amendments/, deviations.jsonl, tables/departures.csv.
"""

from __future__ import annotations

from pydantic import ValidationError

from penmark import cards, protocol, study, tokens
from penmark.errors import PenmarkError
from penmark.records import FORMAT, Amendment, Card, Deviation, Protocol, Seal, check_rule
from penmark.verify.found import Found


def promise(edition: study.Edition, promised: Protocol, sealed: Seal | None, found: Found) -> None:
    """YAML = JSON; a card for each detector; departures recomputed; amendments announced before the promise."""
    _same(edition, promised, found)
    known = _cards(edition, promised, found)
    _departures(edition, promised, known, found)
    _amendments(edition, promised, sealed, found)
    _deviations(edition, promised, found)
    if found.clean:
        found.ok("protocol.json", "protocol.yaml says the same; departures as computed")


def _same(edition: study.Edition, promised: Protocol, found: Found) -> None:
    try:
        readable = protocol.canonical(protocol.load(edition.protocol_yaml))
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
    found.equal("protocol.json format", promised.format, FORMAT, "Use the penmark release that wrote this format.")


def _cards(edition: study.Edition, promised: Protocol, found: Found) -> dict[str, Card]:
    known: dict[str, Card] = {}
    for detector in promised.detectors:
        subject = f"detectors/{detector.name}.json"
        try:
            sealed = cards.sealed(edition, detector.name)
            check_rule(sealed.card, cards.rule_in_force(detector, sealed.card))
        except PenmarkError as error:
            found.error(error)
            continue
        except ValueError as error:
            found.failed(
                subject, str(error), "a rule that fits the card", "The promise cannot be carried out as it stands."
            )
            continue
        found.equal(f"{subject} card.name", sealed.card.name, detector.card, "The protocol names another card.")
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
    try:
        expected = protocol.departures_csv(protocol.departures(promised, known))
        got = study.read(edition.tables / "departures.csv")
    except protocol.UnknownTemplate as error:
        found.not_checked("tables/departures.csv", str(error), "Use the penmark release that shipped this template.")
        return
    except PenmarkError as error:
        found.error(error)
        return
    if got != expected:
        found.failed(
            "tables/departures.csv",
            "differs from the departures as computed",
            "every departure, told",
            "Ask for the whole list.",
        )


def _amendments(edition: study.Edition, promised: Protocol, sealed: Seal | None, found: Found) -> None:
    for number, path in enumerate(sorted(edition.amendments.glob("*.json")) if edition.amendments.is_dir() else [], 1):
        subject = f"amendments/{path.name}"
        try:
            study.read_json(path)
            amendment = Amendment.model_validate_json(study.read(path))
        except (PenmarkError, ValidationError) as error:
            found.failed(subject, str(error).splitlines()[0], "an amendment", "Get the bundle again.")
            continue
        found.equal(
            subject, (path.name, amendment.number), (f"{number:04d}.json", number), "Amendments are numbered from one."
        )
        binds = _quarter(amendment.binds_from) <= _quarter(promised.edition)
        if binds and sealed is not None and tokens.moment(amendment.announced_at) > tokens.moment(sealed.sealed_at):
            found.failed(subject, f"announced at {amendment.announced_at}", f"before the promise, {sealed.sealed_at}",
                         "An amendment binds only editions promised after it.")  # fmt: skip


def _deviations(edition: study.Edition, promised: Protocol, found: Found) -> None:
    if not edition.deviations.exists():
        return
    try:
        for number, value in study.records(edition.deviations):
            deviation = Deviation.model_validate(value)
            if deviation.detector is not None and deviation.detector not in {d.name for d in promised.detectors}:
                found.failed(
                    f"deviations.jsonl:{number}", deviation.detector, "a detector of the protocol", "Correct the name."
                )
    except PenmarkError as error:
        found.error(error)
    except ValidationError as error:
        found.failed("deviations.jsonl", str(error).splitlines()[0], "deviations", "Get the bundle again.")


def _quarter(tag: str) -> tuple[str, str]:
    _, year, quarter = tag.rsplit("-", 2)
    return year, quarter
