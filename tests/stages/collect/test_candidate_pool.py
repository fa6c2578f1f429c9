"""Drawing an arm from a pool: who was a candidate, who was eligible, who was drawn and why not, and again the same."""

import pytest
from tests.conftest import Drafts
from tests.corpus.test_draw import ranked

from penmark import study
from penmark.corpus import manifest
from penmark.errors import UsageError
from penmark.format import canonical_json
from penmark.stages import screen
from penmark.stages.collect import collect_arm

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
QUOTAS = [{"where": {"register": "news"}, "documents": 2}, {"where": {"register": "forum"}, "documents": 1}]


def made_of(corpus, **further):
    return corpus(corpus.arm("A", "human", 3, quotas=QUOTAS, **further), corpus.arm("C", "ai", 1))


def draw(made, *drafts, arm="A"):
    return collect_arm(made.place, made.protocol, arm, Drafts(*drafts), lambda n: None, draw=True)


def pool(made, arm="A"):
    return {value["document"]: value for _, value in study.read_json_lines(made.place.pool(arm, made.edition.tag))}


def candidates(corpus):
    texts = {f"n{i}": ("news", f"News {i} of the day, told at some length.") for i in range(6)}
    texts |= {f"f{i}": ("forum", f"Post {i} of the forum, told at some length.") for i in range(3)}
    texts |= {"s0": ("song", "A song of the sea, told at some length.")}
    return [corpus.draft(name, text, register=register) for name, (register, text) in texts.items()]


def test_the_seed_draws_and_the_pool_says_why(corpus):
    words = {"minimum": 3, "maximum": 20}
    made = made_of(corpus, words=words, evidence={"kinds": ["archive"], "grades": ["archived"], "before": "2022-01-01"})
    unfit = [
        corpus.draft("short", "Two words.", register="news"),
        corpus.draft("late", "News of a later day, told at length.", register="news", evidence_date="2023-01-01"),
        corpus.draft("twin", "News 0 of the day, told at some length.", register="news"),
    ]
    result = draw(made, *candidates(corpus), *unfit)
    assert (result.documents, result.pool) == (3, (13, 9))
    lines = pool(made)
    drawn = {name for name, line in lines.items() if line["drawn"]}
    fit = [f"n{i}" for i in range(6)] + [f"f{i}" for i in range(3)]
    order = ranked(fit)
    assert drawn == {*[n for n in order if n[0] == "n"][:2], next(n for n in order if n[0] == "f")}
    assert {d["id"] for d in made.documents("A")} == drawn
    assert {name: line["reason"] for name, line in lines.items() if not line["eligible"]} == {
        "s0": "no quota asks for register song",
        "short": "2 words; the arm takes 3 to 20",
        "late": "the evidence is of 2023-01-01, not before 2022-01-01",
        "twin": "the same text as n0",
    }
    assert all((line["reason"] is None) == line["drawn"] for line in lines.values() if line["eligible"])
    assert lines["n0"]["address"] == canonical_json.sha256(b"News 0 of the day, told at some length.")
    assert lines["n0"]["cell"] == {"register": "news"}
    kept = {path.stem for path in made.place.arm("A").glob("*.txt")}
    assert kept == {lines[name]["address"] for name in drawn}


def test_again_from_the_same_pool_changes_nothing_and_another_pool_draws_anew(corpus):
    made = made_of(corpus)
    every = candidates(corpus)
    draw(made, *every)
    before = {p: p.read_bytes() for p in made.place.corpus.rglob("*") if p.is_file()}
    assert draw(made, *reversed(every)).unchanged == 3
    assert {p: p.read_bytes() for p in made.place.corpus.rglob("*") if p.is_file()} == before
    first = {d["id"] for d in made.documents("A")}
    draw(made, *(each for each in every if each.id not in first))
    assert not first & {d["id"] for d in made.documents("A")}
    assert len(list(made.place.arm("A").glob("*.txt"))) == 3


def test_a_pool_that_is_too_small_is_told(corpus):
    made = made_of(corpus)
    draw(made, corpus.draft("n0", "One text of news.", register="news"))
    found = screen.screen_corpus(made.place, made.edition, made.protocol)
    assert {f.rule for f in found if f.arm == "A" and f.severity == "error"} == {"unmet-quota"}


def test_what_is_not_drawn_does_not_slip_in(corpus):
    made = made_of(corpus)
    draw(made, *candidates(corpus))
    drawn = made.documents("A")[0]["id"]
    rows = [row for row in made.documents("A") if row["id"] != drawn]
    study.write_records(made.place.documents("A"), rows)
    made.collect("A", corpus.draft("chosen", "A text that somebody chose.", register="news"))
    told = [
        f.message for f in screen.screen_corpus(made.place, made.edition, made.protocol) if f.rule == "draw-differs"
    ]
    assert told == [
        "1 documents are in the arm and were not drawn: chosen",
        f"1 documents were drawn and are not in the arm: {drawn}",
    ]


def test_of_a_withheld_candidate_nothing_is_told(corpus):
    made = corpus(corpus.arm("B", "human", 1, words={"minimum": 3, "maximum": 20}))
    hidden = [
        corpus.draft("long", "A secret text. " * 20, publish="no", **ATTESTED),
        corpus.draft("fit", "A secret text of some words.", publish="no", **ATTESTED),
        corpus.draft("late", "Another secret text of words.", publish="no", **ATTESTED),
    ]
    draw(made, *hidden, arm="B")
    lines = pool(made, "B")
    assert {line["address"] for line in lines.values()} == {None}
    assert lines["long"]["reason"] == "not eligible"
    drawn = next(name for name, line in lines.items() if line["drawn"])
    kept = {value["document"] for _, value in study.read_json_lines(made.place.salts)}
    assert kept == {drawn}
    assert len(list(made.place.private_texts.iterdir())) == 1
    with pytest.raises(UsageError, match=rf"{drawn} would have to go[^\0]*penmark withdraw"):
        draw(made, *(each for each in hidden if each.id != drawn), arm="B")


def test_the_pool_is_frozen_with_the_corpus(corpus):
    made = made_of(corpus)
    draw(made, *candidates(corpus))
    made.collect("C", corpus.draft("c", "An AI text.", kind="generated"))
    manifest.freeze_manifest(made.place, made.edition, made.protocol)
    assert manifest.list_sealed_files(made.edition) == ["manifest.jsonl", "screening.csv", "pool.jsonl"]
    assert made.edition.pool.read_bytes() == made.place.pool("A", made.edition.tag).read_bytes()
    assert "pool.jsonl" not in manifest.list_sealed_files(study.Edition(made.place.root / "editions" / "OTHER-2026-Q4"))


def test_what_persists_stays_and_its_room_is_taken(corpus):
    made = made_of(corpus)
    made.collect("A", corpus.draft("old", "An old text of the forum.", register="forum"))
    earlier = study.Edition(made.place.root / "editions" / "BENCH-2026-Q3")
    head = {"arms": {"A": 1}, "documents": 1, "edition": earlier.tag, "kind": "manifest", "study": "small"}
    study.write_records(earlier.manifest, [head, made.documents("A")[0]])
    draw(made, *candidates(corpus))
    assert {d["id"][0] for d in made.documents("A")} == {"o", "n"}
    assert {line["reason"] for name, line in pool(made).items() if name[0] == "f"} <= {
        "the quota register forum is full",
        "the arm is full",
    }
