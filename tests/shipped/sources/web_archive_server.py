"""A web archive on this machine, and WARC files: an index, a replay, and whatever else an archive may answer.

Real sockets, on the loopback interface only. What it keeps is what a test gives it; what was asked is in ``asked``.
"""

from __future__ import annotations

import base64
import contextlib
import gzip
import hashlib
import http.server
import json
import threading
import time
import uuid
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from penmark.errors import Fault, FaultsError

ENGLISH = [
    "The committee met in the old town hall on a wet evening in March, and nobody expected the argument to last so long.",
    "Three of the members had read the report; the others had brought umbrellas and opinions about the bridge.",
    "When the vote was finally called, the chairman asked for the lamps to be lit and counted the hands himself.",
    "It was decided that the bridge would stay, that the road would be mended, and that the matter was closed.",
]
FRENCH = [
    "Le comité s'est réuni dans l'ancien hôtel de ville un soir pluvieux de mars, et l'on croyait que la dispute durerait peu.",
    "Trois des membres avaient lu le rapport; les autres avaient apporté des parapluies et des avis sur le pont.",
    "Quand on a enfin voté, le président a demandé que l'on allume les lampes et il a compté les mains lui-même.",
    "On a décidé que le pont resterait, que la route serait réparée et que l'affaire était close pour de bon.",
]


def drained(drafts: Iterator[Any]) -> tuple[list[Any], list[Fault]]:
    """What a source yields, and the faults that it raises at the end."""
    found = []
    try:
        for draft in drafts:
            found.append(draft)
    except FaultsError as error:
        return found, list(error.faults)
    return found, []


def page(sentences: list[str] = ENGLISH, title: str = "The bridge", note: str = "") -> bytes:
    """An article with what stands around articles."""
    body = "".join(f"<p>{sentence} {note}</p>" for sentence in sentences)
    return (
        f'<!doctype html><html><head><meta charset="utf-8"><title>{title}</title></head><body>'
        '<nav><a href="/">Home</a> <a href="/news">News</a></nav>'
        f"<article><h1>{title}</h1>{body}</article>"
        "<footer>We use cookies. Accept all cookies?</footer></body></html>"
    ).encode()


def sha1(body: bytes) -> str:
    return base64.b32encode(hashlib.sha1(body).digest()).decode()


class Kept(NamedTuple):
    """A capture as an archive keeps it; ``digest`` and ``answer`` where it lies or breaks."""

    url: str
    at: str
    body: bytes = page()
    status: int = 200
    mime: str = "text/html"
    headers: dict[str, str] = {}
    digest: str | None = None
    answer: tuple[int, dict[str, str], bytes] | None = None

    @property
    def stated(self) -> str:
        return self.digest if self.digest is not None else sha1(self.body)


