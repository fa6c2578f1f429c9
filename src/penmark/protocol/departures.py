"""How a protocol departs from the template that it follows: computed, never declared.

*Reads* the frozen manifest, where there is one. *Writes* nothing. The same protocol, cards and manifest give the same list
in the same order, wherever it is computed: rules of the edition, then arm by arm in the template's order, then arms of the
study's own, then texts that are not published, then detectors.
*Never* judges: a scaled-down study is a fine study whose readers know what was scaled down.
"""

from __future__ import annotations

import calendar
import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from penmark import study
from penmark.errors import PenmarkError
from penmark.format import canonical_json
from penmark.protocol import arm_departures
from penmark.protocol.templates import find_followed_template
from penmark.records import Card, Detector, Protocol, Rule, select_bearing_facts


class Departure(NamedTuple):
    """One difference: a stable id of the rule, what template and study say, and what it means, in one sentence."""

    rule: str
    template: str
    study: str
    explanation: str


class Unpublished(NamedTuple):
    """How many frozen texts of each arm are not published: of ``archived`` ones, and of those that were ``made``."""

    archived: Mapping[str, int] = {}
    made: Mapping[str, int] = {}


OF_CARDS = frozenset({"tuned-boundary", "changed-card"})
"""What a study's own card may depart in from the one of that name that a release ships: that release alone can tell."""


def list_departures(
    protocol: Protocol,
    cards: Mapping[str, Card],
    unpublished: Unpublished | None = None,
    shipped: Mapping[str, Card] | None = None,
) -> list[Departure]:
    """Every departure of ``protocol`` from its template. ``cards``: by the name of the detector; ``unpublished``: as below.

    ``shipped``: of cards that no release shipped so, the one of that name that ships, by the name of the detector.

    Raises UnknownTemplate (a PenmarkError) where it follows a template that this release does not ship.
    """
    if protocol.template is None:
        return [
            Departure(
                "no-template",
                "",
                "",
                "The protocol follows no template, so nothing says how it differs from a known one.",
            )
        ]
    base = find_followed_template(protocol.template).protocol
    return [
        Departure(*each)
        for each in _compare_protocols(base, protocol, cards, unpublished or Unpublished(), shipped or {})
    ]


def count_unpublished(edition: study.Edition) -> Unpublished:
    """How many texts of each arm are frozen and not published; none before the freeze.

    Attested texts are not among them: their authors decide. Raises PenmarkError where a line is not canonical.
    """
    if not edition.manifest.exists():
        return Unpublished()
    archived: Counter[str] = Counter()
    made: Counter[str] = Counter()
    for number, line in study.read_lines(edition.manifest):
        if b'"withheld":null' in line or number == 1:
            continue  # nearly all of them
        value = canonical_json.decode_json(line, place=f"{edition.manifest}:{number}")
        provenance = value.get("provenance") if isinstance(value, dict) else None
        if isinstance(provenance, dict) and provenance.get("kind") != "attested":
            counted = archived if provenance.get("kind") == "archive" else made
            counted[str(value.get("arm"))] += 1
    return Unpublished(dict(archived), dict(made))


def write_departures_csv(found: Iterable[Departure]) -> bytes:
    """The bytes of ``tables/departures.csv``."""
    rows = ((number, *departure) for number, departure in enumerate(found, 1))
    return study.encode_csv(_HEADER, rows)


def parse_departures_csv(data: bytes, place: str) -> list[Departure]:
    """What ``write_departures_csv`` wrote. Raises PenmarkError for anything else."""
    try:
        rows = list(csv.reader(io.StringIO(data.decode("utf-8"), newline=""), strict=True))[1:]
        found = [Departure(*(study.unescape_cell(cell) for cell in row[1:])) for row in rows]
        if write_departures_csv(found) == data:
            return found
    except (ValueError, TypeError, csv.Error):
        pass
    raise PenmarkError("is no table of departures", place=place, remedy="Restore the file from where it came.")


Row = tuple[str, str, str, str]
_HEADER = ("number", "rule", "template", "study", "explanation")


def _compare_protocols(
    base: Protocol,
    given: Protocol,
    cards: Mapping[str, Card],
    unpublished: Unpublished,
    shipped: Mapping[str, Card],
) -> Iterator[Row]:
    yield from _compare_edition(base, given)
    yield from _compare_scoring(base, given)
    known = {arm.name: arm for arm in given.arms}
    for arm in base.arms:
        if arm.name in known:
            yield from arm_departures.compare_arms(arm, known[arm.name], given.format)
        else:
            yield (
                "arm-missing",
                f"arm {arm.name}: {arm.documents} documents",
                "not in this study",
                arm_departures.MISSING[arm.truth],
            )
    for arm in given.arms:
        if arm.name not in {each.name for each in base.arms}:
            yield (
                "extra-arm",
                "no such arm",
                f"arm {arm.name}: {arm.documents} documents, truth {arm.truth}",
                "The template does not know this arm; it counts in the headline rates only if it says headline.",
            )
    for arm in given.arms:
        for counts, rule, why in (
            (
                unpublished.archived,
                "every archived text is published",
                "screening.csv says where each of them is, and its digest, so that others can fetch the same text.",
            ),
            (
                unpublished.made,
                "every text that was written for the study, or by a model, is published",
                "Nobody else can read or scan these texts; what was answered about them is the operator's word.",
            ),
        ):
            if (count := counts.get(arm.name, 0)) > 0:
                yield "not-published", rule, f"arm {arm.name}: {count} of {arm.documents} texts are not", why
    for detector in given.detectors:
        yield from _compare_detector(detector, card := cards.get(detector.name))
        if card is not None and detector.name in shipped:
            yield from _compare_card(detector.name, card, shipped[detector.name])


