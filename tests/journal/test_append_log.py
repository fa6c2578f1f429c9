"""What was written is there after a crash, and what was not finished is kept aside."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from tests.journal.test_journal_lines import PREV, READING, SENT, SKIPPED, START, STOP, chained

from penmark import journal
from penmark.errors import FaultsError, ServiceError
from penmark.format import canonical_json


def test_what_is_appended_is_canonical_and_chained(tmp_path: Path) -> None:
    path = tmp_path / "journal" / "zippy.jsonl"
    with journal.JournalWriter(path, PREV) as writer:
        assert (writer.head, writer.lines) == (PREV, 0)
        writer.append(START)
        writer.append(SENT, READING)
        writer.append()
        writer.append(STOP)
        head, lines = writer.head, writer.lines
    assert path.read_bytes() == chained([START, SENT, READING, STOP])
    assert (head, lines) == (canonical_json.sha256(path.read_bytes()[:-1].rpartition(b"\n")[2]), 4)
    with journal.JournalWriter(path, PREV) as writer:
        assert (writer.head, writer.lines) == (head, 4)
        writer.append(START, STOP)
    assert path.read_bytes() == chained([START, SENT, READING, STOP, START, STOP])
    assert [p.name for p in path.parent.iterdir()] == ["zippy.jsonl"]


def test_a_group_is_one_write_and_one_sync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    for name in ("write", "fsync"):
        real = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *a, _name=name, _real=real: (calls.append(_name), _real(*a))[1])
    with journal.JournalWriter(tmp_path / "zippy.jsonl", PREV) as writer:
        calls.clear()
        writer.append(START, *([SENT] * 50))
    assert calls == ["write", "fsync"]


def test_a_line_that_is_none_is_never_written(tmp_path: Path) -> None:
    path = tmp_path / "zippy.jsonl"
    with journal.JournalWriter(path, PREV) as writer:
        with pytest.raises(FaultsError, match="begins with a start line"):
            writer.append(SENT)
        writer.append(START)
        with pytest.raises(FaultsError) as caught:
            writer.append(SENT, {**READING, "score": 0.5}, {**SENT, "more": "x"})
        assert {str(fault.place).split(": ")[0] for fault in caught.value.faults} == {f"{path}:3", f"{path}:4"}
        assert writer.lines == 1
        writer.append(SENT)
    assert path.read_bytes() == chained([START, SENT])


def test_cut_at_every_byte(tmp_path: Path) -> None:
    path, torn = tmp_path / "zippy.jsonl", tmp_path / "zippy.jsonl.torn"
    held = [START, {**SKIPPED, "document": "é"}, STOP]
    data = chained(held)
    for cut in range(len(data) + 1):
        path.write_bytes(data[:cut])
        torn.unlink(missing_ok=True)
        whole = data[:cut].rfind(b"\n") + 1
        with journal.JournalWriter(path, PREV) as writer:
            assert writer.lines == data[:cut].count(b"\n")
            assert path.read_bytes() == data[:whole]
            assert (torn.read_bytes() if torn.exists() else b"") == (data[whole:cut] + b"\n" if whole < cut else b"")
            if cut % 29 and cut < len(data):  # going on is tried at every twenty-ninth
                continue
            writer.append(*held[writer.lines :])
        assert path.read_bytes() == data


def test_torn_ends_are_kept_one_after_the_other(tmp_path: Path) -> None:
    path = tmp_path / "zippy.jsonl"
    for rest in (b'{"first', b"\xff\x00second"):
        with path.open("ab") as file:
            file.write(chained([START]) if file.tell() == 0 else b"")
            file.write(rest)
        journal.JournalWriter(path, PREV).close()
    assert (tmp_path / "zippy.jsonl.torn").read_bytes() == b'{"first\n\xff\x00second\n'
    assert path.read_bytes() == chained([START])


def test_a_journal_that_was_changed_is_not_continued(tmp_path: Path) -> None:
    path = tmp_path / "zippy.jsonl"
    before = chained([START, SENT, READING, STOP]).replace(b"0.50", b"0.90")
    path.write_bytes(before)
    with pytest.raises(FaultsError, match="the chain is broken"):
        journal.JournalWriter(path, PREV)
    assert path.read_bytes() == before


def test_a_closed_writer_writes_nothing(tmp_path: Path) -> None:
    writer = journal.JournalWriter(tmp_path / "zippy.jsonl", PREV)
    writer.append(START)
    writer.close()
    with pytest.raises(ServiceError, match="closed"):
        writer.append(SENT)
    assert (tmp_path / "zippy.jsonl").read_bytes() == chained([START])


FULL = """
    import resource, signal, sys
    from pathlib import Path
    from penmark import journal
    from penmark.errors import ServiceError
    from tests.journal.test_journal_lines import PREV, SENT, START

    path, limit = Path(sys.argv[1]), int(sys.argv[2])
    writer = journal.JournalWriter(path, PREV)
    writer.append(START)
    # The file may grow to `limit` bytes; the write that goes beyond it is cut short, as on a disk that fills up.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        writer.append(*([SENT] * 20))
    except ServiceError as error:
        print(error)
    assert writer.lines == 1
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    writer.append(SENT)
"""


@pytest.mark.parametrize("more", [1, 100, 1000])
def test_a_write_cut_short_leaves_a_whole_journal(tmp_path: Path, more: int) -> None:
    path = tmp_path / "zippy.jsonl"
    limit = len(chained([START])) + more
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(FULL), str(path), str(limit)],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert done.returncode == 0, done.stderr
    assert f"{path}: no space left on device" in done.stdout
    assert "nothing was lost" in done.stdout
    assert path.read_bytes() == chained([START, SENT])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_disk_is_said_in_words(tmp_path: Path) -> None:
    writer = journal.JournalWriter(tmp_path / "zippy.jsonl", PREV)
    full = os.open("/dev/full", os.O_WRONLY)
    assert writer._file is not None
    os.dup2(full, writer._file)
    os.close(full)
    with pytest.raises(ServiceError, match="no space left on device"):
        writer.append(START)
    with pytest.raises(ServiceError, match="closed"):  # a device cannot be cut back, so nothing more is written
        writer.append(START)
    assert (tmp_path / "zippy.jsonl").read_bytes() == b""
