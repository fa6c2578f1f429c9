"""The published study of Liang et al. 2023 through the whole pipeline, table by table."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
DETECTORS = ("crossplag", "gptzero", "hfopenai", "originalityai", "quil", "sapling", "zerogpt")
# Flagged at > 0.5, in the order of DETECTORS; None where the study has no file.
FLAGGED: dict[str, tuple[int | None, ...]] = {
    "TOEFL_real_91": (47, 47, 53, 69, 68, 62, 44),
    "HewlettStudentEssay_real_88": (11, 0, 8, 1, 8, 4, 0),
    "CollegeEssay_real_70": (0, 1, 0, 3, 1, 1, 2),
    "CS224N_real_145": (5, 1, 2, 11, None, None, 0),
    "TOEFL_gpt4polished_91": (3, 17, 4, 11, 13, 12, 15),
    "HewlettStudentEssay_GPTsimplify_88": (45, 34, 48, 87, 52, 49, 34),
    "CollegeEssay_gpt3_31": (18, 31, 18, 13, 18, 23, 31),
    "CollegeEssay_gpt3PromptEng_31": (0, 4, 0, 0, 0, 0, 3),
    "CS224N_gpt3_145": (53, 20, 60, 85, 83, 98, 45),
    "CS224N_gpt3PromptEng_145": (13, 1, 14, 40, 35, 26, 2),
}
TRUTH = {
    name: "human" if "_real_" in name else "mixed" if "polished" in name or "simplify" in name else "ai"
    for name in FLAGGED
}
SIZE = {name: int(name.rsplit("_", 1)[1]) for name in FLAGGED}


@pytest.fixture(scope="session")
def made(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """OUT of the example's `run`, called from another folder."""
    data = shared / "liang2023"
    if not data.is_dir():
        pytest.skip("the data of Liang et al. are not here (PENMARK_SHARED)")
    out = tmp_path_factory.mktemp("liang2023")
    ran = _run(["sh", str(REPOSITORY / "examples" / "liang2023" / "run"), str(data), str(out)], cwd=out)
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-3000:]
    return out


