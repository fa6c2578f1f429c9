"""A pilot: the detectors read practice texts that ship with penmark, so that a scan does not start with a surprise.

*Reads* the protocol and cards, sealed or not yet, and the practice texts. *Writes* ``pilot/<detector>.jsonl`` and its
evidence, never published, always counted. *Never* reads a document of the study.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import polars as pl

from penmark import cards, journal, protocol
from penmark.errors import PenmarkError, UsageError
from penmark.format import canonical_json
from penmark.journal import evidence_log
from penmark.records import Card, Detector, Protocol, SealedCard
from penmark.stages.scan import budget as purses
from penmark.stages.scan import open_scan, plan, scan_readiness
from penmark.stages.scan.budget import Budget
from penmark.stages.scan.budget import find_tariff as tariff_of
from penmark.stages.scan.clock import Clock
from penmark.stages.scan.outcome import Promised
from penmark.stages.scan.practice_texts import FIRST_PREV, Practice, count_runs
from penmark.stages.scan.scan_queue import Money
from penmark.stages.scan.scan_readiness import ScanLimits
from penmark.stages.scan.threads import Asking, Item
from penmark.stages.scan.worker import Files, Worker
from penmark.study import Edition, Study

FOREVER = "9999-12-31"


class Practised(NamedTuple):
    """What one detector said about one practice text: the state, what was displayed, or why nothing was. ``miss``: what is
    amiss with an answer of which its card makes nothing."""

    detector: str
    text: str
    state: str
    displayed: str | None
    reason: str | None
    miss: str | None = None


def run_pilot(
    place: Study, edition: Edition, wanted: Iterable[str], *, budgets: Mapping[str, Decimal] | None = None
) -> list[Practised]:
    """Ask the detectors about each practice text, once a run. Raises UsageError once the evidence is sealed, and where
    something costs and nobody said how much it may."""
    if edition.seal("evidence").exists():
        raise UsageError(
            f"the evidence of {edition.tag} is sealed, and with it the number of pilots",
            place=str(edition.seal("evidence")),
            remedy="Try detectors in the next edition: `penmark init --edition TAG` starts it.",
        )
    promised = scan_readiness.load_promised_protocol(edition)
    sealed = {each.name: scan_readiness.load_promised_card(place, edition, each) for each in promised.detectors}
    names = plan.choose_detectors(promised, sealed, wanted)
    stop, clock, said = threading.Event(), Clock(), list[Practised]()
    trouble: list[PenmarkError] = []
    with open_scan.lock_scan(edition), contextlib.ExitStack() as open_ones:
        purse = _make_purse(promised, {name: sealed[name].card for name in names}, budgets or {})

        def asking(detector: Detector, card: SealedCard) -> Asking:
            made = scan_readiness.prepare_detector(detector, card, limits=ScanLimits(), stop=stop, called=_make_call_id)
            open_ones.callback(made.close)
            return made

        askings = scan_readiness.prepare_detectors(((promised.detector(name), sealed[name]) for name in names), asking)
        for name in names:
            texts = Practice(count_runs(edition.pilot / f"{name}.jsonl") + 1)
            error = _ask_detector(
                edition, promised.detector(name), sealed[name], askings[name], texts, purse, clock, stop
            )
            trouble += [] if error is None else [error]
            said += _list_practised(edition.pilot / f"{name}.jsonl", promised.detector(name), sealed[name].card, texts)
    if trouble:
        raise trouble[0]
    return said


def _ask_detector(
    edition: Edition,
    detector: Detector,
    sealed: SealedCard,
    asking: Asking,
    texts: Practice,
    purse: Budget,
    clock: Clock,
    stop: threading.Event,
) -> PenmarkError | None:
    """Ask one detector about all the texts; what went wrong."""
    name, tariff = detector.name, tariff_of(sealed.card)
    terms = Promised(name, sealed.card, detector.version, 1, False, FOREVER, priced=tariff is not None)
    with journal.JournalWriter(edition.pilot / f"{name}.jsonl", FIRST_PREV) as writer:
        digest = canonical_json.sha256(cards.encode_card(sealed))
        number = protocol.read_format(edition)
        writer.append(journal.make_start_line(name, sealed, digest, shard="1/1", at=clock.now(), number=number))
        money = (
            None if tariff is None else Money(purse, lambda position, text: purses.price_unlisted_text(tariff, text))
        )
        files = Files(writer, evidence_log.EvidenceWriter(edition.pilot, name))
        lane = Worker(terms, asking, texts, files, pause=open_scan.compute_backoff, clock=clock, money=money)
        lane.run(iter([Item(position) for position in range(len(texts))]), stop)
    return lane.tally.error


def _make_purse(promised: Protocol, asked: Mapping[str, Card], budgets: Mapping[str, Decimal]) -> Budget:
    texts = Practice(1)
    tariffs = {name: tariff for name, card in asked.items() if (tariff := tariff_of(card)) is not None}
    made = purses.make_budget(
        {name: tariff.currency for name, tariff in tariffs.items()}, budgets, (d.name for d in promised.detectors)
    )
    every = [texts.text(position) for position in range(len(texts))]
    purses.check_budget_given(
        made, tariffs, lambda name: sum((purses.price_unlisted_text(tariffs[name], text) for text in every), Decimal(0))
    )
    return made


def _make_call_id(detector: str, document: str) -> str:
    return os.urandom(16).hex()  # each pilot asks anew


def count_practice_readings(edition: Edition) -> dict[str, int]:
    """How many practice readings each detector has given in this edition, over all pilots."""
    return {name: readings.height for name, readings in _read_pilot_journals(edition)}


def average_paces(edition: Edition) -> dict[str, float]:
    """Seconds that each detector took for a practice text, on average."""
    found: dict[str, float] = {}
    for name, readings in _read_pilot_journals(edition):
        took = readings.select(
            (
                pl.col("got_at").str.to_datetime(time_zone="UTC") - pl.col("sent_at").str.to_datetime(time_zone="UTC")
            ).mean()
        ).item()
        if took is not None:
            found[name] = took.total_seconds()
    return found


def _read_pilot_journals(edition: Edition) -> Iterator[tuple[str, pl.DataFrame]]:
    evidence_file = re.compile(r".*-\d{4}\.jsonl")
    for path in sorted(edition.pilot.glob("*.jsonl")) if edition.pilot.is_dir() else ():
        if not evidence_file.fullmatch(path.name) and path.stat().st_size > 0:
            yield path.stem, journal.read_journal(path, FIRST_PREV).readings


def _list_practised(path: Path, detector: Detector, card: Card, texts: Practice) -> list[Practised]:
    ours = {texts.name(position) for position in range(len(texts))}
    told = journal.read_journal(path, FIRST_PREV).readings.filter(pl.col("document").is_in(ours))
    rows = told.select("document", "state", "displayed", "reason", "score", "label").iter_rows()
    return [
        Practised(
            detector.name,
            name.rpartition(".")[0],
            state,
            shown,
            why,
            _describe_miss(detector, card, state, score, label),
        )
        for name, state, shown, why, score, label in rows
    ]


def _describe_miss(detector: Detector, card: Card, state: str, score: str | None, label: str | None) -> str | None:
    """What is amiss with an answer by its card, as long as nothing is sealed and the card can still be mended."""
    if state != "answered":
        return None
    try:
        missed = cards.find_miss(card, cards.choose_rule(detector, card), score, label)
    except PenmarkError:  # a rule that does not fit its card: `commit` tells it
        return None
    return None if missed is None else cards.describe_miss(card, missed[0])
