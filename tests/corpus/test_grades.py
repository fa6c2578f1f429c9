"""A grade is given by evidence: what a record must hold for each, and what a cell alone is worth."""

import csv
import json

import pytest

from penmark import study
from penmark.cli import invoke
from penmark.corpus import grades
from penmark.format import canonical_json

REAL = canonical_json.sha256(b"kept")
NAMES = ("id", "text", "kind", "grade", "source", "archive", "evidence_date", "licence")


def table(path, **further):
    """A table of one archived text."""
    row = dict(
        zip(NAMES, ("e0", "I wrote this today.", "archive", "archived", "s", "a", "2015-06-01", "l"), strict=True)
    )
    with path.open("w", newline="") as file:
        out = csv.DictWriter(file, list(row | further))
        out.writeheader()
        out.writerow(row | further)
    return path


@pytest.mark.parametrize(
    ("further", "grade"),
    [
        ({}, "stated"),
        ({"evidence_sha256": REAL}, "stated"),
        ({"locator.by": "web-archive", "locator.url": "https://example.org/"}, "stated"),
        ({"locator.by": "web-archive", "locator.url": "https://example.org/", "evidence_sha256": "0" * 64}, "stated"),
        (
            {"locator.by": "web-archive", "locator.url": "https://example.org/", "evidence_sha256": "deadbeef" * 8},
            "stated",
        ),
        ({"locator.by": "web-archive", "evidence_sha256": REAL}, "stated"),
        ({"locator.url": "https://example.org/", "evidence_sha256": REAL}, "stated"),
        ({"locator.by": "web-archive", "locator.url": "https://example.org/", "evidence_sha256": REAL}, "archived"),
    ],
)
def test_archived_is_no_word_in_a_cell(corpus, tmp_path, capsys, further, grade):
    made = corpus(corpus.arm("A", "human", 1))
    path = table(tmp_path / "t.csv", **further)
    assert invoke(["-C", str(made.place.root), "collect", "A", "--path", str(path)]) == 0
    (one,) = made.documents("A")
    assert (one["provenance"]["grade"], one["gathered_by"]) == (grade, "table")
    err = capsys.readouterr().err
    assert ("warning: A: 1 text says archived, and no" in err) == (grade == "stated")


@pytest.mark.parametrize(
    ("digest", "grade"), [("", "stated"), (canonical_json.sha256(b""), "stated"), (REAL, "released")]
)
def test_released_needs_a_digest(corpus, tmp_path, digest, grade):
    made = corpus(corpus.arm("A", "human", 1))
    path = table(tmp_path / "t.csv", grade="released", evidence_sha256=digest)
    assert invoke(["-C", str(made.place.root), "collect", "A", "--path", str(path)]) == 0
    assert made.documents("A")[0]["provenance"]["grade"] == grade


def test_a_table_cannot_say_that_a_session_was_witnessed_or_an_exchange_recorded(corpus, tmp_path):
    made = corpus(corpus.arm("A", "human", 1), corpus.arm("C", "ai", 1))
    session = {
        "attestation": "v",
        "attestation_sha256": REAL,
        "written_on": "2026-10-01",
        "adult": True,
        "publish": True,
    }
    session |= {"vendors": "*", "review": "r", "history_sha256": REAL, "operations": 400, "active_minutes": 9}
    session |= {"pastes": 0, "largest_insert_percent": 2, "id": "b", "text": "Words.", "kind": "attested"}
    exchange = {
        "provider": "P",
        "model": "M",
        "generated_on": "2026-10-02",
        "prompt": "p",
        "style": "s",
        "word_target": 9,
    }
    exchange |= {"request_sha256": REAL, "response_sha256": canonical_json.sha256(b"x"), "finish_reason": "stop"}
    exchange |= {"id": "c", "text": "More words.", "kind": "generated"}
    for arm, grade, row in (("A", "witnessed", session), ("C", "recorded", exchange)):
        path = tmp_path / f"{arm}.jsonl"
        path.write_text(json.dumps(row | {"grade": grade}) + "\n")
        assert invoke(["-C", str(made.place.root), "collect", arm, "--path", str(path)]) == 0
        assert made.documents(arm)[0]["provenance"]["grade"] == "stated"


def test_a_grade_that_is_written_into_a_record_stops_the_freeze(corpus, tmp_path):
    made = corpus(corpus.arm("A", "human", 1))
    assert invoke(["-C", str(made.place.root), "collect", "A", "--path", str(table(tmp_path / "t.csv"))]) == 0
    (one,) = made.documents("A")
    one["provenance"]["grade"] = "archived"
    study.write_records(made.place.documents("A"), [one])
    assert invoke(["-C", str(made.place.root), "screen"]) == 1
    told = study.read_bytes(made.edition.screening).decode()
    assert "missing-provenance,A,e0" in told
    assert "no locator says where the capture is kept" in told


@pytest.mark.parametrize("digest", [None, "0" * 64, "ab" * 32, "0123456789abcdef" * 4, canonical_json.sha256(b"")])
def test_digests_that_are_none(digest):
    assert not grades.real(digest)
    assert grades.real(REAL)
