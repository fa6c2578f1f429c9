"""Readings: what one detector said about one document."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from penmark.records.fields import Digest, DocumentId, Record, Time

# --- answers -------------------------------------------------------------------------------------------------------


class Reading(Record):
    """One detector's final answer about one document, or why there is none, word for word.

    A line of the journal with ``kind`` "reading". ``displayed``: the exact characters; ``score``: digits as given;
    ``evidence_sha256``: digest (keyed for attested texts) of the raw answer kept in ``evidence/``. ``vendor_at``: nothing;
    no card says where a vendor tells its own time, so that it would follow from nothing.
    """

    document: DocumentId
    address: Digest
    attempt: int = Field(ge=1)
    origin: Literal["scan", "typed", "recorded"]
    state: Literal["answered", "declined", "failed"]
    reason: str | None
    sent_at: Time | None
    got_at: Time | None
    vendor_at: None
    displayed: str | None
    score: str | None
    label: str | None
    version_asked: str | None
    version: str | None
    evidence_sha256: Digest | None
    read_by: str | None

    @model_validator(mode="after")
    def _guard_writes(self) -> Reading:
        if self.state == "answered" and self.displayed is None:
            raise ValueError("an answer has the exact characters that were displayed")
        if self.state != "answered" and self.reason is None:
            raise ValueError(f"a reading that is {self.state} has a reason")
        return self
