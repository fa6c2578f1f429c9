"""What stands between a protocol and its promise: one list, which `status` tells and `commit` refuses.

*Reads* protocol.yaml, the study's cards and those that ship, the secret seed, which code a plugin is, which arms earlier
editions froze, the promise before this one, and the amendments.
*Writes* nothing. *Never* stops at the first fault; never counts what is still to be decided (``protocol.list_undecided``).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field

from penmark import cards, plugins, protocol, yaml_records
from penmark import study as studies
from penmark.cards import judge as cards_judge
from penmark.corpus import edition_departures
from penmark.errors import Fault, PenmarkError, suggest_name
from penmark.format import canonical_json
from penmark.protocol import promise_chain
from penmark.protocol.promise_differences import Difference, Judged, judge, keyed
from penmark.records import Card, Detector, Protocol, SealedCard
from penmark.study import Edition, Study


@dataclass
class Prospect:
    """Cards by the name of the detector, as they would be sealed; departures (None where they cannot be computed); what
    no amendment announces (None where nothing was promised before, or cards cannot be read); and every fault."""

    sealed: dict[str, SealedCard] = field(default_factory=dict)
    departures: list[protocol.Departure] | None = None
    judged: Judged | None = None
    faults: list[Fault] = field(default_factory=list)


def prepare_prospect(place: Study, edition: Edition, promised: Protocol) -> Prospect:
    """What would be promised with ``promised``, the protocol of ``edition``, and what is wrong with it."""
    found = Prospect()
    if promised.edition != edition.tag:
        fact = f"is the protocol of {promised.edition}, in the folder of {edition.tag}"
        found.faults.append(Fault(str(edition.protocol_yaml), fact, "Give both the same tag."))
    found.faults += _check_seed(place, edition, promised)
    known: dict[str, Card] = {}
    for detector in promised.detectors:
        try:
            card = cards.load_card(cards.find_card(detector.card, place.cards))
            known[detector.name] = card
            if (misread := cards.misread(card, cards.choose_rule(detector, card))) is not None:
                raise PenmarkError(misread, place=f"detector {detector.name}", remedy=cards.MISREAD)
            _check_settings(detector, card)
            asks = card.ask.plugin
            plugin = None if asks is None else plugins.describe_plugin(plugins.DETECTORS, asks)
            found.sealed[detector.name] = SealedCard(card=card, plugin=plugin)
        except PenmarkError as error:
            found.faults += [Fault(f.place or f"detector {detector.name}", f.fact, f.remedy) for f in error.faults]
    found.faults += _open_cards(place, promised)
    try:
        found.departures = edition_departures.compute_departures(promised, known)
    except PenmarkError as error:
        found.faults += error.faults
    found.faults += _check_screening_rules(edition, promised)
    found.faults += _check_generators(edition, promised)
    found.faults += _check_window(edition, promised, found.sealed)
    try:
        found.faults += list(_check_panels(place, edition, promised))
        found.faults += list(_check_rule_changes(place, edition, promised, found))
    except PenmarkError as error:
        found.faults += error.faults
    return found


def _check_seed(place: Study, edition: Edition, promised: Protocol) -> Iterator[Fault]:
    seed = place.seed_of(edition.tag)
    try:
        raw = studies.read_bytes(seed, limit=4096)
    except PenmarkError as error:
        yield from error.faults
        return
    if len(raw) != 32 or canonical_json.sha256(raw) != promised.seed_sha256:
        fact = f"is not the secret seed whose digest the protocol names (its SHA-256 is {canonical_json.sha256(raw)})"
        remedy = "Restore the seed that `penmark init` made, or write the digest of this one to seed_sha256."
        yield Fault(str(seed), fact, remedy)


def _check_settings(detector: Detector, card: Card) -> None:
    """Raises PenmarkError for a setting that the vendor's card does not know: it would be promised, and never sent."""
    request = card.ask.request
    for name in detector.settings if request is not None else ():
        if request is not None and name not in request.settings:
            known = ", ".join(request.settings) or "none"
            raise PenmarkError(
                f"the card {card.name} has no setting {name!r}{suggest_name(name, request.settings)}",
                place=f"detector {detector.name}",
                remedy=f"It has: {known}.",
            )


def _open_cards(place: Study, promised: Protocol) -> Iterator[Fault]:
    """What is still to be filled in in cards of the study's own: a value that is nothing but <...>."""
    for name in dict.fromkeys(detector.card for detector in promised.detectors):
        path = place.cards / f"{name}.yaml"
        if path.is_file() and path == cards.find_card(name, place.cards):
            try:
                written = list(yaml_records.list_scalars(path))
            except PenmarkError:
                continue  # told with the card
            for line, text in written:
                if re.fullmatch("<[^<>]+>", text):
                    yield Fault(f"{path}:{line}", f"still says {text}", "Fill it in: the card is sealed as it is.")


