"""Cases about the corpus: what texts come with, what passes for a text, what is said about it, what stays secret."""

from __future__ import annotations

import io
import json
import unicodedata
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.cases.case_study import (
    ARCHIVE,
    ATTESTED,
    GENERATED,
    Said,
    Trial,
    arm,
    everything,
    lines,
    penmark,
    read_csv,
    texts,
)

from penmark.format import canonical_json

PROSE = (
    "The tide tables were printed by hand until the spring of that year. Nobody in the harbour office missed the press, "
    "and the apprentice kept the last plate above the door."
)
OTHER = "Rain came in from the west before noon. We sat under the roof of the boat shed and counted the drops."


def screened(
    tmp_path: Path,
    texts: Mapping[str, str],
    truth: str = "human",
    fields: Mapping[str, Any] | None = None,
    arm_fields: Mapping[str, Any] | None = None,
    **protocol: Any,
) -> tuple[Said, dict[str, set[str]], Trial]:
    """What `screen` says, its rules by document, and the study."""
    trial = Trial(tmp_path / "study", [arm("A", truth, len(texts), **arm_fields or {})], **protocol)
    trial.done("commit")
    said = trial.collect("A", texts, fields, **(GENERATED if truth == "ai" else ARCHIVE))
    assert said.code == 0, said
    said = trial.run("screen")
    found: dict[str, set[str]] = {}
    for row in read_csv(trial.edition.screening):
        found.setdefault(row["document"], set()).add(row["rule"])
    return said, found, trial


# --- AI text that is none ------------------------------------------------------------------------------------------


def test_c38_what_is_no_answer_is_found_and_a_letter_is_left_to_a_person(tmp_path: Path) -> None:
    given = {
        "nothing": "",
        "error": "network error",
        "refused": "I'm sorry, but I can't help with that.",
        "letter": f"I'm sorry to hear about your loss. {PROSE}",
        "fine": PROSE + " It was still there when she retired, she told us.",
    }
    said, found, trial = screened(tmp_path, given, "ai")
    assert said.code == 1
    assert "empty" in found["nothing"]
    assert "error-text" in found["error"]
    assert "refusal" in found["refused"]
    assert found["letter"] & {"refusal", "error-text", "empty"} <= {"refusal"}
    assert not found.get("fine", set()) & {"refusal", "error-text", "empty"}
    severities = {(row["document"], row["rule"]): row["severity"] for row in read_csv(trial.edition.screening)}
    assert severities["nothing", "empty"] == "error"
    assert severities["refused", "refusal"] == "warning"
    # Nothing is dropped, so nothing is dropped by mistake; what stops the freeze is the empty text.
    assert {line["id"] for line in lines(trial.place.documents("A"))} == set(given)
    said = trial.run("freeze")
    assert said.code == 1
    assert "empty" in said.err


def test_c40_a_text_that_was_cut_off_is_found_by_its_reason_and_by_its_end(tmp_path: Path) -> None:
    given = {"reason": PROSE, "end": PROSE[:100], "whole": OTHER}
    _, found, _ = screened(
        tmp_path, given, "ai", {"reason": {"finish_reason": "length"}, "whole": {"finish_reason": "stop"}}
    )
    assert "cut-off" in found["reason"]
    assert "cut-off" in found["end"]
    assert "cut-off" not in found.get("whole", set())


# --- dates ---------------------------------------------------------------------------------------------------------


