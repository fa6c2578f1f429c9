"""Answers that exist elsewhere: typed, recorded, by id and by position; nothing is written unless every row is good."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.frozen_study import SALT, attested, detector, frozen
from tests.scripted_detector import CARD

from penmark import journal, study
from penmark.errors import FaultsError, PenmarkError, UsageError, suggest_name
from penmark.format import canonical_json
from penmark.journal import evidence_log
from penmark.stages.record import Import, Recorded, columns, record_answers
from penmark.stages.scan import open_scan
from penmark.study import Edition, Study

SEEN = CARD.replace("name: acting", "name: seen").replace("{by: plugin, plugin: acting}", "{by: people}")
PERCENT = (
    SEEN.replace("{displayed: /score, score: /score, version: /version, text: /text}", "{}")
    .replace('high: "1"}', 'high: "100", unit: percent}\nverdicts: {"*%": uncertain, AI written: ai}')
    .replace('value: "0.5"', 'value: "50"')
)
TEXTS: dict[str, str | bytes] = {"001": "first text", "002": "second text", "003": "third text, “quoted”"}


def made(
    tmp_path: Path, card: str = SEEN, texts: dict[str, str | bytes] = TEXTS, **further: Any
) -> tuple[Study, Edition]:
    return frozen(tmp_path / "study", texts, detector("seen", surface="web"), cards={"seen": card}, **further)


def written(tmp_path: Path, content: str | bytes, name: str = "answers.json") -> Path:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def imported(place: Study, edition: Edition, path: Path, *maps: str, **options: Any) -> Recorded:
    """``path`` imported; answers may be of any age unless ``options`` say otherwise."""
    wanted = columns.parse(maps) if maps else None
    return record_answers(place, edition, path, Import("seen", wanted, **{"retrospective": True} | options))


def found(edition: Edition, name: str = "seen") -> journal.Journal:
    return journal.read_journal(
        edition.journals / f"{name}.jsonl", canonical_json.sha256(study.read_bytes(edition.seal("corpus")))
    )


def readings(edition: Edition) -> dict[str, dict[str, Any]]:
    return {row["document"]: row for row in found(edition).readings.iter_rows(named=True)}


def untouched(edition: Edition) -> bool:
    return not edition.journals.exists() and not list(edition.evidence.glob("*.jsonl"))


ROWS = """[
  {"id": "002", "text": "second text", "score": 0.50, "version": "v1", "nested": {"NaN": NaN}},
  {"id": "001",
   "text": "first text", "score": 1e-7, "version": "v1"} ,
  {"id": "003", "text": "third text, “quoted”", "score": "0.7", "version": "v2"}]
