"""Archived pages: what selecting and extracting cost beside the libraries that do the work, in one run.

    python benchmarks/bench_sources.py [pages]

Claims: pages are selected from WARC files at no less than half the rate at which the reader alone goes through them; prose
is extracted, and its page held against its digest, at no less than nine tenths of the rate of the extractor alone. Exit
code 1 where one does not hold.
Makes its own files (seeded), of pages of some 30 kB. *Writes* to a temporary folder. *Never* a figure without its pair.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import random
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from fastwarc.warc import ArchiveIterator, WarcRecordType
from trafilatura import extract

from penmark.shipped.sources import captures, warc_files
from penmark.shipped.sources.captures import Capture
from penmark.shipped.sources.warc_files import WantedPages, WarcRecord

WORDS = [
    *(
        "the",
        "of",
        "and",
        "to",
        "a",
        "in",
        "that",
        "it",
        "was",
        "he",
        "for",
        "on",
        "with",
        "as",
        "his",
        "they",
        "be",
        "at",
    ),
    *(
        "one",
        "have",
        "this",
        "from",
        "or",
        "had",
        "by",
        "but",
        "not",
        "what",
        "all",
        "were",
        "when",
        "your",
        "can",
        "said",
    ),
    *(
        "there",
        "use",
        "each",
        "which",
        "she",
        "how",
        "their",
        "will",
        "up",
        "other",
        "about",
        "out",
        "many",
        "then",
        "them",
    ),
    *("some", "would", "make", "like", "into", "time", "look", "two", "more", "write", "see", "number", "way", "could"),
    *("people", "water", "find", "long", "down", "day", "get", "come", "made", "may", "part", "over", "new", "sound"),
]
HOSTS = 20
ROUNDS = 5


def page(chance: random.Random, number: int) -> bytes:
    """An article among menus, scripts and links, as pages are."""
    sentences = [" ".join(chance.choices(WORDS, k=chance.randint(8, 24))).capitalize() + "." for _ in range(40)]
    body = "".join(f"<p>{' '.join(sentences[i : i + 4])}</p>" for i in range(0, 40, 4))
    links = "".join(
        f'<li><a href="/{chance.random()}">{" ".join(chance.choices(WORDS, k=4))}</a></li>' for _ in range(120)
    )
    script = f"<script>var x = {[round(chance.random(), 6) for _ in range(900)]};</script>"
    return (
        f'<!doctype html><html><head><meta charset="utf-8"><title>Page {number}</title>{script}</head><body>'
        f"<nav><ul>{links}</ul></nav><article><h1>Page {number}</h1>{body}</article>"
        f"<aside><ul>{links}</ul></aside><footer>All rights reserved.</footer></body></html>"
    ).encode()


def record(chance: random.Random, number: int) -> bytes:
    """A response record with its digest."""
    body = page(chance, number)
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + body
    digest = base64.b32encode(hashlib.sha1(body).digest()).decode()
    head = (
        f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{uuid.UUID(int=number)}>\r\n"
        f"WARC-Date: {2018 + number % 6}-05-01T12:00:00Z\r\n"
        f"WARC-Target-URI: https://host{number % HOSTS}.example.org/page/{number}\r\n"
        f"Content-Type: application/http; msgtype=response\r\nWARC-Payload-Digest: sha1:{digest}\r\n"
        f"Content-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


def alone(path: Path) -> int:
    """The reader alone: every response, nothing done with it."""
    with path.open("rb") as file:
        return sum(1 for _ in ArchiveIterator(file, record_types=WarcRecordType.response, parse_http=False))


def select(path: Path) -> int:
    """One host of twenty, pages of 2021 or earlier: found, and read whole."""
    wanted = WantedPages("", ("host3.example.org",), "1990-01-01", "2022-01-01")
    return sum(isinstance(item, WarcRecord) for item in warc_files.read_warc_records(path, wanted))


def taken(path: Path) -> list[WarcRecord]:
    """Every record of a file."""
    found = warc_files.read_warc_records(path, WantedPages("", (), "1990-01-01", "2100-01-01"))
    return [item for item in found if isinstance(item, WarcRecord)]


def ratio(first: Callable[[], object], second: Callable[[], object]) -> tuple[float, float, float]:
    """Best seconds of each of two, taken in turns, and the second's rate over the first's."""
    best = [float("inf")] * 2
    for _ in range(ROUNDS):
        for which, run in enumerate((first, second)):
            start = time.perf_counter()
            run()
            best[which] = min(best[which], time.perf_counter() - start)
    return best[0], best[1], best[0] / best[1]


def main(pages: int) -> int:
    """Print the pairs; exit code 1 where a claim does not hold."""
    chance = random.Random(4)
    records = [record(chance, number) for number in range(pages)]
    held = True
    with tempfile.TemporaryDirectory() as folder:
        plain, packed = Path(folder) / "crawl.warc", Path(folder) / "crawl.warc.gz"
        plain.write_bytes(b"".join(records))
        packed.write_bytes(b"".join(gzip.compress(each, 6) for each in records))
        for path in (packed, plain):
            seconds, ours, rate = ratio(lambda path=path: alone(path), lambda path=path: select(path))  # type: ignore[misc]
            size = path.stat().st_size / 2**20
            print(f"{path.name} ({size:.0f} MiB, {alone(path)} responses, {select(path)} selected)")
            print(
                f"  the reader alone {pages / seconds:,.0f} records/s, selecting {pages / ours:,.0f}: {rate:.2f} of it"
            )
            held &= rate >= 0.5
        some = [
            Capture(r.url, r.at, r.status, r.headers, r.body, r.digest, {})
            for r in taken(packed)[: max(20, pages // 20)]
        ]
    options = {"include_comments": False, "include_tables": False, "output_format": "txt"}
    rates = {}
    for language in (None, "en"):
        seconds, ours, rates[language] = ratio(
            lambda: [extract(one.body.decode(), **options) for one in some],
            lambda language=language: [captures.extract_page(one, language) for one in some],  # type: ignore[misc]
        )
        what = "and digests checked" if language is None else "and the language told as well"
        print(f"prose of {len(some)} pages: the extractor alone {len(some) / seconds:,.1f}/s")
        print(f"  {what} {len(some) / ours:,.1f}/s: {rates[language]:.2f} of it")
    return 0 if held and rates[None] >= 0.9 else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 4000))
