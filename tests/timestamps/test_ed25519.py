"""Signatures: the right key over the right bytes, and openssl agrees."""

import subprocess

import pytest

from penmark.errors import PenmarkError
from penmark.timestamps import ed25519


def test_a_signature_holds_for_its_bytes_and_its_key():
    key = ed25519.make_private_key()
    public, given = ed25519.derive_public_key(key), ed25519.sign_data(key, b"data")
    assert (len(public), len(given)) == (64, 129)
    assert ed25519.is_signed(public, b"data", given)
    assert not ed25519.is_signed(public, b"date", given)
    assert not ed25519.is_signed(ed25519.derive_public_key(ed25519.make_private_key()), b"data", given)
    for broken in (b"", b"not hexadecimal", given[:-3], b"\xff\n"):
        assert not ed25519.is_signed(public, b"data", broken)
    assert not ed25519.is_signed("x", b"data", given)


def test_what_is_no_key():
    for pem in (b"", b"-----BEGIN PRIVATE KEY-----\n", b"\x00" * 32):
        with pytest.raises(PenmarkError, match=r"no Ed25519 private key[^\0]*signing\.pem"):
            ed25519.derive_public_key(pem)


def test_openssl_agrees(tmp_path):
    key = ed25519.make_private_key()
    (tmp_path / "key.pem").write_bytes(key)
    (tmp_path / "data").write_bytes(b"some lines\n")
    (tmp_path / "sig").write_bytes(bytes.fromhex(ed25519.sign_data(key, b"some lines\n").decode()))
    public = ["openssl", "pkey", "-in", "key.pem", "-pubout", "-out", "public.pem"]
    checked = [
        "openssl",
        "pkeyutl",
        "-verify",
        "-pubin",
        "-inkey",
        "public.pem",
        "-rawin",
        "-in",
        "data",
        "-sigfile",
        "sig",
    ]
    for command in (public, checked):
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
