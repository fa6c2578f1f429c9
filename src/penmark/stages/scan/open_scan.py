"""Opening a scan: what must stand before the first question, the lock, the purse, and a lane for each detector.

*Reads* the sealed ground, journals, jobs and the end of the evidence. *Writes* start lines, and moves unfinished lines
aside. *Never* opens a scan outside the promised window, with other code than was promised, or on credit.
"""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from penmark import cards, journal, study
from penmark.cards import judge
from penmark.corpus import sealed_edition
from penmark.corpus.sealed_edition import SealedEdition, Texts
from penmark.errors import UsageError
from penmark.format import canonical_json
from penmark.journal import evidence_log
from penmark.journal.append_log import move_torn_end
from penmark.records import Detector, SealedCard
from penmark.stages.scan import aside, canary, crash_recovery, plan, private_log, scan_readiness
from penmark.stages.scan import budget as purses
from penmark.stages.scan.budget import Budget
from penmark.stages.scan.canary import Canary
from penmark.stages.scan.clock import Clock
from penmark.stages.scan.journal_state import name_sealed_journal
from penmark.stages.scan.outcome import Promised
from penmark.stages.scan.plan import Part, Plan
from penmark.stages.scan.private_log import Notes
from penmark.stages.scan.run import Scan
from penmark.stages.scan.scan_queue import Money
from penmark.stages.scan.scan_readiness import ScanLimits
from penmark.stages.scan.threads import Asking, Nobody
from penmark.stages.scan.worker import PATIENCE, Files, Worker
from penmark.study import Edition, Study

WAIT = 30.0
"""Seconds that one shard waits for another that is just starting or ending."""


def compute_backoff(failures: int) -> float:
    """Seconds to wait after so many failures in transport: about twice as long each time, a minute at most, never the
    same for all who wait."""
    return float(min(60, 2**failures)) * random.uniform(0.5, 1.0)


@dataclass(frozen=True)
class ScanTerms:
    """On which terms a scan is run. ``budgets``: by detector, or for all together (``purse.ALL``). ``accepted``: detectors of
    which a person said that what comes to nothing is final."""

    budgets: Mapping[str, Decimal]
    limits: ScanLimits
    patience: float
    pause: Callable[[int], float]
    accepted: frozenset[str] = frozenset()


@contextlib.contextmanager
def begin_scan(
    place: Study,
    edition: Edition,
    wanted: list[str],
    shard: str = "1/1",
    *,
    budgets: Mapping[str, Decimal] | None = None,
    limits: ScanLimits | None = None,
    patience: float = PATIENCE,
    pause: Callable[[int], float] = compute_backoff,
    accepted: Iterable[str] = (),
) -> Iterator[Scan]:
    """A scan of the detectors ``wanted`` (all that a program asks, where none is named), holding its lock.

    ``accepted``: detectors of which even what comes to nothing is final, however often. Raises UsageError where nothing is
    promised, frozen, to be asked now, or paid for; ServiceError where the clock is behind what is written down; errors as
    ``plan.make_plan`` and ``scan_readiness.prepare_detectors``.
    """
    ground = sealed_edition.open_sealed_edition(edition, verb="scan")
    names = plan.choose_detectors(ground.protocol, ground.cards, wanted)
    if judge.get_time_now()[:10] < ground.protocol.window.opens:
        raise _make_outside_error(ground)
    plan.check_named(ground.protocol, accepted)
    terms = ScanTerms(budgets or {}, limits or ScanLimits(), patience, pause, frozenset(accepted))
    with lock_scan(edition, shard), contextlib.ExitStack() as files:
        with lock_briefly(edition, shard):
            for path in (edition.journals / journal.name_journal(name, shard) for name in names):
                if path.exists():
                    move_torn_end(path)
            made = plan.make_plan(place, ground, names, shard)
            scan = _Opening(place, made, terms, files).scan()
        yield scan