"""


def test_recorded_answers_keep_every_digit_and_their_own_characters(tmp_path: Path) -> None:
    place, edition = made(tmp_path)
    done = imported(place, edition, written(tmp_path, ROWS), "document=id", by="the authors")
    assert (done.readings, done.states, done.undated) == (3, {"answered": 3}, 3)
    kept = readings(edition)
    assert [kept[name]["score"] for name in ("001", "002", "003")] == ["1e-7", "0.50", "0.7"]
    assert {row["origin"] for row in kept.values()} == {"recorded"}
    assert {row["got_at"] for row in kept.values()} == {None}
    assert kept["001"]["read_by"] == "the authors"
    assert (kept["003"]["version"], kept["003"]["version_asked"]) == ("v2", None)
    bodies = {item.document: item.body.decode() for item in evidence_log.read_evidence(edition.evidence, "seen")}
    assert (
        bodies["002"] == '{"id": "002", "text": "second text", "score": 0.50, "version": "v1", "nested": {"NaN": NaN}}'
    )
    assert bodies["001"] == '{"id": "001",\n   "text": "first text", "score": 1e-7, "version": "v1"}'
    assert [item.document for item in evidence_log.read_evidence(edition.evidence, "seen")] == ["002", "001", "003"]
    assert found(edition).readings["document"].to_list() == ["002", "001", "003"]
    assert found(edition).stops[0]["reason"].startswith("recorded 3 answers from answers.json, SHA-256 ")
    assert done.heads["journal/seen.jsonl"].head == found(edition).head


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_lines_of_json_are_read_as_well(tmp_path: Path, ending: str) -> None:
    place, edition = made(tmp_path)
    rows = [{"id": n, "score": "0.1", "at": f"2023-03-1{n[-1]}"} for n in TEXTS]
    text = ending.join(json.dumps(row) for row in rows) + ending + ending
    done = imported(place, edition, written(tmp_path, "\ufeff" + text, "a.jsonl"), "document=/id", "date=at")
    assert (done.readings, done.undated) == (3, 0)
    assert readings(edition)["002"]["got_at"] == "2023-03-12T00:00:00Z"


def test_csv_with_bom_crlf_quotes_and_empty_cells(tmp_path: Path) -> None:
    card = SEEN.replace("score: /score", "score: /AI Score").replace("displayed: /score, ", "")
    place, edition = made(tmp_path, card, {"001": "one,\r\ntwo", "002": "x", "003": "y"})
    table = '\ufeffIndex,AI Score,text\r\n003,0.50,\r\n001,"1.00","one,\r\ntwo"\r\n002,,x\r\n'
    done = imported(place, edition, written(tmp_path, table, "a.csv"), "document=Index")
    assert done.states == {"answered": 2, "declined: nothing in the answer where the card looks for it": 1}
    kept = readings(edition)
    assert (kept["001"]["score"], kept["003"]["score"], kept["002"]["score"]) == ("1.00", "0.50", None)
    bodies = {item.document: json.loads(item.body) for item in evidence_log.read_evidence(edition.evidence, "seen")}
    assert bodies["003"] == {"Index": "003", "AI Score": "0.50", "text": None}
    assert kept["001"]["state"] == "answered"


def ordered(tmp_path: Path, *names: str) -> Path:
    return written(tmp_path, "\n".join(names), "order.txt")


def test_going_by_position_follows_the_order_of_the_file_that_names_it(tmp_path: Path) -> None:
    place, edition = made(tmp_path)
    rows = [{"score": f"0.{n}", "document": text} for n, text in enumerate(TEXTS.values(), 1)]
    rows[1]["text"] = "another text"
    done = imported(
        place,
        edition,
        written(tmp_path, json.dumps(rows)),
        "document=position",
        arm="A",
        order=ordered(tmp_path, *TEXTS),
    )
    assert done.states == {"answered": 2, "declined: other text scanned": 1}
    kept = readings(edition)
    assert [kept[name]["score"] for name in sorted(TEXTS)] == ["0.1", "0.2", "0.3"]
    assert kept["002"]["state"] == "declined"


def test_position_needs_an_arm_and_a_row_for_each_document(tmp_path: Path) -> None:
    place, edition = made(tmp_path)
    path = written(tmp_path, '[{"score": 1}]')
    with pytest.raises(UsageError, match="needs an arm"):
        imported(place, edition, path, "document=position")
    with pytest.raises(UsageError, match=r"no arm 'B'"):
        imported(place, edition, path, "document=position", arm="B")
    with pytest.raises(UsageError, match="needs a file that names the order"):
        imported(place, edition, path, "document=position", arm="A")
    with pytest.raises(UsageError, match="the answers name their texts"):
        imported(place, edition, path, "document=score", arm="A", order=ordered(tmp_path, *TEXTS))
    with pytest.raises(PenmarkError, match="1 rows, and the order names 3 documents"):
        imported(place, edition, path, "document=position", arm="A", order=ordered(tmp_path, *TEXTS))
    assert untouched(edition)


# --- typed ---------------------------------------------------------------------------------------------------------


def test_typed_readings_are_what_the_screen_showed(tmp_path: Path) -> None:
    place, edition = made(tmp_path, PERCENT)
    table = (
        "document,displayed,date,version,operator\n"
        "001, 87 % ,2026-11-30T01:00:00+01:00,Nov 2026,AB\n"
        "002,*%,2026-11-30T00:00:00.5Z,,AB\n"
        '003,"Sorry, too short",,,\n'
    )
    done = imported(place, edition, written(tmp_path, table, "typed.csv"), by="CD", as_displayed=True)
    assert (done.states, done.undated) == ({"answered": 3}, 1)
    kept = readings(edition)
    assert {row["origin"] for row in kept.values()} == {"typed"}
    assert (kept["001"]["displayed"], kept["001"]["score"], kept["001"]["label"]) == (" 87 % ", "87", None)
    assert (kept["001"]["got_at"], kept["001"]["version"], kept["001"]["read_by"]) == (
        "2026-11-30T00:00:00Z",
        "Nov 2026",
        "AB",
    )
    assert (kept["002"]["label"], kept["002"]["score"], kept["002"]["got_at"]) == (
        "*%",
        None,
        "2026-11-30T00:00:00.500000Z",
    )
    assert (kept["003"]["label"], kept["003"]["read_by"], kept["003"]["got_at"]) == ("Sorry, too short", "CD", None)
    assert {row["evidence_sha256"] for row in kept.values()} == {None}
    assert not list(edition.evidence.glob("*"))


def test_a_typed_row_is_kept_as_evidence_where_the_card_reads_the_same_from_it(tmp_path: Path) -> None:
    answer = "{displayed: /displayed, score: /displayed, version: /version}"
    card = SEEN.replace("{displayed: /score, score: /score, version: /version, text: /text}", answer)
    place, edition = made(tmp_path, card)
    table = "document,displayed,version\n001,0.70,2.1\n002,AI,2.1\n003, 0.1,2.1\n"
    imported(place, edition, written(tmp_path, table, "typed.csv"), by="AB", as_displayed=True)
    kept = {item.document for item in evidence_log.read_evidence(edition.evidence, "seen")}
    assert kept == {"001"}  # "AI" is a label, " 0.1" is trimmed: the pointers would read them otherwise
    assert (readings(edition)["003"]["score"], readings(edition)["003"]["displayed"]) == ("0.1", " 0.1")


def test_a_typed_row_that_names_another_document_is_no_evidence(tmp_path: Path) -> None:
    answer = "{displayed: /displayed, score: /displayed, version: /version}"
    card = SEEN.replace("{displayed: /score, score: /score, version: /version, text: /text}", answer)
    place, edition = made(tmp_path, card)
    table = "id,document,displayed,operator,who\n001,scan 7.pdf,0.70,AB,\n002,002,0.10,,\n003,,0.20,CD,\n"
    maps = ("document=id", "displayed=displayed", "read_by=who")
    imported(place, edition, written(tmp_path, table, "typed.csv"), *maps, by="AB")
    assert {item.document for item in evidence_log.read_evidence(edition.evidence, "seen")} == {
        "002"
    }  # 003 was read by CD


def test_a_mapping_file_says_the_same_as_the_options(tmp_path: Path) -> None:
    place, edition = made(tmp_path, PERCENT)
    path = written(tmp_path, "document: Text no.\ndisplayed: Result\nread_by: /who\n", "map.yaml")
    assert columns.load(path) == columns.parse(["document=Text no.", "displayed=Result", "read_by=/who"])
    table = "Text no.,Result,who\n001,12%,AB\n"
    done = record_answers(
        place, edition, written(tmp_path, table, "t.csv"), Import("seen", columns.load(path), retrospective=True)
    )
    assert (done.readings, readings(edition)["001"]["score"]) == (1, "12")
    wrong = written(tmp_path, "document: a\ndisplay: b\n", "wrong.yaml")
    with pytest.raises(FaultsError, match=r"wrong\.yaml:2: .*did you mean displayed"):
        columns.load(wrong)


def test_another_text_than_the_documents_is_no_result(tmp_path: Path) -> None:
    place, edition = made(tmp_path, PERCENT)
    table = "document,displayed,pasted\n001,10%,first text\n002,90%,secund text \n"
    path = written(tmp_path, table, "t.csv")
    done = imported(place, edition, path, "displayed=displayed", "text=pasted", by="AB")
    assert done.states == {"answered": 1, "declined: other text scanned": 1}
    assert readings(edition)["002"]["displayed"] == "90%"
    bodies = {item.document: json.loads(item.body) for item in evidence_log.read_evidence(edition.evidence, "seen")}
    assert {name: body["text"] for name, body in bodies.items()} == {"001": "first text", "002": "secund text "}
    assert bodies["002"]["readings"][0]["row"]["pasted"] == "secund text "


def test_a_column_named_text_is_compared_without_a_mapping(tmp_path: Path) -> None:
    place, edition = made(tmp_path, PERCENT)
    rows = [
        {"document": "001", "displayed": "10%"},  # no text here: the column is looked for in every row
        {"document": "002", "displayed": "90%", "text": "first text"},
        {"document": "003", "displayed": "5%", "text": TEXTS["003"]},
    ]
    path = written(tmp_path, "\n".join(map(json.dumps, rows)), "typed.jsonl")
    done = imported(place, edition, path, by="AB")
    assert done.states == {"answered": 2, "declined: other text scanned": 1}
    assert [item.document for item in evidence_log.read_evidence(edition.evidence, "seen")] == ["002", "003"]
    assert readings(edition)["002"]["state"] == "declined"


def test_a_typed_display_of_another_text_is_not_shown_where_no_evidence_can_show_it(tmp_path: Path) -> None:
    """A card with pointers reads its answers by them: where they read none of what was typed, nobody could look at it."""
    place, edition = made(tmp_path)
    table = "document,displayed,pasted,version\n001,0.9,another text,v1\n"
    imported(place, edition, written(tmp_path, table, "t.csv"), "text=pasted", by="AB")
    [kept] = readings(edition).values()
    assert (kept["state"], kept["reason"], kept["version"]) == ("declined", "other text scanned", "v1")
    assert (kept["displayed"], kept["score"], kept["label"], kept["evidence_sha256"]) == (None, None, None, None)


def test_the_text_that_the_card_names_is_compared_in_typed_rows_too(tmp_path: Path) -> None:
    answer = "{displayed: /displayed, score: /displayed, text: /sent}"
    card = SEEN.replace("{displayed: /score, score: /score, version: /version, text: /text}", answer)
    place, edition = made(tmp_path, card)
    table = "document,displayed,sent\n001,0.9,another text\n002,0.8,second text\n"
    done = imported(place, edition, written(tmp_path, table, "t.csv"), by="AB")
    assert done.states == {"answered": 1, "declined: other text scanned": 1}
    assert (readings(edition)["001"]["displayed"], readings(edition)["001"]["state"]) == ("0.9", "declined")
    assert {item.document for item in evidence_log.read_evidence(edition.evidence, "seen")} == {"001", "002"}


@pytest.mark.parametrize(
    "maps", [["text=text"], ["text=pasted", "date=when"], ["displayed=displayed"], ["document=id"]]
)
def test_what_is_mapped_adds_to_the_columns_of_a_typed_table(tmp_path: Path, maps: list[str]) -> None:
    place, edition = made(tmp_path, PERCENT)
    names = {"document": "document", "displayed": "displayed", "text": "text", "date": "date"}
    names |= {field: column for field, _, column in (word.partition("=") for word in maps)}
    table = ",".join([*names.values(), "version", "operator"]) + "\n001,10%,first text,2026-10-02,v1,CD\n"
    imported(place, edition, written(tmp_path, table, "t.csv"), *maps)
    kept = readings(edition)["001"]
    assert (kept["displayed"], kept["state"], kept["got_at"]) == ("10%", "answered", "2026-10-02T00:00:00Z")
    assert (kept["version"], kept["read_by"]) == ("v1", "CD")


def test_a_missing_column_is_never_said_to_be_there(tmp_path: Path) -> None:
    place, edition = made(tmp_path, PERCENT)
    path = written(tmp_path, "document,Displayed\n001,10%\n", "t.csv")
    with pytest.raises(UsageError, match=r"there is no column displayed \(did you mean Displayed\?\)"):
        imported(place, edition, path, by="AB")
    assert suggest_name("displayed", ["displayed"]) == ""


# --- what is refused -----------------------------------------------------------------------------------------------


def test_every_fault_is_told_in_one_pass_and_nothing_is_written(tmp_path: Path) -> None:
    place, edition = made(tmp_path)
    rows = [
        {"id": "001", "score": 1, "at": "2026-11-30T00:00:00Z"},
        {"id": "001", "score": 1},
        {"id": "9", "score": 1},
        {"score": 1},
        {"id": "002", "score": 1, "at": "yesterday"},
        {"id": "003", "score": 1, "at": "2999-01-01"},
    ]
    path = written(tmp_path, "\n".join(map(json.dumps, rows)), "a.jsonl")
    with pytest.raises(FaultsError) as caught:
        imported(place, edition, path, "document=id", "date=at")
    assert [(f.place or "").rpartition(":")[2] for f in caught.value.faults] == ["2", "3", "4", "5", "6"]
    told = str(caught.value)
    for fact in (
        "the second row about 001; the first is",
        "no document '9'",
        "no document (/id)",
        "'yesterday'",
        "in the future",
    ):
        assert fact in told
    assert untouched(edition)


def test_a_second_final_reading_is_a_fault_even_if_equal(tmp_path: Path) -> None:
    place, edition = made(tmp_path)
    path = written(tmp_path, '[{"id": "001", "score": 0.5}]')
    imported(place, edition, path, "document=id")
    before = study.read_bytes(edition.journals / "seen.jsonl")
    with pytest.raises(FaultsError, match="001 has its final reading already"):
        imported(place, edition, path, "document=id")
    assert study.read_bytes(edition.journals / "seen.jsonl") == before
    imported(place, edition, written(tmp_path, '[{"id": "002", "score": 0.5}]', "b.json"), "document=id")
    assert len(found(edition).starts) == 1
    assert sorted(readings(edition)) == ["001", "002"]


@pytest.mark.parametrize(
    ("content", "name", "fact"),
    [
        ("", "a.json", "is not a list of answers"),
        ("{}", "a.json", "is not a list of answers"),
        ("[]", "a.json", "holds no answers"),
        ("[1]", "a.json", "is not an object"),
        ('[{"id": 1}', "a.json", "no comma, and no end"),
        ('[{"id": 1},]', "a.json", "is not JSON"),
        ('[{"id": 1}] x', "a.json", "something stands after the list"),
        ('[{"id": 1', "a.json", "is not JSON"),
        ("[" * 100_000, "a.json", "nests too deep"),
        ('[{"id": ' + "[" * 1_000 + "]" * 1_000 + "}]", "a.json", "nest"),
        ('[{"n": ' + "9" * 5_000 + "}]", "a.json", "is not JSON"),
        ('[{"id": "a", "id": "b"}]', "a.json", "a key twice"),
        ('{"id": "a", "id": "b"}\n', "a.jsonl", "a key twice"),
        ('[{"a": 1}', "a.json", "It may be cut off."),
        ('[{"id": "\\ud800"}]', "a.json", "surrogate"),
        ('{"id": 1} {"id": 2}\n', "a.jsonl", "something stands after the answer"),
        ('{"id": 1}\n{"id"\n', "a.jsonl", "a.jsonl:2"),
        (b'[{"id": "\xff"}]', "a.json", "is not UTF-8 (byte 9)"),
        ("", "a.csv", "has no header"),
        ("id,id\n1,2\n", "a.csv", "two columns are named 'id'"),
        ("id,score\n1\n", "a.csv", "1 cells, where the header has 2"),
        ('id,score\n"1,2\n', "a.csv", "is not CSV"),
        ('id,score\n"1"x,2\n', "a.csv", "is not CSV"),
        ("id\n", "a.csv", "holds no answers"),
        ("x", "a.xlsx", "no file of answers by its name"),
    ],
)
def test_a_broken_file_is_refused_with_its_place(tmp_path: Path, content: str | bytes, name: str, fact: str) -> None:
    place, edition = made(tmp_path)
    with pytest.raises(PenmarkError) as caught:
        imported(place, edition, written(tmp_path, content, name), "document=id")
    assert fact in str(caught.value)
    assert name in str(caught.value)
    assert all(fault.remedy is not None for fault in caught.value.faults)
    assert "kept as evidence" not in str(caught.value)  # nothing is
    assert untouched(edition)


def test_a_missing_file_or_a_link_is_refused(tmp_path: Path) -> None:
    place, edition = made(tmp_path)
    with pytest.raises(PenmarkError, match="no such file"):
        imported(place, edition, tmp_path / "none.json")
    (tmp_path / "link.json").symlink_to(written(tmp_path, ROWS))
    with pytest.raises(PenmarkError, match="symbolic link"):
        imported(place, edition, tmp_path / "link.json")


@pytest.mark.parametrize(
    ("maps", "fact"),
    [
        (["document"], "is not field=pointer"),
        (["score=x"], "cannot say where the score stands"),
        (["docment=x"], "did you mean document"),
        (["document=a", "document=b"], "mapped twice"),
        (["document=/a~2"], "is not a JSON pointer"),
    ],
)
def test_a_mapping_that_is_none_is_refused(maps: list[str], fact: str) -> None:
    with pytest.raises(UsageError, match=fact):
        columns.parse(maps)


def test_a_mapping_may_not_say_otherwise_than_the_sealed_card(tmp_path: Path) -> None:
    place, edition = made(tmp_path)
    path = written(tmp_path, ROWS)
    with pytest.raises(UsageError, match="the sealed card of seen says /version"):
        imported(place, edition, path, "document=id", "version=v")
    with pytest.raises(UsageError, match="the sealed card of seen says /text"):
        imported(place, edition, path, "document=id", "text=scanned")


def test_names_with_slashes_and_tildes_are_fields_of_the_row() -> None:
    assert columns.parse(["document=a/b~c"]).document == "/a~1b~0c"
    assert columns.parse(["date=/a/b"]).date == "/a/b"


@pytest.mark.parametrize(
    ("given", "at"),
    [
        ("2023-03-14", "2023-03-14T00:00:00Z"),
        ("2023-03-14T10:00:00Z", "2023-03-14T10:00:00Z"),
        ("2023-03-14 10:00:00+02:00", "2023-03-14T08:00:00Z"),
        ("2023-03-14T10:00:00.123456+00:00", "2023-03-14T10:00:00.123456Z"),
    ],
)
def test_a_date_is_never_taken_for_later_than_it_was(given: str, at: str) -> None:
    assert columns.parse_moment(given) == at


@pytest.mark.parametrize(
    "given", ["14.03.2023", "2023-03-14T10:00:00", "0001-01-01T00:00:00+10:00", "9999-12-31", "1678786800", ""]
)
def test_what_is_no_moment_in_the_past_is_refused(given: str) -> None:
    with pytest.raises(PenmarkError):
        columns.parse_moment(given)


def test_nothing_is_recorded_without_promise_or_corpus_or_after_the_evidence_seal(tmp_path: Path) -> None:
    place, edition = made(tmp_path)
    path = written(tmp_path, ROWS)
    edition.seal("evidence").write_bytes(b"{}")
    with pytest.raises(UsageError, match="no answer can be added"):
        imported(place, edition, path, "document=id")
    edition.seal("evidence").unlink()
    edition.seal("corpus").unlink()
    with pytest.raises(UsageError, match=r"nothing to record against\n.*penmark freeze"):
        imported(place, edition, path, "document=id")
    edition.seal("promise").unlink()
    with pytest.raises(UsageError, match=r"nothing to record against\n.*penmark commit"):
        imported(place, edition, path, "document=id")


def test_an_unknown_detector_or_arm_is_refused(tmp_path: Path) -> None:
    place, edition = made(tmp_path)
    path = written(tmp_path, ROWS)
    with pytest.raises(UsageError, match="did you mean seen"):
        record_answers(place, edition, path, Import("sen"))


# --- beside a scan -------------------------------------------------------------------------------------------------


def test_an_attested_text_is_recorded_under_its_salt(tmp_path: Path) -> None:
    fields = {"mine": {"provenance": attested("*")}}
    place, edition = made(tmp_path, SEEN, {"mine": "my words"}, fields=fields)
    imported(place, edition, written(tmp_path, '[{"id": "mine", "score": 0.5}]'), "document=id")
    [kept] = evidence_log.read_evidence(edition.evidence, "seen")
    reading = readings(edition)["mine"]
    assert reading["address"] == canonical_json.fingerprint_text(SALT, b"my words")
    assert reading["evidence_sha256"] == kept.sha256 == canonical_json.fingerprint_text(SALT, kept.body)


def test_a_document_that_was_recorded_is_not_asked_about(tmp_path: Path) -> None:
    place, edition = frozen(tmp_path / "study", {"a": "text one", "b": "text two"}, detector("coin"))
    path = written(tmp_path, '[{"id": "a", "score": "0.25", "version": "1"}]')
    kept = Import("coin", columns.parse(["document=id"]), retrospective=True, elsewhere=True)
    record_answers(place, edition, path, kept)
    with open_scan.begin_scan(place, edition, []) as scan:
        [ended] = scan.run()
    assert ended.counts["answered"] == 2
    lines = found(edition, "coin")
    assert lines.sent["document"].to_list() == ["b"]
    assert dict(lines.readings.select("document", "origin").iter_rows()) == {"a": "recorded", "b": "scan"}
    assert [item.document for item in evidence_log.read_evidence(edition.evidence, "coin")] == ["a", "b"]
    with pytest.raises(FaultsError, match="b has its final reading already"):
        record_answers(place, edition, written(tmp_path, '[{"id": "b"}]', "b.json"), kept)


def test_an_import_that_was_cut_off_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, edition = made(tmp_path)
    path = written(tmp_path, ROWS)

    def full(self: journal.JournalWriter, *lines: Any) -> None:
        raise study.make_disk_error(OSError(28, "No space left on device"), self.path)

    monkeypatch.setattr(journal.JournalWriter, "append", full)
    with pytest.raises(PenmarkError, match="Free some space"):
        imported(place, edition, path, "document=id")
    monkeypatch.undo()
    assert len(list(evidence_log.read_evidence(edition.evidence, "seen"))) == 3
    imported(place, edition, path, "document=id")
    assert len(list(evidence_log.read_evidence(edition.evidence, "seen"))) == 3
    assert len(readings(edition)) == 3


# --- what the answers show -----------------------------------------------------------------------------------------

LONG = (
    "A text that is long enough to be told from others by its first words, and holds two sentences. Here is one more."
)


def test_other_forms_of_the_text_are_told_and_change_no_state(tmp_path: Path) -> None:
    texts = {f"{n}": f"{n}: {LONG}" for n in range(6)}
    place, edition = made(tmp_path, SEEN, dict(texts))
    forms = {
        "0": texts["0"],
        "1": f"{texts['1']} {texts['1']}",
        "2": texts["2"][:70],
        "3": texts["3"].replace(" ", "\n"),
        "4": texts["4"].replace("sentences", "phrases"),
        "5": "Something else that is long enough to be compared, but was never this text at all.",
    }
    rows = [{"id": n, "score": 0.1, "raw": {"content": form, "blocks": [form[:60]]}} for n, form in forms.items()]
    done = imported(place, edition, written(tmp_path, json.dumps(rows)), "document=id")
    assert done.states == {"answered": 6}
    assert done.notes == [
        "quotes another form of the text in 1 of 6 answers",
        "quotes the text 2 times in 1 of 6 answers",
        "quotes the text with other white space in 1 of 6 answers",
    ]
    assert {name: row["reason"] for name, row in readings(edition).items()} == {
        "0": None,
        "1": "the answer quotes the text 2 times",
        "2": None,  # too short a beginning to be sure
        "3": "the answer quotes the text with other white space",
        "4": "the answer quotes another form of the text",
        "5": None,
    }


@pytest.mark.parametrize(
    ("columns", "what"), [("document,displayed", "screens were read"), ("document,score", "answers were given")]
)
def test_answers_outside_the_scan_window_are_told_whatever_columns_the_table_has(
    tmp_path: Path, columns: str, what: str
) -> None:
    place, edition = made(tmp_path, window={"opens": "2026-01-01", "closes": "2026-01-02"})
    path = written(tmp_path, f"{columns},date,operator\n001,0.5,2026-11-02,AB\n", "t.csv")
    done = imported(place, edition, path, "date=date", retrospective=False)
    assert done.otherwise == (f"1 {what} outside the promised window, 2026-01-01 to 2026-01-02",)


def test_a_kept_answer_that_is_older_than_the_promise_is_told_as_that(tmp_path: Path) -> None:
    place, edition = made(tmp_path)
    path = written(tmp_path, "document,score,date\n001,0.5,2023-01-01\n", "t.csv")
    done = imported(place, edition, path, "date=date")
    assert (done.older, done.otherwise) == (1, ())
