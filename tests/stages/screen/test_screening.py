"""Screening: every finding in one pass, in a fixed order, and nothing of a withheld text in the open."""

import csv
import io
from collections import Counter
from pathlib import Path

import pytest

from penmark import plugins, protocol, study
from penmark.format import canonical_json
from penmark.plugins import Draft
from penmark.stages import screen

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


def screened(made):
    return screen.screen_corpus(made.place, made.edition, made.protocol)


def of(findings, rule):
    return [f for f in findings if f.rule == rule]


def fine(corpus, made, arm="A", count=2, **further):
    made.collect(arm, *(corpus.draft(f"{arm}{i}", f"Text {i} of the arm {arm}.", **further) for i in range(count)))


def test_a_good_corpus_has_no_findings(corpus):
    made = corpus()
    fine(corpus, made)
    fine(corpus, made, "C", kind="generated")
    assert screened(made) == []
    assert screen.write_screening_csv([]) == b"severity,rule,arm,document,file,row,message,remedy\n"


def test_what_stops_a_freeze(corpus):
    quotas = [{"where": {"register": "news"}, "documents": 2}, {"where": {"register": "forum"}, "documents": 1}]
    made = corpus(
        corpus.arm("A", "human", 3, quotas=quotas, evidence={"kinds": ["archive"], "grades": ["archived"]}),
        corpus.arm("B", "human", 1),
    )
    made.collect(
        "A",
        corpus.draft("1", "", register="news"),
        corpus.draft("2", " \n—", register="forum"),
        corpus.draft("3", "A good text.", grade="stated", register="forum"),
    )
    found = screened(made)
    assert {f.severity for f in found} == {"error"}
    assert [f.document for f in of(found, "empty")] == ["1", "2"]
    (stated,) = of(found, "missing-provenance")
    assert (stated.document, stated.file, stated.row) == ("3", "corpus/A/documents.jsonl", 3)
    assert stated.message == "evidence of grade stated; the arm takes archived"
    assert [f.message for f in of(found, "unmet-quota")] == [
        "1 document with register news; the promise is 2 (there are: forum 2, news 1)",
        "2 documents with register forum; the promise is 1 (there are: forum 2, news 1)",
        "0 documents; the promise is 1",
    ]
    assert all(f.remedy for f in found)


def test_ids_twice_and_ids_that_look_alike(corpus):
    made = corpus()
    fine(corpus, made, "A", 1)
    made.collect("A", corpus.draft("café", "One text."), corpus.draft("cafe\u0301", "Another text."))
    copied = made.documents("A")[0] | {"arm": "C"}
    study.write_records(made.place.documents("C"), [copied])
    (raw,) = made.place.arm("A").glob(f"{copied['address']}.txt")
    study.write_bytes(made.place.arm("C") / raw.name, raw.read_bytes())
    found = screened(made)
    (twice,) = of(found, "duplicate-id")
    assert (twice.arm, twice.severity, twice.message) == ("C", "error", "the id is also in corpus/A/documents.jsonl:1")
    (alike,) = of(found, "look-alike-id")
    assert alike.severity == "error"
    assert "'cafe\\u0301'" in alike.message
    assert len(of(found, "duplicate-bytes")) == 1


def test_same_texts_within_and_across_arms(corpus):
    made = corpus(corpus.arm("A", "human", 4), corpus.arm("B", "human", 2))
    made.collect(
        "A",
        corpus.draft("1", "The same text\nin two lines."),
        corpus.draft("2", "The same text\nin two lines."),
        corpus.draft("3", "\ufeffThe same text\r\nin two lines."),
        corpus.draft("4", "The same  text in two lines.\n"),
    )
    long = "A rather long text that is there once and once more, with a word changed somewhere near to its end, alas."
    made.collect("B", corpus.draft("5", long), corpus.draft("6", long.replace("alas", "hooray")))
    found = screened(made)
    told = {f.rule: (f.document, f.message) for f in found if "duplicate" in f.rule}
    assert told["duplicate-bytes"] == ("2", "has the same bytes as 1 (corpus/A/documents.jsonl:1)")
    assert told["duplicate-text"][0] == "3"
    assert told["duplicate-folded"][0] == "4"
    assert told["near-duplicate"][0] == "6"
    assert "of its five-word sequences with 5 (corpus/B/documents.jsonl:1)" in told["near-duplicate"][1]
    assert {f.severity for f in found} == {"warning"}


