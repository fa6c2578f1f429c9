"""What is told of an arm as a whole: what its source left out, who took a text back, whether a new panel was mixed in.

*Reads* ``corpus/<arm>/left_out.json`` and ``withdrawn.jsonl``, and what earlier editions froze. *Writes* nothing.
"""

from __future__ import annotations

from penmark import study
from penmark.records import Arm
from penmark.screening.earlier import Earlier
from penmark.screening.findings import Findings, Where
from penmark.study import Study


def wholes(place: Study, arm: Arm, documents: set[str], earlier: Earlier, found: Findings) -> None:
    """``documents``: those that the arm has now."""
    _left_out(place, arm, found)
    _withdrawn(place, arm, found)
    before = earlier.arm(arm.name)
    fresh = documents - before
    if arm.persists and fresh and documents & before:
        message = (
            f"{len(fresh)} of {len(documents)} documents were in no earlier edition ({', '.join(sorted(fresh)[:5])}"
            f"{', …' if len(fresh) > 5 else ''}): a new panel is not pooled with one that detectors may have met"
        )
        remedy = "Give the new texts an arm of their own, announced with `penmark amend`; or take them out."
        found.add("pooled-panel", Where(arm.name, file=_file(place, arm, "documents.jsonl")), message, remedy)


def _left_out(place: Study, arm: Arm, found: Findings) -> None:
    path = place.arm(arm.name) / "left_out.json"
    if not path.exists():
        return
    for name, counts in sorted(study.read_json(path).items()):
        told = ", ".join(f"{count} {reason}" for reason, count in sorted(counts.items()))
        message = f"{sum(counts.values())} texts of the source {name[:16]} are not here: {told}"
        remedy = "Nothing need be done: it is told, so that nobody need ask how many were turned away."
        found.add("left-out", Where(arm.name, file=_file(place, arm, "left_out.json")), message, remedy)


def _withdrawn(place: Study, arm: Arm, found: Findings) -> None:
    path = place.arm(arm.name) / "withdrawn.jsonl"
    if not path.exists():
        return
    for row, value in study.records(path):
        counted = f"; counted in {', '.join(value['editions'])}" if value["editions"] else ""
        where = Where(arm.name, value["document"], _file(place, arm, "withdrawn.jsonl"), row)
        message = f"its author took the text back on {value['at'][:10]}{counted}"
        found.add("withdrawn", where, message, "Nothing need be done: the text is gone.")


def _file(place: Study, arm: Arm, name: str) -> str:
    return (place.arm(arm.name) / name).relative_to(place.root).as_posix()
