"""Kept answers of another form are refused where they are imported, and the right file is still taken afterwards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.frozen_study import detector, frozen

from penmark import cards
from penmark.errors import FaultsError
from penmark.stages.record import Import, columns, record_answers

NAMES = ("A-001", "A-002", "A-003", "C-001")
TEXTS: dict[str, str | bytes] = {name: f"The text {name} of this study." for name in NAMES}


def test_answers_of_an_older_form_are_refused_and_the_right_ones_taken(tmp_path: Path) -> None:
    gptzero = cards.find_card("gptzero", None).read_text(encoding="utf-8")
    place, edition = frozen(tmp_path / "study", TEXTS, detector("gptzero", surface="api"), cards={"gptzero": gptzero})
    older = [
        {"document": name, "date": "2023-05-01", "documents": [{"completely_generated_prob": 0.1}]} for name in NAMES
    ]
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(older))
    wanted = Import("gptzero", columns.parse(["document=document"]), by="AB", retrospective=True, elsewhere=True)
    with pytest.raises(FaultsError, match="of 4 kept answers the card makes nothing"):
        record_answers(place, edition, path, wanted)
    assert not edition.journals.exists()
    score = {"document_classification": "HUMAN_ONLY", "class_probabilities": {"ai": 0.1, "human": 0.8, "mixed": 0.1}}
    path.write_text(json.dumps([{"document": name, "documents": [score]} for name in NAMES]))
    assert record_answers(place, edition, path, wanted).states == {"answered": 4}
