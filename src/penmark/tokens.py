"""Timestamp tokens (RFC 3161), read and checked offline.

*Reads* token bytes, the root certificates that come with penmark, and PEM files named by the user. *Writes* nothing.
*Never*: a network, another program, today's date (certificates are judged at the token's own time), a root that the
token brings along.

A damaged token is ``failed``, never ``unknown authority``: the signature, the digest of the signer's certificate and
every link between the certificates inside are checked before anybody asks whether the root is known. (What no
signature covers, like the authority's words beside its answer, says nothing about the time and is not judged.)
"""

from __future__ import annotations

import hashlib
import shlex
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Literal, NamedTuple

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from rfc3161_client import TimeStampResponse, VerificationError, VerifierBuilder, decode_timestamp_response

from penmark import study
from penmark.errors import PenmarkError

MAX_TOKEN = 2**18
"""No token is larger than this (bytes)."""
MAX_CHAIN = 8
"""No chain of certificates is longer than this."""

_SIGNED_DATA = bytes.fromhex("2a864886f70d010702")
_TST_INFO = bytes.fromhex("2a864886f70d0109100104")
_CONTENT_TYPE = bytes.fromhex("2a864886f70d010903")
_MESSAGE_DIGEST = bytes.fromhex("2a864886f70d010904")
_SIGNING_CERTIFICATE = bytes.fromhex("2a864886f70d010910020c")
_SIGNING_CERTIFICATE_V2 = bytes.fromhex("2a864886f70d010910022f")
_SHA256 = "2.16.840.1.101.3.4.2.1"
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
_STATUS = {1: "granted with changes", 2: "rejection", 3: "waiting", 4: "revocation warning", 5: "revocation notification"}


class TokenResult(NamedTuple):
    """What a token says and whether that can be believed.

    ``at``: the authority's time (UTC, RFC 3339), ``authority``: the subject of the signing certificate, ``serial``: the
    token's number in hexadecimal; all three None where the state is ``failed``. ``detail``: one sentence for people.
    """

    state: Literal["ok", "failed", "unknown authority"]
    at: str | None
    authority: str | None
    serial: str | None
    detail: str


@dataclass(frozen=True)
class Trust:
    """Root certificates that are believed, and certificates that may lie between them and a signer."""

    roots: tuple[x509.Certificate, ...] = ()
    between: tuple[x509.Certificate, ...] = ()

    @classmethod
    def load(cls, paths: Iterable[Path] = ()) -> Trust:
        """The roots that come with penmark and those of the PEM files ``paths``. Raises PenmarkError naming a bad file."""
        found = _certificates(files("penmark").joinpath("authorities/roots.pem").read_bytes(), "roots.pem")
        for path in paths:
            given = _certificates(study.read(path, limit=2**24), str(path))
            if not any(_self_signed(c) for c in given):
                raise PenmarkError(
                    "holds no root certificate (PEM, signed by itself)",
                    place=str(path),
                    remedy="Get the authority's root certificate, compare its fingerprint with the published one, name that file.",
                )
            found += given
        distinct = list(dict.fromkeys(found))
        roots = tuple(c for c in distinct if _self_signed(c))
        return cls(roots, tuple(c for c in distinct if not _self_signed(c)))


class _UnsoundError(Exception):
    """The token proves nothing; the message says why."""


_FOREIGN = (_UnsoundError, ValueError, TypeError, OverflowError, InvalidSignature, UnsupportedAlgorithm, VerificationError)
"""What the decoders raise on hostile bytes."""


