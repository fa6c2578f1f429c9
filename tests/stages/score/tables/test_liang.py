"""The real study of 2023, seven detectors on ten sets: the counts that its authors published."""

from __future__ import annotations

import csv
import io
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.judged_study import Judged, arm, card, document

from penmark.stages import score
from penmark.stages.score import tables

FLAGGED = """
CS224N_real_145 Crossplag 5 GPTZero 1 HFOpenAI 2 OriginalityAI 11 ZeroGPT 0
CollegeEssay_real_70 Crossplag 0 GPTZero 1 HFOpenAI 0 OriginalityAI 3 Quil 1 Sapling 1 ZeroGPT 2
HewlettStudentEssay_GPTsimplify_88 Crossplag 45 GPTZero 34 HFOpenAI 48 OriginalityAI 87 Quil 52 Sapling 49 ZeroGPT 34
HewlettStudentEssay_real_88 Crossplag 11 GPTZero 0 HFOpenAI 8 OriginalityAI 1 Quil 8 Sapling 4 ZeroGPT 0
TOEFL_gpt4polished_91 Crossplag 3 GPTZero 17 HFOpenAI 4 OriginalityAI 11 Quil 13 Sapling 12 ZeroGPT 15
TOEFL_real_91 Crossplag 47 GPTZero 47 HFOpenAI 53 OriginalityAI 69 Quil 68 Sapling 62 ZeroGPT 44
CS224N_gpt3PromptEng_145 Crossplag 13 GPTZero 1 HFOpenAI 14 OriginalityAI 40 Quil 35 Sapling 26 ZeroGPT 2
CS224N_gpt3_145 Crossplag 53 GPTZero 20 HFOpenAI 60 OriginalityAI 85 Quil 83 Sapling 98 ZeroGPT 45
CollegeEssay_gpt3PromptEng_31 Crossplag 0 GPTZero 4 HFOpenAI 0 OriginalityAI 0 Quil 0 Sapling 0 ZeroGPT 3
CollegeEssay_gpt3_31 Crossplag 18 GPTZero 31 HFOpenAI 18 OriginalityAI 13 Quil 18 Sapling 23 ZeroGPT 31
"""
"""Texts with a score above 0.5, by set and detector: 68 files."""


@pytest.fixture(scope="module")
def judged(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """All answers, recorded."""
    data = shared / "liang2023"
    sets = sorted(path for path in data.glob("*_Data/*") if path.is_dir())
    answers: dict[str, dict[str, Any]] = {}
    documents, arms = [], []
    for folder in sets:
        truth = "human" if "_real_" in folder.name else "ai" if "_gpt3" in folder.name else "mixed"
        arms.append(arm(folder.name, truth))
        texts = json.loads((folder / "data.json").read_bytes())
        documents += [document(f"{folder.name}-{n:03d}", folder.name) for n in range(len(texts))]
        for path in sorted(folder.glob("*.json")):
            if path.stem in ("data", "name"):
                continue
            held = json.loads(path.read_bytes(), parse_float=str, parse_int=str)
            assert len(held) == len(texts)
            named = {f"{folder.name}-{n:03d}": answer["score"] for n, answer in enumerate(held)}
            answers.setdefault(path.stem, {}).update(named)
    cards = [card(name.lower(), operator=">") for name in answers]
    made = Judged(tmp_path_factory.mktemp("liang"), arms, documents, cards)
    for name, given in answers.items():
        made.journal(
            name.lower(),
            *(
                made.reading(
                    each, score=f"{Decimal(score):f}", origin="recorded", got_at=None, sent_at=None, version=None
                )
                for each, score in given.items()
            ),
        )
    return made


@pytest.fixture(scope="module")
def found(judged: Judged) -> dict[str, list[dict[str, str]]]:
    made = tables.make_tables(judged.edition)
    return {path: list(csv.DictReader(io.StringIO(data.decode(), newline=""))) for path, data in made.items()}


def test_every_count(found: dict[str, list[dict[str, str]]]) -> None:
    rates = {(row["arm"], row["detector"]): row for row in found["tables/rates.csv"] if row["slice_by"] == ""}
    assert len(rates) == 70
    expected = {}
    for line in FLAGGED.split("\n")[1:-1]:
        name, *pairs = line.split()
        expected |= {(name, pairs[at].lower()): pairs[at + 1] for at in range(0, len(pairs), 2)}
    assert len(expected) == 68
    assert {key: row["k"] for key, row in rates.items() if key in expected} == expected
    assert all(row["n"] == row["documents"] for key, row in rates.items() if key in expected)
    # A detector that was not run on a set is not run there, and has no rate; it is never 0.
    idle = {key: (row["n"], row["not_run"], row["rate"]) for key, row in rates.items() if key not in expected}
    assert idle == {("CS224N_real_145", name): ("0", "145", "") for name in ("quil", "sapling")}


def test_sums_that_were_published(found: dict[str, list[dict[str, str]]]) -> None:
    rates = [row for row in found["tables/rates.csv"] if row["slice_by"] == ""]
    sums = {
        name: (
            sum(int(row["k"]) for row in rates if row["arm"] == name),
            sum(int(row["n"]) for row in rates if row["arm"] == name),
        )
        for name in {row["arm"] for row in rates}
    }
    assert sums["TOEFL_real_91"] == (390, 637)
    assert sums["HewlettStudentEssay_real_88"] == (32, 616)
    assert sums["CollegeEssay_real_70"] == (8, 490)
    assert sums["TOEFL_gpt4polished_91"] == (75, 637)
    assert sums["CollegeEssay_gpt3_31"] == (152, 217)
    assert sums["CS224N_gpt3_145"] == (444, 1015)


def test_by_all_seven_and_by_at_least_one(found: dict[str, list[dict[str, str]]]) -> None:
    toefl = {
        row["flagged_by"]: int(row["count"]) for row in found["tables/agreement.csv"] if row["arm"] == "TOEFL_real_91"
    }
    assert toefl["7"] == 18
    assert sum(toefl.values()) - toefl["0"] == 89
    assert sum(count for by, count in toefl.items() if int(by) >= 4) == 57


def test_answers_without_a_date_make_it_retrospective(found: dict[str, list[dict[str, str]]]) -> None:
    assert {row["timing"] for row in found["tables/readings.csv"]} == {"retrospective"}


def test_the_flaws_of_the_data_come_up(judged: Judged) -> None:
    notices = score.list_warnings(score.score_edition(judged.edition))
    told = {(n.rule, n.detector, n.arm): n.message for n in notices}
    assert ("not run", "quil", "CS224N_real_145") in told
    assert ("not run", "sapling", "CS224N_real_145") in told
    assert told["alike", "hfopenai", "CollegeEssay_gpt3_31"].startswith("agrees with quil on 27 of 31 scores")
    assert {n.detector for n in notices if n.rule == "tie"} == {"zerogpt"}
    assert {n.arm for n in notices if (n.rule, n.detector) == ("digits", "originalityai")} == {
        "HewlettStudentEssay_real_88",
        "HewlettStudentEssay_GPTsimplify_88",
    }
    assert not [n for n in notices if n.rule in ("direction", "uninformative")]
