"""An outage that looks like an answer stops the scan, and nothing of it is final before a person says so."""

from __future__ import annotations

import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.frozen_study import detector, frozen
from tests.scripted_detector import install
from tests.stages.scan.faulty import GOOD, Faulty, Said, Says, after, faulty, texts

from penmark import journal, study
from penmark.errors import ServiceError
from penmark.format import canonical_json
from penmark.journal import Journal
from penmark.stages.scan import aside, open_scan, private_log, scan_readiness
from penmark.stages.scan.run import Ended
from penmark.stages.scan.worker import AHEAD
from penmark.study import Edition, Study

ONE = scan_readiness.ScanLimits(connections={"faulty": 1})
OUTAGES = {
    "maintenance": Said(b"<html><title>Scheduled maintenance</title></html>", kind="text/html"),
    "error": Said(b'{"error":"Daily limit reached."}'),
    "no score": Said(b'{"score": null, "message": "model is loading"}'),
    "usage limits": Said(b'{"error":"You have reached your specified API usage limits"}', 400),
    "another schema": Said(b'{"result": {"score": 0.25}}'),
}


def made(tmp_path: Path, vendor: Faulty, count: int, **further: Any) -> tuple[Study, Edition]:
    cards = {"faulty": vendor.card()}
    return frozen(tmp_path / "study", texts(count), detector("faulty", surface="api"), cards=cards, **further)


def scan(place: Study, edition: Edition, **options: Any) -> Ended:
    terms: dict[str, Any] = {"budgets": {"faulty": Decimal(1000)}, "limits": ONE, "pause": lambda failures: 0.0}
    with open_scan.begin_scan(place, edition, [], **(terms | options)) as opened:
        [ended] = opened.run()
    return ended


def journal_of(edition: Edition, name: str = "faulty") -> Journal:
    return journal.read_journal(
        edition.journals / f"{name}.jsonl", canonical_json.sha256(study.read_bytes(edition.seal("corpus")))
    )


@pytest.mark.parametrize("good", [0, 4, 10])
@pytest.mark.parametrize("name", OUTAGES)
def test_a_row_of_answers_of_which_nothing_can_be_made_stops_the_scan_and_none_of_them_is_final(
    tmp_path: Path, name: str, good: int
) -> None:
    bad, down = OUTAGES[name], [True]
    says: Says = lambda text, before: bad if down[0] and before >= good else GOOD  # noqa: E731
    with faulty(says) as vendor:
        place, edition = made(tmp_path, vendor, 48)
        ended = scan(place, edition)
        assert isinstance(ended.tally.error, ServiceError)
        assert "texts in a row came to nothing alike" in str(ended.tally.error)
        assert (ended.counts["answered"], ended.counts["declined"], ended.counts["to_ask"]) == (good, 0, 48 - good)
        assert ended.in_doubt == []
        retries = journal_of(edition).retries
        put_aside = [reason for reason in retries["reason"] if reason.startswith(aside.ASIDE)]
        assert 5 <= len(put_aside) <= 5 + AHEAD, "quick answers come several at a time"
        down[0] = False
        again = scan(place, edition)
        assert (again.counts["answered"], again.counts["to_ask"], again.tally.ended) == (48, 0, "done")
        assert again.account is not None
        assert again.account.due == len(vendor.asked), "what may have been charged for nothing counts"


def test_a_person_may_say_that_they_are_final(tmp_path: Path) -> None:
    with faulty(after(4, OUTAGES["usage limits"])) as vendor:
        place, edition = made(tmp_path, vendor, 12)
        scan(place, edition)
        accepted = scan(place, edition, accepted=["faulty"])
        assert (accepted.counts["answered"], accepted.counts["declined"]) == (4, 8)
        assert accepted.tally.error is None
        assert set(journal_of(edition).readings["state"]) == {"answered", "declined"}


def test_what_is_refused_between_answers_is_final_as_it_came(tmp_path: Path) -> None:
    bad = OUTAGES["usage limits"]
    with faulty(lambda text, before: bad if before in (2, 5, 6, 7, 11) else GOOD) as vendor:
        place, edition = made(tmp_path, vendor, 12)
        ended = scan(place, edition)
        assert (ended.counts["answered"], ended.counts["declined"], ended.tally.error) == (7, 5, None)
        assert len(vendor.asked) == 12 + 2, "and the canary, twice"
        assert journal_of(edition).retries.height == 0


def test_the_last_texts_of_a_corpus_are_not_lost_to_an_outage_either(tmp_path: Path) -> None:
    with faulty(after(9, OUTAGES["maintenance"])) as vendor:
        place, edition = made(tmp_path, vendor, 12)
        ended = scan(place, edition)
        assert (ended.counts["answered"], ended.counts["declined"], ended.counts["to_ask"]) == (9, 0, 3)
        assert isinstance(ended.tally.error, ServiceError)


def test_answers_that_show_something_which_the_card_does_not_know_stop_the_scan_and_are_final(tmp_path: Path) -> None:
    with faulty(after(3, Said(b'{"score": 25}'))) as vendor:
        place, edition = made(tmp_path, vendor, 48)
        ended = scan(place, edition)
        assert "texts in a row came to nothing alike" in str(ended.tally.error)
        assert 8 <= ended.counts["answered"] < 48, "a shown verdict is final"


def test_a_plugin_that_fails_alike_is_stopped_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "acting_detector", raising=False)
    monkeypatch.syspath_prepend(str(install(tmp_path / "installed")))
    for word in ("raise", "garbage", "empty", "nothing", "decline"):
        place, edition = frozen(tmp_path / word, {f"d-{n:02d}": f"{word} text number {n}" for n in range(12)})
        with open_scan.begin_scan(place, edition, []) as opened:
            [ended] = opened.run()
        assert isinstance(ended.tally.error, ServiceError), word
        assert (ended.counts["declined"], ended.counts["failed"], ended.counts["to_ask"]) == (0, 0, 12), word


def test_what_was_held_back_when_a_scan_was_cut_off_is_asked_about_again_and_not_in_doubt(tmp_path: Path) -> None:
    with faulty(after(0, GOOD)) as vendor:
        place, edition = made(tmp_path, vendor, 6)
        at, name = "2026-10-03T00:00:00.000000Z", "d-03"
        start = {
            "card_sha256": canonical_json.sha256(study.read_bytes(edition.detectors / "faulty.json")),
            "shard": "1/1",
        }
        start |= {"at": at, "detector": "faulty", "kind": "start", "plugin": None, "rules": 2, "software": "penmark"}
        with journal.JournalWriter(
            edition.journals / "faulty.jsonl", canonical_json.sha256(study.read_bytes(edition.seal("corpus")))
        ) as w:
            w.append(start, *({"at": at, "attempt": 1, "document": d, "kind": "sent"} for d in (name, "d-04")))
        noted = {"attempt": 1, "document": name, "reason": f"{aside.ASIDE}HTTP 400", "sent_at": at}
        made_of = private_log.Notes(private_log.aside(place, edition.tag, "faulty"), durable=True)
        made_of.append(noted, {**noted, "document": "d-04", "sent_at": "2026-10-03T00:00:00.000001Z"})
        made_of.close()
        ended = scan(place, edition)
        assert (ended.counts["answered"], ended.in_doubt) == (5, ["d-04"]), "the note about d-04 is of another attempt"
