"""What an amendment covers: places of the promise, taken from the draft of the next edition, or with the value that will be.

*Reads* the promise made last, and protocol and cards of an edition that is not promised yet. *Writes* nothing.
*Never* takes a change for announced that no amendment names.
"""

from __future__ import annotations

import json
import shlex
from typing import Any

from pydantic import ValidationError

from penmark import protocol, study
from penmark.errors import FaultsError, UsageError
from penmark.protocol import amendments, promise_chain, promise_differences
from penmark.records import Change, Protocol
from penmark.stages.commit import readiness
from penmark.study import Edition, Study


def open_changes(place: Study, promised: Edition) -> list[Change] | None:
    """What differs in the draft of the next edition and no amendment announces yet; None where there is no draft.

    Raises FaultsError where its cards cannot be read.
    """
    draft = place.edition()
    if draft.root == promised.root or draft.seal("promise").is_file():
        return None
    found = readiness.prepare_prospect(place, draft, protocol.load_protocol(draft.protocol_yaml))
    if found.judged is None:
        raise FaultsError(found.faults)
    wrong = [Change(at=at, was=becomes, becomes=said) for _, at, said, becomes in found.judged.unkept]
    return [Change(at=each.at, was=each.was, becomes=each.now) for each in found.judged.uncovered] + wrong


def covered(place: Study, promised: Edition, given: list[str]) -> list[Change]:
    """The changes that ``--covers`` names: ``PLACE`` (all that is open there), or ``PLACE=VALUE``.

    Raises UsageError for a place at which nothing is open, or one that the promise does not have.
    """
    found: dict[str, Change] = {}
    for each in given:
        at, named, value = each.partition("=")
        taken = _make_stated_change(place, promised, at, value) if named else _list_drafted_changes(place, promised, at)
        found |= {change.at: change for change in taken}
    return list(found.values())


def told(changes: list[Change]) -> list[str]:
    """A line for each open change, and the commands that announce them."""
    lines = [f"  {readiness.told(promise_differences.Difference(each.at, each.was, each.becomes))}" for each in changes]
    command = " ".join(f"--covers {shlex.quote(each.at)}" for each in changes)
    return [*lines, f"Announce them before you commit: penmark amend {command} --what … --why …"]


def _list_drafted_changes(place: Study, promised: Edition, at: str) -> list[Change]:
    held = open_changes(place, promised)
    if held is None:
        raise UsageError(
            f"there is no draft of a later edition, so {at} needs its value",
            remedy=f"Say what it will be: --covers {at}=VALUE (nothing after the = where it goes).",
        )
    found = [each for each in held if each.at == at or each.at.startswith(f"{at}/")]
    if not found:
        places = ", ".join(each.at for each in held) or "nothing"
        raise UsageError(f"nothing that changes at {at} is open", remedy=f"Open is: {places}.")
    return found


def _make_stated_change(place: Study, promised: Edition, at: str, value: str) -> list[Change]:
    promise = promise_chain.read(promised).promise
    pending = promise_differences.announcing(amendments.announced(place.editions()), promised.tag, "Z-9999-Q4")
    known = {change.at: change.becomes for each in pending for change in each.covers}
    was = known[at] if at in known else promise_differences.value_at(promise, at)
    top, above = {*Protocol.model_fields, "cards"}, at.rpartition("/")[0]
    known_above = promise_differences.value_at(promise, above) is not None if above else at.removeprefix("/") in top
    if not at.startswith("/") or (was is None and not known_above):
        places = ", ".join(sorted(f"/{name}" for name in top))
        raise UsageError(f"the promise of {promised.tag} has no place {at}", remedy=f"It has {places}.")
    becomes = (
        None
        if value == ""
        else json.dumps(_parse_stated_value(was, value), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    )
    if was == becomes:
        raise UsageError(f"{at} is {was} already", remedy="Name what it will be.")
    try:
        return [Change(at=at, was=was, becomes=becomes)]
    except ValidationError as error:
        raise study.make_validation_faults(
            "--covers", error.errors(include_url=False), "Write it like /arms/B/documents=60."
        ) from None


def _parse_stated_value(was: str | None, value: str) -> Any:
    """The value as the promise writes it: a string where a string stood, else JSON, or where it is none a string."""
    if was is not None and was.startswith('"'):
        return value
    try:
        return json.loads(value, parse_float=str)
    except ValueError:
        return value
