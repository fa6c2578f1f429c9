"""Work sheets: blind, complete, and with nothing in them but what the vendor may have."""

from __future__ import annotations

import re
import stat
import zipfile
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests import screen_readings
from tests.frozen_study import detector, frozen

from penmark import journal, study
from penmark.errors import UsageError
from penmark.format import canonical_json
from penmark.stages.record import work_sheets
from penmark.stages.record.docx import make_docx
from penmark.stages.record.work_sheets import make_work_sheets
from penmark.study import Edition

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def journaled(edition: Edition, name: str = "turnitin") -> journal.Journal:
    return journal.read_journal(
        edition.journals / f"{name}.jsonl", canonical_json.sha256(study.read_bytes(edition.seal("corpus")))
    )


def said(data: bytes) -> str:
    """The text of a .docx, a line a paragraph."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        body = ElementTree.fromstring(archive.read("word/document.xml"))[0]
    marks = {f"{WORD}t": lambda e: e.text or "", f"{WORD}tab": lambda e: "\t"}
    return "\n".join("".join(marks[e.tag](e) for e in p.iter() if e.tag in marks) for p in body.iter(f"{WORD}p"))


# --- the folder ----------------------------------------------------------------------------------------------------


def test_numbers_stand_in_the_sealed_order_and_the_texts_are_the_frozen_ones(tmp_path: Path) -> None:
    place, edition = screen_readings.made(tmp_path)
    out = place.private / "sheets"
    done = make_work_sheets(place, edition, "turnitin", out)
    order = sorted(screen_readings.TEXTS, key=lambda name: canonical_json.rank_name(screen_readings.SEED, "scan", name))
    kept = {
        f"{n:04d}": name for n, name in enumerate(order, 1) if name not in (screen_readings.SHORT, screen_readings.SHY)
    }
    assert done.texts == len(kept) == 5
    assert [row["number"] for row in screen_readings.sheet(out)] == sorted(kept)
    assert sorted(p.name for p in out.iterdir()) == ["README.txt", "sheet.csv", "texts"]
    assert {p.name for p in (out / "texts").iterdir()} == {f"{n}.{e}" for n in kept for e in ("txt", "docx")}
    for number, name in kept.items():
        assert (out / "texts" / f"{number}.txt").read_bytes() == screen_readings.TEXTS[name].encode()
        page = (out / "texts" / f"{number}.docx").read_bytes()
        assert f"{said(page)}\n" == screen_readings.TEXTS[name]
    assert list(screen_readings.sheet(out)[0]) == list(work_sheets.COLUMNS)
    assert {value for row in screen_readings.sheet(out) for key, value in row.items() if key != "number"} == {""}


def test_what_it_cannot_be_given_is_left_out_and_journaled(tmp_path: Path) -> None:
    place, edition = screen_readings.made(tmp_path)
    done = make_work_sheets(place, edition, "turnitin", place.private / "one")
    assert done.skipped == {"20 words, fewer than 300": 1, "no consent for Turnitin": 1}
    skipped = dict(journaled(edition).skipped.select("document", "reason").iter_rows())
    assert skipped == {
        screen_readings.SHORT: "20 words, fewer than 300",
        screen_readings.SHY: "no consent for Turnitin",
    }
    before = study.read_bytes(edition.journals / "turnitin.jsonl")
    again = make_work_sheets(place, edition, "turnitin", place.private / "two")
    assert (again.texts, again.skipped, again.heads) == (done.texts, done.skipped, {})
    assert study.read_bytes(edition.journals / "turnitin.jsonl") == before


def test_nothing_on_the_sheets_tells_an_arm(tmp_path: Path) -> None:
    place, edition = screen_readings.made(tmp_path)
    out = place.private / "sheets"
    make_work_sheets(place, edition, "turnitin", out)
    told = (out / "README.txt").read_text() + (out / "sheet.csv").read_text()
    for word in (*screen_readings.TEXTS, "human", "archive", "attested", "generated", "arm A", "arm C"):
        assert not re.search(rf"\b{re.escape(word)}\b", told.replace("Likely human", "").lower()), word
    pages = [p.read_bytes() for p in sorted((out / "texts").glob("*.docx"))]
    forms = {form(page) for page in pages}
    assert len(pages) == 5
    assert len(forms) == 1
    for path in out.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 or path.is_dir()
    assert stat.S_IMODE(out.stat().st_mode) == 0o700


def form(page: bytes) -> tuple[object, ...]:
    """All that a .docx says apart from its text."""
    with zipfile.ZipFile(BytesIO(page)) as archive:
        parts = []
        for info in archive.infolist():
            data = archive.read(info).decode()
            bare = re.sub(r"<w:body>.*</w:body>", "", data, flags=re.DOTALL)
            parts.append((info.filename, info.date_time, info.create_system, info.external_attr, info.extra, bare))
        return (archive.comment, *parts)


def test_two_texts_of_two_arms_differ_in_their_words_alone() -> None:
    one, two = make_docx("the same words\nin two lines"), make_docx("other words\n\there, in more\n\nlines")
    assert one is not None
    assert two is not None
    assert form(one) == form(two)
    bodies = []
    for page in (one, two):
        with zipfile.ZipFile(BytesIO(page)) as archive:
            assert archive.namelist() == ["[Content_Types].xml", "_rels/.rels", "word/document.xml"]
            data = archive.read("word/document.xml").decode()
            bodies.append({e.tag for e in ElementTree.fromstring(data).iter()})
            assert not re.search("author|creator|modified|created|rsid|title", data)
    assert bodies[0] | {f"{WORD}tab"} == bodies[1]
    assert make_docx("the same words\nin two lines") == one


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("one\r\ntwo\rthree\n", "one\ntwo\nthree"),
        ("<w:t>&amp; \"'\u2028\u00a0", "<w:t>&amp; \"'\u2028\u00a0"),
        ("  two  spaces \n\n\tand a tab\t", "  two  spaces \n\n\tand a tab\t"),
        ("", ""),
    ],
)
def test_a_docx_holds_the_text_line_by_line(text: str, lines: str) -> None:
    page = make_docx(text)
    assert page is not None
    assert said(page) == lines


def test_what_no_docx_can_hold_is_there_as_plain_text(tmp_path: Path) -> None:
    assert make_docx("form\x0cfeed") is None
    card = "name: seen\ntitle: S\nvendor: S\nhomepage: none\nask: {by: people}\nanswer: {}\nverdicts: {AI: ai}\n"
    card += "boundary: {kind: verdict, source: s, date: '2026-11-30'}\ndisplay: document\nfacts_as_of: '2026-11-30'\n"
    card += "terms: {where: none, results_may_be_published: 'yes'}\n"
    texts: dict[str, str | bytes] = {"a": "form\x0cfeed", "b": "plain"}
    place, edition = frozen(tmp_path / "study", texts, detector("seen", surface="web"), cards={"seen": card})
    done = make_work_sheets(place, edition, "seen", tmp_path / "out")
    assert len(done.plain) == 1
    assert (tmp_path / "out" / "texts" / f"{done.plain[0]}.txt").read_bytes() == b"form\x0cfeed"
    assert not (tmp_path / "out" / "texts" / f"{done.plain[0]}.docx").exists()


# --- what is refused -----------------------------------------------------------------------------------------------


def test_withheld_texts_go_to_no_folder_that_git_sees(tmp_path: Path) -> None:
    place, edition = screen_readings.made(tmp_path)
    with pytest.raises(UsageError, match=r"not published, and this folder is not private\n.*private"):
        make_work_sheets(place, edition, "turnitin", place.root / "sheets")
    assert not (place.root / "sheets").exists()
    outside = make_work_sheets(place, edition, "turnitin", tmp_path / "elsewhere")
    assert "published nowhere" in (outside.folder / "README.txt").read_text()


def test_a_folder_of_somebody_is_left_alone(tmp_path: Path) -> None:
    place, edition = screen_readings.made(tmp_path)
    out = tmp_path / "mine"
    out.mkdir()
    (out / "turnitin notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="not empty"):
        make_work_sheets(place, edition, "turnitin", out)
    assert [p.name for p in out.iterdir()] == ["turnitin notes.txt"]
    (out / "turnitin notes.txt").unlink()
    assert make_work_sheets(place, edition, "turnitin", out).texts == 5


def test_who_is_asked_by_a_program_needs_no_sheets(tmp_path: Path) -> None:
    place, edition = frozen(tmp_path / "study", {"a": "text one"}, detector("coin"))
    with pytest.raises(UsageError, match=r"asked by a program.*\n.*penmark scan --detector coin"):
        make_work_sheets(place, edition, "coin", tmp_path / "out")
    with pytest.raises(UsageError, match="did you mean coin"):
        make_work_sheets(place, edition, "coi", tmp_path / "out")
    assert not (tmp_path / "out").exists()
