"""Timestamp tokens (RFC 3161), read and checked offline.

*Reads* token bytes, the root certificates that come with penmark, and PEM files that the user names. *Writes* nothing.
*Never*: a network, another program, a judgement that depends on today, a root that is believed because the token
brings it along.

A damaged token is ``failed``, never ``unknown authority``: signature, digests and every link between the certificates
inside are checked before anybody asks whether the root is known. (What no signature covers says nothing about the time
and is not judged: words beside an answer, a certificate that is carried without need.)
"""

from __future__ import annotations

import hashlib
import shlex
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple

from cryptography import x509
from rfc3161_client import TimeStampResponse, VerificationError, VerifierBuilder, decode_timestamp_response

from penmark import study
from penmark.errors import PenmarkError
from penmark.timestamps import certificates, token_parts
from penmark.timestamps.certificates import format_rfc3339
from penmark.timestamps.token_parts import UnsoundError

__all__ = [
    "MAX_TOKEN",
    "TokenResult",
    "Trust",
    "check_token",
    "format_rfc3339",
    "format_time_now",
    "make_openssl_line",
    "parse_rfc3339",
    "read_nonce",
]

MAX_TOKEN = 2**18
"""No token is larger than this (bytes)."""

_SHA256 = "2.16.840.1.101.3.4.2.1"
_DAMAGED = "the token is damaged: a part of it cannot be read as what should stand there"
_STATUS = {1: "granted with changes", 2: "rejection", 3: "waiting", 4: "revocation warning", 5: "revoked"}


class TokenResult(NamedTuple):
    """What a token says, and whether that can be believed.

    ``at``: the authority's time (UTC, RFC 3339). ``authority``: whose certificate signed. ``serial``: the token's
    number, hexadecimal. All three are None where the state is ``failed``. ``detail``: one sentence for people.
    """

    state: Literal["ok", "failed", "unknown authority"]
    at: str | None
    authority: str | None
    serial: str | None
    detail: str


@dataclass(frozen=True)
class Trust:
    """Root certificates that are believed, and certificates that may stand between them and a signer."""

    roots: tuple[x509.Certificate, ...] = ()
    between: tuple[x509.Certificate, ...] = ()

    @classmethod
    def load(cls, paths: Iterable[Path] = ()) -> Trust:
        """The roots that come with penmark and those in the PEM files ``paths``. Raises PenmarkError for a bad file."""
        found = _parse_certificates(
            files("penmark").joinpath("shipped/authorities/roots.pem").read_bytes(), "shipped/authorities/roots.pem"
        )
        for path in paths:
            given = _parse_certificates(study.read_bytes(path, limit=2**24), str(path))
            if not any(certificates.is_self_signed(c) for c in given):
                raise PenmarkError(
                    "holds no root certificate (PEM, signed by itself)",
                    place=str(path),
                    remedy="Get the authority's root certificate, and compare its fingerprint with the published one.",
                )
            found += given
        distinct = list(dict.fromkeys(found))
        roots = tuple(c for c in distinct if certificates.is_self_signed(c))
        return cls(roots, tuple(c for c in distinct if c not in roots))


def check_token(token: bytes, data: bytes, trust: Trust) -> TokenResult:
    """Judge ``token`` as a timestamp over ``data``. Raises nothing, whatever is in the token.

    ``ok``: a trusted root vouches for it. ``unknown authority``: sound in itself, but its root is not in ``trust``.
    ``failed``: no token, damaged, over other data, or signed under a certificate that was not valid, or not for this.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # decoders warn of odd certificates; what matters fails below
        try:
            return _judge_token(token, data, trust)
        except UnsoundError as error:
            return TokenResult("failed", None, None, None, certificates.clean_certificate_words(str(error)))
        except Exception:  # two foreign decoders read the bytes of strangers: whatever they raise, it failed
            return TokenResult("failed", None, None, None, _DAMAGED)


def format_time_now() -> str:
    """This machine's time, RFC 3339 in UTC with microseconds: what a seal says of itself, and an authority confirms."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def read_nonce(token: bytes) -> int | None:
    """The number that the token gives back from its query; None where it has none. Raises UnsoundError."""
    found: int | None = _decode_token(token).tst_info.nonce
    return found


def make_openssl_line(data: str, token: str, *, roots: str = "ROOTS.pem", at: str | None = None) -> str:
    """The command with which anyone checks a token without penmark; ``roots`` is a PEM file that the reader trusts.

    ``at``: the token's time (RFC 3339), for certificates that have expired since.
    """
    words = ["openssl", "ts", "-verify", "-data", data, "-in", token, "-CAfile", roots]
    if at is not None:
        words += ["-attime", format_attime(at)]
    return shlex.join(words)


