"""Shards of texts are full, but for the last, which is not empty."""

from __future__ import annotations

from pathlib import Path

import pytest

from penmark import study
from penmark.format import canonical_json
from penmark.stages.verify.check4_corpus import published_texts
from penmark.stages.verify.check_findings import Findings

ADDRESSES = [f"{number:064x}" for number in range(5)]


def read(root: Path, monkeypatch: pytest.MonkeyPatch, *shards: int) -> tuple[list[str], list[tuple[str, str]]]:
    """The addresses that are read from shards of so many texts each, where two fill a shard, and the faults."""
    monkeypatch.setattr(study, "SHARD", 2)
    monkeypatch.setattr(study, "LOOSE", 2)
    lines = iter(canonical_json.encode_json({"address": each, "text": "a text"}) + b"\n" for each in ADDRESSES)
    for number, count in enumerate(shards, 1):
        data = b"".join(next(lines) for _ in range(count))
        study.write_bytes(root / "texts" / f"{number:04d}.jsonl.gz", study.compress_gzip(data))
    found = Findings(4, "corpus")
    given = [address for _, address, _ in published_texts.read_published_texts(study.Edition(root), found)]
    return given, [(each.subject, each.got or "") for each in found.checks() if each.state == "failed"]


@pytest.mark.parametrize("shards", [(2,), (2, 1), (2, 2, 1)])
def test_full_shards_and_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shards: tuple[int, ...]) -> None:
    assert read(tmp_path, monkeypatch, *shards) == (ADDRESSES[: sum(shards)], [])


@pytest.mark.parametrize(
    ("shards", "faults"),
    [
        ((2, 0), [("texts/0002.jsonl.gz", "holds 0 texts")]),
        ((1, 2), [("texts/0001.jsonl.gz", "holds 1 text")]),
        ((0, 2, 1), [("texts/0001.jsonl.gz", "holds 0 texts")]),
        ((2, 1, 1), [("texts/0002.jsonl.gz", "holds 1 text")]),
    ],
)
def test_a_shard_with_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shards: tuple[int, ...], faults: list[tuple[str, str]]
) -> None:
    assert read(tmp_path, monkeypatch, *shards) == (ADDRESSES[: sum(shards)], faults)
