"""Evidence files: lines that come back as they went in, numbering, the unread end, unfinished lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penmark import study
from penmark.errors import PenmarkError, ServiceError
from penmark.format import canonical_json
from penmark.journal import evidence_log
from penmark.journal.evidence_log import Kept


def kept(document: str, body: bytes = b'{"score":1}', attempt: int = 1) -> Kept:
    return Kept("zippy", document, attempt, body, canonical_json.sha256(body))


@settings(max_examples=100)
@given(st.binary(max_size=200) | st.text(st.characters(exclude_categories=["Cs"])).map(str.encode))
def test_every_body_comes_back_byte_for_byte(body: bytes) -> None:
    written = canonical_json.encode_json(evidence_log.make_evidence_line(kept("a", body)))
    assert evidence_log.parse_evidence(canonical_json.decode_json(written, place="x"), place="x") == kept("a", body)
    assert json.loads(written)["encoding"] == ("utf-8" if _is_text(body) else "base64")


def _is_text(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize(
    "change",
    [
        {"body": 1},
        {"encoding": "latin-1"},
        {"encoding": "base64", "body": "é"},
        {"attempt": "1"},
        {"attempt": True},
        {"more": 1},
    ],
)
def test_other_lines_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(PenmarkError, match="place:7"):
        evidence_log.parse_evidence(evidence_log.make_evidence_line(kept("a")) | change, place="place:7")
    with pytest.raises(PenmarkError):
        evidence_log.parse_evidence([], place="x")


def test_files_are_numbered_from_one_and_hold_so_many_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence_log, "MAX_LINES", 4)
    names = [f"{n:02d}" for n in range(11)]
    writer = evidence_log.EvidenceWriter(tmp_path, "zippy")
    writer.append([kept(name) for name in names[:6]])
    evidence_log.EvidenceWriter(tmp_path, "zippy").append([kept(name) for name in names[6:]])
    assert [path.name for path in evidence_log.list_evidence_files(tmp_path, "zippy")] == [
        f"zippy-000{n}.jsonl" for n in (1, 2, 3)
    ]
    assert [
        len(study.read_bytes(path).splitlines()) for path in evidence_log.list_evidence_files(tmp_path, "zippy")
    ] == [4, 4, 3]
    assert [item.document for item in evidence_log.read_evidence(tmp_path, "zippy")] == names


def test_detectors_whose_names_begin_alike_are_not_mixed(tmp_path: Path) -> None:
    for stem, name in (("zippy", "zippy"), ("zippy.1of2", "zippy"), ("zippy-0001", "other"), ("zippy-2", "other")):
        evidence_log.EvidenceWriter(tmp_path, stem).append([kept("a")._replace(detector=name, document=stem)])
    assert [item.document for item in evidence_log.read_evidence(tmp_path, "zippy")] == ["zippy", "zippy.1of2"]
    assert [path.name for path in evidence_log.list_evidence_files(tmp_path, "zippy-2")] == ["zippy-2-0001.jsonl"]
    evidence_log.EvidenceWriter(tmp_path, "zippy.1of3").append([kept("b")._replace(detector="zippy.1of3")])
    assert [item.document for item in evidence_log.read_evidence(tmp_path, "zippy")] == ["zippy", "zippy.1of2"]


def test_the_unread_end_spans_files_and_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence_log, "MAX_LINES", 3)
    monkeypatch.setattr(evidence_log, "_BLOCK", 64)
    writer = evidence_log.EvidenceWriter(tmp_path, "zippy")
    writer.append([kept(f"{n}", b"x" * (n * 50)) for n in range(8)])
    for read_to in range(9):
        unread = writer.unread(lambda document, attempt, read_to=read_to: int(document) < read_to)  # type: ignore[misc]
        assert [item.document for item in unread] == [f"{n}" for n in range(read_to, 8)]
    assert evidence_log.EvidenceWriter(tmp_path / "none", "zippy").unread(lambda document, attempt: False) == []


def test_dropped_lines_go_to_torn_and_what_follows_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence_log, "MAX_LINES", 3)
    writer = evidence_log.EvidenceWriter(tmp_path, "zippy")
    writer.append([kept(f"{n}") for n in range(7)])
    whole = study.read_bytes(tmp_path / "zippy-0002.jsonl")
    writer.drop(writer.unread(lambda document, attempt: int(document) < 4))
    writer.append([kept("new")])
    assert [item.document for item in evidence_log.read_evidence(tmp_path, "zippy")] == ["0", "1", "2", "3", "new"]
    torn = study.read_bytes(tmp_path / "zippy-0002.jsonl.torn")
    assert sorted(torn.splitlines()) == sorted(whole.splitlines()[1:])


@pytest.mark.parametrize("cut", [1, 10, 70, 150])
def test_an_unfinished_last_line_is_moved_aside(tmp_path: Path, cut: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence_log, "_BLOCK", 16)
    evidence_log.EvidenceWriter(tmp_path, "zippy").append([kept("a"), kept("b")])
    path = tmp_path / "zippy-0001.jsonl"
    whole = study.read_bytes(path)
    first = whole.index(b"\n") + 1
    path.write_bytes(whole[: first + cut])
    evidence_log.EvidenceWriter(tmp_path, "zippy").append([kept("c")])
    assert [item.document for item in evidence_log.read_evidence(tmp_path, "zippy")] == ["a", "c"]
    torn = whole[first : first + cut] + b"\n"
    assert study.read_bytes(tmp_path / "zippy-0001.jsonl.torn") == torn
    path.write_bytes(study.read_bytes(path) + b'{"another')
    evidence_log.EvidenceWriter(tmp_path, "zippy")
    assert study.read_bytes(tmp_path / "zippy-0001.jsonl.torn") == torn + b'{"another\n'


def test_a_folder_that_cannot_be_written_is_a_service_error(tmp_path: Path) -> None:
    (tmp_path / "evidence").write_bytes(b"a file stands in the way")
    with pytest.raises(ServiceError):
        evidence_log.EvidenceWriter(tmp_path / "evidence", "zippy").append([kept("a")])
