"""The values of the table of expected statistics that penmark has a closed form for, read from that table where it is here.

Wilson and what looks like it: ``tests/statistics/test_wilson``; clusters: ``tests/stages/score/test_clustered_units``;
the rest here.
"""

from __future__ import annotations

import csv
import re
from decimal import Decimal
from pathlib import Path

from tests.cases.case_study import Trial, arm, boundary, now, seen
from tests.cases.test_cases_elsewhere import ROWS
from tests.cases.test_corpus import EDIT_SHARES
from tests.expected_findings import TABLE, rows

from penmark import text
from penmark.format import canonical_json
from penmark.statistics.wilson import Interval, compute_rate, compute_wilson, format_six


def bounds(k: int, n: int) -> Interval:
    """The interval of k of n > 0."""
    found = compute_wilson(k, n)
    assert found is not None
    return found


def percent(value: Decimal) -> str:
    return f"{100 * value:.2f}"


def test_every_row_of_the_table_is_covered_or_left_out_with_a_reason() -> None:
    names = {row["name"] for name in ROWS for row in rows(name)}
    assert names == set(ROWS)
    with TABLE.open(encoding="utf-8", newline="") as file:
        assert {row["name"] for row in csv.DictReader(file)} == set(ROWS)


# --- counts that Wilson's formula answers ----------------------------------------------------------------------------


def test_no_flag_at_all_bounds_the_rate_from_above() -> None:
    for row in rows("zero_events_upper"):
        [n] = map(int, re.findall(r"n=(\d+)", row["inputs"]))
        assert f"wilson_hi={format_six(bounds(0, n).high)}" in row["expected"]
        assert bounds(0, n).low == 0


def test_how_many_texts_without_a_flag_a_bound_takes() -> None:
    for row in rows("sample_size_zero_events"):
        [bound] = re.findall(r"<=([\d.]+)", row["inputs"])
        [n] = map(int, re.findall(r"wilson_n=(\d+)", row["expected"]))
        assert bounds(0, n).high <= Decimal(bound) < bounds(0, n - 1).high


def test_what_a_claimed_accuracy_would_imply() -> None:
    [row] = rows("readme_rate_consistency")
    for k, n, low, high in re.findall(r"\((\d+)/(\d+)\) (?:Wilson )?([\d.]+)\.\.([\d.]+)", row["expected"]):
        found = bounds(int(k), int(n))
        assert (percent(found.low), percent(found.high)) == (low, high)


def test_flags_of_seven_detectors_are_not_that_many_essays() -> None:
    [row] = rows("mean_of_detectors")
    pairs, essays = bounds(390, 637), bounds(56, 91)
    assert f"390/637={format_six(compute_rate(390, 637))}" in row["expected"]
    assert f"{format_six(pairs.low)}..{format_six(pairs.high)}" in row["expected"]
    assert f"{format_six(essays.low)}..{format_six(essays.high)}" in row["expected"]
    assert pairs.high - pairs.low < essays.high - essays.low


def test_a_rate_that_no_whole_number_of_texts_gives() -> None:
    """2.5 % of 30 is none: a rate comes with its k and n, which is how one sees that."""
    [row] = rows("impossible_rate")
    shown = {percent(share) for k in range(31) if (share := compute_rate(k, 30)) is not None}
    assert "2.50" not in shown
    assert f"1/30={percent(Decimal(1) / 30)}%" in row["expected"]


def test_three_ways_to_count_mixed_verdicts() -> None:
    [row] = rows("three_way_verdict")
    for k, low, high in ((16, "0.068590", "0.170606"), (4, "0.010705", "0.068322")):
        assert (format_six(bounds(k, 146).low), format_six(bounds(k, 146).high)) == (low, high)
        assert f"{low}..{high}" in row["expected"]


