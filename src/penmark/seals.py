"""A seal as it stands on the disk: the one reading of ``seals/<name>.json`` (docs/format.md, part 6).

*Reads* one seal. *Writes* nothing: that is ``sealing``. *Never* says whether what was sealed is still as it was.
"""

from __future__ import annotations

from pydantic import ValidationError

from penmark import canon, study
from penmark.errors import PenmarkError
from penmark.records import Seal

LONGEST = 64 * 2**20
"""No seal is longer (bytes)."""
_RESTORE = "Restore the seal of that name from a copy."


def read(edition: study.Edition, name: str) -> Seal:
    """The seal called ``name``: promise, corpus, heads-0001 …, evidence.

    Raises PenmarkError where it is missing, not canonical, not a seal of that kind, or leaves fields out.
    """
    path = edition.seal(name)
    data = study.read(path, limit=LONGEST)
    canon.decode(data, place=str(path))
    try:
        found = Seal.model_validate_json(data)
    except ValidationError as error:
        why = study.validated(name, error.errors(include_url=False)).faults[0]
        raise PenmarkError(f"is not a seal ({why.place}: {why.fact})", place=str(path), remedy=_RESTORE) from None
    if canon.encode(found.model_dump(mode="json")) != data:
        raise PenmarkError("leaves fields out", place=str(path), remedy=f"A seal has every field. {_RESTORE}")
    if found.kind != name.split("-")[0]:
        raise PenmarkError(f"is a seal of the {found.kind}", place=str(path), remedy=_RESTORE)
    return found


def sealed_by(edition: study.Edition) -> str:
    """Which software sealed the evidence; empty where the seal cannot be read (check 2 says so)."""
    try:
        return str(study.read_json(edition.seal("evidence"))["software"])
    except (PenmarkError, KeyError, TypeError):
        return ""
