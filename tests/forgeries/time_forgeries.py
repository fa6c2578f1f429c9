"""Forgeries of times: when a text was withdrawn and asked about, when a scan sent what it says it sent.

As in ``acts``: somebody changes one thing, all the rest is made to fit, and only that check notices.
"""

from __future__ import annotations

from tests.forgeries.boundary_forgeries import take_back
from tests.forgeries.forged_acts import forgery
from tests.forgeries.forger import Forger
from tests.forgeries.subtle_forgeries import HOURS

AFTERWARDS = "asks about a text after its author took it back"


@forgery(AFTERWARDS, 5, "journal/plain.jsonl")
def a_text_that_is_asked_about_all_the_same(forger: Forger) -> None:
    take_back(forger, "B-06", "2024-10-21T00:00:00Z")


@forgery(HOURS, 5, "journal/plain.jsonl")
def a_scan_that_does_not_say_when_it_sent(forger: Forger) -> None:
    forger.reading("plain", "A-04", sent_at=None)


@forgery(HOURS, 5, "journal/plain.jsonl")
def an_answer_before_its_question_which_has_no_time(forger: Forger) -> None:
    forger.reading("plain", "A-04", sent_at=None, got_at="2024-11-01T00:00:00Z")


def renumbered(forger: Forger, *gone: int) -> None:
    """Take seals over the journals away, and number those behind them anew."""
    for number in gone:
        (forger.root / f"seals/heads-{number:04}.json").unlink()
    for number, path in enumerate(sorted(forger.edition.seals.glob("heads-*.json")), 1):
        path.rename(path.with_name(f"heads-{number:04}.json"))