def test_groups_and_their_pool() -> None:
    [row] = rows("no_pooling")
    shares = [compute_rate(*each) for each in ((1, 40), (8, 35), (9, 75))]
    assert [percent(share) for share in shares if share is not None] == re.findall(
        r"(2\.50|22\.86|12\.00)%", row["expected"]
    )


# --- what is displayed, against a boundary -----------------------------------------------------------------------------


def test_what_is_displayed_is_what_is_compared(tmp_path: Path) -> None:
    share = {"meaning": "share of text", "direction": "ai", "low": "0", "high": "100", "unit": "percent"}
    scales = {
        "at": (None, ">=", "0.5"),
        "past": (None, ">", "0.5"),
        "half": (share, ">=", "50"),
        "fifth": (share, ">=", "20"),
    }
    held = [
        seen(name, boundary=boundary(operator, value), **({} if scale is None else {"scale": scale}))
        for name, (scale, operator, value) in scales.items()
    ]
    expected = {
        ("at", "0.5", ">=0.5"): "ai",
        ("past", "0.5", ">0.5"): "not-ai",
        ("half", "50%", ">=50%"): "ai",
        ("fifth", "<1%", ""): "",
        ("fifth", "20%", "boundary 20%"): "ai",
    }
    told = {
        (row["inputs"].split(";rule=")[0].removeprefix("displayed="), row["inputs"].split(";rule=")[1])
        for row in rows("boundary")
    }
    assert told == {(shown.replace("20%", "19.6% shown as 20%"), rule) for _, shown, rule in expected}
    trial = Trial(tmp_path / "study", [arm("A", "human", 2)], cards=held)
    trial.frozen(A={"one": "A text.", "two": "Another text."})
    for name in scales:
        mine = [(shown, call) for (detector, shown, _), call in expected.items() if detector == name]
        typed = [
            {"document": document, "displayed": shown, "date": now()}
            for document, (shown, _) in zip(("one", "two"), mine, strict=False)
        ]
        said = trial.record(name, typed, ending="csv")
        assert said.code == 0, said
    trial.done("report", "--close")
    found = {(row["detector"], row["displayed"]): row["call"] for row in trial.table("readings") if row["displayed"]}
    assert found == {(detector, shown): call for (detector, shown, _), call in expected.items()}


# --- words and bytes -------------------------------------------------------------------------------------------------


def test_the_budget_of_an_edit_is_exact() -> None:
    """The same shares are taken through `collect` and `screen` in ``test_corpus``."""
    for row in rows("edit_share"):
        changed, words = map(int, re.findall(r"(?:changed|draft)_words=(\d+)", row["inputs"]))
        passes = "pass" in row["expected"]
        assert (10 * changed <= words) is passes
        assert (changed, words, passes) in [*EDIT_SHARES, (0, 300, True)]
    assert "warn" in rows("edit_share_zero")[0]["expected"]


def test_one_word_in_four_hundred_is_one_word() -> None:
    [row] = rows("difflib_autojunk")
    import random

    drawn = random.Random(7)
    before = [drawn.choice(["a", "b", "c", "d", "e", "f", "g", "h"]) for _ in range(400)]
    after = [*before[:200], "replaced", *before[201:]]
    assert text.count_changed_words(before, after) == 1
    assert "1/400=0.002500" in row["expected"]


def test_words_are_parted_by_white_space_and_dashes() -> None:
    assert {row["inputs"].split(" (")[0] for row in rows("word_count")} == {r"'a\u00a0b c'", r"'a\u200bb c'"}
    assert (text.count_words("a\u00a0b c"), text.count_words("a\u200bb c")) == (3, 2)


def test_digests_are_of_the_bytes_as_they_are() -> None:
    found = {row["inputs"]: row["expected"] for row in rows("fingerprint_bytes")}
    assert found == {
        r'"line one\r\nline two\r\n"': canonical_json.sha256(b"line one\r\nline two\r\n"),
        r'UTF-8 BOM + "line one\nline two\n"': canonical_json.sha256(b"\xef\xbb\xbfline one\nline two\n"),
    }
