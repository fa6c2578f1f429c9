"""Authorities for the tests (one misbehaves on command, one signs any token at any time), and a study to be promised.

The honest one is ``penmark.demo.authority``. What the hand writes is held against ``openssl ts -verify`` in the tests.
"""

from __future__ import annotations

import contextlib
import hashlib
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from penmark.study import Study

Key = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey
WHEN = datetime(2020, 6, 1, 12, 0, 0, tzinfo=UTC)
"""A moment long ago: every certificate of the hand has expired since."""


# --- an authority that misbehaves ----------------------------------------------------------------------------------


@contextlib.contextmanager
def answering(answer: Callable[[bytes], bytes], status: int = 200) -> Iterator[str]:
    """A server on the loopback address that answers a posted query with ``answer(query)``; its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = answer(self.rfile.read(int(self.headers["Content-Length"])))
            with contextlib.suppress(OSError):  # the other side may have lost its patience
                self.send_response(status)
                self.send_header("Content-Type", "application/timestamp-reply")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()


# --- a hand that signs anything ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Holder:
    """A certificate and its key."""

    certificate: x509.Certificate
    key: Key


def holder(
    common: str,
    issuer: Holder | None = None,
    *,
    ca: bool = True,
    usage: list[x509.ObjectIdentifier] | None = None,
    critical: bool = True,
    valid: tuple[int, int] = (2019, 2022),
    key: Key | None = None,
    signed_by: Key | None = None,
) -> Holder:
    """A certificate of that name, under ``issuer`` or under itself, valid between two new years.

    ``signed_by``: the key that really signs, where that is not the issuer's.
    """
    own = ec.generate_private_key(ec.SECP256R1()) if key is None else key
    above = own if issuer is None else issuer.key
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name if issuer is None else issuer.certificate.subject)
        .public_key(own.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime(valid[0], 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(valid[1], 1, 1, tzinfo=UTC))
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(own.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(above.public_key()), critical=False)
    )
    if usage is not None:
        builder = builder.add_extension(x509.ExtendedKeyUsage(usage), critical=critical)
    return Holder(builder.sign(above if signed_by is None else signed_by, hashes.SHA256()), own)


def stamper(issuer: Holder, common: str = "stamper", **how: Any) -> Holder:
    """A signer of timestamps under ``issuer``."""
    return holder(common, issuer, **{"ca": False, "usage": [ExtendedKeyUsageOID.TIME_STAMPING], **how})


def pem(path: Path, *holders: Holder) -> Path:
    """A PEM file of these certificates."""
    path.write_bytes(b"".join(h.certificate.public_bytes(Encoding.PEM) for h in holders))
    return path


def token(
    data: bytes,
    signer: Holder,
    *carried: Holder,
    at: datetime = WHEN,
    imprint: tuple[bytes, bytes] | None = None,
    bound: list[Holder] | None = None,
    older_attribute: bool = False,
    serial: int = 7,
) -> bytes:
    """A granted answer over ``data``, signed by ``signer``, carrying also the certificates ``carried``.

    ``imprint``: object identifier and digest, instead of the SHA-256 of ``data``. ``bound``: whose certificates are
    signed for (default: the signer's). ``older_attribute``: signed for by SHA-1, as RFC 2634 has it.
    """
    algorithm, digest = (SHA256, hashlib.sha256(data).digest()) if imprint is None else imprint
    hashed = der(0x30, der(0x30, algorithm, NULL), der(0x04, digest))
    time = at.strftime("%Y%m%d%H%M%S").encode() + b"Z"
    content = der(0x30, integer(1), POLICY, hashed, integer(serial), der(0x18, time))
    names = [holder.certificate for holder in ([signer] if bound is None else bound)]
    if older_attribute:
        listed = [der(0x30, der(0x04, c.fingerprint(hashes.SHA1()))) for c in names]
    else:
        listed = [der(0x30, der(0x04, c.fingerprint(hashes.SHA256()))) for c in names]
    attributes = b"".join(
        sorted(
            [
                der(0x30, CONTENT_TYPE, der(0x31, TST_INFO)),
                der(0x30, MESSAGE_DIGEST, der(0x31, der(0x04, hashlib.sha256(content).digest()))),
                der(
                    0x30,
                    CERTIFICATE_V1 if older_attribute else CERTIFICATE_V2,
                    der(0x31, der(0x30, der(0x30, *listed))),
                ),
            ]
        )
    )
    own = signer.certificate
    signer_info = der(
        0x30,
        integer(1),
        der(0x30, own.issuer.public_bytes(), integer(own.serial_number)),
        der(0x30, SHA256, NULL),
        der(0xA0, attributes),
        *_signature(signer.key, der(0x31, attributes)),
    )
    certificates = sorted(h.certificate.public_bytes(Encoding.DER) for h in (signer, *carried))
    signed_data = der(
        0x30,
        integer(3),
        der(0x31, der(0x30, SHA256, NULL)),
        der(0x30, TST_INFO, der(0xA0, der(0x04, content))),
        der(0xA0, *certificates),
        der(0x31, signer_info),
    )
    return der(0x30, der(0x30, integer(0)), der(0x30, SIGNED_DATA, der(0xA0, signed_data)))


def _signature(key: Key, data: bytes) -> tuple[bytes, bytes]:
    if isinstance(key, rsa.RSAPrivateKey):
        return der(0x30, RSA, NULL), der(0x04, key.sign(data, padding.PKCS1v15(), hashes.SHA256()))
    return der(0x30, ECDSA_SHA256), der(0x04, key.sign(data, ec.ECDSA(hashes.SHA256())))


def der(tag: int, *parts: bytes) -> bytes:
    """One value in distinguished encoding."""
    content = b"".join(parts)
    if len(content) < 0x80:
        return bytes([tag, len(content)]) + content
    size = len(content).to_bytes((len(content).bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(size)]) + size + content


def integer(value: int) -> bytes:
    """A non-negative integer."""
    return der(0x02, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def _oid(dotted: str) -> bytes:
    first, second, *rest = (int(part) for part in dotted.split("."))
    content = bytes([40 * first + second])
    for number in rest:
        digits = [number & 0x7F]
        while number := number >> 7:
            digits.append(0x80 | number & 0x7F)
        content += bytes(reversed(digits))
    return der(0x06, content)


NULL = der(0x05)
SHA256, SHA512 = _oid("2.16.840.1.101.3.4.2.1"), _oid("2.16.840.1.101.3.4.2.3")
RSA, ECDSA_SHA256 = _oid("1.2.840.113549.1.1.1"), _oid("1.2.840.10045.4.3.2")
SIGNED_DATA, TST_INFO = _oid("1.2.840.113549.1.7.2"), _oid("1.2.840.113549.1.9.16.1.4")
CONTENT_TYPE, MESSAGE_DIGEST = _oid("1.2.840.113549.1.9.3"), _oid("1.2.840.113549.1.9.4")
CERTIFICATE_V1, CERTIFICATE_V2 = _oid("1.2.840.113549.1.9.16.2.12"), _oid("1.2.840.113549.1.9.16.2.47")
POLICY = _oid("1.3.6.1.4.1.99999.1")


# --- the openssl that everybody has --------------------------------------------------------------------------------


def openssl_agrees(line: str, folder: Path) -> bool:
    """Run a printed ``openssl ts -verify`` line in a folder, as a reader would; True where it says OK."""
    done = subprocess.run(line, shell=True, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode == 0 and "Verification: OK" in done.stdout


def query(data: bytes) -> bytes:
    """A timestamp query over ``data`` by openssl, not by penmark."""
    command = ["openssl", "ts", "-query", "-data", "/dev/stdin", "-sha256", "-cert"]
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout


# --- a study that is ready to be promised --------------------------------------------------------------------------

SEED = bytes(range(32))
_PROTOCOL = """\
study: tiny
title: A study for tests
edition: {edition}
schedule: quarterly
people: [{{name: {who}, role: operator, interests: none}}]
payer: nobody
window: {{opens: 2026-12-01, closes: 2099-12-31}}
seed_sha256: {seed}
arms:
  - {{name: A, title: People, truth: human, documents: 1, headline: true, filled: by hand, persists: true,
     evidence: {{kinds: [archive], grades: [stated]}}}}
detectors:
  - {{name: length, card: {card}, surface: local, tier: none, payer: nobody, relation: own}}
authorities:{authorities}
"""


def study_of(
    root: Path, authorities: dict[str, str], *, edition: str = "TEST-2026-Q4", who: str = "Ada", card: str = "length"
) -> Study:
    """A study in ``root`` with an edition whose protocol names these authorities (name -> URL)."""
    place = Study(root)
    listed = "".join(f"\n  - {{name: {name}, url: {url!r}}}" for name, url in authorities.items()) or " []"
    values = {"edition": edition, "who": who, "card": card, "seed": hashlib.sha256(SEED).hexdigest()}
    folder = root / "editions" / edition
    folder.mkdir(parents=True)
    (folder / "protocol.yaml").write_text(_PROTOCOL.format(**values, authorities=listed), encoding="utf-8")
    place.marker.write_text("study: tiny\n", encoding="utf-8")
    place.private.mkdir(exist_ok=True)
    place.seed.write_bytes(SEED)
    return place
