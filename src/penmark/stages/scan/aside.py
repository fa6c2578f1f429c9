"""Answers of which nothing can be made, held back until it is clear that they are about their texts, and not an outage.

*Reads* what came of questions, and of notes what a scan that was cut off had held back. *Writes* nothing. *Never*: holds
back an answer that shows something, since a shown verdict is final; makes final what came in a row, alike, before a person
says so.
An answer in between says that the detector works: what was held back is final then, as it came. Where none comes, and the
row gets long, the detector stops, and what was held back is asked about again.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from penmark import cards
from penmark.cards import judge
from penmark.corpus.sealed_edition import Documents
from penmark.errors import ServiceError
from penmark.journal import STOPPED
from penmark.plugins import UnansweredError
from penmark.records import Card, Rule
from penmark.stages.scan import private_log
from penmark.stages.scan.budget import MAYBE
from penmark.stages.scan.circuit_breaker import ALIKE, GIVE_UP
from penmark.stages.scan.outcome import SettledOutcome
from penmark.stages.scan.plan import Part
from penmark.stages.scan.threads import Outcome, UnsentError

ASIDE = f"{STOPPED}set aside, since texts in a row came to nothing alike: "
"""How the reason of a retry begins whose attempt came to an answer of which nothing could be made."""
MOST = 3 * ALIKE
"""So many in a row that are not alike are too many as well."""
_STATUS = re.compile(r"HTTP \d{3}")
_VARIES = re.compile(r"[0-9]+")


class Came(NamedTuple):
    """A question, what came of it, and what that is to be in the journal."""

    outcome: Outcome
    done: SettledOutcome


class Aside:
    """One lane's. ``rule``: by which answers become calls, None where nobody calls them (pilots, canaries). ``accepts``: a
    person said that what comes to nothing is final."""

    def __init__(self, detector: str, card: Card, rule: Rule | None, *, accepts: bool) -> None:
        self.held: list[Came] = []
        self._detector, self._card, self._rule, self._accepts = detector, card, rule, accepts
        self._alike, self._sign, self._last = 0, "", ""
        self._over = False
        self._news: list[Came] = []

    @property
    def doubted(self) -> bool:
        """Whether what is held back looks like an outage, by its number."""
        return self._over or self._alike >= GIVE_UP

    def sift(self, came: Came) -> list[Came]:
        """What is final now, in the order in which it came: nothing, ``came``, or what was held back as well."""
        if self._accepts or self._over:
            return [] if self._keeps(came) else [came]
        sign = self._label_empty_outcome(came)
        if sign is None:
            return [came]
        if sign == "":
            self._alike, self._sign = 0, ""
            return [*self.release(), came]
        self._alike = self._alike + 1 if sign == self._sign else 1
        self._sign = sign
        self._last = str((came.done.judged and came.done.judged.reason) or sign)
        return [] if self._keeps(came) else [came]

    def release(self) -> list[Came]:
        """What was held back, final as it came."""
        held, self.held = self.held, []
        return held

    def news(self) -> list[Came]:
        """What is held back since the last time."""
        news, self._news = self._news, []
        return news

    def put_back(self, at: str) -> list[dict[str, Any]]:
        """The lines that say of what was held back that it is asked about again. A vendor's job has none: it is asked for."""
        lines = [aside_line(each) for each in self.release() if not _has_job(each.outcome)]
        return [retry_line(line, at) for line in lines]

    def trouble(self, *, last: bool = False) -> ServiceError | None:
        """Why nothing more is to be asked, or None. ``last``: nothing is left to ask that could tell."""
        limit = GIVE_UP if last or self._sign.startswith("failed ") else ALIKE
        if self._accepts or (last and not self.held) or (self._alike < limit and len(self.held) < MOST):
            return None
        self._over = True
        many = max(self._alike, len(self.held))
        again = "they are asked about again" if self.held else "they showed something, and are final"
        return ServiceError(
            f"{many} texts in a row came to nothing{' alike' if self._alike >= limit else ''}, the last with: {self._last}",
            place=self._detector,
            remedy=f"See what it says (`penmark scan --check` shows what is sent) and run the same command again: {again}. "
            f"Where it does mean these texts: `penmark scan --detector {self._detector} --accept-declined {self._detector}`.",
        )

    def _keeps(self, came: Came) -> bool:
        """Hold ``came`` back, where it may be; whether that was done."""
        judged = came.done.judged
        if self._accepts or judged is None or judged.state == "answered" or not self._label_empty_outcome(came):
            return False
        if judged.found.displayed is not None or judged.reason == judge.OTHER_TEXT:
            return False
        self.held.append(came)
        self._news.append(came)
        return True

    def _label_empty_outcome(self, came: Came) -> str | None:
        """By what an outcome that came to nothing is alike to another; "" where it came to an answer; None where it says
        neither."""
        said, judged = came.outcome.said, came.done.judged
        if judged is None or isinstance(said, UnsentError):
            return None
        if judged.state == "answered":
            if self._rule is None:
                return ""
            amiss = cards.find_miss(self._card, self._rule, judged.found.score, judged.found.label)
            return "" if amiss is None or amiss[0] in (cards.BESIDE, cards.AGAINST) else amiss[0]
        if isinstance(said, UnansweredError) and said.again and not said.job:
            return None  # the way there: all its attempts are made, and three of them stop the scan
        words = judged.reason or ""
        if (status := _STATUS.match(words)) is not None:
            return f"{judged.state} {status[0]}"
        if judged.reason is not None and judged.reason.startswith(judge.UNREAD):
            return "declined unread"
        return f"{judged.state} {_VARIES.sub('', words)}"


def _has_job(outcome: Outcome) -> bool:
    return isinstance(outcome.said, UnansweredError) and bool(outcome.said.job)


def aside_line(came: Came) -> dict[str, Any]:
    """What is noted of an answer that is held back, for the next scan, should this one be cut off."""
    pair, judged = came.outcome.question.pair, came.done.judged
    end = MAYBE if came.done.charged == "maybe" else ""
    words = ((judged.reason if judged is not None else None) or "").removesuffix(MAYBE)
    room = judge.MAX_REASON - len(ASIDE) - len(end)
    reason = ASIDE + (words if len(words) <= room else words[: room - 1] + "…") + end
    return {"attempt": pair.attempt, "document": pair.document, "reason": reason, "sent_at": pair.sent_at}


def retry_line(noted: dict[str, Any], at: str) -> dict[str, Any]:
    """The journal's line (without ``prev``): it is asked about again, under the same attempt."""
    return {**{key: noted[key] for key in ("attempt", "document", "reason")}, "at": at, "kind": "retry"}


def cut_off(part: Part, documents: Documents, path: Path, at: str) -> list[tuple[int, dict[str, Any]]]:
    """Position and line of what a scan that was cut off had held back; ``part`` knows that it is asked about again."""
    lines = []
    for noted in private_log.read_notes(path):
        position = documents.position(str(noted.get("document")))
        before = None if position is None else part.standing.open.get(position)
        if position is None or before is None or before.failed or part.standing.done[position]:
            continue
        if (before.attempt, before.sent_at) == (noted.get("attempt"), noted.get("sent_at")):
            part.standing.open[position] = before._replace(failed=True, unused=True)
            lines.append((position, retry_line(noted, at)))
    return lines
