"""Check 8, changes: CHANGES.md leaves out no amendment and no deviation.

*Reads* CHANGES.md, amendments/ and deviations.jsonl. *Never* judges the words around them.
"""

from __future__ import annotations

from penmark import amendments, study
from penmark.errors import PenmarkError
from penmark.verify.found import Found


def changes(edition: study.Edition, found: Found) -> None:
    """What every amendment and deviation says stands in CHANGES.md, white space folded."""
    path = edition.root / "CHANGES.md"
    try:
        said = " ".join(study.read(path, limit=2**26).decode("utf-8", "replace").split())
        told = {f"amendments/{a.number:04d}.json": a.what for a in amendments.announced([edition])}
        told |= {f"deviations.jsonl:{n}": d.what for n, d in enumerate(amendments.deviations(edition), 1)}
    except PenmarkError as error:
        found.error(error)
        return
    for place, what in told.items():
        if " ".join(what.split()) not in said:
            found.failed(
                "CHANGES.md", f"leaves out {place}", what, "It is generated: publish again, and do not edit it."
            )