class _Opening:
    """What is made on the way to a scan."""

    def __init__(self, place: Study, made: Plan, terms: ScanTerms, files: contextlib.ExitStack) -> None:
        self.place, self.plan, self.terms, self.files = place, made, terms, files
        self.edition, self.stop = made.ground.edition, threading.Event()
        written = [at for part in made.parts.values() if (at := part.standing.last_at) is not None]
        self.clock = Clock(max(written, key=lambda at: at.rstrip("Z"), default=None))
        if self.clock.fault is not None:
            raise self.clock.fault
        self.closed = judge.get_time_now()[:10] > made.ground.protocol.window.closes
        self.texts = Texts(place, made.documents)
        files.callback(self.texts.close)

    def scan(self) -> Scan:
        """The scan, with a lane for each detector that may be asked, or about which something is to be written down."""
        parts, kept = self.plan.parts, {name: self._kept(name) for name in self.plan.parts}
        answered = {
            n: crash_recovery.recover_readings(
                part, self.plan.documents, self.texts, kept[n], self.plan.ground.protocol.format
            )
            for n, part in parts.items()
        }
        if self.closed and not any(answered.values()):
            raise _make_outside_error(self.plan.ground)
        for name, readings in answered.items():
            for position, _ in readings:
                parts[name].standing.done[position] = 1
        open_ones = [name for name, part in parts.items() if self._describe_stop(part) is None]
        for name in open_ones:
            answered[name] += self._cut_off(parts[name])
        left = [name for name in open_ones if self.plan.left(parts[name])]
        purse = self._purse(left)
        askings = scan_readiness.prepare_detectors(
            ((parts[name].detector, parts[name].sealed) for name in left), self._asking
        )
        heads = {path: head for part in parts.values() for path, head in part.standing.heads.items()}
        lanes = {
            name: self._lane(part, askings.get(name, Nobody()), purse, kept[name], answered[name])
            for name, part in parts.items()
            if answered[name] or (name in open_ones and next(self.plan.items(part), None) is not None)
        }
        canaries = {
            name: Canary(self.plan.ground, parts[name], askings[name], purse, self.clock, self.terms.pause)
            for name in left
            if parts[name].sealed.card.ask.by == "http"  # code on this machine is known by its digest
        }
        return Scan(self.plan, lanes, canaries, heads, self.stop, purse)

    def _kept(self, name: str) -> evidence_log.EvidenceWriter:
        stem = journal.name_journal(name, self.plan.shard).removesuffix(".jsonl")
        return evidence_log.EvidenceWriter(self.edition.evidence, stem)

    def _cut_off(self, part: Part) -> list[tuple[int, dict[str, Any]]]:
        """The lines of what the scan before had held back when it was cut off, by position."""
        path = private_log.aside(self.place, self.edition.tag, part.detector.name, self.plan.shard)
        return aside.cut_off(part, self.plan.documents, path, self.clock.now())

    def _describe_stop(self, part: Part) -> str | None:
        closes = self.plan.ground.protocol.window.closes
        return f"the scan window closed on {closes}" if self.closed else self.plan.stopped(part)

    def _purse(self, left: list[str]) -> Budget:
        """Raises UsageError where something of what is left to ask costs, and nobody said how much it may."""
        priced = {name: part for name, part in self.plan.parts.items() if part.tariff is not None}
        currencies = {name: part.tariff.currency for name, part in priced.items() if part.tariff is not None}
        known = [detector.name for detector in self.plan.ground.protocol.detectors]
        made = purses.make_budget(currencies, self.terms.budgets, known)
        for name, part in priced.items():
            sure, maybe = canary.sum_canary_cost(self.edition, part)
            made.accounts[name].sure = self.plan.behind(part, part.standing.sure) + sure
            made.accounts[name].maybe = self.plan.behind(part, part.standing.maybe) + maybe
        purses.check_budget_given(
            made, [n for n in left if n in priced], lambda name: compute_scan_cost(self.plan, priced[name])
        )
        return made

    def _asking(self, detector: Detector, sealed: SealedCard) -> Asking:
        tag, seed = self.edition.tag, self.plan.seed

        def called(name: str, document: str) -> str:
            return canonical_json.rank_name(seed, "call", f"{tag}/{name}/{document}")[:16].hex()

        made = scan_readiness.prepare_detector(
            detector, sealed, limits=self.terms.limits, stop=self.stop, called=called
        )
        self.files.callback(made.close)
        return made

    def _open_notes(self, path: Path, *, durable: bool) -> Notes:
        made = Notes(path, durable=durable)
        self.files.callback(made.close)
        return made

    def _lane(
        self,
        part: Part,
        asking: Asking,
        purse: Budget,
        kept: evidence_log.EvidenceWriter,
        answered: list[tuple[int, dict[str, Any]]],
    ) -> Worker:
        name, ground, request = part.detector.name, self.plan.ground, part.sealed.card.ask.request
        path = self.edition.journals / journal.name_journal(name, self.plan.shard)
        known = part.standing.heads.get(name_sealed_journal(path))  # it was read under the same lock
        writer = self.files.enter_context(journal.JournalWriter(path, ground.corpus_sha256, known))
        first = journal.make_start_line(
            name,
            part.sealed,
            ground.card_sha256[name],
            shard=self.plan.shard,
            at=self.clock.now(),
            number=ground.protocol.format,
        )
        writer.append(first)
        of, patience = (self.place, self.edition.tag, name, self.plan.shard), self.terms.patience
        files = Files(writer, kept, aside=self._open_notes(private_log.aside(*of), durable=True))
        if request is not None:
            log, jobs = (
                self._open_notes(private_log.locate_exchanges(*of), durable=False),
                self._open_notes(private_log.locate_jobs(*of), durable=True),
            )
            files = replace(files, exchanges=log, jobs=jobs)
            patience = max(patience, request.timeout + 60)  # the engine's own time-outs come first
        lane = Worker(
            self._promised(part),
            asking,
            self.texts,
            files,
            pause=self.terms.pause,
            clock=self.clock,
            money=None
            if part.tariff is None
            else Money(purse, lambda position, text: self.plan.price(part, position, text)),
            patience=patience,
        )
        for _, line in answered:
            lane.recover(line)
        return lane

    def _promised(self, part: Part) -> Promised:
        protocol = self.plan.ground.protocol
        return Promised(
            detector=part.detector.name,
            card=part.sealed.card,
            version_asked=part.detector.version,
            attempts=protocol.attempts,
            stop_on_change=protocol.on_version_change == "stop",
            closes=protocol.window.closes,
            first_version=part.standing.last_version,
            stopped=self._describe_stop(part),
            priced=part.tariff is not None,
            number=protocol.format,
            rule=cards.choose_rule(part.detector, part.sealed.card),
            accepts=part.detector.name in self.terms.accepted,
        )


