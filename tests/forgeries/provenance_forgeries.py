"""Forgeries about where things are from: a template that nobody shipped, an AI text in a human arm, a parent that is
another text, texts that are kept back, code that nobody named.

As in ``acts``: somebody changes one thing, all the rest is made to fit, and only that check notices.
"""

from __future__ import annotations

import json

from tests.forgeries.boundary_forgeries import find
from tests.forgeries.forged_acts import NOTHING, address, forgery
from tests.forgeries.forger import Forger, Json

TUNES = "tunes a boundary, or changes facts of a card that ships under its own name"
DEPARTS = "hides how the study departs from its template"
EXCUSED = "takes a text into an arm of another truth, and has screening excuse it"
CODE = "promises no code for a detector that a plugin asks, or other code than the plugin of the card"
GRADES = "claims a grade of evidence of which a record holds nothing that a stranger can ask for"
WITHHELD = "keeps a text back and does not say why"
MODELS = "has texts written by models, or in styles, that the promise does not name"
PARENTS = "says that an AI text was made of another text of the study, and it was not, or that one is no AI text"


def generated(forger: Forger, document: str) -> None:
    """Let a text be one that a model wrote."""
    [model] = [
        value["provenance"]
        for value in map(json.loads, forger.read("manifest.jsonl").split(b"\n")[1:-1])
        if value["id"] == "C-01"
    ]
    forger.row("manifest.jsonl", lambda value: value.update(provenance=model), id=document)


def asked_by(forger: Forger, code: Json | None) -> None:
    """Let this be the code that asks plain."""
    forger.edit("detectors/plain.json", lambda value: value.update(plugin=code))
    forger.cards()
    own = {"plugin": code}
    forger.lines("journal/plain.jsonl", lambda values: [v | own if v["kind"] == "start" else v for v in values])


def named_as_shipped(forger: Forger) -> None:
    """Let the card of edge.2 have the name of one that ships, whose boundary, scale and pointers are others."""
    forger.promise(lambda value: value["detectors"][0].update(card="zippy"))
    forger.edit("detectors/edge.2.json", lambda value: value["card"].update(name="zippy"))
    forger.cards()


def withhold(forger: Forger, document: str, reason: str) -> None:
    """Let a text not be published, nor what was answered about it."""
    (forger.root / f"texts/{address(forger, document)}.txt").unlink()
    forger.row("manifest.jsonl", lambda value: value.update(withheld=reason), id=document)
    for detector in ("edge.2", "humane", "plain", "typed"):
        forger.keep(detector, {k: v for k, v in forger.answers(detector).items() if k != document})


def rewritten(forger: Forger, parent: str, digest: str | None = None) -> None:
    """Let C-01 have been made of another text, and the promise allow that."""

    def change(value: Json) -> None:
        for arm in value["arms"]:
            if arm["name"] == "C":
                arm.update(quotas=[])
                arm["evidence"].update(kinds=["generated", "transformed"])

    forger.promise(change)
    own = {"kind": "transformed", "grade": "recorded", "parent": parent, "attack": "humanizer", "attack_version": "1"}
    own |= {"parent_sha256": digest or address(forger, parent), "settings": {}, "seed": None, "prompt": None}
    forger.row("manifest.jsonl", lambda value: value.update(provenance=own), id="C-01")


# --- 3 promise kept ----------------------------------------------------------------------------------------------------


@forgery(DEPARTS, 3, "ships no template humanflow", alone=NOTHING)
def a_template_of_a_known_name_that_was_never_shipped(forger: Forger) -> None:
    forger.promise(lambda value: value["template"].update(sha256="0" * 64))
    forger.write("tables/departures.csv", b"number,rule,template,study,explanation\n")


@forgery(CODE, 3, "detectors/plain.json")
def no_code_is_promised_for_a_detector_that_a_plugin_asks(forger: Forger) -> None:
    asked_by(forger, None)


@forgery(CODE, 3, "detectors/plain.json")
def the_promised_code_is_not_the_plugin_that_the_card_names(forger: Forger) -> None:
    asked_by(forger, forger.value("detectors/plain.json")["plugin"] | {"name": "other"})


