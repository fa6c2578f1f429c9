"""Checks 4 and 8, unsealed: what comes after the seals and is under none, withdrawals and replies, fits those before it.

*Reads* the withdrawals as ``corpus`` took them, replies/, the times of the seals. *Never* looks at a clock: a time that is
yet to come is nobody's fault here.
"""

from __future__ import annotations

from datetime import date

from penmark import study, timestamps
from penmark.errors import PenmarkError
from penmark.format import replies
from penmark.records import Seal
from penmark.stages.verify.check2_seals import seal_tokens
from penmark.stages.verify.check4_corpus import Corpus
from penmark.stages.verify.check_findings import Findings


def check_withdrawn(known: Corpus, frozen: Seal | None, found: Findings) -> None:
    """No author took a text back before it was frozen: it would not be in the manifest. Fills ``known.since``, where it
    can be."""
    remedy = "A text that was taken back is not frozen. Ask the publisher when that was."
    for name, at in known.withdrawn.items():
        try:
            since = timestamps.parse_rfc3339(at)
        except ValueError:
            found.failed("withdrawn.jsonl", f"{name} was withdrawn at {at}", "a time", remedy)
            continue
        if frozen is not None and since + seal_tokens.CLOCK < timestamps.parse_rfc3339(frozen.sealed_at):
            expected = f"after the corpus seal, {frozen.sealed_at}"
            found.failed("withdrawn.jsonl", f"{name} was withdrawn at {at}", expected, remedy)
        else:
            known.since[name] = since


def check_replies(edition: study.Edition, promise: Seal | None, found: Findings) -> None:
    """No vendor replied about its row before there was a promise of one."""
    folder = edition.root / replies.FOLDER
    if promise is None or not folder.is_dir():
        return
    promised = timestamps.parse_rfc3339(promise.sealed_at).date()
    for path in study.own(folder, "*.md"):
        place = f"{replies.FOLDER}/{path.name}"
        try:
            said = replies.parse_reply(study.read_bytes(path, limit=replies.LARGEST), place=place)
        except PenmarkError as error:
            found.error(error)
            continue
        if date.fromisoformat(said.date) < promised - seal_tokens.DAY:  # a date is of some time zone
            remedy = "Nobody replied to what was not promised yet. Ask the vendor when that was."
            found.failed(place, f"date: {said.date}", f"after the promise, {promised}", remedy)
