"""`penmark freeze`, as it is typed: screen, manifest, seal."""

import json

import pytest

from penmark import study
from penmark.cli import invoke
from penmark.corpus import manifest
from penmark.errors import PenmarkError, UsageError
from penmark.format import canonical_json
from penmark.study import seal_files


@pytest.fixture
def filled(corpus):
    made = corpus()
    made.collect("A", *(corpus.draft(f"A{i}", f"Text {i}.") for i in range(2)))
    made.collect("C", *(corpus.draft(f"C{i}", f"Text C{i}.", kind="generated") for i in range(2)))
    return made


def freeze(made, *argv):
    return invoke(["-C", str(made.place.root), "freeze", *argv])


def test_the_corpus_is_sealed(filled, capsys):
    assert freeze(filled) == 0
    out = capsys.readouterr().out
    assert "BENCH-2026-Q4: 4 documents are frozen (A 2, C 2)" in out
    assert "not publicly pre-registered" in out
    seal = seal_files.read_seal(filled.edition, "corpus")
    assert seal.digests == {
        name: canonical_json.sha256(study.read_bytes(filled.edition.root / name))
        for name in ("manifest.jsonl", "screening.csv")
    }
    assert seal.announced is None
    assert [row["id"] for row in manifest.read_manifest(filled.edition).documents] == ["A0", "A1", "C0", "C1"]
    for verb in ("freeze", "collect"):
        with pytest.raises(UsageError, match=r"frozen[^\0]*penmark amend"):
            invoke(["-C", str(filled.place.root), verb])


def test_errors_stop_it_and_are_told(filled, corpus, capsys):
    filled.collect("A", corpus.draft("A0", ""), corpus.draft("A1", "Text 1."), anew=True)
    with pytest.raises(PenmarkError, match=r"screening\.csv: 1 error stops the freeze") as caught:
        freeze(filled)
    assert caught.value.exit_code == 1
    assert "error empty in A: 1\n    corpus/A/documents.jsonl:1: A0: the text holds no word" in capsys.readouterr().err
    assert filled.edition.screening.exists()
    assert not filled.edition.manifest.exists()
    assert not filled.edition.seal("corpus").exists()
    filled.collect("A", corpus.draft("A0", "A text."), corpus.draft("A1", "Text 1."), anew=True)
    assert freeze(filled) == 0


def test_an_announcement_is_sealed_whole_or_not_at_all(filled, capsys):
    told = ["--announced", "https://example.org/p", "--capture", "https://archive.example/p"]
    with pytest.raises(UsageError, match="--captured-at missing"):
        freeze(filled, *told)
    for at in ("yesterday", "2026-10-32T00:00:00Z", "2026-11-31T00:00:00Z"):
        with pytest.raises(UsageError, match="is not a time in UTC"):
            freeze(filled, *told, "--captured-at", at)
    with pytest.raises(UsageError, match="lies in the future"):
        freeze(filled, *told, "--captured-at", "2999-01-01T00:00:00Z")
    with pytest.raises(UsageError, match="lies before the promise, 2026-10-01"):
        freeze(filled, *told, "--captured-at", "2026-09-30T23:00:00Z")
    assert freeze(filled, *told, "--captured-at", "2026-10-02T00:00:00Z", "--json") == 0
    assert json.loads(capsys.readouterr().out)["documents"] == 4
    announced = seal_files.read_seal(filled.edition, "corpus").announced
    assert announced is not None
    assert announced.captured_at == "2026-10-02T00:00:00Z"


def test_a_freeze_that_was_cut_before_its_seal_is_made_again(filled):
    manifest.freeze_manifest(filled.place, filled.edition, filled.protocol)
    before = filled.edition.manifest.read_bytes()
    assert freeze(filled) == 0
    assert filled.edition.manifest.read_bytes() == before


def test_findings_about_withheld_texts_stay_private(corpus):
    made = corpus(corpus.arm("B", "human", 1))
    attested = {
        "kind": "attested",
        "grade": "stated",
        "attestation": "v1",
        "attestation_sha256": "a" * 64,
        "written_on": "2026-10-10",
        "adult": "true",
        "publish": "no",
        "vendors": "*",
        "review": "accepted",
    }
    made.collect("B", corpus.draft("1", "Without an end", **attested))
    assert freeze(made) == 0
    assert made.edition.screening.read_bytes().count(b"\n") == 1
    hidden = made.place.private / "screening-BENCH-2026-Q4.csv"
    assert b"cut-off" in hidden.read_bytes()
    assert hidden.stat().st_mode & 0o777 == 0o600


def test_over_a_changed_promise_nothing_is_written(filled):
    sealed = filled.edition.protocol_yaml
    study.write_bytes(sealed, study.read_bytes(sealed) + b"# another rule\n")
    with pytest.raises(PenmarkError, match=r"protocol\.yaml: is not the file that the promise seal holds"):
        freeze(filled)
    assert not filled.edition.screening.exists()
    assert not filled.edition.manifest.exists()
