"""Seals, and the amendments and deviations that stand beside them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from penmark.format import versions
from penmark.records import patterns
from penmark.records.fields import DetectorName, Digest, EditionTag, Record, Time, _is_empty

# --- seals and changes ---------------------------------------------------------------------------------------------


class Announcement(Record):
    """Where the readable protocol was public, and a third party's capture of it."""

    url: str
    capture: str
    captured_at: Time


class Head(Record):
    """A journal at a moment: how many lines, and the digest of the last."""

    lines: int = Field(ge=1)
    head: Digest


class Seal(Record):
    """Digests with timestamps from outside, chained to the seal before. Tokens lie beside it as ``<name>-<authority>.tsr``.

    ``rules``: by which rules of a release it was written (``penmark.format.versions``); absent in format 1.
    """

    format: int = versions.WRITES
    kind: Literal["promise", "corpus", "heads", "evidence"]
    study: str
    edition: EditionTag
    sealed_at: Time
    software: str
    rules: int | None = Field(default=None, ge=0, exclude_if=_is_empty)
    previous: Digest | None
    digests: dict[str, Digest]
    journals: dict[str, Head] = {}
    announced: Announcement | None = None

    @model_validator(mode="after")
    def _numbered(self) -> Seal:
        if (self.rules is None) != (self.format == 1):
            raise ValueError("rules stand in a seal from format 2 on")
        return self


class Change(Record):
    """What an amendment changes at one place of the promise (``penmark.protocol.promise_differences``): JSON, None
    where nothing stands there."""

    at: Annotated[str, StringConstraints(pattern=patterns.PLACE)]
    was: str | None
    becomes: str | None


class Amendment(Record):
    """A numbered, announced change of the promise; binds the editions from ``binds_from`` on. ``covers``: what it changes."""

    number: int = Field(ge=1)
    binds_from: EditionTag
    announced_at: Time
    what: str
    why: str
    before: str
    after: str
    covers: tuple[Change, ...] = Field(default=(), exclude_if=_is_empty)


class Deviation(Record):
    """Something that went otherwise than promised. Told; changes no rule."""

    at: Time
    detector: DetectorName | None = None
    what: str
