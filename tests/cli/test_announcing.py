"""A rule that changes from one edition to the next: refused until an amendment announces it, told field by field."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from tests.cli.test_amend import penmark
from tests.local_authority import study_of

from penmark import cards, study, yaml_records
from penmark.format import canonical_json
from penmark.protocol import amendments, promise_chain
from penmark.study import seal_files

SAID = ["--what", "It changes.", "--why", "It must."]
SECOND = "TEST-2027-Q1"


@pytest.fixture
def place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> study.Study:
    """A study whose first edition is promised, with a card of its own, and whose second is a draft of the same."""
    held = study_of(tmp_path, {})
    card = cards.load_card(cards.find_card("length", None)).model_dump(
        mode="json", by_alias=True, exclude_defaults=True
    )
    study.write_bytes(held.cards / "length.yaml", yaml_records.format_yaml(card).encode())
    assert penmark(held, "commit") == 0
    study_of(tmp_path, {}, edition=SECOND)
    capsys.readouterr()
    return held


def change(place: study.Study, old: str, new: str) -> None:
    """Change the protocol of the draft."""
    path = place.edition().protocol_yaml
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def refused(place: study.Study, capsys: pytest.CaptureFixture[str], *told: str) -> None:
    """`status` tells it beforehand, and `commit` seals nothing."""
    assert penmark(place, "status") == 1
    shown = capsys.readouterr().out
    assert penmark(place, "commit") == 1
    said = capsys.readouterr().err
    for each in told:
        assert each in shown
        assert each in said
    assert not place.edition().seals.exists()


RULES = [
    ("payer: nobody\nwindow", "payer: nobody\nlevel: '0.90'\nwindow", '/level changed from "0.95" to "0.90"'),
    ("documents: 1", "documents: 2", "/arms/A/documents changed from 1 to 2"),
    ("relation: own}", "relation: own, settings: {}}\n  - {name: more, card: length, surface: local, tier: none, payer: nobody, "
     "relation: own}", "/detectors/more is new"),
    ("name: length, card", "name: longer, card", "/detectors/length is gone"),
    ("grades: [stated]", "grades: [stated, archived]", "/arms/A/evidence/grades changed"),
    ("filled: by hand", "filled: otherwise", "/arms/A/filled changed"),
    ("study: tiny", "study: another", "/study changed"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "told"), RULES, ids=[rule[2].split()[0] for rule in RULES])
def test_a_rule_that_changed_needs_an_amendment(
    place: study.Study, capsys: pytest.CaptureFixture[str], old: str, new: str, told: str
) -> None:
    change(place, old, new)
    refused(place, capsys, told, "no amendment announces it", "penmark amend --covers /")
    assert penmark(place, "amend", "--json") == 0
    open_ones = json.loads(capsys.readouterr().out)["open"]
    covers = [word for each in open_ones for word in ("--covers", each["at"])]
    assert penmark(place, "amend", *SAID, *covers) == 0
    assert penmark(place, "commit") == 0
    changes = place.edition().amendments / "0001.json"
    assert [c.at for c in promise_chain.read_amendment(changes).covers] == [each["at"] for each in open_ones]
    told_all = amendments.render_changes(place.editions())
    assert "(announced by amendment 1)" in told_all
    assert "no amendment announced it" not in told_all


def test_a_boundary_of_the_studys_own_card(place: study.Study, capsys: pytest.CaptureFixture[str]) -> None:
    card = place.cards / "length.yaml"
    value = cards.load_card(card).boundary.value
    text = re.sub(r"(?m)^( *value: ).*$", r'\1"5"', card.read_text(encoding="utf-8"), count=1)
    card.write_text(text, encoding="utf-8")
    assert cards.load_card(card).boundary.value == "5"
    refused(place, capsys, f'/cards/length/boundary/value changed from "{value}" to "5"')
    assert penmark(place, "amend", *SAID, "--covers", "/cards/length/boundary") == 0
    assert penmark(place, "commit") == 0
    assert penmark(place, "amend", "--json") == 2  # all is promised: there is no draft


def test_what_is_announced_is_followed(place: study.Study, capsys: pytest.CaptureFixture[str]) -> None:
    assert penmark(place, "amend", *SAID, "--covers", "/arms/A/documents=60") == 0
    refused(place, capsys, "/arms/A/documents is 1, and amendment 1 announces 60")
    change(place, "documents: 1", "documents: 60")
    assert penmark(place, "commit") == 0
    edition = place.edition()
    shutil.copytree(edition.root, third := edition.root.with_name("TEST-2027-Q3"))
    for name in ("seals", "amendments", "earlier", "detectors"):
        shutil.rmtree(third / name)
    (third / "protocol.json").unlink()
    change(place, f"edition: {SECOND}", "edition: TEST-2027-Q3")
    change(place, "documents: 60", "documents: 1")
    # What amendment 1 announced is spent; a tag was left out, and the second edition was never published.
    refused(place, capsys, f"/arms/A/documents changed from 60 to 1 since the promise of {SECOND}")


def test_what_is_no_rule_is_told_and_needs_nothing(place: study.Study) -> None:
    assert penmark(place, "amend", *SAID, "--before", "a", "--after", "b") == 0
    change(place, "title: A study for tests", "title: Another title")
    change(place, "{name: Ada", "{name: Grace")
    assert penmark(place, "commit") == 0
    first, second = place.editions()
    assert seal_files.read_seal(second, "promise").previous == canonical_json.sha256(first.seal("promise").read_bytes())
    assert second.earlier.seal("promise").read_bytes() == first.seal("promise").read_bytes()
    assert second.earlier.sealed_card("length").read_bytes() == first.sealed_card("length").read_bytes()
    told = amendments.render_changes([second])
    assert '- /title: "A study for tests" → "Another title" (told here; it needs no amendment)' in told
    assert "- /people/Grace/" in told or "/people/Grace" in told
    assert "Nothing was changed" not in told


def test_an_edition_in_which_nothing_changed_says_just_that(place: study.Study) -> None:
    assert penmark(place, "commit") == 0
    told = amendments.render_changes([place.edition()])
    assert "what differs from that of TEST-2026-Q4\n\nNothing differs but tag, secret seed and dates.\n" in told
    assert "Nothing was changed" not in told


def test_an_earlier_promise_that_was_changed_is_no_ground(
    place: study.Study, capsys: pytest.CaptureFixture[str]
) -> None:
    path = place.editions()[0].protocol_json
    path.write_bytes(path.read_bytes().replace(b'"attempts":3', b'"attempts":4'))
    refused(place, capsys, "is not the file that the promise of TEST-2026-Q4 names")


@pytest.mark.parametrize(
    ("covers", "told"),
    [
        ("/level", "nothing that changes at /level is open"),
        ("/levels=0.90", "the promise of TEST-2026-Q4 has no place /levels"),
        ("/level=0.95", '/level is "0.95" already'),
        ("level=0.90", "has no place level"),
    ],
)
def test_places_that_do_not_change(
    place: study.Study, capsys: pytest.CaptureFixture[str], covers: str, told: str
) -> None:
    assert penmark(place, "amend", *SAID, "--covers", covers) == 2
    assert told in capsys.readouterr().err
    assert not place.editions()[0].amendments.exists()
