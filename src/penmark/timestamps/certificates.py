"""Certificates: which one signed a token, who vouches for it, and whose word is believed.

*Reads* certificates. *Writes* nothing. *Never*: today's date (a certificate is judged at the token's own time), a root
that is believed because the token brings it along.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TypeVar

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from penmark.timestamps.token_parts import Signed, UnsoundError, certificates_signed_for, require_sound

_T = TypeVar("_T", bound=x509.ExtensionType)
MAX_CHAIN = 8
"""No chain is longer than this (certificates)."""


def find_signer(signed: Signed, carried: Sequence[x509.Certificate]) -> x509.Certificate:
    """The certificate that the token names as its signer's: for timestamps and nothing else (RFC 3161, 2.3)."""
    # The issuer's name is compared as it stands in the bytes; which certificate it is, its signed digest decides.
    named = {c for c in carried if c.serial_number == signed.serial and signed.issuer in c.tbs_certificate_bytes}
    require_sound(len(named) == 1, "carries its signer's certificate")
    found = named.pop()
    usage = _find_extension(found, x509.ExtendedKeyUsage)
    if usage is None or not usage.critical or list(usage.value) != [ExtendedKeyUsageOID.TIME_STAMPING]:
        raise UnsoundError(f"{name_certificate(found.subject)} is not a certificate for timestamps")
    return found


def build_chain(
    leaf: x509.Certificate, carried: Sequence[x509.Certificate], at_hand: Sequence[x509.Certificate]
) -> list[x509.Certificate]:
    """From ``leaf`` upwards as far as it goes, by those ``at_hand`` first, then by those that the token carries.

    Raises UnsoundError where one that is carried is not signed by the one that it names, if that one is here.
    """
    for child in carried:
        named = [c for c in (*at_hand, *carried) if _names_as_issuer(child, c)]
        if named and not any(is_issuer(child, c) for c in named):
            raise UnsoundError(
                f"damaged: {name_certificate(child.subject)} is not signed by {name_certificate(named[0].subject)}"
            )
    found = [leaf]
    while not is_self_signed(found[-1]) and len(found) < MAX_CHAIN:
        others = (c for c in (*at_hand, *carried) if c not in found)
        parent = next((c for c in others if is_issuer(found[-1], c)), None)
        if parent is None:
            break
        found.append(parent)
    return found


def check_named(signed: Signed, found: Sequence[x509.Certificate], carried: Sequence[x509.Certificate]) -> None:
    """What the token signed about certificates agrees with those it carries. Raises UnsoundError.

    The first digest is the signer's certificate; where more are listed, all carried ones of the chain are among them.
    """
    listed = certificates_signed_for(signed)
    bound = found[:1] if len(listed) == 1 else [c for c in found if c in carried]
    for position, certificate in enumerate(bound):
        allowed = listed[:1] if position == 0 else listed
        if not any(certificate.fingerprint(algorithm) == digest for algorithm, digest in allowed):
            raise UnsoundError(
                f"damaged: {name_certificate(certificate.subject)} is not the certificate that was signed for"
            )


def check_valid(found: Sequence[x509.Certificate], when: datetime) -> None:
    """Each certificate was valid at that moment, and each issuer may issue. Raises UnsoundError."""
    for position, certificate in enumerate(found):
        shown = name_certificate(certificate.subject)
        if not certificate.not_valid_before_utc <= when <= certificate.not_valid_after_utc:
            raise UnsoundError(f"the certificate {shown} was not valid at the token's time, {format_rfc3339(when)}")
        if position > 0:
            constraints = _find_extension(certificate, x509.BasicConstraints)
            if constraints is None or not constraints.value.ca:
                raise UnsoundError(f"{shown} may not issue certificates, and issued one of the token's")


def is_issuer(child: x509.Certificate, parent: x509.Certificate) -> bool:
    """True where ``child`` names ``parent`` as its issuer and carries its signature."""
    try:
        child.verify_directly_issued_by(parent)
    except (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
        return False
    return True


def _names_as_issuer(child: x509.Certificate, parent: x509.Certificate) -> bool:
    """True where ``child`` says that ``parent`` issued it: by the key's identifier where both have one, or by name.

    Two roots may share a name (an authority renews its key); the identifiers tell them apart.
    """
    said = _find_extension(child, x509.AuthorityKeyIdentifier)
    own = _find_extension(parent, x509.SubjectKeyIdentifier)
    if said is not None and said.value.key_identifier is not None and own is not None:
        return said.value.key_identifier == own.value.digest
    return child.issuer == parent.subject


def is_self_signed(certificate: x509.Certificate) -> bool:
    """True for a root: it names itself as its issuer and carries its own signature."""
    return is_issuer(certificate, certificate)


def name_certificate(subject: x509.Name) -> str:
    """A certificate's name for people: its common name, else all of it; never empty, nothing unprintable."""
    common = subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return clean_certificate_words(str(common[0].value) if common else subject.rfc4514_string()) or "(no name)"


def describe_certificate(certificate: x509.Certificate) -> str:
    """Name and fingerprint, and for what is no root its issuer: enough to look it up."""
    what = f"{name_certificate(certificate.subject)} (certificate SHA-256 {certificate.fingerprint(hashes.SHA256()).hex()})"
    return what if is_self_signed(certificate) else f"{what}, issued by {name_certificate(certificate.issuer)}"


def clean_certificate_words(text: str) -> str:
    """Words of strangers made fit to print: one line, printable, at most 300 characters."""
    shown = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(shown.split())[:300]


def format_rfc3339(when: datetime) -> str:
    """``YYYY-MM-DDTHH:MM:SS[.ffffff]Z`` of a moment that has a time zone."""
    return when.astimezone(UTC).isoformat().removesuffix("+00:00") + "Z"


def _find_extension(certificate: x509.Certificate, kind: type[_T]) -> x509.Extension[_T] | None:
    try:
        return certificate.extensions.get_extension_for_class(kind)
    except x509.ExtensionNotFound:
        return None
