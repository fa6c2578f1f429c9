"""Checks: one finding of a verifier."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from penmark.records.fields import Record

# --- what checking finds -------------------------------------------------------------------------------------------


class Check(Record):
    """One thing that ``verify`` asked of a bundle, and what it found."""

    number: int = Field(ge=1, le=8)
    name: str
    state: Literal["ok", "failed", "not checked", "not applicable"]
    subject: str
    got: str | None = None
    expected: str | None = None
    remedy: str | None = None
