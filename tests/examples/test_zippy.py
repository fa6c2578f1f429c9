"""The table of four vendors in thinkst/zippy through the whole pipeline."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
# Flagged at > 0.50: of 50 human texts, of 50 AI texts.
FLAGGED = {"copyleaks": (0, 48), "gptzero": (0, 46), "originality": (18, 49), "zerogpt": (4, 39)}


@pytest.fixture(scope="session")
def made(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """OUT of the example's `run`, called from another folder."""
    data = shared / "zippy"
    if not data.is_dir():
        pytest.skip("the data of thinkst/zippy are not here (PENMARK_SHARED)")
    out = tmp_path_factory.mktemp("zippy")
    ran = _run(["sh", str(REPOSITORY / "examples" / "zippy" / "run"), str(data), str(out)], cwd=out)
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-3000:]
    return out


def _run(command: list[str], cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHON": sys.executable, "PYTHONPATH": str(REPOSITORY / "src")}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def _rows(out: Path, path: str) -> list[dict[str, str]]:
    with (out / "bundle" / path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("detector", FLAGGED)
def test_counts(detector: str, made: Path) -> None:
    whole = [row for row in _rows(made, "tables/rates.csv") if row["detector"] == detector and row["slice_by"] == ""]
    rows = {row["arm"]: row for row in whole}
    for arm, flagged in zip(("human", "ai"), FLAGGED[detector], strict=True):
        got = tuple(
            rows[arm][name] for name in ("documents", "n", "k", "no_result", "not_scannable", "not_run", "rate")
        )
        assert got == ("50", "50", str(flagged), "0", "0", "0", f"{flagged / 50:.6f}")
    [first] = [row for row in _rows(made, "tables/table1.csv") if row["detector"] == detector]
    assert (int(first["false_positives"]), int(first["detections"])) == FLAGGED[detector]


def test_digits_are_kept_as_they_stand_in_the_table(made: Path, shared: Path) -> None:
    with (shared / "zippy" / "samples" / "gptzero_eval.csv").open(encoding="utf-8", newline="") as file:
        given = {row["Index"]: row for row in csv.DictReader(file)}
    columns = {"copyleaks": "Copyleaks", "gptzero": "GPTZero", "originality": "Originality", "zerogpt": "ZeroGPT"}
    readings = _rows(made, "tables/readings.csv")
    assert len(readings) == 400
    for row in readings:
        assert row["score"] == row["displayed"] == given[row["document"]][f"{columns[row['detector']]} AI Score"]
        assert (row["state"], row["reason"], row["timing"], row["scanned_at"]) == ("answered", "", "retrospective", "")


def test_ties_are_not_flagged_by_the_strict_rule(made: Path) -> None:
    tied = [row for row in _rows(made, "tables/readings.csv") if row["score"] == "0.50"]
    assert [(row["detector"], row["document"], row["call"]) for row in tied] == [
        ("gptzero", "14", "not-ai"),
        ("zerogpt", "25", "not-ai"),
        ("zerogpt", "33", "not-ai"),
    ]


def test_screening_brings_up_the_flaws_of_the_texts(made: Path) -> None:
    rows = _rows(made, "screening.csv")
    rules = Counter((row["rule"], row["arm"]) for row in rows)
    assert rules["mojibake", "human"] == 6
    assert rules["mojibake", "ai"] == 0
    assert rules["age-not-shown", "human"] == 1
    claims = [(row["document"], row["message"]) for row in rows if row["rule"] == "contradictory-provenance"]
    assert [document for document, _ in claims] == ["17", "18"]
    assert all("BBC + GPT" in message for _, message in claims)
    [unit] = [row["message"] for row in rows if row["rule"] == "repeated-unit"]
    assert "50 documents come from 2 sources" in unit


def test_both_verifiers_pass_and_say_retrospective(made: Path) -> None:
    shown = _run([sys.executable, "-m", "penmark", "verify", str(made / "bundle"), "--json"])
    assert shown.returncode == 0, shown.stdout[-3000:]
    assert json.loads(shown.stdout)["ok"] is True
    assert "retrospective" in shown.stdout
    alone = _run([sys.executable, "verify.py", "."], cwd=made / "bundle")
    assert alone.returncode == 0, alone.stdout[-3000:]
    assert "retrospective" in alone.stdout.lower()


def test_a_changed_answer_is_found(made: Path) -> None:
    path = made / "bundle" / "tables" / "readings.csv"
    before = path.read_bytes()
    assert before.count(b",0.53,0.53,") >= 1
    path.write_bytes(before.replace(b",0.53,0.53,", b",0.43,0.43,", 1))
    try:
        for command in ([sys.executable, "-m", "penmark", "verify", "."], [sys.executable, "verify.py", "."]):
            ran = _run(command, cwd=made / "bundle")
            assert ran.returncode == 1
            assert "tables/readings.csv" in ran.stdout
    finally:
        path.write_bytes(before)
