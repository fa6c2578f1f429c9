"""A vendor on this machine that answers as it is told, text after text, and counts what it was asked; and its card."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

CARD = """\
name: faulty
title: A vendor for tests
vendor: the tests
homepage: none
ask:
  by: http
  request:
    send:
      url: "{url}/judge"
      body: '{{"text": "{{text}}"}}'
    timeout: {timeout}
    price: {{amount: "1", currency: credits, per: 1, unit: texts, rounding: up}}
answer: {{displayed: /score, score: /score, label: /verdict, version: /version}}
scale: {{meaning: probability, direction: ai, low: "0", high: "1"}}
boundary: {{kind: boundary, operator: ">=", value: "0.5", source: the tests, date: "2026-11-30"}}
limits: {{maximum_words: 1000, languages: [en]}}
display: document
terms: {{where: none, results_may_be_published: "yes"}}
facts_as_of: "2026-11-30"
"""


class Said(NamedTuple):
    """An answer. ``drip``: seconds between its bytes."""

    body: bytes
    status: int = 200
    kind: str = "application/json"
    drip: float = 0.0


GOOD = Said(b'{"score": 0.25}')
Says = Callable[[str, int], Said]
"""What it says of a text; ``int``: how many texts it was asked about before, without the canary."""


class Faulty(NamedTuple):
    """``asked``: every text that it was asked about, the canary too, in order."""

    url: str
    asked: list[str]

    def card(self, timeout: int = 5) -> str:
        """Its card."""
        return CARD.format(url=self.url, timeout=timeout)


def after(good: int, bad: Said) -> Says:
    """So many good answers, then the other one."""
    return lambda text, before: GOOD if before < good else bad


@contextlib.contextmanager
def faulty(says: Says) -> Iterator[Faulty]:
    """The server, while in the block. The canary is always answered well."""
    asked: list[str] = []
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            text = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["text"]
            with lock:
                before = sum(not _practice(each) for each in asked)
                asked.append(text)
            said = GOOD if _practice(text) else says(text, before)
            self.send_response(said.status)
            self.send_header("Content-Type", said.kind)
            self.send_header("Content-Length", str(len(said.body)))
            self.end_headers()
            if not said.drip:
                self.wfile.write(said.body)
                return
            with contextlib.suppress(OSError):
                for byte in said.body:
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
                    time.sleep(said.drip)

        def log_message(self, *said: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield Faulty(f"http://127.0.0.1:{server.server_port}", asked)
        finally:
            server.shutdown()


def _practice(text: str) -> bool:
    return not text.startswith("Study text")


def texts(count: int) -> dict[str, str]:
    """Texts of the corpus, by id."""
    return {f"d-{n:02d}": f"Study text {n} speaks of nothing in particular." for n in range(count)}
