"""Forgeries: somebody changes one thing and makes all the rest fit it, and just the right check notices."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.forgeries import both, finer
from tests.forgeries.acts import FORGERIES, Forgery
from tests.forgeries.forger import Forger
from tests.forgeries.unseen import UNSEEN
from tests.golden import material

from penmark import canon

THREATS = Path(__file__).parents[2] / "docs" / "threats.md"


def test_the_forger_who_changes_nothing_changes_nothing(golden: Path, forger: Forger) -> None:
    forger.finish()
    files = sorted(p.relative_to(golden) for p in golden.rglob("*") if p.is_file())
    assert files == sorted(p.relative_to(forger.root) for p in forger.root.rglob("*") if p.is_file())
    assert [name for name in files if (golden / name).read_bytes() != (forger.root / name).read_bytes()] == []


@pytest.mark.parametrize("forged", FORGERIES, ids=lambda forged: forged.name)
def test_only_its_check_notices(forger: Forger, forged: Forgery) -> None:
    forged.act(forger)
    forger.finish(*forged.but)
    ours, alone = both.ours(forger.root), both.alone(forger.root)
    told = "\n".join(f"{n}: {ours.faults(n)}" for n in sorted(ours.failed))
    assert ours.failed == forged.checks, told
    assert ours.says(forged.named), told
    said = "\n".join(f"{n}: {alone.faults(n)}" for n in sorted(alone.failed))
    assert alone.failed == forged.alone, said
    if forged.alone == forged.checks:
        assert alone.says(forged.named), said


def test_answers_from_elsewhere_are_told_where_a_program_could_ask(forger: Forger) -> None:
    finer.unasked(forger, origin="typed", read_by="operator 7")
    forger.finish()
    for told in (both.ours(forger.root), both.alone(forger.root)):
        assert told.failed == set()
        assert "5 journal/plain: 1 answer" in told.unknown()
        assert "from elsewhere" in told.unknown()


def test_remarks_of_another_release_are_not_vouched_for(forger: Forger) -> None:
    for path in forger.journals("edge.2"):
        forger.lines(path, lambda values: [v | {"software": "other 1"} if v["kind"] == "start" else v for v in values])
    forger.reading("edge.2", "A-01", reason="this text is known to be AI")
    forger.finish()
    told = both.ours(forger.root)
    assert told.failed == set()
    assert "5 journal/edge.2.1of2.jsonl: another release wrote it" in told.unknown()


def test_an_account_that_was_refused_uses_up_no_attempt(forger: Forger) -> None:
    finer.asked_again(forger, 1, 1, 1, 2, reason="stopped: the account was refused")
    ours = both.ours(finished(forger))
    assert ours.failed == both.alone(forger.root).failed == {5}
    assert ours.faults(5).count("A-04: attempt") == 1  # after a stop the number is the same


@pytest.mark.parametrize(
    "score", ["1e9999999999999999999", "1e-9999999999999999999", "-0", "9" * 5000, "0e99999999999"]
)
def test_numbers_beyond_all_others_are_called_alike(forger: Forger, score: str) -> None:
    forger.edit("detectors/edge.2.json", lambda value: value["card"]["scale"].update(low=None, high=None))
    forger.cards()
    body = f'{{"class":"AI","model":"2.0","score":{score},"text":{json.dumps(material.TEXTS["C-01"])}}}'
    forger.answer("edge.2", "C-01", body, score=score, displayed=score, label="AI")
    assert both.ours(finished(forger)).failed == both.alone(forger.root).failed == set()


@pytest.mark.parametrize("at", ["yesterday", "2024-12-01"])
def test_a_withdrawal_at_no_time(forger: Forger, at: str) -> None:
    forger.write("withdrawn.jsonl", canon.encode({"at": at, "document": "B-06"}) + b"\n")
    ours, alone = both.ours(finished(forger)), both.alone(forger.root)
    assert "withdrawn.jsonl:1" in ours.faults(4)
    assert "withdrawn.jsonl:1" in alone.faults(4)


def finished(forger: Forger) -> Path:
    """The bundle, all the rest made to fit."""
    forger.finish()
    return forger.root


ELSEWHERE = {
    "changes a file and `SHA256SUMS` with it": "test_flips.py",
    "rewrites the promise and every later seal": "test_stamps.py",
    "puts a verifier of his own into the bundle": "test_forgeries.py",
    "attacks the reader's machine: paths, links, giant or deeply nested files, zip bombs, scripts in pages, cells that a "
    "spreadsheet runs": "test_hostile.py",
}
"""Rows of docs/threats.md whose tests are of another form."""


def test_every_threat_has_a_forgery_and_every_forgery_its_threat() -> None:
    text = THREATS.read_text(encoding="utf-8")
    shown = text[text.index("## What is shown") : text.index("## What is not checked here")]
    rows = [
        line.split(" | ")[1] for line in shown.splitlines() if line.startswith("| ") and not line.startswith("| who")
    ]
    assert len(rows) > 20
    assert set(rows) == {forged.threat for forged in FORGERIES} | set(ELSEWHERE)


def test_every_check_has_several_forgeries() -> None:
    only = [next(iter(forged.checks)) for forged in FORGERIES if len(forged.checks) == 1]
    assert all(only.count(number) >= 3 for number in (1, 2, 3, 4, 5, 7, 8))
    assert 6 in only


def test_what_cannot_be_shown_is_told() -> None:
    text = THREATS.read_text(encoding="utf-8")
    numbers = {int(n) for n in re.findall(r"^([0-9]+)\. ", text[text.index("## What cannot be shown") :], re.MULTILINE)}
    assert {one.number for one in UNSEEN} <= numbers


def test_another_verifier_in_the_bundle(forger: Forger) -> None:
    forger.write("verify.py", b"print('all well')\n")
    forger.finish()
    ours = both.ours(forger.root)
    assert ours.failed == both.alone(forger.root).failed == set()
    assert "1 verify.py: is not the one of this release of penmark" in ours.unknown()
