"""Grades: what a record must hold, so that a stranger can ask again for what its grade claims.

A grade is a claim about evidence and no cell that anyone may fill. *Reads* and *writes* nothing. *Never* says that the
evidence is genuine: only that there is something to ask for.
"""

from __future__ import annotations

import hashlib
import re

from penmark.records import Document, Generated, Provenance

STATED = "stated"
SESSIONS, GENERATION = "sessions", "generation"
"""What brings signed exports, and what keeps the exchanges with models."""
_EMPTY = hashlib.sha256(b"").hexdigest()
_REPEATED = re.compile(r"(.{1,16}?)\1+")
_PLACES = ("url", "file", "commit")


def lacking(document: Document) -> str | None:
    """What the grade of a document claims and its record does not hold, in words; None where nothing is missing."""
    return wanting(document.provenance, document.gathered_by)


def wanting(own: Provenance, by: str | None) -> str | None:
    """As ``lacking``. ``by``: the source that gave the text."""
    if own.kind == "archive":
        if own.grade == "archived" and not _is_located(own.locator):
            return "archived, and no locator says where the capture is kept"
        if own.grade != STATED and not real(own.evidence_sha256):
            return f"{own.grade}, and no digest says what was kept"
    elif own.kind == "attested" and own.grade != STATED:
        if by != SESSIONS:
            return "witnessed, and it came in no signed export of sessions"
        if own.session is None or not real(own.session.history_sha256) or own.session.operations == 0:
            return "witnessed, and no history of the session was kept"
    elif own.kind == "edited":
        if own.grade != STATED and not real(own.history_sha256):
            return "witnessed, and no digest says which editing history was kept"
        return _explain_recorded(own.draft, by)
    elif own.kind == "generated":
        return _explain_recorded(own, by)
    elif own.kind == "transformed" and own.grade != STATED and not real(own.parent_sha256):
        return "recorded, and no digest says what was transformed"
    return None


def demoted(own: Provenance, by: str | None) -> tuple[Provenance, str | None]:
    """The provenance with the grades that its evidence carries, and why they are others than it says; None where not."""
    why: str | None = None
    if own.kind == "edited" and (lack := _explain_recorded(own.draft, by)) is not None:
        own, why = own.model_copy(update={"draft": own.draft.model_copy(update={"grade": STATED})}), lack
    if (lack := wanting(own, by)) is not None:
        return own.model_copy(update={"grade": STATED}), lack
    return own, why


def real(digest: str | None) -> bool:
    """Whether a digest may be one: not absent, not that of nothing, and not a few digits over and over."""
    return digest is not None and digest != _EMPTY and _REPEATED.fullmatch(digest) is None


def _is_located(locator: dict[str, str]) -> bool:
    return locator.get("by", "") != "" and any(locator.get(name, "") != "" for name in _PLACES)


def _explain_recorded(made: Generated, by: str | None) -> str | None:
    if made.grade == STATED:
        return None
    if not (real(made.request_sha256) and real(made.response_sha256)):
        return "recorded, and no digests say what was sent and what came back"
    if by != GENERATION:
        return "recorded, and the exchange is not kept here: it was not asked for by this study"
    return None
