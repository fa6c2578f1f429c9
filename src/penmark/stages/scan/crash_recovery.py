"""What a scan that was cut off had on disk: answers whose readings did not come to be written.

*Reads* the end of the evidence. *Writes* nothing, but moves an unfinished import aside. *Never* loses an answer that
reached the disk, or takes one for an answer that nobody asked for.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from penmark.cards import judge
from penmark.cards.judge import AskedQuestion
from penmark.corpus.sealed_edition import Documents, Texts
from penmark.errors import PenmarkError
from penmark.journal import evidence_log
from penmark.journal.evidence_log import Kept
from penmark.stages.scan.plan import Part


def recover_readings(
    part: Part, documents: Documents, texts: Texts, kept: evidence_log.EvidenceWriter, number: int
) -> list[tuple[int, dict[str, Any]]]:
    """Position and journal line of each answer that is on disk without its reading, in the order of the evidence.
    ``number``: of the edition's format.

    The answer came between its ``sent`` line and the last change of the evidence file; that moment is its ``got_at``.
    Raises PenmarkError where evidence and journal do not belong together.
    """
    standing = part.standing

    def known(name: str, attempt: int) -> bool:
        position = documents.position(name)
        return position is not None and bool(standing.done[position])

    unread = kept.unread(known)
    asked = [item for item in unread if _is_awaited(part, documents, item)]
    if len(asked) < len(unread):
        if asked:
            raise PenmarkError(
                f"the evidence of {part.detector.name} ends in answers that its journal did not ask for",
                remedy="Restore journal/ and evidence/ together, as they were.",
            )
        kept.drop(unread)  # an import that was cut off; its file can be imported again
    written = datetime.fromtimestamp(kept.last_written(), UTC)
    return [_make_reading_line(part, documents, texts, item, written, number) for item in asked]


def _is_awaited(part: Part, documents: Documents, item: Kept) -> bool:
    position = documents.position(item.document)
    before = None if position is None else part.standing.open.get(position)
    return before is not None and before.attempt == item.attempt and not before.failed


def _make_reading_line(
    part: Part, documents: Documents, texts: Texts, item: Kept, written: datetime, number: int
) -> tuple[int, dict[str, Any]]:
    position = documents.position(item.document)
    assert position is not None
    sent_at = part.standing.open[position].sent_at
    if texts.digest(position, item.body) != item.sha256:
        raise PenmarkError(
            f"the evidence about {item.document} is not what was written (its digest differs)",
            place=f"evidence of {part.detector.name}",
            remedy="Restore the evidence files.",
        )
    card, text = part.sealed.card, texts.text(position)
    judged = judge.judge_answer(card, item.body, text, number=number)
    if not documents.attested[position]:
        judged = judge.add_remark(judged, card, item.body, text)
    asked = AskedQuestion(
        item.document, documents.address(position), item.attempt, "scan", sent_at, part.detector.version
    )
    got_at = max(sent_at, judge.format_timestamp(written.timestamp()))
    return position, judge.make_reading_line(
        asked, judged, at=judge.get_time_now(), got_at=got_at, evidence_sha256=item.sha256
    )
