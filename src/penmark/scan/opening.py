"""Opening a scan: what must stand before the first question, the lock, and a lane for each detector.

*Reads* the sealed ground, journals and the end of the evidence. *Writes* start lines, and moves unfinished lines aside.
*Never* opens a scan outside the promised window, or with other code than was promised.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

from penmark import __version__, evidence, frozen, journal, reading, study
from penmark.errors import UsageError
from penmark.frozen import Ground, Texts
from penmark.journal.writing import untear
from penmark.plugins import Detector as Asker
from penmark.records import SealedCard
from penmark.scan import plan, ready, recover
from penmark.scan.lane import Lane, Promised
from penmark.scan.plan import Part, Plan
from penmark.scan.run import PATIENCE, Scan
from penmark.study import Edition, Study

WAIT = 30.0
"""Seconds that one shard waits for another that is just starting or ending."""


def pause(attempt: int) -> float:
    """Seconds to wait after the ``attempt``-th failure in transport."""
    return float(min(60, 2**attempt))


@contextlib.contextmanager
def opened(
    place: Study,
    edition: Edition,
    wanted: list[str],
    shard: str = "1/1",
    *,
    patience: float = PATIENCE,
    pause: Callable[[int], float] = pause,
) -> Iterator[Scan]:
    """A scan of the detectors ``wanted`` (all that a plugin asks, where none is named), holding its lock.

    Raises UsageError where nothing is promised, frozen, or to be asked now; errors as ``plan.make`` and ``ready.askers``.
    """
    ground = frozen.ground(edition, verb="scan")
    names = plan.chosen(ground.protocol, ground.cards, wanted)
    if reading.now()[:10] < ground.protocol.window.opens:
        raise _outside(ground)
    with alone(edition, shard), contextlib.ExitStack() as files:
        with briefly(edition, shard):
            for path in (edition.journals / journal.file_name(name, shard) for name in names):
                if path.exists():
                    untear(path)
            made = plan.make(place, ground, names, shard)
            askers = ready.askers((part.detector, part.sealed) for part in made.parts.values())
            heads = {name: head for part in made.parts.values() for name, head in part.standing.heads.items()}
            lanes = _lanes(place, made, askers, files, pause)
        yield Scan(made, lanes, heads, patience)


def _lanes(
    place: Study, made: Plan, askers: dict[str, Asker], files: contextlib.ExitStack, pause: Callable[[int], float]
) -> dict[str, Lane]:
    """A lane, with its start line, for each detector that may be asked."""
    edition, documents = made.ground.edition, made.documents
    texts = Texts(place, documents)
    files.callback(texts.close)
    kept = {
        name: evidence.Writer(edition.evidence, journal.file_name(name, made.shard).removesuffix(".jsonl"))
        for name in made.parts
    }
    answered = {name: recover.readings(part, documents, texts, kept[name]) for name, part in made.parts.items()}
    if reading.now()[:10] > made.ground.protocol.window.closes and not any(answered.values()):
        raise _outside(made.ground)
    lanes: dict[str, Lane] = {}
    for name, part in made.parts.items():
        to_do = made.stopped(part) is None and next(made.items(part), None) is not None
        if not to_do and not answered[name]:
            continue
        path = edition.journals / journal.file_name(name, made.shard)
        writer = files.enter_context(journal.Writer(path, made.ground.corpus_sha256))
        writer.append(started(name, part.sealed, made.ground.card_sha256[name], made.shard))
        lanes[name] = Lane(_promised(made, part), askers[name], texts, writer, kept[name], pause=pause)
        for position, line in answered[name]:
            part.standing.done[position] = 1
            lanes[name].recover(line)
    return lanes


def _promised(made: Plan, part: Part) -> Promised:
    protocol = made.ground.protocol
    return Promised(
        detector=part.detector.name,
        card=part.sealed.card,
        version_asked=part.detector.version,
        attempts=protocol.attempts,
        stop_on_change=protocol.on_version_change == "stop",
        closes=protocol.window.closes,
        first_version=part.standing.last_version,
        stopped=made.stopped(part),
    )


def started(detector: str, sealed: SealedCard, card_sha256: str, shard: str) -> dict[str, Any]:
    """The start line of a journal, without ``prev``."""
    return {
        "at": reading.now(),
        "card_sha256": card_sha256,
        "detector": detector,
        "kind": "start",
        "plugin": None if sealed.plugin is None else sealed.plugin.model_dump(),
        "shard": shard,
        "software": f"penmark {__version__}",
    }


def _outside(ground: Ground) -> UsageError:
    window = ground.protocol.window
    return UsageError(
        f"today is {reading.now()[:10]} (UTC), outside the promised scan window, {window.opens} to {window.closes}",
        place=str(ground.edition.protocol_json),
        remedy="The window is promised: what is not asked in it stays not run. The next edition promises its own "
        "(`penmark init --edition TAG`).",
    )


@contextlib.contextmanager
def alone(edition: Edition, shard: str = "1/1") -> Iterator[None]:
    """Hold the lock of the edition's scan, or of one of its shards. Raises UsageError naming the holder."""
    part, _, whole = shard.partition("/")
    doing = "penmark scan" if whole == "1" else f"penmark scan --shard {shard}"
    name = "scan.lock" if whole == "1" else f"scan.{part}of{whole}.lock"
    with study.locked(edition.root / name, doing):
        yield


@contextlib.contextmanager
def briefly(edition: Edition, shard: str) -> Iterator[None]:
    """Hold what all shards share, for a moment; waits for another shard that does. Nothing to do for "1/1"."""
    until = time.monotonic() + WAIT
    with contextlib.ExitStack() as held:
        while shard != "1/1":
            try:
                held.enter_context(study.locked(edition.root / "scan.lock", f"penmark scan --shard {shard}"))
                break
            except UsageError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.2)
        yield