def test_c43_a_page_that_was_modified_later_is_no_proof_and_an_archived_copy_is(tmp_path: Path) -> None:
    before = {"evidence": {"kinds": ["archive"], "grades": ["archived"], "before": "2022-01-01"}}
    trial = Trial(tmp_path / "study", [arm("A", "human", 2, **before)])
    trial.done("commit")
    bare = {"grade": "stated", "evidence_date": "2019-05-01", "modified": "2024-02-02"}
    kept = {"evidence_date": "2020-06-01", "modified": "2024-02-02"}
    said = trial.collect("A", {"bare": PROSE, "kept": OTHER}, {"bare": bare, "kept": kept}, **ARCHIVE)
    assert (said.code, said.out) == (1, "")
    assert "study-A.jsonl:1: is said to be of 2019-05-01, and was modified on 2024-02-02" in said.err
    assert "take the date of that copy" in said.err
    assert "study-A.jsonl:2" not in said.err
    # The same page with an archived copy of 2020 is taken, whenever it was modified since.
    assert trial.collect("A", {"kept": OTHER}, {"kept": kept}, **ARCHIVE).code == 0
    trial.run("screen")
    assert "kept" not in {row["document"] for row in read_csv(trial.edition.screening)}


# --- what conversions leave ------------------------------------------------------------------------------------------


def test_c44_a_body_twice_and_words_of_a_page_are_found(tmp_path: Path) -> None:
    paragraphs = [PROSE, OTHER]
    given = {
        "twice": "\n\n".join(paragraphs * 2),
        "cookies": f"We use cookies to improve your experience. Accept all cookies\n\n{PROSE} Twice.",
        "once": f"{PROSE}\n\nAnd so on it went, until the spring.",
    }
    _, found, _ = screened(tmp_path, given)
    assert "repeated-paragraph" in found["twice"]
    assert "boilerplate" in found["cookies"]
    assert not found.get("once", set()) & {"repeated-paragraph", "boilerplate"}


def test_c45_a_document_with_pending_revisions_is_refused_whole(tmp_path: Path) -> None:
    body = '<w:p><w:r><w:t>Old words.</w:t></w:r><w:ins w:author="Ann"><w:r><w:t>new</w:t></w:r></w:ins></w:p>'
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("word/document.xml", f'<w:document xmlns:w="x"><w:body>{body}</w:body></w:document>')
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "one.docx").write_bytes(file.getvalue())
    (folder / "two.txt").write_text(PROSE)
    trial = Trial(tmp_path / "study", [arm("A", "human", 2)])
    trial.done("commit")
    options = [f"--option={name}={value}" for name, value in ARCHIVE.items()]
    said = trial.run("collect", "A", "--from", "folder", "--path", str(folder), *options)
    assert (said.code, said.out) == (1, "")
    assert "one.docx: is a Word document with 1 pending revisions (by Ann)" in said.err
    assert "Accept or reject" in said.err
    assert not trial.place.documents("A").exists()  # and never a partial text


@pytest.mark.parametrize(
    ("name", "text"), [("ligature", "e\ufb03cient " + PROSE), ("replacement-character", "o\ufffder " + PROSE)]
)
def test_c46_letters_that_a_conversion_lost_are_found_and_may_stop_the_freeze(
    tmp_path: Path, name: str, text: str
) -> None:
    said, found, trial = screened(tmp_path, {"one": text}, screening={name: "error"})
    assert said.code == 1
    assert name in found["one"]
    assert trial.run("freeze").code == 1
    said, found, trial = screened(tmp_path / "lenient", {"one": text})
    assert said.code == 0
    assert name in found["one"]
    assert trial.run("freeze").code == 0


def test_c46_a_nul_never_comes_in(tmp_path: Path) -> None:
    trial = Trial(tmp_path / "study", [arm("A", "human", 1)])
    trial.done("commit")
    said = trial.collect("A", {"one": "o\u0000 er"}, **ARCHIVE)
    assert (said.code, said.out) == (1, "")
    assert "study-A.jsonl:1" in said.err
    assert "NUL" in said.err
    assert not trial.place.documents("A").exists()


# --- counting ------------------------------------------------------------------------------------------------------


