"""A large edition, made up: so many detectors, so many documents, and journals like those of a real scan.

Seeded: the same arguments give the same bytes. *Reads* nothing. *Writes* an edition into the folder that it is given:
protocol, cards, manifest, promise and corpus seals, journals and, if asked, the texts and the evidence.
*Never* measures anything: see bench_score.py.

Every eighth detector's answers are recorded from elsewhere; the others are scanned: a `sent` line before each answer, in
groups of eight, in the sealed order; one answer in fifty declined, one in a hundred failed after two retries, one text in
two hundred not scannable, one in a thousand in doubt.
"""

from __future__ import annotations

import gzip
import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from penmark import cards, protocol, study, yaml_records
from penmark.format import canonical_json, versions
from penmark.records import Card, Protocol, Seal, SealedCard
from penmark.study import Edition

SEED = hashlib.sha256(b"a made-up edition").digest()
TAG = "MADE-2026-Q4"
PROMISED, FROZEN = "2026-10-01T08:00:00Z", "2026-10-05T08:00:00Z"
REGISTERS = ("academic", "journalistic", "web")
MODELS = tuple((f"provider-{i % 3}", f"model-{i}") for i in range(5))
STYLES = ("plain", "styled", "matched")
GROUP = 8
WORDS, SHORT, LEAST = 300, 200, 50
"""Words of a text; every so many a text is too short; words that the detectors ask for."""
ARMS = (("A", "human", 50), ("C", "ai", 40), ("C2", "mixed", 10))
"""Name, truth, share in percent."""


@dataclass(frozen=True)
class Made:
    """What was made: where, and how much."""

    edition: Edition
    detectors: int
    documents: int
    journal_bytes: int
    journal_lines: int


def make(root: Path, *, detectors: int, documents: int, texts: bool = False, evidence: bool = False) -> Made:
    """Write the edition to ``root / TAG``. ``documents``: a multiple of 10. ``evidence``: raw answers beside the readings."""
    edition = Edition(root / TAG)
    names = [f"detector-{i:02d}" for i in range(detectors)]
    promised = _protocol(names, documents)
    study.write_bytes(edition.protocol_json, protocol.encode_protocol(promised))
    study.write_bytes(
        edition.protocol_yaml, yaml_records.format_yaml(promised.model_dump(mode="json", exclude_none=True)).encode()
    )
    sealed = {name: cards.encode_card(SealedCard(card=_card(name), plugin=None)) for name in names}
    for name, data in sealed.items():
        study.write_bytes(edition.sealed_card(name), data)
    promise = _seal(
        edition, "promise", PROMISED, None, ["protocol.json", "protocol.yaml", *(f"detectors/{n}.json" for n in names)]
    )
    rows = list(_documents(documents))
    head = {"arms": {a.name: a.documents for a in promised.arms}, "documents": documents, "edition": TAG}
    study.write_records(
        edition.manifest, [head | {"kind": "manifest", "study": "made", "word_rule": "penmark-1"}, *rows]
    )
    study.write_bytes(edition.screening, b"severity,rule,arm,document,file,row,message,remedy\n")
    first_prev = _seal(edition, "corpus", FROZEN, promise, ["manifest.jsonl", "screening.csv"])
    if texts:
        study.write_texts(edition.root / "texts", {row["address"]: text(row["id"]) for row in rows})
    order = sorted(rows, key=lambda row: canonical_json.rank_name(SEED, "scan", row["id"]))
    size = lines = 0
    for number, name in enumerate(names):
        scan = _Scan(name, canonical_json.sha256(sealed[name]), first_prev, recorded=number % 8 == 7, keeps=evidence)
        scan.run(order)
        study.write_bytes(edition.journals / f"{name}.jsonl", data := b"".join(scan.lines))
        size, lines = size + len(data), lines + len(scan.lines)
        for part, start in enumerate(range(0, len(scan.kept), 100_000), 1):
            packed = gzip.compress(b"".join(scan.kept[start : start + 100_000]), compresslevel=1, mtime=0)
            study.write_bytes(edition.evidence / f"{name}-{part:04d}.jsonl.gz", packed)
    return Made(edition, detectors, documents, size, lines)


