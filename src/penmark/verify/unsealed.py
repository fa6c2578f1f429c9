"""Checks 4 and 8, unsealed: what comes after the seals and is under none, withdrawals and replies, fits those before it.

*Reads* the withdrawals as ``corpus`` took them, replies/, the times of the seals. *Never* looks at a clock: a time that is
yet to come is nobody's fault here.
"""

from __future__ import annotations

from datetime import date

from penmark import replies, study, tokens
from penmark.errors import PenmarkError
from penmark.records import Seal
from penmark.verify import hours, stamps
from penmark.verify.corpus import Corpus
from penmark.verify.found import Found


def withdrawn(known: Corpus, frozen: Seal | None, found: Found) -> None:
    """No author took a text back before it was frozen: it would not be in the manifest. Fills ``known.since``, where it
    can be."""
    remedy = "A text that was taken back is not frozen. Ask the publisher when that was."
    for name, at in known.withdrawn.items():
        try:
            since = tokens.moment(at)
        except ValueError:
            found.failed("withdrawn.jsonl", f"{name} was withdrawn at {at}", "a time", remedy)
            continue
        if frozen is not None and since + stamps.CLOCK < tokens.moment(frozen.sealed_at):
            expected = f"after the corpus seal, {frozen.sealed_at}"
            found.failed("withdrawn.jsonl", f"{name} was withdrawn at {at}", expected, remedy)
        else:
            known.since[name] = since


def replied(edition: study.Edition, promise: Seal | None, found: Found) -> None:
    """No vendor replied about its row before there was a promise of one."""
    folder = edition.root / replies.FOLDER
    if promise is None or not folder.is_dir():
        return
    promised = tokens.moment(promise.sealed_at).date()
    for path in study.own(folder, "*.md"):
        place = f"{replies.FOLDER}/{path.name}"
        try:
            said = replies.parse(study.read(path, limit=replies.LARGEST), place=place)
        except PenmarkError as error:
            found.error(error)
            continue
        if date.fromisoformat(said.date) < promised - hours.DAY:  # a date is of some time zone
            remedy = "Nobody replied to what was not promised yet. Ask the vendor when that was."
            found.failed(place, f"date: {said.date}", f"after the promise, {promised}", remedy)
