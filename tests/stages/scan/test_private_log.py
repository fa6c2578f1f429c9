"""Notes in private/: what a crash cut is passed over, and what came after it is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from penmark.errors import ServiceError
from penmark.plugins import Exchange
from penmark.stages.scan import private_log
from penmark.stages.scan.private_log import Notes, make_exchange_line, make_job_line


def test_a_job_is_known_by_document_and_attempt_and_the_last_one_counts(tmp_path: Path) -> None:
    path = tmp_path / "a" / "jobs.jsonl"
    assert private_log.read_jobs(path) == {}
    made = Notes(path, durable=True)
    made.append(make_job_line("x", 1, {"task": "one"}), make_job_line("x", 2, {"task": "two"}))
    made.append(make_job_line("x", 1, {"task": "three"}))
    made.close()
    assert private_log.read_jobs(path) == {("x", 1): {"task": "three"}, ("x", 2): {"task": "two"}}
    assert path.stat().st_mode & 0o077 == 0, "nobody else may read it"


@pytest.mark.parametrize("cut", [1, 10, 30])
def test_a_line_that_a_crash_cut_is_passed_over(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "jobs.jsonl"
    for number in range(3):
        made = Notes(path, durable=True)
        made.append(make_job_line(f"{number}", 1, {"task": "a"}))
        made.close()
        if number == 1:
            path.write_bytes(path.read_bytes()[:-cut])
    whole = {("1", 1)} if cut == 1 else set()  # of which only the end of the line is gone
    assert set(private_log.read_jobs(path)) == {("0", 1), ("2", 1)} | whole


def test_an_exchange_keeps_what_a_search_for_faults_needs(tmp_path: Path) -> None:
    exchange = Exchange("send", "POST", "https://a/b", 0.5, 1.0, 200, (("x-request-id", "7"),), "ab" * 32)
    assert make_exchange_line("x", 2, exchange) == {
        "attempt": 2,
        "body_sha256": "ab" * 32,
        "document": "x",
        "got_at": "1970-01-01T00:00:01.000000Z",
        "headers": ["x-request-id: 7"],
        "method": "POST",
        "sent_at": "1970-01-01T00:00:00.500000Z",
        "status": 200,
        "step": "send",
        "url": "https://a/b",
    }


def test_a_place_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(ServiceError, match="file"):
        Notes(tmp_path / "file" / "jobs.jsonl", durable=False).append(make_job_line("x", 1, {}))
