"""A double's server: loopback, a port that the system gives, connections that stay open.

*Reads* and *writes* its sockets. *Never* listens where another machine could reach it.
"""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlencode

from penmark.testing.doubles.fake_vendor import DoubleAnswer, Request, Vendor
from penmark.testing.doubles.misbehaviour import REFUSALS, Behaviour, Limit, Script

ELSEWHERE = "http://192.0.2.1/"
"""An address that belongs to nobody (RFC 5737)."""
PAGE = b"<!doctype html><title>One moment</title><p>Checking your browser."
BLOCK = b" " * 2**16
SAID = ("error", "message", "msg", "detail")
"""Where vendors say in words what is wrong."""


class Double:
    """A double that is being served. ``url``; ``keys``: its secrets by name; ``ledger``: what it was asked and charged."""

    def __init__(self, vendor: Vendor, url: str) -> None:
        self.vendor, self.url = vendor, url
        self.keys, self.ledger = vendor.keys, vendor.ledger
        vendor.url = url


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True
    request_queue_size = 128

    def __init__(self, vendor: Vendor, script: Script, limit: Limit | None) -> None:
        self.vendor, self.script, self.limit = vendor, script, limit
        self.closing = threading.Event()
        self.faults: list[BaseException] = []
        self.open: set[socket.socket] = set()
        self.lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exception()
        if error is not None and not isinstance(error, OSError):
            self.faults.append(error)

    def hang_up(self) -> None:
        """End the connections that clients keep open."""
        self.closing.set()
        with self.lock:
            for connection in self.open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 2**16  # head and body leave together
    server: _Server

    def setup(self) -> None:
        super().setup()
        with self.server.lock:
            self.server.open.add(self.connection)

    def finish(self) -> None:
        with self.server.lock:
            self.server.open.discard(self.connection)
        with contextlib.suppress(OSError):
            super().finish()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        pass

    def do_POST(self) -> None:
        self.answer()

    do_GET = do_PUT = do_POST  # noqa: N815

    def answer(self) -> None:
        vendor = self.server.vendor
        route = vendor.route(self.command, self.path.partition("?")[0])
        step, found = route if route is not None else ("", {})
        act = self.server.script.next(step) if route is not None else None
        if act is None and self.server.limit is not None and not self.server.limit.permits():
            act = Behaviour("rate limited", retry_after="1")
        vendor.ledger.came(step)
        if act is not None and act.kind == "drop before":
            self.break_off()
            return
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if route is None:
            self.write(DoubleAnswer(404, {"error": "not found"}), None)
        elif act is not None and act.kind == "redirect":
            self.write(DoubleAnswer(307, None, {"Location": ELSEWHERE}), None)
        else:
            asked = Request(step, found, {name.lower(): value for name, value in self.headers.items()}, body)
            self.write(vendor.answer(asked, act), act)

    def write(self, said: DoubleAnswer, act: Behaviour | None) -> None:
        """Send the answer, or what becomes of it."""
        kind = act.kind if act is not None else None
        body = b"" if said.value is None else json.dumps(said.value).encode()
        headers = {"Content-Type": "application/json", **said.headers}
        if act is not None and kind in REFUSALS and act.retry_after is not None:
            headers["Retry-After"] = act.retry_after
        if act is not None and kind == "slow":
            self.server.closing.wait(act.seconds)
        if kind == "drop after":
            self.break_off()
            return
        if kind == "html":
            body, headers["Content-Type"] = PAGE, "text/html"
        if act is not None and (kind == "echo key" or act.tells):
            body, headers = self.echoing(body, headers, words=act.tells)
        self.send_response(said.status)
        for name, value in headers.items():
            self.send_header(name, value)
        if kind == "huge":
            self.without_end()
            return
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if kind == "half body" else body)
        self.wfile.flush()
        self.close_connection = self.close_connection or kind == "half body"

    def echoing(self, body: bytes, headers: dict[str, str], *, words: bool) -> tuple[bytes, dict[str, str]]:
        """The answer with what came with the question: its key in header, address and body, and in what it says."""
        keys = self.server.vendor.keys
        told = {"asked_with": {**dict(self.headers.items()), **keys}, "at": self.path}
        headers = {**headers, "X-Debug": json.dumps(told)}
        if "Location" in headers:
            headers["Location"] += "?" + urlencode(keys)
        if not body.startswith((b"{", b"[")):
            return body and body + b"<!-- " + json.dumps(told).encode() + b" -->", headers
        value = json.loads(body)
        where = value[0] if isinstance(value, list) else value
        where["debug"] = told
        for name in SAID if words else ():
            if isinstance(where.get(name), str):
                where[name] += f" (asked with {' '.join(keys.values())})"
        return json.dumps(value).encode(), headers

    def without_end(self) -> None:
        """Spaces, until the client has enough."""
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        with contextlib.suppress(OSError):
            while not self.server.closing.is_set():
                self.wfile.write(b"%x\r\n%s\r\n" % (len(BLOCK), BLOCK))
        self.close_connection = True

    def break_off(self) -> None:
        """End the connection with a reset, as a machine does that falls over."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()


@contextlib.contextmanager
def serve_double(vendor: Vendor, script: Script, limit: Limit | None = None) -> Iterator[Double]:
    """Serve ``vendor`` while in the block. Raises what went wrong inside it."""
    server = _Server(vendor, script, limit)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), name=f"double of {vendor.name}")
    thread.start()
    try:
        yield Double(vendor, f"http://127.0.0.1:{server.server_address[1]}")
    finally:
        server.hang_up()
        server.shutdown()
        thread.join()
        server.server_close()
    if server.faults:
        raise server.faults[0]
