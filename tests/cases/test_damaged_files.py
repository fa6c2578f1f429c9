"""A file that is missing, empty, cut short, not UTF-8, or absurdly large, at each step: what is said, and what stays.

Each is broken in a copy of one small study, and met by the command that reads it.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.cases import case_stages
from tests.cases.case_study import ARCHIVE, Said, Trial

OF_ARCHIVE = [f"--option={name}={value}" for name, value in ARCHIVE.items()]
TABLE = ["collect", "A", "--from", "table", "--path"]
FOLDER = ["collect", "A", "--from", "folder", "--path", "material/texts", *OF_ARCHIVE]
SEEN = ["--detector", "seen"]
PUBLISH = ["publish", "--out", "material/out", "--no-tar"]
WHOLE, LINE = 3 * 2**30, 65 * 2**20
"""Too large for a file that is read whole, and for a line (bytes); the files are sparse."""
EDITION = "study/editions/TAG"
PLACES: dict[object, str] = {
    "A-2.txt": "metadata.csv:3",
    "says.yaml": "cards",
    ("corpus.json", "was not made after promise.json"): "heads-0001.json",
    ("says-0001.jsonl", "the raw answer of says"): "evidence",
}
"""Where a fault is told, where that is not the file itself: in the row that names it, in the folder where it should be."""


class Case(NamedTuple):
    """``step``: of ``case_stages``. ``file``: the broken one. ``facts``: what is said, by damage. ``size``: what is too large."""

    step: str
    file: str
    argv: list[str]
    facts: dict[str, str]
    size: int = WHOLE


NO_FILE, NOT_UTF_8, TOO_LARGE, TOO_LONG = (
    "there is no such file",
    "is not UTF-8",
    "the limit is",
    "the line is too long",
)
AT_HAND = {"missing": NO_FILE, "bytes": NOT_UTF_8}
BY_HAND = AT_HAND | {"empty": "is empty", "cut": "is not YAML", "huge": TOO_LARGE}
SOMEHOW, WITHOUT = ("empty", "cut", "bytes"), {"missing": NO_FILE, "huge": TOO_LARGE}
SEALED = dict.fromkeys(SOMEHOW, "is not the file that the") | WITHOUT
HELD = dict.fromkeys(SOMEHOW, "is not the file that the evidence seal holds") | {"missing": "is not a file"}
JSON = dict.fromkeys(SOMEHOW, "not valid JSON") | WITHOUT
SEED = dict.fromkeys(SOMEHOW, "is not the s") | WITHOUT
LOST = dict.fromkeys(("missing", "empty", "cut"), "does not hold the")
CASES = [
    # what people write
    Case("promised", f"{EDITION}/protocol.yaml", ["commit"], BY_HAND),
    Case("promised", "study/cards/says.yaml", ["commit"], BY_HAND | {"missing": "there is no card 'says'"}),
    Case("frozen", "material/map.yaml", ["record", "material/answers.csv", *SEEN, "--mapping", "material/map.yaml"],
         {damage: fact for damage, fact in BY_HAND.items() if damage != "cut"}),
    # texts, and tables of texts
    Case("collected", "material/A.csv", [*TABLE, "material/A.csv", *OF_ARCHIVE],
         AT_HAND | {"empty": "is empty", "cut": "is not CSV", "huge": TOO_LONG}, LINE),
    Case("collected", "material/A.jsonl", [*TABLE, "material/A.jsonl", *OF_ARCHIVE],
         AT_HAND | {"empty": "holds no rows", "cut": "is not valid JSON", "huge": TOO_LONG}, LINE),
    Case("collected", "material/A.json", [*TABLE, "material/A.json", *OF_ARCHIVE],
         AT_HAND | {"empty": "is not valid JSON", "cut": "is not valid JSON", "huge": "is too large"}),
    Case("collected", "material/texts/metadata.csv", FOLDER,
         {"empty": "is empty", "cut": "1 cells, where the header has 2", "bytes": "there is no file"}),
    Case("collected", "material/texts/A-2.txt", FOLDER,
         {"missing": "there is no file A-2.txt", "empty": "the id A-2 stands in the arm A with another text",
          "cut": "the id A-2 stands in the arm A with another text", "bytes": NOT_UTF_8, "huge": "A-2.txt is larger than"}),
    # answers
    Case("frozen", "material/answers.csv", ["record", "material/answers.csv", *SEEN],
         AT_HAND | {"empty": "has no header", "cut": "where the header has 5", "huge": TOO_LARGE}),
    Case("frozen", "material/answers.json", ["record", "material/answers.json", *SEEN],
         AT_HAND | {"empty": "is not a list of answers", "cut": "is not JSON", "huge": TOO_LARGE}),
    Case("frozen", "material/answers.jsonl", ["record", "material/answers.jsonl", *SEEN],
         AT_HAND | {"empty": "holds no answers", "cut": "is not JSON", "huge": TOO_LARGE}),
    # what penmark wrote
    Case("promised", "study/private/seed", ["commit"], SEED),
    Case("collected", f"{EDITION}/protocol.json", ["freeze"], JSON),
    Case("collected", f"{EDITION}/seals/promise.json", ["freeze"], JSON | {"missing": "is not promised yet"}),
    Case("frozen", f"{EDITION}/protocol.yaml", ["scan"], SEALED),
    Case("frozen", f"{EDITION}/manifest.jsonl", ["scan"], SEALED),
    Case("frozen", f"{EDITION}/screening.csv", ["record", "material/answers.csv", *SEEN], SEALED),
    Case("frozen", f"{EDITION}/detectors/says.json", ["scan"], SEALED),
    Case("frozen", f"{EDITION}/seals/corpus.json", ["scan"], JSON | {"missing": "the corpus is not frozen"}),
    Case("frozen", "study/private/seed", ["scan"], SEED),
    Case("scanned", f"{EDITION}/manifest.jsonl", ["report", "--close"],
         dict.fromkeys(("empty", "cut", "bytes", "huge"), "is not the file that the corpus seal holds")
         | {"missing": "is not a file"}, LINE),
    Case("scanned", f"{EDITION}/seals/corpus.json", ["report", "--close"],
         {damage: fact for damage, fact in JSON.items() if damage != "missing"}),
    Case("scanned", f"{EDITION}/seals/corpus.json", ["report", "--close"], {"missing": "was not made after promise.json"}),
    Case("scanned", f"{EDITION}/journal/says.jsonl", ["scan"], LOST | {"bytes": "not valid JSON", "huge": "line"}, LINE),
    Case("scanned", f"{EDITION}/journal/says.jsonl", ["record", "material/answers.json", *SEEN], LOST),
    Case("scanned", f"{EDITION}/journal/says.jsonl", ["report", "--close"],
         LOST | {"bytes": "not valid JSON", "huge": "line is"}, LINE),
    Case("published", f"{EDITION}/tables/rates.csv", ["report"],
         dict.fromkeys(SOMEHOW, "is not what the journals give") | WITHOUT),
    Case("published", f"{EDITION}/tables/table1.csv", PUBLISH, HELD),
    Case("published", f"{EDITION}/screening.csv", PUBLISH,
         {damage: fact.replace("evidence", "corpus") for damage, fact in HELD.items()}),
    Case("published", f"{EDITION}/journal/says.jsonl", PUBLISH, LOST),
    Case("published", f"{EDITION}/evidence/says-0001.jsonl", PUBLISH,
         {"missing": "the raw answer of says", "empty": "the raw answer of says", "cut": "the last line is not finished",
          "bytes": "not valid JSON"}),
    Case("published", "study/private/seed", PUBLISH, {"empty": "is not the seed", "cut": "is not the seed", "missing": NO_FILE}),
]  # fmt: skip
USAGE = {("missing", "is not promised yet"), ("missing", "the corpus is not frozen")}
"""Not damage to somebody who has not come so far: exit code 2, and the command that comes first."""


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return case_stages.made(tmp_path_factory.mktemp("stages"))


def damaged(path: Path, damage: str, size: int) -> None:
    """Damage a file."""
    data = path.read_bytes()
    if damage == "missing":
        path.unlink()
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "cut":
        path.write_bytes(data[: len(data) * 3 // 5])
    elif damage == "bytes":
        path.write_bytes(data[: len(data) // 2] + b"\xff" + data[len(data) // 2 :])
    else:
        with path.open("r+b") as file:
            file.truncate(len(data) + size)


def refused(said: Said, code: int, place: str, fact: str) -> None:
    """The command says place, fact and remedy, and did nothing else."""
    assert said.code == code, said
    assert said.out == ""
    [line, *rest] = [each for each in said.err.split("\n") if fact in each] or [said.err]
    assert fact in line
    assert place in line
    assert "\n    " in said.err  # a remedy, below the fact
    assert not [each for each in (line, *rest) if "Traceback" in each or "should not happen" in each]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.argv[0]}-{Path(case.file).name}")
def test_damage_is_told_with_place_fact_and_remedy_and_nothing_is_changed(
    case: Case, steps: dict[str, Path], tmp_path: Path
) -> None:
    for damage, fact in case.facts.items():
        folder = tmp_path / damage
        shutil.copytree(steps[case.step], folder)
        trial = Trial.at(folder / "study")
        broken = folder / case.file.replace("TAG", trial.edition.tag)
        damaged(broken, damage, case.size)
        before = light(folder)
        said = trial.run(*(each.replace("material/", f"{folder}/material/") for each in case.argv))
        place = PLACES.get((broken.name, fact), PLACES.get(broken.name, broken.name))
        refused(said, 2 if (damage, fact) in USAGE else 1, place, fact)
        assert light(folder) == before, damage


def light(folder: Path) -> dict[str, bytes | int]:
    """Every file, the absurdly large ones by their size."""
    large = {str(p.relative_to(folder)): p.stat().st_size for p in folder.rglob("*") if p.stat().st_size >= LINE}
    small = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "lock" not in path.name and str(path.relative_to(folder)) not in large
    }
    return {**small, **large}


def test_status_tells_what_was_lost(steps: dict[str, Path], tmp_path: Path) -> None:
    for damage, fact in (LOST | {"huge": "a line is too long"}).items():
        folder = Path(shutil.copytree(steps["scanned"], tmp_path / damage))
        trial = Trial.at(folder / "study")
        assert trial.run("status").code == 0
        damaged(trial.edition.journals / "says.jsonl", damage, LINE)
        said = trial.run("status")
        assert said.code == 1
        assert "journal/says.jsonl" in said.out
        assert fact in said.out
        assert said.out.splitlines()[-1].startswith("next: mend")
