"""A file in a bucket, read over the network part by part as if it lay here: `Distant`.

*Reads* the network, through ``asking``: one part at a time, as the archive wants to be asked. *Writes* nothing. *Never*
holds more than one part; never goes on where the file was changed between two parts.
"""

from __future__ import annotations

import io
import re

from penmark.errors import PenmarkError
from penmark.shipped.sources.polite_client import PoliteClient

PART = 16 * 2**20
"""Bytes that are asked for at once."""
_RANGE = re.compile(r"bytes (\d{1,15})-(\d{1,15})/(\d{1,15})")


class Distant(io.RawIOBase):
    """The file at ``url``, for reading and seeking. Raises PenmarkError where there is none, or it gives no parts of it,
    ServiceError where nobody answers."""

    def __init__(self, asking: PoliteClient, url: str) -> None:
        self.url = url
        self._asking = asking
        self._at = 0
        self._start, self._part = 0, b""
        self._size: int | None = None
        self._version: str | None = None

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move; from the end only once the size is known, so at least a byte is read for it."""
        if whence == io.SEEK_END and self._size is None:
            self._fetch(0)
        origin = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size or 0}[whence]
        self._at = max(0, origin + offset)
        return self._at

    def read(self, size: int = -1) -> bytes:
        """``size`` bytes, or all that follow; fewer only at the end of the file."""
        pieces, left = list[bytes](), size
        while left != 0 and (piece := self._encode_piece(left)):
            pieces.append(piece)
            left = left - len(piece) if left > 0 else left
        return b"".join(pieces)

    def _encode_piece(self, size: int) -> bytes:
        """What the part at hand has of it; a new part where it has nothing."""
        if self._size is not None and self._at >= self._size:
            return b""
        if not self._start <= self._at < self._start + len(self._part):
            self._fetch(self._at // PART * PART)
        behind = self._at - self._start
        given = self._part[behind:] if size < 0 else self._part[behind : behind + size]
        self._at += len(given)
        return given

    def _fetch(self, start: int) -> None:
        asked = {"Range": f"bytes={start}-{start + PART - 1}", "Accept-Encoding": "identity"}
        reply = self._asking.get(self.url, asked, limit=PART)
        if reply.status != 206:
            remedy = "Correct the list of files; a server that gives no parts of them cannot be read: fetch them first."
            raise PenmarkError(f"the archive answers with status {reply.status}", place=self.url, remedy=remedy)
        told = _RANGE.fullmatch(reply.headers.get("content-range", ""))
        version = reply.headers.get("etag")
        if told is None or int(told[1]) != start or int(told[2]) - start + 1 != len(reply.body):
            remedy = "Fetch the file with another program, and give its path."
            raise PenmarkError("the archive gives another part than the one asked for", place=self.url, remedy=remedy)
        if self._size is not None and (int(told[3]), version) != (self._size, self._version):
            raise PenmarkError("was changed while it was read", place=self.url, remedy="Collect from it again.")
        self._size, self._version = int(told[3]), version
        self._start, self._part = start, reply.body
