"""Whether a detector can be asked: its card is valid, its plugin or engine can be made, and it is what was promised.

*Reads* protocol and cards, sealed or not yet, the installed plugins, and of the environment the variables that the cards
of these detectors name. *Writes* nothing. *Never* asks a detector anything.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from penmark import cards, plugins, protocol, records
from penmark.errors import Fault, FaultsError, PenmarkError, ServiceError, UsageError
from penmark.plugins import Detector as Plugin
from penmark.plugins import Engine, Shown
from penmark.records import Card, Detector, Protocol, SealedCard
from penmark.stages.scan.rate_limit import RateLimit
from penmark.stages.scan.threads import Asking, PluginAsking, VendorAsking
from penmark.study import Edition, Study

CONNECTIONS = 8
"""Requests to one vendor at once, unless told otherwise."""
T = TypeVar("T")
PLACEHOLDER = "x" * 12
"""Stands for a key that is not there, where nothing is sent."""
OTHERS = "Ask the others with --detector NAME; what is not asked stays not run."


class RefusedError(FaultsError, UsageError):
    """Several detectors cannot be asked as promised. Exit code 2."""

    exit_code = 2


@dataclass(frozen=True)
class ScanLimits:
    """How fast vendors are asked: by detector, connections at once, and a pace other than the card's."""

    connections: Mapping[str, int] = field(default_factory=dict)
    paces: Mapping[str, records.Pace] = field(default_factory=dict)

    def pace(self, detector: str, card: Card) -> records.Pace | None:
        """The pace of a detector: as given, else its card's."""
        request = card.ask.request
        return self.paces.get(detector, request.pace if request is not None else None)


@dataclass(frozen=True)
class Readiness:
    """What ``--check`` tells of one detector; ``trouble`` is empty where it can be asked. ``requests``: what would be sent
    to a vendor, secrets hidden; ``missing``: the variables of its keys that are not set."""

    detector: str
    rule: str | None
    version: str | None
    plugin: str | None
    trouble: tuple[Fault, ...]
    requests: tuple[Shown, ...] = ()
    missing: tuple[str, ...] = ()


def prepare_detectors(
    parts: Iterable[tuple[Detector, SealedCard]], make: Callable[[Detector, SealedCard], Asking]
) -> dict[str, Asking]:
    """Each detector, made ready by ``make`` before anything is asked of any.

    Raises what is wrong with all of them: UsageError where the installed code is not the promised one or a key is
    missing, ServiceError where a plugin cannot be loaded.
    """
    made: dict[str, Asking] = {}
    trouble: list[PenmarkError] = []
    for detector, sealed in parts:
        try:
            made[detector.name] = make(detector, sealed)
        except PenmarkError as error:
            trouble.append(error)
    if len(trouble) == 1:
        raise trouble[0]
    if trouble:
        raise RefusedError(fault for error in trouble for fault in error.faults)
    return made


def prepare_detector(
    detector: Detector,
    sealed: SealedCard,
    *,
    limits: ScanLimits,
    stop: threading.Event,
    called: Callable[[str, str], str],
) -> Asking:
    """A detector, ready to be asked. ``called``: gives the caller's own id, for detector and document."""
    card = sealed.card
    if card.ask.by != "http":
        return PluginAsking(make_plugin(detector, sealed))
    return VendorAsking(
        partial(make_engine, detector, card),
        pace=RateLimit(limits.pace(detector.name, card)),
        connections=limits.connections.get(detector.name, CONNECTIONS),
        stop=stop,
        called=partial(called, detector.name),
    )


def make_engine(detector: Detector, card: Card, **options: object) -> Engine:
    """The engine that asks a vendor as the card says. Raises UsageError for a key that is missing, a setting that is none."""
    made = _make_or_blame(detector, lambda: plugins.load_engine("http"))
    return _make_or_blame(detector, lambda: made(card, detector.settings, detector.version, **options))


