"""Replies: what a vendor wrote about its row, printed beside it unedited (docs/format.md, 2 and 10).

``replies/<detector>.md`` begins with two lines, ``date: YYYY-MM-DD`` and ``from: WHO``, then a blank line, then the reply.
*Reads* and *writes* nothing: it is given bytes. *Never* changes a word: what a reader is shown is what came.
"""

from __future__ import annotations

import re
from datetime import date
from typing import NamedTuple

from penmark.errors import PenmarkError

LARGEST = 2**16
"""No reply is longer (bytes)."""
FOLDER = "replies"
PATH = re.compile(r"replies/([a-z0-9][a-z0-9.-]{0,62})\.md")
"""Where a reply lies in an edition and in a bundle, and whose it is."""
_REMEDY = "Begin it with the lines `date: 2026-11-30` and `from: WHO`, then a blank line, then the reply as it came."


class Reply(NamedTuple):
    """When it is from, who wrote it, and its words, without white space at the end."""

    date: str
    who: str
    text: str


def parse_reply(data: bytes, *, place: str) -> Reply:
    """The reply in a file. Raises PenmarkError where it has another form, is not UTF-8, or is too long."""
    if len(data) > LARGEST:
        raise PenmarkError(
            f"is {len(data)} bytes; the limit is {LARGEST}", place=place, remedy="Print a part, and say so."
        )
    try:
        words = data.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise PenmarkError(f"is not UTF-8 (byte {error.start})", place=place, remedy="Save it as UTF-8.") from None
    dated, who, blank, text = [*words.split("\n", 3), "", "", "", ""][:4]
    heads = dated.startswith("date:") and who.startswith("from:") and who[5:].strip() != "" and blank.strip() == ""
    if not heads or text.strip() == "":
        raise PenmarkError("does not begin with its date and who it is from", place=place, remedy=_REMEDY)
    day = dated.removeprefix("date:").strip()
    if not _is_date(day):
        raise PenmarkError(f"{day[:40]!r} is not a date", place=f"{place}:1", remedy="Write it as 2026-11-30.")
    return Reply(day, who.removeprefix("from:").strip(), text.rstrip())


def _is_date(given: str) -> bool:
    try:
        return date.fromisoformat(given).isoformat() == given
    except ValueError:
        return False
