"""A study with a sealed promise and a frozen corpus, for the tests of what comes after: scan and record."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.scripted_detector import CARD

from penmark import study, text
from penmark.format import canonical_json
from penmark.records import Document, Protocol
from penmark.stages.commit import make_seals
from penmark.study import Edition, Study

EDITION = "BENCH-2026-Q4"
SEED = bytes(range(32))
SALT = bytes(range(32, 64))
ARCHIVE = {
    "kind": "archive",
    "grade": "archived",
    "source": "https://example.org/a",
    "archive": "a web archive",
    "evidence_date": "2020-05-01",
    "licence": "CC0",
}


def attested(*vendors: str) -> dict[str, Any]:
    """Provenance of a volunteer's text, with consent for those vendors."""
    return {
        "kind": "attested",
        "grade": "stated",
        "attestation": "I wrote this.",
        "attestation_sha256": "0" * 64,
        "written_on": "2026-11-01",
        "adult": True,
        "consent": {"publish": True, "vendors": list(vendors)},
        "review": "accepted",
    }


def detector(name: str, **further: Any) -> dict[str, Any]:
    """A detector as the protocol has it; its card has the same name."""
    return {
        "name": name,
        "card": name,
        "surface": "local",
        "tier": "none",
        "payer": "none",
        "relation": "none",
        **further,
    }


def frozen(
    root: Path,
    texts: Mapping[str, str | bytes],
    *detectors: dict[str, Any],
    cards: dict[str, str] | None = None,
    fields: dict[str, dict[str, Any]] | None = None,
    **further: Any,
) -> tuple[Study, Edition]:
    """A study of one arm, A, that holds ``texts`` by id. ``cards``: YAML by name. ``fields``: of documents, by id."""
    place = Study(root)
    study.write_bytes(place.marker, b"study: small\n")
    study.write_private(place.seed, SEED)
    for name, card in ({"acting": CARD} | (cards or {})).items():
        study.write_bytes(place.cards / f"{name}.yaml", card.encode())
    promised = _protocol(len(texts), list(detectors) or [detector("acting", version="2.0")], further)
    edition = Edition(root / "editions" / EDITION)
    study.write_bytes(edition.protocol_yaml, b"study: small\n")
    paths = make_seals.prepare_promise(place, edition, promised)
    make_seals.make_seal(edition, "promise", "small", paths, authorities=[], now="2026-10-01T00:00:00Z")
    documents = [_document(place, name, raw, (fields or {}).get(name, {})) for name, raw in sorted(texts.items())]
    head = {"arms": {"A": len(documents)}, "documents": len(documents), "edition": EDITION, "kind": "manifest"}
    head |= {"study": "small", "word_rule": text.WORD_RULE}
    study.write_records(edition.manifest, [head, *(d.model_dump(mode="json", by_alias=True) for d in documents)])
    study.write_bytes(edition.screening, b"severity\n")
    make_seals.make_seal(
        edition, "corpus", "small", ["manifest.jsonl", "screening.csv"], authorities=[], now="2026-10-02T00:00:00Z"
    )
    return place, edition


def _protocol(documents: int, detectors: list[dict[str, Any]], further: dict[str, Any]) -> Protocol:
    today = datetime.now(UTC).date()
    arm = {
        "name": "A",
        "title": "A",
        "truth": "human",
        "documents": documents,
        "headline": True,
        "evidence": {"kinds": ["archive", "attested"], "grades": ["archived", "stated"]},
        "filled": "by the test",
        "persists": True,
    }
    value = {
        "study": "small",
        "title": "A small study",
        "edition": EDITION,
        "people": [{"name": "N", "role": "runs it", "interests": "none"}],
        "payer": "N",
        "schedule": "once",
        "window": {"opens": str(today - timedelta(days=1)), "closes": str(today + timedelta(days=2))},
        "seed_sha256": canonical_json.sha256(SEED),
        "arms": [arm],
        "detectors": detectors,
    }
    return Protocol.model_validate_json(canonical_json.encode_json(value | further))


def _document(place: Study, name: str, given: str | bytes, fields: dict[str, Any]) -> Document:
    raw = given.encode() if isinstance(given, str) else given
    provenance = fields.get("provenance", ARCHIVE)
    private = provenance["kind"] == "attested"
    address = canonical_json.fingerprint_text(SALT, raw) if private else canonical_json.sha256(raw)
    if private:
        study.write_private(place.private_texts / f"{address}.txt", raw)
        known = study.read_bytes(place.salts) if place.salts.exists() else b""
        study.write_private(
            place.salts, known + canonical_json.encode_json({"document": name, "salt": SALT.hex()}) + b"\n"
        )
    else:
        study.write_bytes(place.arm("A") / f"{address}.txt", raw)
    value = {
        "id": name,
        "arm": "A",
        "address": address,
        "canonical_sha256": canonical_json.sha256(raw),
        "words": text.count_words(raw.decode(errors="replace")),
        "characters": len(raw.decode(errors="replace")),
        "language": "en",
        "provenance": provenance,
    }
    return Document.model_validate_json(canonical_json.encode_json(value | fields))
