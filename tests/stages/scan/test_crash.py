"""kill -9 in the middle of a real scan, again and again: nothing answered is lost, nothing is asked twice.

The moments are drawn from a seed: after how many questions, and how much later. ``PENMARK_SOAK`` draws many more.
"""

from __future__ import annotations

import json
import os
import pty
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from tests.frozen_study import detector, frozen
from tests.scripted_detector import install

from penmark import journal, study
from penmark.format import canonical_json
from penmark.journal import evidence_log
from penmark.study import Edition

SOAK = bool(os.environ.get("PENMARK_SOAK"))
KILLS = 200 if SOAK else 8
DOCUMENTS = 2_000 if SOAK else 160
DEADLINE = 60.0


def scanning(place: Path, installed: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "penmark", "-C", str(place), "scan", *options],
        env=os.environ | {"PYTHONPATH": str(installed)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def asked(log: Path) -> list[str]:
    """The texts of all questions so far, in order; the last line may be half written."""
    whole = log.read_bytes().rpartition(b"\n")[0] if log.exists() else b""
    return [json.loads(line) for line in whole.split(b"\n") if line]


def lines(path: Path) -> list[dict[str, object]]:
    """The finished lines of a file that a kill may have cut."""
    whole = path.read_bytes().rpartition(b"\n")[0] if path.exists() else b""
    return [json.loads(line) for line in whole.split(b"\n") if line]


def read(edition: Edition) -> journal.Journal:
    return journal.read_journal(
        edition.journals / "acting.jsonl", canonical_json.sha256(study.read_bytes(edition.seal("corpus")))
    )


@pytest.mark.parametrize("seconds", ["0", "0.004"], ids=["quick", "slow"])
def test_kill_9_at_any_moment(tmp_path: Path, seconds: str) -> None:
    moments = random.Random(f"kill -9, {seconds}")
    installed, log = install(tmp_path / "installed"), tmp_path / "log"
    texts = {f"{n:04d}": f"text {n:04d}" for n in range(DOCUMENTS)}
    sys.path.insert(0, str(installed))
    try:
        settings = {"log": str(log), "seconds": seconds}
        place, edition = frozen(tmp_path / "study", dict(texts), detector("acting", settings=settings))
    finally:
        sys.path.remove(str(installed))
    kept: set[str] = set()
    killed = 0
    for _ in range(KILLS):
        until = len(asked(log)) + moments.randint(1, max(1, DOCUMENTS // KILLS - 2))
        with scanning(place.root, installed) as scan:
            deadline = time.monotonic() + DEADLINE
            while scan.poll() is None and len(asked(log)) < until and time.monotonic() < deadline:
                time.sleep(0.001)
            time.sleep(moments.random() * (0.02 if float(seconds) else 0.002))
            scan.send_signal(signal.SIGKILL)
        assert scan.returncode in (-signal.SIGKILL, 0)
        killed += scan.returncode == -signal.SIGKILL and len(asked(log)) < DOCUMENTS
        now = {
            str(line["document"])
            for path in evidence_log.list_evidence_files(edition.evidence, "acting")
            for line in lines(path)
        }
        assert kept <= now, "evidence that was on disk is gone"
        kept = now
        held = lines(edition.journals / "acting.jsonl")
        sent = {line["document"] for line in held if line["kind"] == "sent"}
        assert {text.split()[1] for text in asked(log)} <= sent, "a question left before its line was on disk"
    with scanning(place.root, installed) as scan:
        out, err = scan.communicate(timeout=DEADLINE)
    assert scan.returncode == 0, err
    found = read(edition)  # canonical, chained, whole
    answered = found.readings["document"].to_list()
    doubt = set(found.sent["document"]) - set(answered)
    questions = Counter(text.split()[1] for text in asked(log))
    assert len(answered) == len(set(answered)), "two final readings of a pair"
    assert kept <= set(answered), "an answer that was on disk has no reading"
    assert max(questions.values()) == 1, "asked twice"
    assert set(questions) <= set(answered) | doubt
    assert set(answered) <= set(questions)
    assert set(answered) | doubt == set(texts)
    assert not set(answered) & doubt
    assert [item.document for item in evidence_log.read_evidence(edition.evidence, "acting")] == answered
    assert found.first_sent().to_list() == sorted(
        texts, key=lambda name: canonical_json.rank_name(bytes(range(32)), "scan", name)
    )
    told = re.search(r"(\d+) in doubt", out)
    assert (int(told[1]) if told else 0) == len(doubt)
    assert killed >= KILLS // 4, "too few of the kills hit a scan that was at work"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_lets_what_is_in_flight_end(tmp_path: Path, number: signal.Signals) -> None:
    installed, log = install(tmp_path / "installed"), tmp_path / "log"
    texts = {f"{n:03d}": f"text {n:03d}" for n in range(200)}
    sys.path.insert(0, str(installed))
    try:
        settings = {"log": str(log), "seconds": "0.03"}
        place, edition = frozen(
            tmp_path / "study", dict(texts), detector("acting", settings=settings), detector("coin")
        )
    finally:
        sys.path.remove(str(installed))
    with scanning(place.root, installed) as scan:
        deadline = time.monotonic() + DEADLINE
        while len(asked(log)) < 5 and time.monotonic() < deadline:
            time.sleep(0.005)
        scan.send_signal(number)
        _, err = scan.communicate(timeout=DEADLINE)
    assert scan.returncode == 1, err
    assert "Run the same command again" in err
    found = read(edition)
    assert found.stops[-1]["reason"] == "interrupted"
    assert found.sent["document"].to_list() == found.readings["document"].to_list()
    assert 5 <= len(asked(log)) == found.readings.height < 200


def test_a_terminal_that_is_closed_lets_what_is_in_flight_end(tmp_path: Path) -> None:
    installed, log = install(tmp_path / "installed"), tmp_path / "log"
    texts = {f"{n:03d}": f"text {n:03d}" for n in range(200)}
    sys.path.insert(0, str(installed))
    try:
        settings = {"log": str(log), "seconds": "0.03"}
        place, edition = frozen(tmp_path / "study", dict(texts), detector("acting", settings=settings))
    finally:
        sys.path.remove(str(installed))
    child, terminal = pty.fork()
    if child == 0:
        os.environ["PYTHONPATH"] = str(installed)
        os.execv(sys.executable, [sys.executable, "-m", "penmark", "-C", str(place.root), "scan"])
    try:
        deadline = time.monotonic() + DEADLINE
        while len(asked(log)) < 5 and time.monotonic() < deadline:
            os.read(terminal, 65_536)  # a terminal that nobody reads holds the program up
    finally:
        os.close(terminal)  # the window is closed: SIGHUP, and what is shown goes nowhere
    ended, status = os.waitpid(child, 0)
    assert ended == child
    assert os.WIFEXITED(status), f"killed by signal {os.WTERMSIG(status)}"
    found = read(edition)
    assert found.stops[-1]["reason"] == "interrupted"
    assert found.sent["document"].to_list() == found.readings["document"].to_list()
    assert 5 <= len(asked(log)) == found.readings.height < 200


def test_events_that_nobody_reads_on_are_no_reason_to_stop(tmp_path: Path) -> None:
    installed, log = install(tmp_path / "installed"), tmp_path / "log"
    texts = {f"{n:03d}": f"text {n:03d}" for n in range(120)}
    sys.path.insert(0, str(installed))
    try:
        settings = {"log": str(log), "seconds": "0.01"}
        place, edition = frozen(tmp_path / "study", dict(texts), detector("acting", settings=settings))
    finally:
        sys.path.remove(str(installed))
    with scanning(place.root, installed, "--json") as scan:
        assert scan.stdout is not None
        assert scan.stdout.readline().startswith("{")
        scan.stdout.close()
        assert scan.stderr is not None
        err = scan.stderr.read()
        scan.wait(DEADLINE)
    assert (scan.returncode, err) == (1, "")  # it was cut off; nothing is lost
    assert read(edition).readings.height == 120


def test_a_second_signal_leaves_the_call_in_flight_in_doubt(tmp_path: Path) -> None:
    installed, log = install(tmp_path / "installed"), tmp_path / "log"
    sys.path.insert(0, str(installed))
    try:
        place, edition = frozen(tmp_path / "study", {"h": "hang 600"}, detector("acting", settings={"log": str(log)}))
    finally:
        sys.path.remove(str(installed))
    with scanning(place.root, installed) as scan:
        deadline = time.monotonic() + DEADLINE
        while not asked(log) and time.monotonic() < deadline:
            time.sleep(0.005)
        for _ in range(2):
            scan.send_signal(signal.SIGTERM)
            time.sleep(0.3)
        out, err = scan.communicate(timeout=DEADLINE)
    assert scan.returncode == 0, err  # nothing is left to ask; the pair is in doubt, and named
    assert "in doubt (sent, no answer on record, not asked again): h" in out
    assert read(edition).stops[-1]["reason"] == "interrupted; the call in flight was left"


def test_the_second_of_two_scans_is_refused_and_names_the_first(tmp_path: Path) -> None:
    installed, log = install(tmp_path / "installed"), tmp_path / "log"
    sys.path.insert(0, str(installed))
    try:
        settings = {"log": str(log), "seconds": "0.05"}
        place, edition = frozen(
            tmp_path / "study", {f"{n}": f"text {n}" for n in range(60)}, detector("acting", settings=settings)
        )
    finally:
        sys.path.remove(str(installed))
    with scanning(place.root, installed) as first:
        deadline = time.monotonic() + DEADLINE
        while not asked(log) and time.monotonic() < deadline:
            time.sleep(0.005)
        with scanning(place.root, installed) as second:
            _, err = second.communicate(timeout=DEADLINE)
        assert second.returncode == 2
        assert f"in use by penmark scan (process {first.pid})" in err
        first.communicate(timeout=DEADLINE)
    assert first.returncode == 0
    assert read(edition).readings.height == 60
