"""A pilot: the detectors read practice texts that ship with penmark, so that a scan does not start with a surprise.

*Reads* the protocol and cards, sealed or not yet, and the practice texts. *Writes* ``pilot/<detector>.jsonl`` and its
evidence, never published, always counted. *Never* reads a document of the study.
"""

from __future__ import annotations

import importlib.resources
import re
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import polars as pl

from penmark import canon, cards, evidence, journal
from penmark.errors import UsageError
from penmark.scan import opening, plan, ready
from penmark.scan.lane import Item, Lane, Promised
from penmark.study import Edition, Study

FIRST_PREV = "0" * 64
"""What the first line of a pilot's journal follows: there is no corpus seal that it belongs to."""
FOREVER = "9999-12-31"


class Practised(NamedTuple):
    """What one detector said about one practice text: the state, what was displayed, or why nothing was."""

    detector: str
    text: str
    state: str
    displayed: str | None
    reason: str | None


class Practice:
    """The practice texts, as a lane is given documents. ``run``: the how-manieth pilot this is; ids are ``<name>.<run>``."""

    def __init__(self, run: int) -> None:
        folder = importlib.resources.files("penmark") / "practice"
        files = sorted((f for f in folder.iterdir() if f.name.endswith(".txt")), key=lambda f: f.name)
        self._texts = [(f"{file.name.removesuffix('.txt')}.{run}", file.read_bytes()) for file in files]

    def __len__(self) -> int:
        return len(self._texts)

    def name(self, position: int) -> str:
        """The name of the text and the number of the run."""
        return self._texts[position][0]

    def address(self, position: int) -> str:
        """SHA-256 of the text."""
        return canon.sha256(self._texts[position][1])

    def text(self, position: int) -> str:
        """The text."""
        return self._texts[position][1].decode()

    def digest(self, position: int, raw: bytes) -> str:
        """SHA-256 of an answer about it."""
        return canon.sha256(raw)


def run(place: Study, edition: Edition, wanted: Iterable[str]) -> list[Practised]:
    """Ask the detectors about each practice text, once a run. Raises UsageError once the evidence is sealed."""
    if edition.seal("evidence").exists():
        raise UsageError(
            f"the evidence of {edition.tag} is sealed, and with it the number of pilots",
            place=str(edition.seal("evidence")),
            remedy="Try detectors in the next edition: `penmark init` starts it.",
        )
    promised = ready.promised(edition)
    sealed = {each.name: ready.card(place, edition, each) for each in promised.detectors}
    names = plan.chosen(promised, sealed, wanted)
    with opening.alone(edition):
        askers = ready.askers((promised.detector(name), sealed[name]) for name in names)
        said: list[Practised] = []
        for name in names:
            detector = promised.detector(name)
            terms = Promised(name, sealed[name].card, detector.version, 1, False, FOREVER)
            path = edition.pilot / f"{name}.jsonl"
            with journal.Writer(path, FIRST_PREV) as writer:
                texts = Practice(_runs(path) + 1)
                digest = canon.sha256(cards.canonical(sealed[name]))
                writer.append(opening.started(name, sealed[name], digest, "1/1"))
                kept = evidence.Writer(edition.pilot, name)
                lane = Lane(terms, askers[name], texts, writer, kept, pause=opening.pause)
                lane.run(iter([Item(position) for position in range(len(texts))]), threading.Event())
            if lane.tally.error is not None:
                raise lane.tally.error
            said += _said(path, name, texts)
    return said


def counts(edition: Edition) -> dict[str, int]:
    """How many practice readings each detector has given in this edition, over all pilots."""
    return {name: readings.height for name, readings in _readings(edition)}


def paces(edition: Edition) -> dict[str, float]:
    """Seconds that each detector took for a practice text, on average."""
    found: dict[str, float] = {}
    for name, readings in _readings(edition):
        took = readings.select(
            (
                pl.col("got_at").str.to_datetime(time_zone="UTC") - pl.col("sent_at").str.to_datetime(time_zone="UTC")
            ).mean()
        ).item()
        if took is not None:
            found[name] = took.total_seconds()
    return found


def _readings(edition: Edition) -> Iterator[tuple[str, pl.DataFrame]]:
    evidence_file = re.compile(r".*-\d{4}\.jsonl")
    for path in sorted(edition.pilot.glob("*.jsonl")) if edition.pilot.is_dir() else ():
        if not evidence_file.fullmatch(path.name) and path.stat().st_size > 0:
            yield path.stem, journal.read(path, FIRST_PREV).readings


def _runs(path: Path) -> int:
    return len(journal.read(path, FIRST_PREV).starts) if path.stat().st_size > 0 else 0


def _said(path: Path, detector: str, texts: Practice) -> list[Practised]:
    ours = {texts.name(position) for position in range(len(texts))}
    told = journal.read(path, FIRST_PREV).readings.filter(pl.col("document").is_in(ours))
    rows = told.select("document", "state", "displayed", "reason").iter_rows()
    return [Practised(detector, name.rpartition(".")[0], *rest) for name, *rest in rows]
