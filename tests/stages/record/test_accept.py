"""What answers need before they become final: a date that leaves the edition as it is, a call, a reader, somebody asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.frozen_study import detector, frozen
from tests.stages.record.test_record import PERCENT, SEEN, made, readings, untouched, written

from penmark import journal, study
from penmark.errors import FaultsError, PenmarkError, UsageError
from penmark.format import canonical_json
from penmark.stages import score
from penmark.stages.record import Import, columns, record_answers
from penmark.study import Edition, Study

PROMISED = "2026-10-01"
"""The day on which the studies of these tests are promised, at midnight."""
HEADER = "document,displayed,date,operator\n"


def typed(place: Study, edition: Edition, path: Path, **further: bool) -> int:
    return record_answers(place, edition, path, Import("seen", **further)).readings  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("date", "fact"),
    [
        ("", r"1 answer has no date; the whole edition would be retrospective"),
        ("2026-09-30", r"1 answer is older than the promise of 2026-10-01T00:00:00Z; the whole edition would be"),
        ("2026-09-30T23:59:59.999999Z", r"1 answer is older than the promise"),
        ("2026-10-01T01:00:00+02:00", r"1 answer is older than the promise"),
        (PROMISED, r"1 answers say 2026-10-01, the day of the promise .*, and no time"),
        ("20261001", r"1 answers say 2026-10-01, the day of the promise .*, and no time"),
    ],
)
def test_one_answer_does_not_silently_make_the_edition_retrospective(tmp_path: Path, date: str, fact: str) -> None:
    place, edition = made(tmp_path, PERCENT)
    path = written(tmp_path, f"{HEADER}001,10%,2026-10-02,AB\n002,20%,{date},AB\n", "hand.csv")
    with pytest.raises(FaultsError, match=fact) as caught:
        typed(place, edition, path)
    [fault] = caught.value.faults
    assert fault.place == f"{path}:3"
    assert "--retrospective" in str(fault.remedy)
    assert untouched(edition)
    assert typed(place, edition, path, retrospective=True) == 2


def test_the_day_of_the_promise_is_asked_for_its_time(tmp_path: Path) -> None:
    place, edition = made(tmp_path, PERCENT)
    path = written(tmp_path, f"{HEADER}001,10%,{PROMISED},AB\n", "hand.csv")
    with pytest.raises(FaultsError, match="Write the time in UTC: 2026-10-01T14:05:00Z"):
        typed(place, edition, path)
    given = "2026-10-01T00:00:00Z"
    typed(place, edition, written(tmp_path, f"{HEADER}001,10%,{given},AB\n", "hand.csv"))
    assert readings(edition)["001"]["got_at"] == given  # the moment of the promise itself is not before it


def test_later_days_may_stay_days(tmp_path: Path) -> None:
    place, edition = made(tmp_path, PERCENT)
    typed(place, edition, written(tmp_path, f"{HEADER}001,10%,2026-10-02,AB\n", "hand.csv"))
    assert readings(edition)["001"]["got_at"] == "2026-10-02T00:00:00Z"


def test_a_kept_file_without_dates_names_its_rows_in_one_fault(tmp_path: Path) -> None:
    texts: dict[str, str | bytes] = {f"{n}": f"text {n}" for n in range(7)}
    place, edition = made(tmp_path, SEEN, texts)
    path = written(tmp_path, "".join(f'{{"id": "{n}", "score": 0.5}}\n' for n in range(7)), "a.jsonl")
    with pytest.raises(FaultsError) as caught:
        record_answers(place, edition, path, Import("seen", columns.parse(["document=id"])))
    [fault] = caught.value.faults
    assert fault.place == f"{path}:1, 2, 3, 4, 5 and 2 more rows"
    assert fault.fact.startswith("7 answers have no date; ")


def test_what_is_no_answer_makes_no_edition_retrospective(tmp_path: Path) -> None:
    place, edition = made(tmp_path)
    done = record_answers(
        place, edition, written(tmp_path, '[{"id": "001"}]'), Import("seen", columns.parse(["document=id"]))
    )
    assert list(done.states) == ["declined: nothing in the answer where the card looks for it"]


def test_an_answer_about_another_text_is_an_answer_all_the_same(tmp_path: Path) -> None:
    """What is declined has a date as well: the rules could have been written after it."""
    place, edition = made(tmp_path)
    path = written(tmp_path, '[{"id": "001", "score": 0.9, "text": "another"}]')
    wanted = Import("seen", columns.parse(["document=id"]))
    with pytest.raises(FaultsError, match="1 answer has no date; the whole edition would be retrospective"):
        record_answers(place, edition, path, wanted)
    assert untouched(edition)
    done = record_answers(place, edition, path, replace(wanted, retrospective=True))
    assert (done.states, done.undated, done.older) == ({"declined: other text scanned": 1}, 1, 0)
    assert score.score_edition(edition).timing == "retrospective"
    further = written(tmp_path, '[{"id": "002", "score": 0.9}]')
    assert record_answers(place, edition, further, wanted).readings == 1  # it is so already


def test_a_typed_display_of_another_text_needs_a_date_too(tmp_path: Path) -> None:
    for number, card in enumerate((PERCENT, SEEN)):
        place, edition = made(tmp_path / str(number), card)
        path = written(tmp_path, "document,displayed,text,operator\n001,10%,another,AB\n", "t.csv")
        with pytest.raises(FaultsError, match="1 answer has no date"):
            typed(place, edition, path)
        typed(place, edition, path, retrospective=True)
        assert score.score_edition(edition).timing == "retrospective"


def test_undated_and_older_answers_are_counted(tmp_path: Path) -> None:
    place, edition = made(tmp_path, PERCENT)
    path = written(tmp_path, f"{HEADER}001,10%,,AB\n002,20%,2026-09-30,AB\n003,30%,2026-10-02,AB\n", "a.csv")
    done = record_answers(place, edition, path, Import("seen", retrospective=True))
    assert (done.undated, done.older) == (1, 1)


@pytest.mark.parametrize("said", ["Pre-committed rules", "precommitted"])
def test_what_is_promised_as_pre_committed_cannot_become_retrospective(tmp_path: Path, said: str) -> None:
    card = PERCENT.replace("title: A detector for tests", f"title: {said}")
    assert card != PERCENT
    place, edition = made(tmp_path, card)
    older = written(tmp_path, f"{HEADER}001,10%,2026-09-30,AB\n", "a.csv")
    with pytest.raises(FaultsError, match=r"says (?i:pre-?committed).*\n.*penmark init --edition") as caught:
        typed(place, edition, older, retrospective=True)
    assert caught.value.faults[0].place == str(edition.sealed_card("seen"))
    assert untouched(edition)
    later = written(tmp_path, f"{HEADER}001,10%,2026-10-02,AB\n", "a.csv")
    assert typed(place, edition, later, retrospective=True) == 1  # which makes nothing retrospective


def test_an_edition_that_is_retrospective_has_nothing_to_lose(tmp_path: Path) -> None:
    place, edition = made(tmp_path, PERCENT)
    typed(place, edition, written(tmp_path, f"{HEADER}001,10%,,AB\n", "a.csv"), retrospective=True)
    assert typed(place, edition, written(tmp_path, f"{HEADER}002,10%,,AB\n003,10%,2020-01-01,AB\n", "b.csv")) == 2


# --- slips of the finger ---------------------------------------------------------------------------------------------


def test_displays_that_come_to_no_call_are_listed(tmp_path: Path) -> None:
    texts: dict[str, str | bytes] = {f"{n}": f"text {n}" for n in range(1, 6)}
    place, edition = made(tmp_path, PERCENT, texts)
    shown = ("40", "140%", "abc", "40%", "AI written")
    rows = "".join(f"{n},{each},2026-10-02,AB\n" for n, each in enumerate(shown, 1))
    path = written(tmp_path, HEADER + rows, "hand.csv")
    with pytest.raises(FaultsError) as caught:
        typed(place, edition, path)
    assert [(fault.place, fault.fact) for fault in caught.value.faults] == [
        (f"{path}:2", "1 shows '40', which comes to no call: it is a verdict that its card does not know"),
        (f"{path}:3", "2 shows '140%', which comes to no call: it is outside the scale 0 to 100 of its card"),
        (f"{path}:4", "3 shows 'abc', which comes to no call: it is a verdict that its card does not know"),
        (f"{path}:6", "5 shows 'AI written', which comes to no call: it has no number"),
    ]
    assert "--as-displayed" in str(caught.value)
    assert untouched(edition)
    assert typed(place, edition, path, as_displayed=True) == 5
    assert {name: row["displayed"] for name, row in readings(edition).items()} == dict(zip(texts, shown, strict=True))


@pytest.mark.parametrize("shown", ["63,5%", "63,5 %", "1,5%"])
def test_a_comma_where_a_point_would_make_a_number_is_pointed_at(tmp_path: Path, shown: str) -> None:
    place, edition = made(tmp_path, PERCENT)
    path = written(tmp_path, f'{HEADER}001,"{shown}",2026-10-02,AB\n002,"yes, AI",2026-10-02,AB\n', "hand.csv")
    with pytest.raises(FaultsError) as caught:
        typed(place, edition, path)
    comma, other = (str(fault) for fault in caught.value.faults)
    assert "Does a comma stand there where the screen shows a point?" in comma
    assert "Does a comma stand" not in other
    assert untouched(edition)
    assert typed(place, edition, path, as_displayed=True) == 2
    assert readings(edition)["001"]["score"] is None  # kept as it is: nobody guesses


def test_many_commas_are_told_once(tmp_path: Path) -> None:
    texts: dict[str, str | bytes] = {f"{n}": f"text {n}" for n in range(1, 7)}
    place, edition = made(tmp_path, PERCENT, texts)
    rows = "".join(f'{n},"1{n},5%",2026-10-02,AB\n' for n in range(1, 6)) + "6,abc,2026-10-02,AB\n"
    with pytest.raises(FaultsError) as caught:
        typed(place, edition, written(tmp_path, HEADER + rows, "hand.csv"))
    assert ["Does a comma stand" in str(fault) for fault in caught.value.faults] == [True, False]


def test_raw_answers_are_no_slips(tmp_path: Path) -> None:
    place, edition = made(tmp_path)
    path = written(tmp_path, '[{"id": "001", "score": "7", "at": "2026-10-02"}]')
    done = record_answers(place, edition, path, Import("seen", columns.parse(["document=id", "date=at"])))
    assert done.states == {"answered": 1}
    assert [each.message for each in done.misses] == [
        "1 answer is outside the scale 0 to 1 of its card (7 about 001); it is kept as it is and counts as no result"
    ]


@pytest.mark.parametrize("table", [f"{HEADER}001,10%,2026-10-02,\n", "document,displayed,date\n001,10%,2026-10-02\n"])
def test_who_read_the_screen_is_said(tmp_path: Path, table: str) -> None:
    place, edition = made(tmp_path, PERCENT)
    path = written(tmp_path, table, "hand.csv")
    with pytest.raises(FaultsError, match=r"hand\.csv:2: says not who read the screen\n.*--by NAME"):
        typed(place, edition, path)
    assert untouched(edition)
    record_answers(place, edition, path, Import("seen", by="AB"))
    assert readings(edition)["001"]["read_by"] == "AB"


# --- a detector that a program asks ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "table"),
    [("a.csv", HEADER + "a,0.25,2026-10-02,AB\n"), ("a.json", '[{"document": "a", "score": "0.25", "version": "1"}]')],
)
def test_answers_do_not_slip_into_the_row_of_a_plugin(tmp_path: Path, name: str, table: str) -> None:
    place, edition = frozen(tmp_path / "study", {"a": "text one"}, detector("coin"))
    path = written(tmp_path, table, name)
    with pytest.raises(UsageError, match=r"coin is asked by a plugin, .*\n.*--elsewhere") as caught:
        record_answers(place, edition, path, Import("coin"))
    assert caught.value.faults[0].place == "detectors/coin.json"
    assert untouched(edition)
    record_answers(place, edition, path, Import("coin", retrospective=True, elsewhere=True))
    [one] = journal.read_journals(
        edition.journal_files(), canonical_json.sha256(study.read_bytes(edition.seal("corpus")))
    )
    assert one.readings["origin"].to_list() == ["typed" if name == "a.csv" else "recorded"]


def test_answers_do_not_slip_into_the_row_of_a_vendor_that_is_asked_over_http(tmp_path: Path) -> None:
    place, edition = frozen(tmp_path / "study", {"a": "text one"}, detector("winston", surface="api"))
    path = written(tmp_path, HEADER + "a,0.25,2026-10-02,AB\n", "a.csv")
    with pytest.raises(UsageError, match=r"winston is asked .*HTTP.*\n.*--elsewhere"):
        record_answers(place, edition, path, Import("winston"))
    assert untouched(edition)
    record_answers(place, edition, path, Import("winston", retrospective=True, elsewhere=True))
    [one] = journal.read_journals(
        edition.journal_files(), canonical_json.sha256(study.read_bytes(edition.seal("corpus")))
    )
    assert one.readings["origin"].to_list() == ["typed"]


def test_every_refusal_is_told_at_once(tmp_path: Path) -> None:
    place, edition = made(tmp_path, PERCENT)
    table = f"{HEADER}001,10,2026-10-02,AB\n002,10%,,AB\n003,10%,2020-01-01,AB\n"
    with pytest.raises(PenmarkError) as caught:
        typed(place, edition, written(tmp_path, table, "hand.csv"))
    assert [str(fault.place)[-1] for fault in caught.value.faults] == ["3", "4", "2"]
