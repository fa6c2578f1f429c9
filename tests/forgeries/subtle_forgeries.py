"""More forgeries: what stands beside the figures. Times, attempts, remarks, consent, dates, words around the tables.

As in ``acts``: somebody changes one thing, all the rest is made to fit, and only that check notices.
"""

from __future__ import annotations

from typing import Any

from tests.forgeries.forged_acts import NOTHING, SAYS, TWICE, forgery
from tests.forgeries.forger import Forger, Json

HOURS = "says that an answer came before its question, or that a seal was made over lines that were not written yet"
GOES_ON = "goes on with a detector whose version changed, where the promise says: stop"
UNFIT = "asks about a text that could not be asked about by the sealed card"
BESIDE = "says of an answer what follows from nothing: a remark, a reader, a display that did not count"
AGREED = "publishes a text whose author did not agree to that"
DATES = "gives a text a date after the freeze, or one that no calendar has"
FORM = "writes the findings of screening so that two readers read them differently"
SIGHT = "moves a part of the page out of sight, or says a winner where only some hear it"


def asked_again(forger: Forger, *numbers: int, reason: str = "connection reset") -> None:
    """Let a document have been asked about under these numbers, each time but the last in vain."""

    def more(values: list[Json]) -> list[Json]:
        at = next(n for n, v in enumerate(values) if v["kind"] == "sent" and v["document"] == "A-04")
        *vain, last = [values[at] | {"attempt": number} for number in numbers]
        tries = [line for sent in vain for line in (sent, sent | {"kind": "retry", "reason": reason})]
        return [*values[:at], *tries, last, *values[at + 1 :]]

    forger.lines("journal/plain.jsonl", more)
    forger.reading("plain", "A-04", attempt=numbers[-1])
    forger.row("evidence/plain-0001.jsonl.gz", lambda value: value.update(attempt=numbers[-1]), document="A-04")


def without_evidence(forger: Forger, detector: str, document: str, **change: Any) -> None:
    """Let a reading have no raw answer."""
    forger.reading(detector, document, evidence_sha256=None, **change)
    forger.keep(detector, {name: v for name, v in forger.answers(detector).items() if name != document})


def unasked(forger: Forger, **change: Any) -> None:
    """Let an answer of a scan be from elsewhere."""

    def less(values: list[Json]) -> list[Json]:
        return [v for v in values if (v["kind"], v.get("document")) != ("sent", "A-04")]

    forger.lines("journal/plain.jsonl", less)
    without_evidence(forger, "plain", "A-04", displayed="Human", label="Human", sent_at=None, **change)


# --- 5 journals --------------------------------------------------------------------------------------------------------


@forgery(TWICE, 5, "attempt 1")
def asked_many_times_under_one_number(forger: Forger) -> None:
    asked_again(forger, 1, 1, 1, 1)


@forgery(TWICE, 5, "attempt 2")
def the_first_attempt_is_not_told(forger: Forger) -> None:
    asked_again(forger, 2)


@forgery(HOURS, 5, "journal/plain.jsonl")
def an_answer_before_its_question(forger: Forger) -> None:
    forger.reading("plain", "A-04", got_at="2024-11-03T00:00:00Z")


@forgery(HOURS, 5, "journal/typed.jsonl")
def a_typed_answer_of_the_future(forger: Forger) -> None:
    forger.reading("typed", "B-02", got_at="2031-01-01T00:00:00Z")


@forgery(HOURS, 5, "heads-0001")
def a_seal_older_than_the_lines_under_it(forger: Forger) -> None:
    forger.edit("seals/heads-0001.json", lambda seal: seal.update(sealed_at="2024-10-20T08:00:01Z"))


@forgery(HOURS, 5, "2019-01-01T00:00:00Z")
def a_time_of_sending_that_nobody_saw(forger: Forger) -> None:
    forger.reading("typed", "B-02", sent_at="2019-01-01T00:00:00Z")


@forgery(GOES_ON, 5, "journal/edge.2.1of2.jsonl")
def a_scan_that_was_to_stop(forger: Forger) -> None:
    forger.promise(lambda value: value.update(on_version_change="stop"))


@forgery(UNFIT, 5, "no consent for golden", alone=NOTHING)
def a_vendor_to_whom_the_author_did_not_agree(forger: Forger) -> None:
    forger.row("manifest.jsonl", lambda value: value["provenance"]["consent"].update(vendors=["humane"]), id="B-01")


@forgery(UNFIT, 5, "more than 20", alone=NOTHING)
def a_text_beyond_the_limits(forger: Forger) -> None:
    forger.edit("detectors/plain.json", lambda value: value["card"]["limits"].update(maximum_words=20))
    forger.cards()