def _run(command: list[str], cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHON": sys.executable, "PYTHONPATH": str(REPOSITORY / "src")}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def _rows(out: Path, path: str) -> list[dict[str, str]]:
    with (out / "bundle" / path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="session")
def rates(made: Path) -> dict[tuple[str, str], dict[str, str]]:
    rows = _rows(made, "tables/rates.csv")
    return {(row["arm"], row["detector"]): row for row in rows if row["slice_by"] == ""}


@pytest.fixture(scope="session")
def readings(made: Path) -> list[dict[str, str]]:
    return _rows(made, "tables/readings.csv")


# --- the published counts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arm", FLAGGED)
def test_counts_of_every_file(arm: str, rates: dict[tuple[str, str], dict[str, str]]) -> None:
    for detector, flagged in zip(DETECTORS, FLAGGED[arm], strict=True):
        row = rates[arm, detector]
        assert int(row["documents"]) == SIZE[arm]
        if flagged is None:  # not run, and nowhere a 0
            assert (row["n"], row["k"], row["not_run"], row["rate"]) == ("0", "0", str(SIZE[arm]), "")
            assert row["low"] == row["high"] == row["worst_low"] == row["worst_high"] == ""
            continue
        other = 6 if (arm, detector) == ("CS224N_real_145", "gptzero") else 0
        got = tuple(int(row[name]) for name in ("k", "n", "no_result", "not_scannable", "not_run"))
        assert got == (flagged, SIZE[arm] - other, other, 0, 0), (arm, detector)
        assert row["rate"] == f"{flagged / (SIZE[arm] - other):.6f}"
        assert float(row["low"]) <= float(row["rate"]) <= float(row["high"])
        assert float(row["worst_low"]) <= float(row["low"])
        assert float(row["high"]) <= float(row["worst_high"])


def test_there_are_68_files() -> None:
    assert sum(flagged is not None for row in FLAGGED.values() for flagged in row) == 68


@pytest.mark.parametrize(
    ("arm", "k", "n", "percent"),
    [
        ("TOEFL_real_91", 390, 637, "61.22"),
        ("HewlettStudentEssay_real_88", 32, 616, "5.19"),
        ("CollegeEssay_real_70", 8, 490, "1.63"),
        ("TOEFL_gpt4polished_91", 75, 637, "11.77"),
        ("CollegeEssay_gpt3_31", 152, 217, "70.05"),
        ("CS224N_gpt3_145", 444, 1015, "43.74"),
    ],
)
def test_published_sums(arm: str, k: int, n: int, percent: str, rates: dict[tuple[str, str], dict[str, str]]) -> None:
    rows = [row for (name, _), row in rates.items() if name == arm]
    assert (sum(int(row["k"]) for row in rows), sum(int(row["n"]) for row in rows)) == (k, n)
    assert f"{100 * k / n:.2f}" == percent


def test_agreement(made: Path) -> None:
    rows = [row for row in _rows(made, "tables/agreement.csv") if row["arm"] == "TOEFL_real_91"]
    votes = {int(row["flagged_by"]): int(row["count"]) for row in rows}
    assert votes == {0: 2, 1: 4, 2: 18, 3: 10, 4: 11, 5: 18, 6: 10, 7: 18}
    assert {(row["detectors"], row["documents"], row["answered_by_all"]) for row in rows} == {("7", "91", "91")}
    five = [row for row in _rows(made, "tables/agreement.csv") if row["arm"] == "CS224N_real_145"]
    assert {(row["detectors"], row["answered_by_all"]) for row in five} == {("5", "139")}


def test_table1_and_table2_are_the_same_counts(made: Path) -> None:
    for row in _rows(made, "tables/table1.csv"):
        at = DETECTORS.index(row["detector"])
        for truth, flagged, number in (("human", "false_positives", "human_n"), ("ai", "detections", "ai_n")):
            mine = [(FLAGGED[arm][at], SIZE[arm]) for arm in FLAGGED if TRUTH[arm] == truth]
            assert int(row[flagged]) == sum(k or 0 for k, _ in mine)
            other = 6 if (row["detector"], truth) == ("gptzero", "human") else 0
            assert int(row[number]) == sum(n for k, n in mine if k is not None) - other
        assert (row["human_documents"], row["ai_documents"], row["boundary"]) == ("394", "352", "> 0.5")
        assert row["version"] == ""
        assert row["version_state"] == "not_reported"
        assert row["first_scanned_at"] == row["last_scanned_at"] == ""
        absent = sum(SIZE[arm] for arm in FLAGGED if FLAGGED[arm][at] is None)
        assert row["not_run"] == str(absent)
        assert row["status"] == (f"INCOMPLETE {925 - absent} of 925" if absent else "COMPLETE")
    groups = {(row["group"], row["detector"]): row for row in _rows(made, "tables/table2.csv")}
    dated = groups["archive, not shown to predate 2022", "zerogpt"]
    assert (dated["n"], dated["k"]) == ("394", "46")
    rewritten = groups["other mixed text", "quil"]
    assert (rewritten["n"], rewritten["k"], rewritten["measure"]) == ("179", "65", "flagged")
    assert not any("pre-2022" in group for group, _ in groups)


# --- what a careful person wants to know ---------------------------------------------------------------------------


def test_answers_about_other_texts_are_no_result(readings: list[dict[str, str]]) -> None:
    other = [row for row in readings if row["reason"] == "other text scanned"]
    numbers = [int(row["document"].rsplit("-", 1)[1]) for row in other]
    assert numbers == [4, 24, 38, 52, 73, 140]  # positions from 1
    assert {(row["detector"], row["arm"], row["state"], row["call"]) for row in other} == {
        ("gptzero", "CS224N_real_145", "declined", "")
    }


def test_a_detector_without_a_file_is_not_run(readings: list[dict[str, str]]) -> None:
    absent = Counter((row["detector"], row["arm"]) for row in readings if row["state"] == "not_run")
    assert absent == {("quil", "CS224N_real_145"): 145, ("sapling", "CS224N_real_145"): 145}
    assert len(readings) == 7 * 925
    assert {row["state"] for row in readings} == {"answered", "declined", "not_run"}


def test_repeated_and_cut_texts_are_remarked(readings: list[dict[str, str]]) -> None:
    kinds: Counter[tuple[str, str]] = Counter()
    for row in readings:
        if row["state"] == "answered" and row["reason"] != "":
            for remark in row["reason"].split("; "):
                kinds[row["detector"], re.sub(r"first \d+ of \d+", "first", remark)] += 1
    repeated, cut = "the answer quotes the text {} times", "the answer quotes only the first characters"
    space = "the answer quotes the text with other white space"
    assert kinds == {
        ("originalityai", repeated.format(2)): 405,
        ("originalityai", repeated.format(3)): 3,
        ("originalityai", space): 41,
        ("quil", repeated.format(2)): 377,
        ("quil", repeated.format(3)): 3,
        ("quil", cut): 118,
        ("quil", space): 2,
        ("sapling", cut): 128,
        ("sapling", space): 2,
        ("sapling", "the answer holds NaN or Infinity (not JSON)"): 7,
    }
    first = [row["reason"] for row in readings if (row["detector"], row["arm"]) == ("sapling", "CollegeEssay_real_70")]
    assert all(reason.startswith("the answer quotes only the first 2000 of ") for reason in first)
    essays = [row for row in readings if (row["detector"], row["arm"]) == ("originalityai", "TOEFL_real_91")]
    twice = [row["call"] for row in essays if row["reason"] == repeated.format(2)]
    assert (len(twice), twice.count("ai")) == (71, 61)


def test_screening_brings_up_the_flaws_of_the_texts(made: Path) -> None:
    rows = _rows(made, "screening.csv")
    rules = Counter((row["rule"], row["arm"]) for row in rows)
    assert "error" not in {row["severity"] for row in rows}
    assert rules["duplicate-bytes", "TOEFL_real_91"] == 1
    assert rules["duplicate-bytes", "CS224N_gpt3_145"] == 4
    assert rules["near-duplicate", "TOEFL_real_91"] >= 12
    alike = {
        row["document"][-3:] for row in rows if row["rule"].startswith(("near-dup", "dup")) and "real" in row["arm"]
    }
    assert alike >= {"020", "043", "051", "058", "061", "068", "077", "078", "081", "085", "087", "088"}
    claims = [row["message"] for row in rows if row["rule"] == "contradictory-provenance" and row["document"] == ""]
    assert len(claims) == 3
    assert sum("'AI-Generated'" in claim for claim in claims) == 2
    assert any("'GPT4'" in claim for claim in claims)
    assert sum(count for (rule, _), count in rules.items() if rule == "after-cutoff") == 394
    assert sum(rule == "age-not-shown" for rule, _ in rules) == 4
    assert rules["repeated-unit", "CollegeEssay_gpt3_31"] == rules["repeated-unit", "CollegeEssay_real_70"] == 1
    assert rules["control-character", "HewlettStudentEssay_real_88"] == 6
    lengths = [row["message"] for row in rows if row["rule"] == "length-contrast"]
    apart = re.compile(r"CollegeEssay_real_70 from CollegeEssay_gpt3_31 with AUC (0\.9[0-9]|1\.00)")
    assert any(apart.search(message) for message in lengths)
    assert any("all human arms from all AI arms" in message for message in lengths)
    short = {row["arm"]: row["message"] for row in rows if row["rule"] == "short-texts"}
    assert short["TOEFL_real_91"].startswith("91 of 91 texts have fewer than 300 words, 0 of them")
    assert "CollegeEssay_real_70" not in short
    layout = [row["message"] for row in rows if row["rule"] == "format-contrast"]
    assert any("a line break inside" in message and "CS224N_real_145 145 of 145" in message for message in layout)
    assert any("curly quotation marks" in message and "CollegeEssay_real_70 62 of 70" in message for message in layout)


def test_warnings_bring_up_the_flaws_of_the_answers(made: Path) -> None:
    rows = _rows(made, "tables/warnings.csv")
    told = {(row["rule"], row["detector"], row["arm"]): row["message"] for row in rows}
    assert {(detector, arm) for rule, detector, arm in told if rule == "not run"} == {
        ("quil", "CS224N_real_145"),
        ("sapling", "CS224N_real_145"),
    }
    assert "in 6 of 145" in told["other text", "gptzero", "CS224N_real_145"]
    assert {arm for rule, detector, arm in told if (rule, detector) == ("digits", "originalityai")} == {
        "HewlettStudentEssay_real_88",
        "HewlettStudentEssay_GPTsimplify_88",
    }
    ties = {arm: message for (rule, _, arm), message in told.items() if rule == "tie"}
    assert sum(int(message.split()[0].replace("one", "1")) for message in ties.values()) == 19
    assert "only 9 different scores in 925 answers" in told["steps", "zerogpt", ""]
    alike = [(row["detector"], row["message"].split(" (")[0]) for row in rows if row["rule"] == "kin"]
    assert alike == [
        ("crossplag", "orders the texts as hfopenai does in 10 of 10 arms"),
        ("crossplag", "orders the texts as quil does in 5 of 7 arms"),
        ("hfopenai", "orders the texts as quil does in 7 of 7 arms"),
    ]
    assert "lower" in told["length", "gptzero", "CS224N_real_145"]
    quoted = {(row["detector"], row["arm"], row["message"]) for row in rows if row["rule"] == "quoted"}
    assert ("originalityai", "TOEFL_real_91", "quotes the text 2 times in 71 of 91 answers") in quoted
    assert ("quil", "TOEFL_real_91", "quotes the text 2 times in 71 of 91 answers") in quoted
    cut = "quotes only the beginning of the text in 70 of 70 answers, 57 % of their characters"
    assert ("sapling", "CollegeEssay_real_70", cut) in quoted
    page = (made / "bundle" / "report" / "index.html").read_text(encoding="utf-8")
    assert page.count("tables/warnings.csv:") >= len(rows)


# --- retrospective, and checkable ----------------------------------------------------------------------------------


def test_everything_says_retrospective(made: Path, readings: list[dict[str, str]]) -> None:
    assert {row["timing"] for row in readings} == {"retrospective"}
    for table in ("table1", "table2", "agreement"):
        assert {row["timing"] for row in _rows(made, f"tables/{table}.csv")} == {"retrospective"}, table
    first = _rows(made, "tables/warnings.csv")[0]  # for the tables without that column
    assert (first["rule"], first["detector"], first["arm"]) == ("retrospective", "", "")
    assert "its rules were written after the answers existed" in first["message"]
    assert {row["scanned_at"] for row in readings} == {""}
    for path in ("report/index.html", "README.md"):
        text = (made / "bundle" / path).read_text(encoding="utf-8")
        assert "retrospective" in text.lower(), path
        assert "pre-committed" not in text.lower(), path
    shown = _run([sys.executable, "-m", "penmark", "verify", str(made / "bundle")])
    assert "retrospective" in shown.stdout.lower()


def test_the_boundary_is_the_studys_and_says_so(made: Path) -> None:
    for detector in DETECTORS:
        sealed = json.loads((made / "bundle" / "detectors" / f"{detector}.json").read_bytes())
        rule = sealed["card"]["boundary"]
        assert (rule["operator"], rule["value"], rule["confidence"]) == (">", "0.5", "convention")
        assert "not the vendor's" in rule["source"]


def _verifiers(bundle: Path) -> Iterator[subprocess.CompletedProcess[str]]:
    yield _run([sys.executable, "-m", "penmark", "verify", str(bundle)])
    yield _run([sys.executable, "verify.py", "."], cwd=bundle)


def test_both_verifiers_pass(made: Path) -> None:
    for ran in _verifiers(made / "bundle"):
        assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-3000:]


