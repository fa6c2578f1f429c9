"""Cases about what an answer says: wording, boundaries, directions, marks in place of numbers, versions, broken files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cases.case_study import (
    ARCHIVE,
    GENERATED,
    Trial,
    arm,
    boundary,
    card,
    lines,
    now,
    read_csv,
    seen,
    texts,
    verdicts,
)

PERCENT = {"meaning": "share of text", "direction": "ai", "low": "0", "high": "100", "unit": "percent"}
ONE = [arm("A", "human", 1)]


def typed(
    tmp_path: Path, shown: dict[str, str], *, truth: str = "human", name: str = "seen", **of_card: object
) -> Trial:
    """A study of so many texts, about which these displays were typed from a screen, and its tables."""
    trial = Trial(tmp_path / "study", [arm("A", truth, len(shown))], cards=[seen(name, **of_card)], name="typed")
    trial.frozen(A={each: f"Text {each} has a few words." for each in shown})
    rows = [{"document": each, "displayed": said, "date": now(), "version": "7"} for each, said in shown.items()]
    said = trial.record(name, rows, ending="csv")
    assert said.code == 0, said
    trial.done("report")
    return trial


# --- boundaries and wording --------------------------------------------------------------------------------------------


def test_c06_every_detector_has_its_own_boundary_on_its_own_scale(tmp_path: Path) -> None:
    shown = {"at": "65 %", "below": "64 %", "far": "64.999%", "plain": "66"}
    trial = typed(tmp_path, shown, scale=PERCENT, boundary=boundary(">=", "65"))
    rows = trial.readings()
    assert {name: rows[name]["call"] for name in ("at", "below", "far")} == {
        "at": "ai",
        "below": "not-ai",
        "far": "not-ai",
    }
    # A bare number where the vendor shows percentages is not taken for one.
    assert (rows["plain"]["state"], rows["plain"]["score"]) == ("declined", "")
    assert (rows["at"]["displayed"], rows["at"]["score"], rows["at"]["boundary"]) == ("65 %", "65", "65")


def test_c06_a_card_without_a_boundary_is_a_fault_of_the_promise(tmp_path: Path) -> None:
    trial = Trial(tmp_path / "study", ONE, cards=[card(boundary=None)])
    said = trial.run("commit")
    assert (said.code, said.out) == (1, "")
    assert "cards/says.yaml" in said.err
    assert "boundary" in said.err
    assert not list(trial.edition.seals.glob("*"))


def test_c23_wording_is_kept_word_for_word_and_mapped_by_the_table(tmp_path: Path) -> None:
    shown = {"1": "Likely human", "2": "likely  HUMAN ", "3": "Possibly AI", "4": "AI"}
    trial = typed(tmp_path, shown, **verdicts(Likely_human="human", AI="ai"))
    rows = trial.readings()
    assert {name: rows[name]["displayed"] for name in shown} == shown
    assert {name: rows[name]["call"] for name in shown} == {"1": "not-ai", "2": "not-ai", "3": "", "4": "ai"}
    assert (rows["3"]["state"], rows["3"]["reason"]) == ("declined", "verdict not in the card: Possibly AI")
    row = trial.whole("A")
    assert (row["documents"], row["n"], row["k"], row["no_result"]) == ("4", "3", "1", "1")


def test_c28_an_asterisk_stands_for_numbers_and_is_none(tmp_path: Path) -> None:
    """The card that ships for Turnitin."""
    shown = {"star": "*%", "zero": "0%", "much": "45%"}
    words = "word " * 300
    trial = Trial(tmp_path / "study", [arm("A", "human", 3)], detectors={"turnitin": {"card": "turnitin"}}, cards=[])
    trial.protocol["detectors"] = [trial.protocol["detectors"][0] | {"name": "turnitin", "card": "turnitin"}]
    trial.promise()
    trial.frozen({each: {"language": "en"} for each in shown}, A={each: f"{each} {words}" for each in shown})
    assert trial.record("turnitin", [{"document": n, "displayed": s} for n, s in shown.items()], ending="csv").code == 0
    trial.done("report")
    rows = trial.readings()
    assert {name: (rows[name]["displayed"], rows[name]["score"], rows[name]["call"]) for name in shown} == {
        "star": ("*%", "", "not-ai"),
        "zero": ("0%", "0", "not-ai"),
        "much": ("45%", "45", "ai"),
    }
    whole = trial.whole("A")
    assert (whole["n"], whole["k"], whole["uncertain"]) == ("3", "1", "1")
    assert "nan" not in (trial.edition.tables / "readings.csv").read_text().lower()


def test_a_censored_number_is_kept_and_has_no_call(tmp_path: Path) -> None:
    """``<1%`` is not 1, nor 0, nor 0.5 %."""
    rows = typed(tmp_path, {"low": "<1%", "one": "1%"}, scale=PERCENT, boundary=boundary(">=", "20")).readings()
    assert (rows["low"]["displayed"], rows["low"]["score"], rows["low"]["call"]) == ("<1%", "", "")
    assert rows["low"]["state"] == "declined"
    assert (rows["one"]["score"], rows["one"]["call"]) == ("1", "not-ai")


def test_three_way_verdicts_are_counted_by_both_rules(tmp_path: Path) -> None:
    """130 human, 12 mixed, 4 AI, 4 without a result: 4 of 146 strictly, 16 of 146 leniently."""
    said = ["Human"] * 130 + ["Mixed"] * 12 + ["AI"] * 4 + ["Try again later"] * 4
    shown = {f"{n:03d}": each for n, each in enumerate(said)}
    trial = typed(tmp_path, shown, **verdicts(Human="human", Mixed="mixed", AI="ai"))
    strict, lenient = trial.whole("A"), trial.whole("A", "rates_lenient")
    columns = ("documents", "n", "k", "no_result", "rate", "low", "high")
    assert [strict[name] for name in columns] == ["150", "146", "4", "4", "0.027397", "0.010705", "0.068322"]
    assert [lenient[name] for name in columns] == ["150", "146", "16", "4", "0.109589", "0.068590", "0.170606"]
    [headline] = trial.table("table1")
    assert (headline["human_n"], headline["false_positives"]) == ("146", "4")


# --- directions ----------------------------------------------------------------------------------------------------


def test_c14_an_unbounded_scale_is_compared_as_it_is_and_nan_is_no_result(tmp_path: Path) -> None:
    """Lower speaks for AI; nothing is turned round, so 1.3 stays above 0.7."""
    scale = {"meaning": "distance", "direction": "human", "low": None, "high": None}
    trial = Trial(tmp_path / "study", [arm("A", "human", 5)], cards=[card(scale=scale, boundary=boundary("<", "0.9"))])
    given = {"above": "1.3", "below": "0.7", "nan": "NaN", "endless": "-Infinity", "words": '"high"'}
    trial.frozen(A={name: f'Text {name}.\n{{"score": {score}}}' for name, score in given.items()})
    trial.done("scan")
    trial.done("report")
    rows = trial.readings()
    assert {name: (rows[name]["score"], rows[name]["call"]) for name in ("above", "below")} == {
        "above": ("1.3", "not-ai"),
        "below": ("0.7", "ai"),
    }
    for name, shown in (("nan", "NaN"), ("endless", "-Infinity"), ("words", "high")):
        assert (rows[name]["state"], rows[name]["call"]) == ("declined", "")
        assert rows[name]["reason"] == f"score is not a decimal number: {shown}"
    assert (trial.whole("A")["n"], trial.whole("A")["no_result"]) == ("2", "3")


def test_c20_a_direction_that_looks_inverted_is_told_and_nothing_is_flipped(tmp_path: Path) -> None:
    trial = Trial(tmp_path / "study", [arm("A", "human", 12), arm("C", "ai", 12)])
    trial.frozen(
        A={f"a{n}": f'Human text {n}.\n{{"score": 0.8{n}}}' for n in range(12)},
        C={f"c{n}": f'AI text {n}.\n{{"score": 0.1{n}}}' for n in range(12)},
    )
    trial.done("scan")
    said = trial.done("report").out
    assert "warning (direction), says: looks inverted: human texts score above AI texts" in said
    assert {row["call"] for name, row in trial.readings().items() if name.startswith("a")} == {"ai"}
    assert (trial.whole("A")["k"], trial.whole("C")["k"]) == ("12", "0")
    assert "looks inverted" in (trial.edition.report / "index.html").read_text()


def test_c20_a_card_says_what_its_score_means(tmp_path: Path) -> None:
    for missing in ("direction", "meaning"):
        scale = {"meaning": "probability", "direction": "ai", "low": "0", "high": "1", missing: None}
        trial = Trial(tmp_path / missing, ONE, cards=[card(scale=scale)])
        said = trial.run("commit")
        assert said.code == 1
        assert "cards/says.yaml" in said.err
        assert f"scale.{missing}" in said.err
    turned = Trial(tmp_path / "turned", ONE, cards=[card(boundary=boundary("<", "0.5"))])
    said = turned.run("commit")
    assert said.code == 1
    assert "on this scale a higher number means ai, so AI is > or >= the boundary, not <" in said.err


def test_c27_a_human_score_is_a_human_score(tmp_path: Path) -> None:
    """The card that ships for Winston: 80 is 80 % human, which is 20 for AI; it is not flagged, and not turned round."""
    trial = Trial(tmp_path / "study", [arm("A", "human", 3)])
    trial.protocol["detectors"] = [trial.protocol["detectors"][0] | {"name": "winston", "card": "winston"}]
    trial.promise()
    trial.frozen(A={f"{n}": f"{n} " + "Some words in a row. " * 20 for n in range(3)})
    answers = [{"id": "0", "score": 80, "version": "4.0"}, {"id": "1", "score": 20, "version": "4.0"}]
    assert trial.record("winston", [*answers, {"id": "2", "score": 50}], "--map", "document=id").code == 0
    trial.done("report", "--close")
    rows = [row for row in trial.table("readings") if row["state"] == "answered"]
    assert {row["document"]: (row["score"], row["call"], row["operator"], row["boundary"]) for row in rows} == {
        "0": ("80", "not-ai", "<", "40"),
        "1": ("20", "ai", "<", "40"),
        "2": ("50", "not-ai", "<", "40"),
    }
    sealed = json.loads((trial.edition.detectors / "winston.json").read_text())["card"]
    assert sealed["scale"]["direction"] == "human"
    # A request that held a file or a site would have been judged by that; ours holds a text and neither.
    sent = json.loads(sealed["ask"]["request"]["send"]["body"])
    assert [name for name in sent if name in ("text", "file", "website")] == ["text"]


# --- scores that say nothing ---------------------------------------------------------------------------------------


def test_c12_a_constant_score_is_called_uninformative(tmp_path: Path) -> None:
    trial = Trial(tmp_path / "study", [arm("A", "human", 4), arm("C", "ai", 4)])
    trial.frozen(A=texts(4, '{"score": 1.0}'), C=texts(4, '{"score": 1.0}', "C"))
    trial.done("scan")
    said = trial.done("report").out
    assert "warning (uninformative), says: gives all 8 texts one score, 1.0" in said
    assert "looks inverted" not in said
    assert {row["rule"] for row in trial.table("warnings")} >= {"uninformative"}


def test_c12_rules_do_not_change_once_they_are_promised(tmp_path: Path) -> None:
    trial = Trial(tmp_path / "study", [arm("A", "human", 4)])
    trial.frozen(A=texts(4))
    trial.protocol["level"] = "0.99"
    trial.promise()
    said = trial.run("commit")
    assert said.code in (1, 2)
    assert "amend" in said.err
    said = trial.run("scan")
    assert said.code in (1, 2)
    assert "protocol.yaml" in said.err
    assert "a change of rules is for the next edition: `penmark amend`." in said.err
    assert not list(trial.edition.root.glob("journal/*.jsonl"))


def test_c25_another_version_than_the_promised_one_ends_the_scan(tmp_path: Path) -> None:
    promised = {"says": {"version": "4"}}
    trial = Trial(tmp_path / "study", [arm("A", "human", 3)], detectors=promised)
    trial.frozen(A=texts(3, '{"score": 0.2, "version": "default"}'))
    said = trial.run("scan")
    assert said.code == 1
    assert "the version changed from 4 to default" in said.out
    assert "the version changed from 4 to default" in (trial.root / "CHANGES.md").read_text()
    trial.done("report", "--close")
    [row] = trial.table("table1")
    assert (row["version"], row["human_n"], row["not_run"], row["status"]) == ("default", "1", "2", "INCOMPLETE 1 of 3")
    assert row["version_state"] != "as_asked"


def test_c25_a_version_that_nobody_tells_is_told(tmp_path: Path) -> None:
    trial = Trial(tmp_path / "study", [arm("A", "human", 2)])
    trial.frozen(A=texts(2))
    trial.done("scan")
    trial.done("report")
    assert {row["version_state"] for row in trial.table("readings")} == {"not_reported"}
    assert [row["version_state"] for row in trial.table("table1")] == ["not_reported"]


# --- files of answers ------------------------------------------------------------------------------------------------


def kept(tmp_path: Path, name: str = "study", documents: int = 3) -> Trial:
    """A study that waits for answers that somebody kept."""
    trial = Trial(tmp_path / name, [arm("A", "human", documents)])
    trial.frozen(A={f"{n}": f"Text {n} has a few words." for n in range(1, documents + 1)})
    return trial


def test_c16_bare_numbers_are_refused_with_what_is_expected(tmp_path: Path) -> None:
    trial = kept(tmp_path)
    said = trial.record("says", [0.1, 0.9], "--map", "document=id")  # type: ignore[list-item]
    assert (said.code, said.out) == (1, "")
    assert "answers.json:1: 0.1 is not an object ({…})" in said.err
    assert "answers.json:1: 0.9 is not an object ({…})" in said.err
    assert "which document it is about (--map document=FIELD)" in said.err
    assert "those that the sealed card points at" in said.err
    assert not list(trial.edition.root.glob("journal/*"))


def test_c17_a_bom_and_windows_line_ends_change_nothing(tmp_path: Path) -> None:
    table = 'document,displayed,date,version\n1,0.7,2026-01-02T03:04:05Z,"v, 1"\n2,"0.50",2026-01-02T03:04:06Z,\n'
    forms = {"plain": table, "windows": "\ufeff" + table.replace("\n", "\r\n")}
    found, journals = {}, {}
    for name, form in forms.items():
        trial = Trial(tmp_path / name, [arm("A", "human", 2)], cards=[seen("seen")], name="same")
        trial.frozen(A={"1": "One text.", "2": "Another text."})
        path = tmp_path / f"{name}.csv"
        path.write_bytes(form.encode())
        trial.done("record", str(path), "--detector", "seen", "--by", "AB", "--retrospective")
        trial.done("report")
        found[name] = (trial.edition.tables / "readings.csv").read_bytes()
        changing = ("at", "prev", "reason")
        journals[name] = [
            {key: value for key, value in line.items() if key not in changing}
            for line in lines(trial.edition.journals / "seen.jsonl")
            if line["kind"] == "reading"
        ]
        assert not [
            path for path in trial.root.rglob("*") if path.is_file() and path.read_bytes().startswith(b"\xef\xbb\xbf")
        ]
    assert found["plain"] == found["windows"]
    assert journals["plain"] == journals["windows"]
    assert [line["version"] for line in journals["plain"]] == ["v, 1", None]


def test_c58_a_second_verdict_is_a_fault_even_where_it_is_equal(tmp_path: Path) -> None:
    trial = kept(tmp_path)
    row = {"id": "1", "score": 0.25}
    said = trial.record("says", [row, {"id": "2", "score": 0.5}, row], "--map", "document=id")
    assert (said.code, said.out) == (1, "")
    assert "answers.json:1: is the second row about 1; the first is" in said.err
    assert not list(trial.edition.root.glob("journal/*"))
    assert trial.record("says", [row], "--map", "document=id").code == 0
    before = (trial.edition.journals / "says.jsonl").read_bytes()
    said = trial.record("says", [row], "--map", "document=id")
    assert said.code == 1
    assert "1 has its final reading already" in said.err
    assert (trial.edition.journals / "says.jsonl").read_bytes() == before


def test_c54_ids_are_strings(tmp_path: Path) -> None:
    names = ["007", "7", "NA", "null", "1e3", "None", "true", "nan"]
    trial = Trial(tmp_path / "study", [arm("A", "human", len(names))])
    trial.frozen(A={name: f'Text {name}.\n{{"score": 0.{n}}}' for n, name in enumerate(names)})
    trial.done("scan")
    bundle = trial.published()
    for table, column in (("documents", "id"), ("readings", "document")):
        assert sorted(row[column] for row in read_csv(bundle / "tables" / f"{table}.csv")) == sorted(names)
    scores = {row["document"]: row["score"] for row in trial.table("readings")}
    assert scores == {name: f"0.{n}" for n, name in enumerate(names)}


def test_c55_a_cell_that_a_spreadsheet_would_run_is_escaped_and_comes_back(tmp_path: Path) -> None:
    shown = {"sum": "=1+1", "minus": "-12 %", "line": "\n=x", "at": "@me", "plus": "+1", "number": "-12", "tab": "\t=y"}
    trial = typed(tmp_path, shown, scale=PERCENT | {"low": "-100"}, boundary=boundary(">=", "20"))
    exact = {
        line["document"]: line["displayed"]
        for line in lines(trial.edition.journals / "seen.jsonl")
        if line["kind"] == "reading"
    }
    assert exact == shown  # the record has the exact strings
    rows = trial.readings()
    assert rows["number"]["displayed"] == "-12"  # wholly a decimal number: nothing runs it
    for name in shown.keys() - {"number"}:
        assert rows[name]["displayed"] == "'" + shown[name]
    assert {name: row["displayed"].removeprefix("'") for name, row in rows.items()} == shown
    assert rows["minus"]["score"] == "-12"
    assert "apostrophe" in (trial.published() / "README.md").read_text()


def test_a_text_of_another_document_is_no_result(tmp_path: Path) -> None:
    """An answer that carries the text it was given is held against the document's."""
    answer = {"displayed": "/score", "score": "/score", "text": "/text"}
    trial = Trial(tmp_path / "study", [arm("A", "human", 2)], cards=[card(answer=answer)])
    trial.frozen(A={"1": "One text.", "2": "Another text."})
    rows = [{"id": "1", "score": 0.9, "text": "One text."}, {"id": "2", "score": 0.9, "text": "One text."}]
    assert trial.record("says", rows, "--map", "document=id").code == 0
    trial.done("report")
    assert {n: (row["state"], row["reason"]) for n, row in trial.readings().items()} == {
        "1": ("answered", ""),
        "2": ("declined", "other text scanned"),
    }


