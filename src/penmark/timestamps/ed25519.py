"""Signatures of session exports: an Ed25519 key of the study, made at ``init``; its public part is in the promise.

*Reads* and *writes* nothing: keys, signatures and data are bytes. *Never* says when something was signed, or that what
was signed is true: only that whoever holds the key signed just these bytes.
"""

from __future__ import annotations

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from penmark.errors import PenmarkError


def make_private_key() -> bytes:
    """A new private key, PEM (PKCS 8, not encrypted)."""
    return Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def derive_public_key(pem: bytes) -> str:
    """The public part of a private key: 64 hexadecimal digits. Raises PenmarkError for what is no Ed25519 key."""
    return _load_private_key(pem).public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex()


def sign_data(pem: bytes, data: bytes) -> bytes:
    """The signature of ``data``: 128 hexadecimal digits and LF. Raises PenmarkError for what is no Ed25519 key."""
    return _load_private_key(pem).sign(data).hex().encode() + b"\n"


def is_signed(public: str, data: bytes, given: bytes) -> bool:
    """True where ``given``, as ``sign_data`` makes it, is the signature of ``data`` under that public key."""
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(bytes.fromhex(given.decode().strip()), data)
    except (InvalidSignature, ValueError):
        return False
    return True


def _load_private_key(pem: bytes) -> Ed25519PrivateKey:
    try:
        key = load_pem_private_key(pem, None)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise PenmarkError("is no Ed25519 private key", remedy="Restore private/signing.pem as `penmark init` made it.")
    return key
