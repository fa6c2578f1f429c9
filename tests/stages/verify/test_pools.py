"""Draws replayed by both verifiers, on a real bundle; every change of a pool is found where it is."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.volunteer_sessions import promised as promise
from tests.volunteer_sessions import published, run

from penmark import study
from penmark.format import canonical_json
from penmark.stages import verify
from penmark.timestamps import Trust

ARMS = [
    {"name": "A", "title": "A", "truth": "human", "headline": True, "filled": "drawn", "persists": True, "documents": 3}
    | {"evidence": {"kinds": ["archive"], "grades": ["stated"]}}
    | {"quotas": [{"where": {"register": "news"}, "documents": 2}, {"where": {"register": "forum"}, "documents": 1}]}
]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("drawn")
    place = promise(folder / "study", 1, "coin", arms=ARMS)
    rows = [
        {"id": f"{register[0]}{n}", "text": f"The {register} of day {n}, told at some length.", "register": register}
        | {"kind": "archive", "grade": "stated", "source": "s", "archive": "a", "licence": "CC0"}
        | {"evidence_date": "2020-05-01", "language": "en"}
        for register in ("news", "forum", "song")
        for n in range(4)
    ]
    (folder / "pool.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = run(place, "collect", "A", "--draw", "--path", str(folder / "pool.jsonl"))
    assert told == "A: 3 documents (3 added, 0 updated, 0 unchanged; of 12 candidates 8 were eligible)\n"
    return published(place)


def faults(bundle: Path) -> set[str]:
    """What check 4 of both says about the pool; both must say something, or both nothing."""
    ours = {c.subject for c in verify.verify_bundle(bundle, Trust()) if c.state == "failed" and c.number == 4}
    alone = subprocess.run(
        [sys.executable, "-I", str(bundle / "verify.py"), str(bundle), "--json"], capture_output=True, check=False
    )
    theirs = {c["subject"] for c in json.loads(alone.stdout)["checks"] if c["state"] == "failed" and c["number"] == 4}
    assert bool(ours) == bool(theirs), (ours, theirs)
    return ours


def test_the_draw_is_replayed(bundle: Path) -> None:
    assert [c for c in verify.verify_bundle(bundle, Trust()) if c.state == "failed"] == []
    assert faults(bundle) == set()
    sealed = json.loads((bundle / "seals" / "corpus.json").read_bytes())["digests"]
    assert sealed["pool.jsonl"] == canonical_json.sha256((bundle / "pool.jsonl").read_bytes())


def test_every_change_of_a_pool_is_found(bundle: Path, tmp_path: Path) -> None:
    lines = [value for _, value in study.read_json_lines(bundle / "pool.jsonl")]
    drawn = next(n for n, line in enumerate(lines) if line["drawn"])
    lost = next(n for n, line in enumerate(lines) if line["eligible"] and not line["drawn"])
    unfit = next(n for n, line in enumerate(lines) if not line["eligible"])

    def changed(number: int, **fields: object) -> list[dict[str, object]]:
        return [line | fields if at == number else line for at, line in enumerate(lines)]

    forged = {
        "another is drawn": changed(lost, drawn=True, reason=None),
        "one is not drawn": changed(drawn, drawn=False, reason="the arm is full"),
        "a rival was not eligible": changed(drawn, eligible=False, drawn=False, reason="late"),
        "an unfit one is eligible": changed(unfit, eligible=True, reason="the arm is full"),
        "without a reason": changed(lost, reason=None),
        "another register": changed(drawn, cell={"register": "song"}),
        "another text": changed(drawn, address="0" * 64),
        "a candidate is gone": [line for at, line in enumerate(lines) if at != drawn],
        "out of order": lines[::-1],
        "other fields": changed(lost, note="x"),
        "no register": changed(lost, cell={}),
    }
    for name, rows in forged.items():
        copy = tmp_path / name / "bundle"
        shutil.copytree(bundle, copy)
        study.write_records(copy / "pool.jsonl", rows)
        assert faults(copy), name
