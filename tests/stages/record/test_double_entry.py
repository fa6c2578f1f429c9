"""Readings typed by people: once, or twice; differences are settled on the record, and nothing is recorded before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests import screen_readings
from tests.stages.record.test_work_sheets import journaled

from penmark import cards, study
from penmark.errors import FaultsError, PenmarkError, UsageError
from penmark.journal import evidence_log
from penmark.stages.record import Import, Recorded, columns, record_answers, work_sheets
from penmark.study import Edition, Study

SHOWN = ("0%", "*%", "45%", "20 %", "100%")


@pytest.fixture
def ground(tmp_path: Path) -> tuple[Study, Edition, list[dict[str, str]]]:
    """A study with its work sheets, and the sheet filled in by AB."""
    place, edition = screen_readings.made(tmp_path)
    work_sheets.make_work_sheets(place, edition, "turnitin", place.private / "sheets")
    rows = screen_readings.sheet(place.private / "sheets")
    for row, shown in zip(rows, SHOWN, strict=True):
        row |= {"displayed": shown, "date": screen_readings.now(), "operator": "AB"}
    return place, edition, rows


Ground = tuple[Study, Edition, list[dict[str, str]]]


def typed(place: Study, edition: Edition, first: Path, **further: Any) -> Recorded:
    return record_answers(place, edition, first, Import("turnitin", **further))


def table(place: Study, name: str, rows: list[dict[str, str]]) -> Path:
    return screen_readings.filled(place.root.parent / name, rows)


def second(rows: list[dict[str, str]], **changed: str) -> list[dict[str, str]]:
    """The same rows in another order, typed by CD; ``changed``: displays by place in the list, ``n1="46%"``."""
    again = [{**row, "operator": "CD", "date": ""} for row in rows]
    for place, shown in changed.items():
        again[int(place[1:])]["displayed"] = shown
    return again[::-1]


def bodies(edition: Edition) -> dict[str, dict[str, Any]]:
    return {kept.document: json.loads(kept.body) for kept in evidence_log.read_evidence(edition.evidence, "turnitin")}


def readings(edition: Edition) -> dict[str, dict[str, Any]]:
    return {row["document"]: row for row in journaled(edition).readings.iter_rows(named=True)}


def test_an_asterisk_is_an_interval_and_never_a_number(ground: Ground) -> None:
    place, edition, rows = ground
    done = typed(place, edition, table(place, "first.csv", rows))
    assert (done.readings, done.once, done.undated, done.blank) == (5, 5, 0, 0)
    kept = {row["displayed"]: row for row in readings(edition).values()}
    assert {shown: (kept[shown]["score"], kept[shown]["label"]) for shown in SHOWN} == {
        "0%": ("0", None),
        "*%": (None, "*%"),
        "45%": ("45", None),
        "20 %": ("20", None),
        "100%": ("100", None),
    }
    card = cards.read_sealed_card(edition, "turnitin").card
    calls = {
        shown: cards.call_answer(card, card.boundary, kept[shown]["score"], kept[shown]["label"]) for shown in SHOWN
    }
    assert [calls[shown].strict for shown in SHOWN] == ["not-ai", "not-ai", "ai", "ai", "ai"]
    assert [shown for shown in SHOWN if calls[shown].uncertain] == ["*%"]
    inside = card.boundary.model_copy(update={"value": "10"})
    assert "lies inside the numbers" in str(cards.call_answer(card, inside, None, "*%").reason)


def test_a_number_stands_for_its_document_whatever_a_spreadsheet_made_of_it(ground: Ground) -> None:
    place, edition, rows = ground
    bare = [{**row, "number": row["number"].lstrip("0")} for row in rows]
    typed(place, edition, table(place, "first.csv", bare))
    shown = {row["number"]: row["displayed"] for row in rows}
    texts = {n: (place.private / "sheets" / "texts" / f"{n}.txt").read_text() for n in shown}
    for name, row in readings(edition).items():
        [number] = [n for n, text in texts.items() if text == screen_readings.TEXTS[name]]
        assert row["displayed"] == shown[number]
        assert bodies(edition)[name]["number"] == number


def test_what_was_typed_is_kept_word_for_word(ground: Ground) -> None:
    place, edition, rows = ground
    for row, shown in zip(rows, ("=1+1", "-12 %", "\n=x", '"AI", they say', " NA "), strict=True):
        row |= {"displayed": shown, "note": "007"}
    typed(place, edition, table(place, "first.csv", rows), as_displayed=True)
    kept = readings(edition)
    assert {row["displayed"] for row in kept.values()} == {"=1+1", "-12 %", "\n=x", '"AI", they say', " NA "}
    assert {row["score"] for row in kept.values()} == {None, "-12"}
    assert {body["readings"][0]["note"] for body in bodies(edition).values()} == {"007"}


def test_two_people_who_agree(ground: Ground) -> None:
    place, edition, rows = ground
    first = table(place, "first.csv", rows)
    done = typed(place, edition, first, second=table(place, "second.csv", second(rows, n2=" 45%")))
    assert (done.readings, done.once, done.one_hand, done.settled) == (5, 0, 0, ())
    assert {row["read_by"] for row in readings(edition).values()} == {"AB; CD"}
    for body in bodies(edition).values():
        assert [each["operator"] for each in body["readings"]] == ["AB", "CD"]
        assert "settled" not in body
    why = journaled(edition).stops[-1]["reason"]
    assert why.startswith("recorded 5 answers from first.csv, SHA-256 ")
    assert " and second.csv, SHA-256 " in why


def test_differences_are_listed_and_nothing_is_written(ground: Ground) -> None:
    place, edition, rows = ground
    before = study.read_bytes(edition.journals / "turnitin.jsonl")
    again = second(rows, n1="19%", n2="54%")
    again[0] |= {"displayed": "", "operator": ""}
    first, other = table(place, "first.csv", rows), table(place, "second.csv", again)
    with pytest.raises(FaultsError) as caught:
        typed(place, edition, first, second=other)
    numbers = [row["number"] for row in rows]
    assert [fault.fact for fault in caught.value.faults] == [
        f"{numbers[1]}: '*%' and '19%'",
        f"{numbers[2]}: '45%' and '54%'",
        f"{numbers[4]}: '100%' and nothing typed",
    ]
    assert caught.value.faults[0].place == f"{first}:3 and {other}:5"
    assert caught.value.exit_code == 1
    assert "--settle FILE" in str(caught.value)
    assert study.read_bytes(edition.journals / "turnitin.jsonl") == before
    assert bodies(edition) == {}


def test_a_settlement_is_part_of_the_record(ground: Ground) -> None:
    place, edition, rows = ground
    first, other = table(place, "first.csv", rows), table(place, "second.csv", second(rows, n2="54%"))
    number = rows[2]["number"]
    settled = table(
        place, "settled.csv", [{"number": number, "displayed": "54%", "by": "EF", "why": "the screenshot says 54%"}]
    )
    done = typed(place, edition, first, second=other, settlements=settled)
    [name] = [name for name, row in readings(edition).items() if row["displayed"] == "54%"]
    assert readings(edition)[name]["score"] == "54"
    assert done.settled == (
        f"{name} was read by AB and CD as '45%' and '54%'; settled as '54%' by EF: the screenshot says 54%",
    )
    body = bodies(edition)[name]
    assert [each["displayed"] for each in body["readings"]] == ["45%", "54%"]
    at = body["settled"].pop("at")
    assert body["settled"] == {"by": "EF", "displayed": "54%", "version": None, "why": "the screenshot says 54%"}
    assert at == readings(edition)[name]["at"] or at < readings(edition)[name]["at"]
    assert "settled.csv, SHA-256" in journaled(edition).stops[-1]["reason"]


@pytest.mark.parametrize(
    ("row", "fact"),
    [
        ({"displayed": "45%", "by": "", "why": "so"}, "says not what counts, who settled it, and why"),
        ({"displayed": "45%", "by": "EF", "why": " "}, "says not what counts, who settled it, and why"),
        ({"displayed": "45%", "by": "EF", "wy": "so"}, "the column 'wy' is none of a settlement"),
        ({"number": "1000", "displayed": "45%", "by": "EF", "why": "so"}, "'1000' is no number of this study"),
        ({"number": "x", "displayed": "45%", "by": "EF", "why": "so"}, "'x' is no number of this study"),
    ],
)
def test_a_settlement_that_is_none(ground: Ground, row: dict[str, str], fact: str) -> None:
    place, edition, rows = ground
    first, other = table(place, "first.csv", rows), table(place, "second.csv", second(rows, n2="54%"))
    settled = table(place, "settled.csv", [{"number": rows[2]["number"]} | row])
    with pytest.raises(FaultsError, match="'45%' and '54%'") as caught:
        typed(place, edition, first, second=other, settlements=settled)
    assert fact in str(caught.value)
    assert f"{settled}:2" in str(caught.value)


def test_what_nobody_disputes_is_not_settled(ground: Ground) -> None:
    place, edition, rows = ground
    first, other = table(place, "first.csv", rows), table(place, "second.csv", second(rows))
    one = {"number": rows[0]["number"], "displayed": "99%", "by": "EF", "why": "I like it better"}
    for further in ({"second": other}, {}):
        with pytest.raises(FaultsError, match="needs no settlement"):
            typed(place, edition, first, settlements=table(place, "settled.csv", [one]), **further)
    assert bodies(edition) == {}


def test_versions_that_differ_are_settled_too(ground: Ground) -> None:
    place, edition, rows = ground
    rows[0]["version"] = "2025"
    again = second(rows)
    again[-1]["version"] = "2026"
    first, other = table(place, "first.csv", rows), table(place, "second.csv", again)
    with pytest.raises(FaultsError, match="version '2025' and version '2026'"):
        typed(place, edition, first, second=other)
    one = {"number": rows[0]["number"], "displayed": rows[0]["displayed"], "by": "EF", "why": "as in the picture"}
    with pytest.raises(FaultsError, match="Settle them in a column `version`"):
        typed(place, edition, first, second=other, settlements=table(place, "s.csv", [one]))
    typed(place, edition, first, second=other, settlements=table(place, "s.csv", [one | {"version": "2026"}]))
    assert [row["version"] for row in readings(edition).values() if row["version"] is not None] == ["2026"]


def test_what_is_not_filled_in_waits(ground: Ground) -> None:
    place, edition, rows = ground
    half = [row if n < 2 else {**row, "displayed": " "} for n, row in enumerate(rows)]
    done = typed(place, edition, table(place, "half.csv", half))
    assert (done.readings, done.blank) == (2, 3)
    with pytest.raises(FaultsError) as caught:
        typed(place, edition, table(place, "all.csv", rows))
    assert [fault.fact for fault in caught.value.faults] == [
        f"{row['number']} has its final reading already, in turnitin.jsonl" for row in rows[:2]
    ]
    rest = typed(place, edition, table(place, "rest.csv", rows[2:]))
    assert (rest.readings, rest.blank, len(readings(edition))) == (3, 0, 5)
    with pytest.raises(PenmarkError, match="nothing is filled in"):
        typed(place, edition, table(place, "none.csv", [{**rows[0], "displayed": ""}]))


def test_a_number_that_is_on_no_sheet(ground: Ground) -> None:
    place, edition, rows = ground
    missing = next(f"{n:04d}" for n in range(1, 8) if f"{n:04d}" not in {row["number"] for row in rows})
    with pytest.raises(FaultsError, match=f"{missing} was skipped as not scannable"):
        typed(place, edition, table(place, "first.csv", [rows[0] | {"number": missing}]))
    with pytest.raises(FaultsError, match=r"'0' is no number of this study\n.*from 0001 to 0007"):
        typed(place, edition, table(place, "first.csv", [rows[0] | {"number": "0"}]))
    with pytest.raises(FaultsError, match="is the second row about"):
        typed(place, edition, table(place, "first.csv", [rows[0], rows[0] | {"number": rows[0]["number"].lstrip("0")}]))
    with pytest.raises(FaultsError, match="no number"):
        typed(place, edition, table(place, "first.csv", [rows[0] | {"number": ""}]))


def test_screens_that_were_read_outside_the_window_are_told(ground: Ground) -> None:
    place, edition, rows = ground
    rows[1]["date"] = "2020-05-01"
    done = typed(place, edition, table(place, "first.csv", rows), retrospective=True)
    [told] = done.otherwise
    assert told.startswith("1 screens were read outside the promised window, ")
    assert done.notes == []


@pytest.mark.parametrize("whose", ["first", "second"])
def test_a_row_says_who_read_the_screen(ground: Ground, whose: str) -> None:
    place, edition, rows = ground
    again = second(rows)
    (rows if whose == "first" else again)[1]["operator"] = " "
    first, other = table(place, "first.csv", rows), table(place, "second.csv", again)
    with pytest.raises(FaultsError, match=f"{whose}.csv:3: says not who read the screen\n.*--by NAME"):
        typed(place, edition, first, second=other)
    assert bodies(edition) == {}
    assert typed(place, edition, first, second=other, by="EF").readings == 5


def test_one_hand_is_told(ground: Ground) -> None:
    place, edition, rows = ground
    again = [{**row, "operator": "AB"} for row in rows]
    first, other = table(place, "first.csv", rows), table(place, "second.csv", again)
    assert typed(place, edition, first, second=other).one_hand == 5
    assert {row["read_by"] for row in readings(edition).values()} == {"AB"}


def test_ids_can_be_typed_twice_as_well(ground: Ground) -> None:
    place, edition, _ = ground
    rows = [
        {"document": "A-1", "displayed": "12%", "operator": "AB", "date": screen_readings.now()},
        {"document": "C-1", "displayed": "*%", "operator": "AB", "date": screen_readings.now()},
    ]
    first, other = (
        table(place, "first.csv", rows),
        table(place, "second.csv", [rows[1], rows[0] | {"displayed": "21%"}]),
    )
    with pytest.raises(FaultsError, match="A-1: '12%' and '21%'"):
        typed(place, edition, first, second=other)
    settled = table(place, "s.csv", [{"document": "A-1", "displayed": "12%", "by": "EF", "why": "seen"}])
    done = typed(place, edition, first, second=other, settlements=settled)
    assert done.settled[0].startswith("A-1 was read by AB and AB as '12%' and '21%'; settled")
    assert bodies(edition)["A-1"]["document"] == "A-1"


def test_a_table_with_other_columns_is_kept_with_the_known_ones_beside_it(ground: Ground) -> None:
    place, edition, rows = ground
    names = {"number": "Nr", "displayed": "shown", "date": "day", "operator": "who"}
    fields = columns.parse(("number=Nr", "displayed=shown", "date=day", "read_by=who"))
    own = [{other: row[name] for name, other in names.items()} | {"version": "as I recall"} for row in rows]
    typed(place, edition, table(place, "first.csv", own), mapping=fields, as_displayed=True)
    kept = sorted(bodies(edition).values(), key=lambda body: body["number"])
    read = [{**{name: row[name] for name in names}, "row": typed_row} for row, typed_row in zip(rows, own, strict=True)]
    assert [body["readings"] for body in kept] == [[row] for row in sorted(read, key=lambda row: row["number"])]
    assert {body["version"] for body in kept} == {None}


def test_only_typed_readings_of_a_screen_can_be_typed_twice(ground: Ground, tmp_path: Path) -> None:
    place, edition, rows = ground
    first = table(place, "first.csv", rows)
    answers = table(place, "answers.csv", [{"number": row["number"], "score": row["displayed"]} for row in rows])
    with pytest.raises(UsageError, match="only readings that people typed"):
        typed(place, edition, answers, mapping=columns.parse(["document=number"]), second=answers)
    with pytest.raises(UsageError, match="by id or by number"):
        columns.parse(["document=a", "number=b"])
    other, closed = screen_readings.made(tmp_path / "other", screen_readings.turnitin(name="length", card="length"))
    with pytest.raises(UsageError, match="reads raw answers, not what a screen displays"):
        record_answers(other, closed, first, Import("length", elsewhere=True))