@forgery(BESIDE, 5, "the vendor confirms this")
def a_remark_on_an_attested_text(forger: Forger) -> None:
    forger.reading("plain", "B-01", reason="the vendor confirms this")


@forgery(BESIDE, 5, "is known to be AI", alone=NOTHING)
def a_remark_where_nothing_is_echoed(forger: Forger) -> None:
    forger.reading("plain", "A-04", reason="this text is known to be AI")


@forgery(BESIDE, 5, "journal/typed.jsonl")
def a_remark_on_a_copied_screen(forger: Forger) -> None:
    without_evidence(forger, "typed", "B-02", reason="this text is known to be AI")


@forgery(BESIDE, 5, "a notary")
def a_scan_that_a_notary_read(forger: Forger) -> None:
    forger.reading("plain", "A-04", read_by="a notary")


@forgery(BESIDE, 5, "journal/typed.jsonl")
def a_display_that_did_not_count(forger: Forger) -> None:
    without_evidence(forger, "typed", "B-02", state="declined", reason="the page was slow")


@forgery(BESIDE, 5, "journal/plain.jsonl")
def a_recorded_answer_that_nobody_kept(forger: Forger) -> None:
    unasked(forger, origin="recorded")


# --- 4 corpus ----------------------------------------------------------------------------------------------------------


@forgery(AGREED, 4, "B-01")
def a_text_of_somebody_who_did_not_agree(forger: Forger) -> None:
    forger.row("manifest.jsonl", lambda value: value["provenance"]["consent"].update(publish=False), id="B-01")


@forgery(DATES, 4, "2031-01-01")
def a_text_that_is_not_written_yet(forger: Forger) -> None:
    forger.row("manifest.jsonl", lambda value: value["provenance"].update(written_on="2031-01-01"), id="B-01")


@forgery(DATES, 4, "2031-01-01")
def an_answer_of_a_model_of_the_future(forger: Forger) -> None:
    forger.row("manifest.jsonl", lambda value: value["provenance"].update(generated_on="2031-01-01"), id="C-01")


@forgery(DATES, 4, "evidence_date")
def a_day_that_no_calendar_has(forger: Forger) -> None:
    forger.row("manifest.jsonl", lambda value: value["provenance"].update(evidence_date="2021-02-31"), id="A-01")


@forgery(FORM, 4, "screening.csv")
def findings_with_other_line_ends(forger: Forger) -> None:
    forger.write("screening.csv", forger.read("screening.csv").replace(b"\n", b"\r\n"))


@forgery(FORM, 4, "screening.csv")
def a_finding_of_too_few_cells(forger: Forger) -> None:
    forger.write("screening.csv", forger.read("screening.csv") + b"warning,bom,A,A-01\n")


# --- 8 pages -----------------------------------------------------------------------------------------------------------


@forgery(SAYS, 8, "README.md", "readme", alone=NOTHING)
def a_second_table_in_the_readme(forger: Forger) -> None:
    forger.write("README.md", forger.read("README.md") + b"\n  | plain | 0 of 8 |\n  | --- | --- |\n")


@forgery(SAYS, 8, "README.md", "readme", alone=NOTHING)
def the_table_of_the_readme_is_out_of_sight(forger: Forger) -> None:
    forger.replace("README.md", "\n\n| detector", "\n\n<!--\n\n| detector")


@forgery(SAYS, 8, "CHANGES.md", "changes", alone=NOTHING)
def the_changes_are_out_of_sight(forger: Forger) -> None:
    forger.write("CHANGES.md", b"# Changes\n\nNothing was changed.\n\n<!--\n" + forger.read("CHANGES.md"))


@forgery(SAYS, 8, "CHANGES.md", "changes", alone=NOTHING)
def a_change_that_nobody_announced(forger: Forger) -> None:
    forger.write("CHANGES.md", forger.read("CHANGES.md") + b"\n## Amendment 9\n\nAll of it is void.\n")


@forgery(SIGHT, 8, "report/index.html", "page", alone=NOTHING)
def a_row_of_a_class_that_is_not_shown(forger: Forger) -> None:
    forger.replace("report/index.html", "<tbody>\n<tr><th", '<tbody>\n<tr class="more"><th')


@forgery(SIGHT, 8, "winner", "page", alone=NOTHING)
def a_winner_for_those_who_listen(forger: Forger) -> None:
    forger.replace("report/index.html", 'aria-label="', 'aria-label="The winner is plain ')


@forgery(SIGHT, 8, "characters", "page", alone=NOTHING)
def a_style_sheet_that_takes_for_ever(forger: Forger) -> None:
    forger.replace("report/index.html", "<style>", "<style>" + "margin:" * 20_000)
