"""Records of WARC files: which are wanted is told by their own header; only those are read.

*Reads* a file as a stream, plain or gzip. *Writes* nothing. *Never* takes a record that is shorter than it says; never
stops at a broken place: it goes on at the next record, so that one pass finds everything.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from penmark.shipped.sources import captures, extra, payloads

_BLOCK = 2**20
_GZIP, _PLAIN = b"\x1f\x8b\x08", b"WARC/1."
_STATUS = re.compile(rb"HTTP/[0-9.]+ +([0-9]{3})(?: [^\r\n]*)?\r?\n")
_HEADER_END = re.compile(rb"\r?\n\r?\n")


class Seekable(Protocol):
    """A file that is open for reading, here or elsewhere."""

    def read(self, size: int = -1, /) -> bytes: ...
    def seek(self, offset: int, whence: int = 0, /) -> int: ...
    def tell(self) -> int: ...


class WantedPages(NamedTuple):
    """Which pages: how addresses begin, hosts (any, where none is named), the first date, and the first too late."""

    url: str
    domains: tuple[str, ...]
    since: str
    before: str


class WarcRecord(NamedTuple):
    """A ``response`` record. ``at``: as captures.STAMP; ``body``: as stored; ``truncated``: why its crawler cut it.

    ``digest``: of the payload, as stated; ``proven``: its bytes have a digest that it states, here or as a whole.
    """

    offset: int
    identity: str
    url: str
    at: str
    status: int
    headers: dict[str, str]
    body: bytes
    digest: str | None
    truncated: str | None
    proven: bool

    @property
    def name(self) -> str:
        """Its id as a document."""
        return self.identity.strip("<>").removeprefix("urn:uuid:").replace("/", "-")


class Broken(NamedTuple):
    """A place from which nothing can be taken, and why."""

    offset: int
    fact: str


class Said(NamedTuple):
    """What another record says: that this file was begun at ``at`` (``about`` is None), or that the record ``about`` was
    captured at ``at``. ``own``: its own date."""

    offset: int
    about: str | None
    at: str
    own: str


def read_warc_records(path: Path, wanted: WantedPages) -> Iterator[WarcRecord | Broken | Said]:
    """The records of a file that are wanted, and the broken places, in its order."""
    with path.open("rb") as file:
        yield from stream_warc_records(file, wanted)


def stream_warc_records(file: Seekable, wanted: WantedPages) -> Iterator[WarcRecord | Broken | Said]:
    """As ``read_warc_records``, of a file that is open for reading and seeking, here or elsewhere."""
    held: WarcRecord | None = None  # without a digest only what follows shows that a record was whole
    told = -1
    for item in _resume_records(file, wanted):
        if isinstance(item, Broken) and item.offset == told:
            continue  # once for each place
        told = item.offset if isinstance(item, Broken) else told
        if held is not None and isinstance(item, Broken):
            yield Broken(held.offset, "the record states no digest, and what follows it is broken: it may be cut")
        elif held is not None:
            yield held
        held = item if isinstance(item, WarcRecord) and not item.proven else None
        if held is None:
            yield item
    if held is not None:
        yield held


def read_record_at(path: Path, offset: int) -> WarcRecord | None:
    """The record that begins at a byte of a file; None where none does, or it is not whole."""
    with path.open("rb") as file:
        file.seek(offset)
        return _find_first(file)


def read_first_record(data: bytes) -> WarcRecord | None:
    """The record at the beginning of ``data``; None where there is none, or it is not whole."""
    return _find_first(io.BytesIO(data))


def _find_first(file: Seekable) -> WarcRecord | None:
    package = extra.load_extra("fastwarc.warc", "fastwarc")
    try:
        for record in package.ArchiveIterator(file, parse_http=False):
            item = _read_record(record, 0)
            return item if isinstance(item, WarcRecord) else None
    except OSError:
        pass  # no WARC file begins here
    return None


def _resume_records(file: Seekable, wanted: WantedPages) -> Iterator[WarcRecord | Broken | Said]:
    """As ``read_warc_records``, over all parts of a file: after a broken place it is read on from the next record."""
    magic = _GZIP if file.read(2) == _GZIP[:2] else _PLAIN
    start: int | None = 0
    while start is not None:
        file.seek(start)
        reached: list[Any] = [None]
        try:
            yield from _select_records(file, start, wanted, reached)
            if reached[0] is not None and not _is_ended(file, last := start + reached[0].stream_pos, magic):
                yield Broken(last, "the file is cut in the record that begins here, or behind it")
            return
        except OSError as error:
            last = start if reached[0] is None else start + reached[0].stream_pos
            if reached[0] is not None or start == 0:  # else it was no record that seemed to begin there
                yield Broken(last, f"the record that begins here, or the one behind it, is broken ({error})")
        start = _find_next(file, last + 1, magic)


def _select_records(
    file: Seekable, start: int, wanted: WantedPages, reached: list[Any]
) -> Iterator[WarcRecord | Broken | Said]:
    """The records that are wanted from a byte on. ``reached``: takes the last one that was seen."""
    package = extra.load_extra("fastwarc.warc", "fastwarc")
    fits = _make_address(wanted).match
    since, before = wanted.since.encode(), wanted.before.encode()
    kinds = package.WarcRecordType
    for record in package.ArchiveIterator(file, record_types=_make_kinds(kinds), parse_http=False):
        reached[0] = record
        if record.record_type != kinds.response:
            yield from _describe_result(record, start, record.record_type == kinds.warcinfo)
            continue
        url = record.headers.get_bytes(b"WARC-Target-URI")
        if url is None:
            yield Broken(start + record.stream_pos, "the record has no address: it is cut")
        elif fits(url) is not None and since <= record.headers.get_bytes(b"WARC-Date", b"") < before:
            yield _read_record(record, start)


def _make_kinds(kinds: Any) -> Any:
    """Pages, and the records that say of other records when they were made."""
    return kinds.response | kinds.warcinfo | kinds.revisit


def _describe_result(record: Any, start: int, begins: bool) -> Iterator[Said]:
    """What a ``warcinfo`` (``begins``) or a ``revisit`` record says of the dates of others."""
    headers, where = record.headers, start + record.stream_pos
    about = None if begins else headers.get("WARC-Refers-To")
    at = captures.parse_warc_time(headers.get("WARC-Date" if begins else "WARC-Refers-To-Date", ""))
    if at is not None and (begins or about is not None):
        yield Said(where, about, at, captures.parse_warc_time(headers.get("WARC-Date", "")) or at)


def _make_address(wanted: WantedPages) -> re.Pattern[bytes]:
    """What addresses begin like that are wanted: one expression, since it is asked of every record."""
    prefix = re.escape(wanted.url.encode())
    if not wanted.domains:
        return re.compile(b"<?" + prefix)
    hosts = b"|".join(re.escape(domain.encode()) for domain in wanted.domains)
    host = rb"(?i:[a-z]+://(?:[^/@]*@)?(?:[^/:@]*\.)?(?:" + hosts + rb")(?::[0-9]+)?(?=[/?#>]|$))"
    return re.compile(rb"<?(?=" + prefix + rb")" + host)


def _read_record(record: Any, start: int) -> WarcRecord | Broken:
    offset, size, headers = start + record.stream_pos, record.content_length, record.headers
    if size > payloads.MAX_PAGE:
        return Broken(offset, f"the record is larger than {payloads.MAX_PAGE} bytes")
    block = record.reader.read()
    if len(block) != size:
        return Broken(offset, f"the record is cut: it says {size} bytes, {len(block)} are there")
    at, identity = captures.parse_warc_time(headers.get("WARC-Date", "")), headers.get("WARC-Record-ID")
    url = headers.get("WARC-Target-URI", "").strip("<>")
    answer = _answer_block(block)
    if at is None or identity is None or answer is None:
        return Broken(offset, "the record lacks its time, its id, or an HTTP answer")
    digest, whole = headers.get("WARC-Payload-Digest"), headers.get("WARC-Block-Digest")
    if whole is not None:
        try:
            payloads.read_payload(block, {}, whole)
        except payloads.Damaged as error:
            return Broken(offset, str(error))
    proven = digest is not None or whole is not None
    return WarcRecord(offset, identity, url, at, *answer, digest, headers.get("WARC-Truncated"), proven)


def _answer_block(block: bytes) -> tuple[int, dict[str, str], bytes] | None:
    """Status, headers by lower-case name, and body of an HTTP answer; None where a block holds none."""
    status, end = _STATUS.match(block), _HEADER_END.search(block)
    if status is None or end is None:
        return None
    named = {}
    for line in block[status.end() : end.start()].decode("latin-1").splitlines():
        name, _, value = line.partition(":")
        named[name.strip().lower()] = value.strip()
    return int(status[1]), named, block[end.end() :]


def _is_ended(file: Seekable, start: int, magic: bytes) -> bool:
    """True where the records from ``start`` to the end of the file are whole."""
    if magic == _PLAIN:
        file.seek(0, io.SEEK_END)
        file.seek(max(0, file.tell() - 4))
        return file.read() == b"\r\n\r\n"
    file.seek(start)
    inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        while block := inflater.unused_data or file.read(_BLOCK):
            if inflater.eof:
                inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)
            while block and not inflater.eof:
                inflater.decompress(block, _BLOCK)
                block = inflater.unconsumed_tail
    except zlib.error:
        return False
    return inflater.eof


def _find_next(file: Seekable, start: int, magic: bytes) -> int | None:
    """Where the next record may begin."""
    file.seek(start)
    at, rest = start, b""
    while block := file.read(_BLOCK):
        found = (rest + block).find(magic)
        if found >= 0:
            return at - len(rest) + found
        rest, at = (rest + block)[-len(magic) + 1 :], at + len(block)
    return None