def test_the_protocol_says_from_when_on_texts_are_alike(corpus):
    one = "A rather long text that is there once and once more, with a word changed somewhere near to its end, alas."
    other = one.replace("word", "line").replace("alas", "hooray")
    shares = {}
    for least in (None, "0.2", "0.5", "0.7"):
        further = {} if least is None else {"near_duplicates": least}
        made = corpus(corpus.arm("A", "human", 2), **further)
        made.collect("A", corpus.draft("1", one), corpus.draft("2", other))
        shares[least] = [f.message.split(" ")[1] for f in of(screened(made), "near-duplicate")]
    assert shares == {None: ["48%"], "0.2": ["48%"], "0.5": [], "0.7": []}


@pytest.mark.parametrize("least", ["0.19", "1.01", "-1"])
def test_a_threshold_that_cannot_be_kept_is_refused(corpus, least):
    with pytest.raises(ValueError, match=r"is not from 0\.2 to 1"):
        corpus(near_duplicates=least)


def test_the_protocol_makes_warnings_errors_but_no_error_a_warning(corpus):
    rules = {"duplicate-bytes": "error", "empty": "warning", "duplicate-byte": "error"}
    made = corpus(corpus.arm("A", "human", 3), screening=rules)
    made.collect("A", corpus.draft("1", "Same."), corpus.draft("2", "Same."), corpus.draft("3", ""))
    found = screened(made)
    assert [(f.severity, f.rule) for f in found] == [
        ("error", "duplicate-bytes"),
        ("error", "empty"),
        ("warning", "unknown-rule"),
    ]
    assert "did you mean duplicate-bytes?" in found[-1].message


def test_word_limits_and_their_margin(corpus):
    made = corpus(corpus.arm("A", "human", 5, words={"minimum": 100, "maximum": 200}))
    sizes = {"a": 99, "b": 100, "c": 103, "d": 197, "e": 201}
    made.collect("A", *(corpus.draft(n, " ".join(f"{n}{i}" for i in range(k)) + ".") for n, k in sizes.items()))
    found = screened(made)
    assert [(f.document, f.message) for f in of(found, "word-limit")] == [
        ("a", "99 words; the arm takes 100 to 200"),
        ("e", "201 words; the arm takes 100 to 200"),
    ]
    assert [f.document for f in of(found, "word-limit-margin")] == ["b", "d"]


def test_dates(corpus):
    made = corpus(
        corpus.arm("A", "human", 2, evidence={"kinds": ["archive"], "grades": ["archived"], "before": "2022-01-01"}),
        corpus.arm("C", "ai", 2, persists=False),
    )
    made.collect(
        "A",
        corpus.draft("1", "In time.", evidence_date="2021-12-31"),
        corpus.draft("2", "Too late.", evidence_date="2022-01-01"),
    )
    made.collect(
        "C",
        corpus.draft("3", "Made before.", kind="generated", generated_on="2026-09-30"),
        corpus.draft("4", "Made after.", kind="generated", generated_on="2026-10-01", finish_reason="length"),
    )
    found = screened(made)
    assert [(f.rule, f.document) for f in found] == [
        ("after-cutoff", "2"),
        ("age-not-shown", ""),
        ("cut-off", "4"),
        ("made-before-promise", "3"),
    ]
    assert found[1].message.startswith("the evidence of 1 of 2 texts is of 2022 or later (the latest of 2022-01-01)")


def test_what_the_source_says_is_held_against_the_record(corpus):
    made = corpus(corpus.arm("A", "human", 2), corpus.arm("C", "ai", 2), corpus.arm("D", "human", 1))
    ai = {"claimed_kind": "AI-Generated", "claimed_model": "GPT4"}
    made.collect("A", *(corpus.draft(f"A{i}", f"Text {i}.")._replace(claims=ai) for i in range(2)))
    made.collect(
        "C",
        corpus.draft("C0", "Text C.", kind="generated", model="GPT-4")._replace(claims=ai),
        corpus.draft("C1", "Text D.", kind="generated", model="gpt3")._replace(claims=ai),
    )
    human = {"claimed_kind": "Human-Written"}
    made.collect("D", corpus.draft("D0", "Text E.", model="GPT-4")._replace(claims=human))
    told = [(f.arm, f.document, f.message) for f in of(screened(made), "contradictory-provenance")]
    assert told == [
        ("A", "", "the source calls the text 'AI-Generated'; the arm's truth is human (all 2 documents)"),
        ("A", "", "the source names a model, 'GPT4'; the arm's truth is human (all 2 documents)"),
        ("C", "C1", "the source names the model 'GPT4'; the provenance says 'gpt3'"),
        ("D", "D0", "the source names a model, 'GPT-4'; the arm's truth is human"),
    ]


