"""The source ``web-archive``: pages as a public web archive kept them, found by their addresses.

Options: ``path`` (a list of addresses, one a line, or a table with a column ``url`` and any field of a document; a
column ``timestamp`` names one capture); ``contact`` (who you are, for the archive); ``before`` (2022-01-01);
``language`` (that the text must be in; also a column); ``index``, ``replay``, ``archive`` (the archive's addresses and
name: the Wayback Machine); ``charset`` (in which pages are read, whatever they declare);
``pause`` (seconds between requests: 3); columns and constants as in ``mapping``.
For each address the oldest capture is taken that is a page, has the digest that the index says, and holds prose.
*Reads* the list, and the archive over the network. *Writes* nothing. *Never* takes a capture of ``before`` or later.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from urllib.parse import quote, urlsplit

from penmark.errors import Fault, FaultsError, PenmarkError, UsageError
from penmark.plugins import Draft, Found
from penmark.shipped.sources import captures, cdx, charsets
from penmark.shipped.sources.captures import Capture, Page, Unfit
from penmark.shipped.sources.column_mapping import FIELDS, require_path
from penmark.shipped.sources.column_mapping import ColumnMapping as Columns
from penmark.shipped.sources.polite_client import ArchiveReply, PoliteClient, make_polite_client
from penmark.shipped.sources.table_rows import TableRow, read_table_rows

INDEX, REPLAY = "https://web.archive.org/cdx/search/cdx", "https://web.archive.org/web"
ARCHIVE = "Internet Archive, Wayback Machine"
CUTOFF = "2022-01-01"
TRIES = 3
"""Captures of an address that are fetched before it is given up."""
_OWN = ("path", "contact", "pause", "before", "index", "replay", "archive", "charset")
_REVISIT = "warc/revisit"


class WebArchive:
    """Pages by their addresses."""

    def __init__(self, options: dict[str, str]) -> None:
        self._options = options
        self._index, self._replay = options.get("index", INDEX), options.get("replay", REPLAY).rstrip("/")
        self._archive = options.get("archive", ARCHIVE if self._replay == REPLAY else self._replay)
        self._last = _day_before(options.get("before", CUTOFF))
        self._columns = Columns(options, own=_OWN)
        self._charset = charsets.check(options["charset"]) if options.get("charset", "") != "" else None
        self._asker: PoliteClient = make_polite_client(options, (self._index, self._replay))

    def gather(self, arm_name: str) -> Iterator[Draft]:
        """A draft for each address. Raises FaultsError at the end, ServiceError where the archive does not answer."""
        path = require_path(self._options, "web-archive", "the list of addresses")
        faults: list[Fault] = []
        seen: dict[str, str] = {}
        for row, values in self._columns.chosen(_list_addresses(path, faults)):
            url = values.get("url", "").strip()
            fact = _explain_refusal(url) if url not in seen else f"{url} is already at {seen[url]}"
            seen[url] = row.place
            if fact is not None:
                faults.append(Fault(row.place, fact, "Give each address once, as https://…"))
                continue
            try:
                yield self._make_one(url, values, row.place)
            except Unfit as error:
                remedy = "Leave the address out, or name another capture of it in a column `timestamp`."
                faults.append(Fault(row.place, f"{url}: {error.fact}", remedy))
        if faults:
            raise FaultsError(faults)

    def again(self, locator: dict[str, str]) -> Found:
        """The same capture, fetched once more. Raises PenmarkError, ServiceError."""
        if locator.get("replay") != self._replay:
            raise PenmarkError(
                f"was fetched from {locator.get('replay')}, and {self._replay} is asked now",
                remedy=f"Give --option replay={locator.get('replay')}, if you mean to ask there.",
            )
        url, at = locator.get("url", ""), locator.get("timestamp", "")
        if _explain_refusal(url) is not None or not captures.is_real_stamp(at):
            raise PenmarkError("its locator names no capture", remedy="Take the record from where it was published.")
        try:
            return captures.make_found_capture(self._fetch_file(url, at, locator.get("digest", "")), locator)
        except Unfit as error:
            raise PenmarkError(error.fact) from None

    def _make_one(self, url: str, values: Mapping[str, str], place: str) -> Draft:
        tried: list[str] = []
        language = values.get("language") or None
        for one in self._list_candidates(url, values.get("timestamp", "")):
            try:
                capture = self._fetch_file(one.url, one.at, one.digest)
                return self._draft(url, capture, captures.extract_page(capture, language, self._charset), values, place)
            except Unfit as error:
                tried.append(error.fact)
                kind = error.kind
            if kind == "language" or len(tried) == TRIES:
                break
        raise Unfit(kind, "; ".join(tried))

    def _list_candidates(self, url: str, named: str) -> list[cdx.Listed]:
        """The captures that can be taken, the oldest first, each content once. Raises Unfit, saying why there is none."""
        if named != "" and (not captures.is_real_stamp(named) or named > self._last):
            raise Unfit("status", f"timestamp {named} is no time of the form 20200501120000 up to {self._last}")
        asked = cdx.make_cdx_query(self._index, url, named or "19960101000000", named or self._last)
        reply = self._asker.get(asked)
        known = cdx.parse_cdx_answer(reply.body, asked) if reply.status == 200 else []
        known = [one for one in known if (named or "0") <= one.at <= (named or self._last)]
        if not known:
            what = f"no capture of {named}" if named else f"no capture up to {captures.date_stamp(self._last)}"
            answered = "" if reply.status in (200, 404) else f" (the index answered with status {reply.status})"
            raise Unfit("status", f"{self._archive} has {what}{answered}")
        pages = [one for one in known if one.status == 200 and "html" in one.mime]
        if pages:
            return list({one.digest: one for one in reversed(pages)}.values())[::-1]
        raise self._none(known)

    def _none(self, known: list[cdx.Listed]) -> Unfit:
        """Why none of the captures is a page: the first of them speaks for all."""
        one = next((each for each in known if each.mime != _REVISIT), known[0])
        number = f"none of {len(known)} captures is a page" if len(known) > 1 else "the only capture is no page"
        what = f"{number}; the first, of {captures.date_stamp(one.at)}, is "
        if one.status is not None and 300 <= one.status < 400:
            return Unfit("redirect", f"{what}a redirect")
        if one.status not in (200, None):
            return Unfit("status", f"{what}an answer with status {one.status}")
        return Unfit("pdf" if one.mime == "application/pdf" else "format", what + one.mime)

    def _fetch_file(self, url: str, at: str, digest: str) -> Capture:
        reply = self._asker.get(f"{self._replay}/{at}id_/{quote(url, safe=_URL)}")
        locator = {"url": url, "timestamp": at, "digest": digest, "replay": self._replay}
        other = _explain_elsewhere(reply, at)
        if other is not None:
            raise Unfit("redirect", f"the archive answers for {captures.date_stamp(at)} with another capture{other}")
        if reply.status != 200:
            raise Unfit("status", f"the archive answers for {captures.date_stamp(at)} with status {reply.status}")
        return Capture(url, at, reply.status, reply.headers, reply.body, digest or None, locator, own_headers=False)

    def _draft(self, url: str, capture: Capture, made: Page, values: Mapping[str, str], place: str) -> Draft:
        fields = {name: values[name] for name in FIELDS if values.get(name, "") != ""}
        other = {"id", "url", "timestamp", "source", *FIELDS}
        given = {"grade": "archived", "archive": self._archive}
        given |= {name: value for name, value in values.items() if name not in other and value != ""}
        name = values.get("id") or make_page_id(url)
        return captures.make_page_draft(capture, made, name, place, by="web-archive", fields=fields, given=given)


_URL = ":/?#[]@!$&'()*+,;=%~"


def _explain_elsewhere(reply: ArchiveReply, at: str) -> str | None:
    """The date of the capture that was given instead of the one asked for, in words; None where it is that one."""
    if 300 <= reply.status < 400:
        there = re.search(r"/([0-9]{14})", reply.headers.get("location", ""))
        return f", of {captures.date_stamp(there[1])}" if there is not None else ""
    try:
        given = parsedate_to_datetime(reply.headers.get("memento-datetime", ""))
    except ValueError:
        return None  # not every archive says it
    return None if f"{given.astimezone(UTC):%Y%m%d%H%M%S}" == at else f", of {given:%Y-%m-%d}"


def make_page_id(url: str) -> str:
    """An id for a page whose list gives it none: its host, and twelve digits of the SHA-256 of its address."""
    return f"{urlsplit(url).hostname}-{hashlib.sha256(url.encode()).hexdigest()[:12]}"


def _list_addresses(path: Path, faults: list[Fault]) -> Iterator[TableRow]:
    if path.suffix.lower() not in (".txt", ""):
        yield from read_table_rows(path, faults)
        return
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        faults.append(Fault(str(path), f"cannot be read: {error}", "Give a UTF-8 file with one address a line."))
        return
    for number, line in enumerate(lines, 1):
        if line.strip() != "" and not line.startswith("#"):
            yield TableRow(f"{path}:{number}", {"url": line.strip()})


def _explain_refusal(url: str) -> str | None:
    try:
        parts = urlsplit(url)
        whole = parts.scheme in ("http", "https") and parts.hostname is not None
    except ValueError:
        whole = False
    if not whole or any(c.isspace() or not c.isprintable() for c in url):
        return f"{url!r} is no address of a page" if url else "no address: a column `url` holds it"
    return None


def _day_before(text: str) -> str:
    """The last second before a date, as a stamp."""
    try:
        if len(text) == 10:
            return f"{date.fromisoformat(text) - timedelta(days=1):%Y%m%d}235959"
    except ValueError:
        pass
    raise UsageError(f"before={text} is not a date of the form 2022-01-01", remedy="Give one, or leave it out.")
