"""The exchanges: chained, durable, in several files, and what a crash or a full disk leaves of them."""

from __future__ import annotations

import json
import os

import pytest

from penmark.errors import PenmarkError, ServiceError
from penmark.format import canonical_json
from penmark.stages.generate import exchange_log
from penmark.stages.generate.exchange_log import Exchanges

FIRST = "0" * 64


def line(number: int) -> dict[str, object]:
    return {"at": "2026-11-30T00:00:00Z", "kind": "stop", "number": number}


def numbers(folder, stem="exchanges"):
    return [value["number"] for _, value in exchange_log.read_exchanges(folder, stem, FIRST)]


def test_lines_are_chained_over_files(tmp_path, monkeypatch):
    monkeypatch.setattr(exchange_log, "MAX_LINES", 3)
    seen = []
    with Exchanges(tmp_path, "exchanges", FIRST, seen.append) as ledger:
        for number in range(5):
            ledger.append(line(number))
    with Exchanges(tmp_path, "exchanges", FIRST, seen.append) as ledger:
        for number in range(5, 8):
            ledger.append(line(number))
        head = ledger.head
    assert [path.name for path in exchange_log.list_exchange_files(tmp_path, "exchanges")] == [
        f"exchanges-000{n}.jsonl" for n in (1, 2, 3)
    ]
    assert numbers(tmp_path) == list(range(8))
    assert [each["number"] for each in seen] == [*range(5), *range(5), *range(5, 8)]
    raw = b"".join(path.read_bytes() for path in exchange_log.list_exchange_files(tmp_path, "exchanges")).splitlines()
    assert canonical_json.sha256(raw[-1]) == head
    assert json.loads(raw[0])["prev"] == FIRST
    assert json.loads(raw[3])["prev"] == canonical_json.sha256(raw[2])


def test_an_unfinished_line_is_moved_aside_and_the_chain_goes_on(tmp_path):
    with Exchanges(tmp_path, "exchanges", FIRST, lambda line: None) as ledger:
        ledger.append(line(0))
        ledger.append(line(1))
    path = tmp_path / "exchanges-0001.jsonl"
    whole = path.read_bytes()
    for cut in range(len(whole.splitlines(keepends=True)[0]) + 1, len(whole), 7):
        path.write_bytes(whole[:cut])
        with Exchanges(tmp_path, "exchanges", FIRST, lambda line: None) as ledger:
            assert ledger.lines == 1
            ledger.append(line(2))
        assert numbers(tmp_path) == [0, 2]
    assert (tmp_path / "exchanges-0001.jsonl.torn").exists()


@pytest.mark.parametrize("change", ["swap", "drop", "edit", "other promise"])
def test_a_changed_chain_is_refused(tmp_path, change):
    with Exchanges(tmp_path, "exchanges", FIRST, lambda line: None) as ledger:
        for number in range(3):
            ledger.append(line(number))
    path = tmp_path / "exchanges-0001.jsonl"
    rows = path.read_bytes().splitlines(keepends=True)
    first = FIRST
    if change == "swap":
        rows[1], rows[2] = rows[2], rows[1]
    elif change == "drop":
        del rows[1]
    elif change == "edit":
        rows[1] = rows[1].replace(b'"number":1', b'"number":9')
    else:
        first = "1" * 64
    path.write_bytes(b"".join(rows))
    with pytest.raises(PenmarkError, match=r"exchanges-0001.jsonl:\d: does not follow the line before it"):
        list(exchange_log.read_exchanges(tmp_path, "exchanges", first))


def test_a_full_disk_leaves_whole_lines(tmp_path, monkeypatch):
    with Exchanges(tmp_path, "exchanges", FIRST, lambda line: None) as ledger:
        ledger.append(line(0))
        write = os.write
        monkeypatch.setattr(os, "write", lambda handle, data: write(handle, data[:20]))
        with pytest.raises(ServiceError, match="no space left"):
            ledger.append(line(1))
        monkeypatch.setattr(os, "write", write)
        ledger.append(line(2))
    assert numbers(tmp_path) == [0, 2]


def test_nothing_is_written_once_it_is_closed(tmp_path):
    with Exchanges(tmp_path, "exchanges", FIRST, lambda line: None) as ledger:
        ledger.append(line(0))
    with pytest.raises(ServiceError, match="are closed"):
        ledger.append(line(1))
    assert numbers(tmp_path) == [0]


def test_bytes_that_are_no_text_are_kept_as_they_are():
    assert exchange_log.encode_kept_body(b"caf\xe9") == {
        "body": "Y2Fm6Q==", "encoding": "base64", "sha256": canonical_json.sha256(b"caf\xe9")
    }  # fmt: skip
    assert exchange_log.encode_kept_body("café".encode())["body"] == "café"