def test_archived_texts_that_are_not_published_are_told_with_address_and_digest(corpus):
    made = corpus()
    drafts = [corpus.draft(f"A{i}", f"Text {i} of the arm A.") for i in range(2)]
    kept = drafts[0]._replace(fields=drafts[0].fields | {"withheld": "its licence forbids it"})
    made.collect("A", kept, drafts[1])
    fine(corpus, made, "C", kind="generated")
    (found,) = screened(made)
    assert (found.rule, found.severity, found.document) == ("not-published", "warning", "A0")
    address = canonical_json.sha256(b"Text 0 of the arm A.")
    source = kept.provenance["source"]
    assert found.message == f"the text is not published (its licence forbids it); it is at {source}, SHA-256 {address}"
    assert found.message in screen.write_screening_csv([found]).decode()


def test_units_that_repeat(corpus):
    made = corpus(corpus.arm("A", "human", 3, unit="author"), corpus.arm("C", "ai", 2))
    made.collect("A", *(corpus.draft(f"A{i}", f"Text {i}.", author="X", topic="bees") for i in range(3)))
    made.collect("C", *(corpus.draft(f"C{i}", f"Text C{i}.", kind="generated", prompt="Write.") for i in range(2)))
    assert [(f.arm, f.message) for f in of(screened(made), "repeated-unit")] == [
        ("A", "3 documents come from 1 topic; one stands behind 3"),
        ("C", "2 documents come from 1 prompt; one stands behind 2"),
    ]


def test_texts_and_records_that_were_changed_afterwards(corpus):
    made = corpus(corpus.arm("A", "human", 4))
    fine(corpus, made, count=4)
    rows = made.documents("A")
    folder = made.place.arm("A")
    (folder / f"{rows[0]['address']}.txt").write_text("Another text.")
    (folder / f"{rows[1]['address']}.txt").unlink()
    rows[2]["words"] = 7
    study.write_records(made.place.documents("A"), rows[:3])
    with made.place.documents("A").open("ab") as file:
        file.write(canonical_json.encode_json(rows[3]).replace(b'"arm":"A"', b'"arm": "A"') + b'\n{"id":"x"}\n{"cut')
    found = screened(made)
    assert all(f.severity == "error" for f in found)
    told = {(f.rule, f.document, f.row) for f in found}
    assert told == {
        ("changed-text", "A0", 1),
        ("missing-text", "A1", 2),
        ("wrong-record", "A2", 3),
        ("invalid-record", "", 4),
        ("invalid-record", "", 5),
        ("invalid-record", "", None),
        ("unmet-quota", "", None),
    }


def test_edits_and_their_drafts(corpus, monkeypatch):
    budget = {"words_percent": "10", "sentences": "any"}
    made = corpus(corpus.arm("C2", "mixed", 3, budget=budget))
    row = {"kind": "edited", "grade": "stated", "provider": "P", "model": "M", "editor": "E"}
    before = b"The quick brown fox jumps over the lazy dog today."
    texts = {
        "same": before,
        "light": before.replace(b"brown", b"red"),
        "much": before.replace(b"brown fox", b"red hen"),
    }
    made.collect("C2", *(Draft(n, t, n, {}, row, draft=before) for n, t in texts.items()))
    assert {(f.rule, f.document) for f in screened(made) if "duplicate" not in f.rule} == {
        ("not-edited", "same"),
        ("over-budget", "much"),
    }
    rows = made.documents("C2")
    rows[0]["provenance"]["words_changed"] = 0
    study.write_records(made.place.documents("C2"), rows)
    assert [f.message for f in of(screened(made), "wrong-record")] == [
        "0 of 10 words changed is recorded; the texts give 1 of 10"
    ]
    monkeypatch.setattr("penmark.stages.screen.edited_texts.MOST_EDITED", 9)
    assert {f.message for f in of(screened(made), "wrong-record")} == {"draft or text has more than 9 words"}
    (made.place.arm("C2") / f"{canonical_json.sha256(before)}.txt").unlink()
    assert len(of(screened(made), "missing-text")) == 4  # the draft of three, and the text of one that equals it


