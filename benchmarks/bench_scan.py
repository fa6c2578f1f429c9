"""How close a scan comes to what a vendor permits, and what it costs beside a bare client of the same HTTP library.

A double in a process of its own permits so many requests a second and refuses more. The bare client asks it about the
same texts, by as many threads and no faster, and keeps nothing; the scan makes every question and every answer durable.
Then a scan with very many readings on disk is resumed, and the time until its first request is taken. Not a timed test.
``PENMARK_BENCH_DOCUMENTS`` and ``PENMARK_BENCH_READINGS`` make it smaller.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx2

from penmark import cards, journal, study, text
from penmark.cards import judge
from penmark.format import canonical_json, versions
from penmark.journal import evidence_log
from penmark.records import Document, Pace, Protocol
from penmark.stages.commit import make_seals
from penmark.stages.scan import open_scan
from penmark.stages.scan.scan_readiness import CONNECTIONS, ScanLimits
from penmark.study import Edition, Study
from penmark.testing.doubles import place_card, run_double

DOCUMENTS = int(os.environ.get("PENMARK_BENCH_DOCUMENTS", "10000"))
READINGS = int(os.environ.get("PENMARK_BENCH_READINGS", "100000"))
PERMITTED = 500
"""Requests a second."""
VENDOR = "gptzero"
SEED = bytes(range(32))
LEFT = 1_000
"""Documents that the resumed scan still has to ask about."""


@dataclass
class Cost:
    """Seconds of wall clock and of CPU for so many answers; memory (MiB) after a fifth of them, and at the end; how often
    the vendor said that it was asked too much."""

    documents: int
    wall: float
    cpu: float
    early: float = 0.0
    late: float = 0.0
    refused: int = 0

    @property
    def rate(self) -> float:
        """Documents a second."""
        return self.documents / self.wall


def main() -> None:
    """Measure, and print both sides."""
    with tempfile.TemporaryDirectory() as folder, _elsewhere() as (url, key):
        os.environ["GPTZERO_API_KEY"] = key
        place, texts = _study(Path(folder) / "study", url, DOCUMENTS)
        bare = _bare(url, key, texts)
        time.sleep(2)  # until what was asked so far counts no more
        scan = _scan(place, len(texts))
        print(f"{DOCUMENTS} documents, a vendor that permits {PERMITTED} requests a second, {CONNECTIONS} connections")
        for name, cost in (("bare client", bare), ("scan", scan)):
            each = 1e3 * cost.cpu / cost.documents
            print(f"  {name:<12} {cost.rate:7.1f}/s  {each:.3f} ms CPU an answer  {cost.refused} times too fast")
        goal = min(float(PERMITTED), bare.rate)
        _told("rate / what can be reached", scan.rate / goal, 0.95, least=True)
        cpu = (scan.cpu / scan.documents) / (bare.cpu / bare.documents)
        _told("CPU an answer / the bare client's", cpu, 2.0, least=False)
        print(f"  memory {scan.early:.0f} MiB after a fifth, {scan.late:.0f} MiB near the end")
    with tempfile.TemporaryDirectory() as folder, _elsewhere() as (url, key):
        os.environ["GPTZERO_API_KEY"] = key
        place, texts = _study(Path(folder) / "study", url, READINGS + LEFT)
        _answered(place, texts, READINGS)
        opened, first = _resumed(place)
        print(f"{READINGS} readings on disk, {LEFT} documents left")
        _told("seconds until the scan is open", opened, 2.0, least=False)
        print(f"  of the whole command, from its call to its first request: {first:.2f} s")


def _told(what: str, ratio: float, limit: float, *, least: bool) -> None:
    kept = ratio >= limit if least else ratio <= limit
    print(f"  {what}: {ratio:.3f}; {'at least' if least else 'at most'} {limit}: {'kept' if kept else 'MISSED'}")


# --- the double, in a process of its own -----------------------------------------------------------------------------


@contextlib.contextmanager
def _elsewhere() -> Iterator[tuple[str, str]]:
    """Address and key of a double in another process, while in the block."""
    with subprocess.Popen(
        [sys.executable, __file__, "double"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            told = json.loads(process.stdout.readline())
            yield told["url"], told["key"]
        finally:
            process.stdin.close()
            process.wait(timeout=30)


def _serve() -> None:
    with run_double(VENDOR, permits=PERMITTED) as there:
        print(json.dumps({"url": there.url, "key": there.keys["key"]}), flush=True)
        sys.stdin.read()


# --- a study -----------------------------------------------------------------------------------------------------------


def _study(root: Path, url: str, documents: int) -> tuple[Study, dict[str, str]]:
    """A frozen study of one arm and one vendor; its texts by document."""
    place, tag = Study(root), "BENCH-2026-Q4"
    study.write_bytes(place.marker, b"study: bench\n")
    study.write_private(place.seed, SEED)
    written = place_card(cards.find_card(VENDOR, None).read_text(encoding="utf-8"), url)
    study.write_bytes(place.cards / f"{VENDOR}.yaml", written.encode())
    edition = Edition(root / "editions" / tag)
    study.write_bytes(edition.protocol_yaml, b"study: bench\n")
    promised = Protocol.model_validate_json(canonical_json.encode_json(_protocol(tag, documents)))
    paths = make_seals.prepare_promise(place, edition, promised)
    make_seals.make_seal(edition, "promise", "bench", paths, authorities=[], now="2026-01-01T00:00:00Z")
    texts = {f"{number:06d}": _text(number) for number in range(documents)}
    rows = [_document(name, raw) for name, raw in texts.items()]
    study.write_texts(place.arm("A"), {row["address"]: texts[row["id"]].encode() for row in rows})
    head = {"arms": {"A": documents}, "documents": documents, "edition": tag, "kind": "manifest"}
    study.write_records(edition.manifest, [head | {"study": "bench", "word_rule": text.WORD_RULE}, *rows])
    study.write_bytes(edition.screening, b"severity\n")
    sealed = ["manifest.jsonl", "screening.csv"]
    make_seals.make_seal(edition, "corpus", "bench", sealed, authorities=[], now="2026-01-02T00:00:00Z")
    return place, texts


def _text(number: int) -> str:
    return f"Text {number} speaks of nothing in particular, at the length that a short piece of prose has. " * 18


def _protocol(tag: str, documents: int) -> dict[str, Any]:
    today = datetime.now(UTC).date()
    arm = {"name": "A", "title": "A", "truth": "human", "documents": documents, "headline": True, "persists": True}
    arm |= {"evidence": {"kinds": ["archive"], "grades": ["archived"]}, "filled": "made up"}
    detector = {"name": VENDOR, "card": VENDOR, "surface": "api", "tier": "none", "payer": "none", "relation": "none"}
    return {
        "study": "bench",
        "title": "A benchmark",
        "edition": tag,
        "people": [{"name": "N", "role": "runs it", "interests": "none"}],
        "payer": "nobody",
        "schedule": "once",
        "window": {"opens": str(today - timedelta(days=1)), "closes": str(today + timedelta(days=2))},
        "seed_sha256": canonical_json.sha256(SEED),
        "arms": [arm],
        "detectors": [detector],
    }


def _document(name: str, written: str) -> dict[str, Any]:
    given = {"kind": "archive", "grade": "archived", "source": "https://example.org/a", "archive": "a web archive"}
    given |= {"evidence_date": "2020-05-01", "licence": "CC0"}
    digest = canonical_json.sha256(written.encode())
    value = {"id": name, "arm": "A", "address": digest, "canonical_sha256": digest, "language": "en"}
    value |= {"words": text.count_words(written), "characters": len(written), "provenance": given}
    return Document.model_validate_json(canonical_json.encode_json(value)).model_dump(mode="json", by_alias=True)


# --- both sides --------------------------------------------------------------------------------------------------------


def _bare(url: str, key: str, texts: dict[str, str]) -> Cost:
    """Ask about every text with the HTTP library alone."""
    ordered, taken, lock = list(texts.values()), iter(range(len(texts))), threading.Lock()
    statuses: Counter[int] = Counter()
    client = httpx2.Client(limits=httpx2.Limits(max_connections=CONNECTIONS), trust_env=False, timeout=60)
    started_at = time.monotonic()

    def work() -> None:
        while True:
            with lock:
                number = next(taken, None)
            if number is None:
                return
            time.sleep(max(0.0, started_at + number / PERMITTED - time.monotonic()))
            answer = client.post(
                f"{url}/v2/predict/text", headers={"x-api-key": key}, json={"document": ordered[number]}
            )
            answer.json()
            with lock:
                statuses[answer.status_code] += 1

    cpu = time.process_time()
    threads = [threading.Thread(target=work) for _ in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    client.close()
    return Cost(statuses[200], time.monotonic() - started_at, time.process_time() - cpu, refused=statuses[429])


def _scan(place: Study, documents: int) -> Cost:
    """Ask about every text with a scan."""
    memory: list[float] = []

    def tell(lane: Any, part: Any) -> None:
        if lane.tally.answered > documents * (0.2, 0.98, 1.0)[len(memory)]:
            memory.append(_memory())

    cpu = time.process_time()
    limits = ScanLimits(paces={VENDOR: Pace(requests=PERMITTED, seconds=1)})
    budgets = {VENDOR: Decimal(10**9)}
    with open_scan.begin_scan(place, place.edition(), [], budgets=budgets, limits=limits) as scan:
        wall = time.monotonic()
        [ended] = scan.run(tell)
    taken, used = time.monotonic() - wall, time.process_time() - cpu
    first = canonical_json.sha256(study.read_bytes(place.edition().seal("corpus")))
    refused = journal.read_journal(place.edition().journals / f"{VENDOR}.jsonl", first).retries.height
    cost = Cost(documents, taken, used, *memory, refused)
    if ended.counts["answered"] != documents:
        raise RuntimeError(f"{ended.counts}, {ended.tally}")
    return cost


def _memory() -> float:
    """MiB that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


