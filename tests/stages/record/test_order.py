"""Answers that name no text: by position only in the order that a file names, and against nothing that they tell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.stages.record.test_record import SEEN, found, imported, made, readings, untouched, written

from penmark.errors import FaultsError
from penmark.format import canonical_json

TEXTS: dict[str, str | bytes] = {
    str(
        n
    ): f"{n} is the number of this text of a person who went up a hill and down again, hill number {n}, by valley {7 * n}."
    + " x" * n
    for n in range(1, 13)
}
SCORES = [{"score": n / 100} for n in range(1, 13)]
PLAIN = SEEN.replace(", text: /text", "")


def by_position(tmp_path: Path, answers: list[dict[str, Any]], order: Path) -> dict[str, dict[str, Any]]:
    place, edition = made(tmp_path, card=PLAIN, texts=TEXTS)
    imported(place, edition, written(tmp_path, json.dumps(answers)), "document=position", arm="A", order=order)
    reason = found(edition).stops[-1]["reason"]
    assert reason.endswith(f", in the order of {order.name}, SHA-256 {canonical_json.sha256(order.read_bytes())}")
    return readings(edition)


@pytest.mark.parametrize("form", ["txt", "csv", "json", "texts"])
def test_twelve_answers_go_to_the_twelve_texts_in_the_order_of_the_file(tmp_path: Path, form: str) -> None:
    if form == "txt":
        order = written(tmp_path, "\n".join(TEXTS), "order.txt")
    elif form == "csv":
        lines = [f'{name},"{text!s}"' for name, text in TEXTS.items()]
        order = written(tmp_path, "\n".join(["id,text", *lines]), "order.csv")
    else:
        of = [{"id": int(name)} if form == "json" else {"document": text} for name, text in TEXTS.items()]
        order = written(tmp_path, json.dumps(of), "order.json")
    kept = by_position(tmp_path, SCORES, order)
    assert {name: kept[name]["score"] for name in ("1", "2", "10", "12")} == {
        "1": "0.01",
        "2": "0.02",
        "10": "0.1",
        "12": "0.12",
    }


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (lambda name: {"text": TEXTS[name]}, "quotes the text of"),
        (lambda name: {"meta": {"echo": str(TEXTS[name])[:90]}}, "quotes"),
        (lambda name: {"id": int(name)}, "its id is"),
        (lambda name: {"length": len(TEXTS[name])}, "says length"),
        (lambda name: {"words": str(len(TEXTS[name].split()))}, "says words"),
    ],
)
def test_what_an_answer_tells_of_its_text_is_held_against_the_order(tmp_path: Path, told: Any, said: str) -> None:
    answers = [score | told(name) for score, name in zip(SCORES, TEXTS, strict=True)]
    place, edition = made(tmp_path, card=PLAIN, texts=TEXTS)
    path = written(tmp_path, json.dumps(answers))
    wrong = written(tmp_path, "\n".join(sorted(TEXTS)), "order.txt")
    with pytest.raises(FaultsError, match=said):
        imported(place, edition, path, "document=position", arm="A", order=wrong)
    assert untouched(edition)
    right = written(tmp_path, "\n".join(TEXTS), "right.txt")
    imported(place, edition, path, "document=position", arm="A", order=right)
    assert readings(edition)["10"]["score"] == "0.1"


def test_an_order_that_names_other_documents_or_one_twice_is_refused(tmp_path: Path) -> None:
    place, edition = made(tmp_path, card=PLAIN, texts=TEXTS)
    path = written(tmp_path, json.dumps(SCORES))
    order = written(tmp_path, "\n".join(["1", "1", "nine"]), "order.txt")
    with pytest.raises(FaultsError, match=r"names 1 again.*\n.*names no document"):
        imported(place, edition, path, "document=position", arm="A", order=order)
    assert untouched(edition)
