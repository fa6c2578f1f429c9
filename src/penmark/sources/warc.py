"""The source ``warc``: pages in WARC files, selected by address, domain, date and language.

Options: ``path`` (a file, or a folder of ``*.warc`` and ``*.warc.gz``); ``archive`` (whose crawl it is); ``address``
(where that archive has the same files for everybody: without it the grade is ``stated``, since nobody else can look);
``domain`` (hosts, with their subdomains, ``;`` between them), ``url`` (how addresses begin), ``since``, ``before``
(2022-01-01), ``language``; ``omit`` (ids to leave out, ``;`` between them); any field of a document for all texts.
A page that is no HTML, no prose, of another language or a repetition is not selected, and counted in ``notes``; a
record that is cut, or has another digest than it says, is a fault.
*Reads* the files as a stream; ``again`` also over the network. *Writes* nothing.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from penmark.errors import Fault, FaultsError, PenmarkError, UsageError
from penmark.plugins import Draft, Found
from penmark.sources import captures, payloads, warc_files
from penmark.sources.asking import asker
from penmark.sources.captures import Capture, Unfit
from penmark.sources.mapping import FIELDS, Mapping, required_path
from penmark.sources.warc_files import Broken, Record, Wanted

CUTOFF = "2022-01-01"
_OWN = ("path", "archive", "address", "domain", "url", "since", "before", "omit", "contact", "pause")
_FAULTS = ("digest", "damaged")
_FIRST = 2**20
"""Bytes that are asked for to see one record; four times as many where it is longer."""


class Warc:
    """Pages in WARC files."""

    def __init__(self, options: dict[str, str]) -> None:
        self._options = options
        self._address = options.get("address", "").rstrip("/")
        self._constants = Mapping(options, own=_OWN).constants
        self._omitted = {name.strip() for name in options.get("omit", "").split(";") if name.strip() != ""}
        domains = tuple(d.strip().lower().lstrip(".") for d in options.get("domain", "").split(";") if d.strip() != "")
        since, before = _date(options, "since", "1990-01-01"), _date(options, "before", CUTOFF)
        self._wanted = Wanted(options.get("url", ""), domains, since, before)
        self.notes: list[str] = []

    def gather(self, arm_name: str) -> Iterator[Draft]:
        """A draft for each page that is selected. Raises FaultsError at the end."""
        path = required_path(self._options, "warc", "a WARC file, or a folder of them")
        if self._options.get("archive", "") == "":
            remedy = "Give archive=…, such as archive='Common Crawl, CC-MAIN-2020-16'."
            raise UsageError("the source warc needs the option `archive`: whose crawl the files are of", remedy=remedy)
        faults: list[Fault] = []
        left: collections.Counter[str] = collections.Counter()
        seen: dict[str, str] = {}
        unused = set(self._omitted)
        for file, name in _files(path):
            for item in warc_files.records(file, self._wanted):
                if isinstance(item, Broken):
                    faults.append(Fault(f"{file}: at byte {item.offset}", item.fact, _REMEDY))
                    continue
                unused.discard(item.name)
                if item.name in self._omitted:
                    continue
                made = self._draft(item, file, name, seen, left, faults)
                if made is not None:
                    yield made
        for name in sorted(unused):
            faults.append(Fault(str(path), f"omit={name}: no record that is selected has this id", "Take it out."))
        self.notes = [f"{number} records left out: {reason}" for reason, number in sorted(left.items())]
        if faults:
            raise FaultsError(faults)

    def again(self, locator: dict[str, str]) -> Found:
        """The same record, out of the file in ``path`` or from its address. Raises PenmarkError, ServiceError."""
        offset = locator.get("offset", "")
        if not (offset.isascii() and offset.isdigit() and len(offset) <= 15) or locator.get("file", "") == "":
            raise PenmarkError("its locator names no record", remedy="Take the record from where it was published.")
        if self._options.get("path", "") != "":
            record = warc_files.one(_inside(Path(self._options["path"]), locator["file"]), int(offset))
        else:
            record = self._over_the_network(locator, int(offset))
        if record is None or record.identity != locator.get("record"):
            fact = f"the record {locator.get('record')} does not stand at byte {offset} of {locator['file']}"
            raise PenmarkError(fact, remedy="Is it the same file?")
        return captures.found(_capture(record, {}), locator)

    def _over_the_network(self, locator: dict[str, str], offset: int) -> Record | None:
        if locator.get("address", "") != self._address or self._address == "":
            raise PenmarkError(
                f"lies in {locator['file']}, at {locator.get('address', 'no address that anybody knows')}",
                remedy="Give --path with that file, or --option address=… with that address, if you mean to ask there.",
            )
        asking, size = asker(self._options, (self._address,)), _FIRST
        while size <= payloads.MAX_PAGE:
            span = f"bytes={offset}-{offset + size - 1}"
            url = f"{self._address}/{locator['file']}"
            reply = asking.get(url, {"Range": span, "Accept-Encoding": "identity"})
            if reply.status != 206:
                remedy = "An archive that gives no parts of its files cannot be asked; fetch the file and give --path."
                raise PenmarkError(f"{url}: the archive answers with status {reply.status}", remedy=remedy)
            record = warc_files.first(reply.body)
            if record is not None or len(reply.body) < size:
                return record
            size *= 4
        return None

    def _draft(
        self,
        record: Record,
        file: Path,
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
            capture = _capture(record, where)
            made = captures.page(capture, self._constants.get("language"))
        except Unfit as error:
            if error.kind in _FAULTS:
                faults.append(Fault(place, error.fact, f"Take the file anew, or give omit={record.name}."))
            else:
                left[_REASONS[error.kind]] += 1
            return None
        seen[record.url] = place
        fields = {key: value for key, value in self._constants.items() if key in FIELDS and value != ""}
        given = {key: value for key, value in self._constants.items() if key not in FIELDS and value != ""}
        given |= {"archive": self._options["archive"], "grade": "archived" if self._address else "stated"}
        return captures.draft(capture, made, record.name, place, by="warc", fields=fields, given=given)


_REMEDY = "Take the file anew from where it came; what stands before and after this place was read."
_REASONS = {
    "redirect": "a redirect",
    "status": "an answer other than 200",
    "pdf": "a PDF",
    "format": "no HTML",
    "language": "in another language",
    "empty": "without prose",
}


def _capture(record: Record, locator: dict[str, str]) -> Capture:
    """The capture in a record. Raises Unfit where the record itself says that it is not whole."""
    if record.truncated is not None:
        raise Unfit("empty", f"its crawler cut it ({record.truncated})")
    where = locator | ({"digest": record.digest} if record.digest is not None else {})
    return Capture(record.url, record.at, record.status, record.headers, record.body, record.digest, where)


def _files(path: Path) -> list[tuple[Path, str]]:
    """The WARC files at a path, and what their locators call them. Raises UsageError where there is none."""
    if path.is_dir():
        found = sorted(p for p in path.rglob("*") if p.name.endswith((".warc", ".warc.gz")) and p.is_file())
        if found:
            return [(p, p.relative_to(path).as_posix()) for p in found]
        raise UsageError("holds no .warc or .warc.gz file", place=str(path), remedy="Correct the option `path`.")
    if not path.is_file():
        raise UsageError("there is no such file", place=str(path), remedy="Correct the option `path`.")
    return [(path, path.name)]


def _inside(path: Path, name: str) -> Path:
    if path.is_file():
        return path
    file = path / name
    if not file.resolve().is_relative_to(path.resolve()) or not file.is_file():
        raise PenmarkError(f"there is no file {name} in it", place=str(path), remedy="Put it there, or give --path.")
    return file


def _date(options: dict[str, str], name: str, usual: str) -> str:
    text = options.get(name, usual)
    try:
        if len(text) == 10:
            date.fromisoformat(text)
            return text
    except ValueError:
        pass
    raise UsageError(f"{name}={text} is not a date of the form 2022-01-01", remedy="Give one, or leave it out.")
