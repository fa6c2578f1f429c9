"""A source plugin: are its drafts whole, told apart, with provenance that a record can hold, and the same each time?

*Reads* what the source yields for an arm. *Writes* nothing. *Never* asks whether a text is what its source says.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any

from penmark.corpus import provenance
from penmark.errors import Fault, PenmarkError
from penmark.testing import fresh_interpreter
from penmark.testing.detector_checks import check_made_well
from penmark.testing.fresh_interpreter import IMPORT, PATIENCE, Nonconforming

FIELDS = frozenset({"language", "register", "subgroup", "author", "topic", "source", "exposures", "withheld"})
"""The fields of a document that a source may give."""


def check_source(
    name: str,
    *,
    options: Mapping[str, str] | None = None,
    arm: str = "A",
    local: bool = True,
    import_seconds: float = IMPORT,
    patience: float = PATIENCE,
) -> None:
    """Check the installed source plugin ``name``: made with ``options``, it fills the arm ``arm`` twice.

    ``local``: it asks nobody over the network. Raises Nonconforming with everything that is wrong.
    """
    place = f"source {name}"
    spec = {"name": name, "options": dict(options or {}), "arm": arm}
    ran = fresh_interpreter.run_probe("source", spec, place=place, local=local, patience=patience, seed=1)
    other = fresh_interpreter.run_probe("source", spec, place=place, local=local, patience=patience, seed=2)
    faults = [*dict.fromkeys([*ran.faults, *other.faults]), *check_made_well(place, ran.told, import_seconds)]
    if "first" in ran.told:
        faults += _check_gathered(place, ran.told["first"])
        once, twice, elsewhere = (
            _list_known(g) for g in (ran.told["first"], ran.told["again"], other.told.get("first"))
        )
        if once != twice or once != elsewhere:
            remedy = "The order may differ; what is drawn by chance belongs into the protocol."
            faults.append(Fault(place, "yields other drafts when it is asked again", remedy))
    if faults:
        raise Nonconforming(faults)


def _list_known(gathered: Mapping[str, Any] | None) -> list[str]:
    return sorted(map(repr, gathered["drafts"])) if gathered is not None else []


def _check_gathered(place: str, gathered: Mapping[str, Any]) -> Iterator[Fault]:
    if gathered["raised"] == "PenmarkError":
        yield Fault(place, f"finds fault with these options: {gathered['words']}", "Give it material that is whole.")
    elif gathered["raised"] is not None:
        fact = f"raises {gathered['raised']}: {gathered['words']}"
        yield Fault(place, fact, "Keep what is wrong until the last draft, and raise it as one FaultsError.")
    elif not gathered["drafts"]:
        yield Fault(place, "yields no draft", "Look at its options.")
    seen: dict[str, str] = {}
    for number, draft in enumerate(gathered["drafts"], 1):
        if draft["odd"]:
            yield Fault(f"{place}, draft {number}", "; ".join(draft["odd"]), "See penmark.plugins.Draft.")
            continue
        yield from _check_draft(f"{place}, draft {draft['id']!r}", draft)
        if draft["id"] in seen:
            yield Fault(place, f"yields the id {draft['id']!r} twice", "Ids are unique in an arm.")
        seen[draft["id"]] = draft["place"]


def _check_draft(where: str, draft: Mapping[str, Any]) -> Iterator[Fault]:
    if draft["place"].strip() == "":
        yield Fault(where, "has no place", "Say file and row: every message about the text begins with it.")
    text = base64.b64decode(draft["text"])
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        yield Fault(where, f"its text is not UTF-8 (byte {error.start})", "Refuse it, with its place; convert nothing.")
    if text.strip() == b"":
        yield Fault(where, "its text is empty", "Refuse it, with its place.")
    if unknown := sorted(set(draft["fields"]) - FIELDS):
        yield Fault(where, f"has the field {unknown[0]!r}", f"A document has {', '.join(sorted(FIELDS))}.")
    try:
        if draft["provenance"].get("kind") != "edited":  # its words are counted when it is collected
            provenance.parse_row(dict(draft["provenance"]), draft["place"])
    except PenmarkError as error:
        yield from (fault._replace(place=where) for fault in error.faults)
