"""Tokens: what is believed, what is not known, and what is never let through."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID
from hypothesis import given, settings
from hypothesis import strategies as st
from rfc3161_client import decode_timestamp_response
from tests.local_authority import SHA512, WHEN, Holder, holder, openssl_agrees, pem, query, stamper, token

from penmark import timestamps
from penmark.demo.authority import answer_query, run_local_authority
from penmark.errors import PenmarkError
from penmark.timestamps import Trust, check_token

DATA = b'{"kind":"promise"}'
NOBODY = Trust()


def trusting(*roots: Holder, between: tuple[Holder, ...] = ()) -> Trust:
    return Trust(tuple(r.certificate for r in roots), tuple(b.certificate for b in between))


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a real authority, with a token over DATA that openssl made."""
    folder = tmp_path_factory.mktemp("authority")
    with run_local_authority(folder, "one authority"):
        (folder / "data").write_bytes(DATA)
        (folder / "token.tsr").write_bytes(answer_query(folder, query(DATA)))
    return folder


@pytest.fixture(scope="module")
def real(authority: Path) -> bytes:
    return (authority / "token.tsr").read_bytes()


@pytest.fixture(scope="module")
def believed(authority: Path) -> Trust:
    return Trust.load([authority / "root.pem"])


@pytest.fixture(scope="module")
def root() -> Holder:
    return holder("root")


# --- believed ------------------------------------------------------------------------------------------------------


def test_a_token_under_a_trusted_root(authority: Path, real: bytes, believed: Trust) -> None:
    result = check_token(real, DATA, believed)
    assert (result.state, result.authority, result.serial) == ("ok", "one authority", "0x02")
    assert result.at is not None
    assert result.detail == f"one authority says {result.at} (serial 0x02)"
    line = timestamps.make_openssl_line("data", "token.tsr", roots="root.pem", at=result.at)
    assert openssl_agrees(line, authority)
    assert openssl_agrees(timestamps.make_openssl_line("data", "token.tsr", roots="root.pem"), authority)
    assert not openssl_agrees(timestamps.make_openssl_line("root.pem", "token.tsr", roots="root.pem"), authority)


def test_a_printed_line_is_quoted() -> None:
    line = timestamps.make_openssl_line("a b", "x;y", at="1970-01-01T00:01:00Z")
    assert line == "openssl ts -verify -data 'a b' -in 'x;y' -CAfile ROOTS.pem -attime 60"


def test_expired_today_and_valid_then_is_believed(root: Holder, tmp_path: Path) -> None:
    old = token(DATA, stamper(root))
    assert check_token(old, DATA, trusting(root)) == timestamps.TokenResult(
        "ok", "2020-06-01T12:00:00Z", "stamper", "0x07", "stamper says 2020-06-01T12:00:00Z (serial 0x07)"
    )
    pem(tmp_path / "roots.pem", root)
    (tmp_path / "data").write_bytes(DATA)
    (tmp_path / "token").write_bytes(old)
    assert openssl_agrees(
        timestamps.make_openssl_line("data", "token", roots="roots.pem", at="2020-06-01T12:00:00Z"), tmp_path
    )
    assert not openssl_agrees(timestamps.make_openssl_line("data", "token", roots="roots.pem"), tmp_path)


@pytest.mark.parametrize("carried", [True, False])
def test_a_certificate_between_signer_and_root(root: Holder, carried: bool) -> None:
    between = holder("between", root)
    signer = stamper(between)
    if carried:
        assert check_token(token(DATA, signer, between), DATA, trusting(root)).state == "ok"
    else:
        assert check_token(token(DATA, signer), DATA, trusting(root, between=(between,))).state == "ok"
        assert check_token(token(DATA, signer), DATA, trusting(root)).state == "unknown authority"


def test_other_kinds_of_keys_and_attributes(root: Holder) -> None:
    by_rsa = stamper(root, key=rsa.generate_private_key(65537, 2048))
    by_p384 = stamper(root, key=ec.generate_private_key(ec.SECP384R1()))
    for signer in (by_rsa, by_p384):
        assert check_token(token(DATA, signer), DATA, trusting(root)).state == "ok"
    assert check_token(token(DATA, by_rsa, older_attribute=True), DATA, trusting(root)).state == "ok"


