"""What stands beside a rate where texts have no answer: in tables, README, page and plots, and in both verifiers."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from tests.judged_study import GENERATED, Judged, arm, card, document

from penmark.format import show_figures
from penmark.stages.score import tables
from penmark.stages.score.tables.tally import Counts, unanswered, uneven


def _rows(made: dict[str, bytes], name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(made[f"tables/{name}.csv"].decode(), newline="")))


def _made(root: Path, answers: dict[str, tuple[int, int]], **further: Any) -> dict[str, bytes]:
    """Tables of arms A, B (human) and C (AI): of so many texts so many have an answer, "AI" in C."""
    documents, given = [], dict[str, str]()
    for name, (texts, done) in answers.items():
        made: dict[str, Any] = {"provenance": GENERATED} if name == "C" else {}
        ids = [f"{name}-{number:03}" for number in range(texts)]
        documents += [document(each, name, **made) for each in ids]
        given |= dict.fromkeys(ids[:done], "0.9" if name == "C" else "0.1")
    arms = [arm(name, "ai" if name == "C" else "human") for name in answers]
    bench = Judged(root, arms, documents, [card("x")], **further)
    bench.answers("x", given)
    return tables.make_tables(bench.edition)


def test_no_answer_for_579_of_600_stands_beside_the_rate(tmp_path: Path) -> None:
    made = _made(tmp_path, {"A": (600, 600), "C": (600, 21)})
    [row] = _rows(made, "table1")
    assert (row["detections"], row["ai_n"], row["detection_rate"]) == ("21", "21", "1.000000")
    assert row["detection_unanswered"] == "no answer to 579 of 600"
    assert row["fp_unanswered"] == ""
    assert [r["unanswered"] for r in _rows(made, "table2")] == ["", "no answer to 579 of 600"]
    whole = {r["arm"]: r["unanswered"] for r in _rows(made, "rates") if r["slice_by"] == ""}
    assert whole == {"A": "", "C": "no answer to 579 of 600"}
    readme = show_figures.render_markdown_table1(made["tables/table1.csv"])
    assert "| 21 of 21 | 100.00\u00a0% (84.54–100.00); no answer to 579 of 600 |" in readme


@pytest.mark.parametrize(
    ("answers", "human", "ai"),
    [
        ({"A": (100, 95), "C": (100, 95)}, "", ""),  # one in twenty, alike in both
        ({"A": (100, 94), "C": (100, 95)}, "no answer to 6 of 100", ""),
        ({"A": (300, 300), "C": (300, 289)}, "", "no answer to 11 of 300"),  # less than one in twenty, but uneven
        ({"A": (300, 299), "C": (300, 285)}, "no answer to 1 of 300", "no answer to 15 of 300"),
        ({"A": (20, 20), "B": (20, 10), "C": (20, 20)}, "no answer to 10 of 40: 0 A + 10 B", ""),
    ],
)
def test_above_one_in_twenty_or_uneven(
    tmp_path: Path, answers: dict[str, tuple[int, int]], human: str, ai: str
) -> None:
    [row] = _rows(_made(tmp_path, answers), "table1")
    assert (row["fp_unanswered"], row["detection_unanswered"]) == (human, ai)


def test_format_1_has_not_these_columns(tmp_path: Path) -> None:
    made = _made(tmp_path, {"A": (20, 10), "C": (20, 20)}, format=1)
    for name in ("table1", "table2", "rates", "rates_lenient"):
        assert b"unanswered" not in made[f"tables/{name}.csv"].split(b"\n")[0]


def test_an_arm_without_texts_makes_nothing_uneven() -> None:
    assert not uneven([Counts(), Counts(documents=10, n=10)], "0.95")
    assert not uneven([Counts()], "0.95")
    assert unanswered({"A": Counts()}, apart=True) == ""
