"""Whether a detector can be asked: its card is valid, its plugin can be made, and it is the code that was promised.

*Reads* protocol and cards, sealed or not yet, and the installed plugins. *Writes* nothing. *Never* asks a detector anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from penmark import cards, plugins, protocol
from penmark.errors import Fault, FaultsError, PenmarkError, ServiceError, UsageError
from penmark.plugins import Detector as Asker
from penmark.records import Detector, Plugin, Protocol, SealedCard
from penmark.study import Edition, Study


class RefusedError(FaultsError, UsageError):
    """Several detectors cannot be asked as promised. Exit code 2."""

    exit_code = 2


@dataclass(frozen=True)
class Readiness:
    """What ``--check`` tells of one detector; ``trouble`` is empty where it can be asked."""

    detector: str
    rule: str | None
    version: str | None
    plugin: str | None
    trouble: tuple[Fault, ...]


def askers(parts: Iterable[tuple[Detector, SealedCard]]) -> dict[str, Asker]:
    """A made plugin for each detector, before anything is asked of any.

    Raises what is wrong with all of them: UsageError where the installed code is not the promised one, ServiceError
    where a plugin cannot be loaded.
    """
    made: dict[str, Asker] = {}
    trouble: list[PenmarkError] = []
    for detector, sealed in parts:
        try:
            made[detector.name] = asker(detector, sealed)
        except PenmarkError as error:
            trouble.append(error)
    if len(trouble) == 1:
        raise trouble[0]
    if trouble:
        raise RefusedError(fault for error in trouble for fault in error.faults)
    return made


def asker(detector: Detector, sealed: SealedCard) -> Asker:
    """The plugin of one detector, made with the options of its card and the settings of the promise."""
    name, ask = detector.name, sealed.card.ask
    if ask.plugin is None:
        raise UsageError(f"{name} is asked by people, not by a program")
    others = "Ask the others with --detector NAME; what is not asked stays not run."
    try:
        if (now := plugins.facts(plugins.DETECTORS, ask.plugin)) != sealed.plugin:
            promised = "no plugin" if sealed.plugin is None else _told(sealed.plugin)
            raise UsageError(
                f"the installed code is not the promised one: {_told(now)}; promised: {promised}",
                remedy=f"Install what was promised. {others} Another code is an amendment, for the next edition.",
            )
        return plugins.detector(ask.plugin)({**ask.options, **detector.settings})
    except PenmarkError as error:
        kind = type(error) if isinstance(error, UsageError | ServiceError) else PenmarkError
        fact, remedy = error.faults[0].fact, error.faults[0].remedy
        raise kind(fact, place=f"detector {name}", remedy=remedy if remedy is not None else others) from None
    except Exception as error:  # a plugin's own mistake
        raise ServiceError(
            f"the plugin {ask.plugin} cannot be made: {type(error).__name__}: {error}",
            place=f"detector {name}",
            remedy=f"Tell whoever wrote it. {others}",
        ) from None


def promised(edition: Edition) -> Protocol:
    """The sealed protocol, or before the promise the one that is being written."""
    if edition.seal("promise").exists():
        return protocol.read_sealed(edition)
    return protocol.load(edition.protocol_yaml)


def card(place: Study, edition: Edition, detector: Detector) -> SealedCard:
    """The sealed card, or before the promise the one that would be sealed now."""
    if edition.seal("promise").exists():
        return cards.sealed(edition, detector.name)
    found = cards.load(cards.find(detector.card, place.cards))
    plugin = None if found.ask.plugin is None else plugins.facts(plugins.DETECTORS, found.ask.plugin)
    return SealedCard(card=found, plugin=plugin)


def check(place: Study, edition: Edition, detector: Detector) -> Readiness:
    """The facts of one detector, and everything that stands in the way of asking it."""
    trouble: list[Fault] = []
    rule = version = plugin = None
    try:
        sealed = card(place, edition, detector)
    except PenmarkError as error:
        return Readiness(detector.name, None, None, None, error.faults)
    try:
        rule = str(cards.rule_in_force(detector, sealed.card))
    except PenmarkError as error:
        trouble += error.faults
    if sealed.card.ask.by == "plugin":
        plugin = None if sealed.plugin is None else _told(sealed.plugin)
        try:
            version = asker(detector, sealed).version
        except PenmarkError as error:
            trouble += error.faults
    return Readiness(detector.name, rule, version, plugin, tuple(trouble))


def _told(plugin: Plugin) -> str:
    return f"{plugin.name} of {plugin.distribution} {plugin.version} ({plugin.sha256[:12]}…)"