def test_an_authority_that_does_not_sort_its_certificates(authority: Path, believed: Trust) -> None:
    (authority / "asked").write_bytes(query(DATA))
    command = ["openssl", "ts", "-reply", "-config", "tsa.cnf", "-section", "tsa", "-queryfile", "asked"]
    command += ["-signer", "tsa.pem", "-inkey", "tsa.key"]
    done = subprocess.run([*command, "-chain", "root.pem"], cwd=authority, capture_output=True, check=True)
    with pytest.raises(ValueError, match="InvalidSetOrdering"):
        decode_timestamp_response(done.stdout)
    assert check_token(done.stdout, DATA, believed).state == "ok"
    fingerprint = believed.roots[0].fingerprint(hashes.SHA256()).hex()
    detail = check_token(done.stdout, DATA, NOBODY).detail
    assert detail.endswith(f"under one authority root (certificate SHA-256 {fingerprint})")
    doubled = subprocess.run([*command, "-chain", "tsa.pem"], cwd=authority, capture_output=True, check=True)
    assert check_token(doubled.stdout, DATA, believed).state == "ok"


# --- not known -----------------------------------------------------------------------------------------------------


def test_an_unknown_root_is_not_checked_and_named(real: bytes, authority: Path, root: Holder) -> None:
    signer = Trust.load([authority / "root.pem"])
    assert signer.between == ()
    result = check_token(real, DATA, trusting(root))
    assert (result.state, result.authority) == ("unknown authority", "one authority")
    assert result.at is not None
    assert "certificate SHA-256 " in result.detail
    assert result.detail.endswith("issued by one authority root")
    assert check_token(real, DATA, NOBODY) == result


def test_a_root_is_not_believed_because_the_token_brings_it(root: Holder) -> None:
    result = check_token(token(DATA, stamper(root), root), DATA, NOBODY)
    assert result.state == "unknown authority"
    assert root.certificate.fingerprint(hashes.SHA256()).hex() in result.detail


def test_another_root_of_the_same_name_is_another_root(root: Holder) -> None:
    namesake = holder("root")
    assert check_token(token(DATA, stamper(root)), DATA, trusting(namesake)).state == "unknown authority"
    assert check_token(token(DATA, stamper(root), root), DATA, trusting(namesake)).state == "unknown authority"
    assert check_token(token(DATA, stamper(root)), DATA, trusting(namesake, root)).state == "ok"


def test_what_strangers_write_is_printable(root: Holder) -> None:
    result = check_token(token(DATA, stamper(root, "a\x1b[2Jb\nc")), DATA, trusting(root))
    assert result.authority == "a [2Jb c"


# --- failed --------------------------------------------------------------------------------------------------------


def failed(given: bytes, trust: Trust, data: bytes = DATA) -> str:
    """Both under this trust and under none: a damaged token is never merely unknown."""
    result = check_token(given, data, trust)
    assert result[:4] == ("failed", None, None, None)
    assert check_token(given, data, NOBODY).state == "failed"
    assert result.detail
    return result.detail


def test_over_other_data(real: bytes, believed: Trust) -> None:
    assert "other data" in failed(real, believed, DATA + b"\n")


def test_over_another_kind_of_digest(root: Holder) -> None:
    given = token(DATA, stamper(root), imprint=(SHA512, hashlib.sha512(DATA).digest()))
    assert "SHA-256" in failed(given, trusting(root))


@pytest.mark.parametrize("valid", [(2018, 2020), (2021, 2023)])
def test_a_signer_that_was_not_valid_then(root: Holder, valid: tuple[int, int]) -> None:
    assert "not valid at the token's time" in failed(token(DATA, stamper(root, valid=valid)), trusting(root))


def test_a_root_that_was_not_valid_then() -> None:
    late = holder("late root", valid=(2021, 2030))
    given = token(DATA, stamper(late, valid=(2019, 2030)))
    assert check_token(given, DATA, trusting(late)).state == "failed"
    assert "late root was not valid" in failed(token(DATA, stamper(late, valid=(2019, 2030)), late), trusting(late))


