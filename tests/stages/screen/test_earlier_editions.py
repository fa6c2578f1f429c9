"""Texts of before: those of earlier editions, of the demonstration, and the practice texts."""

import unicodedata
from importlib.resources import files

import pytest

from penmark import study
from penmark.corpus import manifest
from penmark.records import Protocol
from penmark.stages import screen

LONG = "A rather long text that is there once and once more, with a word changed somewhere near to its end, {}."
ATTESTED = {
    "kind": "attested",
    "grade": "stated",
    "attestation": "version 1",
    "attestation_sha256": "a" * 64,
    "written_on": "2026-10-10",
    "adult": "true",
    "vendors": "*",
    "review": "accepted",
}


def closed(made, tag="BENCH-2026-Q3"):
    """The study's corpus, frozen as the edition ``tag`` of before."""
    edition = study.Edition(made.place.root / "editions" / tag)
    study.write_bytes(edition.seal("promise"), b"{}")
    promised = Protocol.model_validate_json(
        made.protocol.model_copy(update={"edition": tag}).model_dump_json(by_alias=True)
    )
    manifest.freeze_manifest(made.place, edition, promised)
    study.write_bytes(edition.seal("corpus"), b"{}")
    return edition


def seen(made):
    found = screen.screen_corpus(made.place, made.edition, made.protocol)
    return [(f.document, f.message, f.private) for f in found if f.rule in ("seen-before", "made-before")]


def stops(made):
    found = screen.screen_corpus(made.place, made.edition, made.protocol)
    return {f.document: f.message for f in found if f.rule == "made-before" and f.severity == "error"}


def test_texts_of_an_earlier_edition(corpus):
    made = corpus(corpus.arm("C", "ai", 2, persists=False))
    made.collect(
        "C",
        corpus.draft("old1", LONG.format("alas"), kind="generated"),
        corpus.draft("old2", "Fine.", kind="generated"),
    )
    closed(made)
    made.collect(
        "C",
        corpus.draft("new1", LONG.format("hooray"), kind="generated"),
        corpus.draft("new2", "Fine. ", kind="generated"),
    )
    assert seen(made) == [
        ("new1", "shares 89% of its five-word sequences with old1 of BENCH-2026-Q3", False),
        ("new2", "is the same, but for white space, as old2 of BENCH-2026-Q3", False),
    ]


TEXT = " ".join(f"Words number {number} stood in a line of the café, and none of them moved." for number in range(30))


DECOMPOSED = unicodedata.normalize("NFD", TEXT)
AGAIN = {
    "bytes": TEXT,
    "form": DECOMPOSED,
    "ends": TEXT.replace(". ", ".\r\n"),
    "both": DECOMPOSED.replace(". ", ".\n\n"),
    "near": TEXT.replace("number 7", "digit 7"),
    "near and form": DECOMPOSED.replace("number 7", "digit 7"),
}


@pytest.mark.parametrize("form", AGAIN)
def test_a_text_of_before_under_a_new_id_is_not_made_anew_whatever_its_form(corpus, form):
    made = corpus(corpus.arm("C", "ai", 2, persists=False))
    made.collect("C", corpus.draft("old", TEXT, kind="generated"), corpus.draft("older", "Fine.", kind="generated"))
    closed(made)
    study.write_records(made.place.documents("C"), [])
    fresh = "Another text about a café, in which nobody stood in a line; rain fell on the harbour all day long."
    texts = {"again": AGAIN[form], "fresh": fresh}
    made.collect("C", *(corpus.draft(name, text, kind="generated") for name, text in texts.items()), anew=True)
    assert set(stops(made)) == {"again"}


def test_a_text_of_before_is_known_by_its_digest_where_the_study_keeps_it_no_longer(corpus):
    made = corpus(corpus.arm("C", "ai", 1, persists=False))
    made.collect("C", corpus.draft("old", TEXT, kind="generated"))
    closed(made)
    for path in made.place.arm("C").iterdir():
        path.unlink()
    made.collect("C", corpus.draft("new", TEXT.replace("\n", "\r\n"), kind="generated"))
    assert stops(made) == {"new": "has the text of old of BENCH-2026-Q3, or its draft"}


def test_documents_that_persist_are_not_their_own_copies(corpus):
    made = corpus(corpus.arm("A", "human", 1), corpus.arm("B", "human", 1))
    made.collect("A", corpus.draft("a", LONG.format("alas")))
    made.collect(
        "B",
        corpus.draft("b", "A secret text about the lighthouse and its keeper, who is old.", publish="no", **ATTESTED),
    )
    closed(made)
    assert seen(made) == []


def test_of_a_withheld_text_of_before_nothing_is_public(corpus):
    made = corpus(corpus.arm("B", "human", 1), corpus.arm("C", "ai", 1))
    made.collect("B", corpus.draft("b", LONG.format("alas"), publish="no", **ATTESTED))
    made.collect("C", corpus.draft("c", "Fine.", kind="generated"))
    closed(made)
    study.write_records(made.place.documents("B"), [])
    made.collect("C", corpus.draft("c", LONG.format("alas"), kind="generated"), anew=True)
    assert seen(made) == [("c", "has the same bytes as b of BENCH-2026-Q3", True)]


def test_texts_that_ship(corpus):
    made = corpus(corpus.arm("A", "human", 1), corpus.arm("C", "ai", 1))
    practice = files("penmark").joinpath("shipped/practice/ferry.txt").read_bytes()
    shown = files("penmark").joinpath("demo/texts/ai-001.txt").read_text(encoding="utf-8")
    made.collect("A", corpus.draft("a", practice))
    made.collect("C", corpus.draft("c", shown.replace("the", "a", 1), kind="generated"))
    assert [(name, message.split(" with ")[-1]) for name, message, _ in seen(made)] == [
        ("a", "has the same bytes as the practice text ferry"),
        ("c", "the demonstration's text ai-001"),
    ]


def test_the_demonstration_is_not_surprised_by_itself(corpus):
    made = corpus(corpus.arm("C", "ai", 1), study="penmark-demo")
    shown = files("penmark").joinpath("demo/texts/ai-001.txt").read_bytes()
    made.collect("C", corpus.draft("c", shown, kind="generated"))
    assert seen(made) == []
