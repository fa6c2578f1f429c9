"""What breaks a promised rule is a departure: counted per arm and rule, from manifest, promise and screening.csv."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penmark import protocol, study
from penmark.corpus import breaches
from penmark.format import canonical_json
from penmark.records import Protocol

Json = dict[str, Any]
HEAD = "severity,rule,arm,document,file,row,message,remedy\n"


@pytest.fixture
def edition(golden: Path, tmp_path: Path) -> study.Edition:
    """Manifest, promise and findings of the golden edition, to be changed."""
    for path in ("manifest.jsonl", "screening.csv", "protocol.json", "seals/promise.json"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes((golden / path).read_bytes())
    return study.Edition(tmp_path)


def promised(edition: study.Edition, **changes: Any) -> Protocol:
    return protocol.read_sealed(edition).model_copy(update=changes)


def change(edition: study.Edition, name: str, act: Callable[[Json], object]) -> None:
    values = [json.loads(line) for line in edition.manifest.read_bytes().splitlines()]
    act(next(value for value in values if value.get("id") == name))
    edition.manifest.write_bytes(b"".join(canonical_json.encode_json(value) + b"\n" for value in values))


def told(edition: study.Edition) -> dict[str, str]:
    return {each.rule: each.study for each in breaches.frozen(edition, promised(edition))}


BEFORE = {"after-cutoff", "word-limit", "duplicate-text", "over-budget", "sentences-unclear", "other-topics"}
BROKEN: dict[str, tuple[str, Callable[[Json], object], str]] = {
    "word-limit": ("A-01", lambda d: d.update(words=9), "arm A: 2 of 8 documents do not: A-01, A-07"),
    "not-edited": ("E-01", lambda d: d["provenance"].update(words_changed=0), "arm C2: 1 of 3 documents do not: E-01"),
    "made-before-promise": (
        "C-02",
        lambda d: d["provenance"].update(generated_on="2023-01-01"),
        "arm C: 1 of 5 documents do not: C-02",
    ),
    "other-prompt": (
        "C-02",
        lambda d: d["provenance"].update(prompt="Rewrite this human essay so that no detector notices."),
        "arm C: 1 of 5 documents do not: C-02",
    ),
    "other-settings": (
        "C-02",
        lambda d: d["provenance"].update(settings={"temperature": "0.1"}),
        "arm C: 1 of 5 documents do not: C-02",
    ),
    "duplicate-text": ("A-02", lambda d: None, "arm A: 2 of 8 documents do not: A-02, A-06"),
}


@pytest.mark.parametrize("rule", BROKEN)
def test_a_rule_that_is_broken_is_told_with_how_many_and_which(edition: study.Edition, rule: str) -> None:
    name, act, what = BROKEN[rule]
    assert told(edition).get(rule) != what
    if rule == "duplicate-text":
        first = next(json.loads(n) for n in edition.manifest.read_bytes().splitlines() if b'"id":"A-01"' in n)
        act = lambda d: d.update(canonical_sha256=first["canonical_sha256"])  # noqa: E731
    change(edition, name, act)
    assert told(edition)[rule] == what


def test_a_draft_that_is_older_than_the_promise_is_told_too(edition: study.Edition) -> None:
    change(edition, "E-02", lambda d: d["provenance"]["draft"].update(generated_on="2023-01-01"))
    assert told(edition)["made-before-promise"] == "arm C2: 1 of 3 documents do not: E-02"


def test_what_the_golden_study_breaks(edition: study.Edition) -> None:
    assert {each.rule for each in breaches.frozen(edition, promised(edition))} == BEFORE
    assert told(edition)["over-budget"] == "arm C2: 1 of 3 documents do not: E-03"
    [late] = [each for each in breaches.frozen(edition, promised(edition)) if each.rule == "after-cutoff"]
    assert late.template == "arm A: evidence from before 2022-01-01"


def test_an_edition_of_format_1_told_none(edition: study.Edition) -> None:
    assert breaches.frozen(edition, promised(edition, format=1)) == []


def test_a_person_decides_about_sentences(edition: study.Edition) -> None:
    row = "warning,{},C2,{},corpus/C2/documents.jsonl,1,unclear; decided by N. N. on 2024-10-15: {} (read both),r\n"
    edition.screening.write_text(HEAD + "".join(row.format("sentences-unclear", f"E-0{n}", "kept") for n in (1, 2, 3)))
    assert "sentences-unclear" not in told(edition)
    changed = row.format("sentences-unclear", "E-02", "changed") + row.format("sentences-changed", "E-02", "changed")
    edition.screening.write_text(HEAD + changed)
    found = told(edition)
    assert found["sentences-changed"] == "arm C2: 1 of 3 documents do not: E-02"
    assert found["sentences-unclear"] == "arm C2: 1 of 3 documents do not: E-03"


def test_hidden_marks_count_in_headline_arms(edition: study.Edition) -> None:
    row = "warning,hidden-marks,{},{},f,1,m,r\n"
    edition.screening.write_text(HEAD + row.format("C", "C-01") + row.format("C", "C-03") + row.format("C2", "E-01"))
    assert told(edition)["hidden-marks"] == "arm C: 2 of 5 documents do not: C-01, C-03"


def test_only_the_first_are_named(edition: study.Edition) -> None:
    for number in range(1, 9):
        change(edition, f"A-0{number}", lambda d: d.update(words=9))
    assert told(edition)["word-limit"] == "arm A: 8 of 8 documents do not: A-01, A-02, A-03, A-04, A-05, …"


def test_lines_that_are_no_documents_are_left_to_others(edition: study.Edition) -> None:
    before = told(edition)
    lines = (
        b"[]",
        b"{}",
        b"7",
        b'{"arm":"A"}',
        b'{"arm":["A"]}',
        b"not JSON",
        b'{"arm":"A","canonical_sha256":7,"id":"x"}',
    )
    junk = b"".join(line + b"\n" for line in lines)
    edition.manifest.write_bytes(edition.manifest.read_bytes() + junk)
    assert told(edition) == before


def test_the_page_tells_them(golden: Path) -> None:
    page = (golden / "report" / "index.html").read_text()
    section = page[page.index("What went otherwise than promised") : page.index("Amendments of the promise")]
    assert "arm C2: 1 of 3 documents do not: E-03" in section
    assert "Nothing was told" not in section
