"""Every state of the disk that a crash can leave, by construction: after each write, and within each write.

Beside ``test_crash``, which kills a real process at random moments; here no moment is left out.
"""

from __future__ import annotations

import itertools
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.frozen_study import detector, frozen
from tests.scripted_detector import install

from penmark import journal, study
from penmark.format import canonical_json
from penmark.journal import evidence_log
from penmark.stages.scan import open_scan
from penmark.study import Edition, Study

JOURNAL, EVIDENCE = "journal/acting.jsonl", "evidence/acting-0001.jsonl"
TEXTS: dict[str, str | bytes] = {
    "01": "plain 1",
    "02": "once 2",
    "03": "decline 3",
    "04": "decline-with-body 4",
    "05": "other 5",
    "06": "raise 6",
    "07": "garbage 7",
    "08": "down 8",
    "09": "decline-but-show 9",
    **{f"{n}": f"plain {n}" for n in range(10, 22)},
}


def scanned(place: Study, edition: Edition) -> dict[str, int]:
    with open_scan.begin_scan(place, edition, [], pause=lambda attempt: 0.0) as scan:
        [ended] = scan.run()
    assert ended.tally.error is None
    return ended.counts


def states(place: Study, edition: Edition, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The sizes of journal and evidence after each write of a whole scan, in the order of the writes."""
    found: list[tuple[int, int]] = []

    def size(name: str) -> int:
        return (edition.root / name).stat().st_size if (edition.root / name).exists() else 0

    def note(real: Any) -> Any:
        def writing(*given: Any) -> None:
            real(*given)
            found.append((size(JOURNAL), size(EVIDENCE)))

        return writing

    with monkeypatch.context() as patched:
        patched.setattr(journal.JournalWriter, "append", note(journal.JournalWriter.append))
        patched.setattr(evidence_log.EvidenceWriter, "append", note(evidence_log.EvidenceWriter.append))
        scanned(place, edition)
    return found


def within(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Each state, and three inside the write that led to it: its first byte, its middle, all but its last byte."""
    cuts = {found[0]}
    for (j0, e0), (j1, e1) in itertools.pairwise(found):
        cuts |= {(j, e) for j in {j0 + 1, (j0 + j1) // 2, j1 - 1, j1} for e in (e0,) if j0 < j <= j1}
        cuts |= {(j1, e) for e in {e0 + 1, (e0 + e1) // 2, e1 - 1, e1} if e0 < e <= e1}
    return sorted(cuts)


def test_every_state_that_a_crash_can_leave_goes_on_to_the_same_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "acting_detector", raising=False)
    monkeypatch.syspath_prepend(str(install(tmp_path / "installed")))
    log = tmp_path / "log"
    place, edition = frozen(tmp_path / "study", dict(TEXTS), detector("acting", settings={"log": str(log)}))
    every = within(states(place, edition, monkeypatch))
    whole = {row["document"]: row for row in _read(edition).readings.iter_rows(named=True)}
    files = {name: study.read_bytes(edition.root / name) for name in (JOURNAL, EVIDENCE)}
    assert len(every) > 40
    for sizes in every:
        for folder in (edition.journals, edition.evidence):
            shutil.rmtree(folder)
            folder.mkdir()
        shutil.rmtree(place.private / "aside", ignore_errors=True)  # notes of the whole scan: this one had none yet
        for name, size in zip(files, sizes, strict=True):
            if size:
                (edition.root / name).write_bytes(files[name][:size])
        _goes_on(place, edition, whole, log, sizes)


def _goes_on(
    place: Study, edition: Edition, whole: dict[str, dict[str, Any]], log: Path, sizes: tuple[int, int]
) -> None:
    held = _whole_lines(edition.root / JOURNAL)
    kept = {line["document"] for line in _whole_lines(edition.root / EVIDENCE)}
    sent = {line["document"] for line in held if line["kind"] == "sent"}
    told = {line["document"] for line in held if line["kind"] == "reading"}
    failed = {(line["document"], line["attempt"]) for line in held if line["kind"] == "retry"}
    last = {line["document"]: line["attempt"] for line in held if line["kind"] == "sent"}
    doubt = {name for name in sent - told - kept if (name, last[name]) not in failed}
    log.write_bytes(b"")
    counts = scanned(place, edition)
    found = _read(edition)
    readings = {row["document"]: row for row in found.readings.iter_rows(named=True)}
    assert found.readings.height == len(readings), sizes
    assert set(readings) == set(TEXTS) - doubt, sizes
    assert counts["in_doubt"] == len(doubt), sizes
    asked = {json.loads(line).split()[1].zfill(2) for line in log.read_text().splitlines()}
    assert asked == set(TEXTS) - doubt - told - kept, sizes
    assert [item.document for item in evidence_log.read_evidence(edition.evidence, "acting")] == [
        name for name, row in readings.items() if row["evidence_sha256"] is not None
    ], sizes
    for name, row in readings.items():
        for field in ("state", "displayed", "score", "version", "evidence_sha256", "attempt"):
            assert row[field] == whole[name][field] or (field == "attempt" and name in ("02", "08")), (
                sizes,
                name,
                field,
            )


def _whole_lines(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes().rpartition(b"\n")[0] if path.exists() else b""
    return [json.loads(line) for line in data.split(b"\n") if line]


def _read(edition: Edition) -> journal.Journal:
    return journal.read_journal(edition.root / JOURNAL, canonical_json.sha256(study.read_bytes(edition.seal("corpus"))))
