"""Forgeries at the edges: files without a line, dates that cannot be, findings about nobody, a time that nobody told.

As in ``acts``: somebody changes one thing, all the rest is made to fit, and only that check notices.
"""

from __future__ import annotations

from tests.forgeries.forged_acts import NOTHING, address, block, forgery
from tests.forgeries.forger import Forger, Json
from tests.forgeries.subtle_forgeries import BESIDE

from penmark.corpus import provenance
from penmark.format import canonical_json

HOLLOW = "adds a file in which nothing stands, or cuts one in two, so that two readers count differently"
CAPTURED = "says that others had the promise before it was made"
TAKEN_BACK = "dates the withdrawal of a text before the freeze, or after it was left out for that reason"
REPLIED = "prints a reply that is older than the promise as a vendor's"
NOBODY = "tells findings of screening about documents or arms that are not there"


def take_back(forger: Forger, document: str, at: str) -> None:
    """Let an author have taken a text back: text, salt and raw answers are gone."""
    (forger.root / f"texts/{address(forger, document)}.txt").unlink()
    forger.write("withdrawn.jsonl", canonical_json.encode_json({"at": at, "document": document}) + b"\n")
    forger.lines("salts.jsonl", lambda values: [v for v in values if v["document"] != document])
    for detector in ("edge.2", "humane", "plain", "typed"):
        forger.keep(detector, {k: v for k, v in forger.answers(detector).items() if k != document})


def left_out(forger: Forger, document: str) -> None:
    """Let plain not have been asked about a text, since its author took it back."""

    def less(values: list[Json]) -> list[Json]:
        sent, _ = block(values, document)
        skip = {"at": sent["at"], "document": document, "kind": "skipped", "reason": provenance.WITHDRAWN}
        made = [skip if v == sent else v for v in values]
        return [v for v in made if v["kind"] == "skipped" or v.get("document") != document]

    forger.lines("journal/plain.jsonl", less)


def find(forger: Forger, rule: str, arm: str, document: str) -> None:
    """Let screening have found something."""
    row = f"warning,{rule},{arm},{document},,,it is said so,Nothing need be done.\n"
    forger.write("screening.csv", forger.read("screening.csv") + row.encode())


# --- 2 seals -----------------------------------------------------------------------------------------------------------


@forgery(CAPTURED, 2, "seals/corpus.json")
def a_capture_that_is_older_than_what_it_shows(forger: Forger) -> None:
    forger.edit("seals/corpus.json", lambda seal: seal["announced"].update(captured_at="2024-09-30T08:00:00Z"))


@forgery(CAPTURED, 2, "seals/corpus.json")
def a_capture_on_a_day_that_no_calendar_has(forger: Forger) -> None:
    forger.edit("seals/corpus.json", lambda seal: seal["announced"].update(captured_at="2024-10-00T08:00:00Z"))


# --- 4 corpus ----------------------------------------------------------------------------------------------------------


@forgery(TAKEN_BACK, 4, "withdrawn.jsonl")
def a_text_that_was_taken_back_before_it_was_frozen(forger: Forger) -> None:
    take_back(forger, "B-06", "2024-10-19T08:00:00Z")


@forgery(TAKEN_BACK, 4, "withdrawn.jsonl")
def a_text_that_was_taken_back_on_no_day(forger: Forger) -> None:
    take_back(forger, "B-06", "2024-11-31T08:00:00Z")


@forgery(HOLLOW, 4, "withdrawn.jsonl")
def nobody_took_a_text_back(forger: Forger) -> None:
    forger.write("withdrawn.jsonl", b"")


@forgery(HOLLOW, 4, "pool.jsonl", "corpus")
def a_pool_of_nothing(forger: Forger) -> None:
    forger.write("pool.jsonl", b"")
    forger.seal("corpus", ["manifest.jsonl", "screening.csv", "pool.jsonl"])


@forgery(NOBODY, 4, "screening.csv")
def a_finding_about_a_document_that_is_not_there(forger: Forger) -> None:
    find(forger, "cut-off", "A", "A-99")


@forgery(NOBODY, 4, "screening.csv")
def a_finding_about_a_document_of_another_arm(forger: Forger) -> None:
    find(forger, "cut-off", "C", "A-01")


@forgery(NOBODY, 4, "screening.csv")
def a_finding_about_an_arm_that_is_not_there(forger: Forger) -> None:
    find(forger, "left-out", "Z", "")


@forgery(NOBODY, 4, "screening.csv")
def a_text_that_was_taken_back_from_no_arm(forger: Forger) -> None:
    find(forger, "withdrawn", "Z", "Z-01")


# --- 5 journals --------------------------------------------------------------------------------------------------------


@forgery(HOLLOW, 5, "evidence/plain-0002.jsonl.gz")
def evidence_without_a_line(forger: Forger) -> None:
    forger.write("evidence/plain-0002.jsonl.gz", b"")


@forgery(HOLLOW, 5, "evidence/plain-0001.jsonl.gz")
def evidence_cut_in_two(forger: Forger) -> None:
    lines = forger.read("evidence/plain-0001.jsonl.gz").splitlines(keepends=True)
    forger.write("evidence/plain-0001.jsonl.gz", b"".join(lines[:5]))
    forger.write("evidence/plain-0002.jsonl.gz", b"".join(lines[5:]))


@forgery(HOLLOW, 5, "evidence/typed-0001.jsonl.gz")
def evidence_of_a_detector_that_has_none(forger: Forger) -> None:
    for path in forger.journals("typed"):
        forger.lines(path, lambda values: [v for v in values if v["kind"] != "reading"])
    forger.write("evidence/typed-0001.jsonl.gz", b"")


@forgery(TAKEN_BACK, 5, "journal/plain.jsonl")
def a_text_left_out_before_it_was_taken_back(forger: Forger) -> None:
    left_out(forger, "B-06")
    take_back(forger, "B-06", "2024-12-01T00:00:00Z")


@forgery(BESIDE, 5, "journal/plain.jsonl")
def a_time_that_the_vendor_never_told(forger: Forger) -> None:
    forger.reading("plain", "A-04", vendor_at="2024-11-05T08:00:00Z")


# --- 8 pages -----------------------------------------------------------------------------------------------------------


def reply(forger: Forger, day: str) -> None:
    """Let the vendor of plain have replied."""
    forger.write("replies/plain.md", f"date: {day}\nfrom: the vendor of plain\n\nIt is the best.\n".encode())


@forgery(REPLIED, 8, "replies/plain.md", alone=NOTHING)
def a_reply_from_another_century(forger: Forger) -> None:
    reply(forger, "1999-12-31")


@forgery(REPLIED, 8, "replies/plain.md", alone=NOTHING)
def a_reply_from_before_the_promise(forger: Forger) -> None:
    reply(forger, "2024-09-30")
