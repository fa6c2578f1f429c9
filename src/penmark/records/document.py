"""Documents: one text of an edition, and all that is said of it."""

from __future__ import annotations

import re

from pydantic import Field, model_validator

from penmark.records.fields import ArmName, Digest, DocumentId, Record, _is_empty
from penmark.records.provenance import Provenance

# --- the corpus ----------------------------------------------------------------------------------------------------


class Document(Record):
    """One text with its provenance; immutable.

    ``address``: SHA-256 of the raw bytes, or for attested texts the keyed fingerprint. ``canonical_sha256``, ``words``
    and ``characters`` are empty for a withheld text, since nothing outside may depend on it. ``gathered_by``: the source
    that gave the text (``generation``: a model that the study asked); absent in format 1.
    """

    id: DocumentId
    arm: ArmName
    address: Digest
    canonical_sha256: Digest | None
    words: int | None = Field(ge=0)
    characters: int | None = Field(ge=0)
    language: str | None = None
    register_: str | None = Field(default=None, alias="register")
    subgroup: str | None = None
    author: str | None = None
    topic: str | None = None
    source: str | None = None
    exposures: tuple[str, ...] = ()
    withheld: str | None = None
    gathered_by: str | None = Field(default=None, min_length=1, max_length=64, exclude_if=_is_empty)
    provenance: Provenance

    @model_validator(mode="after")
    def _safe(self) -> Document:
        if ".." in self.id:
            raise ValueError("an id holds no '..'")
        if self.withheld is not None and self.withheld.strip() == "":
            raise ValueError("`withheld` says why the text is not published")
        if re.match("'[=+@-]", self.id):
            raise ValueError("an id begins with no apostrophe before = + - @: in a table it would be another's")
        told = self.provenance.session if self.provenance.kind == "attested" else None
        if told is not None and self.withheld is None and None in told.model_dump().values():
            raise ValueError("the session summary of a published text is whole")
        return self

    def facet(self, name: str) -> str | None:
        """The value by which quotas and slices group documents; an edited text has its draft's model and style."""
        if name in ("provider", "model", "style"):
            made = self.provenance.draft if self.provenance.kind == "edited" else self.provenance
            return getattr(made, name, None)
        if name == "parent":
            return self.provenance.parent if self.provenance.kind == "transformed" else None
        value = self.register_ if name == "register" else getattr(self, name, None)
        return value if isinstance(value, str) else None

    @property
    def attested(self) -> bool:
        """True where the text is known outside by its keyed fingerprint only."""
        return self.provenance.kind == "attested"
