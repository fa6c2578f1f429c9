"""The protocol: what a study promises, for people (``protocol.yaml``) and for machines (``protocol.json``).

*Reads* both, and the templates that ship. *Writes* nothing.
*Never* fills in what a person must decide: a template says ``<...>`` there, and ``list_placeholders`` finds it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from penmark import study, yaml_records
from penmark.errors import Fault, PenmarkError, suggest_name
from penmark.format import canonical_json, versions
from penmark.protocol.departures import (
    OF_CARDS,
    Departure,
    Unpublished,
    count_unpublished,
    date_quarter,
    list_departures,
    parse_departures_csv,
    write_departures_csv,
)
from penmark.protocol.screening_rules import RULES, Severity
from penmark.protocol.templates import (
    TEMPLATES,
    Skeleton,
    UnknownTemplate,
    fill_template,
    find_followed_template,
    load_template,
)
from penmark.records import Arm, Detector, Protocol, Quota, Words
from penmark.text import WORD_RULE
from penmark.yaml_records import Remark

__all__ = [
    "OF_CARDS",
    "RULES",
    "TEMPLATES",
    "Departure",
    "Severity",
    "Skeleton",
    "UnknownTemplate",
    "Unpublished",
    "count_unpublished",
    "date_quarter",
    "encode_protocol",
    "fill_template",
    "find_followed_template",
    "list_departures",
    "list_placeholders",
    "list_undecided",
    "load_protocol",
    "load_template",
    "parse_departures_csv",
    "read_format",
    "read_sealed",
    "write_departures_csv",
]

SLICES = ("register", "subgroup", "model", "style", "provider", "language", "topic", "author", "source")
"""What a quota may ask for."""
MAX_SEALED = 2**24
"""A sealed protocol is not larger than this (bytes)."""
_PLACEHOLDER = re.compile(r"<[^<>\n]{1,200}>")
_DECIDE = "Write what you promise there; nothing in <angle brackets> can be sealed."


def load_protocol(path: Path, *, unsaid: int = versions.WRITES) -> Protocol:
    """The protocol that a person wrote; of the format ``unsaid`` where it names none.

    Raises FaultsError with every fault, ``protocol.yaml:17: …``.
    """
    found = yaml_records.read_record(
        path,
        Protocol,
        {
            Protocol: _check_protocol,
            Arm: _check_arm,
            Detector: _check_detector,
            Quota: _check_quota,
            Words: _check_words,
        },
    )
    number = found.format if "format" in found.model_fields_set else unsaid
    return found.model_copy(update={"format": number, "word_rule": None if number == 1 else WORD_RULE})


def encode_protocol(protocol: Protocol) -> bytes:
    """The bytes of ``protocol.json``: every field, canonical."""
    return canonical_json.encode_json(protocol.model_dump(mode="json", by_alias=True))


def read_sealed(edition: study.Edition) -> Protocol:
    """The protocol of ``protocol.json``. Raises PenmarkError unless it is whole, canonical, and of this format."""
    path = edition.protocol_json
    data = study.read_bytes(path, limit=MAX_SEALED)
    value = canonical_json.decode_json(data, place=str(path))
    if isinstance(value, dict) and value.get("format") not in versions.READS:
        raise PenmarkError(
            f"is of format {value.get('format')}; this release knows {versions.describe_known()}",
            place=str(path),
            remedy="Use the penmark release that wrote it.",
        )
    try:
        found = Protocol.model_validate_json(data)
    except ValidationError as error:
        raise study.make_validation_faults(str(path), error.errors(include_url=False)) from None
    if encode_protocol(found) != data:
        raise PenmarkError(
            "leaves fields out", place=str(path), remedy="A sealed protocol has every field; restore the file."
        )
    return found


def read_format(edition: study.Edition) -> int:
    """The format of an edition: that of its promise; of one that is not promised yet, the one that would be written."""
    try:
        number = study.read_json(edition.protocol_json)["format"]
    except (PenmarkError, KeyError, TypeError):
        return versions.WRITES
    return number if number in versions.READS else versions.WRITES


def list_placeholders(protocol: Protocol) -> list[tuple[str, str]]:
    """Where a person must still decide: path (``people.0.name``, ``arms.C.quotas.0.where.model``) and text of each
    ``<...>`` that is left. An item of a list is called by its name where it has one, else by its number from 0."""
    return list(_find_placeholders(protocol.model_dump(mode="json", by_alias=True), ""))


def list_undecided(protocol: Protocol, path: Path) -> list[Fault]:
    """What a person must still decide in ``path``, where ``protocol`` is written: how much, then each text with its
    lines. Empty where nothing is left."""
    left = list_placeholders(protocol)
    if not left:
        return []
    lines: dict[str, list[int]] = {}
    for line, written in yaml_records.list_scalars(path):
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


def _find_placeholders(value: Any, path: str) -> Iterator[tuple[str, str]]:
    match value:
        case str():
            yield from ((path, text) for text in _PLACEHOLDER.findall(value))
        case list():
            for number, item in enumerate(value):
                name = item.get("name", "<") if isinstance(item, dict) else "<"
                yield from _find_placeholders(item, f"{path}.{number if '<' in name else name}")
        case dict():
            for key, item in value.items():
                yield from ((f"{path}.{key}".lstrip("."), text) for text in _PLACEHOLDER.findall(key))
                yield from _find_placeholders(item, f"{path}.{key}".lstrip("."))


# What no single field shows, asked of each part by itself.


def _check_protocol(protocol: Protocol) -> Iterator[Remark]:
    if protocol.format not in versions.READS:
        what = f"{protocol.format} is no format that this release knows ({versions.describe_known()})"
        yield Remark(("format",), what, f"Write {versions.WRITES}, or nothing.")
    names = [authority.name for authority in protocol.authorities]
    for number, name in enumerate(names):
        if name in names[:number]:
            yield Remark(("authorities", number), "this authority is named twice", "Ask another one.")


def _check_detector(detector: Detector) -> Iterator[Remark]:
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


def _check_words(words: Words) -> Iterator[Remark]:
    if words.minimum > words.maximum:
        yield Remark((), f"the minimum, {words.minimum}, is above the maximum, {words.maximum}", "Swap them.")


def _check_quota(quota: Quota) -> Iterator[Remark]:
    for key in quota.where:
        if key not in SLICES:
            fact = f"a quota cannot ask for `{key}`{suggest_name(key, SLICES)}"
            yield Remark(("where", key), fact, f"It can ask for {', '.join(SLICES)}.")


def _check_arm(arm: Arm) -> Iterator[Remark]:
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
                fact = f"the {key} {name!r} is not among those of the arm's generation{suggest_name(name, known)}"
                yield Remark(("quotas", number), fact, f"Name one of {', '.join(dict.fromkeys(known))}.")
