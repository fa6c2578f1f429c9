"""The source ``warc``: pages in WARC files, selected by address, domain, date and language.

Options: ``path`` (a file, a folder of ``*.warc`` and ``*.warc.gz``, or a list of files in a bucket: ``*.paths``,
``*.paths.gz``, a name a line); ``archive`` (whose crawl it is); ``address`` (where that archive has the files for
everybody, and where those of a list are read: without it the grade is ``stated``, since nobody else can look);
``domain`` (hosts, with their subdomains, ``;`` between them), ``url`` (how addresses begin), ``since``, ``before``
(2022-01-01), ``language``; ``omit`` (ids to leave out, ``;`` between them);
``charset`` (in which pages are read, whatever they declare); any field of a document for all texts.
A page that is no HTML, no prose, of another language or a repetition is not selected, and counted in ``notes``; a
record that is cut, or has another digest than it says, is a fault.
*Reads* the files as a stream, those of a list and those of ``again`` over the network. *Writes* nothing.
"""

from __future__ import annotations

import collections
import gzip
import re
import zlib
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from penmark.errors import Fault, FaultsError, PenmarkError, ServiceError, UsageError
from penmark.plugins import Draft, Found
from penmark.shipped.sources import captures, charsets, payloads, warc_files
from penmark.shipped.sources.bucket import Distant
from penmark.shipped.sources.captures import Capture, Unfit, Unfitness
from penmark.shipped.sources.column_mapping import FIELDS, ColumnMapping, require_path
from penmark.shipped.sources.polite_client import make_polite_client
from penmark.shipped.sources.warc_dates import Dates
from penmark.shipped.sources.warc_files import Broken, Said, WantedPages, WarcRecord

CUTOFF = "2022-01-01"
_OWN = ("path", "archive", "address", "domain", "url", "since", "before", "omit", "contact", "pause", "charset")
_FAULTS = ("digest", "damaged")
_NAME = re.compile(r"[A-Za-z0-9_.=+-]+(/[A-Za-z0-9_.=+-]+)*")
_FIRST = 2**20
"""Bytes that are asked for to see one record; four times as many where it is longer."""


