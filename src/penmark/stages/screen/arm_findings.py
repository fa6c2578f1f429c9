"""What is told of an arm as a whole: what its source left out, what models wrote and was not taken, who took a text back,
whether it is what was drawn, whether a new panel was mixed in.

*Reads* ``corpus/<arm>/left_out.json``, ``<edition>/rejected.jsonl``, ``withdrawn.jsonl`` and the pool, and what earlier
editions froze. *Writes* nothing.
"""

from __future__ import annotations

from collections import Counter

from penmark import study
from penmark.records import Arm
from penmark.stages.screen.earlier_editions import Earlier
from penmark.stages.screen.findings import ScreeningFindings, Where
from penmark.study import Edition, Study


def screen_arm(
    place: Study, edition: Edition, arm: Arm, documents: set[str], earlier: Earlier, found: ScreeningFindings
) -> None:
    """``documents``: those that the arm has now."""
    _left_out(place, arm, found)
    _check_rejected(place, edition, arm, found)
    _check_withdrawn_texts(place, arm, found)
    before = earlier.arm(arm.name)
    _check_draw(place, edition, arm, documents - before, found)
    fresh = documents - before
    if arm.persists and fresh and documents & before:
        message = (
            f"{len(fresh)} of {len(documents)} documents were in no earlier edition ({', '.join(sorted(fresh)[:5])}"
            f"{', …' if len(fresh) > 5 else ''}): a new panel is not pooled with one that detectors may have met"
        )
        remedy = "Give the new texts an arm of their own, announced with `penmark amend`; or take them out."
        found.add("pooled-panel", Where(arm.name, file=_locate_file(place, arm, "documents.jsonl")), message, remedy)


def _left_out(place: Study, arm: Arm, found: ScreeningFindings) -> None:
    path = place.arm(arm.name) / "left_out.json"
    if not path.exists():
        return
    for name, counts in sorted(study.read_json(path).items()):
        told = ", ".join(f"{count} {reason}" for reason, count in sorted(counts.items()))
        message = f"{sum(counts.values())} texts of the source {name[:16]} are not here: {told}"
        remedy = "Nothing need be done: it is told, so that nobody need ask how many were turned away."
        found.add("left-out", Where(arm.name, file=_locate_file(place, arm, "left_out.json")), message, remedy)


def _check_rejected(place: Study, edition: Edition, arm: Arm, found: ScreeningFindings) -> None:
    """How many texts models were asked for that are not in the arm, at spots that were filled later or never."""
    path = place.rejected(arm.name, edition.tag)
    rows = [value for _, value in study.read_json_lines(path)] if path.exists() else []
    if rows:
        gates = Counter(str(gate) for row in rows for gate in row["gates"])
        told = ", ".join(
            f"{count} {gate}" for gate, count in sorted(gates.items(), key=lambda each: (-each[1], each[0]))
        )
        several = "; some for several reasons" if gates.total() > len(rows) else ""
        message = f"{len(rows)} texts that models were asked for are not here: {told}{several}"
        remedy = "Nothing need be done: what came is kept, and the promised rule says what took its place."
        found.add("left-out", Where(arm.name, file=path.relative_to(place.root).as_posix()), message, remedy)


def _check_withdrawn_texts(place: Study, arm: Arm, found: ScreeningFindings) -> None:
    path = place.arm(arm.name) / "withdrawn.jsonl"
    if not path.exists():
        return
    for row, value in study.read_json_lines(path):
        counted = f"; counted in {', '.join(value['editions'])}" if value["editions"] else ""
        where = Where(arm.name, value["document"], _locate_file(place, arm, "withdrawn.jsonl"), row)
        message = f"its author took the text back on {value['at'][:10]}{counted}"
        found.add("withdrawn", where, message, "Nothing need be done: the text is gone.")


def _check_draw(place: Study, edition: Edition, arm: Arm, fresh: set[str], found: ScreeningFindings) -> None:
    """Documents of a drawn arm that are new are those that its pool says were drawn."""
    path = place.pool(arm.name, edition.tag)
    if not path.exists():
        return
    drawn = {str(value["document"]) for _, value in study.read_json_lines(path) if value["drawn"]}
    for names, told in (
        (fresh - drawn, "are in the arm and were not drawn"),
        (drawn - fresh, "were drawn and are not in the arm"),
    ):
        if names:
            message = f"{len(names)} documents {told}: {', '.join(sorted(names)[:5])}{', …' if len(names) > 5 else ''}"
            remedy = f"Draw again from the same pool: `penmark collect {arm.name} --draw`."
            found.add("draw-differs", Where(arm.name, file=path.relative_to(place.root).as_posix()), message, remedy)


def _locate_file(place: Study, arm: Arm, name: str) -> str:
    return (place.arm(arm.name) / name).relative_to(place.root).as_posix()
