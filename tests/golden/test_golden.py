"""The golden study: the real commands, and one known digest of all that comes out.

Where a change is meant, ``PENMARK_GOLDEN=write pytest tests/golden`` writes ``golden.sums`` anew; read its diff file by
file, and then write the digest that the test shows below. A bundle of a released format stays verifiable for good.
"""

from __future__ import annotations

import csv
import gzip
import os
import re
from collections import Counter
from pathlib import Path

import pytest
from tests.forgeries import both_verifiers

from penmark import study
from penmark.format import canonical_json
from penmark.page import limits_of_evidence, render_page

SUMS = Path(__file__).with_name("golden.sums")
DIGEST = "31d0437179bba35025894a547db0864d0d9aef1aa324b1e4e1ac873f82b65308"
"""SHA-256 of ``golden.sums``."""
LEFT_OUT = ("SHA256SUMS", "verify.py")
"""One follows from all others; the other is a copy of a file of this repository, as check 1 says."""


def listed(root: Path) -> str:
    """Digest and path of every file; of a ``.gz`` of what it holds, since its bytes depend on the zlib build."""
    lines = []
    for path in sorted(p for p in root.rglob("*") if p.is_file()):
        name, data = path.relative_to(root).as_posix(), path.read_bytes()
        if name.endswith(".gz"):
            name, data = name.removesuffix(".gz"), gzip.decompress(data)
        if name not in LEFT_OUT:
            lines.append(f"{canonical_json.sha256(data)}  {name}\n")
    return "".join(sorted(lines, key=lambda line: line[66:]))


def test_the_golden_bundle_has_one_digest(golden: Path) -> None:
    now = listed(golden)
    if os.environ.get("PENMARK_GOLDEN") == "write":
        SUMS.write_text(now, encoding="utf-8")
    before = dict(line.split("  ")[::-1] for line in SUMS.read_text(encoding="utf-8").splitlines())
    after = dict(line.split("  ")[::-1] for line in now.splitlines())
    assert [n for n in sorted(before.keys() | after.keys()) if before.get(n) != after.get(n)] == []
    assert canonical_json.sha256(now.encode()) == DIGEST


def test_page_and_readme_say_alike_what_they_cannot_show(golden: Path) -> None:
    page, readme = ((golden / name).read_text(encoding="utf-8") for name in ("report/index.html", "README.md"))
    for each in (*limits_of_evidence.CANNOT, *limits_of_evidence.CATCH):
        assert f"<li>{each}</li>\n" in page
        assert f"\n- {each}\n" in readme


def rows(golden: Path, name: str) -> list[dict[str, str]]:
    with (golden / "tables" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_it_holds_everything_once(golden: Path) -> None:
    readings = rows(golden, "readings")
    assert set(Counter(row["state"] for row in readings)) == {
        "answered", "declined", "failed", "in_doubt", "not_scannable", "not_run"
    }  # fmt: skip
    assert {row["version_state"] for row in readings} == {"as_asked", "changed", "not_reported"}
    assert {row["origin"] for row in readings} == {"", "scan", "typed", "recorded"}
    assert {row["call"] + row["call_lenient"] for row in readings} == {"", "aiai", "not-ainot-ai", "not-aiai"}
    documents = rows(golden, "documents")
    assert {row["kind"] for row in documents} == {"archive", "attested", "generated", "edited"}
    assert [row["id"] for row in documents if row["withheld"] != ""] == ["B-04"]
    assert {row["rule"] for row in rows(golden, "departures")} >= {"arm-size", "tuned-boundary", "authorities"}
    for path in ("amendments/0001.json", "amendments/0002.json", "deviations.jsonl", "salts.jsonl"):
        assert (golden / path).is_file()
    journals = [path.name for path in sorted((golden / "journal").iterdir())]
    assert journals == ["edge.2.1of2.jsonl", "edge.2.2of2.jsonl", "humane.jsonl", "plain.jsonl", "typed.jsonl"]


@pytest.mark.parametrize(
    ("detector", "version", "human", "ai", "rest"),
    [
        # counted by hand from material.py: false positives of humans answered, detections of AI answered, and
        # uncertain, declined, failed, in doubt, not scannable over both
        ("edge.2", "2.0", (4, 8), (2, 2), (0, 5, 1, 0, 1)),
        ("edge.2", "3.0", (0, 2), (0, 0), (1, 0, 0, 0, 0)),
        ("humane", "", (4, 12), (4, 5), (0, 1, 0, 0, 0)),
        ("plain", "", (3, 8), (3, 4), (1, 4, 0, 1, 2)),
        ("typed", "spring", (1, 6), (1, 2), (1, 0, 0, 0, 0)),
        ("typed", "summer", (0, 0), (1, 1), (0, 0, 0, 0, 0)),
    ],
)
def test_counted_by_hand(
    golden: Path, detector: str, version: str, human: tuple[int, int], ai: tuple[int, int], rest: tuple[int, ...]
) -> None:
    [row] = [r for r in rows(golden, "table1") if (r["detector"], r["version"]) == (detector, version)]
    assert (int(row["false_positives"]), int(row["human_n"])) == human
    assert (int(row["detections"]), int(row["ai_n"])) == ai
    assert tuple(int(row[k]) for k in ("uncertain", "declined", "failed", "in_doubt", "not_scannable")) == rest


def test_a_detector_with_two_versions_is_named_once_where_its_boundary_is_another(golden: Path) -> None:
    held = {f"tables/{path.name}": path.read_bytes() for path in (golden / "tables").iterdir()}
    made = render_page(study.Edition(golden), held, recomputed=["typed", "edge.2"]).decode()
    said = r"Recomputed at another boundary than the promised one for ([^.]*\.?[^.]*)\."
    told = set(re.findall(said, re.sub("<[^>]+>", "", made)))
    assert told == {"edge.2, typed"}


def test_both_verifiers_find_nothing_wrong_and_say_what_they_leave_out(golden: Path) -> None:
    ours, alone = both_verifiers.ours(golden), both_verifiers.alone(golden)
    assert ours.failed == alone.failed == set()
    assert [line.split(":")[0] for line in ours.unknown().splitlines()] == [
        "2 seals/promise.json", "2 seals/corpus.json", "2 seals/evidence.json", "2 announcement", "4 texts"
    ]  # fmt: skip
    assert {"3 protocol.yaml", "3 tables/departures.csv", "8 report/index.html"} <= {
        line.split(":")[0] for line in alone.unknown().splitlines()
    }
    assert {check.number for check in ours.checks if check.state == "ok"} == set(range(1, 9))


def test_what_has_no_answer_stands_beside_the_rate(golden: Path) -> None:
    page, readme = ((golden / name).read_text(encoding="utf-8") for name in ("report/index.html", "README.md"))
    said = [(number, row) for number, row in enumerate(rows(golden, "table1"), 1) if row["fp_unanswered"]]
    assert said
    for number, row in said:
        span = (
            f'<span data-cell="tables/table1.csv:{number}:fp_unanswered" data-as="text">{row["fp_unanswered"]}</span>'
        )
        assert page.count(span) == 2  # beside the rate in Table 1, and in the plot
        assert f"; {row['fp_unanswered']} |" in readme
    assert both_verifiers.ours(golden).failed == both_verifiers.alone(golden).failed == set()
