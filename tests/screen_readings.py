"""A whole study whose detectors are read from screens: promised, collected and frozen by the real commands."""

from __future__ import annotations

import contextlib
import csv
import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from penmark import cli, study, yaml_records
from penmark.format import canonical_json
from penmark.study import Edition, Study

TAG = "SCREEN-2026-Q4"
SEED = bytes(range(50, 82))
SALT = bytes(range(90, 122))
WITHHELD, SHORT, SHY = "A-3", "A-4", "A-5"
"""A text that nobody may read but the vendor; one too short for it; one whose author does not name it."""
ARCHIVE = {
    "kind": "archive",
    "grade": "archived",
    "source": "https://example.org/a",
    "archive": "a web archive",
    "evidence_date": "2020-05-01",
    "evidence_sha256": "0" * 64,
    "licence": "CC0",
}
ATTESTED = {
    "kind": "attested",
    "grade": "stated",
    "attestation": "I wrote this.",
    "attestation_sha256": "0" * 64,
    "written_on": "2026-11-01",
    "adult": "true",
    "review": "accepted",
}
GENERATED = {"kind": "generated", "grade": "stated", "provider": "P", "model": "M", "style": "plain"}


def text(name: str, words: int = 310) -> str:
    """A text of so many words, that no other document has."""
    return f"Text {name} & its <words>\n\n" + " ".join(f"{name}-{n}" for n in range(words - 5)) + ".\tEnd\n"


ROWS: dict[str, list[dict[str, str]]] = {
    "A": [
        {"id": "A-1", "text": text("one"), **ARCHIVE},
        {"id": "A-2", "text": text("two"), **ARCHIVE},
        {"id": WITHHELD, "text": text("three"), **ATTESTED, "publish": "false", "vendors": "Turnitin"},
        {"id": SHORT, "text": text("four", 20), **ARCHIVE},
        {"id": SHY, "text": text("five"), **ATTESTED, "publish": "true", "vendors": "Another"},
    ],
    "C": [
        {"id": "C-1", "text": text("six"), **GENERATED},
        {"id": "C-2", "text": text("seven"), **GENERATED},
    ],
}
TEXTS = {row["id"]: row["text"] for rows in ROWS.values() for row in rows}


def _arm(name: str, truth: str, kinds: list[str]) -> dict[str, Any]:
    return {
        "name": name,
        "title": name,
        "truth": truth,
        "documents": len(ROWS[name]),
        "headline": True,
        "evidence": {"kinds": kinds, "grades": ["archived", "stated"]},
        "filled": "by the test",
        "persists": True,
    }


def _protocol(detectors: list[dict[str, Any]]) -> dict[str, Any]:
    today = datetime.now(UTC).date()
    return {
        "study": "screens",
        "title": "A study of screens",
        "edition": TAG,
        "people": [{"name": "N", "role": "runs it", "interests": "none"}],
        "payer": "N",
        "schedule": "once",
        "window": {"opens": str(today - timedelta(days=1)), "closes": str(today + timedelta(days=2))},
        "seed_sha256": canonical_json.sha256(SEED),
        "arms": [_arm("A", "human", ["archive", "attested"]), _arm("C", "ai", ["generated"])],
        "detectors": detectors,
    }


def turnitin(**further: Any) -> dict[str, Any]:
    """The detector as a protocol has it."""
    value = {"name": "turnitin", "card": "turnitin", "surface": "web", "tier": "one seat", "payer": "N"}
    return value | {"relation": "none", "settings": {"report": "AI writing"}} | further


def run(place: Study, *argv: str) -> str:
    """Run a command that comes to a good end; what it printed."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
        assert cli.invoke(["-C", str(place.root), *argv]) == 0, argv
    return said.getvalue()


def made(root: Path, *detectors: dict[str, Any]) -> tuple[Study, Edition]:
    """The study in ``root / "study"``, frozen. Without ``detectors`` it has Turnitin alone, by its shipped card."""
    place = Study(root / "study")
    study.write_bytes(place.marker, b"study: screens\n")
    study.write_private(place.seed, SEED)
    edition = Edition(place.root / "editions" / TAG)
    value = _protocol(list(detectors) or [turnitin()])
    study.write_bytes(edition.protocol_yaml, yaml_records.format_yaml(value).encode())
    run(place, "commit")
    salts = [row["id"] for row in ROWS["A"] if row["kind"] == "attested"]
    lines = [canonical_json.encode_json({"document": name, "salt": SALT.hex()}) + b"\n" for name in salts]
    study.write_private(place.salts, b"".join(lines))
    for arm, rows in ROWS.items():
        table = root / f"{arm}.jsonl"
        table.write_text("".join(json.dumps(row) + "\n" for row in rows))
        run(place, "collect", arm, "--path", str(table))
    run(place, "freeze")
    return place, edition


def sheet(folder: Path) -> list[dict[str, str]]:
    """The rows of a work sheet."""
    with (folder / "sheet.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def filled(path: Path, rows: list[dict[str, str]], delimiter: str = ",") -> Path:
    """A table with these rows, as a spreadsheet saves it."""
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        table.writeheader()
        table.writerows(rows)
    return path


def now() -> str:
    """A time that is not in the future, and not before a promise that was made in the same second."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def typed(root: Path) -> Study:
    """The study with every text read, typed twice, and one difference settled; not yet reported."""
    place, _ = made(root)
    run(place, "record", "--sheets", str(place.private / "sheets"), "--detector", "turnitin")
    rows = sheet(place.private / "sheets")
    for row, shown in zip(rows, ("0%", "*%", "45%", "20%", "99%"), strict=True):
        row |= {"displayed": shown, "date": now(), "operator": "AB"}
    first = filled(root / "first.csv", rows)
    again = [{**row, "operator": "CD"} for row in rows]
    again[-1]["displayed"] = "9%"
    other = filled(root / "second.csv", again)
    one = {"number": rows[-1]["number"], "displayed": "99%", "by": "EF", "why": "the picture says so"}
    settled = filled(root / "settled.csv", [one])
    (root / "shots").mkdir()
    (root / "shots" / f"{rows[0]['number']}.png").write_bytes(b"a picture with an account")
    options = ("--second", str(other), "--settle", str(settled), "--screenshots", str(root / "shots"))
    run(place, "record", str(first), "--detector", "turnitin", *options)
    return place


def published(root: Path) -> tuple[Study, Path]:
    """That study, and its bundle."""
    place = typed(root)
    run(place, "report")
    run(place, "publish", "--no-tar")
    return place, place.bundles / TAG
