"""What was lost in kills stays counted, and shards at once leave one canary's journal whole."""

from __future__ import annotations

import threading
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.frozen_study import detector, frozen
from tests.stages.scan.faulty import GOOD, after, faulty, texts

from penmark import journal, study
from penmark.format import canonical_json
from penmark.stages.scan import canary, open_scan, scan_readiness
from penmark.stages.scan.practice_texts import FIRST_PREV


def test_a_lost_call_that_is_made_again_stays_counted(tmp_path: Path) -> None:
    with faulty(after(0, GOOD)) as vendor:
        place, edition = frozen(
            tmp_path / "study",
            texts(4),
            detector("faulty", surface="api"),
            cards={"faulty": vendor.card()},
            ask_again_in_doubt=True,
        )
        at, corpus = "2026-10-03T00:00:00.000000Z", canonical_json.sha256(study.read_bytes(edition.seal("corpus")))
        start: dict[str, Any] = {
            "card_sha256": canonical_json.sha256(study.read_bytes(edition.detectors / "faulty.json")),
            "shard": "1/1",
        }
        start |= {"at": at, "detector": "faulty", "kind": "start", "plugin": None, "rules": 2, "software": "penmark"}
        with journal.JournalWriter(edition.journals / "faulty.jsonl", corpus) as written:
            lost = ({"at": at, "attempt": 1, "document": f"d-0{n}", "kind": "sent"} for n in range(2))
            written.append(start, *lost)
        for _ in range(2):
            with open_scan.begin_scan(place, edition, [], budgets={"faulty": Decimal(50)}) as opened:
                [ended] = opened.run()
            assert ended.counts["answered"] == 4
            assert ended.account is not None
            assert (ended.account.sure, ended.account.maybe) == (Decimal(4 + canary.TIMES), Decimal(2)), (
                "two calls were lost in a kill"
            )


def test_shards_at_once_leave_the_canary_whole(tmp_path: Path) -> None:
    with faulty(after(0, GOOD)) as vendor:
        cards = {"faulty": vendor.card()}
        place, edition = frozen(tmp_path / "study", texts(12), detector("faulty", surface="api"), cards=cards)
        answered: list[int] = []

        def scan(shard: str) -> None:
            terms: dict[str, Any] = {"budgets": {"faulty": Decimal(1000)}, "limits": scan_readiness.ScanLimits()}
            with open_scan.begin_scan(place, edition, [], shard, **terms) as opened:
                answered.extend(each.counts["answered"] for each in opened.run())

        threads = [threading.Thread(target=scan, args=(f"{n}/4",)) for n in range(1, 5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answered == [3, 3, 3, 3]
        assert (
            journal.read_journal(canary.locate_canary_file(edition, "faulty"), FIRST_PREV).readings.height
            == 4 * canary.TIMES
        )