def test_a_rewritten_text_and_its_parent(corpus):
    made = corpus(corpus.arm("A", "human", 2), corpus.arm("M", "mixed", 3))
    fine(corpus, made)
    parent = canonical_json.sha256(b"Text 0 of the arm A.")
    row = {"kind": "transformed", "grade": "stated", "attack": "polish"}
    texts = {
        "good": {"parent": "A0", "parent_sha256": parent, "prompt": "Polish: Text 0  of the arm A."},
        "other": {"parent": "A1", "parent_sha256": parent},
        "prompt": {"parent": "A0", "prompt": "Polish: Text 0 of the arm B."},
    }
    made.collect("M", *(Draft(n, f"Rewritten {n}.".encode(), n, {}, row | more) for n, more in texts.items()))
    told = {f.document: f.message for f in of(screened(made), "contradictory-provenance")}
    assert told == {
        "other": "the parent A1 is not the text whose digest is recorded",
        "prompt": "the prompt does not hold the text of the parent A0 as it is in the corpus",
    }


def test_what_is_made_of_a_human_text_is_no_ai_text(corpus):
    made = corpus(corpus.arm("A", "human", 1), corpus.arm("C", "ai", 2))
    row = {"kind": "transformed", "grade": "stated", "attack": "polish"}
    fine(corpus, made)
    parents = {"C8": "A0", "C9": "C8"}
    made.collect("C", *(Draft(n, f"Rewritten {n}.".encode(), n, {}, row | {"parent": p}) for n, p in parents.items()))
    told = [f.message for f in of(screened(made), "missing-provenance")]
    assert told == ["the arm's truth is ai, and the parent A0 is of truth human"]


def test_nothing_of_a_withheld_text_is_public(corpus):
    made = corpus(corpus.arm("B", "human", 3, words={"minimum": 50, "maximum": 90}))
    secret = "A secret text \u200bwith As an AI language model in it"
    made.collect(
        "B",
        corpus.draft("1", secret, publish="no", **ATTESTED),
        corpus.draft("2", secret, publish="no", **ATTESTED),
        corpus.draft("3", "An open text.", publish="yes", **ATTESTED),
    )
    found = screened(made)
    open_rows = list(csv.DictReader(io.StringIO(screen.write_screening_csv(found).decode())))
    assert [(r["rule"], r["document"]) for r in open_rows] == [("word-limit", "3")]
    hidden = list(csv.DictReader(io.StringIO(screen.write_screening_csv(found, private=True).decode())))
    marks = {"zero-width", "hidden-marks", "chat-residue", "cut-off"}
    assert {r["rule"] for r in hidden} == marks | {"word-limit", "duplicate-bytes"}
    (text,) = (p for p in made.place.private_texts.iterdir() if p.read_bytes() == b"An open text.")
    text.write_text("An open text!")
    assert [(f.rule, f.document) for f in screened(made) if f.severity == "error"] == [("changed-text", "3")]


def test_a_withheld_record_that_tells_its_length_is_wrong(corpus):
    made = corpus(corpus.arm("B", "human", 1))
    made.collect("B", corpus.draft("1", "A secret text.", publish="no", **ATTESTED))
    row = made.documents("B")[0] | {"words": 3}
    study.write_records(made.place.documents("B"), [row])
    (one,) = screened(made)
    assert (one.rule, one.severity, one.message) == (
        "wrong-record",
        "error",
        "words is told, though the text is withheld",
    )


def test_folders_that_no_arm_promises(corpus):
    made = corpus()
    fine(corpus, made)
    fine(corpus, made, "C", kind="generated")
    study.write_records(made.place.documents("Old"), [])
    (one,) = screened(made)
    assert (one.rule, one.file) == ("unpromised-arm", "corpus/Old/documents.jsonl")


def test_sharded_arms_are_read_alike(corpus, monkeypatch):
    made = corpus(corpus.arm("A", "human", 6))
    texts = ["One text.", "One text.", "", "Odd \ue000.", "x" * 50, "Fine."]
    drafts = [corpus.draft(f"{i}", t) for i, t in enumerate(texts)]
    made.collect("A", *drafts)
    loose = screened(made)
    monkeypatch.setattr(study, "LOOSE", 2)
    monkeypatch.setattr(study, "SHARD", 2)
    made.collect("A", *drafts)
    assert not list(made.place.arm("A").glob("*.txt"))
    assert screened(made) == loose != []


