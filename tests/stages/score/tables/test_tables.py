"""Each table says what docs/format.md says it says."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import pytest
from tests.judged_study import (
    ARCHIVE,
    ATTESTED,
    EDITED,
    GENERATED,
    TRANSFORMED,
    Judged,
    arm,
    card,
    document,
    sent,
    skipped,
)

from penmark.format import canonical_json
from penmark.stages.score import tables
from penmark.statistics.wilson import bound_worst_case, compute_wilson, format_six

FORMAT = Path(__file__).parents[4] / "docs" / "format.md"
MADE = ("agreement", "documents", "rates", "rates_lenient", "readings", "table1", "table2", "units", "warnings")


def rows(made: dict[str, bytes], name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(made[f"tables/{name}.csv"].decode(), newline="")))


def pick(found: list[dict[str, str]], *columns: str) -> list[tuple[str, ...]]:
    return [tuple(row[column] for column in columns) for row in found]


@pytest.fixture
def made(tmp_path: Path) -> dict[str, bytes]:
    """Three arms, two detectors, every state."""
    documents = [
        document("h-1", "A", register="web", author="ann"),
        document("h-2", "A", register="academic", author="ann"),
        document("h-3", "A", register="web", author="bob"),
        document("h-4", "A", ARCHIVE | {"grade": "stated"}, author="bob"),
        document("h-5", "A", ARCHIVE | {"evidence_date": "2022-01-01"}),
        document("n-1", "B", ATTESTED, subgroup="native"),
        document("n-2", "B", ATTESTED, subgroup="non-native"),
        document("n-3", "B", ATTESTED, subgroup="other"),
        document("m-1", "C", GENERATED),
        document("m-2", "C", GENERATED | {"model": "N", "style": "styled"}),
        document("e-1", "D", EDITED),
        document("t-1", "D", TRANSFORMED),
    ]
    arms = [arm("A", "human", unit="author"), arm("B", "human"), arm("C", "ai"), arm("D", "mixed")]
    held = [card("y", operator=None), card("x")]
    bench = Judged(tmp_path, arms, documents, held, detectors={"y": {"relation": "own"}})
    bench.journal(
        "x",
        *bench.scanned("h-1", score="0.5"),
        *bench.scanned("h-2", score="0.49"),
        *bench.scanned("h-3", state="declined", reason="language"),
        *bench.scanned("h-4", state="failed", reason="timeout", version=None),
        sent("h-5"),
        skipped("n-1"),
        *bench.scanned("n-2", score="0.1"),
        *bench.scanned("n-3", score="0.2"),
        *bench.scanned("m-1", score="1"),
        *bench.scanned("m-2", score="0"),
        *bench.scanned("e-1", score="0.9"),
    )
    bench.journal(
        "y",
        *bench.scanned("h-1", label="Mixed"),
        *bench.scanned("h-2", label="Unsure"),
        *bench.scanned("n-2", label="AI"),
        *bench.scanned("m-1", label="ai"),
        *bench.scanned("m-2", label="=Likely, \"AI\"\nor not"),
        *bench.scanned("t-1", label="Human"),
    )  # fmt: skip
    return tables.make_tables(bench.edition)


@pytest.mark.parametrize("name", MADE)
def test_columns_are_as_documented(made: dict[str, bytes], name: str) -> None:
    text = FORMAT.read_text(encoding="utf-8")
    match = re.search(rf"^- `{name}\.csv`(?: \(strict\), `rates_lenient\.csv`)?: `([a-z0-9_,]+)`", text, re.MULTILINE)
    if name == "rates_lenient":
        match = re.search(r"^- `rates\.csv` \(strict\), `rates_lenient\.csv`: `([a-z0-9_,]+)`", text, re.MULTILINE)
    assert match is not None
    assert made[f"tables/{name}.csv"].split(b"\n")[0].decode() == match[1]


def test_every_table_is_made_and_ends_with_a_line(made: dict[str, bytes]) -> None:
    assert sorted(made) == [f"tables/{name}.csv" for name in MADE]
    for data in made.values():
        assert data.endswith(b"\n")
        assert b"\r\n" not in data


def test_rates_of_whole_arms(made: dict[str, bytes]) -> None:
    whole = [row for row in rows(made, "rates") if row["slice_by"] == ""]
    counts = ("documents", "n", "k", "uncertain", "no_result", "not_scannable", "not_run")
    assert pick(whole, "detector", "version", "arm", *counts) == [
        ("x", "1", "A", "5", "2", "1", "0", "3", "0", "0"),
        ("x", "1", "B", "3", "2", "0", "0", "0", "1", "0"),
        ("x", "1", "C", "2", "2", "1", "0", "0", "0", "0"),
        ("x", "1", "D", "2", "1", "1", "0", "0", "0", "1"),
        ("y", "1", "A", "5", "2", "0", "1", "0", "0", "3"),
        ("y", "1", "B", "3", "1", "1", "0", "0", "0", "2"),
        ("y", "1", "C", "2", "1", "1", "0", "1", "0", "0"),
        ("y", "1", "D", "2", "1", "0", "0", "0", "0", "1"),
    ]
    for row in rows(made, "rates") + rows(made, "rates_lenient"):
        states = (row["n"], row["no_result"], row["not_scannable"], row["not_run"])
        assert sum(map(int, states)) == int(row["documents"])
    lenient = [row for row in rows(made, "rates_lenient") if row["slice_by"] == ""]
    assert [row["k"] for row in lenient] == ["1", "0", "1", "1", "1", "1", "1", "0"]


def test_rates_have_their_intervals_and_worst_cases(made: dict[str, bytes]) -> None:
    row = rows(made, "rates")[0]
    ends, bounds = compute_wilson(1, 2), bound_worst_case(1, 2, 3)
    assert ends is not None
    assert bounds is not None
    assert pick([row], "rate", "low", "high", "worst_low", "worst_high") == [
        ("0.500000", format_six(ends.low), format_six(ends.high), format_six(bounds.low), format_six(bounds.high))
    ]
    web = next(row for row in rows(made, "rates") if row["detector"] == "y" and row["slice"] == "N")
    assert pick([web], "slice_by", "n", "rate", "low", "high") == [("model", "0", "", "", "")]
    assert web["worst_low"] == "0.000000"  # one answer is missing: it may have been either
    assert web["worst_high"] == "1.000000"


def test_slices_stand_in_their_order(made: dict[str, bytes]) -> None:
    mine = [row for row in rows(made, "rates") if row["detector"] == "x"]
    assert pick(mine, "arm", "slice_by", "slice") == [
        ("A", "", ""),
        ("A", "register", "academic"),
        ("A", "register", "web"),
        ("B", "", ""),
        ("B", "subgroup", "native"),
        ("B", "subgroup", "non-native"),
        ("B", "subgroup", "other"),
        ("C", "", ""),
        ("C", "model", "M"),
        ("C", "model", "N"),
        ("C", "style", "plain"),
        ("C", "style", "styled"),
        ("C", "provider", "P"),
        ("D", "", ""),
        ("D", "model", "M"),
        ("D", "style", "plain"),
        ("D", "provider", "P"),
    ]


def test_table1(made: dict[str, bytes]) -> None:
    one, two = rows(made, "table1")
    assert pick([one], "boundary", "boundary_source", "boundary_date", "version_state", "relation") == [
        (">= 0.5", "help", "2026-09-01", "as_asked", "none")
    ]
    assert pick([one], "human_documents", "human_n", "false_positives", "fp_rate", "human_mix") == [
        ("8", "4", "1", "0.250000", "2 A + 2 B")
    ]
    assert pick([one], "ai_documents", "ai_n", "detections", "detection_rate", "ai_mix") == [
        ("2", "2", "1", "0.500000", "2 C")
    ]
    states = ("uncertain", "declined", "failed", "in_doubt", "not_scannable", "not_run")
    assert pick([one, two], *states) == [("0", "1", "1", "1", "1", "0"), ("1", "1", "0", "0", "0", "5")]
    assert (two["boundary"], two["relation"]) == ("verdict", "own")
    assert (one["status"], two["status"]) == ("INCOMPLETE 11 of 12", "INCOMPLETE 6 of 12")
    assert {row["timing"] for row in (one, two)} == {"prospective"}


def test_table2_has_the_groups_that_are_there(made: dict[str, bytes]) -> None:
    mine = [row for row in rows(made, "table2") if row["detector"] == "x"]
    assert pick(mine, "group", "measure", "documents", "n", "k") == [
        ("native volunteers", "false positives", "1", "0", "0"),
        ("non-native volunteers", "false positives", "1", "1", "0"),
        ("volunteers, group not stated", "false positives", "1", "1", "0"),
        ("pre-2022 archive", "false positives", "3", "2", "1"),
        ("archive, date stated only", "false positives", "1", "0", "0"),
        ("archive, not shown to predate 2022", "false positives", "1", "0", "0"),
        ("unedited AI", "detections", "2", "2", "1"),
        ("lightly edited AI", "flagged", "1", "1", "1"),
        ("other mixed text", "flagged", "1", "0", "0"),
    ]


def test_agreement(made: dict[str, bytes]) -> None:
    assert pick(rows(made, "agreement"), "arm", "detectors", "documents", "answered_by_all", "flagged_by", "count") == [
        ("A", "2", "5", "2", "0", "1"),
        ("A", "2", "5", "2", "1", "1"),
        ("A", "2", "5", "2", "2", "0"),
        ("B", "2", "3", "1", "0", "0"),
        ("B", "2", "3", "1", "1", "1"),
        ("B", "2", "3", "1", "2", "0"),
        ("C", "2", "2", "1", "0", "0"),
        ("C", "2", "2", "1", "1", "0"),
        ("C", "2", "2", "1", "2", "1"),
        ("D", "2", "2", "0", "0", "0"),
        ("D", "2", "2", "0", "1", "0"),
        ("D", "2", "2", "0", "2", "0"),
    ]


def test_readings_hold_every_pair(made: dict[str, bytes]) -> None:
    found = rows(made, "readings")
    assert len(found) == 24
    assert pick(found[:6], "document", "state", "score", "call", "reason", "attempts") == [
        ("h-1", "answered", "0.5", "ai", "", "1"),
        ("h-2", "answered", "0.49", "not-ai", "", "1"),
        ("h-3", "declined", "", "", "language", "1"),
        ("h-4", "failed", "", "", "timeout", "1"),
        ("h-5", "in_doubt", "", "", "sent at 2026-10-10T12:00:00Z, no answer on record", "1"),
        ("n-1", "not_scannable", "", "", "too short", "0"),
    ]
    odd = next(row for row in found if row["detector"] == "y" and row["document"] == "m-2")
    assert odd["displayed"] == '\'=Likely, "AI"\nor not'  # guarded, else the exact characters
    assert odd["reason"] == 'verdict not in the card: =Likely, "AI"\nor not'
    assert (odd["boundary"], odd["operator"], found[0]["boundary"], found[0]["operator"]) == (
        "verdict",
        "",
        "0.5",
        ">=",
    )
    assert pick(found, "call_lenient")[12:14] == [("ai",), ("not-ai",)]


def test_documents_hold_every_public_field(made: dict[str, bytes]) -> None:
    found = {row["id"]: row for row in rows(made, "documents")}
    assert found["h-4"]["grade"] == "stated"
    assert found["h-5"]["evidence_date"] == "2022-01-01"
    assert pick([found["e-1"]], "truth", "kind", "provider", "model", "style") == [
        ("mixed", "edited", "P", "M", "plain")
    ]
    assert canonical_json.decode_json(found["t-1"]["provenance"].encode(), place="x")["attack"] == "synonyms"


def test_units(made: dict[str, bytes]) -> None:
    one, two = rows(made, "units")
    assert pick(
        [one], "detector", "arm", "unit", "documents", "n", "k", "units", "deff", "n_effective", "low", "reason"
    ) == [("x", "A", "author", "5", "2", "1", "1", "1.000000", "2.000000", "", "fewer than 15 units")]
    assert pick([two], "n", "k", "deff", "n_effective") == [("2", "0", "2.000000", "1.000000")]


def test_an_empty_arm_and_a_study_without_one_truth(tmp_path: Path) -> None:
    bench = Judged(tmp_path, [arm("A", "human"), arm("B", "human")], [document("a", "A")], [card("x")])
    found = tables.make_tables(bench.edition)
    assert pick(rows(found, "rates"), "arm", "documents", "n", "rate", "worst_low") == [
        ("A", "1", "0", "", ""),
        ("B", "0", "0", "", ""),
    ]
    (row,) = rows(found, "table1")
    assert pick([row], "human_mix", "ai_mix", "ai_documents", "ai_n", "detection_rate", "status") == [
        ("0 A + 0 B", "", "0", "0", "", "INCOMPLETE 0 of 1")
    ]
    assert rows(found, "agreement") == []
    assert rows(found, "units") == []


def test_every_count_of_a_level_uses_that_level(tmp_path: Path) -> None:
    highs: list[Any] = []
    for level in ("0.90", "0.95", "0.99"):
        bench = Judged(tmp_path / level, [arm("A", "human")], [document("a", "A")], [card("x")], level=level)
        bench.answers("x", {"a": "0"})
        highs.append(rows(tables.make_tables(bench.edition), "rates")[0]["high"])
    assert highs == [
        format_six(ends.high) for level in ("0.90", "0.95", "0.99") if (ends := compute_wilson(0, 1, level))
    ]
    assert highs == sorted(highs)


def test_what_if_changes_calls_and_says_so(tmp_path: Path) -> None:
    bench = Judged(tmp_path, [arm("A", "human")], [document("a", "A")], [card("x")])
    bench.answers("x", {"a": "0.4"})
    (row,) = rows(tables.make_tables(bench.edition, boundaries={"x": "0.3"}), "table1")
    assert pick([row], "boundary", "boundary_source", "false_positives") == [
        (">= 0.3", "what if: not the promised rule (>= 0.5)", "1")
    ]