@pytest.mark.parametrize("kind", [ARCHIVE, GENERATED])
def test_a_score_outside_its_scale_is_neither_clipped_nor_rescaled(tmp_path: Path, kind: dict[str, str]) -> None:
    truth = "ai" if kind is GENERATED else "human"
    rows = typed(tmp_path, {"in": "1", "out": "1.01", "percent": "87", "under": "-0.5"}, truth=truth).readings()
    assert {name: (row["state"], row["score"], row["call"]) for name, row in rows.items()} == {
        "in": ("answered", "1", "ai"),
        "out": ("declined", "1.01", ""),
        "percent": ("declined", "87", ""),
        "under": ("declined", "-0.5", ""),
    }
    assert rows["percent"]["reason"] == "score outside the declared scale: 87"


def test_what_a_card_makes_nothing_of_is_told_by_scan_status_report_page_and_bundle(tmp_path: Path) -> None:
    trial = Trial(tmp_path / "study", [arm("A", "human", 4), arm("C", "ai", 3)])
    human = {"fine": '{"score": 0.1}', "above": '{"score": 1.7}', "under": '{"score": -0.1}', "nan": '{"score": NaN}'}
    machine = {"good": '{"score": 0.9}', "percent": '{"score": "62%"}', "last": '{"score": 0.8}'}
    trial.frozen(
        A={name: f"A text, {name}.\n{said}" for name, said in human.items()},
        C={name: f"A text, {name}.\n{said}" for name, said in machine.items()},
    )
    said = trial.done("scan")
    assert "says: 7 documents: 7 answered" in said.out
    assert "warning: says: 2 answers are outside the scale 0 to 1 of its card (the first: " in said.err
    assert "warning: says: 2 answers are no decimal numbers (the first: " in said.err
    assert "    2 answers are outside the scale 0 to 1 of its card (the first: " in trial.done("status").out
    said = trial.done("report", "--close")
    kept = "they are kept as they are and count as no result"
    outside = f"2 answers are outside the scale 0 to 1 of its card (the first: 1.7 about above); {kept}"
    assert f"warning (no call), says: {outside}; and 1 more in tables/warnings.csv\n" in said.out
    assert [row["message"] for row in trial.table("warnings") if row["rule"] == "no call"] == [
        outside,
        f"2 answers are no decimal numbers (the first about nan); {kept}",
    ]
    [headline] = trial.table("table1")
    assert headline["declined"] == "4"
    page = (trial.edition.report / "index.html").read_text()
    assert page.count(outside) == 2
    bundle = trial.published()
    assert trial.run("verify", str(bundle)).code == 0
    assert subprocess.run([sys.executable, str(bundle / "verify.py"), str(bundle)], check=False).returncode == 0