def _check_screening_rules(edition: Edition, promised: Protocol) -> Iterator[Fault]:
    """Names under ``screening`` that are no rule: they would be promised, and never looked for."""
    unknown = set(promised.screening) - protocol.RULES.keys()
    if not unknown:
        return
    lines = {text: line for line, text in yaml_records.list_scalars(edition.protocol_yaml)}
    for name in sorted(unknown):
        place = f"{edition.protocol_yaml}:{lines[name]}" if name in lines else str(edition.protocol_yaml)
        fact = f"screening.{name}: there is no such rule{suggest_name(name, protocol.RULES)}"
        yield Fault(place, fact, "`penmark screen --rules` tells all of them.")


def _check_generators(edition: Edition, promised: Protocol) -> Iterator[Fault]:
    """Models that a generator is named for, and nobody has one of that name: their texts could not be made as promised."""
    known = plugins.list_plugins(plugins.GENERATORS)
    asked = [model for arm in promised.arms if arm.generation is not None for model in arm.generation.models]
    for name in dict.fromkeys(model.plugin for model in asked if model.plugin is not None):
        if name not in known:
            fact = f"there is no generator {name!r}{suggest_name(name, known)}"
            yield Fault(str(edition.protocol_yaml), fact, f"Installed are: {', '.join(known)}.")


def _check_window(edition: Edition, promised: Protocol, sealed: dict[str, SealedCard]) -> Iterator[Fault]:
    """A window that is over: no program may ask any more. (What people typed at the time can still be recorded.)"""
    closes, asking = promised.window.closes, [name for name, held in sealed.items() if held.card.ask.by != "people"]
    if asking and cards_judge.get_time_now()[:10] > closes:
        fact = f"the scan window closed on {closes}, so that {', '.join(asking)} can be asked nothing"
        yield Fault(
            str(edition.protocol_yaml), fact, "Promise a window that is still to come: window: {opens: …, closes: …}."
        )


def _check_panels(place: Study, edition: Edition, promised: Protocol) -> Iterator[Fault]:
    """Arms of fresh texts that would share a headline rate with arms that an earlier edition froze, and that persist."""
    tags = [each.tag for each in place.editions()]
    older = place.editions()[: tags.index(edition.tag)] if edition.tag in tags else place.editions()
    before: set[str] = set()
    for other in older:
        if other.seal("corpus").exists() and other.manifest.exists():
            _, head = next(studies.read_json_lines(other.manifest), (0, {}))
            before |= set(head.get("arms", {}))
    for arm in promised.arms if before else ():
        known = [
            one.name
            for one in promised.arms
            if one.headline and one.persists and one.truth == arm.truth and one.name in before
        ]
        if arm.headline and arm.persists and arm.name not in before and known:
            fact = (
                f"the arm {arm.name} is a new panel, and its headline rate would be pooled with that of "
                f"{', '.join(known)}, whose texts an earlier edition had"
            )
            remedy = f"Write headline: false for {arm.name}: then its rate stands by itself, in every table."
            yield Fault(str(edition.protocol_yaml), fact, remedy)


# --- what changed since the promise before ---------------------------------------------------------------------------


def _check_rule_changes(place: Study, edition: Edition, promised: Protocol, found: Prospect) -> Iterator[Fault]:
    """Rules that changed since the last promise of the study, published or not, and that no amendment announces."""
    earlier = promise_chain.before(place.editions(), edition)
    if earlier is None or len(found.sealed) < len(promised.detectors):
        return  # the first promise; or cards that cannot be read, which is told
    was = promise_chain.read(earlier)
    found.judged = judge(was.promise, keyed(promised, found.sealed), promise_chain.announced(place.editions()))
    where = str(edition.protocol_yaml)
    for each in found.judged.uncovered:
        yield Fault(
            where, f"{told(each)} since the promise of {was.tag}, and no amendment announces it", _describe_remedy(each)
        )
    for number, at, said, becomes in found.judged.unkept:
        fact = f"{at} is {said or 'not there'}, and amendment {number} announces {becomes or 'that it goes'}"
        yield Fault(where, fact, "Write what was announced, or announce another amendment: `penmark amend`.")
    for number, at, said, quoted in found.judged.misquoted:
        fact = f"amendment {number} says that {at} was {quoted or 'not there'}; it was {said or 'not there'}"
        yield Fault(where, fact, "Announce another amendment, with the value as it was: `penmark amend`.")


def told(difference: Difference) -> str:
    """A difference in words; long values are cut."""
    was, now = (None if v is None else v[:80] + "…" * (len(v) > 80) for v in (difference.was, difference.now))
    if now is None:
        return f"{difference.at} is gone ({was})"
    return f"{difference.at} is new ({now})" if was is None else f"{difference.at} changed from {was} to {now}"


def _describe_remedy(difference: Difference) -> str:
    return (
        f"Write it as it was; or announce it before you commit: penmark amend --covers {shlex.quote(difference.at)} "
        "--what … --why …"
    )