class Warc:
    """Pages in WARC files."""

    def __init__(self, options: dict[str, str]) -> None:
        self._options = options
        self._address = options.get("address", "").rstrip("/")
        self._constants = ColumnMapping(options, own=_OWN).constants
        self._omitted = {name.strip() for name in options.get("omit", "").split(";") if name.strip() != ""}
        domains = tuple(d.strip().lower().lstrip(".") for d in options.get("domain", "").split(";") if d.strip() != "")
        since, before = _date_options(options, "since", "1990-01-01"), _date_options(options, "before", CUTOFF)
        self._wanted = WantedPages(options.get("url", ""), domains, since, before)
        self._charset = charsets.check(options["charset"]) if options.get("charset", "") != "" else None
        self._lost: collections.Counter[str] = collections.Counter()
        self._named: list[str] = []
        self._dates = Dates()
        self.notes: list[str] = []

    def gather(self, arm_name: str) -> Iterator[Draft]:
        """A draft for each page that is selected. Raises FaultsError at the end."""
        path = require_path(self._options, "warc", "a WARC file, a folder of them, or a list")
        if self._options.get("archive", "") == "":
            remedy = "Give archive=…, such as archive='Common Crawl, CC-MAIN-2020-16'."
            raise UsageError("the source warc needs the option `archive`: whose crawl the files are of", remedy=remedy)
        faults: list[Fault] = []
        left: collections.Counter[str] = collections.Counter()
        seen: dict[str, str] = {}
        unused = set(self._omitted)
        for file, name, records in self._read(path, faults):
            for item in records:
                if isinstance(item, Said):
                    self._dates.hear(item)
                    continue
                if isinstance(item, Broken):
                    faults.append(Fault(f"{file}: at byte {item.offset}", item.fact, _REMEDY))
                    continue
                unused.discard(item.name)
                if item.name in self._omitted:
                    continue
                if (fact := self._dates.later(item)) is not None:
                    self._leave("contradicted", item, fact, left)
                    continue
                made = self._draft(item, file, name, seen, left, faults)
                if made is not None:
                    yield made
            faults.extend(self._dates.contradictions(file))
        for name in sorted(unused):
            faults.append(Fault(str(path), f"omit={name}: no record that is selected has this id", "Take it out."))
        self.notes = [f"{number} records left out: {reason}" for reason, number in sorted(left.items())] + self._told()
        if faults:
            raise FaultsError(faults)

    def again(self, locator: dict[str, str]) -> Found:
        """The same record, out of the file in ``path`` or from its address. Raises PenmarkError, ServiceError."""
        offset = locator.get("offset", "")
        if not (offset.isascii() and offset.isdigit() and len(offset) <= 15) or locator.get("file", "") == "":
            raise PenmarkError("its locator names no record", remedy="Take the record from where it was published.")
        if self._options.get("path", "") != "" and not _is_list(Path(self._options["path"])):
            record = warc_files.read_record_at(
                _locate_inside(Path(self._options["path"]), locator["file"]), int(offset)
            )
        else:
            record = self._over_the_network(locator, int(offset))
        if record is None or record.identity != locator.get("record"):
            fact = f"the record {locator.get('record')} does not stand at byte {offset} of {locator['file']}"
            raise PenmarkError(fact, remedy="Is it the same file?")
        return captures.make_found_capture(_capture_record(record, {}), locator)

    def _leave(self, kind: Unfitness, record: WarcRecord, fact: str, left: collections.Counter[str]) -> None:
        left[_REASONS[kind]] += 1
        if kind in _NAMED:
            self._named.append(f"left out: {record.name} ({record.url}): {fact}")

    def _told(self) -> list[str]:
        """What is told of single records: pages that are no texts, dates that contradict each other, lost characters."""
        lost = [f"{number} U+FFFD for what is no character: {name}" for name, number in self._lost.items()]
        return [line for lines in (self._named, lost) for line in _find_first(lines)]

    def _read(self, path: Path, faults: list[Fault]) -> Iterator[tuple[str, str, Iterator[WarcRecord | Broken | Said]]]:
        """Each file: where it lies, what its locators call it, and what it holds."""
        if not _is_list(path):
            for file, name in _list_files(path):
                yield str(file), name, warc_files.read_warc_records(file, self._wanted)
            return
        if self._address == "":
            raise UsageError(
                f"{path.name} lists files in a bucket, and nothing says where it is",
                remedy="Give address=…, such as address=https://data.commoncrawl.org.",
            )
        asking = make_polite_client(self._options, (self._address,))
        for name in _list_items(path):
            distant = Distant(asking, f"{self._address}/{name}")
            yield distant.url, name, self._list_distant(distant, faults)

    def _list_distant(self, file: Distant, faults: list[Fault]) -> Iterator[WarcRecord | Broken | Said]:
        """The records of a file in a bucket; one that is not there is a fault, and the others are read."""
        try:
            yield from warc_files.stream_warc_records(file, self._wanted)
        except ServiceError:
            raise
        except PenmarkError as error:
            faults.extend(error.faults)

    def _over_the_network(self, locator: dict[str, str], offset: int) -> WarcRecord | None:
        if locator.get("address", "") != self._address or self._address == "":
            raise PenmarkError(
                f"lies in {locator['file']}, at {locator.get('address', 'no address that anybody knows')}",
                remedy="Give --path with that file, or --option address=… with that address, if you mean to ask there.",
            )
        asking, size = make_polite_client(self._options, (self._address,)), _FIRST
        while size <= payloads.MAX_PAGE:
            span = f"bytes={offset}-{offset + size - 1}"
            url = f"{self._address}/{locator['file']}"
            reply = asking.get(url, {"Range": span, "Accept-Encoding": "identity"})
            if reply.status != 206:
                remedy = "An archive that gives no parts of its files cannot be asked; fetch the file and give --path."
                raise PenmarkError(f"{url}: the archive answers with status {reply.status}", remedy=remedy)
            record = warc_files.read_first_record(reply.body)
            if record is not None or len(reply.body) < size:
                return record
            size *= 4
        return None

    def _draft(
        self,
        record: WarcRecord,
        file: str,
        name: str,
        seen: dict[str, str],
        left: collections.Counter[str],
        faults: list[Fault],
    ) -> Draft | None:
        if record.url in seen:
            left["another capture of an address that is there"] += 1
            return None
        where = {"file": name, "offset": str(record.offset), "record": record.identity, "url": record.url}
        where |= {"address": self._address} if self._address else {}
        place = f"{file}: record {record.name} at byte {record.offset}"
        try:
            capture = _capture_record(record, where)
            made = captures.extract_page(capture, self._constants.get("language"), self._charset)
        except Unfit as error:
            if error.kind in _FAULTS:
                faults.append(Fault(place, error.fact, f"Take the file anew, or give omit={record.name}."))
            else:
                self._leave(error.kind, record, error.fact, left)
            return None
        seen[record.url] = place
        if made.lost:
            self._lost[f"{record.name} ({record.url})"] = made.lost
        fields = {key: value for key, value in self._constants.items() if key in FIELDS and value != ""}
        given = {key: value for key, value in self._constants.items() if key not in FIELDS and value != ""}
        given |= {"archive": self._options["archive"], "grade": "archived" if self._address else "stated"}
        return captures.make_page_draft(capture, made, record.name, place, by="warc", fields=fields, given=given)


