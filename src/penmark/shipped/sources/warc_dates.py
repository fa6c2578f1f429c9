"""The dates of a WARC file held against each other: what it says of itself, and what its records say of one another.

A file may be packed anew long after its capture, so that the date on which it says to have been begun tells against a
record only where it is more than a month later. *Reads* and *writes* nothing.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from penmark.errors import Fault
from penmark.shipped.sources.captures import date_stamp
from penmark.shipped.sources.warc_files import Said, WarcRecord

_PACKED = timedelta(days=31)
"""How much later than its first records a file may be written: crawlers pack what they fetched in batches."""
_SKEW = timedelta(days=1)


class Dates:
    """What was heard of dates, file by file."""

    def __init__(self) -> None:
        self._begun: str | None = None
        self._taken: dict[str, str] = {}
        self._revisits: list[Said] = []

    def hear(self, said: Said) -> None:
        """Note what a warcinfo or a revisit record says."""
        if said.about is None:
            self._begun = said.at
        else:
            self._revisits.append(said)

    def later(self, record: WarcRecord) -> str | None:
        """Why the date of a record cannot be right, in words; None where nothing that came before it speaks against it."""
        self._taken[record.identity] = record.at
        if _make_moment(record.at) > datetime.now(UTC) + _SKEW:
            return f"says that it was captured on {date_stamp(record.at)}, which is still to come"
        if self._begun is not None and _make_moment(self._begun) > _make_moment(record.at) + _PACKED:
            return f"says that it was captured on {date_stamp(record.at)}, and its file was begun on {date_stamp(self._begun)}"
        return None

    def contradictions(self, file: str) -> list[Fault]:
        """The revisits of a file that date a record otherwise than it does itself; then all is forgotten but the records."""
        found = [
            Fault(
                f"{file}: at byte {one.offset}",
                fact,
                f"One of the two is wrong: give omit={_name_identity(one.about)}.",
            )
            for one in self._revisits
            if one.about is not None and (fact := self._explain_against(one)) is not None
        ]
        self._begun, self._revisits = None, []
        return found

    def _explain_against(self, said: Said) -> str | None:
        own = self._taken.get(said.about or "")
        if own is None or said.at == own:
            return None
        return f"a revisit dates the record {said.about} on {date_stamp(said.at)}, and that says {date_stamp(own)}"


def _name_identity(identity: str | None) -> str:
    return (identity or "").strip("<>").removeprefix("urn:uuid:").replace("/", "-")


def _make_moment(stamp: str) -> datetime:
    return datetime.strptime(stamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
