"""Both verifiers, asked about one folder in this process.

Each gives what it found as one form; ``agree`` says where they contradict each other. Where a check has failed, those
that stand on it may fall or stand with it: what a program makes of broken material is its own affair.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import penmark.standalone
from penmark import timestamps
from penmark.records import Check
from penmark.stages.verify.check8_page import remake

STANDS_ON = {1: set(), 2: set(), 3: set(), 4: {3}, 5: {3, 4}, 6: {3, 4, 5}, 7: {3, 4, 5}}
"""Which checks read what another check has to find whole first."""
NOBODY = timestamps.Trust()


class Told(NamedTuple):
    """What one verifier said."""

    checks: list[Check]

    @property
    def failed(self) -> set[int]:
        """The numbers of the checks that failed."""
        return {check.number for check in self.checks if check.state == "failed"}

    def faults(self, number: int) -> str:
        """All that failed in one check, as text."""
        return "\n".join(
            f"{c.subject}: {c.got}; expected {c.expected}"
            for c in self.checks
            if (c.number, c.state) == (number, "failed")
        )

    def unknown(self) -> str:
        """All that was not checked, as text."""
        return "\n".join(f"{c.number} {c.subject}: {c.got}" for c in self.checks if c.state == "not checked")

    def says(self, word: str) -> bool:
        """Whether a fault names ``word``."""
        return any(c.state == "failed" and word in f"{c.subject}: {c.got}; {c.expected}" for c in self.checks)


def _load() -> ModuleType:
    path = Path(penmark.standalone.__file__).with_name("verify.py")
    spec = importlib.util.spec_from_file_location("standalone_verifier", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


STANDALONE = _load()


def ours(root: Path, trust: timestamps.Trust = NOBODY) -> Told:
    """What ``penmark verify`` says."""
    told = Told(remake.check_and_remake(root, trust))
    assert {c.number for c in told.checks} == set(range(1, 9))
    assert all(c.expected and c.remedy for c in told.checks if c.state == "failed"), told.checks
    _legible(told)
    return told


def alone(root: Path) -> Told:
    """What ``verify.py`` says."""
    found: list[dict[str, Any]] = STANDALONE.verify(root)
    told = Told([Check.model_validate(each) for each in found])
    assert {c.number for c in told.checks} == set(range(1, 9))
    _legible(told)
    return told


def _legible(told: Told) -> None:
    """Place, fact and remedy, in words that steer no terminal; and no fault of ours."""
    for check in told.checks:
        if check.state != "failed":
            continue
        assert check.subject != "", check
        assert check.got is not None, check
        for text in (check.subject, check.got, check.expected or "", check.remedy or ""):
            assert all(c.isprintable() or c == "\u00a0" for c in text), check
            assert "Traceback" not in text, check


def agree(one: Told, other: Told) -> list[int]:
    """The checks on which the two contradict each other, of those that neither leaves out."""
    broken = one.failed | other.failed
    return [n for n, before in STANDS_ON.items() if not before & broken and (n in one.failed) != (n in other.failed)]
