"""What stands on the page, and what never does. (Its figures are held to the files by tests/verify/test_pages.py.)"""

from __future__ import annotations

import csv
import html
import io
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from penmark import study
from penmark.errors import PenmarkError, UsageError
from penmark.format import canonical_json
from penmark.page import render_page
from penmark.stages.verify.check8_page import check_pages
from penmark.stages.verify.check_findings import Findings


def _text(edition: study.Edition) -> str:
    """The words of a page, in order, without its style sheet."""
    data = (edition.report / "index.html").read_text(encoding="utf-8")
    body = re.sub(r"<style>.*</style>", "", data, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", body)).split())


def test_the_same_files_give_the_same_bytes(small: ModuleType, tmp_path: Path) -> None:
    first, second = small.write(tmp_path / "a"), small.write(tmp_path / "b")
    assert (first.report / "index.html").read_bytes() == (second.report / "index.html").read_bytes()


def test_the_page_tells_everything_in_order(small: ModuleType, tmp_path: Path) -> None:
    text = _text(small.write(tmp_path))
    places = [
        "Detector benchmark of the Northern Writing Centre",
        "not publicly pre-registered",
        "the detectors that answered about every text called 18.00 % of them AI; the others answered about other sets",
        "What is called AI there is a false positive.",
        "the detectors of this edition called between 56.67 % and 100.00 % of the texts AI.",
        "Table 1 . Headline rates",
        "Human texts called AI: false positives.",
        "AI texts called AI: detections.",
        "Table 2 . Kinds of writers",
        "Every detector on every arm",
        "only 9 authors",
        "Agreement.",
        "Detectors and their boundaries",
        "https://vendor.example/help/what-the-score-means",
        "Who runs this, who pays, and their interests",
        "Works for the vendor of aardvark, and owns 2 % of it.",
        "archive, released: 4",
        "a scaled-down study",
        "The scan paused for 2 hours: a power cut.",
        "Arm B takes 20 writers.",
        "has 291 words; the arm takes 300 to 1200",
        "words alone tell 27 of 30 texts of C from A",
        "Not this time: its terms forbid it.",
        "seals/promise.json",
        "sha256sum -c SHA256SUMS",
        "openssl ts -verify -data seals/promise.json -in seals/promise-local1.tsr",
        "python3 verify.py .",
        "What this bundle cannot show",
        "How to catch us",
    ]
    at = 0
    for words in places:
        found = text.find(words, at)
        assert found >= 0, f"{words!r} is not told, or not in its place"
        at = found


def test_no_answer_is_no_zero(small: ModuleType, tmp_path: Path) -> None:
    text = _text(small.write(tmp_path))
    assert "zebra pre-2022 archive" in text
    assert re.search(r"zebra unedited AI · detections — not run — 0 0 30 0 0 0 30", text)
    assert "INCOMPLETE 30 of 86" in text
    assert "— no answer" in text


def test_own_detectors_and_archive_text_are_marked(small: ModuleType, tmp_path: Path) -> None:
    edition = small.write(tmp_path)
    text = _text(edition)
    assert (
        "aardvark 2.4 operator’s own COMPLETE 10.42 % † 4.53 – 22.17 % 5 48 28 A + 20 B 100.00 % 88.65 – 100.00 % 30 30 30 C 2"
        in text
    )
    assert text.count("detectors may have been trained on it") >= 4
    assert not re.search(r"muskrat (2\.4 )?operator’s own", text)


def test_prospective_and_retrospective(small: ModuleType, tmp_path: Path) -> None:
    prospective = _text(small.write(tmp_path / "a", announced=True))
    assert "pre-committed rules" in prospective
    assert "not publicly pre-registered" not in prospective
    assert "https://archive.example/1" in prospective
    assert "Retrospective" not in prospective
    retrospective = _text(small.write(tmp_path / "b", timing="retrospective"))
    assert "pre-committed" not in retrospective.casefold()
    assert "was not publicly pre-registered" in retrospective
    assert "No answer has a date." in retrospective
    captions = retrospective.count("Retrospective: the rules were written after the answers existed.")
    assert captions >= 8


def test_a_retrospective_promise_cannot_call_itself_pre_committed(small: ModuleType, tmp_path: Path) -> None:
    edition = small.write(tmp_path, timing="retrospective")
    promised = study.read_json(edition.protocol_json) | {"title": "A Pre-Committed test"}
    study.write_bytes(edition.protocol_json, canonical_json.encode_json(promised))
    with pytest.raises(PenmarkError, match="retrospective"):
        render_page(edition, small.tables("retrospective"))


def test_a_demonstration_says_that_it_measures_nothing(small: ModuleType, tmp_path: Path) -> None:
    edition = small.write(tmp_path)
    assert b"measures nothing" not in render_page(edition, small.tables())
    promised = study.read_json(edition.protocol_json) | {"title": "A rehearsal of the Northern benchmark"}
    study.write_bytes(edition.protocol_json, canonical_json.encode_json(promised))
    assert b"This edition demonstrates the machinery. It measures nothing." in render_page(edition, small.tables())


def test_another_boundary_is_told_at_every_table(small: ModuleType, tmp_path: Path) -> None:
    edition = small.write(tmp_path)
    told = render_page(edition, small.tables(), recomputed={"zebra"}).decode()
    assert told.count("Recomputed at another boundary than the promised one for") >= 9
    assert b"Recomputed" not in render_page(edition, small.tables())


def test_words_of_others_stay_words(small: ModuleType, tmp_path: Path) -> None:
    data = (small.write(tmp_path, hostile=True).report / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<(script|img|b|iframe)\b", data)
    assert "\u202e" not in data
    assert "&lt;script&gt;alert(&#34;1&#34;)&lt;/script&gt; &amp; ⟨U+202E⟩" in data


REPLY = "date: 2026-12-01\nfrom: A. N., for the vendor of zebra\n\nWe are <b>the most accurate</b>.\n\n- 2 of 3: pre-committed\n"


def test_a_vendors_reply_stands_unedited_beside_its_row(small: ModuleType, tmp_path: Path) -> None:
    edition = small.write(tmp_path, timing="retrospective")
    assert b"What the vendor replied" not in render_page(edition, small.tables("retrospective"))
    study.write_bytes(edition.root / "replies" / "zebra.md", REPLY.encode())
    data = render_page(edition, small.tables("retrospective")).decode()
    [article] = [part for part in data.split("<article>") if "What the vendor replied" in part]
    assert "zebra" in article
    quoted = re.search(r'<p class="reply"><span data-quote="replies/zebra.md#/reply" data-as="text">([^<]*)<', article)
    assert quoted is not None
    assert html.unescape(quoted[1]) == "We are <b>the most accurate</b>.\n\n- 2 of 3: pre-committed"
    assert "A. N., for the vendor of zebra" in article
    assert data.count('<a href="../replies/zebra.md">the vendor’s reply</a>') == 1
    [row] = [line for line in data.split("<tr>") if "the vendor’s reply</a>" in line]
    assert "zebra" in row


@pytest.mark.parametrize(
    ("name", "text", "fact"),
    [
        ("zebra", "We disagree.\n", r"replies/zebra.md: does not begin with its date"),
        ("zebr", REPLY, r"zebr.md: is a reply about no detector of this edition\n.*aardvark, muskrat, zebra"),
    ],
)
def test_a_reply_that_is_none_makes_no_page(small: ModuleType, tmp_path: Path, name: str, text: str, fact: str) -> None:
    edition = small.write(tmp_path)
    study.write_bytes(edition.root / "replies" / f"{name}.md", text.encode())
    with pytest.raises(PenmarkError, match=fact):
        render_page(edition, small.tables())


def test_nothing_is_loaded_or_run(small: ModuleType, tmp_path: Path) -> None:
    data = (small.write(tmp_path).report / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<script|<link|<img|@import|url\(|<[^>]*\s(on[a-z]+|src|style)=", data)
    assert {address.split("#")[0] for address in re.findall(r'href="([^"]*)"', data)} <= {
        "",
        "../tables/rates.csv",
        "../tables/rates_lenient.csv",
        "../tables/readings.csv",
        "../tables/documents.csv",
        "../screening.csv",
    }


def test_without_jinja2_the_line_that_installs_it_is_told(
    small: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edition = small.write(tmp_path)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(UsageError) as caught:
        render_page(edition, small.tables())
    remedy = "pip install 'penmark[report]' (in a checkout of penmark: pip install '.[report]')"
    assert caught.value.faults[0].remedy == remedy


@pytest.mark.parametrize("path", ["protocol.json", "screening.csv", "seals/corpus.json", "detectors/zebra.json"])
def test_a_missing_or_broken_file_is_named(small: ModuleType, tmp_path: Path, path: str) -> None:
    edition = small.write(tmp_path)
    (tmp_path / path).write_bytes(b"{}")
    with pytest.raises(PenmarkError):
        render_page(edition, small.tables())
    (tmp_path / path).unlink()
    with pytest.raises(PenmarkError) as caught:
        render_page(edition, small.tables())
    assert path in str(caught.value)


def test_promised_comparisons_are_said_to_be_in_no_table(small: ModuleType, tmp_path: Path) -> None:
    text = _text(small.write(tmp_path))
    named = text.index("Comparisons promised aardvark with zebra")
    assert "no table here tests their difference" in text[named : named + 200]


def test_departures_from_a_template_of_another_release_are_not_known(small: ModuleType, tmp_path: Path) -> None:
    edition = small.write(tmp_path)
    promised = edition.protocol_json.read_bytes()
    assert "Not known: the template" not in _text(edition)
    study.write_bytes(
        edition.protocol_json, promised.replace(b'"template":{"name":"humanflow"', b'"template":{"name":"other"')
    )
    held = small.tables()
    held["tables/departures.csv"] = held["tables/departures.csv"].split(b"\n")[0] + b"\n"
    study.write_bytes(edition.report / "index.html", render_page(edition, held))
    assert "Not known: the template that the protocol names, other , is none of the release" in _text(edition)


def test_an_edition_with_nothing_to_tell(small: ModuleType, tmp_path: Path) -> None:
    """No detector answered, nothing departed: every part says so, and no rate is made up."""
    edition = small.write(tmp_path)
    held = small.tables()
    header = held["tables/table1.csv"].split(b"\n")[0].split(b",")
    blank = dict.fromkeys(header, b"") | {
        b"detector": b"zebra",
        b"timing": b"prospective",
        b"status": b"INCOMPLETE 0 of 86",
    }
    blank |= {c: b"0" for c in header if c.endswith((b"_documents", b"_n"))} | {b"boundary": b">= 50"}
    held["tables/table1.csv"] = b",".join(header) + b"\n" + b",".join(blank[c] for c in header) + b"\n"
    for name in ("table2", "rates", "units", "agreement", "departures", "warnings"):
        held[f"tables/{name}.csv"] = held[f"tables/{name}.csv"].split(b"\n")[0] + b"\n"
    study.write_bytes(edition.screening, edition.screening.read_bytes().split(b"\n")[0] + b"\n")
    edition.deviations.unlink()
    (edition.amendments / "0001.json").unlink()
    study.write_bytes(edition.report / "index.html", render_page(edition, held))
    text = _text(edition)
    assert "there is no false-positive rate" in text
    assert "there is no detection rate" in text
    assert "No answer has a date." in text
    assert text.count("None.") >= 3
    assert "Nothing was told." in text


# --- what the words around the figures say -------------------------------------------------------------------------


def _page(edition: study.Edition, held: dict[str, bytes]) -> str:
    study.write_bytes(edition.report / "index.html", render_page(edition, held))
    return _text(edition)


def _cells(held: dict[str, bytes], table: str, **values: dict[str, str]) -> dict[str, bytes]:
    """The tables with other cells in the rows of some detectors."""
    header, *rows = csv.reader(io.StringIO(held[f"tables/{table}.csv"].decode(), newline=""))
    changed = [[values.get(row[0], {}).get(name, cell) for name, cell in zip(header, row, strict=True)] for row in rows]
    return held | {f"tables/{table}.csv": study.encode_csv(header, changed)}


def _confidence(edition: study.Edition, name: str, confidence: str) -> None:
    sealed = study.read_json(edition.sealed_card(name))
    sealed["card"]["boundary"]["confidence"] = confidence
    study.write_bytes(edition.sealed_card(name), canonical_json.encode_json(sealed))


def test_a_boundary_that_is_not_the_detectors_own_is_not_called_so(small: ModuleType, tmp_path: Path) -> None:
    edition = small.write(tmp_path)
    assert "called AI at its own boundary. Detectors stand" in _text(edition)
    _confidence(edition, "zebra", "convention")
    text = _page(edition, small.tables())
    assert "at its own boundary" not in text
    assert "called AI at the boundary that was promised for it. Not every boundary here is documented as" in text
    for name in ("aardvark", "muskrat"):
        _confidence(edition, name, "inferred")
    assert "No boundary here is documented as the detector’s own: where each is from" in _page(edition, small.tables())


def test_a_rule_of_the_study_is_not_the_detectors_own_boundary(small: ModuleType, tmp_path: Path) -> None:
    edition = small.write(tmp_path)
    promised = study.read_json(edition.protocol_json)
    promised["detectors"][0]["rule"] = {
        "kind": "boundary", "operator": ">", "value": "20", "source": "ours", "date": "2026-09-30", "confidence": "documented",
    }  # fmt: skip
    study.write_bytes(edition.protocol_json, canonical_json.encode_json(promised))
    assert "Not every boundary here is documented as the detector’s own" in _page(edition, small.tables())


def test_why_answers_are_no_result_stands_beside_their_count(small: ModuleType, tmp_path: Path) -> None:
    edition = small.write(tmp_path)
    assert "Why some answers are no result" not in _text(edition)
    told = "5 answers are outside the scale 0 to 1 of its card (the first: 1.7 about d-03); they count as no result"
    beside = "2 answers have beside their numbers verdicts that its card does not know (the first: d-04)"
    held, path = small.tables(), "tables/warnings.csv"
    header, *rows = csv.reader(io.StringIO(held[path].decode(), newline=""))
    rows += [["no call", "zebra", "", told], ["unknown verdict", "muskrat", "", beside]]
    text = _page(edition, held | {path: study.encode_csv(header, rows)})
    states = text[text.index("Answers that are no plain call") :].partition("Kinds of writers and texts.")[0]
    assert "its answer means nothing by the card of the detector, as a number outside its scale" in states
    assert "Why some answers are no result, or were not used whole: the card of a detector" in states
    assert f"zebra : {told} ( no call )" in states
    assert f"muskrat : {beside} ( unknown verdict )" in states
    assert "a score of 0.01" not in states
    assert text.count(told) == 2  # and among the warnings
    found = Findings(8, "pages")
    study.write_bytes(edition.root / path, study.encode_csv(header, rows))
    check_pages(edition.root, found)
    assert [check.state for check in found.checks()] == ["ok"]


def test_rates_over_unlike_sets_are_not_one_range(small: ModuleType, tmp_path: Path) -> None:
    edition = small.write(tmp_path)
    every = {name: {"human_n": "50"} for name in small.ANSWERS}
    text = _page(edition, _cells(small.tables(), "table1", **every))
    assert "the detectors of this edition called between 10.00 % and 18.00 % of the texts AI." in text
    none = {name: {"human_n": "49"} for name in small.ANSWERS}
    text = _page(edition, _cells(small.tables(), "table1", **none))
    assert "no detector answered about every text: each rate in the table is of another set of texts" in text
    assert "between 10.00" not in text


def test_it_says_which_volunteers_it_knows_nothing_of(small: ModuleType, tmp_path: Path) -> None:
    edition = small.write(tmp_path)
    held = small.tables()
    assert "Table 2 has the rates of native volunteers and non-native volunteers apart." in _text(edition)
    assert "not known from this edition" not in _text(edition)
    text = _page(
        edition, held | {"tables/table2.csv": held["tables/table2.csv"].replace(b",non-native vol", b",other vol")}
    )
    assert "Table 2 has the rates of native volunteers apart. No text is known to be by non-native volunteers" in text
    text = _page(edition, held | {"tables/table2.csv": held["tables/table2.csv"].replace(b"native vol", b"other vol")})
    assert "No text is known to be by native volunteers or by non-native volunteers: how often" in text
    assert "volunteers apart" not in text


def test_it_names_the_slices_where_only_a_source_says_who_wrote(small: ModuleType, tmp_path: Path) -> None:
    edition = small.write(tmp_path)
    held = small.tables()
    none = held["tables/table2.csv"].replace(b"native vol", b"other vol")
    rows = held["tables/rates.csv"].decode()
    said = "No text is known to be by native volunteers or by non-native volunteers"
    for arm, told in (("A", True), ("C", False)):
        whole = next(line for line in rows.splitlines() if f",{arm},,," in line)
        more = rows + whole.replace(f",{arm},,,", f",{arm},subgroup,non-native,") + "\n"
        text = _page(edition, held | {"tables/table2.csv": none, "tables/rates.csv": more.encode()})
        assert (f"{said}; rates on writers whom the source of a text calls native or non-native are" in text) == told
        assert (f"{said}: how often detectors accuse them is not known from this edition." in text) != told


def test_one_figure_is_said_once(small: ModuleType, tmp_path: Path) -> None:
    edition = small.write(tmp_path)
    same = {name: {"detection_rate": "1.000000"} for name in ("aardvark", "muskrat")}
    one_day = {name: {"last_scanned_at": "2026-11-02T17:45:00Z"} for name in small.ANSWERS}
    held = _cells(_cells(small.tables(), "table1", **same), "table1", **one_day)
    text = _page(edition, held)
    assert "called 100.00 % of the texts AI" in text
    assert "between 100.00" not in text
    assert "Answers dated 2026-11-02 ." in text
    assert "2026-11-02 last at 17:45 UTC" in text
    assert "2026-11-02 to 2026-11-02" not in text
    assert "2026-11-02 to 2026-11-04" in _text(small.write(tmp_path / "two days"))


def test_readings_that_penmark_did_not_ask_for_are_marked(small: ModuleType, tmp_path: Path) -> None:
    """A row of a plugin whose answers came from elsewhere looks like all others: it says so, in the table and below."""
    edition = small.write(tmp_path)
    data = (edition.report / "index.html").read_text(encoding="utf-8")
    text = _text(edition)
    assert "Readings typed by people: 27 ; recorded elsewhere: 3 Settings" in text
    table1 = data[data.index("Table 1") : data.index("</table>")]
    assert "readings.csv" not in table1  # people are asked to type
    sealed = study.read_json(edition.sealed_card("zebra"))
    sealed["card"]["ask"] = {"by": "plugin", "plugin": "zebra", "options": {}}
    sealed["plugin"] = {"name": "zebra", "distribution": "zebra", "version": "1", "sha256": "0" * 64}
    study.write_bytes(edition.sealed_card("zebra"), canonical_json.encode_json(sealed))
    assert "zebra INCOMPLETE 30 of 86 typed by people: 27 ; recorded elsewhere: 3 10.00" in _page(
        edition, small.tables()
    )
    scanned = small.tables()["tables/readings.csv"].replace(b"typed", b"scan").replace(b"recorded", b"scan")
    text = _page(edition, small.tables() | {"tables/readings.csv": scanned})
    assert "zebra INCOMPLETE 30 of 86 10.00" in text
    assert "Readings asked for by penmark: 30 Settings" in text
