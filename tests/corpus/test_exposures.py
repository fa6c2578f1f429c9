"""Exposures: editions, vendors that were sent a text, and since when it is public; fresh panels stand apart."""

import unicodedata

from penmark import protocol, study
from penmark.corpus import exposures, manifest
from penmark.format import canonical_json
from penmark.records import Protocol
from penmark.stages import screen
from penmark.stages.commit import readiness


def earlier(made, tag, *, closed="2026-09-20T10:00:00Z", journals=()):
    """Freeze the corpus as an edition of before, with journals by detector."""
    edition = study.Edition(made.place.root / "editions" / tag)
    detectors = [
        {"name": name, "card": name, "surface": surface, "tier": "-", "payer": "-", "relation": "none"}
        for name, surface in (("coin", "local"), ("web", "web"), ("api", "api"))
    ]
    value = made.protocol.model_dump(mode="json", by_alias=True) | {"edition": tag, "detectors": detectors}
    promised = Protocol.model_validate_json(canonical_json.encode_json(value))
    study.write_bytes(edition.protocol_json, protocol.encode_protocol(promised))
    study.write_bytes(edition.seal("promise"), b"{}")
    manifest.freeze_manifest(made.place, edition, promised)
    study.write_bytes(edition.seal("corpus"), b"{}")
    if closed is not None:
        study.write_bytes(edition.seal("evidence"), canonical_json.encode_json({"sealed_at": closed}))
    for detector, kinds in journals:
        start = {"kind": "start", "detector": detector}
        lines = [{"kind": kind, "document": document} for kind, document in kinds]
        study.write_records(edition.journals / f"{detector}.jsonl", [start, *lines, {"kind": "stop"}])
    return edition


def test_documents_carry_what_happened_to_them(corpus):
    made = corpus(corpus.arm("A", "human", 2, persists=True), corpus.arm("C", "ai", 1, persists=False))
    made.collect(
        "A", corpus.draft("a1", "One text."), corpus.draft("a2", "Another.", withheld="the licence forbids it")
    )
    made.collect("C", corpus.draft("c1", "Old AI text.", kind="generated", exposures="elsewhere"))
    earlier(
        made,
        "BENCH-2026-Q2",
        closed=None,
        journals=[("coin", [("sent", "a1")]), ("web", [("reading", "a1"), ("skipped", "a2")])],
    )
    earlier(made, "BENCH-2026-Q3", journals=[("api", [("sent", "a2"), ("reading", "a2"), ("sent", "c1")])])
    found = exposures.find_exposures(made.place, made.edition)
    assert found == {
        "a1": ("BENCH-2026-Q2", "BENCH-2026-Q2 sent to web", "BENCH-2026-Q3", "BENCH-2026-Q3 public since 2026-09-20"),
        "a2": ("BENCH-2026-Q2", "BENCH-2026-Q3", "BENCH-2026-Q3 sent to api"),
        "c1": ("BENCH-2026-Q2", "BENCH-2026-Q3", "BENCH-2026-Q3 sent to api", "BENCH-2026-Q3 public since 2026-09-20"),
    }
    made.collect("C", corpus.draft("c2", "New AI text.", kind="generated"))
    frozen = manifest.freeze_manifest(made.place, made.edition, made.protocol)
    assert {row["id"]: row["exposures"] for row in frozen.documents} == {
        "a1": list(found["a1"]),
        "a2": list(found["a2"]),
        "c2": [],
    }
    assert manifest.read_manifest(made.edition).documents == frozen.documents


def test_an_edition_is_not_exposed_by_itself_or_by_a_later_one(corpus):
    made = corpus(corpus.arm("A", "human", 1))
    made.collect("A", corpus.draft("a1", "One text.", exposures="another-study BENCH-2025-Q1"))
    earlier(made, "BENCH-2027-Q1")
    frozen = manifest.freeze_manifest(made.place, made.edition, made.protocol)
    assert frozen.documents[0]["exposures"] == ["another-study BENCH-2025-Q1"]


def test_a_new_panel_is_never_pooled_with_the_persisting_one(corpus):
    made = corpus(corpus.arm("B", "human", 1), corpus.arm("New", "human", 1))
    made.collect("B", corpus.draft("b1", "One text."))
    made.collect("New", corpus.draft("n1", "A fresh text."))

    def told():
        return [
            (f.severity, f.arm, f.message)
            for f in screen.screen_corpus(made.place, made.edition, made.protocol)
            if f.rule == "pooled-panel"
        ]

    earlier(made, "BENCH-2026-Q3")
    assert told() == []
    made.collect("B", corpus.draft("b2", "A text of this quarter."))
    assert told() == [
        (
            "error",
            "B",
            "1 of 2 documents were in no earlier edition (b2): "
            "a new panel is not pooled with one that detectors may have met",
        )
    ]


def test_a_new_panel_shares_no_headline_rate_with_the_persisting_one(corpus):
    def faults(*arms):
        made = corpus(*arms)
        if not made.place.documents("B").exists():
            made.collect("B", corpus.draft("b1", "One text."))
            made.collect("C", corpus.draft("c1", "AI text.", kind="generated"))
            frozen = made.protocol.model_copy(update={"arms": made.protocol.arms[:2]})
            made.protocol = frozen
            assert of_panels(made) == []  # a first edition has fresh texts alone
            earlier(made, "BENCH-2026-Q3")
            made = corpus(*arms)
        return of_panels(made)

    def of_panels(made):
        every = readiness.prepare_prospect(made.place, made.edition, made.protocol).faults
        return [fault.fact for fault in every if "new panel" in fault.fact]

    old = corpus.arm("B", "human", 1), corpus.arm("C", "ai", 1)
    assert faults(*old, corpus.arm("New", "human", 1)) == [
        "the arm New is a new panel, and its headline rate would be pooled with that of B, whose texts an earlier edition had"
    ]
    assert faults(*old, corpus.arm("New", "human", 1, headline=False)) == []
    assert faults(*old, corpus.arm("D", "ai", 1, persists=False)) == []  # made anew for each edition
    assert faults(*old) == []


def test_exposures_go_with_the_text_and_not_with_its_id(corpus):
    made = corpus(corpus.arm("A", "human", 1))
    made.collect("A", corpus.draft("a", "A text about a café.\n"))
    earlier(made, "BENCH-2026-Q3")
    study.write_records(made.place.documents("A"), [])
    made.collect("A", corpus.draft("z", unicodedata.normalize("NFD", "A text about a café.\r\n")))
    frozen = manifest.freeze_manifest(made.place, made.edition, made.protocol)
    assert [(row["id"], row["exposures"]) for row in frozen.documents] == [
        ("z", ["BENCH-2026-Q3", "BENCH-2026-Q3 public since 2026-09-20"])
    ]
    found = screen.screen_corpus(made.place, made.edition, made.protocol)
    told = [f.message for f in found if f.rule == "seen-before" and f.document == "z"]
    assert "has the text of a of BENCH-2026-Q3, under another id" in told
