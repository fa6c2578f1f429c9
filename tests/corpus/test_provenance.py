"""Provenance: what a row must say, and what an arm asks of it."""

import json

import pytest

from penmark.corpus import provenance
from penmark.errors import FaultsError
from penmark.format import canonical_json
from penmark.records import Arm, Document, Sentences

ARCHIVE = {
    "kind": "archive",
    "grade": "archived",
    "source": "s",
    "archive": "a",
    "evidence_date": "2021-12-31",
    "licence": "l",
}
ATTESTED = {
    "kind": "attested",
    "grade": "witnessed",
    "attestation": "v1",
    "attestation_sha256": "a" * 64,
    "written_on": "2026-01-01",
    "adult": "yes",
    "publish": "false",
    "vendors": "one; two",
    "review": "accepted",
    "history_sha256": "b" * 64,
    "operations": "100",
    "active_minutes": "30",
    "pastes": "0",
    "largest_insert_percent": "5",
}
GENERATED = {"kind": "generated", "grade": "stated", "provider": "p", "model": "m"}
EDITED = GENERATED | {
    "kind": "edited",
    "draft_sha256": "c" * 64,
    "editor": "e",
    "words_changed": "31",
    "draft_words": "300",
}
TRANSFORMED = {"kind": "transformed", "grade": "stated", "parent": "p", "attack": "a"}


def arm(truth="human", **further):
    kinds = ["archive", "attested", "generated", "edited", "transformed"]
    value = {
        "name": "A",
        "title": "A",
        "truth": truth,
        "documents": 1,
        "headline": False,
        "evidence": {"kinds": kinds, "grades": ["archived", "released", "stated", "witnessed", "recorded"]},
        "filled": "f",
        "persists": True,
    }
    return Arm.model_validate_json(canonical_json.encode_json(value | further))


def document(row):
    return Document(
        id="1",
        arm="A",
        address="0" * 64,
        canonical_sha256=None,
        words=None,
        characters=None,
        provenance=provenance.parse_row(row, "t:1"),
    )


def rules(row, given):
    return [shortfall.rule for shortfall in provenance.list_shortfalls(document(row), given)]


def test_rows_become_records():
    archive = provenance.parse_row(ARCHIVE | {"evidence_sha256": "", "unknown": "x", "model": "other"}, "t:1")
    assert (archive.kind, archive.evidence_date, archive.evidence_sha256) == ("archive", "2021-12-31", None)
    attested = provenance.parse_row(ATTESTED, "t:1")
    assert (attested.consent.publish, attested.consent.vendors) == (False, ("one", "two"))
    assert (attested.adult, attested.session.operations) == (True, 100)
    generated = provenance.parse_row(GENERATED | {"settings": '{"top_p": 0.90}', "settings.seed": "1"}, "t:1")
    assert generated.settings == {"top_p": "0.90", "seed": "1"}
    edited = provenance.parse_row(EDITED | {"settings.t": "1", "prompt": "Write"}, "t:1")
    assert (edited.draft.prompt, edited.draft.grade, edited.draft.settings) == ("Write", "stated", {"t": "1"})
    assert provenance.parse_row(TRANSFORMED, "t:1").parent == "p"


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({}, "no kind of provenance"),
        ({"kind": "archiv"}, "did you mean archive?"),
        (ARCHIVE | {"archive": ""}, "no archive (provenance of kind archive needs it)"),
        (ARCHIVE | {"evidence_date": "2021-02-30"}, "evidence_date is not a date"),
        (ARCHIVE | {"evidence_date": "31.12.2021"}, "evidence_date is not a date"),
        (ARCHIVE | {"grade": "seen"}, "grade: input should be 'archived', 'released' or 'stated' (given: seen)"),
        (ARCHIVE | {"evidence_sha256": "AB" * 32}, "evidence_sha256: is not a SHA-256 digest (64 lower-case"),
        (ATTESTED | {"adult": "no"}, "adult:"),
        (ATTESTED | {"adult": "perhaps"}, "adult is neither true nor false: perhaps"),
        (ATTESTED | {"operations": "many"}, "operations is not a whole number"),
        ({k: v for k, v in ATTESTED.items() if k != "vendors"}, "no vendors"),
        ({k: v for k, v in ATTESTED.items() if k not in ("operations", "pastes")}, "no pastes"),
        (GENERATED | {"grade": "recorded"}, "grade recorded needs generated_on"),
        (GENERATED | {"settings": "[1]"}, "settings is not a JSON object of strings"),
        (EDITED | {"grade": "witnessed"}, "grade witnessed needs the digest of the kept editing history"),
        (TRANSFORMED | {"grade": "recorded"}, "grade recorded needs parent_sha256 and attack_version"),
    ],
)
def test_bad_rows(row, expected):
    with pytest.raises(FaultsError) as caught:
        provenance.parse_row(row, "t.csv:7")
    assert expected in str(caught.value)
    assert all(fault.place == "t.csv:7" and fault.remedy is not None for fault in caught.value.faults)