def check(token: bytes, data: bytes, trust: Trust) -> TokenResult:
    """Judge ``token`` as a timestamp over ``data``. Never raises for what is in the token.

    ``ok``: a trusted root vouches for it. ``unknown authority``: sound in itself, but its root is not in ``trust``.
    ``failed``: no token, damaged, over other data, signed by a certificate that was not valid or not for timestamps.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # decoders warn of odd certificates; every oddity that matters fails below
        try:
            return _judged(token, data, trust)
        except _FOREIGN as error:
            reason = str(error) or type(error).__name__
            return TokenResult("failed", None, None, None, _plain(reason))


def _judged(token: bytes, data: bytes, trust: Trust) -> TokenResult:
    response = _decoded(token)
    info = response.tst_info
    if info.message_imprint.hash_algorithm.dotted_string != _SHA256:
        raise _UnsoundError("the token's digest is not SHA-256")
    if info.message_imprint.message != hashlib.sha256(data).digest():
        raise _UnsoundError("the token is over other data (its digest is not that of the file)")
    signed = _signed(token)
    certificates = [x509.load_der_x509_certificate(c) for c in signed.certificates]
    signer = _signer(signed, certificates)
    _signature(signed, signer)
    chain = _chain(signer, certificates, trust)
    moment_ = info.gen_time.replace(tzinfo=UTC) if info.gen_time.tzinfo is None else info.gen_time
    _named_in_token(signed, chain, trust)
    at, authority, serial = rfc3339(moment_), name(signer.subject), f"0x{info.serial_number:02X}"
    top = chain[-1]
    if any(top == root or _issued(top, root) for root in trust.roots):
        _anchored(response, data, trust)
        return TokenResult("ok", at, authority, serial, f"{authority} says {at} (serial {serial})")
    _valid_then(chain, moment_)
    detail = f"not checked: authority unknown: {authority}, under {_which(top)}; it says {at} (serial {serial})"
    return TokenResult("unknown authority", at, authority, serial, detail)


def openssl_line(data: str, token: str, *, roots: str = "ROOTS.pem", at: str | None = None) -> str:
    """The command with which anyone checks a token without penmark; ``roots`` is a PEM file that the reader trusts.

    ``at``: the token's time, for certificates that have expired since.
    """
    words = ["openssl", "ts", "-verify", "-data", data, "-in", token, "-CAfile", roots]
    if at is not None:
        words += ["-attime", str(int(moment(at).timestamp()))]
    return shlex.join(words)


def moment(at: str) -> datetime:
    """The moment of an RFC 3339 time in UTC. Raises ValueError."""
    return datetime.fromisoformat(at)


def rfc3339(when: datetime) -> str:
    """``YYYY-MM-DDTHH:MM:SS[.ffffff]Z`` of a moment with a time zone."""
    return when.astimezone(UTC).isoformat().removesuffix("+00:00") + "Z"


def name(subject: x509.Name) -> str:
    """A certificate's name for people: its common name, else all of it; nothing unprintable."""
    common = subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return _plain(str(common[0].value) if common else subject.rfc4514_string()) or "(no name)"


# --- the parts of a token ------------------------------------------------------------------------------------------


class _Node(NamedTuple):
    tag: int
    content: bytes
    whole: bytes


class _Signed(NamedTuple):
    """The parts of a token that its signature is about, as bytes of the token."""

    content: bytes
    certificates: list[bytes]
    issuer_and_serial: bytes
    digest: hashes.HashAlgorithm
    attributes: bytes
    algorithm: bytes
    signature: bytes


def _decoded(token: bytes) -> TimeStampResponse:
    if len(token) > MAX_TOKEN:
        raise _UnsoundError(f"not a timestamp token: {len(token)} bytes, the limit is {MAX_TOKEN}")
    try:
        response = decode_timestamp_response(token)
    except _FOREIGN as error:
        raise _UnsoundError(f"not a timestamp token (RFC 3161): {error}") from None
    if response.status != 0:
        said = "; ".join(response.status_string)
        status = _STATUS.get(response.status, str(response.status))
        raise _UnsoundError(f"the authority gave no token: {status}" + (f" ({said})" if said else ""))
    return response


def _signed(token: bytes) -> _Signed:
    """Take a token apart (RFC 5652, RFC 3161 2.4.2), strictly: one signer, no part that is not expected."""
    status, content_info = _inside(_one(token, 0x30), 2)
    if any(n.tag == 0x03 for n in _nodes(status.content)):
        raise _UnsoundError("the answer holds a token and a failure")
    kind, explicit = _inside(content_info, 2)
    _expect(kind.content == _SIGNED_DATA, "holds signed data")
    version, digests, encapsulated, *rest = _nodes(_one(explicit.content, 0x30).content)
    _expect(version.content == b"\x03", "is signed data of version 3")
    tags = [n.tag for n in rest]
    _expect(tags in ([0xA0, 0x31], [0xA0, 0xA1, 0x31]), "carries its signer's certificate")
    content_kind, content = _inside(encapsulated, 2)
    _expect(content_kind.content == _TST_INFO, "holds timestamp information")
    signer_version, sid, digest, attributes, algorithm, signature, *_ = _nodes(_one(rest[-1].content, 0x30).content)
    _expect(signer_version.content == b"\x01" and sid.tag == 0x30, "names its signer by issuer and serial number")
    _expect(attributes.tag == 0xA0 and signature.tag == 0x04, "has signed attributes")
    _expect(digests.content == digest.whole, "names one digest")
    digest_name = _algorithm(digest)
    _expect(digest_name in _DIGESTS, "is signed over SHA-256, SHA-384 or SHA-512")
    return _Signed(
        _one(content.content, 0x04).content,
        [n.whole for n in _nodes(rest[0].content)],
        sid.content,
        _DIGESTS[digest_name],
        attributes.content,
        _algorithm(algorithm),
        signature.content,
    )


