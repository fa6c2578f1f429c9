"""A small edition with answers written by hand, for the tests of what judges them: scoring and tables."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from penmark import cards, journal, protocol, study
from penmark.format import canonical_json
from penmark.records import Card, Document, Protocol, Seal, SealedCard
from penmark.study import Edition

TAG = "BENCH-2026-Q4"
PROMISED, FROZEN, AT = "2026-10-01T00:00:00Z", "2026-10-02T00:00:00Z", "2026-10-10T12:00:00Z"
ARCHIVE: dict[str, Any] = {"kind": "archive", "grade": "archived", "source": "s", "archive": "a", "licence": "CC0"}
ARCHIVE |= {"evidence_date": "2020-05-01", "evidence_sha256": None}
ATTESTED: dict[str, Any] = {"kind": "attested", "grade": "stated", "attestation": "v1", "attestation_sha256": "0" * 64}
ATTESTED |= {"written_on": "2026-09-01", "adult": True, "consent": {"publish": True, "vendors": ["*"]}, "review": "ok"}
GENERATED: dict[str, Any] = {"kind": "generated", "grade": "stated", "provider": "P", "model": "M", "style": "plain"}
EDITED: dict[str, Any] = {"kind": "edited", "grade": "stated", "draft_sha256": "0" * 64, "draft": GENERATED}
EDITED |= {"editor": "e", "words_changed": 1, "draft_words": 100}
TRANSFORMED: dict[str, Any] = {"kind": "transformed", "grade": "stated", "parent": "p", "attack": "synonyms"}
PROBABILITY = {"meaning": "probability", "direction": "ai", "low": "0", "high": "1"}


def card(name: str, *, operator: str | None = ">=", value: str | None = "0.5", **further: Any) -> Card:
    """A card with a boundary on a scale from 0 to 1, or with ``operator=None`` one with a verdict rule."""
    kind = "verdict" if operator is None else "boundary"
    rule = {
        "kind": kind,
        "operator": operator,
        "value": value if operator else None,
        "source": "help",
        "date": "2026-09-01",
    }
    base = {
        "name": name,
        "title": name,
        "vendor": "nobody",
        "homepage": "https://example.org",
        "ask": {"by": "people"},
        "answer": {},
        "scale": PROBABILITY if operator else None,
        "verdicts": {} if operator else {"AI": "ai", "Human": "human", "Mixed": "mixed", "Unsure": "uncertain"},
        "boundary": rule,
        "display": "document",
        "terms": {"where": "none", "results_may_be_published": "yes"},
        "facts_as_of": "2026-09-01",
    }
    return Card.model_validate_json(canonical_json.encode_json(base | further))


def arm(name: str, truth: str, **further: Any) -> dict[str, Any]:
    """An arm; how many documents it has, the edition fills in."""
    kinds = ["archive", "attested", "generated", "edited", "transformed"]
    base = {"name": name, "title": name, "truth": truth, "headline": truth != "mixed", "filled": "by the test"}
    return base | {"evidence": {"kinds": kinds, "grades": ["archived", "stated"]}, "persists": True} | further


def document(name: str, arm: str, provenance: dict[str, Any] = ARCHIVE, **fields: Any) -> dict[str, Any]:
    """A document as the manifest has it."""
    base = {
        "id": name,
        "arm": arm,
        "address": canonical_json.sha256(name.encode()),
        "canonical_sha256": None,
        "words": 300,
    }
    made = Document.model_validate_json(
        canonical_json.encode_json(base | {"characters": 1500, "provenance": provenance} | fields)
    )
    return made.model_dump(mode="json", by_alias=True)


class Judged:
    """An edition in the making. ``cards``: the detectors, in the order of the protocol."""

    def __init__(
        self,
        root: Path,
        arms: list[dict[str, Any]],
        documents: list[dict[str, Any]],
        held: list[Card],
        *,
        detectors: dict[str, dict[str, Any]] | None = None,
        **further: Any,
    ) -> None:
        self.edition = Edition(root / TAG)
        self.documents = {row["id"]: row for row in documents}
        sizes = {each["name"]: sum(row["arm"] == each["name"] for row in documents) for each in arms}
        shown = {"surface": "web", "tier": "standard", "payer": "us", "relation": "none"}
        value = {
            "study": "small",
            "title": "A small study",
            "edition": TAG,
            "people": [{"name": "N", "role": "runs it", "interests": "none"}],
            "payer": "N",
            "schedule": "once",
            "window": {"opens": "2026-10-01", "closes": "2026-12-31"},
            "seed_sha256": "0" * 64,
            "arms": [each | {"documents": max(1, sizes[each["name"]])} for each in arms],
            "detectors": [
                {"name": each.name, "card": each.name, **shown} | (detectors or {}).get(each.name, {}) for each in held
            ],
        }
        self.protocol = Protocol.model_validate_json(canonical_json.encode_json(value | further))
        study.write_bytes(self.edition.protocol_json, protocol.encode_protocol(self.protocol))
        for each in held:
            study.write_bytes(
                self.edition.sealed_card(each.name), cards.encode_card(SealedCard(card=each, plugin=None))
            )
        promise = self._seal("promise", PROMISED, None)
        head = {"arms": sizes, "documents": len(documents), "edition": TAG, "kind": "manifest", "study": "small"}
        study.write_records(self.edition.manifest, [head | {"word_rule": "penmark-2"}, *documents])
        self.first_prev = self._seal("corpus", FROZEN, promise)

    def _seal(self, kind: str, at: str, previous: str | None) -> str:
        seal = {
            "kind": kind,
            "study": "small",
            "edition": TAG,
            "sealed_at": at,
            "software": "a test",
            "rules": 2,
            "digests": {},
        }
        data = canonical_json.encode_json(Seal.model_validate(seal | {"previous": previous}).model_dump(mode="json"))
        study.write_bytes(self.edition.seal(kind), data)
        return canonical_json.sha256(data)

    def journal(self, detector: str, *lines: dict[str, Any], shard: str = "1/1") -> Path:
        """Append to the journal of a detector; begins with a start line."""
        path = self.edition.journals / journal.name_journal(detector, shard)
        digest = canonical_json.sha256(study.read_bytes(self.edition.sealed_card(detector)))
        start = {"at": AT, "kind": "start", "card_sha256": digest, "detector": detector, "plugin": None, "shard": shard}
        with journal.JournalWriter(path, self.first_prev) as writer:
            writer.append(start | {"rules": 2, "software": "a test"}, *lines)
        return path

    def answers(self, detector: str, given: dict[str, str], **further: Any) -> None:
        """One scanned answer a document: a score."""
        lines = (line for name, score in given.items() for line in self.scanned(name, score=score, **further))
        self.journal(detector, *lines)

    def reading(self, name: str, **fields: Any) -> dict[str, Any]:
        """A reading; answered, by a scan, unless said otherwise."""
        address = self.documents[name]["address"] if name in self.documents else "0" * 64
        base: dict[str, Any] = {"kind": "reading", "at": AT, "document": name, "address": address, "attempt": 1}
        base |= {"origin": "scan", "state": "answered", "reason": None, "sent_at": AT, "got_at": AT, "vendor_at": None}
        base |= {"score": None, "label": None, "version": "1", "version_asked": "1", "evidence_sha256": None}
        base |= {"read_by": None} | fields
        shown = base["label"] if base["score"] is None else base["score"]
        return {"displayed": shown if base["state"] == "answered" else None} | base

    def scanned(self, name: str, **fields: Any) -> Iterable[dict[str, Any]]:
        """A ``sent`` line and its reading."""
        return sent(name), self.reading(name, **fields)


def sent(name: str, attempt: int = 1, at: str = AT) -> dict[str, Any]:
    """A ``sent`` line."""
    return {"kind": "sent", "at": at, "document": name, "attempt": attempt}


def retry(name: str, attempt: int = 1) -> dict[str, Any]:
    """A ``retry`` line."""
    return {"kind": "retry", "at": AT, "document": name, "attempt": attempt, "reason": "the connection was closed"}


def skipped(name: str, reason: str = "too short") -> dict[str, Any]:
    """A ``skipped`` line."""
    return {"kind": "skipped", "at": AT, "document": name, "reason": reason}
