"""What a person decided: read with every fault, told beside the finding, and never about what no person decides."""

import pytest

from penmark.plugins import Draft
from penmark.stages import screen

BUDGET = {"words_percent": "50", "sentences": "none added or deleted"}
ROW = {"kind": "edited", "grade": "stated", "provider": "P", "model": "M", "editor": "E"}
DRAFT = "The ferry leaves at ten. It waits for the nurse who runs. We all go home by tram."
SPLIT = "The ferry leaves at ten. It waits for the nurse. She runs. We all go home by tram."
MORE = DRAFT + " Nobody minds."
KEPT = DRAFT.replace("nurse", "doctor")


@pytest.fixture
def made(corpus):
    made = corpus(corpus.arm("C2", "mixed", 3, budget=BUDGET), screening={"sentences-unclear": "error"})
    texts = {"kept": KEPT, "more": MORE, "split": SPLIT}
    made.collect("C2", *(Draft(n, t.encode(), n, {}, ROW, draft=DRAFT.encode()) for n, t in texts.items()))
    return made


def found(made, *rules):
    every = screen.screen_corpus(made.place, made.edition, made.protocol)
    return [(f.severity, f.rule, f.document, f.row, f.message) for f in every if f.rule in rules]


def decide(made, *lines, header="document,decision,by,at,why"):
    (made.place.arm("C2") / "decisions.csv").write_text("\n".join([header, *lines, ""]))


SENTENCES = ("sentences-changed", "sentences-unclear", "invalid-decision", "wrong-record")


def test_sentences_are_recorded_and_judged(made):
    rows = {row["id"]: row["provenance"]["sentences"] for row in made.documents("C2")}
    assert {name: row["verdict"] for name, row in rows.items()} == {
        "kept": "kept",
        "more": "changed",
        "split": "unclear",
    }
    assert rows["split"]["because"] == "1 split"
    links = rows["split"]["links"]
    assert [link["kind"] for link in links] == ["kept", "split", "kept"]
    assert SPLIT[slice(*links[1]["text"])] == "It waits for the nurse. She runs."
    assert DRAFT[slice(*links[1]["draft"])] == "It waits for the nurse who runs."
    assert rows["kept"]["splitters"][0].startswith("sentencex ")
    assert found(made, *SENTENCES) == [
        ("error", "sentences-unclear", "split", 3, "whether a sentence was added or deleted is unclear: 1 split"),
        ("warning", "sentences-changed", "more", 2, "the draft's sentences are not all kept: 1 added"),
    ]


def test_a_decision_is_told_and_settles_the_finding(made):
    decide(made, "split,kept,Ada,2026-11-03,the thought is the same")
    assert found(made, "sentences-unclear") == [
        (
            "warning",
            "sentences-unclear",
            "split",
            3,
            "whether a sentence was added or deleted is unclear: 1 split; "
            "decided by Ada on 2026-11-03: kept (the thought is the same)",
        )
    ]
    decide(made, "split,changed,Ada,2026-11-03,a thought of its own")
    assert [(rule, name) for _, rule, name, _, _ in found(made, *SENTENCES)] == [
        ("sentences-changed", "more"),
        ("sentences-changed", "split"),
        ("sentences-unclear", "split"),
    ]


def test_every_fault_of_the_file_is_told(made):
    header = "rule,document,decision,by,at,why"
    decide(
        made,
        ",split,maybe,Ada,2026-11-03,why",
        ",split,kept,,2026-11-03,why",
        "refusal,split,kept,Ada,2026-11-03,why",
        "over-budget,split,stays,Ada,2026-11-03,why",
        ",split,kept,Ada,soon,why",
        ",split,kept,Ada,2026-11-03,why",
        ",split,kept,Bob,2026-11-03,why",
        ",nobody,kept,Ada,2026-11-03,why",
        ",split,kept",
        header=header,
    )
    told = [(row, message) for _, _, _, row, message in found(made, "invalid-decision")]
    assert told == [
        (None, "a decision about nobody, which is no document of the arm"),
        (2, "the decision about sentences-unclear is 'maybe', and not kept or changed"),
        (3, "no by"),
        (4, "the decision about refusal is 'kept', and not stays"),
        (5, "over-budget is not decided by a person"),
        (6, "at is no date: soon"),
        (8, "a second decision about sentences-unclear of split"),
        (10, "3 cells, where the header has 6"),
    ]
    (made.place.arm("C2") / "decisions.csv").write_bytes(b"document\n\xff")
    assert [m for *_, m in found(made, "invalid-decision")] == [
        "is not CSV in UTF-8 ('utf-8' codec can't decode byte 0xff in position 9: invalid start byte)"
    ]


def test_what_reads_like_a_refusal_may_be_a_letter(corpus):
    made = corpus(corpus.arm("C", "ai", 1), screening={"refusal": "error"})
    made.collect("C", corpus.draft("l", "Dear Ada,\nI'm sorry to hear of your loss. Yours, Bob.", kind="generated"))
    assert [(severity, rule) for severity, rule, *_ in found(made, "refusal")] == [("error", "refusal")]
    path = made.place.arm("C") / "decisions.csv"
    table = "rule,document,decision,by,at,why\nrefusal,l,stays,Ada,2026-11-03,it is a letter\n"
    for saved in (table.encode(), table.replace(",", ";").encode("utf-8-sig")):
        path.write_bytes(saved)
        [(severity, *_, message)] = found(made, "refusal")
        assert severity == "warning"
        assert message.endswith("decided by Ada on 2026-11-03: stays (it is a letter)")


def test_a_record_whose_alignment_is_not_that_of_its_texts(made, monkeypatch):
    from penmark import study
    from penmark.text import sentences

    rows = made.documents("C2")
    rows[0]["provenance"]["sentences"]["links"][0]["text"] = [0, 3]
    study.write_records(made.place.documents("C2"), rows)
    assert [(name, message) for _, _, name, _, message in found(made, "wrong-record")] == [
        ("kept", "the record says that its sentences are kept; the texts give kept by other links")
    ]
    monkeypatch.setattr(sentences, "list_splitter_versions", lambda: ("sentencex 0", "nupunkt 0"))
    told = found(made, "wrong-record", "not-screened")
    assert {rule for _, rule, *_ in told} == {"not-screened"}
    assert told[0][-1].endswith("installed are sentencex 0 and nupunkt 0")
