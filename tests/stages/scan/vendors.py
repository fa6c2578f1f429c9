"""A small study whose detectors are vendors' doubles: cards that lead to a server on this machine, and its keys."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.frozen_study import SEED, detector, frozen

from penmark import cards, journal, study
from penmark.format import canonical_json
from penmark.journal import Journal
from penmark.records import Pace
from penmark.stages.scan import open_scan, scan_readiness
from penmark.stages.scan.run import Ended
from penmark.study import Edition, Study
from penmark.testing.doubles import Double, place_card, run_double

FAST = {name: Pace(requests=10_000, seconds=1) for name in (path.stem for path in cards.SHIPPED.glob("*.yaml"))}
"""No vendor's own limit: a test does not wait for it."""
PLENTY = {name: Decimal(10**9) for name in FAST}


def text(number: int, word: str = "") -> str:
    """A text that is long enough for every vendor, and tells its double what to say."""
    said = f"double:{word} " if word else ""
    return f"{said}Text {number} speaks of nothing in particular, so that nobody can take it for anything. " * 8


class Place(NamedTuple):
    """A study, its edition, and the doubles by name."""

    study: Study
    edition: Edition
    doubles: dict[str, Double]

    def scan(self, *wanted: str, **options: Any) -> list[Ended]:
        """Scan, with more money than anything costs and without waiting for limits, unless told otherwise."""
        terms: dict[str, Any] = {"pause": lambda failures: 0.0, "limits": scan_readiness.ScanLimits(paces=FAST)}
        terms["budgets"] = {name: PLENTY[name] for name in self.doubles}
        with open_scan.begin_scan(self.study, self.edition, list(wanted), **(terms | options)) as scan:
            return scan.run()

    def journal(self, name: str) -> Journal:
        """The journal of a detector."""
        first = canonical_json.sha256(study.read_bytes(self.edition.seal("corpus")))
        return journal.read_journal(self.edition.journals / f"{name}.jsonl", first)

    def readings(self, name: str) -> dict[str, dict[str, Any]]:
        """Its readings, by document."""
        return {row["document"]: row for row in self.journal(name).readings.iter_rows(named=True)}

    def order(self, names: Sequence[str]) -> list[str]:
        """Documents as they are asked about."""
        return sorted(names, key=lambda name: canonical_json.rank_name(SEED, "scan", name))


@contextlib.contextmanager
def vendors(
    root: Path,
    texts: Mapping[str, str | bytes],
    names: Mapping[str, Mapping[str, Any]],
    *,
    others: Sequence[dict[str, Any]] = (),
    detectors: Mapping[str, Mapping[str, Any]] | None = None,
    change: Mapping[str, tuple[str, str]] | None = None,
    **further: Any,
) -> Iterator[Place]:
    """A study with a detector for each of ``names``, whose doubles have these options. ``others``: more detectors;
    ``detectors``: more fields of one; ``change``: words in a card, and what to write instead."""
    with contextlib.ExitStack() as open_ones, pytest.MonkeyPatch.context() as patch:
        there = {name: open_ones.enter_context(run_double(name, **options)) for name, options in names.items()}
        placed_cards = {}
        for name, made in there.items():
            written = place_card(cards.find_card(name, None).read_text(encoding="utf-8"), made.url)
            old, new = (change or {}).get(name, ("", ""))
            placed_cards[name] = written.replace(old, new, 1) if old else written
            request = cards.load_card(cards.find_card(name, None)).ask.request
            assert request is not None
            for key, where in request.keys.items():
                patch.setenv(where.env, made.keys[key])
        promised = [detector(name, surface="api", **(detectors or {}).get(name, {})) for name in names]
        place, edition = frozen(root / "study", dict(texts), *promised, *others, cards=placed_cards, **further)
        yield Place(place, edition, there)
