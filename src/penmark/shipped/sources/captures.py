"""A capture: what a web archive kept of a page, whichever way it was reached. The one interface of `web-archive` and `warc`.

*Reads* and *writes* nothing. *Never*: a text of a capture that is not what its archive says; a date that the page gives
itself (in its text, its address, its head): the date that counts is the capture's, and it counts only where the answer's
own headers do not say that they are younger.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Literal, NamedTuple

from penmark.errors import PenmarkError
from penmark.format import canonical_json
from penmark.plugins import Draft, Found
from penmark.shipped.sources import charsets, payloads, prose, walls

STAMP = re.compile(r"[0-9]{14}")
"""A moment as web archives write it: 20200501120000, UTC."""
_HTML = ("text/html", "application/xhtml+xml")
_SIGNS = ((b"%PDF-", "a PDF"), (b"PK\x03\x04", "a ZIP file (or a document of an office program)"), (b"{\\rtf", "RTF"))

Unfitness = Literal[
    "redirect", "status", "pdf", "format", "digest", "damaged", "language", "empty", "contradicted", "wall"
]


class Capture(NamedTuple):
    """An archived answer. ``at``: when it was captured, as STAMP; ``headers``: by lower-case name; ``body``: as stored.

    ``digest``: the one that the archive states. ``locator``: how it is found again, without ``by``. ``own_headers``: the
    headers are the page's, and not those of an archive that hands it out.
    """

    url: str
    at: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    digest: str | None
    locator: dict[str, str]
    own_headers: bool = True


class Page(NamedTuple):
    """A capture that holds prose: the text, the SHA-256 of what the archive kept, and the charset that it was read in.

    ``lost``: how many of the page's bytes, or runs of them, are no characters of that charset.
    """

    text: str
    evidence_sha256: str
    charset: str
    lost: int


class Unfit(Exception):  # noqa: N818 - a finding about one capture, which is told, or leads on to the next one
    """A capture from which no text can be taken: which kind of reason, and the reason in words."""

    def __init__(self, kind: Unfitness, fact: str) -> None:
        super().__init__(fact)
        self.kind, self.fact = kind, fact


def extract_page(capture: Capture, language: str | None = None, charset: str | None = None) -> Page:
    """The prose of a capture. ``language``: the one that it must be in; ``charset``: the one to read it in, whatever it says.

    Raises Unfit, ServiceError for a missing package.
    """
    if 300 <= capture.status < 400:
        where = capture.headers.get("location", "an address that it does not name")
        raise Unfit("redirect", f"the capture of {date_stamp(capture.at)} is a redirect to {where}")
    if capture.status != 200:
        raise Unfit("status", f"the capture of {date_stamp(capture.at)} is an answer with status {capture.status}")
    try:
        payload = payloads.read_payload(capture.body, capture.headers, capture.digest)
    except payloads.WrongDigest as error:
        raise Unfit("digest", f"the capture of {date_stamp(capture.at)}: {error}") from None
    except payloads.Damaged as error:
        raise Unfit("damaged", f"the capture of {date_stamp(capture.at)} {error}") from None
    _require_html(capture, payload.page)
    _require_dates(capture)
    shown = charsets.read(payload.page, capture.headers.get("content-type", ""), charset)
    text = prose.extract_prose(shown.text)
    if text.strip() == "":
        raise Unfit("empty", f"no prose was found in the capture of {date_stamp(capture.at)}")
    if (kind := walls.find(shown.text, text)) is not None:
        raise Unfit("wall", f"the capture of {date_stamp(capture.at)} is {kind}, and no text")
    if language is not None:
        found = prose.detect_language(text)
        if found.code != language.partition("-")[0]:
            raise Unfit("language", f"reads as {found.code} (score {found.score:.2f}), not as {language}")
    return Page(text, canonical_json.sha256(payload.kept), shown.charset, shown.lost)


def make_page_draft(
    capture: Capture, made: Page, name: str, place: str, *, by: str, fields: dict[str, str], given: dict[str, str]
) -> Draft:
    """The draft of a page. ``by``: the source plugin; ``given``: archive, grade, licence and what else the user said."""
    locator = {
        "by": by,
        "captured_at": format_stamp(capture.at),
        "extractor": prose.describe_extractor(),
        **capture.locator,
    }
    locator |= {"charset": made.charset} | ({"lost": str(made.lost)} if made.lost else {})
    provenance = {
        "kind": "archive",
        "source": capture.url,
        "evidence_date": date_stamp(capture.at),
        "evidence_sha256": made.evidence_sha256,
        "licence": "not stated by the archive",
    }
    return Draft(
        name,
        made.text.encode(),
        place,
        fields,
        provenance | given | {f"locator.{key}": value for key, value in locator.items()},
    )


def make_found_capture(capture: Capture, locator: Mapping[str, str]) -> Found:
    """A capture that was fetched again, as ``Refinding.again`` gives it. Raises PenmarkError where it has become unfit."""
    try:
        made = extract_page(capture, charset=locator.get("charset"))
    except Unfit as error:
        if error.kind == "digest":
            return Found(canonical_json.sha256(capture.body), date_stamp(capture.at), None, error.fact)
        raise PenmarkError(error.fact) from None
    here, there = prose.describe_extractor(), locator.get("extractor", "an extractor that the record does not name")
    if here != there:
        return Found(
            made.evidence_sha256,
            date_stamp(capture.at),
            None,
            f"its text was extracted by {there}; installed is {here}",
        )
    if "charset" not in locator and made.charset not in ("utf-8", "windows-1252"):
        remark = f"its record names no charset; it is read as {made.charset} here"
        return Found(made.evidence_sha256, date_stamp(capture.at), None, remark)
    return Found(made.evidence_sha256, date_stamp(capture.at), made.text.encode())


def date_stamp(stamp: str) -> str:
    """The date of a stamp: 2020-05-01."""
    return f"{stamp[:4]}-{stamp[4:6]}-{stamp[6:8]}"


def format_stamp(stamp: str) -> str:
    """A stamp as penmark writes times: 2020-05-01T12:00:00Z."""
    return f"{date_stamp(stamp)}T{stamp[8:10]}:{stamp[10:12]}:{stamp[12:14]}Z"


def parse_warc_time(text: str) -> str | None:
    """The stamp of a time as WARC files write it (2020-05-01T12:00:00Z, with or without a fraction); None for no time."""
    digits = re.fullmatch(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?Z", text)
    return "".join(digits.groups()) if digits is not None and is_real_stamp("".join(digits.groups())) else None


def is_real_stamp(stamp: str) -> bool:
    """True for fourteen digits that are a moment."""
    try:
        return STAMP.fullmatch(stamp) is not None and datetime.strptime(stamp, "%Y%m%d%H%M%S") is not None
    except ValueError:
        return False


_SAID = (("date", "its server's own clock said"), ("last-modified", "it was last modified on"))
_SKEW = timedelta(days=1)
"""What clocks and time zones may differ by."""


def _require_dates(capture: Capture) -> None:
    """Raises Unfit where the answer itself says that it is younger than its capture: one of the two dates is wrong."""
    taken = datetime.strptime(capture.at, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    for name, words in _SAID:
        for header in (f"x-archive-orig-{name}", *((name,) if capture.own_headers else ())):
            said = _find_moment(capture.headers.get(header, ""))
            if said is not None and said > taken + _SKEW:
                fact = f"says that it was captured on {date_stamp(capture.at)}, and {words} {said:%Y-%m-%d}"
                raise Unfit("contradicted", f"the capture {fact}")


def _find_moment(header: str) -> datetime | None:
    """The moment in a header; None where it holds none."""
    try:
        said = parsedate_to_datetime(header)
    except ValueError:
        return None
    return said.replace(tzinfo=UTC) if said.tzinfo is None else said


def _require_html(capture: Capture, page: bytes) -> None:
    for sign, kind in _SIGNS:
        if page.startswith(sign):
            raise Unfit(
                "pdf" if kind == "a PDF" else "format", f"the capture of {date_stamp(capture.at)} is {kind}, no page"
            )
    named = capture.headers.get("content-type", "text/html").partition(";")[0].strip().lower()
    if named == "application/pdf":
        raise Unfit("pdf", f"the capture of {date_stamp(capture.at)} is a PDF, no page")
    if named not in _HTML:
        raise Unfit("format", f"the capture of {date_stamp(capture.at)} is {named}, no page")