_REMEDY = "Take the file anew from where it came; what stands before and after this place was read."
_REASONS = {
    "redirect": "a redirect",
    "status": "an answer other than 200",
    "pdf": "a PDF",
    "format": "no HTML",
    "language": "in another language",
    "empty": "without prose",
    "contradicted": "dates that contradict each other",
    "wall": "a page that stands where a text should",
}
_NAMED = ("contradicted", "wall")
_MOST = 50
"""Records that are named one by one."""


def _capture_record(record: WarcRecord, locator: dict[str, str]) -> Capture:
    """The capture in a record. Raises Unfit where the record itself says that it is not whole."""
    if record.truncated is not None:
        raise Unfit("empty", f"its crawler cut it ({record.truncated})")
    where = locator | ({"digest": record.digest} if record.digest is not None else {})
    return Capture(record.url, record.at, record.status, record.headers, record.body, record.digest, where)


def _find_first(lines: list[str]) -> list[str]:
    return lines if len(lines) <= _MOST else [*lines[:_MOST], f"… and {len(lines) - _MOST} more like it"]


def _list_files(path: Path) -> list[tuple[Path, str]]:
    """The WARC files at a path, and what their locators call them. Raises UsageError where there is none."""
    if path.is_dir():
        found = sorted(p for p in path.rglob("*") if p.name.endswith((".warc", ".warc.gz")) and p.is_file())
        if found:
            return [(p, p.relative_to(path).as_posix()) for p in found]
        raise UsageError("holds no .warc or .warc.gz file", place=str(path), remedy="Correct the option `path`.")
    if not path.is_file():
        raise UsageError("there is no such file", place=str(path), remedy="Correct the option `path`.")
    return [(path, path.name)]


def _is_list(path: Path) -> bool:
    return path.name.endswith((".paths", ".paths.gz")) and not path.is_dir()


def _list_items(path: Path) -> list[str]:
    """The names in a list of files. Raises UsageError where it cannot be read, or a line is no plain name."""
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw).decode("ascii")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        remedy = "Give a list of files, a name a line, as crawls publish it."
        raise UsageError(f"cannot be read as a list of files ({error})", place=str(path), remedy=remedy) from None
    names = [line.strip() for line in text.splitlines() if line.strip() != ""]
    for name in names:
        if _NAME.fullmatch(name) is None or ".." in name.split("/"):
            raise UsageError(f"{name!r} is no name of a file", place=str(path), remedy="Correct the list.")
    if not names:
        raise UsageError("lists no files", place=str(path), remedy="Give a list of files, a name a line.")
    return list(dict.fromkeys(names))


def _locate_inside(path: Path, name: str) -> Path:
    if path.is_file():
        return path
    file = path / name
    if not file.resolve().is_relative_to(path.resolve()) or not file.is_file():
        raise PenmarkError(f"there is no file {name} in it", place=str(path), remedy="Put it there, or give --path.")
    return file


def _date_options(options: dict[str, str], name: str, usual: str) -> str:
    text = options.get(name, usual)
    try:
        if len(text) == 10:
            date.fromisoformat(text)
            return text
    except ValueError:
        pass
    raise UsageError(f"{name}={text} is not a date of the form 2022-01-01", remedy="Give one, or leave it out.")