def _attributes(signed: _Signed) -> dict[bytes, bytes]:
    """Type and single value of each signed attribute."""
    found: dict[bytes, bytes] = {}
    for node in _nodes(signed.attributes):
        kind, values = _inside(node, 2)
        _expect(kind.content not in found, "has each signed attribute once")
        found[kind.content] = values.content
    return found


def _signature(signed: _Signed, signer: x509.Certificate) -> None:
    """The signature is the signer's, over attributes that hold the digest of the timestamp information."""
    attributes = _attributes(signed)
    _expect(_one(attributes.get(_CONTENT_TYPE, b""), 0x06).content == _TST_INFO, "is signed as timestamp information")
    hasher = hashes.Hash(signed.digest)
    hasher.update(signed.content)
    if _one(attributes.get(_MESSAGE_DIGEST, b""), 0x04).content != hasher.finalize():
        raise _UnsoundError("damaged: its content is not what was signed")
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
            raise _UnsoundError("its kind of signature is not known here; check it with openssl")
    except InvalidSignature:
        raise _UnsoundError("damaged: the signature is not valid") from None


# --- certificates --------------------------------------------------------------------------------------------------


def _signer(signed: _Signed, certificates: list[x509.Certificate]) -> x509.Certificate:
    """The certificate that the token names as its signer's; for timestamps and nothing else (RFC 3161, 2.3)."""
    issuer, serial = _nodes(signed.issuer_and_serial)
    number = int.from_bytes(serial.content, "big", signed=True)
    named = [c for c in certificates if c.serial_number == number and c.issuer.public_bytes() == issuer.whole]
    _expect(len(named) == 1, "carries its signer's certificate")
    usage = named[0].extensions.get_extension_for_class(x509.ExtendedKeyUsage)
    if not usage.critical or list(usage.value) != [ExtendedKeyUsageOID.TIME_STAMPING]:
        raise _UnsoundError(f"{name(named[0].subject)} is not a certificate for timestamps")
    return named[0]


def _chain(signer: x509.Certificate, certificates: list[x509.Certificate], trust: Trust) -> list[x509.Certificate]:
    """From the signer upwards as far as the certificates at hand go, a trusted root first where one fits.

    Raises where a certificate of the token is not signed by the one in the token that it names.
    """
    for child in certificates:
        named = [c for c in certificates if c.subject == child.issuer]
        if named and not any(_issued(child, c) for c in named):
            raise _UnsoundError(f"damaged: {name(child.subject)} is not signed by {name(child.issuer)}")
    chain = [signer]
    while not _self_signed(chain[-1]) and len(chain) < MAX_CHAIN:
        at_hand = (c for c in (*trust.roots, *certificates, *trust.between) if c not in chain)
        parent = next((c for c in at_hand if _issued(chain[-1], c)), None)
        if parent is None:
            break
        chain.append(parent)
    return chain


def _named_in_token(signed: _Signed, chain: list[x509.Certificate], trust: Trust) -> None:
    """The signed digest of the signer's certificate is that of the one in the token (RFC 5035).

    Where the token lists more certificates than the signer's, all of the chain below a trusted root are among them.
    """
    attributes = _attributes(signed)
    if _SIGNING_CERTIFICATE_V2 in attributes:
        listed = list(_listed(attributes[_SIGNING_CERTIFICATE_V2], hashes.SHA256()))
    elif _SIGNING_CERTIFICATE in attributes:
        listed = list(_listed(attributes[_SIGNING_CERTIFICATE], hashes.SHA1()))  # noqa: S303 (RFC 2634 has no other)
    else:
        raise _UnsoundError("the token does not name its signer's certificate")
    bound = chain[:1] if len(listed) == 1 else [c for c in chain if c not in trust.roots and c not in trust.between]
    for position, certificate in enumerate(bound):
        allowed = listed[:1] if position == 0 else listed
        if not any(certificate.fingerprint(algorithm) == digest for algorithm, digest in allowed):
            raise _UnsoundError(f"damaged: {name(certificate.subject)} is not the certificate that was signed for")


