"""The parts of a timestamp token (CMS, RFC 5652; RFC 3161, 2.4.2), taken from its bytes, and its signature.

*Reads* bytes of strangers, strictly: one way to write each length, one signer, no part that is not expected.
*Writes* nothing. *Never* judges who the signer is (``penmark.timestamps.certificates`` does).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa

_SIGNED_DATA = bytes.fromhex("2a864886f70d010702")
_TIMESTAMP_INFORMATION = bytes.fromhex("2a864886f70d0109100104")
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
_INTEGER, _OCTETS, _OID, _SEQUENCE, _SET = 0x02, 0x04, 0x06, 0x30, 0x31
_ZERO, _ONE = 0xA0, 0xA1  # context tags [0] and [1]


class UnsoundError(Exception):
    """The token proves nothing; the message says why."""


class DerNode(NamedTuple):
    """One DER value: its tag, its content, and all of it."""

    tag: int
    content: bytes
    whole: bytes


class Signed(NamedTuple):
    """The parts of a token that matter to its signature, as they stand in its bytes.

    ``content``: the timestamp information. ``issuer``, ``serial``: which certificate signed. ``attributes``: what is
    signed, without its head. ``algorithm``: object identifier of the signature's kind.
    """

    content: bytes
    certificates: list[bytes]
    issuer: bytes
    serial: int
    digest: hashes.HashAlgorithm
    attributes: bytes
    algorithm: bytes
    signature: bytes


def take_apart(token: bytes) -> Signed:
    """The parts of a granted answer. Raises UnsoundError for anything that is not just such an answer."""
    status, content_info = list_inner_nodes(parse_one_node(token, _SEQUENCE), 2)
    require_sound(not any(n.tag == 0x03 for n in parse_nodes(status.content)), "comes without a failure")
    kind, explicit = list_inner_nodes(content_info, 2)
    require_sound(kind.content == _SIGNED_DATA and explicit.tag == _ZERO, "holds signed data")
    version, digests, encapsulated, *rest = require_nodes(parse_one_node(explicit.content, _SEQUENCE).content, 4)
    require_sound(version.whole == b"\x02\x01\x03", "is signed data of version 3")
    require_sound([n.tag for n in rest] in ([_ZERO, _SET], [_ZERO, _ONE, _SET]), "carries its signer's certificate")
    content_kind, content = list_inner_nodes(encapsulated, 2)
    require_sound(
        content_kind.content == _TIMESTAMP_INFORMATION and content.tag == _ZERO, "holds timestamp information"
    )
    signer = parse_one_node(rest[-1].content, _SEQUENCE).content
    signer_version, sid, digest, signed_attributes, algorithm, signature, *_ = require_nodes(signer, 6)
    require_sound(signer_version.whole == b"\x02\x01\x01", "names its signer by issuer and serial number")
    require_sound(signed_attributes.tag == _ZERO and signature.tag == _OCTETS, "has signed attributes")
    require_sound(digests.tag == _SET and digests.content == digest.whole, "names one digest")
    issuer, serial = list_inner_nodes(sid, 2)
    require_sound(serial.tag == _INTEGER, "names its signer by issuer and serial number")
    return Signed(
        parse_one_node(content.content, _OCTETS).content,
        [n.whole for n in parse_nodes(rest[0].content)],
        issuer.whole,
        int.from_bytes(serial.content, "big", signed=True),
        _find_hash_algorithm(digest),
        signed_attributes.content,
        _read_oid(algorithm),
        signature.content,
    )


def with_sorted_certificates(token: bytes) -> bytes:
    """The same token, the certificates in it in the order of their bytes (which no signature covers)."""
    carried = take_apart(token).certificates
    return token.replace(b"".join(carried), b"".join(sorted(carried)), 1)


def check_signature(signed: Signed, signer: x509.Certificate) -> None:
    """The signature is the signer's, over attributes that hold the digest of the content. Raises UnsoundError."""
    attributes = _collect_attributes(signed)
    kind = parse_one_node(attributes.get(_CONTENT_TYPE, b""), _OID).content
    require_sound(kind == _TIMESTAMP_INFORMATION, "is signed as timestamp information")
    hasher = hashes.Hash(signed.digest)
    hasher.update(signed.content)
    if parse_one_node(attributes.get(_MESSAGE_DIGEST, b""), _OCTETS).content != hasher.finalize():
        raise UnsoundError("damaged: its content is not what was signed")
    # The attributes are signed as a SET and sent under another tag (RFC 5652, 5.4).
    encoded = bytes([_SET]) + _encode_length(len(signed.attributes)) + signed.attributes
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


