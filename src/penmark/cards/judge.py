"""How an answer becomes a reading: what stands in it, whether it is about this text, and the line of the journal.

*Reads* and *writes* nothing. *Never* judges whether the answer is right, nor what it means: that is ``cards.call_answer``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

from penmark import cards
from penmark.cards import Extracted
from penmark.errors import PenmarkError
from penmark.format import versions
from penmark.records import Card
from penmark.text import quotation

MAX_REASON = 200
"""Characters of a reason that is kept."""
OTHER_TEXT = "other text scanned"
UNREAD = "the answer "
"""How the reason begins where the raw answer is none that can be read (``cards.extract_answer``)."""
NO_ANSWER = "nothing in the answer where the card looks for it"
NOTHING = Extracted(None, None, None, None, None)
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


class Judged(NamedTuple):
    """State of the pair (``answered``, ``declined`` or ``failed``), what stands in the answer, and the reason: why there
    is none, or a remark on one (``add_remark``)."""

    state: Literal["answered", "declined", "failed"]
    reason: str | None
    found: Extracted


def is_other(echo: str | None, text: str, number: int = versions.WRITES) -> bool:
    """Whether an answer says that it is about another text. ``number``: of the edition's format; in the first, an echo was
    the text to the character or another."""
    return echo is not None and (echo != text if number == 1 else not quotation.same(echo, text))


def judge_answer(
    card: Card, body: bytes, text: str, declined: str | None = None, *, number: int = versions.WRITES
) -> Judged:
    """What a raw answer about ``text`` comes to. ``number``: as of ``is_other``.

    ``declined``: the reason, where the plugin calls it no answer. That counts only where the answer shows nothing: a
    shown verdict is final, and what a reading says follows from its evidence alone.
    """
    try:
        found = cards.extract_answer(card, body)
    except PenmarkError as error:
        return Judged("declined", declined or clean_reason(error.faults[0].fact), NOTHING)
    if is_other(found.text, text, number):
        return Judged("declined", OTHER_TEXT, found)
    if found.displayed is None:
        return Judged("declined", declined or NO_ANSWER, found)
    return Judged("answered", None, found)


def judge_typed(card: Card, body: bytes, text: str | None, *, number: int = versions.WRITES) -> Judged:
    """What a row that people typed from a screen about ``text`` comes to, for a card that reads a display. ``text``: None
    where it is not here to compare with."""
    try:
        found = cards.extract_typed(card, body)
    except PenmarkError as error:
        return Judged("declined", clean_reason(error.faults[0].fact), NOTHING)
    if found.displayed is None:
        return Judged("declined", NO_ANSWER, found)
    other = text is not None and is_other(found.text, text, number)
    return Judged("declined", OTHER_TEXT, found) if other else Judged("answered", None, found)


def is_answer(state: str, displayed: str | None, reason: str | None) -> bool:
    """Whether a reading has an answer, whatever it is about: then its date says whether it came before the promise."""
    return state == "answered" or displayed is not None or reason == OTHER_TEXT or (reason or "").startswith(UNREAD)


def add_remark(judged: Judged, card: Card, body: bytes, text: str) -> Judged:
    """``judged``, with the remark on how the answer quotes the text, where it is answered. It changes no state.

    Not for attested texts: nothing that is published may tell the length of a text that is withheld.
    """
    if judged.state != "answered":
        return judged
    said = [quotation.echoed(judged.found.text, text), quotation.remark_on_quotation(body, text, card.answer.text)]
    words = "; ".join(each for each in said if each is not None)
    return judged._replace(reason=clean_reason(words) if words else None)


def clean_reason(words: str) -> str:
    """``words`` on one line, without control characters, cut at MAX_REASON."""
    line = _CONTROL.sub(" ", words)
    return line if len(line) <= MAX_REASON else line[: MAX_REASON - 1] + "…"


@dataclass(frozen=True)
class AskedQuestion:
    """What is known of a pair before its answer: document and address, attempt, when and in which way it was asked."""

    document: str
    address: str
    attempt: int
    origin: Literal["scan", "typed", "recorded"]
    sent_at: str | None
    version_asked: str | None
    read_by: str | None = None


def make_reading_line(
    asked: AskedQuestion, judged: Judged, *, at: str, got_at: str | None, evidence_sha256: str | None
) -> dict[str, Any]:
    """The journal's line (without ``prev``). ``evidence_sha256``: the address of the kept raw answer, None where none is kept."""
    found = judged.found
    return {
        "address": asked.address,
        "at": at,
        "attempt": asked.attempt,
        "displayed": found.displayed,
        "document": asked.document,
        "evidence_sha256": evidence_sha256,
        "got_at": got_at,
        "kind": "reading",
        "label": found.label,
        "origin": asked.origin,
        "read_by": asked.read_by,
        "reason": judged.reason,
        "score": found.score,
        "sent_at": asked.sent_at,
        "state": judged.state,
        "vendor_at": None,
        "version": found.version,
        "version_asked": asked.version_asked,
    }


def get_time_now() -> str:
    """The time, UTC, RFC 3339 with microseconds."""
    return format_timestamp(datetime.now(UTC).timestamp())


def format_timestamp(seconds: float) -> str:
    """Seconds since 1970 as UTC, RFC 3339 with microseconds."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