def _listed(value: bytes, default: hashes.HashAlgorithm) -> Iterator[tuple[hashes.HashAlgorithm, bytes]]:
    certificates = _nodes(_one(value, 0x30).content)[0]
    for entry in _nodes(certificates.content):
        parts = _nodes(entry.content)
        algorithm = default
        if parts and parts[0].tag == 0x30:
            algorithm = _DIGESTS[_algorithm(parts.pop(0))]
        _expect(bool(parts) and parts[0].tag == 0x04, "names certificates by digest")
        yield algorithm, parts[0].content


def _anchored(response: TimeStampResponse, data: bytes, trust: Trust) -> None:
    """OpenSSL's judgement of the whole chain up to a trusted root, at the token's time."""
    builder = VerifierBuilder(roots=list(trust.roots), intermediates=list(trust.between))
    try:
        builder.build().verify_message(response, data)
    except _FOREIGN as error:
        raise _UnsoundError(f"its certificates do not hold: {error}") from None


def _valid_then(chain: list[x509.Certificate], when: datetime) -> None:
    """Without a trusted root: each certificate at hand was valid at the token's time, each issuer may issue."""
    for position, certificate in enumerate(chain):
        shown = name(certificate.subject)
        if not certificate.not_valid_before_utc <= when <= certificate.not_valid_after_utc:
            raise _UnsoundError(f"the certificate {shown} was not valid at the token's time, {rfc3339(when)}")
        if position:
            constraints = certificate.extensions.get_extension_for_class(x509.BasicConstraints)
            if not constraints.value.ca:
                raise _UnsoundError(f"{shown} may not issue certificates, and issued one of the token's")


def _issued(child: x509.Certificate, parent: x509.Certificate) -> bool:
    try:
        child.verify_directly_issued_by(parent)
    except (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
        return False
    return True


def _self_signed(certificate: x509.Certificate) -> bool:
    return _issued(certificate, certificate)


def _which(certificate: x509.Certificate) -> str:
    what = f"{name(certificate.subject)} (certificate SHA-256 {certificate.fingerprint(hashes.SHA256()).hex()})"
    return what if _self_signed(certificate) else f"{what}, issued by {name(certificate.issuer)}"


def _certificates(pem: bytes, place: str) -> list[x509.Certificate]:
    if b"-----BEGIN CERTIFICATE-----" not in pem:
        return []
    try:
        return x509.load_pem_x509_certificates(pem)
    except ValueError as error:
        raise PenmarkError(
            f"not a file of certificates: {error}", place=place, remedy="Give root certificates in PEM form."
        ) from None


# --- DER, strictly -------------------------------------------------------------------------------------------------


def _nodes(data: bytes) -> list[_Node]:
    """The DER values that stand one after another in ``data``; one way to write each length, nothing left over."""
    found: list[_Node] = []
    start = 0
    while start < len(data):
        head, tag = start + 2, data[start]
        _expect(tag & 0x1F != 0x1F and head <= len(data), "is well-formed")
        size = data[start + 1]
        if size > 0x7F:
            more = size & 0x7F
            size = int.from_bytes(data[head : head + more], "big")
            _expect(1 <= more <= 4 and _length(size) == data[start + 1 : head + more], "is well-formed")
            head += more
        end = head + size
        _expect(end <= len(data), "is whole")
        found.append(_Node(tag, data[head:end], data[start:end]))
        start = end
    return found


def _length(size: int) -> bytes:
    if size <= 0x7F:
        return bytes([size])
    digits = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([0x80 | len(digits)]) + digits


def _one(data: bytes, tag: int) -> _Node:
    found = _nodes(data)
    _expect(len(found) == 1 and found[0].tag == tag, "is well-formed")
    return found[0]


def _inside(node: _Node, count: int) -> list[_Node]:
    found = _nodes(node.content)
    _expect(node.tag == 0x30 and len(found) == count, "is well-formed")
    return found


def _algorithm(node: _Node) -> bytes:
    """The object identifier of an algorithm that has no parameters (absent, or NULL)."""
    oid, *parameters = _nodes(node.content)
    _expect(oid.tag == 0x06 and [p.whole for p in parameters] in ([], [b"\x05\x00"]), "names plain algorithms")
    return oid.content


def _expect(holds: bool, what: str) -> None:
    if not holds:
        raise _UnsoundError(f"not a token that {what}")


def _plain(text: str) -> str:
    """Printable, on one line, of bounded length: these words come from strangers."""
    shown = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(shown.split())[:300]
