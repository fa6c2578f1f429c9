"""The lines of a journal: which kinds there are, and what a line of each kind holds.

One line is judged by ``check_line``; millions are judged by ``select_sound``, which says the same of columns (tests hold them
together).
*Reads* and *writes* nothing. *Never*: an unknown kind or key, a line without its time and its link to the line before.
"""

from __future__ import annotations

import typing
from typing import Annotated, Any, Literal

import polars as pl
from pydantic import Field, StringConstraints, ValidationError

from penmark import SOFTWARE, records, study
from penmark.errors import Fault, PenmarkError
from penmark.format import canonical_json, versions
from penmark.records import DetectorName, Digest, DocumentId, Plugin, Reading, Record, SealedCard, Time

REMEDY = "Journals are never edited by hand; restore the file from where it came."
Shard = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,5}/[1-9][0-9]{0,5}$")]
Attempt = Annotated[int, Field(ge=1, le=canonical_json.MAX_INTEGER)]


class _Line(Record):
    at: Time
    prev: Digest


class Start(_Line):
    """A scan begins or goes on: by which card, and by which code. ``shard``: "i/W". ``rules``: those of the release that
    writes (``penmark.format.versions``); absent in format 1."""

    kind: Literal["start"]
    card_sha256: Digest
    detector: DetectorName
    plugin: Plugin | None
    rules: Annotated[int, Field(ge=0, le=canonical_json.MAX_INTEGER)] = 0
    shard: Shard
    software: str


class Sent(_Line):
    """A document is about to be sent."""

    kind: Literal["sent"]
    attempt: Attempt
    document: DocumentId


STOPPED = "stopped: "
"""How the reason of a retry begins that used up no attempt: the account was refused, or the text was not sent at all."""


class Retry(_Line):
    """An attempt failed in transport and will be made again; under the same number where the reason begins with STOPPED."""

    kind: Literal["retry"]
    attempt: Attempt
    document: DocumentId
    reason: str


class Skipped(_Line):
    """A document is not scannable, and is never sent."""

    kind: Literal["skipped"]
    document: DocumentId
    reason: str


class Final(_Line, Reading):
    """A reading: final."""

    kind: Literal["reading"]
    attempt: Attempt


class Stop(_Line):
    """A scan ends, and why."""

    kind: Literal["stop"]
    reason: str


KINDS: dict[str, type[_Line]] = {
    "start": Start,
    "sent": Sent,
    "retry": Retry,
    "skipped": Skipped,
    "reading": Final,
    "stop": Stop,
}
FIELDS: dict[str, tuple[str, ...]] = {kind: tuple(sorted(model.model_fields)) for kind, model in KINDS.items()}
"""The keys of a line of each kind, in canonical order."""
BULK = ("sent", "retry", "skipped", "reading")
"""The kinds of which there may be millions."""
TYPES: dict[str, pl.DataType] = {
    field: pl.Int64() if field == "attempt" else pl.String() for kind in BULK for field in FIELDS[kind]
}
"""Column types of the bulk kinds."""


def make_start_line(
    detector: str, sealed: SealedCard, card_sha256: str, *, shard: str, at: str, number: int
) -> dict[str, Any]:
    """The line with which a journal of an edition of format ``number`` begins or goes on, without ``prev``."""
    rules = versions.rules_written(number)
    return {
        "at": at,
        "card_sha256": card_sha256,
        "detector": detector,
        "kind": "start",
        "plugin": None if sealed.plugin is None else sealed.plugin.model_dump(),
        **({} if rules is None else {"rules": rules}),
        "shard": shard,
        "software": SOFTWARE,
    }


def check_line(value: Any, place: str) -> list[Fault]:
    """What is wrong with one decoded line: kind, keys, types; empty where nothing is."""
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in KINDS:
        given = f"kind {kind!r}" if isinstance(value, dict) else "no object"
        return [Fault(place, f"is no line of a journal ({given}; known: {', '.join(KINDS)})", REMEDY)]
    try:
        KINDS[kind].model_validate(value)
    except ValidationError as error:
        found = study.make_validation_faults(place, error.errors(include_url=False)).faults
        return [fault._replace(remedy=REMEDY) for fault in found]
    return []


def decode_line(line: bytes, place: str) -> tuple[dict[str, Any] | None, list[Fault]]:
    """The object in one line (without LF) and no fault; or None and what is wrong with it."""
    try:
        value = canonical_json.decode_json(line, place=place)
    except PenmarkError as error:
        return None, list(error.faults)
    faults = check_line(value, place)
    return (None if faults else value), faults


# --- the same, of columns ------------------------------------------------------------------------------------------


def select_sound(kind: str) -> pl.Expr:
    """True for each row that ``check_line`` accepts, in a frame with the fields of ``kind``.

    ``prev`` is left out: it is held against the digest of the line before.
    """
    model = KINDS[kind]
    tests = [_make_form_expression(name) for name in FIELDS[kind] if name not in ("kind", "prev")]
    tests += [
        pl.col(name).is_not_null()
        for name, field in model.model_fields.items()
        if type(None) not in (field.annotation, *typing.get_args(field.annotation)) and name not in ("kind", "prev")
    ]
    if kind == "reading":
        answered = pl.col("state") == "answered"
        shown, said = pl.col("displayed").is_not_null(), pl.col("reason").is_not_null()
        tests.append(pl.when(answered).then(shown).otherwise(said))
    return pl.all_horizontal(tests)


def _make_form_expression(name: str) -> pl.Expr:
    """True where the column is null or has the form of the field; every string fits a field of free text."""
    column = pl.col(name)
    if name == "vendor_at":
        return column.is_null()
    if name in ("origin", "state"):
        return column.is_in(typing.get_args(Reading.model_fields[name].annotation))
    if name == "attempt":
        return column.is_between(1, canonical_json.MAX_INTEGER)
    form = {
        "address": records.Digest,
        "evidence_sha256": records.Digest,
        "at": records.Time,
        "sent_at": records.Time,
        "got_at": records.Time,
        "document": records.DocumentId,
    }.get(name)
    if form is None:
        return pl.lit(True)
    # The same pattern in the same engine as the records use: both are Rust's regex.
    return column.is_null() | column.str.contains(typing.get_args(form)[1].pattern)