def test_every_fault_of_a_row_is_told():
    with pytest.raises(FaultsError) as caught:
        provenance.parse_row({"kind": "archive", "grade": "seen"}, "t:1")
    missing, wrong = caught.value.faults
    assert missing.fact == "no source, archive, evidence_date and licence (provenance of kind archive needs them)"
    assert missing.remedy is not None
    assert missing.remedy.endswith("--option source=… --option archive=… --option evidence_date=… --option licence=…")
    assert wrong.fact.startswith("grade: input should be ")


def test_every_name_that_a_kind_may_have_is_known():
    assert all(
        provenance.is_provenance_name(name)
        for row in (ARCHIVE, ATTESTED, GENERATED, EDITED, TRANSFORMED)
        for name in row
    )
    assert provenance.is_provenance_name("settings.temperature")
    assert not provenance.is_provenance_name("evidence_data")
    assert "publish" in provenance.list_provenance_names("attested")
    assert provenance.list_provenance_names("none") == frozenset()


def test_what_an_arm_asks():
    assert rules(ARCHIVE, arm()) == []
    kinds = arm(evidence={"kinds": ["attested"], "grades": ["witnessed"]})
    assert rules(ARCHIVE, kinds) == ["missing-provenance"]
    assert rules(ATTESTED, kinds) == []
    grades = arm(evidence={"kinds": ["archive"], "grades": ["archived", "released"], "before": "2022-01-01"})
    assert rules(ARCHIVE, grades) == []
    assert rules(ARCHIVE | {"grade": "stated"}, grades) == ["missing-provenance"]
    assert rules(ARCHIVE | {"evidence_date": "2022-01-01"}, grades) == ["after-cutoff"]
    (late,) = provenance.list_shortfalls(document(ARCHIVE | {"evidence_date": "2022-01-01"}), grades)
    assert late.message == "the evidence is of 2022-01-01, not before 2022-01-01"


def test_truth_and_provenance_agree():
    assert rules(GENERATED, arm("human")) == ["missing-provenance"]
    assert rules(ARCHIVE, arm("ai")) == ["missing-provenance"]
    assert rules(TRANSFORMED, arm("human")) == ["missing-provenance"]
    assert rules(TRANSFORMED, arm("ai")) == rules(TRANSFORMED, arm("mixed")) == rules(EDITED, arm("mixed")) == []


@pytest.mark.parametrize(
    ("changed", "words", "expected"),
    [
        ("30", "300", []),
        ("31", "300", ["over-budget"]),
        ("36", "359", ["over-budget"]),  # 10.03 %: shown with one decimal it is the budget
        ("120", "1200", []),
        ("121", "1200", ["over-budget"]),
        ("10", "99", ["over-budget"]),
        ("0", "300", ["not-edited"]),
    ],
)
def test_the_budget_is_exact(changed, words, expected):
    budget = {"words_percent": "10", "sentences": "any"}
    row = EDITED | {"words_changed": changed, "draft_words": words}
    assert rules(row, arm("mixed", budget=budget)) == expected


def test_sentences_that_are_added_or_deleted():
    budget = {"words_percent": "10", "sentences": "none added or deleted"}
    row = EDITED | {"words_changed": "3"}
    assert rules(row, arm("mixed", budget=budget)) == ["sentences-unclear"]  # nobody looked
    made = provenance.parse_row(row, "row")
    link = {"kind": "kept", "draft": (0, 5), "text": (0, 6)}
    more = {"kind": "added", "draft": None, "text": (7, 9)}
    for verdict, links, expected in (
        ("kept", [link], []),
        ("changed", [link, more], ["sentences-changed"]),
        ("unclear", [link, more], ["sentences-unclear"]),
    ):
        held = {"splitters": ["a 1", "b 2"], "verdict": verdict, "because": "1 added", "links": links}
        value = made.model_copy(update={"sentences": Sentences.model_validate_json(json.dumps(held))})
        document = Document(
            id="d", arm="X", address="0" * 64, canonical_sha256=None, words=1, characters=1, provenance=value
        )
        assert [lack.rule for lack in provenance.list_shortfalls(document, arm("mixed", budget=budget))] == expected
        assert provenance.list_shortfalls(document, arm("mixed")) == []


def test_a_verdict_fits_its_links():
    link = {"kind": "split", "draft": [0, 5], "text": [0, 6]}
    for verdict in ("kept", "changed"):
        held = {"splitters": ["a 1", "b 2"], "verdict": verdict, "because": "", "links": [link]}
        with pytest.raises(ValueError, match="sentences that are"):
            Sentences.model_validate_json(json.dumps(held))
