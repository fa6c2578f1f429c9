"""A small study of volunteers' texts, by the real commands: a signed export, an edition, its bundle."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.scripted_detector import CARD

from penmark import cli, protocol, study, yaml_records
from penmark.format import canonical_json
from penmark.stages import init
from penmark.study import Study
from penmark.timestamps import ed25519

ATTESTATIONS = {"2026-1": "I am an adult, I wrote this text by myself, and no AI touched it."}
ACCEPTANCE = {"pastes": 0, "active_minutes": 10, "largest_insert_percent": 20}


def session(name: str, text: str, **further: Any) -> dict[str, Any]:
    """A line of an export: an accepted session whose text may be published, unless said otherwise."""
    value: dict[str, Any] = {"kind": "session", "id": name, "text": text, "author": f"writer of {name}"}
    value |= {"language": "en", "register": "casual", "subgroup": "native", "topic": None, "written_on": "2026-10-05"}
    value |= {"attestation": "2026-1", "adult": True, "consent": {"publish": True, "vendors": ["*"]}}
    value |= {
        "history": {
            "sha256": canonical_json.sha256(f"history of {name}".encode()),
            "operations": 900,
            "active_minutes": 30,
        }
    }
    value["history"] |= {"pauses": 4, "pastes": 0, "largest_insert_percent": 3}
    value |= {"decision": "accepted", "refused_by": [], "by": "A. Reviewer", "at": "2026-10-06T09:00:00Z"}
    return value | further


def withheld(name: str, text: str, **further: Any) -> dict[str, Any]:
    """A session whose text its writer does not publish."""
    return session(name, text, consent={"publish": False, "vendors": ["*"]}, **further)


def refused(name: str, text: str, *rules: str) -> dict[str, Any]:
    """A session that was refused."""
    return session(name, text, decision="refused", refused_by=list(rules))


def export(path: Path, key: bytes, sessions: Iterable[dict[str, Any]], **head: Any) -> Path:
    """Write a signed export."""
    first = {"kind": "export", "format": 1, "study": "small", "made_at": "2026-10-07T09:00:00Z", "software": "a test"}
    first |= {"attestations": ATTESTATIONS} | head
    data = b"".join(canonical_json.encode_json(value) + b"\n" for value in (first, *sessions))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.with_name(f"{path.name}.sig").write_bytes(ed25519.sign_data(key, data))
    return path


def run(place: Study, *argv: str) -> str:
    """Run a command that must succeed; what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = cli.invoke(["-C", str(place.root), *argv])
    assert code in (0, None), (argv, code, out.getvalue(), err.getvalue())
    return out.getvalue()


def promised(root: Path, documents: int, *detectors: str, **further: Any) -> Study:
    """A study with its promise sealed: one arm, B, of volunteers' texts, with a plain text of no volunteer in arm A."""
    today = datetime.now(UTC).date()
    made = init.start_study(root, template="small", name="small", edition=None, today=today)
    begun = protocol.load_protocol(made.edition.protocol_yaml)
    study.write_bytes(made.study.cards / "acting.yaml", CARD.encode())
    arm = {"truth": "human", "headline": True, "filled": "by the test", "persists": True}
    value = {
        "study": "small",
        "title": "A small study",
        "edition": begun.edition,
        "people": [{"name": "N", "role": "runs it", "interests": "none"}],
        "payer": "N",
        "schedule": "once",
        "window": {"opens": begun.window.opens, "closes": begun.window.closes},
        "seed_sha256": begun.seed_sha256,
        "signing_key": begun.signing_key,
        "arms": [
            {"name": "A", "title": "A", "documents": 1, "evidence": {"kinds": ["archive"], "grades": ["archived"]}}
            | arm,
            {"name": "B", "title": "B", "documents": documents, "sessions": ACCEPTANCE}
            | {"evidence": {"kinds": ["attested"], "grades": ["witnessed"]}}
            | arm,
        ],
        "detectors": [
            {"name": n, "card": n, "surface": "local", "tier": "-", "payer": "-", "relation": "none"} for n in detectors
        ],
    }
    study.write_bytes(made.edition.protocol_yaml, yaml_records.format_yaml(value | further).encode())
    run(made.study, "commit")
    return made.study


def collected(place: Study, folder: Path, sessions: Iterable[dict[str, Any]]) -> str:
    """Fill both arms."""
    table = folder / "a.jsonl"
    row = {"id": "a1", "text": "A text that an archive kept.", "language": "en", "kind": "archive", "grade": "archived"}
    row |= {
        "evidence_sha256": canonical_json.sha256(b"kept"),
        "locator.by": "web-archive",
        "locator.url": "https://example.org/",
    }
    row |= {"source": "https://example.org/a", "archive": "a", "evidence_date": "2020-05-01", "licence": "CC0"}
    table.parent.mkdir(parents=True, exist_ok=True)
    table.write_text(json.dumps(row) + "\n")
    run(place, "collect", "A", "--path", str(table))
    path = export(folder / "export.jsonl", place.signing.read_bytes(), sessions)
    return run(place, "collect", "B", "--from", "sessions", "--path", str(path))


def published(place: Study) -> Path:
    """Screen, freeze, scan, report, publish; the bundle's folder."""
    for verb in ("screen", "freeze", "scan", "report"):
        run(place, verb)
    run(place, "publish")
    return place.bundles / place.edition().tag
