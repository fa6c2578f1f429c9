"""The protocol: what a study promises, for people (``protocol.yaml``) and for machines (``protocol.json``).

*Reads* both, and the templates that ship. *Writes* nothing.
*Never* fills in what a person must decide: a template says ``<...>`` there, and ``placeholders`` finds it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from penmark import canon, handwritten, study, versions
from penmark.errors import Fault, PenmarkError, did_you_mean
from penmark.handwritten import Remark
from penmark.protocol.departing import (
    OF_CARDS,
    Departure,
    Unpublished,
    departures,
    departures_csv,
    departures_read,
    quarter,
    unpublished,
)
from penmark.protocol.findings import RULES, Severity
from penmark.protocol.templates import TEMPLATES, Skeleton, UnknownTemplate, fill, followed, template
from penmark.records import Arm, Detector, Protocol, Quota, Words
from penmark.text import WORD_RULE

__all__ = [
    "OF_CARDS",
    "RULES",
    "TEMPLATES",
    "Departure",
    "Severity",
    "Skeleton",
    "UnknownTemplate",
    "Unpublished",
    "canonical",
    "departures",
    "departures_csv",
    "departures_read",
    "fill",
    "followed",
    "format_of",
    "load",
    "placeholders",
    "quarter",
    "read_sealed",
    "template",
    "undecided",
    "unpublished",
]

SLICES = ("register", "subgroup", "model", "style", "provider", "language", "topic", "author", "source")
"""What a quota may ask for."""
MAX_SEALED = 2**24
"""A sealed protocol is not larger than this (bytes)."""
_PLACEHOLDER = re.compile(r"<[^<>\n]{1,200}>")
_DECIDE = "Write what you promise there; nothing in <angle brackets> can be sealed."


def load(path: Path, *, unsaid: int = versions.WRITES) -> Protocol:
    """The protocol that a person wrote; of the format ``unsaid`` where it names none.

    Raises FaultsError with every fault, ``protocol.yaml:17: …``.
    """
    found = handwritten.read(
        path, Protocol, {Protocol: _whole, Arm: _arm, Detector: _detector, Quota: _quota, Words: _words}
    )
    number = found.format if "format" in found.model_fields_set else unsaid
    return found.model_copy(update={"format": number, "word_rule": None if number == 1 else WORD_RULE})


def canonical(protocol: Protocol) -> bytes:
    """The bytes of ``protocol.json``: every field, canonical."""
    return canon.encode(protocol.model_dump(mode="json", by_alias=True))


def read_sealed(edition: study.Edition) -> Protocol:
    """The protocol of ``protocol.json``. Raises PenmarkError unless it is whole, canonical, and of this format."""
    path = edition.protocol_json
    data = study.read(path, limit=MAX_SEALED)
    value = canon.decode(data, place=str(path))
    if isinstance(value, dict) and value.get("format") not in versions.READS:
        raise PenmarkError(
            f"is of format {value.get('format')}; this release knows {versions.describe_known()}",
            place=str(path),
            remedy="Use the penmark release that wrote it.",
        )
    try:
        found = Protocol.model_validate_json(data)
    except ValidationError as error:
        raise study.validated(str(path), error.errors(include_url=False)) from None
    if canonical(found) != data:
        raise PenmarkError(
            "leaves fields out", place=str(path), remedy="A sealed protocol has every field; restore the file."
        )
    return found


def format_of(edition: study.Edition) -> int:
    """The format of an edition: that of its promise; of one that is not promised yet, the one that would be written."""
    try:
        number = study.read_json(edition.protocol_json)["format"]
    except (PenmarkError, KeyError, TypeError):
        return versions.WRITES
    return number if number in versions.READS else versions.WRITES


def placeholders(protocol: Protocol) -> list[tuple[str, str]]:
    """Where a person must still decide: path (``people.0.name``, ``arms.C.quotas.0.where.model``) and text of each
    ``<...>`` that is left. An item of a list is called by its name where it has one, else by its number from 0."""
    return list(_placeholders(protocol.model_dump(mode="json", by_alias=True), ""))


def undecided(protocol: Protocol, path: Path) -> list[Fault]:
    """What a person must still decide in ``path``, where ``protocol`` is written: how much, then each text with its
    lines. Empty where nothing is left."""
    left = placeholders(protocol)
    if not left:
        return []
    lines: dict[str, list[int]] = {}
    for line, written in handwritten.scalars(path):
        for text in _PLACEHOLDER.findall(written):
            lines.setdefault(text, []).append(line)
    named = {text: [where for where, each in left if each == text] for _, text in left}
    faults = [Fault(str(path), f"{len(left)} places are still to be decided")] if len(named) > 1 else []
    for text, places in named.items():
        at = sorted(set(lines.get(text, [])))
        place = f"{path}:{at[0]}" if at else str(path)
        also = f" (also line{'s' if len(at) > 2 else ''} {', '.join(map(str, at[1:]))})" if len(at) > 1 else ""
        faults.append(Fault(place, f"{f'{places[0]} ' if len(places) == 1 else ''}still says {text}{also}"))
    return [*faults[:-1], faults[-1]._replace(remedy=_DECIDE)]


def _placeholders(value: Any, path: str) -> Iterator[tuple[str, str]]:
    match value:
        case str():
            yield from ((path, text) for text in _PLACEHOLDER.findall(value))
        case list():
            for number, item in enumerate(value):
                name = item.get("name", "<") if isinstance(item, dict) else "<"
                yield from _placeholders(item, f"{path}.{number if '<' in name else name}")
        case dict():
            for key, item in value.items():
                yield from ((f"{path}.{key}".lstrip("."), text) for text in _PLACEHOLDER.findall(key))
                yield from _placeholders(item, f"{path}.{key}".lstrip("."))


# What no single field shows, asked of each part by itself.


def _whole(protocol: Protocol) -> Iterator[Remark]:
    if protocol.format not in versions.READS:
        what = f"{protocol.format} is no format that this release knows ({versions.describe_known()})"
        yield Remark(("format",), what, f"Write {versions.WRITES}, or nothing.")
    names = [authority.name for authority in protocol.authorities]
    for number, name in enumerate(names):
        if name in names[:number]:
            yield Remark(("authorities", number), "this authority is named twice", "Ask another one.")


def _detector(detector: Detector) -> Iterator[Remark]:
    for field, given, remedy in (
        ("tier", detector.tier, "Say which account asks: free, standard, one seat; none for a program that runs here."),
        ("payer", detector.payer, "Say who pays for it; nobody, where nobody does."),
    ):
        if given.strip() == "":
            yield Remark((field,), f"{detector.name}: nothing is said here, and every table prints it", remedy)
    for name, value in detector.settings.items():
        if name.strip() == "" or value.strip() == "":
            remedy = "Write what is sent; a setting that is left as it comes is not written down."
            yield Remark(("settings", name), f"{detector.name}: a setting without its name or value", remedy)


def _words(words: Words) -> Iterator[Remark]:
    if words.minimum > words.maximum:
        yield Remark((), f"the minimum, {words.minimum}, is above the maximum, {words.maximum}", "Swap them.")


def _quota(quota: Quota) -> Iterator[Remark]:
    for key in quota.where:
        if key not in SLICES:
            fact = f"a quota cannot ask for `{key}`{did_you_mean(key, SLICES)}"
            yield Remark(("where", key), fact, f"It can ask for {', '.join(SLICES)}.")


def _arm(arm: Arm) -> Iterator[Remark]:
    for number, quota in enumerate(arm.quotas):
        if quota.where in [each.where for each in arm.quotas[:number]]:
            yield Remark(("quotas", number), "this quota stands twice", "Keep one of them.")
    if arm.generation is None:
        return
    for key, known in (
        ("model", [model.model for model in arm.generation.models]),
        ("provider", [model.provider for model in arm.generation.models]),
        ("style", [style.name for style in arm.generation.styles]),
    ):
        for number, quota in enumerate(arm.quotas):
            name = quota.where.get(key)
            if name is not None and name not in known:
                fact = f"the {key} {name!r} is not among those of the arm's generation{did_you_mean(name, known)}"
                yield Remark(("quotas", number), fact, f"Name one of {', '.join(dict.fromkeys(known))}.")
