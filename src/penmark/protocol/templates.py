"""The templates that ship: a text for people, and the same as a record to compare with.

*Reads* ``penmark/templates/*.yaml``, and in ``format1/`` those that shipped while format 1 was written. *Writes* nothing.
A template that was released is never edited, since published departures are computed from it; a new one is added.
"""

from __future__ import annotations

import string
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from penmark import study, yaml_records
from penmark.errors import PenmarkError, UsageError, suggest_name
from penmark.format import canonical_json, versions
from penmark.records import Protocol
from penmark.records import Template as Named

TEMPLATES = ("humanflow", "small")
FOLDER = Path(__file__).parent.parent / "shipped" / "templates"

# What a study fills in; the skeleton has these instead, so that its digest is the template's alone.
_NEUTRAL = {
    "study": "study",
    "edition": "BENCH-2000-Q1",
    "opens": "2000-01-01",
    "closes": "2000-03-31",
    "seed_sha256": "0" * 64,
    "template": "0" * 64,
}


class UnknownTemplate(PenmarkError):  # noqa: N818 - a state of the world, which callers report as "not checked"
    """The protocol follows a template that this release does not ship."""


class Skeleton(NamedTuple):
    """A template: its name, its text with ``${…}`` where a study fills in, the record, the digest of the record."""

    name: str
    text: str
    protocol: Protocol
    sha256: str


@cache
def load_template(name: str) -> Skeleton:
    """The template ``name``. Raises UsageError for one that does not ship."""
    if name not in TEMPLATES:
        raise UsageError(
            f"there is no template {name!r}{suggest_name(name, TEMPLATES)}",
            remedy=f"Take one of {', '.join(TEMPLATES)}.",
        )
    return _read_skeleton(name, FOLDER / f"{name}.yaml", versions.WRITES)


@cache
def _list_shipped_templates(name: str) -> tuple[Skeleton, ...]:
    """Every template that ever shipped as ``name``, the newest first."""
    return load_template(name), _read_skeleton(name, FOLDER / "format1" / f"{name}.yaml", 1)


def _read_skeleton(name: str, path: Path, number: int) -> Skeleton:
    text = study.read_bytes(path).decode()
    filled = string.Template(text).substitute(_NEUTRAL)
    record = yaml_records.parse_record(filled.encode(), str(path), Protocol)
    record = record.model_copy(update={"template": None, "format": number})
    digest = canonical_json.sha256(canonical_json.encode_json(record.model_dump(mode="json", by_alias=True)))
    return Skeleton(name, text, record, digest)


def fill_template(name: str, values: Mapping[str, str]) -> str:
    """The text of a new protocol from the template ``name``.

    ``values``: ``study``, ``edition``, ``opens``, ``closes``, ``seed_sha256``; the digest of the template that it
    follows is filled in here. (``small`` follows ``humanflow``: it is that protocol, scaled down.)
    """
    scalars = {key: yaml_records.format_scalar(value) for key, value in values.items()}
    return string.Template(load_template(name).text).substitute(scalars, template=load_template("humanflow").sha256)


def find_followed_template(named: Named) -> Skeleton:
    """The template that a protocol says it follows, by name and digest. Raises UnknownTemplate."""
    for known in _list_shipped_templates(named.name) if named.name in TEMPLATES else ():
        if known.sha256 == named.sha256:
            return known
    raise UnknownTemplate(
        f"this release ships no template {named.name} with the digest {named.sha256[:12]}…",
        place="template",
        remedy="Take name and digest from a new `penmark init`, or use the release that shipped this template.",
    )
