"""Where a study stands: arms, seals, journals, departures, what is still open, and the next command to run.

*Reads* protocol, cards, seals, the corpus's records and the journals of one edition; journals are only counted.
*Writes* nothing. *Never* checks anything (`verify` does), and never stops at a file that it cannot read: that is told.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from penmark import cards, protocol, study
from penmark.cards import Missed, Misses
from penmark.corpus import breaches, edition_departures
from penmark.corpus.sealed_edition import find_lost_lines
from penmark.errors import Fault, PenmarkError
from penmark.format import canonical_json
from penmark.records import Arm, Card, Detector, Protocol
from penmark.stages.commit import readiness
from penmark.study import Edition, Study, seal_files

_JOURNAL = re.compile(r"(?P<detector>.+?)(?:\.\d+of\d+)?\.jsonl")
# In canonical JSON these bytes stand nowhere but in the line's own field: inside a string the quotes have a backslash.
_KIND = re.compile(rb'"kind":"(reading|skipped|sent|retry)"')
_VERSION = re.compile(rb'"version":"((?:[^"\\]|\\.)*)"')
_STATE = re.compile(rb'"state":"(answered|declined|failed)"')


class ArmStanding(NamedTuple):
    """Documents of an arm that are there, of those promised; ``short``: quotas that are not met yet."""

    arm: str
    truth: str
    documents: int
    promised: int
    short: tuple[str, ...]


class SealStanding(NamedTuple):
    """A seal and when it was made; ``tokens``: how many timestamps from outside lie beside it."""

    name: str
    sealed_at: str | None
    tokens: int


class JournalStanding(NamedTuple):
    """One detector's pairs, by lines of its journals. ``in_doubt``: sent, no answer on record (yet). ``misses``: of the
    answers those of which the card makes nothing."""

    detector: str
    answered: int
    declined: int
    failed: int
    not_scannable: int
    in_doubt: int
    left: int
    misses: tuple[Missed, ...] = ()
    changed: tuple[str, str] | None = None  # version before, version seen


class Guessed(NamedTuple):
    """What a detector's card says without knowing it: pointers into the card."""

    detector: str
    facts: tuple[str, ...]


@dataclass
class StudyStatus:
    """Where one edition stands. ``departures``: None where they cannot be computed. ``faults``: what could not be read,
    and what keeps the next step from working; ``undecided``: the placeholders with their lines."""

    study: str
    edition: str
    folder: str
    template: str | None
    arms: list[ArmStanding] = field(default_factory=list)
    seals: list[SealStanding] = field(default_factory=list)
    journals: list[JournalStanding] = field(default_factory=list)
    departures: list[protocol.Departure] | None = None
    guessed: list[Guessed] = field(default_factory=list)
    placeholders: list[tuple[str, str]] = field(default_factory=list)
    undecided: list[Fault] = field(default_factory=list)
    amendments: int = 0
    faults: list[Fault] = field(default_factory=list)
    stops_on_change: bool = False  # a detector that changed its version is asked no more, by the promise
    next: str = "penmark commit"


def describe_standing(place: Study, edition: Edition) -> StudyStatus:
    """Where ``edition`` stands; faults are part of the answer."""
    found = StudyStatus(place.root.resolve().name, edition.tag, str(edition.root), None)
    found.seals = [_describe_seal(edition, name, found.faults) for name in edition.seal_names()]
    sealed = {seal.name for seal in found.seals}
    promised = _read_protocol(edition, found, "promise" in sealed)
    if promised is not None:
        found.study, found.template = promised.study, promised.template.name if promised.template is not None else None
        known = _collect_cards(place, edition, promised, found, "promise" in sealed)
        found.guessed = list(_list_guessed_facts(known))
        frozen = _read_frozen_counts(edition, found) if "corpus" in sealed else None
        found.arms = [_describe_arm(place, edition, arm, frozen, found) for arm in promised.arms]
        if frozen is not None:
            total = sum(frozen.values())
            found.stops_on_change = promised.on_version_change == "stop"
            found.journals = [
                _describe_journal(edition, each, total, known.get(each.name), found) for each in promised.detectors
            ]
            found.faults += _list_lost_lines(edition)
        found.next = _choose_next_command(place, edition, known, found, sealed)
    if found.faults:
        several = f"the {len(found.faults)} faults" if len(found.faults) > 1 else "the fault"
        found.next = f"mend {several} above, then penmark status"
    if edition.amendments.is_dir():
        found.amendments = len(list(edition.amendments.glob("*.json")))
    return found


# --- the promise ---------------------------------------------------------------------------------------------------


def _describe_seal(edition: Edition, name: str, faults: list[Fault]) -> SealStanding:
    try:
        value = study.read_json(edition.seal(name))
        at = value.get("sealed_at") if isinstance(value, dict) else None
    except PenmarkError as error:
        faults += error.faults
        at = None
    return SealStanding(name, at if isinstance(at, str) else None, len(list(edition.seals.glob(f"{name}-*.tsr"))))


