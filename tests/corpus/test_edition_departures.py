"""A study's own card under the name of one that ships: what differs is a departure, told and published."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cases.case_study import penmark

from penmark import cards, protocol, study
from penmark.corpus import edition_departures
from penmark.format import canonical_json
from penmark.records import Card

SHIPPED = sorted(path.stem for path in cards.SHIPPED.glob("*.yaml"))


def shipped(name: str) -> Card:
    return cards.load_card(cards.SHIPPED / f"{name}.yaml")


@pytest.mark.parametrize("name", SHIPPED)
def test_every_card_that_ships_is_known_as_one(name: str) -> None:
    card = shipped(name)
    digests = cards.RELEASED[name]
    assert digests[-1] == cards.digest_facts(card), (
        "facts that bear on calls were changed: add the digest, and keep those of cards that were released"
    )
    assert not cards.is_changed_card(card)


def test_no_digest_of_a_released_card_is_lost() -> None:
    assert set(cards.RELEASED) == set(SHIPPED)
    assert all(len(set(digests)) == len(digests) > 0 for digests in cards.RELEASED.values())


@pytest.fixture
def begun(tmp_path: Path) -> study.Study:
    place = study.Study(tmp_path / "study")
    assert penmark("init", str(place.root)).code == 0
    return place


def told(place: study.Study) -> list[str]:
    said = penmark("-C", str(place.root), "status").out
    return [line for line in said.splitlines() if "tuned-boundary" in line or "changed-card" in line]


def own(place: study.Study, *replaced: tuple[str, str]) -> None:
    text = (cards.SHIPPED / "zippy.yaml").read_text()
    for before, after in replaced:
        assert before in text
        text = text.replace(before, after)
    place.cards.mkdir(exist_ok=True)
    (place.cards / "zippy.yaml").write_text(text)


def test_another_boundary_in_a_card_of_ones_own_is_told_by_status(begun: study.Study) -> None:
    assert told(begun) == []
    own(begun)
    assert told(begun) == []
    own(begun, ('value: "0"', 'value: "0.0"'))
    assert told(begun) == [], "the same number"
    own(begun, ('value: "0"', 'value: "5"'))
    [line] = told(begun)
    assert "zippy: >= 0 (in the card that ships under this name)" in line
    assert ">= 5 (in the study's own card)" in line


CHANGES = [
    ("answer", ("score: /score", "score: /other")),
    ("scale", ("meaning: distance", "meaning: points")),
    ("ask", ("plugin: zippy", "plugin: length")),
    ("limits", ("languages: [en]", "languages: [en], minimum_words: 500")),
    ("boundary/confidence", ("confidence: documented", "confidence: guess")),
    ("confidence", ("display: document", "confidence: {/scale/meaning: guess}\ndisplay: document")),
    ("vendor", ("vendor: Thinkst Applied Research", "vendor: Nobody")),
]


@pytest.mark.parametrize(("fact", "replaced"), CHANGES, ids=[fact for fact, _ in CHANGES])
def test_other_facts_that_bear_on_calls_are_told(begun: study.Study, fact: str, replaced: tuple[str, str]) -> None:
    own(begun, replaced)
    [line] = told(begun)
    assert (
        f"changed-card: zippy: the card that ships under this name; here the study's own card, with another {fact}"
        in line
    )


def test_notes_and_dates_bear_on_nothing(begun: study.Study) -> None:
    own(begun, ("title: ", "title: Our "), ("notes: >-\n", "notes: >-\n  We looked again.\n"))
    assert told(begun) == []


def test_a_card_that_an_earlier_release_shipped_is_none_of_ones_own(
    begun: study.Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    own(begun, ('value: "0"', 'value: "5"'))
    card = cards.load_card(begun.cards / "zippy.yaml")
    promised = protocol.load_protocol(begun.edition().protocol_yaml)
    assert [each.rule for each in edition_departures.compute_departures(promised, {"zippy": card})][
        -1
    ] == "tuned-boundary"
    known = {**cards.RELEASED, "zippy": (cards.digest_facts(card), *cards.RELEASED["zippy"])}
    monkeypatch.setattr("penmark.cards.released.RELEASED", known)
    assert edition_departures.compute_departures(promised, {"zippy": card}) == protocol.list_departures(
        promised, {"zippy": card}
    )


def test_status_tells_before_the_freeze_which_documents_break_the_promise(begun: study.Study) -> None:
    text = b"Too short."
    own = {"kind": "archive", "grade": "archived", "source": "x", "archive": "x", "licence": "x"}
    own |= {"evidence_date": "2022-05-01"}
    absent = dict.fromkeys(("language", "subgroup", "author", "topic", "source", "withheld", "register"))
    value = absent | {
        "id": "A-1",
        "arm": "A",
        "address": canonical_json.sha256(text),
        "canonical_sha256": canonical_json.sha256(text),
    }
    value |= {"words": 2, "characters": 10, "exposures": [], "provenance": own}
    study.write_bytes(begun.documents("A"), canonical_json.encode_json(value) + b"\n")
    said = penmark("-C", str(begun.root), "status").out
    assert "after-cutoff: arm A: evidence from before 2022-01-01; here arm A: 1 of 150 documents do not: A-1" in said
    assert "word-limit: arm A: 300 to 1200 words; here arm A: 1 of 150 documents do not: A-1" in said
