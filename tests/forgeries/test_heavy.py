"""What keeps a reader's machine busy is refused, what an honest edition has is not; and both verifiers say so."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from tests.forgeries import both_verifiers, oversized_forgeries
from tests.forgeries.forger import Forger

from penmark.format import canonical_json
from penmark.text import quotation


def test_a_hundred_marks_are_no_tower(forger: Forger) -> None:
    oversized_forgeries.draft(forger, "The letters lay unread" + "\u0301\u0316" * 50 + " and" + "\u0301" * 100)
    forger.finish()
    assert both_verifiers.ours(forger.root).failed == both_verifiers.alone(forger.root).failed == set()


@pytest.mark.parametrize(
    "text", ["\u2026" * 500, "\U0001f642\ufe0f" * 500, "\u0e01\u0e34\u0e48" * 500, "a\u0301" * 500]
)
def test_rows_of_other_signs_are_no_tower(text: str) -> None:
    assert not canonical_json.has_piled_marks(text)
    assert not both_verifiers.STANDALONE.piled(text)


def test_a_draft_of_as_many_words_as_may_be(forger: Forger) -> None:
    oversized_forgeries.draft(forger, "word " * 20_000)
    forger.finish()
    assert both_verifiers.ours(forger.root).failed == both_verifiers.alone(forger.root).failed == set()


def test_a_detector_with_too_many_versions(forger: Forger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penmark.stages.score.journal_checks.MOST_VERSIONS", 1)
    monkeypatch.setattr(both_verifiers.STANDALONE, "VERSIONS", 1)
    for told in (both_verifiers.ours(forger.root), both_verifiers.alone(forger.root)):
        assert told.failed == {5}
        assert "2 versions" in told.faults(5)
        assert "7 tables" in told.unknown()


def test_a_version_that_is_an_empty_text_is_none(forger: Forger) -> None:
    oversized_forgeries.versions(forger, old=None, new="")
    forger.finish()
    assert both_verifiers.ours(forger.root).failed == both_verifiers.alone(forger.root).failed == set()
    assert forger.read("tables/table1.csv").count(b"edge.2,,not_reported,") == 1


@pytest.mark.parametrize(
    ("body", "reading"),
    [
        ('{"status":"\\ud800","verdict":"AI"}', {"state": "declined", "displayed": None, "label": None, "reason": "x"}),
        ('{"status":"no","verdict":"\\ud800"}', {"state": "declined", "displayed": None, "label": None, "reason": "x"}),
        ('{"other":"\\ud800","verdict":"AI"}', {"displayed": "AI", "label": "AI"}),
    ],
)
def test_half_a_surrogate_pair_under_any_pointer(forger: Forger, body: str, reading: dict[str, Any]) -> None:
    sign = {"among": ["no"], "at": "/status", "because": "no result"}
    forger.edit("detectors/plain.json", lambda value: value["card"]["answer"].update(unmeasured=[sign]))
    forger.cards()
    forger.answer("plain", "A-04", body, **reading)
    forger.finish()
    assert both_verifiers.ours(forger.root).failed == both_verifiers.alone(forger.root).failed == set()
    forger.reading("plain", "A-04", state="answered", displayed="Human", label="Human", reason=None)
    forger.finish()
    assert both_verifiers.ours(forger.root).failed == both_verifiers.alone(forger.root).failed == {5}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"got_at":"2024-11-02T', '"got_at":"2024-31-03T'),  # no time: the raw answers behind it lose their readings
        ('"got_at":"2024-11-02T', '"got_at":"2024-11-01T'),
        ('"kind":"sent"', '"kind":"sand"'),
        ('"attempt":1,"displayed"', '"attempt":2,"displayed"'),
    ],
)
def test_of_a_broken_journal_the_line_is_told_and_not_what_follows(forger: Forger, old: str, new: str) -> None:
    forger.replace("journal/edge.2.1of2.jsonl", old, new)
    forger.sums()
    ours, alone = both_verifiers.ours(forger.root), both_verifiers.alone(forger.root)
    assert ours.failed == alone.failed == {5}
    assert len(alone.faults(5).splitlines()) <= 3
    assert "journal/edge.2.1of2.jsonl:" in alone.faults(5)
    assert "what follows from them for edge.2" in alone.unknown()
    assert "7 tables: they follow from journals that are broken" in alone.unknown()
    assert [c.number for c in alone.checks if c.state == "ok"] == [1, 2, 3, 4, 6]


def test_a_folder_in_which_nothing_is(forger: Forger) -> None:
    (forger.root / "notes").mkdir()
    for told in (both_verifiers.ours(forger.root), both_verifiers.alone(forger.root)):
        assert told.failed == {1}
        assert "notes/" in told.faults(1)


@pytest.mark.parametrize("name", both_verifiers.STANDALONE.WORDS)
def test_what_verify_py_does_not_look_at_is_named(forger: Forger, name: str) -> None:
    forger.write(name, forger.read(name) + b"All of this is certified.\n")
    forger.sums()
    alone = both_verifiers.alone(forger.root)
    assert alone.failed == set()
    assert name in alone.unknown()


def test_faults_are_told_in_words(forger: Forger) -> None:
    forger.write("format", b"7\n")
    forger.replace("journal/plain.jsonl", '"got_at":"2024', '"got_at":"yesterday, 2024')
    forger.sums()
    alone = both_verifiers.alone(forger.root)
    assert "format: 7\\n; expected 1 and 2 and a line end" in alone.faults(1)
    assert "expected got_at: a time (YYYY-MM-DDTHH:MM:SSZ), or null" in alone.faults(5)


def test_a_file_that_unpacks_to_more_than_any_file_would(forger: Forger) -> None:
    body = json.dumps({"verdict": "Human", "padding": "a" * (32 << 20)}, separators=(",", ":"))
    forger.answer("plain", "A-04", body, displayed="Human", label="Human")
    path = forger.root / "evidence/plain-0001.jsonl.gz"
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()), mtime=0))  # penmark stores such a file as it is
    assert path.stat().st_size < (1 << 16)
    forger.finish()
    for told in (both_verifiers.ours(forger.root), both_verifiers.alone(forger.root)):
        assert 5 in told.failed
        assert "evidence/plain-0001.jsonl.gz" in told.faults(5)
        assert "more than" in told.faults(5)
    kept = json.dumps({"verdict": "Human", "padding": "a" * (1 << 20)}, separators=(",", ":"))
    forger.answer("plain", "A-04", kept, displayed="Human", label="Human")
    forger.finish()
    assert both_verifiers.ours(forger.root).failed == both_verifiers.alone(forger.root).failed == set()


class _Watched(dict[str, Any]):
    """An object that counts how often one looks into it."""

    looked = 0

    def get(self, key: str, default: Any = None) -> Any:
        type(self).looked += 1
        return super().get(key, default)


def test_blocks_are_looked_at_as_often_as_they_have_keys() -> None:
    blocks = [_Watched({f"k{n}": "" for n in range(300)}), *(_Watched() for _ in range(300))]
    assert list(quotation._join_blocks(blocks)) == []
    assert _Watched.looked <= 3 * 300
