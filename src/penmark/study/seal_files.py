"""A seal as it stands on the disk: the one reading of ``seals/<name>.json`` (docs/format.md, part 6).

*Reads* one seal. *Writes* nothing: that is ``sealing``. *Never* says whether what was sealed is still as it was.
"""

from __future__ import annotations

from pydantic import ValidationError

from penmark import study
from penmark.errors import PenmarkError
from penmark.format import canonical_json, versions
from penmark.records import Seal

LONGEST = 64 * 2**20
"""No seal is longer (bytes)."""
_RESTORE = "Restore the seal of that name from a copy."


def read_seal(edition: study.Edition, name: str) -> Seal:
    """The seal called ``name``: promise, corpus, heads-0001 …, evidence.

    Raises PenmarkError where it is missing, not canonical, not a seal of that kind, or leaves fields out.
    """
    path = edition.seal(name)
    data = study.read_bytes(path, limit=LONGEST)
    canonical_json.decode_json(data, place=str(path))
    try:
        found = Seal.model_validate_json(data)
    except ValidationError as error:
        why = study.make_validation_faults(name, error.errors(include_url=False)).faults[0]
        raise PenmarkError(f"is not a seal ({why.place}: {why.fact})", place=str(path), remedy=_RESTORE) from None
    if canonical_json.encode_json(found.model_dump(mode="json")) != data:
        raise PenmarkError("leaves fields out", place=str(path), remedy=f"A seal has every field. {_RESTORE}")
    if found.kind != name.split("-")[0]:
        raise PenmarkError(f"is a seal of the {found.kind}", place=str(path), remedy=_RESTORE)
    return found


def read_seal_rules(edition: study.Edition) -> int | None:
    """By which rules of a release the evidence was sealed; None where the seal cannot be read, or nobody here knows."""
    try:
        value = study.read_json(edition.seal("evidence"))
        rules = value.get("rules")
        return versions.rules_of(str(value["software"]), rules if isinstance(rules, int) else None)
    except (PenmarkError, KeyError, TypeError, AttributeError):
        return None


def is_by_our_rules(edition: study.Edition) -> bool:
    """Whether the evidence was sealed by the rules of this release, whatever that release is called."""
    return read_seal_rules(edition) == versions.RULES


def describe_rules(edition: study.Edition) -> str:
    """By which rules the evidence was sealed, in words."""
    number = read_seal_rules(edition)
    return "by rules that no seal names" if number is None else f"by rules {number}; this release has {versions.RULES}"
