"""`penmark record` as a user sees it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests import screen_readings
from tests.cases.case_study import Trial, arm, penmark, seen, texts, verdicts
from tests.frozen_study import detector, frozen
from tests.scripted_detector import CARD

from penmark import study
from penmark.cli import invoke
from penmark.demo.authority import run_local_authority
from penmark.errors import FaultsError, UsageError
from penmark.journal import evidence_log
from penmark.protocol import amendments
from penmark.stages.commit import make_seals
from penmark.study import Edition, Study, seal_files

SEEN = CARD.replace("name: acting", "name: seen").replace("{by: plugin, plugin: acting}", "{by: people}")
LONG = "A text that is long enough to be told from others by its first words, and holds one sentence."


def made(tmp_path: Path, **further: Any) -> tuple[Study, Edition]:
    texts: dict[str, str | bytes] = {"a": LONG, "b": "text two"}
    return frozen(tmp_path / "study", texts, detector("seen", surface="web"), cards={"seen": SEEN}, **further)


def answers(tmp_path: Path, **further: object) -> str:
    path = tmp_path / "answers.json"
    path.write_text(json.dumps([{"id": "a", "score": 0.5, "at": "2023-03-14"}, {"id": "b", "score": 1} | further]))
    return str(path)


OLD = "--retrospective"


def record(place: Study, *options: str) -> int:
    return invoke(["-C", str(place.root), "record", *options])


def test_what_was_recorded_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place, edition = made(tmp_path)
    assert (
        record(
            place,
            answers(tmp_path, text="another"),
            "--detector",
            "seen",
            "--map",
            "document=id",
            "--map",
            "date=at",
            OLD,
        )
        == 0
    )
    told = capsys.readouterr().out
    assert told.startswith("seen: 2 readings from answers.json\n  1 answered\n  1 declined: other text scanned\n")
    assert "\n  1 answer has no date and 1 answer is older than the promise: the edition is retrospective." in told
    assert make_seals.list_seal_order(edition) == ["promise", "corpus"]


def test_answers_of_which_the_card_makes_nothing_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place, _ = made(tmp_path)
    options = ("--detector", "seen", "--map", "document=id", "--json", OLD)
    assert record(place, answers(tmp_path, score="62%"), *options) == 0
    said = capsys.readouterr()
    message = "1 answer is no decimal number ('62%' about b); it is kept as it is and counts as no result"
    assert said.err.startswith(f"warning: seen: {message}\n    A reading is final")
    [miss] = json.loads(said.out)["misses"]
    assert (miss["answers"], miss["document"], miss["shown"], miss["message"]) == (1, "b", "62%", message)


def test_undated_answers_are_told_and_json_has_it_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place, _ = made(tmp_path)
    record(place, answers(tmp_path), "--detector", "seen", "--map", "document=id", "--json", OLD)
    told = json.loads(capsys.readouterr().out)
    assert (told["readings"], told["undated"], told["states"]) == (2, 2, {"answered": 2})
    assert told["heads"]["journal/seen.jsonl"]["lines"] == 4


def test_another_form_of_the_text_is_told_and_is_no_deviation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, edition = made(tmp_path)
    path = tmp_path / "answers.json"
    path.write_text(json.dumps([{"id": "a", "score": 0.5, "sent": f"{LONG} {LONG}"}]))
    record(place, str(path), "--detector", "seen", "--map", "document=id", OLD)
    assert "  quotes the text 2 times in 1 of 1 answers (each such reading has a remark)\n" in capsys.readouterr().out
    assert amendments.read_deviations(edition) == []
    assert not place.changes.exists()


def test_several_files_with_an_arm_for_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place, edition = made(tmp_path)
    for name in "ab":
        (tmp_path / f"{name}.json").write_text(json.dumps([{"id": name, "score": 0.5}]))
    files, options = (
        [str(tmp_path / "a.json"), str(tmp_path / "b.json")],
        ["--detector", "seen", "--map", "document=id", OLD],
    )
    arm = frozen_arm(edition)
    with pytest.raises(UsageError, match="2 files and 3 arms"):
        record(place, *files, *options, *["--arm", arm] * 3)
    assert record(place, *files, *options, "--arm", arm, "--arm", arm) == 0
    told = capsys.readouterr().out.splitlines()
    assert [line for line in told if line.startswith("seen")] == [
        f"seen: 1 readings from a.json ({arm})",
        f"seen: 1 readings from b.json ({arm})",
    ]


def frozen_arm(edition: Edition) -> str:
    [name] = json.loads(study.read_bytes(edition.manifest).split(b"\n")[0])["arms"]
    return str(name)


def test_heads_are_sealed_where_an_authority_can_say_when(tmp_path: Path) -> None:
    with run_local_authority(tmp_path / "authority", "local") as authority:
        place, edition = made(tmp_path, authorities=[{"name": "local", "url": authority.url}])
        record(place, answers(tmp_path), "--detector", "seen", "--map", "document=id", OLD)
    assert make_seals.list_seal_order(edition)[-1] == "heads-0001"
    assert seal_files.read_seal(edition, "heads-0001").journals["journal/seen.jsonl"].lines == 4
    assert make_seals.list_token_files(edition.seal("heads-0001"))


def test_two_mappings_are_refused(tmp_path: Path) -> None:
    place, _ = made(tmp_path)
    mapping = tmp_path / "map.yaml"
    mapping.write_text("document: id\n")
    options = [answers(tmp_path), "--detector", "seen", "--mapping", str(mapping), OLD]
    with pytest.raises(UsageError, match="do not go together"):
        record(place, *options, "--map", "document=id")
    assert record(place, *options) == 0


# --- people who read a screen ----------------------------------------------------------------------------------------


def test_work_sheets_and_what_comes_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place, _ = screen_readings.made(tmp_path)
    out = place.private / "sheets"
    assert record(place, "--sheets", str(out), "--detector", "turnitin") == 0
    told = capsys.readouterr().out
    assert f"turnitin: work sheets for 5 texts in {out}; begin with its README.txt" in told
    assert "  1 not scannable: no consent for Turnitin" in told
    rows = [row | {"displayed": "*%", "operator": "AB"} for row in screen_readings.sheet(out)]
    first = screen_readings.filled(tmp_path / "first.csv", [*rows[:3], rows[3] | {"displayed": ""}])
    assert record(place, str(first), "--detector", "turnitin", OLD) == 0
    told = capsys.readouterr().out
    assert "turnitin: 3 readings from first.csv" in told
    assert "3 were typed once only" in told
    assert "1 rows are not filled in yet" in told
    assert "3 answers have no date" in told


def test_tables_that_a_spreadsheet_saved_with_semicolons(tmp_path: Path) -> None:
    place, edition = screen_readings.made(tmp_path)
    screen_readings.run(place, "record", "--sheets", str(place.private / "sheets"), "--detector", "turnitin")
    empty = screen_readings.sheet(place.private / "sheets")
    rows = [
        row | {"displayed": "45%", "date": screen_readings.now(), "operator": "AB", "note": "a, b; c"} for row in empty
    ]
    first = screen_readings.filled(tmp_path / "first.csv", rows, ";")
    again = screen_readings.filled(tmp_path / "second.csv", [rows[0] | {"displayed": "54%"}, *rows[1:]], ";")
    one = {"number": rows[0]["number"], "displayed": "54%", "by": "EF", "why": "seen again"}
    settled = screen_readings.filled(tmp_path / "settled.csv", [one], ";")
    options = ("--second", str(again), "--settle", str(settled), "--detector", "turnitin")
    said = penmark("-C", str(place.root), "record", str(first), *options)
    assert (said.code, said.out.splitlines()[0]) == (0, "turnitin: 5 readings from first.csv")
    held = [json.loads(item.body) for item in evidence_log.read_evidence(edition.evidence, "turnitin")]
    assert [(body["number"], body["displayed"]) for body in held][:2] == [
        (rows[0]["number"], "54%"),
        (rows[1]["number"], "45%"),
    ]
    assert held[0]["readings"][0] == rows[0] | {"version": None}


@pytest.mark.parametrize("table", ["number;displayed,\n0001;45%,x\n", "number;displayed\n0001;4;5\n"])
def test_a_table_that_has_both_signs_is_not_guessed_at(tmp_path: Path, table: str) -> None:
    place, edition = screen_readings.made(tmp_path)
    (tmp_path / "a.csv").write_text(table)
    said = penmark("-C", str(place.root), "record", str(tmp_path / "a.csv"), "--detector", "turnitin", "--by", "AB")
    assert (said.code, said.out) == (1, "")
    told = (
        ":2: has 2 cells, and above it only 'number;displayed' is a name of a column"
        if "displayed," in table
        else ":2: 3 cells, where the header has 2\n    Quote cells that hold semicolons"
    )
    assert told in said.err
    assert not edition.journal_files()


def test_what_is_recorded_already_is_said_once_and_by_the_typed_number(tmp_path: Path) -> None:
    place, edition = screen_readings.made(tmp_path)
    screen_readings.run(place, "record", "--sheets", str(place.private / "sheets"), "--detector", "turnitin")
    empty = screen_readings.sheet(place.private / "sheets")
    rows = [row | {"displayed": "*%", "date": screen_readings.now(), "operator": "AB"} for row in empty]
    whole = screen_readings.filled(tmp_path / "whole.csv", rows)
    run = ("-C", str(place.root), "record", "--detector", "turnitin")
    screen_readings.run(place, *run[2:], str(screen_readings.filled(tmp_path / "four.csv", rows[:4])))
    before = [path.read_bytes() for path in edition.journal_files()]
    said = penmark(*run, str(whole))
    names = ", ".join(row["number"] for row in rows[:4])
    assert (said.code, said.out) == (1, "")
    assert said.err == (
        f"penmark: {whole}:2, 3, 4, 5: each of these 4 documents has its final reading already, in turnitin.jsonl: {names}\n"
        "    A pair has one final reading; leave the rows out.\n"
    )
    said = penmark(*run, str(tmp_path / "four.csv"))
    assert (said.code, said.out) == (1, "")
    assert said.err == (
        f"penmark: {tmp_path / 'four.csv'}: each of the 4 documents in it has its final reading already, in turnitin.jsonl\n"
        "    Nothing in it is left to record.\n"
    )
    assert [path.read_bytes() for path in edition.journal_files()] == before


def test_displays_without_a_call_are_told_together_and_by_the_typed_number(tmp_path: Path) -> None:
    place, edition = screen_readings.made(tmp_path)
    screen_readings.run(place, "record", "--sheets", str(place.private / "sheets"), "--detector", "turnitin")
    empty = screen_readings.sheet(place.private / "sheets")
    rows = [
        row | {"displayed": f"x{n}", "date": screen_readings.now(), "operator": "AB"} for n, row in enumerate(empty)
    ]
    run = ("-C", str(place.root), "record", "--detector", "turnitin")
    said = penmark(*run, str(screen_readings.filled(tmp_path / "all.csv", rows)))
    named = ", ".join(f"{row['number']} shows 'x{n}'" for n, row in enumerate(rows))
    assert (said.code, said.out) == (1, "")
    assert said.err == (
        f"penmark: {tmp_path / 'all.csv'}:2, 3, 4, 5, 6: 5 displays come to no call, for they are verdicts that "
        f"its card does not know: {named}\n"
        "    Look at the screens again and correct the rows. If it really showed this: --as-displayed.\n"
    )
    said = penmark(*run, str(screen_readings.filled(tmp_path / "one.csv", rows[:1])))
    told = f"{rows[0]['number']} shows 'x0', which comes to no call: it is a verdict that its card does not know"
    assert f"one.csv:2: {told}\n" in said.err
    assert not [path for path in edition.journal_files() if b'"reading"' in path.read_bytes()]


def test_a_settlement_is_a_deviation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place, edition = screen_readings.made(tmp_path)
    row = {"document": "C-1", "displayed": "45%", "date": screen_readings.now(), "operator": "AB"}
    first = screen_readings.filled(tmp_path / "first.csv", [row])
    other = screen_readings.filled(tmp_path / "second.csv", [row | {"displayed": "54%", "operator": "CD"}])
    with pytest.raises(FaultsError, match="'45%' and '54%'"):
        record(place, str(first), "--second", str(other), "--detector", "turnitin")
    assert amendments.read_deviations(edition) == []
    settled = [{"document": "C-1", "displayed": "45%", "by": "EF", "why": "seen again"}]
    options = ["--second", str(other), "--settle", str(screen_readings.filled(tmp_path / "s.csv", settled))]
    assert record(place, str(first), *options, "--detector", "turnitin", "--json") == 0
    assert json.loads(capsys.readouterr().out)["settled"][0].startswith("C-1 was read by AB and CD")
    [told] = amendments.read_deviations(edition)
    assert told.detector == "turnitin"
    assert told.what.startswith("typed twice: C-1 was read by AB and CD as '45%' and '54%'; settled as '45%' by EF")
    assert told.what in place.changes.read_text()


def test_screens_that_were_read_outside_the_window_are_a_deviation(tmp_path: Path) -> None:
    place, edition = screen_readings.made(tmp_path)
    row = {"document": "C-1", "displayed": "45%", "date": "2020-05-01", "operator": "AB"}
    first = screen_readings.filled(tmp_path / "first.csv", [row])
    other = screen_readings.filled(tmp_path / "second.csv", [row | {"operator": "CD"}])
    assert record(place, str(first), "--second", str(other), "--detector", "turnitin", OLD) == 0
    [told] = amendments.read_deviations(edition)
    assert told.what.startswith("recorded from first.csv: 1 screens were read outside the promised window, ")


@pytest.mark.parametrize(
    ("options", "fact"),
    [
        ([], "no file of answers is named"),
        (["x.csv", "--sheets", "d"], "writes work sheets and records nothing"),
        (["--sheets", "d", "--second", "y.csv"], "writes work sheets and records nothing"),
        (["x.csv", "y.csv", "--second", "z.csv"], "belong to one file"),
    ],
)
def test_options_that_do_not_go_together(tmp_path: Path, options: list[str], fact: str) -> None:
    place, _ = screen_readings.made(tmp_path)
    with pytest.raises(UsageError, match=fact):
        record(place, *options, "--detector", "turnitin")


@pytest.mark.parametrize(
    ("header", "told"),
    [
        (
            "documnt,displayed",
            "there is no column document (did you mean documnt?)\n    Map it: --map document=COLUMN.",
        ),
        (
            "document ,displayed",
            "there is no column document (did you mean 'document '?)\n    Map it: --map document=COLUMN.",
        ),
        ("{0},displayed", "there is no column document\n    Map it: --map document=COLUMN."),
        (
            "document,dispayed",
            "there is no column displayed (did you mean dispayed?), and the card seen does not say where ",
        ),
    ],
)
def test_a_column_that_is_misspelt_is_not_recorded_as_an_answer_that_nobody_gave(
    tmp_path: Path, header: str, told: str
) -> None:
    trial = Trial(tmp_path / "study", [arm("A", "human", 1)], cards=[seen(**verdicts(Human="human", AI="ai"))])
    trial.frozen(A=texts(1))
    (tmp_path / "typed.csv").write_text(f"{header},date\nA-001,AI,2026-11-30\n")
    said = trial.run("record", str(tmp_path / "typed.csv"), "--detector", "seen", "--by", "N")
    assert said.code == 2
    assert told in said.err
    columns = ", ".join(name if name == name.strip() else f"'{name}'" for name in header.split(","))
    assert f"The columns: {columns}, date." in said.err
    assert not list(trial.edition.journals.glob("*.jsonl"))
