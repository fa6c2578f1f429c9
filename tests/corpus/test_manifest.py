"""The manifest: what is frozen is what was collected, and nothing else is read back."""

import pytest

from penmark import study
from penmark.corpus import manifest
from penmark.errors import FaultsError, PenmarkError, UsageError
from penmark.format import canonical_json


@pytest.fixture
def filled(corpus):
    made = corpus(corpus.arm("C", "ai", 1), corpus.arm("A", "human", 3))
    made.collect("A", *(corpus.draft(n, f"Text {n}.") for n in ("b", "007", "Ä")))
    made.collect("C", corpus.draft("z", "An AI text.", kind="generated"))
    return made


def frozen(made):
    return manifest.freeze_manifest(made.place, made.edition, made.protocol)


def test_order_head_and_lines(filled):
    made = frozen(filled)
    lines = filled.edition.manifest.read_bytes().split(b"\n")
    assert lines[0] == (
        b'{"arms":{"A":3,"C":1},"documents":4,"edition":"BENCH-2026-Q4","kind":"manifest","study":"small",'
        b'"word_rule":"penmark-2"}'
    )
    assert [row["id"] for row in made.documents] == ["z", "007", "b", "Ä"]  # arms as promised, then code points
    assert list(made.arms) == ["C", "A"]
    assert lines[1:-1] == [canonical_json.encode_json(row) for row in made.documents]
    again = manifest.read_manifest(filled.edition)
    assert again.documents == made.documents
    assert again.arms == made.arms
    assert [document.id for document in again.records()] == ["z", "007", "b", "Ä"]


def test_freezing_twice_gives_the_same_bytes(filled):
    frozen(filled)
    before = filled.edition.manifest.read_bytes()
    frozen(filled)
    assert filled.edition.manifest.read_bytes() == before


def test_what_cannot_be_frozen(filled):
    rows = filled.documents("A")
    study.write_records(
        filled.place.documents("A"), [rows[0], rows[1] | {"id": "z"}, rows[2] | {"arm": "C"}, {"id": "x"}]
    )
    filled.place.documents("C").write_bytes(canonical_json.encode_json(filled.documents("C")[0]) + b"\n")
    with pytest.raises(FaultsError) as caught:
        frozen(filled)
    told = str(caught.value)
    assert "documents.jsonl:2: the id z is also at" in told
    assert "documents.jsonl:3: says it is of the arm C" in told
    assert "documents.jsonl:4: arm: Field required" in told
    assert "2 documents in the arm A; the promise is 3" in told
    assert not filled.edition.manifest.exists()


def test_no_freeze_before_the_promise_or_after_the_seal(filled):
    study.write_bytes(filled.edition.seal("corpus"), b"{}")
    with pytest.raises(UsageError, match="frozen already"):
        frozen(filled)
    filled.edition.seal("promise").unlink()
    with pytest.raises(UsageError, match="penmark commit"):
        frozen(filled)


def test_nothing_else_is_read_back(filled):
    frozen(filled)
    path = filled.edition.manifest
    head, *rows = path.read_bytes().splitlines(keepends=True)
    for data, expected in (
        (b"", "does not begin with the head"),
        (b"".join(rows), "does not begin with the head"),
        (head.replace(b"penmark-2", b"penmark-3") + b"".join(rows), "counts words by penmark-3"),
        (head + b"".join(rows[:-1]), "says 4 documents"),
        (head + b"".join([*rows, rows[0]]), r"manifest\.jsonl:6: the id z a second time"),
        (head + rows[0].replace(b'"C"', b'"D"', 1) + b"".join(rows[1:]), "the arm D, which the head does not name"),
        (head + rows[0].replace(b',"words":3', b"") + b"".join(rows[1:]), "has not the keys of a document"),
        (head + b"".join(rows)[:-5], "the last line is not finished"),
        (head + b"".join(rows).replace(b'"author":null', b'"author": null'), "not in canonical form"),
        (head + rows[0].replace(b'"words":3', b'"words":3.0') + b"".join(rows[1:]), "canonical|float"),
    ):
        path.write_bytes(data)
        with pytest.raises(PenmarkError, match=expected):
            manifest.read_manifest(filled.edition)


def test_a_row_that_is_no_document_is_told_when_records_are_asked_for(filled):
    frozen(filled)
    path = filled.edition.manifest
    path.write_bytes(path.read_bytes().replace(b'"words":3', b'"words":-3', 1))
    with pytest.raises(FaultsError, match=r"manifest\.jsonl:2: words"):
        list(manifest.read_manifest(filled.edition).records())
