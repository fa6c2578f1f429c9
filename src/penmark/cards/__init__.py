"""Cards: what a detector's answer says, and how it becomes a call (docs/format.md, 4).

*Reads* card files (YAML by people, or sealed JSON) and raw answers. *Writes* nothing.
*Never*: sends anything; turns a number into a float; flips, rescales or clips a score; guesses a class.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from penmark import study, yaml_records
from penmark.cards import bands, numbers, requests
from penmark.cards.call_rules import (
    NUMBER,
    Call,
    call_answer,
    fold_classes,
    fold_verdict,
    is_within_scale,
    parse_decimal,
)
from penmark.cards.extraction import (
    Extracted,
    explain_unmeasured,
    extract_answer,
    extract_from_display,
    extract_typed,
    is_read_by_display,
    look_up_pointers,
    parse_pointer,
)
from penmark.cards.numbers import MISREAD, misread, one_sided
from penmark.cards.released import RELEASED, digest_facts, is_changed_card
from penmark.cards.uncallable import (
    AGAINST,
    BESIDE,
    OUTSIDE,
    REMEDY,
    Missed,
    Misses,
    describe_miss,
    find_miss,
    render_misses,
)
from penmark.errors import PenmarkError, UsageError, suggest_name
from penmark.format import canonical_json
from penmark.records import Attested, Card, Detector, Document, Rule, SealedCard, check_rule
from penmark.yaml_records import Remark

__all__ = [
    "AGAINST",
    "BESIDE",
    "MISREAD",
    "NUMBER",
    "OUTSIDE",
    "RELEASED",
    "REMEDY",
    "SHIPPED",
    "Call",
    "Extracted",
    "Missed",
    "Misses",
    "call_answer",
    "check_card",
    "choose_rule",
    "describe_miss",
    "digest_facts",
    "encode_card",
    "explain_not_scannable",
    "explain_unmeasured",
    "extract_answer",
    "extract_from_display",
    "extract_typed",
    "find_card",
    "find_miss",
    "fold_classes",
    "fold_verdict",
    "is_changed_card",
    "is_read_by_display",
    "load_card",
    "look_up_pointers",
    "misread",
    "one_sided",
    "parse_decimal",
    "parse_pointer",
    "read_sealed_card",
    "render_misses",
]

SHIPPED = Path(__file__).parent.parent / "shipped" / "detectors" / "cards"
"""Cards that come with penmark."""
_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,62}")


def load_card(path: Path) -> Card:
    """The card in a YAML file. Raises FaultsError with every fault at its line."""

    def further(card: Card) -> Iterator[Remark]:
        if card.name != path.stem:
            yield Remark(("name",), f"{card.name!r} in a file named {path.name}", f"Name the file {card.name}.yaml.")
        yield from check_card(card)
        if (fact := misread(card, card.boundary)) is not None:
            yield Remark(("boundary",), fact, MISREAD)

    return yaml_records.read_record(path, Card, {Card: further})


def check_card(card: Card) -> Iterator[Remark]:
    """What is wrong with a card whose fields are each right."""
    seen: dict[str, str] = {}
    for shown in card.verdicts:
        if (folded := fold_verdict(shown)) in seen:
            yield Remark(
                ("verdicts", shown),
                f"reads the same as {seen[folded]!r}",
                "Keep one: white space and case do not count.",
            )
        seen[folded] = shown
    yield from bands.check_bands(card)
    yield from numbers.faults(card)
    if card.ask.request is not None:
        yield from requests.check_request(card.ask.request)
    if card.scale is None:
        return
    low, high = card.scale.low, card.scale.high
    if low is not None and high is not None and not parse_decimal(low) < parse_decimal(high):
        yield Remark(("scale", "low"), f"{low} is not below the high end, {high}", "Write the lowest score as low.")
    elif card.boundary.value is not None and not is_within_scale(card, parse_decimal(card.boundary.value)):
        yield Remark(
            ("boundary", "value"),
            f"{card.boundary.value} lies outside the scale, {low} to {high}",
            "Write boundary and scale as the detector displays them: 65 of 100, or 0.65 of 1.",
        )


def find_card(name: str, study_cards: Path | None) -> Path:
    """The file of the card ``name``: the study's own first, then those that ship. Raises UsageError with near names."""
    places = [place for place in (study_cards, SHIPPED) if place is not None]
    if _NAME.fullmatch(name):
        for place in places:
            if (path := place / f"{name}.yaml").is_file():
                return path
    known = {path.stem for place in places if place.is_dir() for path in place.glob("*.yaml")}
    own = f"Begin a card of your own with `penmark init --card {name}`. " if _NAME.fullmatch(name) else ""
    raise UsageError(
        f"there is no card {name!r}{suggest_name(name, known)}",
        place=str(places[0]),
        remedy=f"{own}Those that are there: {', '.join(sorted(known))}.",
    )


