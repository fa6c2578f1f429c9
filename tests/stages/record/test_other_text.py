"""Typed answers about another text than the document's: what record makes of them is published, and both verifiers agree."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests import screen_readings
from tests.cases.case_study import Trial, arm, card, now, read_csv, seen
from tests.forgeries import both_verifiers

from penmark.errors import FaultsError
from penmark.stages.record import Import, record_answers, work_sheets

TEXTS = {
    "1": "One text of a few words.",
    "2": "Another text of a few words.",
    "3": "A third one, without a text typed.",
}
OTHER = "What somebody pasted by mistake."


def typed(trial: Trial, rows: list[dict[str, Any]], *options: str) -> str:
    """The rows recorded as a table that people typed; what ``record_answers`` said."""
    path = trial.root.parent / "typed.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    return trial.done("record", str(path), "--detector", trial.protocol["detectors"][0]["name"], *options).out


def rows(column: str = "text") -> list[dict[str, Any]]:
    when = {"date": now(), "operator": "AB"}
    return [
        {"document": "1", "displayed": "0.63", column: TEXTS["1"], **when},
        {"document": "2", "displayed": "0.9", column: OTHER, **when},
        {"document": "3", "displayed": "0.2", column: "", **when},
    ]


def told(bundle: Path) -> dict[str, tuple[str, str, str]]:
    """State, reason and display by document, where both verifiers find nothing wrong."""
    one, other = both_verifiers.ours(bundle), both_verifiers.alone(bundle)
    assert one.failed == other.failed == set(), [*map(one.faults, one.failed), *map(other.faults, other.failed)]
    return {
        row["document"]: (row["state"], row["reason"], row["displayed"])
        for row in read_csv(bundle / "tables" / "readings.csv")
    }


ANSWERED = {"1": ("answered", "", "0.63"), "3": ("answered", "", "0.2")}
WITH = {"displayed": "/displayed", "score": "/displayed"}


@pytest.mark.parametrize(
    ("held", "column", "options", "shown"),
    [
        (seen("seen"), "text", [], "0.9"),
        (seen("seen"), "pasted", ["--map", "text=pasted"], "0.9"),
        (
            seen("seen"),
            "pasted",
            ["--map=document=/document", "--map=displayed=/displayed", "--map=text=/pasted"],
            "0.9",
        ),
        (card("seen", ask={"by": "people"}, answer=WITH | {"text": "/text"}), "text", [], "0.9"),
        (card("seen", ask={"by": "people"}, answer=WITH), "text", [], ""),  # nothing can show it: so it is not shown
    ],
)
def test_what_was_typed_about_another_text_is_published(
    tmp_path: Path, held: dict[str, Any], column: str, options: list[str], shown: str
) -> None:
    trial = Trial(tmp_path / "study", [arm("A", "human", 3)], cards=[held])
    trial.frozen(A=TEXTS)
    assert "1 declined: other text scanned" in typed(trial, rows(column), *options)
    bundle = trial.published()
    assert told(bundle) == ANSWERED | {"2": ("declined", "other text scanned", shown)}
    evidence = bundle / "evidence" / "seen-0001.jsonl.gz"
    assert (OTHER in gzip.decompress(evidence.read_bytes()).decode()) is (shown != "")


def test_by_position_too(tmp_path: Path) -> None:
    trial = Trial(tmp_path / "study", [arm("A", "human", 3)], cards=[seen("seen")])
    trial.frozen(A=TEXTS)
    table = [{**row, "document": f"scan {row['document']}.pdf"} for row in rows()]
    order = tmp_path / "order.txt"
    order.write_text("\n".join(row["document"] for row in rows()))
    typed(trial, table, "--map", "document=position", "--arm", "A", "--order", str(order))
    assert told(trial.published()) == ANSWERED | {"2": ("declined", "other text scanned", "0.9")}


def test_a_work_sheet_with_a_column_of_texts(tmp_path: Path) -> None:
    place, edition = screen_readings.made(tmp_path)
    work_sheets.make_work_sheets(place, edition, "turnitin", place.private / "sheets")
    table = screen_readings.sheet(place.private / "sheets")
    texts = [(place.private / "sheets" / "texts" / f"{row['number']}.txt").read_text() for row in table]
    for row, text in zip(table, [*texts[:-1], OTHER], strict=True):
        row |= {"displayed": "45%", "date": screen_readings.now(), "operator": "AB", "text": text}
    again = [{**row, "operator": "CD", "date": ""} for row in table]
    for row in again:
        del row["text"]  # the one of the two tables that has it counts
    first, second = (
        screen_readings.filled(tmp_path / name, held) for name, held in (("a.csv", table), ("b.csv", again))
    )
    said = screen_readings.run(place, "record", str(first), "--second", str(second), "--detector", "turnitin")
    assert "1 declined: other text scanned" in said
    screen_readings.run(place, "report", "--close")
    screen_readings.run(place, "publish", "--out", str(tmp_path / screen_readings.TAG), "--no-tar")
    states = [state for state, _, _ in told(tmp_path / screen_readings.TAG).values()]
    assert states.count("declined") == 1


def test_two_tables_with_different_texts_are_a_difference(tmp_path: Path) -> None:
    place, edition = screen_readings.made(tmp_path)
    row = {
        "document": "A-1",
        "displayed": "45%",
        "date": screen_readings.now(),
        "operator": "AB",
        "text": screen_readings.TEXTS["A-1"],
    }
    first = screen_readings.filled(tmp_path / "a.csv", [row])
    second = screen_readings.filled(tmp_path / "b.csv", [row | {"operator": "CD", "text": OTHER}])
    with pytest.raises(FaultsError, match="A-1: the two tables have different texts"):
        record_answers(place, edition, first, Import("turnitin", second=second))
    assert not list(edition.evidence.glob("*"))


def test_an_undated_answer_about_another_text_makes_the_bundle_retrospective(tmp_path: Path) -> None:
    trial = Trial(tmp_path / "study", [arm("A", "human", 3)], cards=[seen("seen")])
    trial.frozen(A=TEXTS)
    table = rows()
    table[1]["date"] = ""
    typed(trial, table, "--retrospective")
    bundle = trial.published()
    told(bundle)
    assert {row["timing"] for row in read_csv(bundle / "tables" / "table1.csv")} == {"retrospective"}
    assert [row["rule"] for row in read_csv(bundle / "tables" / "warnings.csv")][:1] == ["retrospective"]
    for name in ("report/index.html", "README.md"):
        assert "the rules were written after the answers existed" in (bundle / name).read_text()
    for verifier in (both_verifiers.ours(bundle), both_verifiers.alone(bundle)):
        assert "retrospective" in verifier.unknown()


def test_a_promise_that_says_pre_committed_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    trial = Trial(tmp_path / "study", [arm("A", "human", 3)], cards=[seen("seen")], title="Pre-committed rules")
    trial.frozen(A=TEXTS)
    path = tmp_path / "typed.csv"
    path.write_text("document,displayed,operator\n1,0.63,AB\n")
    said = trial.run("record", str(path), "--detector", "seen", "--retrospective")
    assert said.code == 1
    assert "protocol.json: says Pre-committed" in said.err
    assert "penmark init --edition" in said.err
    assert not list(trial.edition.root.glob("journal/*"))
    assert json.loads(trial.edition.protocol_json.read_text())["title"] == "Pre-committed rules"


@pytest.mark.parametrize("bend", [lambda text: f"{text} ", lambda text: text.replace("\n", "\r\n"), str.strip])
def test_a_text_that_differs_in_nothing_but_white_space_is_refused_before_it_is_final(
    tmp_path: Path, bend: Callable[[str], str]
) -> None:
    trial = Trial(tmp_path / "study", [arm("A", "human", 1)], cards=[seen("seen")])
    text = "One text\nof a few words.\n"
    trial.frozen(A={"1": text})
    row = {"document": "1", "displayed": "0.63", "date": now(), "operator": "AB"}
    said = trial.record("seen", [row | {"text": bend(text)}], ending="csv")
    assert said.code == 1
    assert "in nothing but white space and line ends" in said.err
    assert "leave the column out" in said.err
    assert trial.record("seen", [row | {"text": text}], ending="csv").code == 0


def test_an_undated_answer_that_cannot_be_read_is_an_answer_all_the_same(tmp_path: Path) -> None:
    held = card("seen", ask={"by": "people"}, answer={"score": "/score"})
    trial = Trial(tmp_path / "study", [arm("A", "human", 1)], cards=[held])
    trial.frozen(A={"1": TEXTS["1"]})
    path = tmp_path / "answers.jsonl"
    path.write_text('{"document": "1", "score": "\\ud800"}\n')
    refused = trial.run("record", str(path), "--detector", "seen")
    assert refused.code == 1
    assert "1 answer has no date; the whole edition would be retrospective" in refused.err
    trial.done("record", str(path), "--detector", "seen", "--retrospective")
    bundle = trial.published()
    assert told(bundle)["1"][:2] == (
        "declined",
        "the answer holds half of a surrogate pair, which has no bytes in UTF-8",
    )
    assert {row["timing"] for row in read_csv(bundle / "tables" / "table1.csv")} == {"retrospective"}