def certificates_signed_for(signed: Signed) -> list[tuple[hashes.HashAlgorithm, bytes]]:
    """Digests, under the signature, of the certificates that the signer used, its own first (RFC 2634, RFC 5035)."""
    attributes = _collect_attributes(signed)
    if _SIGNING_CERTIFICATE_V2 in attributes:
        return list(_list_certificate_digests(attributes[_SIGNING_CERTIFICATE_V2], hashes.SHA256()))
    if _SIGNING_CERTIFICATE in attributes:
        return list(
            _list_certificate_digests(attributes[_SIGNING_CERTIFICATE], hashes.SHA1())
        )  # the older attribute knows no other
    raise UnsoundError("the token does not name its signer's certificate under its signature")


def _collect_attributes(signed: Signed) -> dict[bytes, bytes]:
    """Type, and the encoded value, of each signed attribute."""
    found: dict[bytes, bytes] = {}
    for node in parse_nodes(signed.attributes):
        kind, values = list_inner_nodes(node, 2)
        require_sound(values.tag == _SET and kind.content not in found, "has each signed attribute once")
        found[kind.content] = values.content
    return found


def _list_certificate_digests(
    value: bytes, default: hashes.HashAlgorithm
) -> Iterator[tuple[hashes.HashAlgorithm, bytes]]:
    for entry in parse_nodes(require_nodes(parse_one_node(value, _SEQUENCE).content, 1)[0].content):
        parts = require_nodes(entry.content, 1)
        algorithm = _find_hash_algorithm(parts.pop(0)) if parts[0].tag == _SEQUENCE else default
        require_sound(bool(parts) and parts[0].tag == _OCTETS, "names certificates by digest")
        yield algorithm, parts[0].content


def _find_hash_algorithm(node: DerNode) -> hashes.HashAlgorithm:
    known = _DIGESTS.get(_read_oid(node))
    if known is None:
        raise UnsoundError("made with a digest other than SHA-256, SHA-384, SHA-512")
    return known


def _read_oid(node: DerNode) -> bytes:
    """The object identifier of an algorithm without parameters (absent, or NULL)."""
    oid, *parameters = require_nodes(node.content, 1)
    require_sound(oid.tag == _OID and [p.whole for p in parameters] in ([], [b"\x05\x00"]), "names plain algorithms")
    return oid.content


# --- DER -----------------------------------------------------------------------------------------------------------


def parse_nodes(data: bytes) -> list[DerNode]:
    """The values that stand one after another in ``data``, nothing left over. Raises UnsoundError."""
    found: list[DerNode] = []
    start = 0
    while start < len(data):
        head = start + 2
        require_sound(data[start] & 0x1F != 0x1F and head <= len(data), "is well-formed")
        size = data[start + 1]
        if size > 0x7F:
            more = size & 0x7F
            size = int.from_bytes(data[head : head + more], "big")
            require_sound(1 <= more <= 4 and _encode_length(size) == data[start + 1 : head + more], "is well-formed")
            head += more
        end = head + size
        require_sound(end <= len(data), "is whole")
        found.append(DerNode(data[start], data[head:end], data[start:end]))
        start = end
    return found


def parse_one_node(data: bytes, tag: int) -> DerNode:
    """The only value in ``data``, which has that tag."""
    found = parse_nodes(data)
    require_sound(len(found) == 1 and found[0].tag == tag, "is well-formed")
    return found[0]


def list_inner_nodes(node: DerNode, count: int) -> list[DerNode]:
    """The ``count`` values of a sequence."""
    found = parse_nodes(node.content)
    require_sound(node.tag == _SEQUENCE and len(found) == count, "is well-formed")
    return found


def require_nodes(data: bytes, count: int) -> list[DerNode]:
    """The values in ``data``, at least ``count`` of them."""
    found = parse_nodes(data)
    require_sound(len(found) >= count, "is well-formed")
    return found


def require_sound(holds: bool, what: str) -> None:
    """Raises UnsoundError unless the token is one that ``what``."""
    if not holds:
        raise UnsoundError(f"damaged, or not a token that {what}")


def _encode_length(size: int) -> bytes:
    if size <= 0x7F:
        return bytes([size])
    digits = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([0x80 | len(digits)]) + digits