# --- going on ----------------------------------------------------------------------------------------------------------


def _answered(place: Study, texts: dict[str, str], count: int) -> None:
    """Journal and evidence of a scan that was stopped after ``count`` answers."""
    edition = place.edition()
    sealed, at = cards.read_sealed_card(edition, VENDOR), judge.get_time_now()
    digest = canonical_json.sha256(study.read_bytes(edition.sealed_card(VENDOR)))
    order = sorted(texts, key=lambda name: canonical_json.rank_name(SEED, "scan", name))[:count]
    kept = evidence_log.EvidenceWriter(edition.evidence, VENDOR)
    with journal.JournalWriter(
        edition.journals / f"{VENDOR}.jsonl", canonical_json.sha256(study.read_bytes(edition.seal("corpus")))
    ) as writer:
        writer.append(journal.make_start_line(VENDOR, sealed, digest, shard="1/1", at=at, number=versions.WRITES))
        for first in range(0, count, 5_000):
            group, lines, bodies = order[first : first + 5_000], [], []
            for name in group:
                address = canonical_json.sha256(texts[name].encode())
                body = canonical_json.encode_json(
                    {"documents": [{"document_classification": "HUMAN_ONLY"}], "version": "1"}
                )
                judged = judge.judge_answer(sealed.card, body, texts[name])
                pair = judge.AskedQuestion(name, address, 1, "scan", at, None)
                lines.append({"at": at, "attempt": 1, "document": name, "kind": "sent"})
                lines.append(
                    judge.make_reading_line(pair, judged, at=at, got_at=at, evidence_sha256=canonical_json.sha256(body))
                )
                bodies.append(evidence_log.Kept(VENDOR, name, 1, body, canonical_json.sha256(body)))
            kept.append(bodies)
            writer.append(*lines)


def _resumed(place: Study) -> tuple[float, float]:
    """Seconds until a scan is open, here; and until the first question of the whole command is on the disk."""
    began = time.monotonic()
    with open_scan.begin_scan(place, place.edition(), [], budgets={VENDOR: Decimal(10**9)}):
        opened = time.monotonic() - began
    path = place.edition().pilot / "canary" / f"{VENDOR}.jsonl"
    began = time.monotonic()
    command = [sys.executable, "-m", "penmark", "-C", str(place.root), "scan", "--budget", "1000000000"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while not (path.exists() and b'"sent"' in path.read_bytes()) and process.poll() is None:
            time.sleep(0.005)
        first = time.monotonic() - began
        process.terminate()
    return opened, first


if __name__ == "__main__":
    _serve() if sys.argv[1:] == ["double"] else main()
