"""Numbers that are not what their card says: a confidence in whichever verdict, taken for one in AI."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.frozen_study import detector, frozen
from tests.scripted_detector import CARD
from tests.stages.record.test_record import imported, readings, untouched, written

from penmark import cards
from penmark.errors import FaultsError
from penmark.study import Edition, Study

TOLD = CARD.replace("name: acting", "name: seen").replace("{by: plugin, plugin: acting}", "{by: people}")
POINTERS = "{displayed: /score, score: /score, version: /version, text: /text}"
VERDICTS = "\nverdicts: {Real: human, Fake: ai}"
ROWS = [{"id": f"a{n:02}", "label": "Real", "confidence": 0.9 + n / 1000} for n in range(12)]


def made(tmp_path: Path, answer: str, verdicts: str = VERDICTS) -> tuple[Study, Edition]:
    card = TOLD.replace(POINTERS, answer) + verdicts
    texts: dict[str, str | bytes] = {str(row["id"]): f"text {row['id']}" for row in ROWS}
    return frozen(tmp_path / "study", texts, detector("seen", surface="web"), cards={"seen": card})


def rows(tmp_path: Path, held: list[dict[str, Any]] = ROWS) -> Path:
    return written(tmp_path, json.dumps(held))


def test_a_confidence_in_the_verdict_counts_for_what_the_verdict_says(tmp_path: Path) -> None:
    place, edition = made(tmp_path, "{score: /confidence, label: /label, score_of: label}")
    done = imported(place, edition, rows(tmp_path), "document=id")
    assert (done.misses, done.one_sided) == ((), None)
    kept = readings(edition)
    assert (kept["a00"]["displayed"], kept["a00"]["score"], kept["a01"]["score"]) == ("0.9", "0.1", "0.099")


@pytest.mark.parametrize(
    ("answer", "verdicts", "said"),
    [
        ("{score: /confidence, label: /label}", VERDICTS, "each of the 12 verdicts that mean human stands beside"),
        ("{score: /confidence}", "", "the field 'label' tells the answers apart ('Fake', 'Real')"),
    ],
)
def test_numbers_that_surely_mean_something_else_are_refused(
    tmp_path: Path, answer: str, verdicts: str, said: str
) -> None:
    place, edition = made(tmp_path, answer, verdicts)
    path = rows(tmp_path, [*ROWS[:-1], ROWS[-1] | ({} if verdicts else {"label": "Fake"})])
    with pytest.raises(FaultsError, match=said.replace("(", r"\(").replace(")", r"\)")) as caught:
        imported(place, edition, path, "document=id")
    assert "answer.score_of: label" in str(caught.value.faults[0].remedy)
    assert untouched(edition)
    done = imported(place, edition, path, "document=id", as_displayed=True)
    assert [miss.kind for miss in done.misses] == ([cards.AGAINST] if verdicts else [])
    assert done.one_sided == "calls all 12 texts of people AI"


def test_a_verdict_that_now_and_then_says_the_contrary_is_told_and_not_refused(tmp_path: Path) -> None:
    place, edition = made(tmp_path, "{score: /confidence, label: /label}")
    low = [row | {"confidence": 0.1} for row in ROWS]
    done = imported(place, edition, rows(tmp_path, [*low[:-1], ROWS[-1]]), "document=id")
    assert [(miss.kind, miss.answers, miss.document) for miss in done.misses] == [(cards.AGAINST, 1, "a11")]


def test_a_verdict_that_the_card_does_not_read_is_looked_for_beside_its_number(tmp_path: Path) -> None:
    place, edition = made(tmp_path, "{score: /full/score}", "")
    held = [{"id": row["id"], "full": {"label": "Real", "score": 0.9}} for row in ROWS]
    held[0]["full"] = {"label": "Fake", "score": 0.9}
    with pytest.raises(FaultsError, match="the field 'label' tells the answers apart"):
        imported(place, edition, rows(tmp_path, held), "document=id")
