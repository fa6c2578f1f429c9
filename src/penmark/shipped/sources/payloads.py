"""What an HTTP answer carried: its body as stored, without chunks, unpacked; and which of these an archive's digest is of.

Archives store bodies as they came, or unpacked, and their digests follow what they stored; a replay may pack them anew.
*Reads* and *writes* nothing. *Never* unpacks without a limit.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import zlib
from collections.abc import Mapping
from typing import NamedTuple

MAX_PAGE = 32 * 2**20
"""No page is larger than this, packed or unpacked (bytes)."""
_STATED = re.compile(
    r"(?:(sha-?1|sha-?256):)?([0-9A-Za-z]{32}|[0-9A-Fa-f]{40}|[0-9A-Za-z]{52}=*|[0-9A-Fa-f]{64})", re.I
)
_ALGORITHMS = {20: hashlib.sha1, 32: hashlib.sha256}


class Payload(NamedTuple):
    """``kept``: the bytes that the archive's digest is of (the stored ones, where it states none); ``page``: unpacked."""

    kept: bytes
    page: bytes


class Damaged(Exception):  # noqa: N818 - a finding about a payload, told with its place by who knows it
    """A payload that cannot be taken as it is, in words."""


class WrongDigest(Damaged):
    """A payload of which no form has the digest that the archive states."""


def read_payload(stored: bytes, headers: Mapping[str, str], digest: str | None) -> Payload:
    """The payload of an answer. ``headers``: by lower-case name. ``digest``: SHA-1 or SHA-256, base32 or hexadecimal.

    Raises Damaged where it cannot be unpacked or is too large, WrongDigest where the digest is of none of its forms.
    """
    forms = [stored]
    if (
        headers.get("transfer-encoding", "").strip().lower() == "chunked"
        and (whole := _remove_chunks(stored)) is not None
    ):
        forms.append(whole)
    damage: Damaged | None = None
    try:
        forms.append(_unpack_body(forms[-1], headers.get("content-encoding", "")))
    except Damaged as error:
        damage = error  # a page cut by its archive is told as that only where its digest is right
    if digest is None:
        kept: bytes | None = stored
    else:
        wanted = _list_wanted(digest)
        kept = next((form for form in forms if _ALGORITHMS[len(wanted)](form).digest() == wanted), None)
    if kept is None:
        found = base64.b32encode(hashlib.sha1(stored).digest()).decode()
        raise WrongDigest(f"the archive states the digest {digest}, the payload has sha1:{found}")
    if damage is not None:
        raise damage
    return Payload(kept, forms[-1])


def _list_wanted(digest: str) -> bytes:
    match = _STATED.fullmatch(digest.strip())
    if match is None:
        raise WrongDigest(f"the archive states {digest!r}, which is neither a SHA-1 nor a SHA-256")
    text = match[2]
    try:
        return (
            bytes.fromhex(text)
            if len(text) in (40, 64)
            else base64.b32decode(text.rstrip("=").upper() + _pad_text(text))
        )
    except (ValueError, binascii.Error):
        raise WrongDigest(f"the archive states {digest!r}, which is no digest") from None


def _pad_text(text: str) -> str:
    return "=" * (-len(text.rstrip("=")) % 8)


def _remove_chunks(stored: bytes) -> bytes | None:
    """The body without the framing of chunks; None where there is none (many archives take it away, not the header)."""
    parts, at = list[bytes](), 0
    while True:
        end = stored.find(b"\r\n", at)
        size = re.fullmatch(rb"\s*([0-9A-Fa-f]{1,8})\s*(;.*)?", stored[at:end]) if end >= 0 else None
        if size is None:
            return None
        length, start = int(size[1], 16), end + 2
        if length == 0:
            return b"".join(parts)
        if stored[start + length : start + length + 2] != b"\r\n":
            return None
        parts.append(stored[start : start + length])
        at = start + length + 2


def _unpack_body(body: bytes, encodings: str) -> bytes:
    for name in reversed([part.strip().lower() for part in encodings.split(",")]):
        if name in ("gzip", "x-gzip"):
            # A body that does not begin like gzip was unpacked by the archive, which kept the header.
            body = _inflate_body(body, zlib.MAX_WBITS | 16) if body.startswith(b"\x1f\x8b") else body
        elif name == "deflate":
            body = _inflate_body(body, zlib.MAX_WBITS if body[:1] == b"\x78" else -zlib.MAX_WBITS)
        elif name not in ("", "identity"):
            raise Damaged(f"is packed as {name}, which is not read here")
    if len(body) > MAX_PAGE:
        raise Damaged(f"is larger than {MAX_PAGE} bytes")
    return body


def _inflate_body(body: bytes, bits: int) -> bytes:
    inflater = zlib.decompressobj(bits)
    try:
        whole = inflater.decompress(body, MAX_PAGE + 1)
    except zlib.error as error:
        raise Damaged(f"cannot be unpacked ({error})") from None
    if not inflater.eof and len(whole) <= MAX_PAGE:
        raise Damaged("cannot be unpacked: it was cut")
    return whole
