"""The parts of a timestamp token (CMS, RFC 5652; RFC 3161, 2.4.2), taken from its bytes, and its signature.

*Reads* bytes of strangers, strictly: distinguished encoding, one signer, no part that is not expected.
*Writes* nothing. *Never* judges who the signer is (``penmark.tokens.chains``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa

_SIGNED_DATA = bytes.fromhex("2a864886f70d010702")
_TST_INFO = bytes.fromhex("2a864886f70d0109100104")
_CONTENT_TYPE = bytes.fromhex("2a864886f70d010903")
_MESSAGE_DIGEST = bytes.fromhex("2a864886f70d010904")
_SIGNING_CERTIFICATE = bytes.fromhex("2a864886f70d010910020c")
_SIGNING_CERTIFICATE_V2 = bytes.fromhex("2a864886f70d010910022f")
_DIGESTS: dict[bytes, hashes.HashAlgorithm] = {
    bytes.fromhex("608648016503040201"): hashes.SHA256(),
    bytes.fromhex("608648016503040202"): hashes.SHA384(),
    bytes.fromhex("608648016503040203"): hashes.SHA512(),
}
_RSA = bytes.fromhex("2a864886f70d010101")
_RSA_WITH: dict[bytes, hashes.HashAlgorithm] = {
    bytes.fromhex("2a864886f70d01010b"): hashes.SHA256(),
    bytes.fromhex("2a864886f70d01010c"): hashes.SHA384(),
    bytes.fromhex("2a864886f70d01010d"): hashes.SHA512(),
}
_ECDSA_WITH: dict[bytes, hashes.HashAlgorithm] = {
    bytes.fromhex("2a8648ce3d040302"): hashes.SHA256(),
    bytes.fromhex("2a8648ce3d040303"): hashes.SHA384(),
    bytes.fromhex("2a8648ce3d040304"): hashes.SHA512(),
}


class UnsoundError(Exception):
    """The token proves nothing; the message says why."""


class _Node(NamedTuple):
    tag: int
    content: bytes
    whole: bytes


class Signed(NamedTuple):
    """The parts of a token that its signature is about, as bytes of the token."""

    content: bytes
    certificates: list[bytes]
    issuer_and_serial: bytes
    digest: hashes.HashAlgorithm
    attributes: bytes
    algorithm: bytes
    signature: bytes


def take_apart(token: bytes) -> Signed:
    """Take a token apart (RFC 5652, RFC 3161 2.4.2), strictly: one signer, no part that is not expected."""
    status, content_info = _inside(_one(token, 0x30), 2)
    if any(n.tag == 0x03 for n in nodes(status.content)):
        raise UnsoundError("the answer holds a token and a failure")
    kind, explicit = _inside(content_info, 2)
    expect(kind.content == _SIGNED_DATA, "holds signed data")
    version, digests, encapsulated, *rest = nodes(_one(explicit.content, 0x30).content)
    expect(version.content == b"\x03", "is signed data of version 3")
    tags = [n.tag for n in rest]
    expect(tags in ([0xA0, 0x31], [0xA0, 0xA1, 0x31]), "carries its signer's certificate")
    content_kind, content = _inside(encapsulated, 2)
    expect(content_kind.content == _TST_INFO, "holds timestamp information")
    signer_version, sid, digest, attributes, algorithm, signature, *_ = nodes(_one(rest[-1].content, 0x30).content)
    expect(signer_version.content == b"\x01" and sid.tag == 0x30, "names its signer by issuer and serial number")
    expect(attributes.tag == 0xA0 and signature.tag == 0x04, "has signed attributes")
    expect(digests.content == digest.whole, "names one digest")
    digest_name = algorithm_name(digest)
    expect(digest_name in _DIGESTS, "is signed over SHA-256, SHA-384 or SHA-512")
    return Signed(
        _one(content.content, 0x04).content,
        [n.whole for n in nodes(rest[0].content)],
        sid.content,
        _DIGESTS[digest_name],
        attributes.content,
        algorithm_name(algorithm),
        signature.content,
    )


def attributes(signed: Signed) -> dict[bytes, bytes]:
    """Type and single value of each signed attribute."""
    found: dict[bytes, bytes] = {}
    for node in nodes(signed.attributes):
        kind, values = _inside(node, 2)
        expect(kind.content not in found, "has each signed attribute once")
        found[kind.content] = values.content
    return found


def check_signature(signed: Signed, signer: x509.Certificate) -> None:
    """The signature is the signer's, over attributes that hold the digest of the timestamp information."""
    attributes = attributes(signed)
    expect(_one(attributes.get(_CONTENT_TYPE, b""), 0x06).content == _TST_INFO, "is signed as timestamp information")
    hasher = hashes.Hash(signed.digest)
    hasher.update(signed.content)
    if _one(attributes.get(_MESSAGE_DIGEST, b""), 0x04).content != hasher.finalize():
        raise UnsoundError("damaged: its content is not what was signed")
    head = len(signed.attributes)
    encoded = b"\x31" + _length(head) + signed.attributes  # signed as a SET, sent under another tag (RFC 5652, 5.4)
    key = signer.public_key()
    try:
        if isinstance(key, rsa.RSAPublicKey) and (signed.algorithm == _RSA or signed.algorithm in _RSA_WITH):
            over = _RSA_WITH.get(signed.algorithm, signed.digest)
            key.verify(signed.signature, encoded, padding.PKCS1v15(), over)
        elif isinstance(key, ec.EllipticCurvePublicKey) and signed.algorithm in _ECDSA_WITH:
            key.verify(signed.signature, encoded, ec.ECDSA(_ECDSA_WITH[signed.algorithm]))
        else:
            raise UnsoundError("its kind of signature is not known here; check it with openssl")
    except InvalidSignature:
        raise UnsoundError("damaged: the signature is not valid") from None