def make_plugin(detector: Detector, sealed: SealedCard) -> Plugin:
    """The plugin of one detector, made with the options of its card and the settings of the promise."""
    name, ask = detector.name, sealed.card.ask
    if (asks := ask.plugin) is None:
        raise UsageError(f"{name} is asked by people, not by a program")

    def make() -> Plugin:
        if (now := plugins.describe_plugin(plugins.DETECTORS, asks)) != sealed.plugin:
            promised = "no plugin" if sealed.plugin is None else _describe_plugin(sealed.plugin)
            raise UsageError(
                f"the installed code is not the promised one: {_describe_plugin(now)}; promised: {promised}",
                remedy=f"Install what was promised. {OTHERS} Another code is for the next edition: `penmark amend`.",
            )
        return plugins.load_detector(asks)({**ask.options, **detector.settings})

    return _make_or_blame(detector, make)


def _make_or_blame(detector: Detector, make: Callable[[], T]) -> T:
    """What ``make`` gives; what is wrong with it is told with the detector's name."""
    try:
        return make()
    except PenmarkError as error:
        kind = type(error) if isinstance(error, UsageError | ServiceError) else PenmarkError
        fact, remedy = error.faults[0].fact, error.faults[0].remedy
        raise kind(fact, place=f"detector {detector.name}", remedy=remedy if remedy is not None else OTHERS) from None
    except Exception as error:  # a plugin's own mistake
        raise ServiceError(
            f"its code cannot be made: {type(error).__name__}: {error}",
            place=f"detector {detector.name}",
            remedy=f"Tell whoever wrote it. {OTHERS}",
        ) from None


def load_promised_protocol(edition: Edition) -> Protocol:
    """The sealed protocol, or before the promise the one that is being written."""
    if edition.seal("promise").exists():
        return protocol.read_sealed(edition)
    return protocol.load_protocol(edition.protocol_yaml)


def load_promised_card(place: Study, edition: Edition, detector: Detector) -> SealedCard:
    """The sealed card, or before the promise the one that would be sealed now."""
    if edition.seal("promise").exists():
        return cards.read_sealed_card(edition, detector.name)
    found = cards.load_card(cards.find_card(detector.card, place.cards))
    facts = None if found.ask.plugin is None else plugins.describe_plugin(plugins.DETECTORS, found.ask.plugin)
    return SealedCard(card=found, plugin=facts)


def check_detector_ready(place: Study, edition: Edition, detector: Detector) -> Readiness:
    """The facts of one detector, and everything that stands in the way of asking it. Sends nothing."""
    trouble: list[Fault] = []
    rule = version = told = None
    shown: tuple[Shown, ...] = ()
    missing: tuple[str, ...] = ()
    try:
        sealed = load_promised_card(place, edition, detector)
    except PenmarkError as error:
        return Readiness(detector.name, None, None, None, error.faults)
    try:
        rule = str(cards.choose_rule(detector, sealed.card))
    except PenmarkError as error:
        trouble += error.faults
    try:
        if sealed.card.ask.by == "plugin":
            told = None if sealed.plugin is None else _describe_plugin(sealed.plugin)
            version = make_plugin(detector, sealed).version
        elif sealed.card.ask.by == "http":
            version, missing = detector.version, list_absent_keys(sealed.card)
            shown = _prepare_requests(detector, sealed.card, missing)
    except PenmarkError as error:
        trouble += error.faults
    for variable in missing:
        remedy = f"export {variable}=…"
        trouble.append(Fault(f"detector {detector.name}", f"the environment variable {variable} is not set", remedy))
    return Readiness(detector.name, rule, version, told, tuple(trouble), shown, missing)


def list_absent_keys(card: Card) -> tuple[str, ...]:
    """The variables of the environment that hold a card's keys, and are not set."""
    keys = {} if card.ask.request is None else card.ask.request.keys
    return tuple(key.env for key in keys.values() if not os.environ.get(key.env, ""))


def _prepare_requests(detector: Detector, card: Card, missing: tuple[str, ...]) -> tuple[Shown, ...]:
    environ = {**os.environ, **dict.fromkeys(missing, PLACEHOLDER)}
    made = make_engine(detector, card, environ=environ)
    try:
        return tuple(made.shown())
    finally:
        made.close()


def _describe_plugin(facts: records.Plugin) -> str:
    return f"{facts.name} of {facts.distribution} {facts.version} ({facts.sha256[:12]}…)"
