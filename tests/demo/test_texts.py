"""The AI texts that are stored with penmark: what their table says of them is so."""

from __future__ import annotations

import csv
import re
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest

import penmark.demo
from penmark.text import count_words, fold_white_space

FOLDER = Path(penmark.demo.__file__).parent / "texts"
COLUMNS = "id,file,register,topic,style,provider,model,generated_on,prompt,word_target,note"


@pytest.fixture(scope="module")
def rows() -> list[dict[str, str]]:
    with (FOLDER / "metadata.csv").open(encoding="utf-8", newline="") as table:
        reader = csv.DictReader(table, strict=True)
        found = list(reader)
        assert ",".join(reader.fieldnames or []) == COLUMNS
    return found


@pytest.fixture(scope="module")
def texts(rows: list[dict[str, str]]) -> dict[str, str]:
    return {row["id"]: (FOLDER / row["file"]).read_bytes().decode("utf-8") for row in rows}


def shingles(text: str) -> set[tuple[str, ...]]:
    """All runs of five words."""
    found = re.findall(r"[a-z0-9']+", text.lower())
    return {tuple(found[i : i + 5]) for i in range(len(found) - 4)}


def test_ids_and_files_agree(rows: list[dict[str, str]]) -> None:
    assert len(rows) >= 32
    assert [row["id"] for row in rows] == [f"ai-{n:03d}" for n in range(1, len(rows) + 1)]
    assert [row["file"] for row in rows] == [f"{row['id']}.txt" for row in rows]
    assert {path.name for path in FOLDER.iterdir()} == {row["file"] for row in rows} | {"metadata.csv"}


def test_registers_and_styles_are_balanced(rows: list[dict[str, str]]) -> None:
    cells = Counter((row["register"], row["style"]) for row in rows)
    assert {register for register, _ in cells} == {"news", "speech", "synopsis"}
    assert {style for _, style in cells} == {"plain", "styled", "matched"}
    assert len(cells) == 9
    assert max(cells.values()) - min(cells.values()) <= 1


def test_provenance_is_whole(rows: list[dict[str, str]]) -> None:
    for row in rows:
        stated = (row["provider"], row["model"], row["generated_on"], row["note"])
        assert stated == ("Anthropic", "Claude", "2026-11-30", "written for the demonstration"), row["id"]
        assert row["topic"] != ""
        assert row["prompt"].endswith("."), row["id"]
        assert f"about {row['word_target']} words" in row["prompt"], row["id"]
    assert len({row["prompt"] for row in rows}) == len(rows)


def test_texts_have_the_length_that_was_asked_for(rows: list[dict[str, str]], texts: dict[str, str]) -> None:
    for row in rows:
        count = count_words(texts[row["id"]])
        assert 150 <= count <= 420, row["id"]
        assert abs(count / int(row["word_target"]) - 1) <= 0.1, row["id"]


def test_texts_are_plain_prose(texts: dict[str, str]) -> None:
    for name, text in texts.items():
        assert text.endswith("\n"), name
        assert text == text.strip() + "\n", name
        assert all(char == "\n" or char.isprintable() for char in text), name
        assert re.search(r"[ ]\n|\n\n\n|  ", text) is None, name
        assert re.search(r"^\s*(#|[-*+>] |\d+[.)] )|[*_`<>\[\]|]|://", text, re.M) is None, name
        assert all(part.rstrip().endswith((".", "!", "?", '."', '?"', '!"')) for part in text.split("\n\n")), name


def test_texts_differ_from_each_other(texts: dict[str, str]) -> None:
    assert len({fold_white_space(text) for text in texts.values()}) == len(texts)
    parts = {name: shingles(text) for name, text in texts.items()}
    for (first, a), (second, b) in combinations(parts.items(), 2):
        assert len(a & b) <= 0.02 * min(len(a), len(b)), (first, second, sorted(a & b))