class Archive:
    """``form``: how the index answers, as ``wayback`` or as ``pywb``. ``before``: answers that come first, by path prefix."""

    def __init__(self, *kept: Kept, form: str = "wayback", robots: bytes | None = None) -> None:
        self.kept, self.form, self.robots = list(kept), form, robots
        self.before: list[tuple[str, int, dict[str, str], bytes]] = []
        self.files: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.agents: set[str] = set()
        self.moments: list[float] = []
        self.busy, self.together = 0, 0
        self.url = ""

    @property
    def options(self) -> dict[str, str]:
        return {"index": f"{self.url}/cdx", "replay": f"{self.url}/web", "archive": "the test archive", "pause": "0"}

    def answer(self, path: str, span: str | None) -> tuple[int, dict[str, str], bytes]:
        for number, (prefix, *said) in enumerate(self.before):
            if path.startswith(prefix):
                del self.before[number]
                return said[0], said[1], said[2]
        if path == "/robots.txt":
            return (404, {}, b"") if self.robots is None else (200, {"Content-Type": "text/plain"}, self.robots)
        if path.startswith("/cdx?"):
            return 200, {"Content-Type": "application/json"}, self._index(parse_qs(urlsplit(path).query))
        if path.startswith("/web/"):
            return self._replay(path.removeprefix("/web/"))
        if path.removeprefix("/") in self.files:
            return self._part(self.files[path.removeprefix("/")], span)
        return 404, {}, b"nothing here"

    def _index(self, query: dict[str, list[str]]) -> bytes:
        since, until = query["from"][0], query["to"][0]
        rows = [k for k in self.kept if k.url == query["url"][0] and since <= k.at <= until]
        rows = sorted(rows, key=lambda k: k.at)[: int(query["limit"][0])]
        if self.form == "pywb":
            listed = [
                {
                    "urlkey": "x",
                    "timestamp": k.at,
                    "url": k.url,
                    "mime": k.mime,
                    "status": str(k.status),
                    "digest": k.stated,
                }
                for k in rows
            ]
            return b"".join(json.dumps(row).encode() + b"\n" for row in listed)
        header = ["urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length"]
        table = [
            ["x", k.at, k.url, k.mime, "-" if k.mime == "warc/revisit" else str(k.status), k.stated, "9"] for k in rows
        ]
        return json.dumps([header, *table] if table else []).encode()

    def _replay(self, rest: str) -> tuple[int, dict[str, str], bytes]:
        stamp, _, url = rest.partition("id_/")
        for k in self.kept:
            if (k.at, k.url) == (stamp, url):
                when = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.strptime(k.at, "%Y%m%d%H%M%S"))
                return k.answer or (k.status, {"Content-Type": k.mime, "Memento-Datetime": when, **k.headers}, k.body)
        return 404, {}, b"not archived"

    @staticmethod
    def _part(data: bytes, span: str | None) -> tuple[int, dict[str, str], bytes]:
        if span is None:
            return 200, {}, data
        first, last = (int(part) for part in span.removeprefix("bytes=").split("-"))
        part = data[first : last + 1]
        told = f"bytes {first}-{first + len(part) - 1}/{len(data)}"
        return (206, {"Content-Range": told, "ETag": f'"{sha1(data)}"'}, part) if part else (416, {}, b"")


@contextlib.contextmanager
def served(archive: Archive) -> Iterator[Archive]:
    """The archive, at ``archive.url``, while in the block."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            archive.busy += 1
            archive.together = max(archive.together, archive.busy)
            archive.asked.append(self.path)
            archive.moments.append(time.monotonic())
            archive.agents.add(self.headers["User-Agent"])
            status, headers, body = archive.answer(self.path, self.headers.get("Range"))
            if status == 0:  # the connection breaks
                archive.busy -= 1
                self.close_connection = True
                self.connection.close()
                return
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            archive.busy -= 1

        def log_message(self, *given: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    archive.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield archive
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


# --- WARC files ----------------------------------------------------------------------------------------------------


class Entry(NamedTuple):
    """A record of a WARC file. ``digest``: None for the right one, "" for none. ``cut``: bytes that are missing at its end."""

    url: str
    body: bytes = page()
    at: str = "2020-05-01T12:00:00Z"
    status: str = "200 OK"
    mime: str = "text/html; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()
    digest: str | None = None
    further: tuple[tuple[str, str], ...] = ()
    kind: str = "response"
    cut: int = 0

    @property
    def name(self) -> str:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.url} {self.at}"))


def record(entry: Entry) -> bytes:
    """The bytes of a record, written here and by no library."""
    told = [("Content-Type", entry.mime), *entry.headers]
    block = f"HTTP/1.1 {entry.status}\r\n".encode() + _lines(told) + b"\r\n" + entry.body
    digest = f"sha1:{sha1(entry.body)}" if entry.digest is None else entry.digest
    named = [
        ("WARC-Type", entry.kind),
        ("WARC-Record-ID", f"<urn:uuid:{entry.name}>"),
        ("WARC-Date", entry.at),
        ("WARC-Target-URI", entry.url),
        ("Content-Type", "application/http; msgtype=response"),
        *([("WARC-Payload-Digest", digest)] if digest else []),
        *entry.further,
        ("Content-Length", str(len(block))),
    ]
    whole = b"WARC/1.1\r\n" + _lines(named) + b"\r\n" + block
    return whole[: len(whole) - entry.cut] + b"\r\n\r\n"


def warc(*entries: Entry, packed: bool) -> bytes:
    """The bytes of a WARC file, each record a gzip member where it is packed."""
    return b"".join(gzip.compress(record(e), mtime=0) if packed else record(e) for e in entries)


def _lines(named: list[tuple[str, str]]) -> bytes:
    return "".join(f"{name}: {value}\r\n" for name, value in named).encode()