def text(name: str) -> bytes:
    """The text of a document: WORDS made-up words; of one in SHORT, too few for any detector."""
    chance = random.Random(name)
    count = 20 if _short(name) else WORDS
    return " ".join(
        chance.choice(("river", "stone", "letter", "winter", "again", "and")) for _ in range(count)
    ).encode()


def _short(name: str) -> bool:
    return int(name.removeprefix("doc-")) % SHORT == 0


# --- what is promised and frozen -------------------------------------------------------------------------------------


def _protocol(names: list[str], documents: int) -> Protocol:
    arms = [
        {
            "name": name,
            "title": name,
            "truth": truth,
            "documents": documents * share // 100,
            "headline": truth != "mixed",
            "evidence": {"kinds": ["archive", "generated", "transformed"], "grades": ["archived", "stated"]},
            "filled": "made up",
            "persists": False,
        }
        for name, truth, share in ARMS
    ]
    scanned = {"surface": "api", "tier": "standard", "payer": "nobody", "relation": "none", "version": "2026-11"}
    value = {
        "study": "made",
        "title": "A made-up study",
        "edition": TAG,
        "people": [{"name": "nobody", "role": "none", "interests": "none"}],
        "payer": "nobody",
        "schedule": "once",
        "window": {"opens": "2026-10-05", "closes": "2026-12-31"},
        "seed_sha256": canonical_json.sha256(SEED),
        "arms": arms,
        "detectors": [{"name": name, "card": name, **scanned} for name in names],
    }
    return Protocol.model_validate_json(orjson.dumps(value))


def _card(name: str) -> Card:
    value = {
        "name": name,
        "title": name,
        "vendor": "made up",
        "homepage": "https://example.org",
        "ask": {"by": "people"},
        "answer": {"displayed": "/score", "score": "/score", "label": "/label", "version": "/version"},
        "scale": {"meaning": "probability", "direction": "ai", "low": "0", "high": "1"},
        "verdicts": {"AI": "ai", "Human": "human", "Mixed": "mixed"},
        "boundary": {"kind": "boundary", "operator": ">=", "value": "0.5", "source": "made up", "date": "2026-10-01"},
        "display": "document",
        "limits": {"minimum_words": LEAST},
        "terms": {"where": "none", "results_may_be_published": "yes"},
        "facts_as_of": "2026-10-01",
    }
    return Card.model_validate_json(orjson.dumps(value))


def _seal(edition: Edition, kind: str, at: str, previous: str | None, paths: list[str]) -> str:
    digests = {path: canonical_json.sha256(study.read_bytes(edition.root / path)) for path in paths}
    seal = Seal.model_validate(
        {"kind": kind, "study": "made", "edition": TAG, "sealed_at": at, "software": "made up", "previous": previous}
        | {"rules": versions.RULES}
        | {"digests": digests}
    )
    data = canonical_json.encode_json(seal.model_dump(mode="json"))
    study.write_bytes(edition.seal(kind), data)
    return canonical_json.sha256(data)