def _listed(value: bytes, default: hashes.HashAlgorithm) -> Iterator[tuple[hashes.HashAlgorithm, bytes]]:
    certificates = nodes(_one(value, 0x30).content)[0]
    for entry in nodes(certificates.content):
        parts = nodes(entry.content)
        algorithm = default
        if parts and parts[0].tag == 0x30:
            algorithm = _DIGESTS[algorithm_name(parts.pop(0))]
        expect(bool(parts) and parts[0].tag == 0x04, "names certificates by digest")
        yield algorithm, parts[0].content


# --- DER, strictly -------------------------------------------------------------------------------------------------


def nodes(data: bytes) -> list[_Node]:
    """The DER values that stand one after another in ``data``; one way to write each length, nothing left over."""
    found: list[_Node] = []
    start = 0
    while start < len(data):
        head, tag = start + 2, data[start]
        expect(tag & 0x1F != 0x1F and head <= len(data), "is well-formed")
        size = data[start + 1]
        if size > 0x7F:
            more = size & 0x7F
            size = int.from_bytes(data[head : head + more], "big")
            expect(1 <= more <= 4 and _length(size) == data[start + 1 : head + more], "is well-formed")
            head += more
        end = head + size
        expect(end <= len(data), "is whole")
        found.append(_Node(tag, data[head:end], data[start:end]))
        start = end
    return found


def _length(size: int) -> bytes:
    if size <= 0x7F:
        return bytes([size])
    digits = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([0x80 | len(digits)]) + digits


def _one(data: bytes, tag: int) -> _Node:
    found = nodes(data)
    expect(len(found) == 1 and found[0].tag == tag, "is well-formed")
    return found[0]


def _inside(node: _Node, count: int) -> list[_Node]:
    found = nodes(node.content)
    expect(node.tag == 0x30 and len(found) == count, "is well-formed")
    return found


def algorithm_name(node: _Node) -> bytes:
    """The object identifier of an algorithm that has no parameters (absent, or NULL)."""
    oid, *parameters = nodes(node.content)
    expect(oid.tag == 0x06 and [p.whole for p in parameters] in ([], [b"\x05\x00"]), "names plain algorithms")
    return oid.content


def expect(holds: bool, what: str) -> None:
    if not holds:
        raise UnsoundError(f"not a token that {what}")


