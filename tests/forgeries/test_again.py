"""What follows from a bundle's other files is made again: the same bytes where this release made it, else not checked."""

from __future__ import annotations

import random
import re
import shutil
import sys
from pathlib import Path

import pytest
from tests.cases.case_study import penmark
from tests.forgeries import both_verifiers, boundary_forgeries
from tests.forgeries.forger import Forger

from penmark.stages.verify.check8_page import remake
from penmark.timestamps import Trust

MADE = (remake.PAGE, *remake.WORDS)


def _said(forger: Forger) -> list[str]:
    return [f"{c.state}: {c.subject}: {c.got}" for c in both_verifiers.ours(forger.root).checks if c.number == 8]


def test_a_bundle_in_a_folder_of_another_name_is_the_same_bundle(golden: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(golden, tmp_path / "downloads (3)")
    told = both_verifiers.ours(copy)
    assert told.failed == set()
    assert "7 files, byte for byte" in str([c.got for c in told.checks])


@pytest.mark.parametrize("path", MADE)
def test_any_digit_or_letter_is_held_to_the_other_files(forger: Forger, path: str) -> None:
    data, told = forger.read(path), random.Random(path)
    at = told.sample([m.start() for m in re.finditer(rb"[0-9a-z]", data)], 3)
    for place in at:
        forger.write(path, data[:place] + (b"0" if data[place : place + 1] != b"0" else b"1") + data[place + 1 :])
        forger.sums()
        line = data[:place].count(b"\n") + 1
        assert any(c.startswith(f"failed: {path}:{line}: ") for c in _said(forger)), (place, _said(forger))


def test_what_differs_is_shown_from_near_where_it_differs(forger: Forger) -> None:
    forger.replace(remake.PAGE, "How often AI-text detectors call human writing AI, and how often they", "They")
    forger.sums()
    [found] = [
        c for c in both_verifiers.ours(forger.root).checks if c.state == "failed" and c.subject.startswith(remake.PAGE)
    ]
    assert (found.got or "").startswith('<p class="lead">They find AI writing')
    assert (found.expected or "").startswith('<p class="lead">How often AI-text detectors')


def test_another_release_is_not_vouched_for(forger: Forger) -> None:
    forger.edit("seals/evidence.json", lambda seal: seal.update(rules=9))
    forger.finish()
    forger.replace("CITATION.cff", "date-released: 2024", "date-released: 2023")
    forger.sums()
    told = both_verifiers.ours(forger.root)
    assert told.failed == set()
    assert "8 page and words, made again: they were made by rules 9; this release has" in told.unknown()


def test_without_jinja2_the_page_alone_is_not_checked(forger: Forger, monkeypatch: pytest.MonkeyPatch) -> None:
    forger.replace("CITATION.cff", "date-released: 2024", "date-released: 2023")
    forger.sums()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    checks = remake.check_and_remake(forger.root, Trust())
    [page] = [c for c in checks if c.subject == remake.PAGE and c.state == "not checked"]
    assert (page.number, page.remedy) == (
        8,
        "pip install 'penmark[report]' (in a checkout of penmark: pip install '.[report]')",
    )
    assert [c.subject.split(":")[0] for c in checks if c.state == "failed"] == ["CITATION.cff"]


@pytest.mark.parametrize("gone", ["protocol.json", "tables/documents.csv", "tables/table1.csv", "seals/corpus.json"])
@pytest.mark.parametrize("data", [None, b"", b"\xff,\n", b'{"a":1}'])
def test_of_a_damaged_bundle_nothing_is_made_and_nothing_breaks(forger: Forger, gone: str, data: bytes | None) -> None:
    if data is None:
        (forger.root / gone).unlink()
    else:
        forger.write(gone, data)
    forger.sums()
    told = both_verifiers.ours(forger.root)
    assert told.failed
    assert "cannot be made again from what is here: see check" in told.unknown() or 8 in told.failed


@pytest.mark.parametrize("path", MADE)
def test_what_is_missing_is_told_once(forger: Forger, path: str) -> None:
    (forger.root / path).unlink()
    forger.sums()
    told = both_verifiers.ours(forger.root)
    assert 1 in told.failed
    assert "Errno" not in str(told)


def test_a_reply_and_a_withdrawal_that_came_later_pass(forger: Forger) -> None:
    boundary_forgeries.reply(forger, "2025-01-02")
    boundary_forgeries.take_back(forger, "B-06", "2025-01-03T00:00:00Z")
    forger.finish()
    assert both_verifiers.ours(forger.root).failed == set()
    assert b"took texts back" in forger.read("README.md")
    assert b"It is the best." in forger.read(remake.PAGE)


def test_the_command_says_line_got_and_expected(forger: Forger) -> None:
    forger.replace("CITATION.cff", "date-released: 2024", "date-released: 2023")
    forger.sums()
    said = penmark("verify", str(forger.root))
    assert said.code == 1
    assert re.search(
        r"^8 pages +FAILED +CITATION\.cff:\d+: date-released: 2023.*\n    expected date-released: 2024", said.out, re.M
    )
