"""The source ``release``: texts inside a released file (wheel, sdist, ZIP, tar), as its publisher's registry keeps it.

Options: ``path`` (the file); ``files`` (patterns, as for ``git``); ``archive`` (who keeps the file and its date: a
registry, a deposit with a DOI); ``released_on`` (the date that they keep); ``sha256`` (the digest that they state);
``address`` (where anyone gets the file); ``licence``; ``prefix`` (of the ids); any field of a document.
With ``archive`` and ``released_on`` the grade is ``released``. Dates inside the file are its maker's word: without a
registry's date the newest of them counts, with the grade ``stated``; one that is newer than the release is a fault.
*Reads* the file; ``again`` also over the network. *Writes* nothing, unpacks nothing to the disk.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
import zipfile
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import NamedTuple

from penmark.errors import Fault, FaultsError, PenmarkError, UsageError
from penmark.plugins import Draft, Found
from penmark.shipped.sources.column_mapping import FIELDS, MAX_TEXT, ColumnMapping, require_path
from penmark.shipped.sources.path_patterns import Patterns
from penmark.shipped.sources.polite_client import make_polite_client
from penmark.shipped.sources.unreadable import explain_unreadable

MAX_RELEASE = 512 * 2**20
"""No released file is larger than this (bytes)."""
MAX_EXPANDED = 4 * 2**30
"""No member of it is, whether it is named or not."""
_OWN = ("path", "files", "archive", "released_on", "sha256", "address", "prefix", "contact", "pause")
_UNSET = date(1980, 1, 1)
"""What builds write that leave dates out, so that they can be repeated; ZIP has nothing older."""


class Member(NamedTuple):
    """A file inside: its name, the date that it says (None where it says none), and its bytes or why there are none."""

    name: str
    on: date | None
    raw: bytes | None
    fact: str = ""


class Release:
    """Texts in a released file."""

    def __init__(self, options: dict[str, str]) -> None:
        self._options = options
        self._constants = ColumnMapping(options, own=_OWN).constants
        self._patterns = Patterns(options.get("files", "**/*.txt;**/*.md;**/*.rst"))
        self._kept: tuple[bytes, str] | None = None
        self._on = _date_text(options.get("released_on", ""))
        if self._on is not None and options.get("archive", "") == "":
            raise UsageError("released_on needs the option `archive`: who keeps that date", remedy="Give archive=….")

    def gather(self, arm_name: str) -> Iterator[Draft]:
        """A draft for each member that the patterns name. Raises FaultsError at the end."""
        path = require_path(self._options, "release", "the released file")
        raw, digest = self._file(path)
        faults: list[Fault] = []
        chosen = [one for one in list_members(raw, str(path), self._patterns) if self._sound(one, path, faults)]
        dates = [one.on for one in chosen if one.on is not None]
        on = self._on if self._on is not None else max(dates, default=None)
        if not chosen and not faults:
            remedy = f"Give files=… with patterns that fit; it was {self._patterns}."
            faults.append(Fault(str(path), "no member of it is named", remedy))
        elif on is None and chosen:
            fact = "none of its members has a date, and no registry's date is given"
            faults.append(Fault(str(path), fact, "Give released_on=YYYY-MM-DD and archive=…, who keeps that date."))
        if on is not None:
            for one in chosen:
                yield self._draft(one, path, digest, on)
        if faults:
            raise FaultsError(faults)

    def again(self, locator: dict[str, str]) -> Found:
        """The same member of the same file, at ``path`` or at ``address``. Raises PenmarkError, ServiceError."""
        if self._kept is None:
            self._kept = self._fetch_file(locator)
        raw, digest = self._kept
        wanted = locator.get("member", "")
        for one in list_members(raw, locator.get("file", "the file"), self._patterns, only=wanted):
            if one.raw is not None:
                return Found(digest, locator.get("released_on", ""), one.raw)
        raise PenmarkError(f"holds no member {wanted}", place=locator.get("file", ""), remedy="Is it the same file?")

    def _fetch_file(self, locator: dict[str, str]) -> tuple[bytes, str]:
        if self._options.get("path", "") != "":
            return self._file(Path(self._options["path"]))
        address = self._options.get("address", "")
        if address == "" or address != locator.get("address"):
            where = locator.get("address", "no address that anybody knows")
            raise PenmarkError(
                f"lies in {locator.get('file')}, at {where}",
                remedy="Give --path with that file, or --option address=… with that address, if you mean to ask there.",
            )
        asked = make_polite_client(self._options, (address,)).get(
            address, {"Accept-Encoding": "identity"}, limit=MAX_RELEASE
        )
        if asked.status != 200:
            raise PenmarkError(f"{address} answers with status {asked.status}", remedy="Fetch the file, give --path.")
        return asked.body, hashlib.sha256(asked.body).hexdigest()

    def _file(self, path: Path) -> tuple[bytes, str]:
        if not path.is_file():
            raise UsageError("there is no such file", place=str(path), remedy="Correct the option `path`.")
        if path.stat().st_size > MAX_RELEASE:
            raise UsageError(f"is larger than {MAX_RELEASE} bytes", place=str(path), remedy="Is it one release?")
        raw = path.read_bytes()
        digest = hashlib.sha256(raw).hexdigest()
        if self._options.get("sha256", digest) != digest:
            raise PenmarkError(
                f"has the SHA-256 {digest}, not {self._options['sha256']}",
                place=str(path),
                remedy="It is another file than the one that was released: fetch it again.",
            )
        return raw, digest

    def _sound(self, one: Member, path: Path, faults: list[Fault]) -> bool:
        place, before = f"{path}: {one.name}", len(faults)
        if one.raw is None:
            faults.append(Fault(place, one.fact, "Leave it out by the patterns in files=…"))
        elif (refused := explain_unreadable(one.raw)) is not None:
            faults.append(Fault(place, *refused))
        if self._on is not None and one.on is not None and one.on > self._on:
            fact = f"says that it was changed on {one.on}, after the release of {self._on}"
            faults.append(Fault(place, fact, "One of the two dates is wrong: look at the registry's."))
        return len(faults) == before

    def _draft(self, one: Member, path: Path, digest: str, on: date) -> Draft:
        locator = {"by": "release", "file": path.name, "member": one.name, "released_on": on.isoformat()}
        locator |= {"address": self._options["address"]} if self._options.get("address", "") != "" else {}
        locator |= {"member_date": one.on.isoformat()} if one.on is not None else {}
        provenance = {
            "kind": "archive",
            "grade": "released" if self._on is not None else "stated",
            "source": f"{path.name}: {one.name}",
            "archive": self._options.get("archive") or "a file whose registry is not named",
            "evidence_date": on.isoformat(),
            "evidence_sha256": digest,
        }
        provenance |= {name: value for name, value in self._constants.items() if name not in FIELDS and value != ""}
        fields = {name: value for name, value in self._constants.items() if name in FIELDS and value != ""}
        name = self._options.get("prefix", "") + one.name.replace("/", ":")
        given = provenance | {f"locator.{key}": value for key, value in locator.items()}
        return Draft(name, one.raw or b"", f"{path}: {one.name}", fields, given)


def list_members(raw: bytes, place: str, patterns: Patterns, only: str | None = None) -> Iterator[Member]:
    """The members of a ZIP or tar file that are named, in its order. Raises PenmarkError for another kind of file."""
    try:
        if zipfile.is_zipfile(io.BytesIO(raw)):
            yield from _list_zip(raw, patterns, only)
        else:
            yield from _list_tar(raw, patterns, only)
    except (zipfile.BadZipFile, tarfile.TarError, OSError, EOFError, NotImplementedError) as error:
        remedy = "Fetch it again; wheels, sdists, ZIP and tar files are read."
        raise PenmarkError(f"cannot be read as a released file ({error})", place=place, remedy=remedy) from None


def _list_zip(raw: bytes, patterns: Patterns, only: str | None) -> Iterator[Member]:
    with zipfile.ZipFile(io.BytesIO(raw)) as packed:
        for info in packed.infolist():
            if info.is_dir() or (not patterns.fit(info.filename) if only is None else info.filename != only):
                continue
            try:
                on = date(*info.date_time[:3])
            except ValueError:
                on = None
            on = on if on is not None and on > _UNSET else None
            if info.flag_bits & 1:
                yield Member(info.filename, on, None, "is encrypted")
            elif info.file_size > MAX_TEXT:
                yield Member(info.filename, on, None, f"is larger than {MAX_TEXT} bytes")
            else:
                yield Member(info.filename, on, packed.read(info))  # checks its sum


def _list_tar(raw: bytes, patterns: Patterns, only: str | None) -> Iterator[Member]:
    with tarfile.open(fileobj=io.BytesIO(raw), mode="r:*") as packed:
        for info in packed:
            if info.size > MAX_EXPANDED:
                raise tarfile.TarError(f"{info.name} is larger than {MAX_EXPANDED} bytes")
            if not info.isreg() or (not patterns.fit(info.name) if only is None else info.name != only):
                continue
            try:
                on = datetime.fromtimestamp(info.mtime, UTC).date()
            except (ValueError, OverflowError, OSError):
                on = None
            on = on if on is not None and on > _UNSET else None
            part = packed.extractfile(info)
            if part is None or info.size > MAX_TEXT:
                yield Member(info.name, on, None, f"is larger than {MAX_TEXT} bytes")
            else:
                yield Member(info.name, on, part.read())


def _date_text(text: str) -> date | None:
    if text == "":
        return None
    try:
        if len(text) == 10:
            return date.fromisoformat(text)
    except ValueError:
        pass
    raise UsageError(f"released_on={text} is not a date of the form 2021-12-31", remedy="Correct it.")
