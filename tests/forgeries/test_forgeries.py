"""Forgeries: somebody changes one thing and makes all the rest fit it, and just the right check notices."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.forgeries import both
from tests.forgeries.acts import FORGERIES, Forgery
from tests.forgeries.forger import Forger
from tests.forgeries.unseen import UNSEEN

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