def test_c47_words_are_counted_by_one_rule_and_the_borderline_is_listed(tmp_path: Path) -> None:
    """298 words between spaces, of which three are two, joined by a dash."""
    text = " ".join(["word"] * 295 + ["one—two"] * 3)
    assert len(text.split()) == 298
    limits = {"words": {"minimum": 300, "maximum": 1200}}
    _, found, trial = screened(tmp_path, {"one": text + "."}, arm_fields=limits)
    [record] = lines(trial.place.documents("A"))
    assert record["words"] == 301
    assert "word-limit" not in found["one"]
    assert "word-limit-margin" in found["one"]
    trial.done("freeze")
    assert json.loads(trial.edition.manifest.read_text().splitlines()[0])["word_rule"] == "penmark-2"


EDIT_SHARES = [
    (30, 300, True),
    (31, 300, False),
    (36, 359, False),
    (120, 1200, True),
    (121, 1200, False),
    (10, 99, False),
]


def test_c48_edits_are_counted_in_words_and_held_to_the_budget_exactly(tmp_path: Path) -> None:
    """36 of 359 shows as 10.0 % and is more; a differ by lines finds half of a list of few words changed."""
    drafts, edits = {}, {}
    for changed, words, _ in EDIT_SHARES:
        vocabulary = [f"{'abcdefgh'[n * n % 8]}" for n in range(words)]
        drafts[f"{changed}-{words}"] = " ".join(vocabulary)
        step = words // changed
        edited = [f"new{n}" if n % step == 0 and n // step < changed else word for n, word in enumerate(vocabulary)]
        edits[f"{changed}-{words}"] = " ".join(edited)
    edits["0-300"] = drafts["0-300"] = " ".join(["w"] * 300)
    edited = {
        "kind": "edited",
        "grade": "stated",
        "editor": "E",
        "provider": "P",
        "model": "M",
        "draft_grade": "stated",
    }
    budget = {"words_percent": "10", "sentences": "any"}
    trial = Trial(tmp_path / "study", [arm("A", "mixed", len(edits), budget=budget)])
    trial.done("commit")
    said = trial.collect("A", edits, {name: {"draft": draft} for name, draft in drafts.items()}, **edited)
    assert said.code == 0, said
    assert trial.run("screen").code == 0
    told: dict[str, set[str]] = {}
    for row in read_csv(trial.edition.screening):
        told.setdefault(row["document"], set()).add(row["rule"])
    for line in lines(trial.place.documents("A")):
        changed, words = map(int, line["id"].split("-"))
        assert (line["provenance"]["words_changed"], line["provenance"]["draft_words"]) == (changed, words)
    for changed, words, passes in EDIT_SHARES:
        assert ("over-budget" in told.get(f"{changed}-{words}", set())) is not passes, (changed, words)
    assert "not-edited" in told["0-300"]
    assert "over-budget" not in told["0-300"]


# --- ids and secrets -------------------------------------------------------------------------------------------------


def test_c51_ids_that_look_alike_are_two_ids_and_a_fault(tmp_path: Path) -> None:
    composed = "café"
    apart = unicodedata.normalize("NFD", composed)
    assert composed != apart
    said, found, trial = screened(tmp_path, {composed: PROSE, apart: OTHER})
    assert said.code == 1
    assert "look-alike-id" in found.get(composed, set()) | found.get(apart, set())
    assert {line["id"] for line in lines(trial.place.documents("A"))} == {composed, apart}
    assert trial.run("freeze").code == 1


@pytest.fixture(scope="module")
def volunteers(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    """Four texts of volunteers, of whom one declined publication, scanned and published."""
    root = tmp_path_factory.mktemp("volunteers")
    trial = Trial(root / "study", [arm("B", "human", 4)], detectors={"says": {}})
    trial.done("commit")
    words = ("kettle", "ferry", "ladder", "orchard")
    given = {
        f"B-{n:02d}": f'My {word} {PROSE.replace(" ", f" {word} ")}\n{{"score": 0.{n}}}'
        for n, word in enumerate(words, 1)
    }
    shy = {"publish": "no", "topic": "my own secret topic", "author": "one who declined"}
    assert trial.collect("B", given, {"B-02": shy}, **ATTESTED).code == 0
    trial.done("freeze")
    trial.done("scan")
    trial.texts = given  # type: ignore[attr-defined]
    return trial


def test_c52_nothing_public_tells_a_withheld_text(volunteers: Trial) -> None:
    bundle = volunteers.published()
    secret: str = volunteers.texts["B-02"]  # type: ignore[attr-defined]
    raw = secret.encode()
    count = len(canonical_json.make_canonical_text(raw).split())
    forbidden = {
        "the text": raw[40:120],
        "its plain SHA-256": canonical_json.sha256(raw).encode(),
        "its canonical SHA-256": canonical_json.sha256(canonical_json.make_canonical_text(raw)).encode(),
        "its topic": b"secret topic",
    }
    public = everything(bundle) | {f"study/{path}": data for path, data in everything(volunteers.place.corpus).items()}
    for what, needle in forbidden.items():
        assert not [path for path, data in public.items() if needle in data], what
    [record] = [row for row in read_csv(bundle / "tables" / "documents.csv") if row["id"] == "B-02"]
    for column in ("words", "characters", "canonical_sha256", "topic", "source"):
        assert record[column] == "", (column, count)
    assert record["withheld"] != ""
    assert not (bundle / "texts" / f"{record['address']}.txt").exists()
    assert "B-02" not in {line["document"] for line in lines(bundle / "salts.jsonl")}
    said = penmark("verify", str(bundle))
    assert said.code == 0, said.out


def test_c53_a_withdrawn_text_is_gone_and_its_answer_stays(volunteers: Trial) -> None:
    secret: str = volunteers.texts["B-03"]  # type: ignore[attr-defined]
    if not (volunteers.edition.tables / "rates.csv").exists():
        volunteers.done("report")
    said = volunteers.run("withdraw", "B-03")
    assert said.code in (0, 1), said
    assert "Out of reach:" in said.out
    assert not [path for path, data in everything(volunteers.root).items() if secret[40:160].encode() in data]
    again = volunteers.root.parent / "again"
    volunteers.done("publish", "--out", str(again), "--no-tar")
    assert not [path for path, data in everything(again).items() if secret[40:160].encode() in data]
    [row] = [row for row in read_csv(again / "tables" / "readings.csv") if row["document"] == "B-03"]
    assert (row["state"], row["score"]) == ("answered", "0.3")
    said = penmark("verify", str(again))
    assert said.code == 0, said.out
    assert "withdrawn" in said.out


# --- one among many --------------------------------------------------------------------------------------------------


def test_c60_one_fault_among_many_is_counted_and_decides(tmp_path: Path) -> None:
    given = {f"{n:03d}": f"Text number {n} of many, each with other words: {'word ' * (n % 7)}." for n in range(149)}
    said, found, trial = screened(tmp_path, given | {"077x": "   "})
    assert said.code == 1
    assert said.out.splitlines()[-1].startswith("1 error, ")
    assert "empty" in found["077x"]
    assert json.loads(trial.run("screen", "--json").out)["errors"] == 1
    frozen = trial.run("freeze")
    assert frozen.code == 1
    assert "1 error stops the freeze" in frozen.err
    assert not trial.edition.seal("corpus").exists()


def test_c50_a_text_whose_line_ends_were_turned_is_named_as_such(tmp_path: Path) -> None:
    trial = Trial(tmp_path / "study", [arm("A", "human", 2)])
    trial.frozen(A=texts(2))
    trial.done("scan")
    bundle = trial.published()
    for path in (*bundle.glob("texts/*"), trial.edition.protocol_yaml):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    said = penmark("verify", str(bundle))
    assert said.code == 1
    named = [path.name for path in bundle.glob("texts/*") if path.name in said.out]
    assert len(named) == 2
    assert "line ends" in said.out