def _read_protocol(edition: Edition, found: StudyStatus, sealed: bool) -> Protocol | None:
    try:
        if not sealed:
            return protocol.load_protocol(edition.protocol_yaml)
        promise = seal_files.read_seal(edition, "promise")
        if promise.digests.get("protocol.yaml") != canonical_json.sha256(study.read_bytes(edition.protocol_yaml)):
            found.faults.append(
                Fault(
                    str(edition.protocol_yaml),
                    "was changed after the promise was sealed; the promise counts",
                    "Restore it from a copy; a change of rules is for the next edition: `penmark amend`.",
                )
            )
        return protocol.read_sealed(edition)
    except PenmarkError as error:
        found.faults += error.faults
    return None


def _collect_cards(
    place: Study, edition: Edition, promised: Protocol, found: StudyStatus, sealed: bool
) -> dict[str, Card]:
    """The cards, by the name of the detector; notes departures and faults on the way."""
    if not sealed:
        seen = readiness.prepare_prospect(place, edition, promised)
        found.departures = seen.departures
        if found.departures is not None:
            with contextlib.suppress(PenmarkError):  # records that cannot be read are told with their arm
                found.departures += breaches.collected(place, edition, promised)
        found.faults += seen.faults
        found.placeholders = protocol.list_placeholders(promised)
        found.undecided = protocol.list_undecided(promised, edition.protocol_yaml)
        return {name: held.card for name, held in seen.sealed.items()}
    known = {}
    for detector in promised.detectors:
        try:
            known[detector.name] = cards.read_sealed_card(edition, detector.name).card
            cards.choose_rule(detector, known[detector.name])
        except PenmarkError as error:
            found.faults += error.faults
    try:
        found.departures = edition_departures.recompute_departures(edition, promised, known, place)
    except PenmarkError as error:
        found.faults += error.faults
    return known


def _list_guessed_facts(known: dict[str, Card]) -> Iterator[Guessed]:
    for name, card in sorted(known.items()):
        facts = {pointer for pointer, mark in card.confidence.items() if mark == "guess"}
        facts |= {"/boundary"} if card.boundary.confidence == "guess" else set()
        if facts:
            yield Guessed(name, tuple(sorted(facts)))


# --- the corpus ----------------------------------------------------------------------------------------------------


def _read_frozen_counts(edition: Edition, found: StudyStatus) -> dict[str, int]:
    """Documents by arm, from the head of the frozen manifest."""
    try:
        _, head = next(study.read_json_lines(edition.manifest))
        return {str(arm): int(count) for arm, count in head["arms"].items()}
    except PenmarkError as error:
        found.faults += error.faults
    except (StopIteration, KeyError, AttributeError, TypeError, ValueError):
        found.faults.append(
            Fault(f"{edition.manifest}:1", "is not the head of a manifest", "Restore the file from where it came.")
        )
    return {}


def _describe_arm(
    place: Study, edition: Edition, arm: Arm, frozen: dict[str, int] | None, found: StudyStatus
) -> ArmStanding:
    if frozen is not None:
        return ArmStanding(arm.name, arm.truth, frozen.get(arm.name, 0), arm.documents, ())
    cells: Counter[tuple[tuple[str, str], ...]] = Counter()
    wanted = [tuple(sorted(quota.where.items())) for quota in arm.quotas]
    count = 0
    earlier = set() if arm.persists else _collect_earlier_ids(place, edition, arm.name, found)
    for row in _read_rows(place.documents(arm.name), found):
        if row.get("id") in earlier:
            continue  # an arm that is made anew: these are of the edition before
        count += 1
        cells.update(cell for cell in wanted if all(_find_quota_value(row, key) == value for key, value in cell))
    short = tuple(
        f"{cells[cell]} of {quota.documents} {', '.join(quota.where.values())}"
        for cell, quota in zip(wanted, arm.quotas, strict=True)
        if count > 0 and cells[cell] < quota.documents
    )
    return ArmStanding(arm.name, arm.truth, count, arm.documents, short)


def _read_rows(path: Path, found: StudyStatus) -> Iterator[dict[str, Any]]:
    if not path.exists():
        return
    try:
        for number, line in study.read_lines(path):
            row = orjson.loads(line)
            if not isinstance(row, dict):
                raise PenmarkError("is not a document", place=f"{path}:{number}", remedy="Collect the arm again.")
            yield row
    except orjson.JSONDecodeError as error:
        found.faults.append(Fault(f"{path}:{number}", f"is not valid JSON ({error})", "Collect the arm again."))
    except PenmarkError as error:
        found.faults += error.faults


def _collect_earlier_ids(place: Study, edition: Edition, arm: str, found: StudyStatus) -> set[str]:
    """Ids of the arm's documents in the manifests of other editions."""
    others = [other.manifest for other in place.editions() if other.tag != edition.tag]
    return {str(row.get("id")) for path in others for row in _read_rows(path, found) if row.get("arm") == arm}


