"""What comes of a question: a reading and its evidence, a retry, or a pair that stays open; and what it may have cost.

*Reads* an outcome. *Writes* nothing. *Never*: asks again once there is an answer; takes a refusal of the account for one
of the text; loses what the vendor took on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from penmark.cards import judge
from penmark.cards.judge import NOTHING, AskedQuestion, Judged
from penmark.errors import ServiceError
from penmark.format import canonical_json, versions
from penmark.journal import STOPPED
from penmark.journal.evidence_log import Kept
from penmark.plugins import Answer, Declined, UnansweredError
from penmark.records import Card, Rule
from penmark.stages.scan.budget import MAYBE
from penmark.stages.scan.threads import Item, Outcome, Question, UnsentError

NOT_SENT = f"{STOPPED}not sent"
LONGEST = 900.0
"""Seconds: a vendor that asks to be left alone for longer is asked by the next scan."""


class Material(Protocol):
    """The documents that are asked about, by position."""

    def name(self, position: int) -> str: ...
    def address(self, position: int) -> str: ...
    def text(self, position: int) -> str: ...
    def digest(self, position: int, raw: bytes) -> str: ...


@dataclass(frozen=True)
class Promised:
    """What the promise says about asking this detector. ``priced``: an attempt that failed may have cost something."""

    detector: str
    card: Card
    version_asked: str | None
    attempts: int
    stop_on_change: bool
    closes: str
    first_version: str | None = None  # the version that earlier answers came from
    stopped: str | None = None  # why nothing may be asked any more
    priced: bool = False
    rule: Rule | None = None  # by which answers become calls; None where nobody calls them
    number: int = versions.WRITES  # of the edition's format
    accepts: bool = False  # what comes to nothing is final, whatever comes


class SettledOutcome(NamedTuple):
    """``line``: a reading or a retry, None where the pair stays open. ``again``: what to do later in this scan.
    ``charged``: None while the call goes on. ``ends``: why nothing more is asked of this detector."""

    kept: Kept | None = None
    line: dict[str, Any] | None = None
    judged: Judged | None = None
    again: Item | None = None
    charged: Literal["yes", "maybe", "no"] | None = None
    ends: ServiceError | None = None


def settle_outcome(
    promised: Promised, outcome: Outcome, material: Material, version: str | None, *, at: str, stopping: bool
) -> SettledOutcome:
    """What comes of ``outcome``. ``version``: what a plugin calls itself; ``at``: now; ``stopping``: nothing is asked again."""
    said = outcome.said
    if isinstance(said, UnansweredError):
        return _settle_unanswered(promised, outcome, said, at, stopping)
    if isinstance(said, str):
        return _settle_failed(outcome, said, at, "maybe" if promised.priced else "no")
    item, pair, text, _ = outcome.question
    kept = None
    if said.body is None:
        # No echo to read a version from: it is the plugin's own word.
        assert isinstance(said, Declined)
        judged = Judged("declined", judge.clean_reason(said.reason), NOTHING._replace(version=version))
    else:
        judged = judge_outcome(promised.card, said, said.body, text, promised.number)
        digest = material.digest(item.position, said.body)
        if digest == canonical_json.sha256(said.body):  # not keyed: the text is not an attested one
            judged = judge.add_remark(judged, promised.card, said.body, text)
        kept = Kept(promised.detector, pair.document, pair.attempt, said.body, digest)
    sha256 = None if kept is None else kept.sha256
    line = judge.make_reading_line(pair, judged, at=at, got_at=outcome.got_at, evidence_sha256=sha256)
    return SettledOutcome(kept, line, judged, charged="yes" if judged.state == "answered" else "maybe")


def judge_outcome(card: Card, said: Answer | Declined, body: bytes, text: str, number: int = versions.WRITES) -> Judged:
    """What a raw answer comes to, in an edition of the format ``number``."""
    declined = judge.clean_reason(said.reason) if isinstance(said, Declined) else None
    return judge.judge_answer(card, body, text, declined, number=number)


def make_not_sent_line(question: Question, at: str) -> dict[str, Any]:
    """The line for a question that was written down and never left."""
    return _make_retry_line(question.pair, NOT_SENT, at)


def _settle_unanswered(
    promised: Promised, outcome: Outcome, said: UnansweredError, at: str, stopping: bool
) -> SettledOutcome:
    item, pair, _, _ = outcome.question
    fault = said.faults[0]
    if isinstance(said, UnsentError):
        return SettledOutcome(line=make_not_sent_line(outcome.question, at), charged="no")
    ends = ServiceError(fault.fact, place=promised.detector, remedy=fault.remedy) if said.stop else _too_long(said)
    if said.job and (said.stop or said.again):
        left = item.rounds + 1 < promised.attempts
        if ends is not None or stopping:
            return SettledOutcome(ends=ends)
        if left:
            return SettledOutcome(again=item._replace(job=said.job, sent_at=pair.sent_at, rounds=item.rounds + 1))
        return _settle_failed(outcome, fault.fact, at, "maybe")
    why = _format_reason_line(fault.fact, said.charged)
    if ends is not None:
        line = _make_retry_line(pair, STOPPED + _format_reason_line(fault.fact, said.charged, len(STOPPED)), at)
        return SettledOutcome(line=line, charged=said.charged, ends=ends)
    if said.again and item.attempt < promised.attempts:
        again = Item(item.position, item.attempt + 1)
        return SettledOutcome(line=_make_retry_line(pair, why, at), again=again, charged=said.charged)
    return _settle_failed(outcome, fault.fact, at, said.charged)


def _too_long(said: UnansweredError) -> ServiceError | None:
    if said.retry_after is None or said.retry_after <= LONGEST:
        return None
    return ServiceError(
        f"{said.faults[0].fact}; the vendor asks to be left alone for {said.retry_after:.0f} seconds",
        remedy="Run the same command again after that.",
    )


def _settle_failed(outcome: Outcome, fact: str, at: str, charged: Literal["maybe", "no"]) -> SettledOutcome:
    judged = Judged("failed", _format_reason_line(fact, charged), NOTHING)
    line = judge.make_reading_line(outcome.question.pair, judged, at=at, got_at=outcome.got_at, evidence_sha256=None)
    return SettledOutcome(line=line, judged=judged, charged=charged)


def _format_reason_line(fact: str, charged: str, taken: int = 0) -> str:
    """``fact``, and whether it may have cost something, on one line of the length that a reason may have."""
    end = MAYBE if charged == "maybe" else ""
    room = judge.MAX_REASON - len(end) - taken
    line = judge.clean_reason(fact)
    return (line if len(line) <= room else line[: room - 1] + "…") + end


def _make_retry_line(pair: AskedQuestion, why: str, at: str) -> dict[str, Any]:
    return {"at": at, "attempt": pair.attempt, "document": pair.document, "kind": "retry", "reason": why}