def test_both_verifiers_name_the_file_in_which_a_digit_was_changed(made: Path) -> None:
    path = made / "bundle" / "tables" / "rates.csv"
    before = path.read_bytes()
    at = before.index(b",47,") + 1
    path.write_bytes(before[:at] + b"57" + before[at + 2 :])
    try:
        for ran in _verifiers(made / "bundle"):
            assert ran.returncode == 1
            assert "tables/rates.csv" in ran.stdout
    finally:
        path.write_bytes(before)


def test_run_says_how_it_is_used(tmp_path: Path) -> None:
    ran = _run(["sh", str(REPOSITORY / "examples" / "liang2023" / "run")], cwd=tmp_path)
    assert ran.returncode == 2
    assert "DATA" in ran.stderr
    assert "OUT" in ran.stderr


# --- the README ------------------------------------------------------------------------------------------------------


def test_the_table_of_the_readme_is_what_the_example_gives(rates: dict[tuple[str, str], dict[str, str]]) -> None:
    arms = {
        "TOEFL_real_91": "91 TOEFL essays by non-native writers",
        "HewlettStudentEssay_real_88": "88 essays by US eighth graders",
    }
    lines = ["| detector | " + " | ".join(arms.values()) + " |", "|---|---|---|"]
    for detector in DETECTORS:
        shown = []
        for arm in arms:
            row = rates[arm, detector]
            rate, low, high = (f"{100 * float(row[column]):.1f}" for column in ("rate", "low", "high"))
            shown.append(f"{row['k']} of {row['n']} = {rate} % [{low}, {high}]")
        lines.append(f"| {detector} | " + " | ".join(shown) + " |")
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert readme.split("<!-- liang -->\n")[1].split("\n<!-- /liang -->")[0] == "\n".join(lines)
