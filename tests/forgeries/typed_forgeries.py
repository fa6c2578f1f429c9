"""Forgeries of what people typed from a screen: two answers change places, another reader, another date, a display that
nobody typed.

As in ``acts``: somebody changes one thing, all the rest is made to fit, and only that check notices.
"""

from __future__ import annotations

import json
from typing import Any

from tests.forgeries.forged_acts import RULES, forgery, prospective
from tests.forgeries.forger import Forger, Json
from tests.golden import golden_inputs

from penmark.format import canonical_json

TYPED = "says otherwise than what people typed: about which text, who read it, when, and what counts"


def swapped(forger: Forger, one: str, other: str) -> None:
    """Let two typed answers change places."""
    held = {name: forger.answers("typed")[name]["body"] for name in (one, other)}
    for name, body in ((one, held[other]), (other, held[one])):
        shown = json.loads(body)
        forger.answer("typed", name, body, displayed=shown["displayed"], label=shown["displayed"])


def screens(forger: Forger) -> None:
    """Let typed be a detector that people read by work sheets, two of them, and agree."""

    def change(value: Json) -> None:
        value["card"]["answer"].update(displayed=None, label=None, score=None, version=None)

    forger.edit("detectors/typed.json", change)
    forger.cards()
    for name, answer in forger.answers("typed").items():
        row = json.loads(answer["body"])
        shown, date, version = row["displayed"], row["date"], row["version"]
        cells = {"number": f"{number(forger, name):04d}", "displayed": shown, "version": version, "date": date}
        hands = [cells | {"operator": reader} for reader in ("AB", "CD")]
        typed(forger, name, cells | {"read_by": "AB; CD", "readings": hands})


def typed(forger: Forger, document: str, body: Json) -> None:
    """Let this have been typed about a document, and the reading say so."""
    said = {"displayed": body["displayed"], "label": body["displayed"].strip(), "version": body["version"]}
    forger.answer("typed", document, json.dumps(body), read_by="AB; CD", **said)


def sheet(forger: Forger, document: str, rows: tuple[Json, Json] = ({}, {}), **change: Any) -> None:
    """Change what was typed about a document, and in each of the two rows."""
    screens(forger)
    body = json.loads(forger.answers("typed")[document]["body"])
    held = [row | more for row, more in zip(body["readings"], rows, strict=True)]
    typed(forger, document, body | {"readings": held} | change)


SETTLED = {"at": "2024-11-08T08:00:00Z", "by": "EF", "displayed": "Likely human", "version": None, "why": "a slip"}


def settled(forger: Forger) -> None:
    """Let two people have read otherwise, and somebody have settled it."""
    sheet(forger, "A-01", ({"displayed": "Likely AI"}, {}), displayed="Likely human", settled=SETTLED)


@forgery(TYPED, 5, "document")
def typed_answers_change_places(forger: Forger) -> None:
    swapped(forger, "A-01", "A-02")


@forgery(TYPED, 5, "a notary")
def a_typed_answer_of_another_reader(forger: Forger) -> None:
    forger.reading("typed", "A-01", read_by="a notary")


@forgery(TYPED, 5, "2024-11-05")
def a_typed_answer_of_another_day(forger: Forger) -> None:
    forger.reading("typed", "A-01", got_at="2024-11-03T00:00:00Z")


@forgery(TYPED, 5, "Likely AI")
def what_nobody_typed_counts(forger: Forger) -> None:
    ai = {"displayed": "Likely AI"}
    sheet(forger, "A-01", (ai, ai), displayed="Likely human")


@forgery(TYPED, 5, "Likely AI")
def a_difference_that_nobody_settled(forger: Forger) -> None:
    sheet(forger, "A-01", ({"displayed": "Likely AI"}, {}))


@forgery(TYPED, 5, "a slip")
def what_nobody_disputes_is_settled(forger: Forger) -> None:
    ai = {"displayed": "Likely AI"}
    sheet(forger, "A-01", (ai, ai), displayed="Likely human", settled=SETTLED)


@forgery(TYPED, 5, "Likely AI")
def another_display_counts_than_the_settled_one(forger: Forger) -> None:
    sheet(forger, "A-01", ({"displayed": "Likely AI"}, {}), displayed="Likely AI", settled=SETTLED)


@forgery(TYPED, 5, "number")
def the_number_of_another_text(forger: Forger) -> None:
    sheet(forger, "A-01", number="0001" if number(forger, "A-01") != 1 else "0002")


@forgery(TYPED, 5, "about 0021")
def rows_about_another_text(forger: Forger) -> None:
    assert number(forger, "A-01") != 21
    sheet(forger, "A-01", ({"number": "0021"}, {"number": "0021"}))


@forgery(TYPED, 5, "XY")
def rows_of_other_readers(forger: Forger) -> None:
    sheet(forger, "A-01", ({"operator": "XY"}, {}))


OTHER = "A text that nobody froze."


@forgery(TYPED, 5, "journal/typed.jsonl:2")
def a_display_of_another_text_counts(forger: Forger) -> None:
    sheet(forger, "A-01", text=OTHER)


@forgery(TYPED, 5, "journal/typed.jsonl:2")
def a_display_of_this_text_is_declined_as_one_of_another(forger: Forger) -> None:
    sheet(forger, "A-01", text=golden_inputs.TEXTS["A-01"])
    forger.reading("typed", "A-01", state="declined", reason="other text scanned")


@forgery(TYPED, 5, "journal/typed.jsonl:2")
def a_display_without_a_text_is_declined_as_one_of_another(forger: Forger) -> None:
    screens(forger)
    forger.reading("typed", "A-01", state="declined", reason="other text scanned")


@forgery(TYPED, 5, "number")
def the_display_of_another_document_is_declined_as_one_of_another_text(forger: Forger) -> None:
    sheet(forger, "A-01", text=OTHER, number="0001" if number(forger, "A-01") != 1 else "0002")
    forger.reading("typed", "A-01", state="declined", reason="other text scanned")


@forgery(TYPED, 5, "nobody froze")
def another_text_than_the_one_that_was_typed(forger: Forger) -> None:
    text = golden_inputs.TEXTS["A-01"]
    sheet(forger, "A-01", ({"text": OTHER}, {"text": OTHER}), text=text)


@forgery(RULES, 7, "tables/", "tables")
def an_older_display_of_another_text_is_called_prospective(forger: Forger) -> None:
    day = {"date": "2024-10-01"}
    sheet(forger, "A-01", (day, day), text=OTHER, **day)
    forger.reading("typed", "A-01", state="declined", reason="other text scanned", got_at="2024-10-01T00:00:00Z")
    prospective(forger)


def number(forger: Forger, document: str) -> int:
    """The place of a document in the scan order, from 1."""
    seed = bytes.fromhex(forger.value("seed.json")["seed"])
    ids = [json.loads(line)["id"] for line in forger.read("manifest.jsonl").split(b"\n")[1:-1]]
    return sorted(ids, key=lambda name: canonical_json.rank_name(seed, "scan", name)).index(document) + 1
