"""Cases about running a study: twice, in another order, beside other people's files, against a detector that fails."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from tests.cases.case_study import GENERATED, Trial, arm, boundary, card, everything, lines, penmark, texts

from penmark.statistics import wilson

HUMAN = arm("A", "human", 10)
LIKELY, UNLIKELY = '{"score": 0.9}', '{"score": 0.1}'


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    """Ten human texts: six that are not flagged, one that is, and three without a result, each for another reason."""
    trial = Trial(tmp_path_factory.mktemp("errors") / "study", [HUMAN], attempts=1)
    said = [LIKELY, *[UNLIKELY] * 6, "429", "refuse", '{"error": "too short", "code": 0}']
    trial.frozen(A={f"{n:03d}": f"Text {n} of ten.\n{each}" for n, each in enumerate(said, 1)})
    assert trial.run("scan").code == 3  # a service failed
    trial.done("report")
    return trial


def test_c05_errors_stay_in_the_denominator(errors: Trial) -> None:
    row = errors.whole("A")
    assert (row["documents"], row["n"], row["k"], row["no_result"]) == ("10", "7", "1", "3")
    assert row["rate"] == "0.142857"
    least, most = wilson.compute_wilson(1, 10), wilson.compute_wilson(4, 10)
    assert least is not None
    assert most is not None
    assert (row["worst_low"], row["worst_high"]) == (wilson.format_six(least.low), wilson.format_six(most.high))
    [headline] = errors.table("table1")
    shown = ("human_documents", "human_n", "false_positives", "fp_rate", "declined", "failed")
    assert [headline[name] for name in shown] == ["10", "7", "1", "0.142857", "2", "1"]


def test_c05_a_row_without_a_result_has_every_column(errors: Trial) -> None:
    table = (errors.edition.tables / "readings.csv").read_text().splitlines()
    assert len(table) == 11
    assert {line.count(",") for line in table} == {table[0].count(",")}


def test_c08_no_result_is_a_state_and_never_a_number(errors: Trial) -> None:
    rows = errors.readings()
    assert {name: rows[name]["state"] for name in ("008", "009", "010")} == {
        "008": "failed",
        "009": "declined",
        "010": "declined",
    }
    for name in ("008", "009", "010"):
        assert [rows[name][column] for column in ("score", "displayed", "call", "call_lenient")] == [""] * 4
        assert rows[name]["reason"] != ""
    # Were the three taken for human, or for 0.0, the rate would sink to 0.1.
    assert Decimal(errors.whole("A")["rate"]) > Decimal("0.14")


def test_c22_a_reply_without_the_expected_key_is_no_result_and_the_run_goes_on(errors: Trial) -> None:
    row = errors.readings()["010"]
    assert (row["state"], row["reason"]) == ("declined", "nothing in the answer where the card looks for it")
    assert row["evidence_sha256"] != ""  # what was said instead is kept
    kept = {line["document"]: line["body"] for line in lines(errors.edition.evidence / "says-0001.jsonl")}
    assert kept["010"] == '{"error": "too short", "code": 0}'


def test_c33_a_service_that_stays_away_is_no_result_with_its_reason(tmp_path: Path) -> None:
    log = tmp_path / "log"
    told = {"says": {"settings": {"log": str(log)}}}
    trial = Trial(tmp_path / "study", [HUMAN], detectors=told, attempts=1)
    trial.frozen(A=texts(8) | texts(2, "429", "away"))
    said = trial.run("scan")
    assert (said.code, said.out) == (3, "says: 10 documents: 8 answered, 2 failed\n")
    assert trial.run("scan").code == 0  # nothing is left: what failed after all attempts is not asked about again
    assert len(log.read_text().splitlines()) == 10
    trial.done("report")
    row = trial.whole("A")
    assert (row["n"], row["k"], row["no_result"], row["rate"]) == ("8", "0", "2", "0.000000")
    assert row["worst_high"] > row["high"]
    assert trial.readings()["away-001"]["reason"] == "429 too many requests"


def test_c31_a_shown_verdict_is_final_and_only_transport_is_tried_again(tmp_path: Path) -> None:
    trial = Trial(tmp_path / "study", [arm("A", "human", 1)])
    trial.frozen(A={"one": 'A text.\ntime-out || {"score": 0.9} || {"score": 0.1}'})
    trial.done("scan")
    trial.done("scan")
    trial.done("report")
    row = trial.readings()["one"]
    assert (row["score"], row["call"], row["attempts"]) == ("0.9", "ai", "2")
    kinds = [line["kind"] for line in lines(trial.edition.journals / "says.jsonl")]
    assert [kind for kind in kinds if kind in ("sent", "retry", "reading")] == ["sent", "retry", "sent", "reading"]


def test_c30_what_is_answered_is_never_asked_about_again(tmp_path: Path, says: Path) -> None:
    """Stopped at the third of nine, by the signal that a user sends; the second run sends exactly what is left."""
    log = tmp_path / "log"
    stopping = {"says": {"settings": {"log": str(log), "interrupt": "3"}}}
    trial = Trial(tmp_path / "study", [arm("A", "human", 9)], detectors=stopping)
    trial.frozen(A=texts(9))
    scan = [sys.executable, "-m", "penmark", "-C", str(trial.root), "scan"]
    environ = os.environ | {"PYTHONPATH": os.pathsep.join([str(says), os.environ.get("PYTHONPATH", "")])}
    first = subprocess.run(scan, env=environ, capture_output=True, text=True, check=False)
    done = len(log.read_text().splitlines())
    assert first.returncode == 1, first
    assert 3 <= done < 9, first  # what was in flight ends
    assert f"says: 9 documents: {done} answered, {9 - done} left" in first.stdout
    second = subprocess.run(scan, env=environ, capture_output=True, text=True, check=False)
    assert (second.returncode, second.stdout) == (0, "says: 9 documents: 9 answered\n")
    asked = [json.loads(line) for line in log.read_text().splitlines()]
    assert (len(asked), len(set(asked))) == (9, 9)


def test_c29_one_text_and_two_detectors_are_two_questions(tmp_path: Path) -> None:
    log = tmp_path / "log"
    told = {
        "first": {"settings": {"instead": LIKELY, "log": str(log)}},
        "second": {"settings": {"instead": UNLIKELY, "log": str(log)}},
    }
    trial = Trial(
        tmp_path / "study",
        [arm("A", "human", 1), arm("C", "ai", 1)],
        cards=[card("first"), card("second")],
        detectors=told,
    )
    trial.frozen(A={"a": "The same text."}, C={"c": "The same text."})
    trial.done("scan")
    trial.done("report")
    calls = {(row["detector"], row["document"]): row["call"] for row in trial.table("readings")}
    assert calls == {
        ("first", "a"): "ai",
        ("first", "c"): "ai",
        ("second", "a"): "not-ai",
        ("second", "c"): "not-ai",
    }
    assert len(log.read_text().splitlines()) == 4  # nor is one document's answer another one's


def test_c32_results_are_keyed_and_never_ordered(tmp_path: Path) -> None:
    given = {f"{n:02d}": f'Text {n}.\n{{"score": 0.{n:02d}}}' for n in range(10, 90, 4)}
    orders, found = [], []
    for name in ("one", "two"):  # two studies have two seeds, so two orders
        trial = Trial(tmp_path / name, [arm("A", "human", len(given))])
        trial.frozen(A=given)
        trial.done("scan")
        trial.done("report")
        journal = lines(trial.edition.journals / "says.jsonl")
        orders.append([line["document"] for line in journal if line["kind"] == "sent"])
        found.append({name: (row["score"], row["call"]) for name, row in trial.readings().items()})
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1])
    assert found[0] == found[1]
    assert found[0]["50"] == ("0.50", "ai")


def test_c03_nothing_is_done_twice(tmp_path: Path) -> None:
    trial = Trial(tmp_path / "study", [HUMAN])
    trial.frozen(A=texts(10))
    trial.done("scan")
    assert trial.run("scan").err == "nothing is left to ask\n"
    bundle = trial.published()
    assert (len(trial.table("readings")), trial.whole("A")["n"]) == (10, "10")
    before = everything(trial.root), everything(bundle)
    trial.done("report")
    refusals = {
        ("commit",): "is sealed already",
        ("freeze",): "is frozen already",
        ("scan",): "no answer can be added",
        ("publish", "--out", str(bundle), "--no-tar"): "is there already",
        ("init",): "there is a study here already",
    }
    for argv, fact in refusals.items():
        said = trial.run(*argv)
        assert (said.code, said.out) == (2, ""), said
        assert fact in said.err, said
        assert "\n    " in said.err  # with the way forward
    assert trial.collect("A", texts(10)).code == 2
    assert (everything(trial.root), everything(bundle)) == before


def test_c07_other_peoples_files_stay_where_they_are(tmp_path: Path) -> None:
    trial = Trial(tmp_path / "study", [HUMAN, arm("C", "ai", 3)])
    trial.done("commit")
    mine = {
        path: f"my own words in {path}\n"
        for path in (
            "says notes.txt",
            "says.csv",
            "private/says.txt",
            "cards/notes on says.txt",
            "corpus/notes on A.txt",
            f"{trial.edition.root.relative_to(trial.root)}/says results.csv",
            "../says.jsonl",
        )
    }
    for path, words in mine.items():
        (trial.root / path).parent.mkdir(exist_ok=True, parents=True)
        (trial.root / path).write_text(words)
    for anew in ([], ["--anew"]):
        rows = tmp_path / "C.csv"
        rows.write_text("id,text\n" + "".join(f"c{n},Some words {n}.\n" for n in range(3)))
        options = [f"--option={name}={value}" for name, value in GENERATED.items()]
        trial.done("collect", "C", "--from", "table", "--path", str(rows), *options, *anew)
    assert trial.collect("A", texts(10)).code == 0
    trial.done("freeze")
    trial.run("scan")
    bundle = trial.published()
    assert {path: (trial.root / path).read_text() for path in mine} == mine
    published = everything(bundle)
    assert not [path for path, data in published.items() if b"my own words in" in data]
    assert penmark("verify", str(bundle)).code == 0


def test_c22_a_boundary_says_what_happens_at_the_boundary(tmp_path: Path) -> None:
    held = [card("at", boundary=boundary(">=", "0.5")), card("past", boundary=boundary(">", "0.5"))]
    trial = Trial(tmp_path / "study", [arm("A", "human", 3)], cards=held)
    given = {name: f'Text {name}.\n{{"score": {name}}}' for name in ("0.5", "0.50", "0.4999999999999999999999")}
    trial.frozen(A=given)
    trial.done("scan")
    trial.done("report")
    calls = {(row["detector"], row["document"]): row["call"] for row in trial.table("readings")}
    assert [calls["at", name] for name in given] == ["ai", "ai", "not-ai"]
    assert [calls["past", name] for name in given] == ["not-ai"] * 3
    assert {row["detector"]: row["boundary"] for row in trial.table("table1")} == {"at": ">= 0.5", "past": "> 0.5"}


def test_c22_a_study_of_one_truth_has_blanks_for_the_other(errors: Trial) -> None:
    [row] = errors.table("table1")
    assert (row["ai_documents"], row["ai_n"], row["detections"]) == ("0", "0", "0")
    assert [row[name] for name in ("detection_rate", "detection_low", "detection_high")] == [""] * 3
    page = (errors.edition.report / "index.html").read_text()
    shown = re.findall(r'data-cell="tables/table1.csv:1:(detections|detection_rate)"[^>]*>([^<]*)<', page)
    assert set(shown) <= {("detections", "0"), ("detection_rate", "—")}
    assert not re.search(r">\s*(nan|-1|n/a %)\b", page, re.IGNORECASE)
