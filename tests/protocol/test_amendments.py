"""Amendments and deviations: what they bind, how they are carried, and what is told of them."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from penmark import study
from penmark.errors import PenmarkError, UsageError
from penmark.format import canonical_json
from penmark.protocol import amendments, promise_chain
from penmark.protocol.amendments import announce_amendment
from penmark.records import Amendment
from penmark.study import Edition, Study

AT = "2026-12-01T10:00:00Z"
WORDS = {"what": "More words.", "why": "Few texts fit.", "before": "300 to 1,200 words", "after": "200 to 1,200 words"}


def edition(place: Study, tag: str, *, promised: bool = True) -> Edition:
    made = Edition(place.root / "editions" / tag)
    made.root.mkdir(parents=True)
    if promised:
        study.write_bytes(made.seal("promise"), b"{}")
    return made


@pytest.fixture
def place(tmp_path: Path) -> Study:
    return Study(tmp_path)


@pytest.fixture
def first(place: Study) -> Edition:
    return edition(place, "BENCH-2026-Q4")


# --- announcing ----------------------------------------------------------------------------------------------------


def test_an_amendment_is_numbered_canonical_and_binds_the_next_quarter(place: Study, first: Edition) -> None:
    path = announce_amendment(place.editions(), first, **WORDS, now=AT)
    assert path == first.amendments / "0001.json"
    expected = {"number": 1, "binds_from": "BENCH-2027-Q1", "announced_at": AT, **WORDS}
    assert path.read_bytes() == canonical_json.encode_json(expected)
    assert promise_chain.read_amendment(path) == Amendment(**expected)
    second = announce_amendment(place.editions(), first, **WORDS, now=AT, binds_from="BENCH-2028-Q3")
    assert promise_chain.read_amendment(second).number == 2
    assert promise_chain.read_amendment(second).binds_from == "BENCH-2028-Q3"


@pytest.mark.parametrize("tag", ["BENCH-2026-Q4", "BENCH-2026-Q1", "OTHER-2027-Q1"])
def test_an_amendment_binds_later_editions_of_its_series_only(place: Study, first: Edition, tag: str) -> None:
    with pytest.raises(UsageError, match="cannot bind") as caught:
        announce_amendment(place.editions(), first, **WORDS, now=AT, binds_from=tag)
    assert "--binds-from BENCH-2027-Q1" in str(caught.value)
    assert not first.amendments.exists()


def test_a_tag_that_is_none(place: Study, first: Edition) -> None:
    with pytest.raises(UsageError, match=r"'soon' is not an edition's tag\n.*--binds-from BENCH-2027-Q1\."):
        announce_amendment(place.editions(), first, **WORDS, now=AT, binds_from="soon")
    assert not first.amendments.exists()


def test_where_nothing_is_promised_there_is_nothing_to_amend(place: Study) -> None:
    fresh = edition(place, "BENCH-2026-Q4", promised=False)
    with pytest.raises(UsageError, match="nothing is promised") as caught:
        announce_amendment(place.editions(), fresh, **WORDS, now=AT)
    assert "penmark commit" in str(caught.value)
    assert amendments.find_promised_last(place.editions()) is None


def test_the_quarters() -> None:
    assert amendments.name_next_quarter("BENCH-2026-Q3") == "BENCH-2026-Q4"
    assert amendments.name_next_quarter("BENCH-2026-Q4") == "BENCH-2027-Q1"
    tags = ["B-2025-Q4", "A-2026-Q1", "B-2026-Q2"]
    assert sorted(tags, key=amendments.quarter) == tags


# --- carrying, and what is in force --------------------------------------------------------------------------------


def test_editions_carry_what_was_announced_before_them(place: Study, first: Edition) -> None:
    one = announce_amendment(place.editions(), first, **WORDS, now=AT)
    announce_amendment(place.editions(), first, **WORDS, now=AT, binds_from="BENCH-2027-Q2")
    study.write_bytes(first.amendments / "0001-one.tsr", b"a token")
    second = edition(place, "BENCH-2027-Q1")
    assert amendments.find_promised_last(place.editions()) == second
    carried = amendments.carry_amendments(place.editions(), second)
    assert carried == [second.amendments / "0001.json", second.amendments / "0002.json"]
    assert (second.amendments / "0001.json").read_bytes() == one.read_bytes()
    assert (second.amendments / "0001-one.tsr").read_bytes() == b"a token"
    third = announce_amendment(place.editions(), second, **WORDS, now="2027-02-01T00:00:00Z")
    assert third.name == "0003.json"
    assert amendments.carry_amendments(place.editions(), second) == carried
    assert amendments.list_own_amendments(place.editions(), second) == [third]
    assert len(amendments.list_own_amendments(place.editions(), first)) == 2

    def numbers(tag: str) -> list[int]:
        return [a.number for a in amendments.list_in_force(place.editions(), tag)]

    assert [numbers(f"BENCH-{q}") for q in ("2026-Q4", "2027-Q1", "2027-Q2")] == [[], [1], [1, 2, 3]]


def test_two_amendments_of_one_number_are_a_fault(place: Study, first: Edition) -> None:
    path = announce_amendment(place.editions(), first, **WORDS, now=AT)
    second = edition(place, "BENCH-2027-Q1")
    other = {**promise_chain.read_amendment(path).model_dump(), "after": "anything"}
    study.write_bytes(second.amendments / "0001.json", canonical_json.encode_json(other))
    for use in (amendments.announced, lambda e: amendments.carry_amendments(e, second)):
        with pytest.raises(PenmarkError, match="is another amendment 1"):
            use(place.editions())


@pytest.mark.parametrize(
    ("name", "data", "fact"),
    [
        ("0002.json", None, "holds amendment 1"),
        ("0001.json", b"{}", "Field required"),
        ("0001.json", b"[", "not valid JSON"),
        ("0001.json", b'{"number": 1}', "not in canonical form"),
    ],
)
def test_files_that_hold_no_such_amendment(
    place: Study, first: Edition, name: str, data: bytes | None, fact: str
) -> None:
    path = announce_amendment(place.editions(), first, **WORDS, now=AT)
    target = path.with_name(name)
    study.write_bytes(target, path.read_bytes() if data is None else data)
    with pytest.raises(PenmarkError, match=fact) as caught:
        promise_chain.read_amendment(target)
    assert str(target) in str(caught.value)


def test_before_a_promise_by_token_or_else_by_its_word() -> None:
    amendment = Amendment(number=1, binds_from="BENCH-2027-Q1", announced_at=AT, **WORDS)
    promised = "2027-01-10T00:00:00Z"
    assert amendments.is_sealed_before(amendment, [], promised)
    assert amendments.is_sealed_before(amendment, [], AT)
    assert not amendments.is_sealed_before(amendment, [], "2026-12-01T09:59:59.900000Z")
    late, early = "2027-01-10T00:00:00.100000Z", "2027-01-09T00:00:00Z"
    assert not amendments.is_sealed_before(amendment, [late], promised)
    assert amendments.is_sealed_before(amendment, [late, early], promised)


# --- deviations ----------------------------------------------------------------------------------------------------


def test_deviations_are_lines_that_stay(first: Edition) -> None:
    assert amendments.read_deviations(first) == []
    one = amendments.add_deviation(first, "A power cut.", now=AT)
    two = amendments.add_deviation(first, "No answer for a day.", "zippy", now=AT)
    line = canonical_json.encode_json({"at": AT, "detector": None, "what": "A power cut."})
    assert first.deviations.read_bytes().split(b"\n")[0] == line
    assert amendments.read_deviations(first) == [one, two]


def test_a_line_that_a_crash_left_unfinished_is_put_aside(first: Edition) -> None:
    amendments.add_deviation(first, "first", now=AT)
    whole = first.deviations.read_bytes()
    first.deviations.write_bytes(whole + b'{"at":')
    amendments.add_deviation(first, "second", now=AT)
    assert [d.what for d in amendments.read_deviations(first)] == ["first", "second"]
    torn = first.root / "deviations.jsonl.torn"
    assert torn.read_bytes() == b'{"at":\n'
    first.deviations.write_bytes(first.deviations.read_bytes() + b'{"a')
    amendments.add_deviation(first, "third", now=AT)
    assert torn.read_bytes() == b'{"at":\n{"a\n'


def test_many_at_once_lose_nothing(first: Edition) -> None:
    threads = [
        threading.Thread(target=amendments.add_deviation, args=(first, f"{n}"), kwargs={"now": AT}) for n in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(int(d.what) for d in amendments.read_deviations(first)) == list(range(16))


def test_values_that_no_deviation_has(first: Edition) -> None:
    with pytest.raises(PenmarkError, match="is not a time in UTC"):
        amendments.add_deviation(first, "x", now="yesterday")
    with pytest.raises(PenmarkError, match="detector: is not a name of lower-case letters"):
        amendments.add_deviation(first, "x", "A Name", now=AT)
    assert not first.deviations.exists()
    first.deviations.write_bytes(b'{"at":1,"detector":null,"what":"x"}\n')
    with pytest.raises(PenmarkError, match=r"deviations\.jsonl:1"):
        amendments.read_deviations(first)


# --- the changelog -------------------------------------------------------------------------------------------------


def test_the_changelog_is_newest_first_and_each_amendment_once(place: Study, first: Edition) -> None:
    announce_amendment(place.editions(), first, **{**WORDS, "what": "More\n  words."}, now=AT)
    amendments.add_deviation(first, "A power cut.", "zippy", now="2026-12-02T00:00:00.500000Z")
    amendments.add_deviation(first, "Later the same second.", now="2026-12-02T00:00:00.600000Z")
    second = edition(place, "BENCH-2027-Q1")
    amendments.carry_amendments(place.editions(), second)
    text = amendments.render_changes(place.editions())
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "# Changes",
        "## Deviation in BENCH-2026-Q4, 2026-12-02T00:00:00.600000Z",
        "## Deviation in BENCH-2026-Q4, zippy, 2026-12-02T00:00:00.500000Z",
        f"## Amendment 1, announced {AT}",
    ]
    assert "Binds BENCH-2027-Q1 and later editions. More words.\n" in text
    assert "- Before: 300 to 1,200 words\n- After: 200 to 1,200 words\n- Why: Few texts fit.\n" in text
    assert text == amendments.render_changes(place.editions())


def test_the_changelog_of_a_study_without_changes(place: Study, first: Edition) -> None:
    assert amendments.render_changes(place.editions()).endswith("\n\nNothing was changed so far.\n")
