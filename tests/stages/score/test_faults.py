"""What would make a number wrong ends the scoring, with its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.judged_study import ARCHIVE, AT, Judged, arm, card, document, retry, sent, skipped

from penmark import study
from penmark.errors import FaultsError, PenmarkError, UsageError
from penmark.format import canonical_json
from penmark.stages import score


def bench(root: Path, **further: Any) -> Judged:
    return Judged(root, [arm("A", "human")], [document(name, "A") for name in "abc"], [card("x")], **further)


Lines = Callable[[Judged], Iterable[dict[str, Any]]]


@pytest.mark.parametrize(
    ("lines", "place", "fact"),
    [
        (
            lambda m: [*m.scanned("a", score="0"), m.reading("a", score="0", origin="typed")],
            4,
            "second final reading of a",
        ),
        (lambda m: [m.reading("a", score="0", origin="typed")] * 2, 3, "second final reading of a"),
        (
            lambda m: [
                *m.scanned("a", state="failed", reason="timeout", version=None),
                m.reading("a", score="0", origin="typed"),
            ],
            4,
            "second final reading of a",
        ),
        (lambda m: [sent("zz")], 2, "zz is no document"),
        (lambda m: [retry("zz")], 2, "zz is no document"),
        (lambda m: [skipped("zz")], 2, "zz is no document"),
        (lambda m: [m.reading("zz", score="0", origin="typed")], 2, "zz is no document"),
        (lambda m: [m.reading("a", score="0", origin="typed", address="0" * 64)], 2, "the address is not that of a"),
        (lambda m: [*m.scanned("a", score="0"), skipped("a")], 4, "a is skipped, and has a reading"),
        (lambda m: [skipped("a"), m.reading("a", score="0", origin="typed")], 2, "a is skipped, and has a reading"),
        (lambda m: [skipped("a"), skipped("a")], 3, "a is skipped twice"),
        (lambda m: [skipped("a"), sent("a")], 3, "a is sent again after"),
        (lambda m: [*m.scanned("a", score="0"), sent("a", 2)], 4, "a is sent again after"),
        (lambda m: [m.reading("a", score="0")], 2, "the reading of a follows no `sent`"),
        (lambda m: [sent("a"), m.reading("a", score="0", attempt=2)], 3, "the reading of a follows no `sent`"),
        (lambda m: [sent("b"), m.reading("a", score="0")], 3, "the reading of a follows no `sent`"),
        (lambda m: [m.reading("a", score="0"), sent("a")], 2, "the reading of a follows no `sent`"),
    ],
)
def test_journals(tmp_path: Path, lines: Lines, place: int, fact: str) -> None:
    made = bench(tmp_path)
    path = made.journal("x", *lines(made))
    with pytest.raises(FaultsError) as caught:
        score.score_edition(made.edition)
    assert fact in str(caught.value)
    found = {str(fault.place) for fault in caught.value.faults if fact in fault.fact}
    assert found == {f"{path}:{place}"}
    assert all(fault.remedy is not None for fault in caught.value.faults)


def test_a_reading_may_answer_any_earlier_attempt(tmp_path: Path) -> None:
    made = bench(tmp_path)
    made.journal("x", sent("a"), retry("a"), sent("a", 2), made.reading("a", score="0", attempt=1))
    (version,) = score.score_edition(made.edition).versions
    assert version.pairs.select("state", "attempts").row(0) == ("answered", 2)


def test_two_answers_in_two_shards(tmp_path: Path) -> None:
    made = bench(tmp_path)
    made.journal("x", *made.scanned("a", score="0"), shard="1/2")
    path = made.journal("x", *made.scanned("a", score="0"), shard="2/2")
    with pytest.raises(FaultsError) as caught:
        score.score_edition(made.edition)
    assert (f"{path}:3", "a second final reading of a") in {(str(f.place), f.fact) for f in caught.value.faults}


def test_faults_of_several_detectors_in_one_pass_at_most_twenty(tmp_path: Path) -> None:
    rows = [document(f"d-{number:02d}", "A") for number in range(30)]
    made = Judged(tmp_path, [arm("A", "human")], rows, [card("x"), card("y")])
    made.journal("x", made.reading("d-00", score="0"))
    made.journal("y", *(made.reading(row["id"], score="0") for row in rows))
    with pytest.raises(FaultsError) as caught:
        score.score_edition(made.edition)
    places = [str(fault.place).rpartition("/")[2] for fault in caught.value.faults]
    assert places == ["x.jsonl:2", *(f"y.jsonl:{number}" for number in range(2, 21))]


def test_a_journal_of_nobody_or_by_another_card(tmp_path: Path) -> None:
    made = bench(tmp_path)
    path = made.journal("x", *made.scanned("a", score="0"))
    stranger = card("stranger")
    study.write_bytes(made.edition.sealed_card("stranger"), b"{}")
    other = made.journal("stranger")
    study.write_bytes(
        made.edition.sealed_card("x"), study.read_bytes(made.edition.sealed_card("x")).replace(b"nobody", b"someone")
    )
    with pytest.raises(FaultsError) as caught:
        score.score_edition(made.edition)
    assert stranger.name == "stranger"
    facts = {str(fault.place): fault.fact for fault in caught.value.faults}
    assert "another card" in facts[f"{path}:1"]
    assert "no detector stranger" in facts[str(other)]


def test_a_broken_chain_is_not_scored(tmp_path: Path) -> None:
    made = bench(tmp_path)
    path = made.journal("x", *made.scanned("a", score="0.1"), *made.scanned("b", score="0.2"))
    path.write_bytes(path.read_bytes().replace(b'"0.1"', b'"0.9"'))
    with pytest.raises(FaultsError, match="the chain is broken"):
        score.score_edition(made.edition)


@pytest.mark.parametrize(
    ("spoil", "fact"),
    [
        (
            lambda lines: [lines[0].replace(b'"documents":3', b'"documents":4'), *lines[1:]],
            "3 documents; its head says 4",
        ),
        (lambda lines: lines[1:], "is not the head of a manifest"),
        (lambda lines: [*lines, lines[-1]], "two documents are called c"),
        (lambda lines: [lines[0], lines[1].replace(b'"arm":"A"', b'"arm":"Z"'), *lines[2:]], "no arm Z"),
        (
            lambda lines: [lines[0], lines[1].replace(b'"words":300', b'"words":"300"'), *lines[2:]],
            "`words` is not of its type",
        ),
        (
            lambda lines: [lines[0], lines[1].replace(b'"words":300', b'"words":300.0'), *lines[2:]],
            "`words` is not of its type",
        ),
        (lambda lines: [lines[0], lines[1].replace(b'"topic":null,', b""), *lines[2:]], "topic"),
        (
            lambda lines: [lines[0], lines[1].replace(b'{"address"', b'{ "address"'), *lines[2:]],
            "not in canonical form",
        ),
        (lambda lines: [lines[0], b"\xff", *lines[2:]], "not valid JSON"),
        (lambda lines: [lines[0], b"[]", *lines[2:]], "should be an object"),
        (lambda lines: [b"", *lines], "not valid JSON"),
    ],
)
def test_manifests(tmp_path: Path, spoil: Callable[[list[bytes]], list[bytes]], fact: str) -> None:
    made = bench(tmp_path)
    lines = made.edition.manifest.read_bytes().splitlines()
    made.edition.manifest.write_bytes(b"".join(line + b"\n" for line in spoil(lines)))
    with pytest.raises(PenmarkError) as caught:
        score.score_edition(made.edition)
    assert fact in str(caught.value)
    assert str(made.edition.manifest) in str(caught.value)


def test_a_manifest_that_was_cut(tmp_path: Path) -> None:
    made = bench(tmp_path)
    made.edition.manifest.write_bytes(made.edition.manifest.read_bytes()[:-1])
    with pytest.raises(PenmarkError, match="not finished"):
        score.score_edition(made.edition)
    made.edition.manifest.unlink()
    with pytest.raises(PenmarkError, match="there is no such file"):
        score.score_edition(made.edition)


def test_provenance_is_taken_whole_from_a_hostile_document(tmp_path: Path) -> None:
    odd = ARCHIVE | {"source": ',"register":"x","provenance":{', "licence": '"},"register":"y"'}
    rows = [document('a","register":"z', "A", odd, register="casual", topic=',"register":')]
    made = Judged(tmp_path, [arm("A", "human")], rows, [card("x")])
    scored = score.score_edition(made.edition)
    assert scored.documents["provenance"].to_list() == [canonical_json.encode_json(odd).decode()]
    assert scored.documents["register"].to_list() == ["casual"]


# --- what if ---------------------------------------------------------------------------------------------------------


def test_another_boundary(tmp_path: Path) -> None:
    made = bench(
        tmp_path,
        detectors={
            "x": {
                "rule": {"kind": "boundary", "operator": ">", "value": "0.5", "source": "chosen", "date": "2026-08-01"}
            }
        },
    )
    made.answers("x", {"a": "0.3", "b": "0.30000000000000000001", "c": "0.5"})
    promised, asked = score.score_edition(made.edition), score.score_edition(made.edition, {"x": "0.3"})
    assert promised.versions[0].pairs["call"].to_list() == ["not-ai"] * 3
    assert asked.versions[0].pairs["call"].to_list() == ["not-ai", "ai", "ai"]
    rule = asked.versions[0].rule
    assert (str(rule), rule.source) == ("> 0.3", "what if: not the promised rule (> 0.5)")
    assert (asked.boundaries, promised.boundaries) == ({"x": "0.3"}, {})


@pytest.mark.parametrize(
    ("boundaries", "fact"),
    [
        ({"xx": "0.3"}, "there is no detector xx (did you mean x?)"),
        ({"x": "a lot"}, "is not a decimal number"),
        ({"x": "2"}, "outside the scale"),
        ({"v": "0.5"}, "shows verdicts, no number"),
    ],
)
def test_boundaries_that_make_no_sense(tmp_path: Path, boundaries: dict[str, str], fact: str) -> None:
    made = Judged(tmp_path, [arm("A", "human")], [document("a", "A")], [card("x"), card("v", operator=None)])
    with pytest.raises(UsageError) as caught:
        score.score_edition(made.edition, boundaries)
    assert fact in str(caught.value)
    assert AT not in str(caught.value)


def test_a_boundary_for_a_verdict_rule_follows_the_scale(tmp_path: Path) -> None:
    scale = {"meaning": "probability", "direction": "human", "low": "0", "high": "1"}
    made = Judged(tmp_path, [arm("A", "human")], [document("a", "A")], [card("v", operator=None, scale=scale)])
    made.journal("v", *made.scanned("a", score="0.3", label="Human"))
    assert score.score_edition(made.edition).versions[0].pairs["call"].to_list() == ["not-ai"]
    asked = score.score_edition(made.edition, {"v": "0.3"})
    assert str(asked.versions[0].rule) == "<= 0.3"
    assert asked.versions[0].pairs["call"].to_list() == ["ai"]