def _documents(documents: int) -> Iterator[dict[str, Any]]:
    number = 0
    for arm, truth, share in ARMS:
        for _ in range(documents * share // 100):
            name = f"doc-{number:07d}"
            raw = text(name)
            digest = canonical_json.sha256(raw)
            yield {
                "address": digest,
                "arm": arm,
                "author": f"author-{number // 5}" if truth == "human" else None,
                "canonical_sha256": digest,
                "characters": len(raw),
                "exposures": [],
                "id": name,
                "language": "en",
                "provenance": _provenance(truth, number),
                "register": REGISTERS[number % 3],
                "source": None,
                "subgroup": None,
                "topic": f"topic-{number % 40}",
                "withheld": None,
                "words": 20 if _short(name) else WORDS,
            }
            number += 1


def _provenance(truth: str, number: int) -> dict[str, Any]:
    if truth == "human":
        return {
            "archive": "a web archive",
            "evidence_date": f"20{10 + number % 11}-05-01",
            "evidence_sha256": None,
            "grade": "archived",
            "kind": "archive",
            "licence": "CC0",
            "source": f"https://example.org/{number}",
        }
    if truth == "mixed":
        facts = {
            "attack": "paraphrase",
            "attack_version": None,
            "grade": "stated",
            "kind": "transformed",
            "parent": "doc-0000000",
        }
        return facts | {"parent_sha256": None, "prompt": None, "seed": None, "settings": {}}
    provider, model = MODELS[number % 5]
    facts = {"grade": "stated", "kind": "generated", "provider": provider, "model": model, "style": STYLES[number % 3]}
    empty = ("model_returned", "prompt", "matched", "finish_reason", "request_id", "request_sha256", "response_sha256")
    return facts | dict.fromkeys((*empty, "word_target")) | {"generated_on": "2026-10-02", "settings": {}, "note": ""}


# --- a scan ----------------------------------------------------------------------------------------------------------


class _Scan:
    """One detector's journal, line by line."""

    def __init__(self, name: str, card: str, first_prev: str, *, recorded: bool, keeps: bool) -> None:
        self.lines: list[bytes] = []
        self.kept: list[bytes] = []
        self._name, self._prev, self._recorded, self._keeps = name, first_prev, recorded, keeps
        self._chance = random.Random(name)
        self._second = 0
        self._sent: dict[str, str] = {}
        self._add("start", card_sha256=card, detector=name, plugin=None, shard="1/1", software="made up")

    def run(self, order: list[dict[str, Any]]) -> None:
        """Every document in the sealed order."""
        for start in range(0, len(order), GROUP):
            group = order[start : start + GROUP]
            fates = [self._chance.random() for _ in group]
            for row in group:
                if _short(row["id"]):
                    self._add("skipped", document=row["id"], reason=f"20 words, fewer than {LEAST}")
                elif not self._recorded:
                    self._add("sent", attempt=1, document=row["id"])
            for row, fate in zip(group, fates, strict=True):
                if not _short(row["id"]) and (fate >= 0.001 or self._recorded):
                    self._answer(row, fate)
        self._add("stop", reason="done")

    def _answer(self, row: dict[str, Any], fate: float) -> None:
        attempt, said, state, reason = 1, None, "answered", None
        if fate < 0.016 and not self._recorded:
            for attempt in (1, 2):
                self._add("retry", attempt=attempt, document=row["id"], reason="the connection was closed")
                self._add("sent", attempt=attempt + 1, document=row["id"])
            attempt, state, reason = 3, "failed", "the connection was closed"
        elif fate < 0.036:
            state, reason = "declined", "language not supported"
        else:
            middle = 0.35 if row["arm"] == "A" else 0.75
            said = f"{min(1.0, max(0.0, self._chance.gauss(middle, 0.2))):.6f}"
        self._read(row, attempt, said, state, reason)

    def _read(self, row: dict[str, Any], attempt: int, said: str | None, state: str, reason: str | None) -> None:
        digest = None
        if self._keeps and state != "failed":
            shown = '"error":"language not supported"' if said is None else f'"score":{said}'
            body = f'{{"id":"{row["id"]}",{shown},"version":"2026-11"}}'
            digest = canonical_json.sha256(body.encode())
            value = {
                "attempt": attempt,
                "body": body,
                "detector": self._name,
                "document": row["id"],
                "encoding": "utf-8",
            }
            self.kept.append(orjson.dumps(value | {"sha256": digest}, option=orjson.OPT_SORT_KEYS) + b"\n")
        version = "2026-11" if state != "failed" and (self._keeps or not self._recorded) else None
        at = self._time()
        self._add(
            "reading",
            address=row["address"],
            attempt=attempt,
            displayed=said,
            document=row["id"],
            evidence_sha256=digest,
            got_at=at,
            label=None,
            origin="recorded" if self._recorded else "scan",
            read_by="an assistant" if self._recorded else None,
            reason=reason,
            score=said,
            sent_at=self._sent.get(row["id"]),
            state=state,
            vendor_at=None,
            version=version,
            version_asked="2026-11",
        )

    def _time(self) -> str:
        second = self._second % 86_400
        day = 6 + self._second // 86_400
        return f"2026-10-{day:02d}T{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}.{self._second % 997:06d}Z"

    def _add(self, kind: str, **fields: Any) -> None:
        self._second += len(self.lines) % 5 == 0
        value = {"at": self._time(), "kind": kind, "prev": self._prev, **fields}
        if kind == "sent":
            self._sent[fields["document"]] = value["at"]
        line = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
        self._prev = hashlib.sha256(line).hexdigest()
        self.lines.append(line + b"\n")
