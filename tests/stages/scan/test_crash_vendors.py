"""kill -9 in the middle of a paid scan, again and again, against vendors' doubles that live on and count their calls.

The moments are drawn from a seed: after how many calls, and how much later. ``PENMARK_SOAK`` draws all two hundred.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.frozen_study import SEED, detector, frozen
from tests.stages.scan.vendor_process import Elsewhere, elsewhere
from tests.stages.scan.vendors import text

from penmark import cards, journal, study
from penmark.format import canonical_json
from penmark.journal import evidence_log
from penmark.study import Edition, Study
from penmark.testing.doubles import place_card

SOAK = bool(os.environ.get("PENMARK_SOAK"))
KILLS = 200 if SOAK else 20
DOCUMENTS = 4_000 if SOAK else 400
DEADLINE = 60.0
NAMES = ("gptzero", "pangram")
"""One answers at once; the other takes a text on, and is asked for the result."""
VARIABLES = {"gptzero": "GPTZERO_API_KEY", "pangram": "PANGRAM_API_KEY"}


def made(folder: Path, texts: dict[str, str], there: Elsewhere) -> tuple[Study, Edition]:
    """A study whose cards lead to the doubles; nobody waits half a second for a result."""
    written = {name: cards.find_card(name, None).read_text(encoding="utf-8") for name in NAMES}
    written["pangram"] = written["pangram"].replace('every: "0.5"', 'every: "0.02"')
    placed_cards = {name: place_card(card, there.urls[name]) for name, card in written.items()}
    promised = [detector(name, surface="api") for name in NAMES]
    return frozen(folder / "study", dict(texts), *promised, cards=placed_cards)


def scanning(place: Study, there: Elsewhere) -> subprocess.Popen[str]:
    """A scan in a process of its own."""
    paces = [option for name in NAMES for option in ("--pace", f"{name}=400/1", "--budget", f"{name}=1000000")]
    return subprocess.Popen(
        [sys.executable, "-m", "penmark", "-C", str(place.root), "scan", "--json", *paces],
        env=os.environ | {VARIABLES[name]: there.keys[name]["key"] for name in NAMES},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def sends(there: Elsewhere) -> int:
    """How many texts both doubles were sent so far."""
    return sum(each["requests"].get("send", 0) for each in there.counts().values())


def lines(path: Path) -> list[dict[str, Any]]:
    """The finished lines of a file that a kill may have cut."""
    whole = path.read_bytes().rpartition(b"\n")[0] if path.exists() else b""
    return [json.loads(line) for line in whole.split(b"\n") if line]


def on_disk(edition: Edition, name: str) -> set[str]:
    """The documents about which an answer is on the disk."""
    return {
        str(line["document"])
        for path in evidence_log.list_evidence_files(edition.evidence, name)
        for line in lines(path)
    }


def test_a_paid_scan_that_is_killed_at_any_moment_loses_no_answer_and_pays_for_nothing_twice(tmp_path: Path) -> None:
    moments = random.Random("kill -9, paid")
    texts = {f"{n:04d}": text(n) for n in range(DOCUMENTS)}
    with elsewhere(*NAMES) as there:
        place, edition = made(tmp_path, texts, there)
        kept: dict[str, set[str]] = {name: set() for name in NAMES}
        killed = 0
        for _ in range(KILLS):
            until = sends(there) + moments.randint(1, max(1, 2 * DOCUMENTS // KILLS - 4))
            with scanning(place, there) as scan:
                deadline = time.monotonic() + DEADLINE
                while scan.poll() is None and sends(there) < until and time.monotonic() < deadline:
                    time.sleep(0.002)
                time.sleep(moments.random() * 0.02)
                scan.send_signal(signal.SIGKILL)
                _, err = scan.communicate()
            assert scan.returncode in (-signal.SIGKILL, 0), err
            killed += scan.returncode == -signal.SIGKILL
            for name in NAMES:
                now = on_disk(edition, name)
                assert kept[name] <= now, "an answer that was on disk is gone"
                kept[name] = now
                _every_call_was_written_down(edition, name, texts, there)
        with scanning(place, there) as scan:
            out, err = scan.communicate(timeout=DEADLINE)
        assert scan.returncode == 0, err
        ended = {
            event["detector"]: event for line in out.splitlines() if (event := json.loads(line))["event"] == "ended"
        }
        counts = there.counts()
        for name in NAMES:
            _accounts_agree(edition, name, texts, kept[name], ended[name], counts[name])
        assert killed >= KILLS // 2, "too few of the kills hit a scan that was at work"


def _every_call_was_written_down(edition: Edition, name: str, texts: dict[str, str], there: Elsewhere) -> None:
    sent = {line["document"] for line in lines(edition.journals / f"{name}.jsonl") if line["kind"] == "sent"}
    known = {canonical_json.sha256(texts[document].encode()) for document in sent}
    ours = {canonical_json.sha256(raw.encode()) for raw in texts.values()}
    assert (set(there.counts()[name]["texts"]) & ours) <= known, "a request left before its line was on disk"


def _accounts_agree(
    edition: Edition, name: str, texts: dict[str, str], kept: set[str], ended: dict[str, Any], counts: dict[str, Any]
) -> None:
    """The four statements: one final reading a pair; answers kept; doubts named, and not asked again; the money."""
    found = journal.read_journal(
        edition.journals / f"{name}.jsonl", canonical_json.sha256(study.read_bytes(edition.seal("corpus")))
    )
    answered, doubt = found.readings["document"].to_list(), set(ended["in_doubt"])
    asked = {document: counts["texts"].get(canonical_json.sha256(raw.encode()), 0) for document, raw in texts.items()}
    assert len(answered) == len(set(answered)), "two final readings of a pair"
    assert set(found.readings["state"]) == {"answered"}
    assert kept <= set(answered), "an answer that was on disk has no reading"
    assert set(answered) | doubt == set(texts)
    assert not set(answered) & doubt
    assert doubt == set(found.sent["document"]) - set(answered)
    assert max(asked.values()) == 1, "paid for twice"
    assert {document for document, times in asked.items() if times} <= set(answered) | doubt
    assert all(asked[document] == 1 for document in answered), "an answer that nobody gave"
    assert len(answered) <= sum(asked.values()) <= len(answered) + len(doubt)
    charged, cost = Decimal(counts["charged"]), ended["cost"]
    assert Decimal(cost["sure"]) <= charged <= Decimal(cost["most"])
    order = sorted(texts, key=lambda document: canonical_json.rank_name(SEED, "scan", document))
    assert found.first_sent().to_list() == order


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_lets_what_was_paid_for_be_answered(tmp_path: Path, number: signal.Signals) -> None:
    texts = {f"{n:03d}": text(n) for n in range(200)}
    with elsewhere(*NAMES) as there:
        place, edition = made(tmp_path, texts, there)
        with scanning(place, there) as scan:
            deadline = time.monotonic() + DEADLINE
            while sends(there) < 20 and scan.poll() is None and time.monotonic() < deadline:
                time.sleep(0.005)
            scan.send_signal(number)
            out, err = scan.communicate(timeout=DEADLINE)
        assert scan.returncode == 1, err
        ended = {
            event["detector"]: event for line in out.splitlines() if (event := json.loads(line))["event"] == "ended"
        }
        assert {event["why"] for event in ended.values()} <= {"interrupted", "done"}
        assert all(event["in_doubt"] == [] for event in ended.values())
        with scanning(place, there) as scan:
            _, err = scan.communicate(timeout=DEADLINE)
        assert scan.returncode == 0, err
        for name, counts in there.counts().items():
            found = journal.read_journal(
                edition.journals / f"{name}.jsonl", canonical_json.sha256(study.read_bytes(edition.seal("corpus")))
            )
            assert found.readings.height == 200
            assert sorted(set(counts["texts"].values()))[0] == 1
            ours = {canonical_json.sha256(raw.encode()) for raw in texts.values()}
            assert {counts["texts"][digest] for digest in ours} == {1}, "paid for twice"
