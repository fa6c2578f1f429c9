"""Draws: which texts of a pool an arm takes, by the sealed seed and the promised quotas, so that selection is no choice.

Candidates are ranked by the draw ``draw/<arm>`` (docs/format.md, 1). In that order each is taken whose quotas all have
room, and for which the arm has. The same pool, seed and promise give the same draw, anywhere.
*Reads* and *writes* nothing. *Never* looks at a text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penmark.format import canonical_json
from penmark.records import Arm, Document

Cell = dict[str, str | None]
"""What quotas ask about, and what a document has."""
FULL = "the arm is full"


def list_quota_values(document: Document, arm: Arm) -> Cell:
    """The values of a document that the arm's quotas ask for."""
    return {name: document.facet(name) for name in list_quota_names(arm)}


def list_quota_names(arm: Arm) -> list[str]:
    """What the arm's quotas ask about."""
    return sorted({name for quota in arm.quotas for name in quota.where})


def explain_unfit(held: Cell, arm: Arm) -> str | None:
    """Why no quota of the arm asks for such a document; None where of each kind of quota one does."""
    for group in sorted({tuple(sorted(quota.where)) for quota in arm.quotas}):
        if not any(_is_in_quota(held, quota.where) for quota in arm.quotas if tuple(sorted(quota.where)) == group):
            return f"no quota asks for {_describe_values({name: held[name] for name in group})}"
    return None


def draw_sample(arm: Arm, seed: bytes, pool: Mapping[str, Cell], kept: Iterable[Cell]) -> dict[str, str | None]:
    """For each eligible candidate of ``pool`` None where it is drawn, else why not. ``kept``: what the arm holds before."""
    held = list(kept)
    rooms = [quota.documents - sum(_is_in_quota(each, quota.where) for each in held) for quota in arm.quotas]
    left = arm.documents - len(held)
    found: dict[str, str | None] = {}
    for document in sorted(pool, key=lambda name: canonical_json.rank_name(seed, f"draw/{arm.name}", name)):
        mine = [number for number, quota in enumerate(arm.quotas) if _is_in_quota(pool[document], quota.where)]
        full = next((number for number in mine if rooms[number] <= 0), None)
        if left <= 0:
            found[document] = FULL
        elif full is not None:
            found[document] = f"the quota {_describe_values(arm.quotas[full].where)} is full"
        else:
            found[document] = None
            left -= 1
            for number in mine:
                rooms[number] -= 1
    return found


def _is_in_quota(held: Cell, where: Mapping[str, str]) -> bool:
    return all(held.get(name) == value for name, value in where.items())


def _describe_values(values: Mapping[str, str | None]) -> str:
    return ", ".join(f"{name} {value if value is not None else 'unknown'}" for name, value in sorted(values.items()))
