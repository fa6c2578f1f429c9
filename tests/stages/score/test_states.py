"""Every pair has exactly one state, and a reason where it is not answered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.judged_study import AT, Judged, arm, card, document, retry, sent, skipped

from penmark import journal
from penmark.stages import score
from penmark.stages.score import Version


def bench(root: Path, *held: Any, documents: int = 8, **further: Any) -> Judged:
    """One human arm of d-0 …, and these cards (one called ``x`` where none is given)."""
    rows = [document(f"d-{number}", "A") for number in range(documents)]
    return Judged(root, [arm("A", "human")], rows, list(held) or [card("x")], **further)


def row(version: Version, position: int, *names: str) -> tuple[Any, ...]:
    return version.pairs.select(names).row(position)


def test_the_six_states(tmp_path: Path) -> None:
    made = bench(tmp_path)
    made.journal(
        "x",
        *made.scanned("d-0", score="0"),
        *made.scanned("d-1", state="declined", reason="language", score=None),
        *(sent("d-2"), retry("d-2"), sent("d-2", 2)),
        made.reading("d-2", attempt=2, state="failed", reason="timeout", version=None),
        sent("d-3", at="2026-10-10T12:00:05Z"),
        skipped("d-4"),
        *(sent("d-5"), retry("d-5")),
        *made.scanned("d-7", score="7"),
    )
    scored = score.score_edition(made.edition)
    (version,) = scored.versions
    assert version.pairs.select("state", "call", "reason", "attempts").rows() == [
        ("answered", "not-ai", None, 1),
        ("declined", None, "language", 1),
        ("failed", None, "timeout", 2),
        ("in_doubt", None, "sent at 2026-10-10T12:00:05Z, no answer on record", 1),
        ("not_scannable", None, "too short", 0),
        ("not_run", None, "not asked", 1),  # every attempt failed, and nobody said that it ends there
        ("not_run", None, "not asked", 0),
        ("declined", None, "score outside the declared scale: 7", 1),
    ]
    assert (version.version, version.state, version.first) == ("1", "as_asked", True)
    assert scored.documents["id"].to_list() == [f"d-{number}" for number in range(8)]


def test_a_detector_without_a_journal_is_not_run(tmp_path: Path) -> None:
    made = bench(tmp_path, card("b"), card("a"))
    made.answers("b", {"d-1": "0.5"})
    idle, asked = score.score_edition(made.edition).versions
    assert (idle.detector.name, asked.detector.name) == ("a", "b")  # by name, not as the protocol has them
    assert (idle.version, idle.state, idle.first_scanned_at) == (None, "not_reported", None)
    assert idle.pairs["state"].to_list() == ["not_run"] * 8
    assert asked.pairs["call"].to_list() == [None, "ai", None, None, None, None, None, None]


def test_versions_are_told_apart_and_never_pooled(tmp_path: Path) -> None:
    made = bench(tmp_path)
    made.journal(
        "x",
        *made.scanned("d-0", state="failed", reason="timeout", version=None),
        *made.scanned("d-1", score="0.9", version="2", version_asked=None),
        *made.scanned("d-2", score="0.9", version=None),
        *made.scanned("d-3", state="declined", reason="language", version="3"),
        sent("d-4"),
        skipped("d-5"),
        *made.scanned("d-6", score="0.1", version="3"),
        *made.scanned("d-7", state="declined", reason="language", version="4"),
    )
    one, two, three = score.score_edition(made.edition).versions
    assert [(v.version, v.state, v.first) for v in (one, two, three)] == [
        ("2", "floating", True),
        (None, "not_reported", False),
        ("3", "changed", False),
    ]
    assert one.pairs.select("state", "reason").rows() == [
        ("failed", "timeout"),
        ("answered", None),
        ("not_run", "answered under version "),
        ("not_run", "answered under version 3"),
        ("in_doubt", f"sent at {AT}, no answer on record"),
        ("not_scannable", "too short"),
        ("not_run", "answered under version 3"),
        ("declined", "language"),  # by a version that never answered
    ]
    assert two.pairs["state"].to_list() == ["not_run", "not_run", "answered", *["not_run"] * 5]
    assert row(two, 1, "reason") == ("answered under version 2",)
    assert row(two, 4, "reason") == ("not asked",)
    assert row(three, 7, "reason") == ("answered under version 2",)
    assert three.pairs["state"].to_list()[3:] == ["declined", "not_run", "not_run", "answered", "not_run"]
    assert three.pairs["attempts"].to_list() == [0, 0, 0, 1, 0, 0, 1, 0]
    assert one.pairs["attempts"].to_list() == [1, 1, 0, 0, 1, 0, 0, 1]


def test_the_version_asked_for_is_that_of_the_first_answer(tmp_path: Path) -> None:
    made = bench(tmp_path)
    made.journal(
        "x",
        *made.scanned("d-0", state="failed", reason="timeout", version=None, version_asked="9"),
        *made.scanned("d-1", score="0.9", version="2", version_asked="2"),
        *made.scanned("d-2", score="0.9", version="2", version_asked=None),
    )
    (version,) = score.score_edition(made.edition).versions
    assert version.state == "as_asked"


def test_answers_recorded_under_two_versions(tmp_path: Path) -> None:
    made = bench(tmp_path)
    made.journal(
        "x",
        sent("d-0"),
        made.reading("d-0", score="0.9", version="old", origin="recorded", got_at=None, sent_at=None),
        made.reading("d-0", score="0.1", version="new", origin="recorded", got_at=None, sent_at=None),
    )
    old, new = score.score_edition(made.edition).versions
    assert row(old, 0, "call", "attempts", "origin") == ("ai", 0, "recorded")
    assert row(new, 0, "call", "attempts", "origin") == ("not-ai", 0, "recorded")


def test_shards_are_one_detector_in_the_order_of_their_names(tmp_path: Path) -> None:
    made = bench(tmp_path)
    made.journal("x", *made.scanned("d-1", score="0.9", version="late"), shard="2/10")
    made.journal("x", *made.scanned("d-0", score="0.9", version="early"), shard="10/10")
    scored = score.score_edition(made.edition)
    assert [version.version for version in scored.versions] == ["early", "late"]
    assert sorted(scored.heads) == ["x.10of10.jsonl", "x.2of10.jsonl"]
    assert scored.heads["x.2of10.jsonl"].lines == 3


def test_ids_stay_strings_and_zero_is_an_answer(tmp_path: Path) -> None:
    rows = [document(name, "A") for name in ("", "007", "7", "NA", "null", "nan", "é")[1:]]
    made = Judged(tmp_path, [arm("A", "human")], rows, [card("x", operator=">", value="0")])
    made.answers("x", {"NA": "0", "007": "0.0", "7": "1", "null": "0.000", "nan": "NaN", "é": "-0"})
    scored = score.score_edition(made.edition)
    (version,) = scored.versions
    assert scored.documents["id"].to_list() == ["007", "7", "NA", "null", "nan", "é"]
    assert version.pairs["call"].to_list() == ["not-ai", "ai", "not-ai", "not-ai", None, "not-ai"]
    assert row(version, 4, "state", "reason") == ("declined", "score is not a decimal number: NaN")


@pytest.mark.parametrize(
    ("got", "timing"),
    [
        (AT, "prospective"),
        ("2026-10-01T00:00:00Z", "prospective"),
        ("2026-10-01T00:00:00.000000Z", "prospective"),
        ("2026-10-01T00:00:00.5Z", "prospective"),
        ("2026-09-30T23:59:59.999999Z", "retrospective"),
        ("2026-09-30T23:59:59Z", "retrospective"),
        (None, "retrospective"),
    ],
)
def test_an_answer_older_than_the_promise_makes_the_edition_retrospective(
    tmp_path: Path, got: str | None, timing: str
) -> None:
    made = bench(tmp_path)
    made.journal("x", made.reading("d-0", score="0.5", got_at=got, origin="recorded"), *made.scanned("d-1", score="1"))
    assert score.score_edition(made.edition).timing == timing


def test_only_answers_make_it_retrospective(tmp_path: Path) -> None:
    made = bench(tmp_path)
    made.journal("x", made.reading("d-0", state="declined", reason="no", got_at=None, origin="recorded"))
    assert score.score_edition(made.edition).timing == "prospective"


def test_first_and_last_scan_compare_times_not_texts(tmp_path: Path) -> None:
    made = bench(tmp_path)
    times = ["2026-10-10T12:00:00.5Z", "2026-10-10T12:00:00Z", "2026-10-10T12:00:00.50Z", "2026-10-10T12:00:00.05Z"]
    made.journal(
        "x", *(line for at, time in enumerate(times) for line in made.scanned(f"d-{at}", score="1", got_at=time))
    )
    (version,) = score.score_edition(made.edition).versions
    assert version.first_scanned_at == "2026-10-10T12:00:00Z"
    assert version.last_scanned_at == "2026-10-10T12:00:00.50Z"  # as late as the first, of a later document


def test_all_pairs_in_one_frame(tmp_path: Path) -> None:
    made = bench(tmp_path, card("x"), card("y", operator=None))
    made.answers("x", {"d-0": "0.5"})
    pairs = score.score_edition(made.edition).pairs()
    assert pairs.height == 16
    assert pairs.select("detector", "version", "document", "arm", "state").row(0) == ("x", "1", "d-0", "A", "answered")
    assert pairs.select("detector", "version", "document", "state").row(8) == ("y", None, "d-0", "not_run")


def test_journals_that_were_read_already(tmp_path: Path) -> None:
    made = bench(tmp_path, card("x"), card("y"))
    made.answers("x", {"d-0": "0.5"})
    made.answers("y", {"d-1": "0.5"})
    read = list(journal.read_journals(made.edition.journal_files(), made.first_prev))
    given, own = score.score_edition(made.edition, journals=reversed(read)), score.score_edition(made.edition)
    assert given.heads == own.heads
    assert given.pairs().equals(own.pairs())


def test_a_detector_that_only_declined_has_one_nameless_version(tmp_path: Path) -> None:
    made = bench(tmp_path)
    made.journal(
        "x", *(line for n in (0, 1) for line in made.scanned(f"d-{n}", state="declined", reason="no", version=f"{n}"))
    )
    (version,) = score.score_edition(made.edition).versions
    assert (version.version, version.state) == (None, "not_reported")
    assert version.pairs["state"].to_list()[:3] == ["declined", "declined", "not_run"]


def test_a_remark_of_an_answer_is_told_and_changes_nothing(tmp_path: Path) -> None:
    made = bench(tmp_path)
    made.journal(
        "x",
        *made.scanned("d-0", score="0.9", reason="the answer quotes the text 2 times"),
        *made.scanned("d-1", score="9", reason="the answer quotes the text 2 times"),
    )
    (version,) = score.score_edition(made.edition).versions
    assert version.pairs.select("state", "call", "reason").rows()[:2] == [
        ("answered", "ai", "the answer quotes the text 2 times"),
        ("declined", None, "score outside the declared scale: 9"),
    ]