def test_a_second_off_is_off(root: Holder) -> None:
    end = stamper(root).certificate.not_valid_after_utc
    assert check_token(token(DATA, stamper(root), at=end), DATA, NOBODY).state == "unknown authority"
    assert "not valid" in failed(token(DATA, stamper(root), at=end + timedelta(seconds=1)), trusting(root))


@pytest.mark.parametrize(
    "how",
    [
        {"usage": [ExtendedKeyUsageOID.CODE_SIGNING]},
        {"usage": None},
        {"critical": False},
        {"usage": [ExtendedKeyUsageOID.TIME_STAMPING, ExtendedKeyUsageOID.CODE_SIGNING]},
    ],
)
def test_a_certificate_that_is_not_for_timestamps(root: Holder, how: dict[str, object]) -> None:
    assert failed(token(DATA, stamper(root, **how)), trusting(root)) == "stamper is not a certificate for timestamps"


def test_a_signer_in_the_name_of_a_trusted_root(root: Holder) -> None:
    impostor = stamper(root, signed_by=ec.generate_private_key(ec.SECP256R1()))
    result = check_token(token(DATA, impostor), DATA, trusting(root))
    assert (result.state, result.detail) == ("failed", "damaged: stamper is not signed by root")
    assert "not signed by root" in failed(token(DATA, impostor, root), trusting(root))


def test_an_issuer_that_may_not_issue(root: Holder) -> None:
    plain = holder("plain", root, ca=False)
    assert "plain may not issue" in failed(token(DATA, stamper(plain), plain), trusting(root))


def test_the_signers_certificate_exchanged_for_another_of_its_key(root: Holder) -> None:
    signer = stamper(root)
    twin = stamper(root, key=signer.key)
    assert "not the certificate that was signed for" in failed(token(DATA, twin, bound=[signer]), trusting(root))


def test_a_certificate_of_the_chain_that_was_not_signed_for(root: Holder) -> None:
    between = holder("between", root)
    signer, twin = stamper(between), holder("between", root, key=between.key)
    assert check_token(token(DATA, signer, between, bound=[signer, between]), DATA, trusting(root)).state == "ok"
    assert "between is not" in failed(token(DATA, signer, twin, bound=[signer, between]), trusting(root))


def test_what_is_no_token_at_all(authority: Path, believed: Trust) -> None:
    assert failed(b"", believed) == "not a timestamp token: it is empty"
    page = failed(b"<html>502 Bad Gateway</html>", believed)
    assert page == "not a timestamp token (RFC 3161) but something else"
    assert "the limit is" in failed(b"0" * (timestamps.MAX_TOKEN + 1), believed)
    refused = failed(answer_query(authority, b"no query"), believed)
    assert refused == "the authority gave no token: rejection (Bad request format or system error.)"


@settings(max_examples=100, deadline=None)
@given(junk=st.binary(max_size=200))
def test_garbage_fails_with_a_reason(junk: bytes) -> None:
    result = check_token(junk, DATA, NOBODY)
    assert result.state == "failed"
    assert _words(result.detail)


def _words(detail: str) -> bool:
    """Whether it is a sentence for people, and not what a library says to programmers."""
    return (
        re.search(r"ParseError|ASN|[{}\[\]]|[A-Za-z]::[A-Za-z]|\w+Error\b", detail) is None and len(detail.split()) > 3
    )


@pytest.mark.parametrize("cut", [5, 100, -1])
def test_a_token_that_was_cut_is_called_damaged(real: bytes, cut: int) -> None:
    told = "the token is damaged: a part of it cannot be read as what should stand there"
    assert check_token(real[:cut], DATA, NOBODY).detail == told


# --- damage --------------------------------------------------------------------------------------------------------


def test_a_flipped_bit_anywhere_is_noticed(real: bytes, believed: Trust) -> None:
    """Every byte of what ``openssl ts -reply`` gives, with and without its root known."""
    for position in range(len(real)):
        damaged = bytearray(real)
        damaged[position] ^= 1 << position % 8
        given = bytes(damaged)
        assert (position, check_token(given, DATA, believed).state) == (position, "failed")
        assert (position, check_token(given, DATA, NOBODY).state) == (position, "failed")
        assert _words(check_token(given, DATA, NOBODY).detail)