def _find_quota_value(row: dict[str, Any], key: str) -> Any:
    """The value of a document that a quota asks for; model, provider and style are those of its text or its draft."""
    if key in ("model", "provider", "style"):
        made = row.get("provenance") or {}
        return (made.get("draft") or made).get(key)
    return row.get(key)


# --- the journals --------------------------------------------------------------------------------------------------


def _describe_journal(
    edition: Edition, detector: Detector, total: int, card: Card | None, found: StudyStatus
) -> JournalStanding:
    counts: Counter[str] = Counter()
    misses, versions = None, dict[str, None]()
    with contextlib.suppress(PenmarkError):  # a rule that does not fit its card is told already
        misses = None if card is None else Misses(card, cards.choose_rule(detector, card))
    for path in edition.journal_files():
        match = _JOURNAL.fullmatch(path.name)
        if match is not None and match["detector"] == detector.name:
            try:
                counts += _count_lines(path, misses, versions)
            except OSError as error:
                found.faults += study.make_disk_error(error, path).faults
            except PenmarkError as error:
                found.faults += error.faults
    final = counts["answered"] + counts["declined"] + counts["failed"]
    in_doubt = max(0, counts["sent"] - counts["retry"] - counts["scanned"])
    left = max(0, total - final - counts["skipped"] - in_doubt)
    answered, declined, failed, skipped = (counts[name] for name in ("answered", "declined", "failed", "skipped"))
    missed = () if misses is None else tuple(misses.found())
    known = next(iter(versions), None) if detector.version is None else detector.version
    other = next(((known, each) for each in versions if known is not None and each != known), None)
    return JournalStanding(detector.name, answered, declined, failed, skipped, in_doubt, left, missed, other)


def _list_lost_lines(edition: Edition) -> list[Fault]:
    """What a seal holds of a journal, and the journal does not; seals that cannot be read are told already."""
    try:
        return find_lost_lines(edition)
    except PenmarkError:
        return []


def _count_lines(path: Path, misses: Misses | None, versions: dict[str, None]) -> Counter[str]:
    """Lines by kind, readings by state; a last line that is cut short is not counted. ``misses`` is given the answers, and
    ``versions`` those that they name."""
    counts: Counter[str] = Counter()
    with path.open("rb") as file:
        for line in iter(lambda: file.readline(study.MAX_LINE + 1), b""):
            if len(line) > study.MAX_LINE:
                raise PenmarkError("a line is too long", place=str(path), remedy="Restore the journal from a copy.")
            kind = _KIND.search(line)
            if kind is None or not line.endswith(b"\n"):
                continue
            if kind[1] != b"reading":
                counts[kind[1].decode()] += 1
            elif (state := _STATE.search(line)) is not None:
                counts[state[1].decode()] += 1
                counts["scanned"] += b'"origin":"scan"' in line
                if state[1] == b"answered" and (told := _VERSION.search(line)) is not None:
                    versions.setdefault(told[1].decode("utf-8", "replace"))
                if state[1] == b"answered" and misses is not None:
                    _add_answer(line, misses)
    return counts


def _add_answer(line: bytes, misses: Misses) -> None:
    with contextlib.suppress(orjson.JSONDecodeError, AttributeError, KeyError, TypeError):  # damaged: others name it
        value = orjson.loads(line)
        misses.add(value["document"], value["score"], value["label"])


# --- what is next --------------------------------------------------------------------------------------------------


def _choose_next_command(
    place: Study, edition: Edition, known: dict[str, Card], found: StudyStatus, sealed: set[str]
) -> str:
    if "promise" not in sealed:
        many = len(found.placeholders)
        places = "the one place that is" if many == 1 else f"the {many} places that are"
        decide = f"decide {places} left in {edition.protocol_yaml}, then penmark commit"
        return decide if many else "penmark commit"
    if "corpus" not in sealed:
        for arm in found.arms:
            if arm.documents < arm.promised:
                return f"penmark collect {arm.arm}"
        errors = _count_screening_errors(edition)
        if errors is not None and errors > 0:
            what = f"mend the {errors} errors" if errors > 1 else "mend the error"
            return f"{what} in {edition.screening}, then penmark screen"
        return "penmark screen" if errors is None else "penmark freeze"
    if "evidence" not in sealed:
        stops = found.stops_on_change
        left = [each.detector for each in found.journals if each.left and not (stops and each.changed)]
        copied = [name for name in left if name in known and known[name].ask.by == "people"]
        if left:
            sheets = f"penmark record FILE --detector {left[0]} (work sheets for people: --sheets private/{left[0]})"
            return sheets if copied == left else "penmark scan"
        return "penmark report"
    bundle = place.bundles / edition.tag
    return f"penmark verify {bundle}" if bundle.is_dir() else "penmark publish"


def _count_screening_errors(edition: Edition) -> int | None:
    """How many errors the last screening found; None where nobody screened yet, or what it wrote is no table any more."""
    if not edition.screening.is_file():
        return None
    text = study.read_bytes(edition.screening).decode("utf-8", "replace")
    try:
        return [row.get("severity") for row in csv.DictReader(io.StringIO(text, newline=""))].count("error")
    except csv.Error:
        return None
