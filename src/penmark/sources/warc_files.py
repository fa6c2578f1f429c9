"""Records of WARC files: which are wanted is told by their own header; only those are read.

*Reads* a file as a stream, plain or gzip. *Writes* nothing. *Never* takes a record that is shorter than it says; never
stops at a broken place: it goes on at the next record, so that one pass finds everything.
"""

from __future__ import annotations

import http.client
import io
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from penmark.sources import captures, extra
from penmark.sources.payloads import MAX_PAGE

_MAGIC = {True: b"\x1f\x8b\x08", False: b"WARC/1."}
_BLOCK = 2**20


class Wanted(NamedTuple):
    """Which pages: how their address begins, their hosts (all, where there is none), the first date and the first too late."""

    url: str
    domains: tuple[str, ...]
    since: str
    before: str


class Record(NamedTuple):
    """A ``response`` record. ``at``: as captures.STAMP; ``body``: as stored; ``truncated``: why its crawler cut it."""

    offset: int
    identity: str
    url: str
    at: str
    status: int
    headers: dict[str, str]
    body: bytes
    digest: str | None
    truncated: str | None

    @property
    def name(self) -> str:
        """Its id as a document."""
        return self.identity.strip("<>").removeprefix("urn:uuid:").replace("/", "-")

    @property
    def stated(self) -> dict[str, str]:
        """What a locator keeps of the digest."""
        return {} if self.digest is None else {"digest": self.digest}


class Broken(NamedTuple):
    """A place from which nothing can be taken, and why."""

    offset: int
    fact: str


def records(path: Path, wanted: Wanted) -> Iterator[Record | Broken]:
    """The records that are wanted, and the broken places, in the order of the file."""
    held: Record | None = None  # without a digest only what follows shows that a record was whole
    with path.open("rb") as file:
        for item in _resumed(file, wanted):
            if held is not None:
                sure = not isinstance(item, Broken)
                yield held if sure else Broken(held.offset, "the record has no digest, and is not followed by a record")
            held = None
            if isinstance(item, Record) and item.digest is None:
                held = item
            else:
                yield item
    if held is not None:
        yield held


def one(path: Path, offset: int) -> Record | None:
    """The record that begins at a byte of a file; None where none does, or it is not whole."""
    with path.open("rb") as file:
        file.seek(offset)
        return _first(file)


def first(data: bytes) -> Record | None:
    """The record at the beginning of ``data``; None where there is none, or it is not whole."""
    return _first(io.BytesIO(data))


def _first(file: IO[bytes]) -> Record | None:
    package = extra.load("fastwarc.warc", "fastwarc")
    try:
        for record in package.ArchiveIterator(file, parse_http=False):
            item = _read(record, 0)
            return item if isinstance(item, Record) else None
    except OSError:
        pass
    return None


def _resumed(file: IO[bytes], wanted: Wanted) -> Iterator[Record | Broken]:
    """All records of a file; after a broken place it is read on from the next record."""
    packed = file.read(2) == b"\x1f\x8b"
    start = 0
    while True:
        file.seek(start)
        reached = start
        try:
            for item in _selected(file, start, wanted):
                if isinstance(item, int):
                    reached = item
                else:
                    yield item
            return
        except OSError as error:
            yield Broken(reached, f"after the record that begins here the file cannot be read ({error})")
            following = _next(file, reached + 1, packed)
            if following is None:
                return
            start = following


def _selected(file: IO[bytes], start: int, wanted: Wanted) -> Iterator[Record | Broken | int]:
    """Records that are wanted, and the offset of each record before it is read."""
    package = extra.load("fastwarc.warc", "fastwarc")
    prefix, domains = wanted.url, wanted.domains
    since, before = wanted.since.encode(), wanted.before.encode()
    response = package.WarcRecordType.response
    for record in package.ArchiveIterator(file, record_types=response, parse_http=False):
        yield start + record.stream_pos
        headers = record.headers
        at = headers.get_bytes(b"WARC-Date", b"")
        if not since <= at < before:
            continue
        url = headers.get("WARC-Target-URI", "").strip("<>")
        if url.startswith(prefix) and (not domains or _host(url).endswith(domains) and _within(_host(url), domains)):
            yield _read(record, start)


def _read(record: Any, start: int) -> Record | Broken:
    offset, size = start + record.stream_pos, record.content_length
    if size > MAX_PAGE:
        return Broken(offset, f"the record is larger than {MAX_PAGE} bytes")
    block = record.reader.read()
    if len(block) != size:
        return Broken(offset, f"the record is cut: it says {size} bytes, {len(block)} are there")
    headers = record.headers
    at = captures.stamp(headers.get("WARC-Date", ""))
    try:
        answer = _Answer(block)
    except (http.client.HTTPException, ValueError) as error:
        return Broken(offset, f"the record holds no HTTP answer ({error})")
    identity, url = headers.get("WARC-Record-ID"), headers.get("WARC-Target-URI", "").strip("<>")
    if at is None or identity is None or url == "":
        return Broken(offset, "the record lacks its date, its id or its address")
    digest = headers.get("WARC-Payload-Digest")
    if digest is None and (whole := headers.get("WARC-Block-Digest")) is not None:
        ...
    return Record(
        offset, identity, url, at, answer.status, answer.headers, answer.body, digest, headers.get("WARC-Truncated")
    )
