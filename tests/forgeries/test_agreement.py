"""Two implementations, one verdict: whatever a forger does, the checks that both make end alike."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.forgeries import both_verifiers
from tests.forgeries.forged_acts import FORGERIES
from tests.forgeries.forger import Forger
from tests.forgeries.hidden_text_forgeries import UNSEEN

from penmark.errors import PenmarkError

SOAK = os.environ.get("PENMARK_SOAK") == "1"
EXAMPLES, ROUNDS = (400, 100) if SOAK else (12, 3)
MOVES = {one.name: one for one in (*FORGERIES, *UNSEEN)}
CANNOT = (AssertionError, KeyError, ValueError, StopIteration, FileNotFoundError, IndexError)
"""How a move ends that the one before has made impossible."""
RECORDS = ["journal/plain.jsonl", "journal/edge.2.1of2.jsonl", "journal/humane.jsonl", "evidence/plain-0001.jsonl.gz",
           "salts.jsonl", "seed.json", "seals/promise.json", "seals/corpus.json", "seals/heads-0002.json"]  # fmt: skip
"""Files of which both verifiers check everything."""
VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2**53,
    "",
    "x",
    "0.5",
    "AI",
    "2024-11-31T08:00:00Z",
    "2024-11-05T08:00:00Z",
    [],
    {},
]


def copy(golden: Path, folder: Path) -> Forger:
    """A copy of the golden bundle that nobody has touched."""
    shutil.rmtree(folder / golden.name, ignore_errors=True)
    return Forger(Path(shutil.copytree(golden, folder / golden.name)))


@settings(
    max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.sampled_from(sorted(MOVES)), min_size=2, max_size=3, unique=True))
def test_several_moves_at_once(golden: Path, tmp_path: Path, names: list[str]) -> None:
    forger = copy(golden, tmp_path)
    excused: set[int] = set()
    but: set[str] = set()
    for name in names:
        move = MOVES[name]
        try:
            move.act(forger)
        except CANNOT:
            assume(False)
        if move in FORGERIES:
            excused |= move.checks ^ move.alone  # type: ignore[union-attr]
            but |= set(move.but)  # type: ignore[union-attr]
    forger.finish(*but)
    ours, alone = both_verifiers.ours(forger.root), both_verifiers.alone(forger.root)
    assert set(both_verifiers.agree(ours, alone)) <= excused, (names, ours.checks, alone.checks)


def bent(value: Any, chance: random.Random) -> Any:
    """The value with one thing in it changed: another value, a key less or more, a name with another letter."""
    if isinstance(value, dict) and value:
        key = chance.choice(sorted(value))
        what = chance.randrange(4)
        if what == 0:
            return {k: v for k, v in value.items() if k != key}
        if what == 1:
            return value | {key + "x": value[key]}
        return value | {key: bent(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.8:
        at = chance.randrange(len(value))
        return [*value[:at], bent(value[at], chance), *value[at + 1 :]]
    if isinstance(value, int) and not isinstance(value, bool) and chance.random() < 0.5:
        return value + chance.choice([-1, 1])
    if isinstance(value, str) and value and chance.random() < 0.5:
        at = chance.randrange(len(value))
        return value[:at] + chance.choice("0aZ~ é") + value[at + 1 :]
    return chance.choice(VALUES)


def shuffled(values: list[Any], chance: random.Random) -> list[Any]:
    """The lines of a file with one of them gone, twice, moved, or bent."""
    at = chance.randrange(len(values))
    what = chance.randrange(5)
    if what == 0:
        return values[:at] + values[at + 1 :]
    if what == 1:
        return [*values[: at + 1], values[at], *values[at + 1 :]]
    if what == 2:
        rest = values[:at] + values[at + 1 :]
        to = chance.randrange(len(rest) + 1)
        return [*rest[:to], values[at], *rest[to:]]
    return [*values[:at], bent(values[at], chance), *values[at + 1 :]]


@pytest.mark.parametrize("seed", range(6))
def test_a_record_bent_at_random(golden: Path, tmp_path: Path, seed: int) -> None:
    """Both verifiers, and no fault of ours: whatever stands in a record, it is a fault with a place."""
    chance = random.Random(seed)
    done = 0
    while done < ROUNDS:
        forger = copy(golden, tmp_path)
        path = chance.choice(RECORDS)
        try:
            if path.endswith(".json"):
                forger.edit(path, lambda value: bent(value, chance))
            else:
                forger.lines(path, lambda values: shuffled(values, chance))
            forger.finish()
        except (*CANNOT, AttributeError, TypeError, PenmarkError):
            continue  # not even a forger can seal that
        done += 1
        ours, alone = both_verifiers.ours(forger.root), both_verifiers.alone(forger.root)
        said = [(n, ours.faults(n)[:500], alone.faults(n)[:500]) for n in range(1, 8)]
        assert both_verifiers.agree(ours, alone) == [], (seed, path, said)
        assert "cannot be checked (" not in str(said), (seed, path, said)