def format_attime(at: str) -> str:
    """A time (RFC 3339) as openssl takes it: seconds since 1970."""
    return str(int(parse_rfc3339(at).timestamp()))


def name_sealed_file(token: str) -> str:
    """The name of the file that a token beside it is over: ``promise.json`` of ``promise-NAME.tsr``."""
    parts = token.removesuffix(".tsr").split("-")
    return f"{'-'.join(parts[: 2 if parts[0] == 'heads' else 1])}.json"


def read_token_time(read: Callable[[str], bytes], path: str) -> str | None:
    """The time (RFC 3339) of the token in the file ``path``, whoever signed it; None where it is none over the file that
    it names. ``read`` gives the bytes of a file by its path; raises what that raises."""
    return check_token(
        read(path), read(str(PurePosixPath(path).with_name(name_sealed_file(PurePosixPath(path).name)))), Trust()
    ).at


def make_attime_reader(read: Callable[[str], bytes]) -> Callable[[str], str | None]:
    """As ``read_token_time``, for pages: by path, and as openssl takes it."""

    def found(path: str) -> str | None:
        at = read_token_time(read, path)
        return None if at is None else format_attime(at)

    return found


def parse_rfc3339(at: str) -> datetime:
    """The moment of an RFC 3339 time in UTC. Raises ValueError."""
    return datetime.fromisoformat(at)


def _judge_token(token: bytes, data: bytes, trust: Trust) -> TokenResult:
    response = _decode_token(token)
    info = response.tst_info
    if info.message_imprint.hash_algorithm.dotted_string != _SHA256:
        raise UnsoundError("its digest of the data is not SHA-256")
    if info.message_imprint.message != hashlib.sha256(data).digest():
        raise UnsoundError("it is over other data: its digest is not that of the file")
    parts = token_parts.take_apart(token)
    carried = [x509.load_der_x509_certificate(c) for c in parts.certificates]
    leaf = certificates.find_signer(parts, carried)
    token_parts.check_signature(parts, leaf)
    chain = certificates.build_chain(leaf, carried, (*trust.roots, *trust.between))
    certificates.check_named(parts, chain, carried)
    when = info.gen_time.replace(tzinfo=UTC) if info.gen_time.tzinfo is None else info.gen_time
    certificates.check_valid(chain, when)
    at, authority, serial = (
        format_rfc3339(when),
        certificates.name_certificate(leaf.subject),
        f"0x{info.serial_number:02X}",
    )
    said = f"{authority} says {at} (serial {serial})"
    top = chain[-1]
    if any(top == root or certificates.is_issuer(top, root) for root in trust.roots):
        _require_anchor(response, data, trust)
        return TokenResult("ok", at, authority, serial, said)
    return TokenResult(
        "unknown authority", at, authority, serial, f"{said}, under {certificates.describe_certificate(top)}"
    )


def _decode_token(token: bytes) -> TimeStampResponse:
    if len(token) > MAX_TOKEN:
        raise UnsoundError(f"not a timestamp token: {len(token)} bytes, the limit is {MAX_TOKEN}")
    try:
        response = decode_timestamp_response(token)
    except ValueError:
        response = _decoded_unsorted(token)
    if response.status != 0:
        words = "; ".join(response.status_string)
        status = _STATUS.get(response.status, str(response.status))
        raise UnsoundError(f"the authority gave no token: {status}" + (f" ({words})" if words else ""))
    return response


def _decoded_unsorted(token: bytes) -> TimeStampResponse:
    """The answer of an authority that does not sort the certificates it sends, as ``openssl ts -reply -chain``."""
    try:
        return decode_timestamp_response(token_parts.with_sorted_certificates(token))
    except (ValueError, UnsoundError):
        if token == b"":
            raise UnsoundError("not a timestamp token: it is empty") from None
        begins = token[:1] == b"\x30"  # as every token does
        raise UnsoundError(_DAMAGED if begins else "not a timestamp token (RFC 3161) but something else") from None


def _require_anchor(response: TimeStampResponse, data: bytes, trust: Trust) -> None:
    """A second opinion on all of it, by OpenSSL, up to a trusted root and at the token's time. Raises UnsoundError."""
    builder = VerifierBuilder(roots=list(trust.roots), intermediates=list(trust.between))
    try:
        builder.build().verify_message(response, data)
    except (ValueError, VerificationError) as error:
        raise UnsoundError(f"its certificates do not hold: {error}") from None


def _parse_certificates(pem: bytes, place: str) -> list[x509.Certificate]:
    if b"-----BEGIN CERTIFICATE-----" not in pem:
        return []
    try:
        return x509.load_pem_x509_certificates(pem)
    except ValueError as error:
        remedy = "Give root certificates in PEM form."
        raise PenmarkError(f"not certificates: {error}", place=place, remedy=remedy) from None