def compute_scan_cost(made: Plan, part: Part) -> Decimal:
    """What all that is left to ask of a detector costs, each text asked about once, and the canary."""
    return made.ahead(part) + canary.price_canary(part) * (canary.TIMES if made.left(part) else 0)


def _make_outside_error(ground: SealedEdition) -> UsageError:
    window = ground.protocol.window
    return UsageError(
        f"today is {judge.get_time_now()[:10]} (UTC), outside the promised scan window, {window.opens} to {window.closes}",
        place=str(ground.edition.protocol_json),
        remedy="The window is promised: what is not asked in it stays not run. The next edition promises its own "
        "(`penmark init --edition TAG`).",
    )


@contextlib.contextmanager
def lock_scan(edition: Edition, shard: str = "1/1") -> Iterator[None]:
    """Hold the lock of the edition's scan, or of one of its shards. Raises UsageError naming the holder."""
    part, _, whole = shard.partition("/")
    doing = "penmark scan" if whole == "1" else f"penmark scan --shard {shard}"
    name = "scan.lock" if whole == "1" else f"scan.{part}of{whole}.lock"
    with study.lock_file(edition.root / name, doing):
        yield


@contextlib.contextmanager
def lock_briefly(edition: Edition, shard: str) -> Iterator[None]:
    """Hold what all shards share, for a moment; waits for another shard that does. Nothing to do for "1/1"."""
    until = time.monotonic() + WAIT
    with contextlib.ExitStack() as held:
        while shard != "1/1":
            try:
                held.enter_context(study.lock_file(edition.root / "scan.lock", f"penmark scan --shard {shard}"))
                break
            except UsageError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.2)
        yield