def _compare_edition(base: Protocol, given: Protocol) -> Iterator[Row]:
    if given.schedule.strip().casefold() != base.schedule.casefold():
        yield (
            "schedule",
            base.schedule,
            given.schedule,
            "Editions come at another rhythm, so trends are not told quarter by quarter.",
        )
    first, last = date_quarter(given.edition)
    if not first <= given.window.opens <= given.window.closes <= last:
        yield (
            "edition-quarter",
            f"{given.edition}: {first} to {last}",
            f"{given.window.opens} to {given.window.closes}",
            "The scan window does not lie in the quarter that the edition's tag names.",
        )
    for person in given.people:
        if person.interests.strip() == "":
            yield (
                "interests",
                "stated",
                f"nothing stated by {person.name}",
                "A reader cannot tell what this person gains by the results.",
            )
    asked, wanted = len({a.url for a in given.authorities}), len(base.authorities)
    if asked < wanted:
        yield (
            "authorities",
            f"{wanted} timestamp authorities",
            f"{asked}",
            "The times of the seals rest on fewer independent clocks than the template asks for.",
        )


def _compare_scoring(base: Protocol, given: Protocol) -> Iterator[Row]:
    meanings = {
        "interval": (
            "interval",
            "Intervals are computed by another method and cannot be laid beside those of the template.",
        ),
        "level": ("level", "Intervals cover at another level and cannot be laid beside those of the template."),
        "scans": ("scans", "A document is scanned another number of times."),
        "attempts": (
            "attempts",
            "A failed request is tried another number of times, which changes how many pairs have no result.",
        ),
        "ask_again_in_doubt": (
            "ask-again",
            "A question whose answer was lost may be asked twice, and the vendor may have seen both.",
        ),
        "on_version_change": ("version-change", "A detector that changes during the scan is treated otherwise."),
    }
    for field, (rule, meaning) in meanings.items():
        before, after = getattr(base, field), getattr(given, field)
        if before != after:
            yield rule, _format_value(before), _format_value(after), meaning
    for finding in sorted({**base.screening, **given.screening}):
        before, after = base.screening.get(finding), given.screening.get(finding)
        if before != after:
            yield (
                "screening",
                f"{finding}: {before or 'as penmark has it'}",
                f"{finding}: {after or 'as penmark has it'}",
                "This finding of the screening stops the freeze, or does not, otherwise than in the template.",
            )


def _compare_detector(detector: Detector, card: Card | None) -> Iterator[Row]:
    if detector.settings:
        sent = ", ".join(f"{key} = {value}" for key, value in sorted(detector.settings.items()))
        yield (
            "settings",
            f"{detector.name}: the vendor's defaults",
            sent,
            "The detector is not read as an ordinary user would read it.",
        )
    if detector.relation == "free credits":
        yield (
            "free-access",
            f"{detector.name}: an account that the operator pays for",
            "free credits",
            "The vendor gave the access, so it may know the account and has given something.",
        )
    if card is None:
        return
    rule = card.boundary if detector.rule is None else detector.rule
    if str(rule) != str(card.boundary):
        yield (
            "tuned-boundary",
            f"{detector.name}: {card.boundary} (its own default)",
            str(rule),
            "The boundary is not the detector's own default, so the rates are not what its ordinary user meets.",
        )
    if rule.confidence != "documented":
        yield (
            "boundary-evidence",
            f"{detector.name}: a documented boundary",
            f"{rule} ({rule.confidence})",
            "The vendor does not document this boundary as its default; the rule's source says what it rests on.",
        )


def _compare_card(name: str, card: Card, shipped: Card) -> Iterator[Row]:
    """How a card of the study's own differs from the one that ships under its name."""
    before, after = shipped.boundary, card.boundary
    if _normalize_rule(before) != _normalize_rule(after):
        yield (
            "tuned-boundary",
            f"{name}: {before} (in the card that ships under this name)",
            f"{after} (in the study's own card)",
            "The study's own card has another default boundary than the card that ships under its name.",
        )
    theirs, ours = select_bearing_facts(shipped), select_bearing_facts(card)
    changed = [fact for fact in theirs if theirs[fact] != ours[fact] and fact != "boundary"]
    if before.confidence != after.confidence:
        changed.append("boundary/confidence")
    if changed:
        yield (
            "changed-card",
            f"{name}: the card that ships under this name",
            f"the study's own card, with another {', another '.join(changed)}",
            "Texts may be asked about, and answers read, otherwise than with the card that ships under this name.",
        )


def _normalize_rule(rule: Rule) -> tuple[Any, ...]:
    """What a rule decides by; 0.0 is the number 0."""
    return rule.kind, rule.operator, None if rule.value is None else Decimal(rule.value)


def date_quarter(tag: str) -> tuple[str, str]:
    """First and last date of the quarter that an edition's tag names."""
    year, number = int(tag.split("-")[-2]), int(tag[-1])
    last = 3 * number
    return f"{year:04d}-{last - 2:02d}-01", f"{year:04d}-{last:02d}-{calendar.monthrange(year, last)[1]:02d}"


def _format_value(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