def encode_card(sealed: SealedCard) -> bytes:
    """The bytes of ``detectors/<detector>.json``."""
    return canonical_json.encode_json(sealed.model_dump(mode="json", by_alias=True))


def read_sealed_card(edition: study.Edition, detector: str) -> SealedCard:
    """The card of ``detector`` as sealed. Raises PenmarkError where it is not whole, canonical and consistent."""
    path = edition.sealed_card(detector)
    data = study.read_bytes(path, limit=yaml_records.MAX_FILE)
    canonical_json.decode_json(data, place=str(path))
    try:
        found = SealedCard.model_validate_json(data)
    except ValidationError as error:
        raise study.make_validation_faults(str(path), error.errors(include_url=False)) from None
    if encode_card(found) != data:
        raise PenmarkError(
            "leaves fields out", place=str(path), remedy="A sealed card has every field; restore the file."
        )
    for remark in check_card(found.card):
        where = ".".join(str(part) for part in remark.loc)
        raise PenmarkError(f"{where}: {remark.fact}", place=str(path), remedy=remark.remedy)
    return found


def choose_rule(detector: Detector, card: Card) -> Rule:
    """The rule of the protocol, or where it has none the card's boundary.

    Raises PenmarkError where that rule cannot be applied to answers of the card.
    """
    rule = card.boundary if detector.rule is None else detector.rule
    try:
        check_rule(card, rule)
    except ValueError as error:
        raise PenmarkError(
            str(error),
            place=f"detector {detector.name}",
            remedy="Change its rule, or leave it out: then the card's holds.",
        ) from None
    if rule.value is not None and not is_within_scale(card, parse_decimal(rule.value)):
        raise PenmarkError(
            f"the boundary {rule.value} lies outside the scale of its card",
            place=f"detector {detector.name}",
            remedy="Write the boundary as the detector displays it.",
        )
    return rule


def explain_not_scannable(card: Card, document: Document) -> str | None:
    """Why this detector cannot be given this document, or None. What is not known is not held against a document."""
    limits, given = card.limits, document.provenance
    if isinstance(given, Attested) and not {"*", card.name, card.vendor} & set(given.consent.vendors):
        return f"no consent for {card.vendor}"
    if (
        card.scale is not None
        and card.scale.meaning == "length"
        and document.attested
        and document.withheld is not None
    ):
        return "the answer would tell the length of a withheld text"
    for what, count, least, most in (
        ("words", document.words, limits.minimum_words, limits.maximum_words),
        ("characters", document.characters, limits.minimum_characters, limits.maximum_characters),
    ):
        if count is not None and least is not None and count < least:
            return f"{count} {what}, fewer than {least}"
        if count is not None and most is not None and count > most:
            return f"{count} {what}, more than {most}"
    if limits.languages is not None and document.language is not None and document.language not in limits.languages:
        return f"language {document.language}, not {' or '.join(limits.languages)}"
    provider = document.facet("provider")
    if limits.scope and provider is not None and provider not in limits.scope:
        return f"a text by {provider}, and the scope is {' and '.join(limits.scope)}"
    return None
