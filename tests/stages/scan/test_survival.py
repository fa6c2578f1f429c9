"""What a machine can do to a scan: no room on the disk, no right to write, a clock that is put back, a file that is gone.

Each has a clear message, loses no answer, and leaves a journal that the next scan goes on with.
"""

from __future__ import annotations

import ctypes
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.frozen_study import detector, frozen
from tests.scripted_detector import install
from tests.stages.scan.vendors import text, vendors

from penmark import journal, study
from penmark.cards import judge
from penmark.errors import ServiceError
from penmark.format import canonical_json
from penmark.journal import evidence_log
from penmark.stages.scan import open_scan, outcome, scan_queue
from penmark.study import Edition, Study

TEXTS: dict[str, str | bytes] = {f"{n:03d}": f"text {n:03d} " + "and more " * 40 for n in range(300)}


def whole(edition: Edition, name: str) -> journal.Journal:
    """The journal: canonical, chained, without an unfinished line; its readings are those of the evidence."""
    found = journal.read_journal(
        edition.journals / f"{name}.jsonl", canonical_json.sha256(study.read_bytes(edition.seal("corpus")))
    )
    assert [item.document for item in evidence_log.read_evidence(edition.evidence, name)] == found.readings[
        "document"
    ].to_list()
    return found


@pytest.fixture
def acting(tmp_path: Path) -> Iterator[Callable[..., subprocess.CompletedProcess[str]]]:
    """Runs `penmark scan` with the acting detector in a process of its own."""
    installed = install(tmp_path / "installed")
    sys.path.insert(0, str(installed))

    def scan(place: Study, **options: Any) -> subprocess.CompletedProcess[str]:
        environ = os.environ | {"PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "penmark", "-C", str(place.root), "scan"]
        return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=120, check=False, **options)

    yield scan
    sys.path.remove(str(installed))


# --- the disk ------------------------------------------------------------------------------------------------------


def _limit(size: int) -> Callable[[], None]:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


@pytest.mark.parametrize("size", [20_000, 33_333, 50_001])
def test_a_disk_that_takes_no_more_ends_the_scan_and_the_next_goes_on(
    tmp_path: Path, acting: Callable[..., subprocess.CompletedProcess[str]], size: int
) -> None:
    """No file may grow beyond so many bytes; wherever that cuts, what was written before stands."""
    log = tmp_path / "log"
    place, edition = frozen(tmp_path / "study", TEXTS, detector("acting", settings={"log": str(log)}))
    said = acting(place, preexec_fn=_limit(size))
    assert said.returncode == 3, said
    assert re.search("no space left on device|file too large", said.stdout + said.stderr)
    assert "Free some space and run the same command again" in said.stdout + said.stderr
    assert "Traceback" not in said.stderr
    log.unlink()
    said = acting(place)
    assert said.returncode == 0, said
    found = whole(edition, "acting")
    doubt = set(found.sent["document"]) - set(found.readings["document"])
    assert len(doubt) <= 17, "what was in flight, and no more"
    assert found.readings.height + len(doubt) == 300
    assert len(log.read_text().splitlines()) < 300
    assert "in doubt" in said.stdout or not doubt


def test_without_room_for_an_answer_nothing_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {f"{n}": text(n) for n in range(4)}
    with vendors(tmp_path, texts, {"gptzero": {}}) as place:
        monkeypatch.setattr(scan_queue, "ROOM", 2**62)
        [ended] = place.scan()
        assert (ended.counts["to_ask"], ended.in_doubt) == (4, [])
        assert "MiB left" in str(ended.tally.error)
        assert place.doubles["gptzero"].ledger.requests.total() == 0
        monkeypatch.undo()
        for name, key in place.doubles["gptzero"].keys.items():
            monkeypatch.setenv({"key": "GPTZERO_API_KEY"}[name], key)
        [ended] = place.scan()
        assert ended.counts["answered"] == 4
        whole(place.edition, "gptzero")


def _bound() -> None:
    """From the next program on, the rights of files bind root too (it loses CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH)."""
    for capability in (1, 2):
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP; nobody else can, nor has to


@pytest.mark.parametrize("folder", ["", "journal", "evidence"])
def test_a_folder_that_may_not_be_written_to_is_told(
    tmp_path: Path, acting: Callable[..., subprocess.CompletedProcess[str]], folder: str
) -> None:
    place, edition = frozen(tmp_path / "study", {"a": "text"}, detector("coin"))
    (edition.root / folder).mkdir(exist_ok=True)
    (edition.root / folder).chmod(0o555)
    said = acting(place, preexec_fn=_bound)
    assert said.returncode == 3, said
    assert "permission denied" in said.stdout + said.stderr
    assert "Make the folder writable for you" in said.stdout + said.stderr
    assert "Traceback" not in said.stderr
    (edition.root / folder).chmod(0o755)
    said = acting(place)
    assert said.returncode == 0, said
    found = journal.read_journal(
        edition.journals / "coin.jsonl", canonical_json.sha256(study.read_bytes(edition.seal("corpus")))
    )
    assert found.sent.height == 1
    assert found.readings.height == (0 if folder == "evidence" else 1), "an answer that could not be kept is in doubt"


# --- the clock -----------------------------------------------------------------------------------------------------


def test_a_clock_that_is_put_back_stops_the_scan_and_no_time_runs_backwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {f"{n:02d}": text(n) for n in range(30)}
    real = judge.get_time_now
    with vendors(tmp_path, texts, {"gptzero": {}}) as place:
        back: list[str] = []
        earlier = judge.format_timestamp(time.time() - 3600)

        def now() -> str:
            return back[0] if back else real()

        monkeypatch.setattr(judge, "get_time_now", now)
        with open_scan.begin_scan(place.study, place.edition, [], budgets={"gptzero": 10**6}) as scan:  # type: ignore[dict-item]
            [ended] = scan.run(lambda lane, part: back.append(earlier) if not back else None)
        assert isinstance(ended.tally.error, ServiceError)
        assert f"this machine's clock went back: it says {earlier}" in str(ended.tally.error)
        assert 0 < ended.counts["to_ask"] < 30
        assert ended.in_doubt == []
        times = [line["at"] for _, line in study.read_json_lines(place.edition.journals / "gptzero.jsonl")]
        assert times == sorted(times)
        with pytest.raises(ServiceError, match=r"clock went back.*written down already\n.*Nothing was lost"):
            place.scan()
        monkeypatch.setattr(judge, "get_time_now", real)
        [again] = place.scan()
        assert again.counts["answered"] == 30
        found = whole(place.edition, "gptzero")
        assert set(found.retries["reason"]) <= {outcome.NOT_SENT}, "taken back before anybody was asked"
        assert found.sent.height - found.retries.height == 30
        assert place.doubles["gptzero"].ledger.requests == {"send": 30 + 3}, (
            "each once; the canary first, first, and last"
        )
        for row in found.readings.iter_rows(named=True):
            assert row["sent_at"] <= row["got_at"] <= row["at"]


def test_a_clock_that_is_set_right_by_a_second_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, edition = frozen(tmp_path / "study", {f"{n}": f"text {n}" for n in range(40)}, detector("coin"))
    times = iter(range(10**6))
    start = judge.get_time_now()[:17]

    def now() -> str:
        second = 30 - (next(times) % 3) / 2  # forth and back, by a second at most
        return f"{start}{second:09.6f}Z"

    monkeypatch.setattr(judge, "get_time_now", now)
    with open_scan.begin_scan(place, edition, []) as scan:
        [ended] = scan.run()
    assert (ended.counts["answered"], ended.tally.error) == (40, None)
    whole(edition, "coin")
