"""Where archived text is kept: the locator in its record, and data sets whose own word suffices."""

import json

import pytest

from penmark.corpus import provenance
from penmark.errors import FaultsError
from penmark.format import canonical_json, versions
from penmark.protocol.arm_departures import compare_arms
from penmark.records import Archive, Arm, Document

ROW = {
    "kind": "archive",
    "grade": "stated",
    "source": "https://example.org/a",
    "archive": "a data set",
    "evidence_date": "2020-05-01",
    "evidence_sha256": "a" * 64,
    "licence": "CC0",
}
LOCATOR = {"locator.by": "web-archive", "locator.timestamp": "20200501120000"}


def arm(**evidence):
    asked = {"kinds": ["archive"], "grades": ["archived", "released"], "before": "2022-01-01"} | evidence
    told = {
        "name": "A",
        "title": "A",
        "truth": "human",
        "documents": 1,
        "headline": True,
        "filled": "x",
        "persists": True,
    }
    return Arm.model_validate_json(json.dumps(told | {"evidence": asked}))


def test_a_locator_travels_and_its_absence_leaves_no_trace():
    bare, told = provenance.parse_row(ROW, "row"), provenance.parse_row(ROW | LOCATOR, "row")
    assert told.locator == {"by": "web-archive", "timestamp": "20200501120000"}
    # What was sealed before there were locators has the same bytes as ever.
    assert "locator" not in bare.model_dump()
    assert canonical_json.encode_json(bare.model_dump(mode="json")) == canonical_json.encode_json({**ROW})
    assert Archive.model_validate_json(canonical_json.encode_json(told.model_dump(mode="json"))) == told
    with pytest.raises(FaultsError, match="Strange Name"):
        provenance.parse_row(ROW | {"locator.Strange Name": "x"}, "row")
    assert provenance.is_provenance_name("locator.by")
    assert "locator" not in provenance.list_provenance_names("archive")


def test_locators_belong_to_archive_text(corpus):
    made = corpus(corpus.arm("C", "ai"))
    result = made.collect("C", corpus.draft("x", "words", kind="generated", **LOCATOR))
    assert result.unused == ()
    claims = json.loads((made.place.arm("C") / "claims.jsonl").read_text())
    assert claims["claims"] == {f"claimed_{name}": value for name, value in LOCATOR.items()}


def test_a_data_sets_own_word_suffices_where_the_protocol_names_its_file():
    def lacks(asked, **changed):
        record = provenance.parse_row(ROW | changed, "row")
        document = Document(
            id="d", arm="A", address="0" * 64, canonical_sha256=None, words=1, characters=1, provenance=record
        )
        return [lack.rule for lack in provenance.list_shortfalls(document, asked)]

    listed = arm(stated=["a" * 64])
    assert lacks(arm()) == ["missing-provenance"]
    assert lacks(listed) == []
    assert lacks(listed, evidence_sha256="b" * 64) == ["missing-provenance"]
    assert lacks(listed, evidence_sha256="") == ["missing-provenance"]
    assert lacks(listed, evidence_date="2022-01-01") == ["after-cutoff"]
    assert lacks(arm(kinds=["attested"], stated=["a" * 64])) == ["missing-provenance"]


def test_such_a_data_set_is_a_departure():
    base, given = arm(), arm(stated=["a" * 64])
    (row,) = [row for row in compare_arms(base, given, versions.WRITES) if row[0] == "evidence-stated"]
    assert row[1:3] == ("arm A: no data set by its word alone", "a" * 64)
    assert not [row for row in compare_arms(given, given, versions.WRITES) if row[0] == "evidence-stated"]
    assert "stated" not in base.model_dump()["evidence"]