@forgery(TUNES, 3, "tables/departures.csv", "departures", alone=NOTHING)
def a_card_of_a_shipped_name_with_facts_of_its_own(forger: Forger) -> None:
    named_as_shipped(forger)


@forgery(DEPARTS, 3, "not-published", "departures", alone=NOTHING)
def ai_texts_are_kept_back(forger: Forger) -> None:
    withhold(forger, "C-02", "kept for next year")


# --- 4 corpus ----------------------------------------------------------------------------------------------------------


@forgery(EXCUSED, 4, "manifest.jsonl")
def an_ai_text_in_a_human_arm_that_screening_knows_of(forger: Forger) -> None:
    generated(forger, "A-04")
    find(forger, "missing-provenance", "A", "A-04")
    find(forger, "contradictory-provenance", "A", "A-04")


@forgery(MODELS, 4, "manifest.jsonl")
def a_provider_that_nobody_promised(forger: Forger) -> None:
    forger.row("manifest.jsonl", lambda value: value["provenance"].update(provider="a friend"), id="C-01")


@forgery(MODELS, 4, "manifest.jsonl")
def models_that_nobody_promised_and_no_quotas(forger: Forger) -> None:
    forger.promise(lambda value: value["arms"][2].update(quotas=[]))
    forger.row("manifest.jsonl", lambda value: value["provenance"].update(model="eliza"), id="C-01")


@forgery(MODELS, 4, "style")
def a_style_that_nobody_promised(forger: Forger) -> None:
    forger.promise(lambda value: value["arms"][2].update(quotas=[]))
    forger.row("manifest.jsonl", lambda value: value["provenance"].update(style="other"), id="C-01")


def claim(forger: Forger, document: str, by: str | None = None, **fields: object) -> None:
    """Let a text have other evidence. ``by``: the source that gave it."""

    def change(value: Json) -> None:
        value["provenance"].update(fields)
        value.update({"gathered_by": by} if by is not None else {})

    forger.row("manifest.jsonl", change, id=document)


@forgery(GRADES, 4, "no locator says where the capture is kept")
def a_text_that_is_archived_by_a_word(forger: Forger) -> None:
    forger.row("manifest.jsonl", lambda value: value["provenance"].pop("locator"), id="A-01")


@forgery(GRADES, 4, "no digest says what was kept")
def a_capture_with_a_digest_of_zeros(forger: Forger) -> None:
    claim(forger, "A-01", evidence_sha256="0" * 64)


@forgery(GRADES, 4, "no digest says what was kept")
def a_release_without_a_digest(forger: Forger) -> None:
    claim(forger, "A-02", evidence_sha256=None)


@forgery(GRADES, 4, "witnessed")
def a_table_says_that_a_session_was_witnessed(forger: Forger) -> None:
    claim(forger, "B-01", grade="witnessed")


@forgery(GRADES, 4, "witnessed")
def a_signed_session_without_a_history(forger: Forger) -> None:
    session = {"active_minutes": 26, "largest_insert_percent": 3, "operations": 412, "pastes": 0}
    claim(forger, "B-01", "sessions", grade="witnessed", session=session | {"history_sha256": "ab" * 32})


@forgery(GRADES, 4, "recorded")
def a_table_says_that_an_exchange_was_recorded(forger: Forger) -> None:
    claim(forger, "C-01", grade="recorded")


@forgery(PARENTS, 4, "A-01")
def a_human_text_that_a_program_rewrote_is_called_ai(forger: Forger) -> None:
    rewritten(forger, "A-01")


@forgery(PARENTS, 4, "0000000000000000")
def the_parent_is_another_text(forger: Forger) -> None:
    rewritten(forger, "C-02", "0" * 64)


@forgery(PARENTS, 4, "C-01")
def a_text_that_was_made_of_itself(forger: Forger) -> None:
    rewritten(forger, "C-01")


@forgery(WITHHELD, 4, "manifest.jsonl")
def a_text_that_is_kept_back_for_no_reason(forger: Forger) -> None:
    withhold(forger, "A-02", "")
