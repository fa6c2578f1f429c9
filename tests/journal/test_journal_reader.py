"""Whole journals: the chain, the names, faults by place, several files at once."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.journal.test_journal_lines import PREV, READING, RETRY, SENT, SKIPPED, START, STOP, chained

from penmark import journal
from penmark.errors import FaultsError, PenmarkError
from penmark.format import canonical_json
from penmark.journal import journal_reader


def many(count: int) -> list[dict[str, object]]:
    """A start, then ``count`` pairs of sent and reading."""
    held: list[dict[str, object]] = [START]
    for number in range(count):
        held += [{**SENT, "document": f"d-{number}"}, {**READING, "document": f"d-{number}", "score": f"0.{number}"}]
    return held


def test_a_journal_as_columns(tmp_path: Path) -> None:
    path = tmp_path / "zippy.jsonl"
    data = chained([START, SENT, RETRY, SKIPPED, {**SENT, "attempt": 2}, READING, STOP, START, STOP])
    path.write_bytes(data)
    found = journal.read_journal(path, PREV)
    assert (found.detector, found.shard, found.lines) == ("zippy", "1/1", 9)
    assert found.head == canonical_json.sha256(data[:-1].rpartition(b"\n")[2])
    assert found.sent.rows() == [(SENT["at"], 1, "007", 2), (SENT["at"], 2, "007", 5)]
    assert found.retries["line"].to_list() == [3]
    assert found.skipped.rows(named=True) == [{"at": SENT["at"], "document": "NA", "reason": "too short", "line": 4}]
    assert [start["line"] for start in found.starts] == [1, 8]
    assert [stop["line"] for stop in found.stops] == [7, 9]
    assert found.first_sent().to_list() == ["007"]
    assert found.place(4) == f"{path}:4"


@pytest.mark.parametrize("block", [100, 5_000, 2**20])
def test_the_size_of_blocks_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    path = tmp_path / "zippy.jsonl"
    path.write_bytes(chained(many(200)))
    whole = journal.read_journal(path, PREV)
    monkeypatch.setattr(journal_reader, "BLOCK", block)
    again = journal.read_journal(path, PREV)
    assert again.readings.equals(whole.readings)
    assert again.sent.equals(whole.sent)
    assert (again.head, again.lines) == (whole.head, whole.lines) == (whole.head, 401)
    assert whole.readings["score"].to_list() == [f"0.{number}" for number in range(200)]


@pytest.mark.parametrize("seed", range(20))
def test_any_flipped_byte_is_found(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    path = tmp_path / "zippy.jsonl"
    data = bytearray(chained(many(5)))
    # The last line's own values are held by its head alone, which a seal knows.
    at = chance.randrange(bytes(data[:-1]).rindex(b"\n") + 1)
    data[at] ^= 1 << chance.randrange(8)
    path.write_bytes(data)
    with pytest.raises(FaultsError) as caught:
        journal.read_journal(path, PREV)
    line = bytes(data[:at]).count(b"\n") + 1
    places = {int(str(fault.place).removeprefix(f"{path}:").split(":")[0]) for fault in caught.value.faults}
    assert places <= {line, line + 1, 1}  # the line, the link that no longer fits, or what a changed start says
    assert places


def test_a_line_taken_away_added_or_moved_breaks_the_chain(tmp_path: Path) -> None:
    path = tmp_path / "zippy.jsonl"
    kept = chained(many(3)).splitlines(keepends=True)
    for changed in (kept[:3] + kept[4:], kept[:3] + kept[2:], [*kept[:3], kept[4], kept[3], *kept[5:]]):
        path.write_bytes(b"".join(changed))
        with pytest.raises(FaultsError, match="the chain is broken"):
            journal.read_journal(path, PREV)
    path.write_bytes(b"".join(kept))
    with pytest.raises(FaultsError, match="belongs to another corpus"):
        journal.read_journal(path, "b" * 64)


def test_what_is_no_journal_is_said_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "zippy.jsonl"
    for data, fact, line in (
        (b"", "begins with a start line", 1),
        (chained([SENT, READING]), "begins with a start line", 1),
        (chained([START, SENT])[:-1], "the last line is not finished", 2),
        (chained([{**START, "detector": "other"}]), "is called other.jsonl", 1),
        (chained([{**START, "shard": "2/3"}]), "is called zippy.2of3.jsonl", 1),
        (chained([START, {**START, "detector": "other"}]), "is called other.jsonl", 2),
        (b"{}\n", "is no line of a journal", 1),
        (b"\n", "not valid JSON", 1),
        (b"[" * 100_000 + b"\n", "not valid JSON", 1),
        (chained([START]) + b"\xff\n", "not valid JSON", 2),
        (chained([START]).replace(b'"at"', b' "at"'), "not in canonical form", 1),
        (chained([START]).replace(b'{"at"', b'{"at":"x","at"'), "not in canonical form", 1),
    ):
        path.write_bytes(data)
        with pytest.raises(FaultsError) as caught:
            journal.read_journal(path, PREV)
        assert fact in str(caught.value)
        assert str(caught.value).startswith(f"{path}:{line}")


def test_faults_of_all_files_in_one_pass_and_at_most_twenty(tmp_path: Path) -> None:
    good, bad, worse = tmp_path / "a.jsonl", tmp_path / "b.jsonl", tmp_path / "c.jsonl"
    good.write_bytes(chained([{**START, "detector": "a"}, SENT]))
    bad.write_bytes(chained([{**START, "detector": "b"}, {**SENT, "attempt": 0}, SENT, {**SENT, "at": "now"}]))
    worse.write_bytes(chained([{**START, "detector": "c"}, *({**SENT, "document": "a/b"} for _ in range(30))]))
    seen = []
    with pytest.raises(FaultsError) as caught:
        seen.extend(found.detector for found in journal.read_journals([good, bad, worse], PREV))
    assert seen == ["a"]
    places = [str(fault.place).split(": ")[0] for fault in caught.value.faults]
    assert places[:2] == [f"{bad}:2", f"{bad}:4"]
    assert len(places) == journal.MAX_FAULTS == 20
    assert set(places[2:]) == {f"{worse}:{n}" for n in range(2, 20)}


def test_a_missing_file_and_a_link_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PenmarkError, match="there is no such file"):
        journal.read_journal(tmp_path / "zippy.jsonl", PREV)
    (tmp_path / "real").write_bytes(chained([START]))
    (tmp_path / "zippy.jsonl").symlink_to(tmp_path / "real")
    with pytest.raises(PenmarkError, match="symbolic link"):
        journal.read_journal(tmp_path / "zippy.jsonl", PREV)


def test_no_files_are_no_journals() -> None:
    assert list(journal.read_journals([], PREV)) == []


def test_names() -> None:
    assert journal.name_journal("zippy") == "zippy.jsonl"
    assert journal.name_journal("a.b", "2/4") == "a.b.2of4.jsonl"
