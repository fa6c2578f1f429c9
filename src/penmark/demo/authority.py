"""A timestamp authority on this machine, for the demonstration and for tests: real tokens, which nobody trusts.

*Reads* the queries that are posted to it on the loopback address. *Writes* fresh keys, certificates and a
configuration into its folder; answers what ``openssl ts -reply`` makes of each query. *Never* a known authority.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from penmark import study
from penmark.errors import ServiceError

MAX_QUERY = 2**16
"""No query is longer than this (bytes)."""
_CONFIGURATION = """\
[tsa]
serial = serial
default_policy = 1.3.6.1.4.1.99999.1
digests = sha256
signer_digest = sha256
ess_cert_id_alg = sha256
"""


class LocalAuthority(NamedTuple):
    """Where to post queries, and the root certificate (PEM) for those who want to trust it."""

    url: str
    root: Path


@contextlib.contextmanager
def run_local_authority(folder: Path, name: str) -> Iterator[LocalAuthority]:
    """An authority that answers while in the block. Its keys are made in ``folder`` and are new each time.

    Raises ServiceError where openssl is not installed.
    """
    if shutil.which("openssl") is None:
        raise ServiceError("the program openssl is not installed", remedy="Install it: sudo apt-get install openssl")
    _make_folder(folder, name)
    with _Server(folder) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield LocalAuthority(f"http://127.0.0.1:{server.server_address[1]}/", folder / "root.pem")
        finally:
            server.shutdown()
            thread.join()


def answer_query(folder: Path, query: bytes) -> bytes:
    """What ``openssl ts -reply`` answers to a query, with the keys in ``folder``. Raises ServiceError."""
    command = ["openssl", "ts", "-reply", "-config", "tsa.cnf", "-section", "tsa", "-queryfile", "/dev/stdin"]
    command += ["-signer", "tsa.pem", "-inkey", "tsa.key"]
    done = subprocess.run(command, cwd=folder, input=query, capture_output=True, check=False)
    if done.returncode != 0 or not done.stdout:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise ServiceError(f"openssl gave no answer: {said[-1] if said else done.returncode}", place=str(folder))
    return done.stdout


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.one_at_a_time = threading.Lock()  # openssl counts the tokens in a file
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > MAX_QUERY:
            self.send_error(400, "no query, or too long a one")
            return
        query = self.rfile.read(int(length))
        try:
            with self.server.one_at_a_time:
                answer = answer_query(self.server.folder, query)
        except ServiceError as error:
            self.send_error(500, error.faults[0].fact)
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/timestamp-reply")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is inherited
        """Says nothing: progress belongs to the command line."""


def _make_folder(folder: Path, name: str) -> None:
    """A root, a signer under it, and openssl's configuration."""
    root_key, signer_key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    root_name, signer_name = _name_common(f"{name} root"), _name_common(name)
    root = (
        _make_certificate(root_name, root_name, root_key.public_key(), root_key.public_key(), days=3650)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(root_key, hashes.SHA256())
    )
    signer = (
        _make_certificate(signer_name, root_name, signer_key.public_key(), root_key.public_key(), days=366)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.TIME_STAMPING]), critical=True)
        .sign(root_key, hashes.SHA256())
    )
    study.write_bytes(folder / "root.pem", root.public_bytes(Encoding.PEM))
    study.write_bytes(folder / "tsa.pem", signer.public_bytes(Encoding.PEM))
    study.write_private(folder / "tsa.key", signer_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    study.write_bytes(folder / "tsa.cnf", _CONFIGURATION.encode())
    study.write_bytes(folder / "serial", b"01\n")


def _make_certificate(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    issuer_key: ec.EllipticCurvePublicKey,
    *,
    days: int,
) -> x509.CertificateBuilder:
    """Valid from yesterday (clocks differ) for so many days."""
    start = datetime.now(UTC) - timedelta(days=1)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + timedelta(days=days))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key), critical=False)
    )


def _name_common(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])