def test_the_real_study_brings_up_its_flaws(shared, corpus):
    """Liang et al. 2023, ten sets: what a careful reader found by hand."""
    example = protocol.load_protocol(Path(__file__).parents[3] / "examples" / "liang2023" / "protocol.yaml")
    arms = [arm.model_dump(mode="json", by_alias=True) for arm in example.arms]
    made = corpus(*arms)
    plugin = plugins.load_source("liang2023")({"path": str(shared / "liang2023")})
    for arm in made.protocol.arms:
        made.collect(arm.name, *plugin.gather(arm.name))
    found = screened(made)
    assert {f.severity for f in found} == {"warning", "note"}
    counts = Counter(f.rule for f in found)
    assert counts["after-cutoff"] == 394
    assert counts["age-not-shown"] == 4
    assert [(f.document, f.message.split(" ")[5]) for f in of(found, "duplicate-bytes")] == [
        ("TOEFL_real_91-051", "TOEFL_real_91-046"),
        *((f"CS224N_gpt3_145-{n:03d}", "CS224N_gpt3_145-002") for n in (5, 22, 106, 114)),
    ]
    near = {(f.document, f.message.split(" ")[7]) for f in of(found, "near-duplicate")}
    assert clusters({(a[-3:], b[-3:]) for a, b in near if a.startswith("TOEFL")}) == {
        frozenset(f"{n + 1:03d}" for n in cluster)
        for cluster in ({9, 60}, {10, 76, 84, 86}, {4, 57}, {17, 19, 42}, {59, 80}, {55, 77}, {41, 67}, {31, 87})
    }
    assert {pair for pair in near if not pair[0].startswith("TOEFL")} == {
        (f"CS224N_gpt3PromptEng_145-{n:03d}", f"CS224N_gpt3_145-{n:03d}") for n in (57, 93)
    }
    against = of(found, "contradictory-provenance")
    ai = "the source calls the text 'AI-Generated'; the arm's truth is mixed (all {} documents)"
    assert {f.arm: f.message for f in against if f.document == ""} == {
        "TOEFL_gpt4polished_91": ai.format(91),
        "HewlettStudentEssay_GPTsimplify_88": ai.format(88),
        "CS224N_gpt3PromptEng_145": (
            "the source names the model 'GPT4'; the provenance says 'gpt3' (all 145 documents)"
        ),
    }
    other_prompts = [int(f.document[-3:]) - 1 for f in against if f.document != ""]
    assert other_prompts == [1, 2, 3, 8, 19, 21, 33, 39, 49, 53, 69, 79]
    ends = {(f.arm, int(f.document[-3:]) - 1) for f in of(found, "cut-off")}
    assert ends >= {("CS224N_real_145", n) for n in (39, 48, 93, 126)} | {("TOEFL_real_91", 61)}
    assert not any("gpt3" in arm for arm, _ in ends)
    assert [int(f.document[-3:]) - 1 for f in of(found, "control-character")] == [24, 25, 38, 48, 68, 72]
    assert [f.document for f in of(found, "not-nfc")] == ["TOEFL_real_91-057"]
    marks = Counter(f.arm for f in of(found, "placeholder"))
    assert marks["HewlettStudentEssay_real_88"] == 85
    told = {(f.rule, *pair(f.message)): f for f in found if f.rule.endswith("-contrast")}
    assert "a line break inside" in told["format-contrast", "CS224N_real_145", "CS224N_gpt3_145"].message
    assert "AUC 0.8" in told["length-contrast", "all human arms", "all AI arms"].message
    assert "AUC 0.96" in told["length-contrast", "CollegeEssay_real_70", "CollegeEssay_gpt3_31"].message
    # The titles of one arm of abstracts were given to the model that wrote the other; essays and abstracts share none.
    matched, apart = (
        told["topic-contrast", "CS224N_real_145", other] for other in ("CS224N_gpt3_145", "CollegeEssay_gpt3_31")
    )
    assert "AUC 0.6" in matched.message
    assert "AUC 1.00" in apart.message
    assert [f.document for f in of(found, "contact-details")] == [
        "HewlettStudentEssay_real_88-004",
        "CS224N_real_145-071",
    ]
    assert not of(found, "seen-before")
    assert not of(found, "not-screened")
    (prompts,) = (f for f in of(found, "repeated-unit") if f.arm == "CollegeEssay_gpt3_31")
    assert prompts.message == "31 documents come from 4 prompts; one stands behind 10"


def pair(message: str) -> tuple[str, str]:
    one, other = message.split(" separates ")[1].split(" with ")[0].split(" from ")
    return one, other


def clusters(pairs: set[tuple[str, str]]) -> set[frozenset[str]]:
    found: list[set[str]] = []
    for pair in pairs:
        joined = set(pair).union(*(c for c in found if c & set(pair)))
        found = [c for c in found if not c & joined] + [joined]
    return {frozenset(c) for c in found}
