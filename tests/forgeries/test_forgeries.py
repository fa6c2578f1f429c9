"""Forgeries: somebody changes one thing and makes all the rest fit it, and just the right check notices."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.forgeries import both
from tests.forgeries.acts import FORGERIES, Forgery
from tests.forgeries.forger import Forger

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