@settings(max_examples=100, deadline=None)
@given(edit=st.data())
def test_an_edit_anywhere_is_noticed(edit: st.DataObject, root: Holder) -> None:
    """Bytes replaced, cut out or put in, in a token that carries its whole chain: never believed but as it was."""
    whole = _whole(root)
    start = edit.draw(st.integers(0, len(whole)))
    end = edit.draw(st.integers(start, min(start + 8, len(whole))))
    middle = edit.draw(st.binary(max_size=8))
    edited = whole[:start] + middle + whole[end:]
    state = check_token(edited, DATA, NOBODY).state
    assert state == ("unknown authority" if edited == whole else "failed")


_MADE: dict[int, bytes] = {}


def _whole(root: Holder) -> bytes:
    """One token for all examples: leaf, middle and root, all of them signed for."""
    if id(root) not in _MADE:
        between = holder("between", root)
        signer = stamper(between)
        _MADE[id(root)] = token(DATA, signer, between, root, bound=[signer, between, root])
    return _MADE[id(root)]


@pytest.mark.parametrize("cut", ["head", "tail", "more"])
def test_a_token_cut_short_or_made_longer(real: bytes, believed: Trust, cut: str) -> None:
    for length in range(1, len(real), 37):
        failed({"head": real[length:], "tail": real[:-length], "more": real + bytes(length)}[cut], believed)


# --- trust ---------------------------------------------------------------------------------------------------------


def test_no_authority_is_shipped_and_files_add_theirs(root: Holder, tmp_path: Path) -> None:
    other, between = holder("other"), holder("between", root)
    assert Trust.load() == NOBODY
    trust = Trust.load([pem(tmp_path / "one.pem", root, between), pem(tmp_path / "two.pem", other, root)])
    assert trust == trusting(root, other, between=(between,))


def test_files_that_add_nothing_are_refused(root: Holder, tmp_path: Path) -> None:
    (tmp_path / "empty.pem").write_bytes(b"")
    (tmp_path / "junk.pem").write_bytes(b"-----BEGIN CERTIFICATE-----\nnot base64\n-----END CERTIFICATE-----\n")
    pem(tmp_path / "leaf.pem", stamper(root))
    for name, fact in (
        ("empty.pem", "holds no root certificate"),
        ("leaf.pem", "holds no root certificate"),
        ("junk.pem", "not certificates"),
        ("none.pem", "there is no such file"),
    ):
        with pytest.raises(PenmarkError) as caught:
            Trust.load([tmp_path / name])
        assert str(caught.value).startswith(f"{tmp_path / name}: {fact}")


# --- quiet ---------------------------------------------------------------------------------------------------------

_OFFLINE = """
import pathlib, sys
from penmark import timestamps
token, data, root = (pathlib.Path(p).read_bytes() for p in sys.argv[1:])
trust = timestamps.Trust.load([pathlib.Path(sys.argv[3])])
def hook(event, args):
    if event in ("open", "import") or event.split(".")[0] in ("socket", "subprocess", "os", "shutil", "urllib", "http"):
        raise RuntimeError(event)
sys.addaudithook(hook)
states = [timestamps.check_token(t, data, k).state for t in (token, token[:-1]) for k in (trust, timestamps.Trust())]
sys.stdout.write(repr(states))
"""


def test_checking_opens_nothing_and_asks_nobody(authority: Path) -> None:
    names = [str(authority / name) for name in ("token.tsr", "data", "root.pem")]
    done = subprocess.run([sys.executable, "-c", _OFFLINE, *names], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout == "['ok', 'unknown authority', 'failed', 'failed']"


def test_moments_and_times_are_each_others_opposite() -> None:
    for at in ("2026-11-30T12:00:00Z", "2026-11-30T12:00:00.250000Z"):
        assert timestamps.format_rfc3339(timestamps.parse_rfc3339(at)) == at
    assert timestamps.format_rfc3339(WHEN) == "2020-06-01T12:00:00Z"


def test_this_machines_time_is_written_so_that_it_sorts() -> None:
    first, second = timestamps.format_time_now(), timestamps.format_time_now()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", first)
    assert first <= second
    assert timestamps.parse_rfc3339(first) <= timestamps.parse_rfc3339(second)
