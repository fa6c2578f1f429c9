"""The grid: which text is written by which model in which style about which topic, at which length.

*Reads* and *writes* nothing. *Never* chooses: every draw follows from the sealed seed, the protocol, the lenders and
their topic lines (docs/format.md, 1), so that anyone can repeat it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from penmark.errors import UsageError
from penmark.format import canonical_json
from penmark.records import Arm, Generation, Model, Style
from penmark.stages.generate.topic_lenders import Lender

KEYS = {"provider", "model", "style"}
"""What quotas of a generated arm may ask for."""
_WHOLE = 2**64


class Spot(NamedTuple):
    """One text to be made."""

    id: str
    model: Model
    style: Style


class Grid:
    """All spots of an arm, in the order of their ids, and whose topic each of them has."""

    def __init__(
        self, seed: bytes, arm: str, spots: list[Spot], lenders: list[Lender], topics: Mapping[str, str]
    ) -> None:
        self.spots, self.topics = spots, topics
        self._seed, self._arm, self._lenders = seed, arm, lenders
        self._first = _match_lenders(seed, arm, spots, lenders, topics)
        self._used = Counter(lender.id for lender in self._first.values())
        self._replacements = lru_cache(maxsize=256)(self._rank_substitutes)

    def lender(self, spot: str, turn: int) -> Lender | None:
        """Whose topic the ``turn``-th text (from 1) at a spot has; None where there are no more."""
        if turn == 1:
            return self._first[spot]
        others = self._replacements(spot)
        return others[turn - 2] if turn - 2 < len(others) else None

    def order(self, spot: str) -> bytes:
        """The sort key by which spots are asked for."""
        return canonical_json.rank_name(self._seed, f"write {self._arm}", spot)

    def digest(self) -> str:
        """SHA-256 of all that was drawn, first topics only."""
        drawn = [
            [s.id, s.model.provider, s.model.model, s.style.name, lender.id, self.topics[lender.id], lender.words]
            for s in self.spots
            if (lender := self._first[s.id])
        ]
        return canonical_json.sha256(canonical_json.encode_json(drawn))

    def _rank_substitutes(self, spot: str) -> list[Lender]:
        """Those who may stand in: of the same arm and register first, the least used first, then by the draw."""
        first = self._first[spot]
        purpose = f"replacements {self._arm}"

        def key(other: Lender) -> tuple[bool, int, bytes]:
            elsewhere = (other.arm, other.register) != (first.arm, first.register)
            return elsewhere, self._used[other.id], canonical_json.rank_name(self._seed, purpose, f"{spot} {other.id}")

        return sorted((other for other in self._lenders if other.id != first.id), key=key)


def draw_design(
    seed: bytes, arm: Arm, generation: Generation, lenders: list[Lender], topics: Mapping[str, str]
) -> Grid:
    """The grid of an arm. ``topics``: a topic line for each lender. Raises UsageError for quotas that make no grid."""
    cells = _count_cells(seed, arm, generation)
    width = max(3, len(str(arm.documents)))
    spots = [
        Spot(f"{arm.name}-{number:0{width}d}", model, style)
        for number, (model, style) in enumerate((cell for cell, count in cells for _ in range(count)), 1)
    ]
    return Grid(seed, arm.name, spots, lenders, topics)


# --- which model in which style ------------------------------------------------------------------------------------


def _count_cells(seed: bytes, arm: Arm, generation: Generation) -> list[tuple[tuple[Model, Style], int]]:
    cells = [(model, style) for model in generation.models for style in generation.styles]
    counts = [0] * len(cells)
    wheres = {frozenset(quota.where) for quota in arm.quotas}
    if len(wheres) > 1 or not frozenset().union(*wheres) <= KEYS:
        raise UsageError(
            f"the quotas of the arm {arm.name} make no grid of models and styles",
            remedy="Give one set of quotas by model and style, or none: then all of them get alike.",
        )
    asked = [(quota.where, quota.documents) for quota in arm.quotas] or [({}, arm.documents)]
    for where, documents in asked:
        inside = [number for number, cell in enumerate(cells) if where.items() <= _name_cell(*cell).items()]
        if not inside and documents:
            raise UsageError(
                f"no model and style of the arm {arm.name} is that of a quota: {where}",
                remedy="Name it under generation.models or generation.styles.",
            )
        purpose = f"cells {arm.name}"
        inside.sort(
            key=lambda number: canonical_json.rank_name(
                seed, purpose, canonical_json.encode_json(list(_name_cell(*cells[number]).values())).decode()
            )
        )
        for place, number in enumerate(inside):
            counts[number] += documents // len(inside) + (place < documents % len(inside))
    return list(zip(cells, counts, strict=True))


def _name_cell(model: Model, style: Style) -> dict[str, str]:
    return {"provider": model.provider, "model": model.model, "style": style.name}


# --- about which topic ---------------------------------------------------------------------------------------------


def _match_lenders(
    seed: bytes, arm: str, spots: list[Spot], lenders: list[Lender], topics: Mapping[str, str]
) -> dict[str, Lender]:
    """Every arm, register, topic and document is used in its share, one more or less; each cell gets a mix of them.

    Lenders stand in order of arm, register and topic; equal steps through them, from a start that is drawn, give as many
    as there are spots. The spots of each cell are spread evenly over the same line, each in its stretch by the draw.
    """
    lined = sorted(
        lenders,
        key=lambda each: (
            each.arm,
            each.register,
            topics[each.id],
            canonical_json.rank_name(seed, f"topics {arm}", each.id),
        ),
    )
    start = _draw_number(seed, f"topics {arm}", "")
    total = len(spots)
    taken = [lined[(k * _WHOLE + start) * len(lined) // (total * _WHOLE)] for k in range(total)]
    sizes = _count_cell_sizes(spots)
    seen: Counter[int] = Counter()
    spread: list[tuple[Fraction, str]] = []
    for spot, (cell, size) in zip(spots, sizes, strict=True):
        at = Fraction(seen[cell] * _WHOLE + _draw_number(seed, f"spots {arm}", spot.id), size * _WHOLE)
        seen[cell] += 1
        spread.append((at, spot.id))
    return {name: lender for (_, name), lender in zip(sorted(spread), taken, strict=True)}


def _count_cell_sizes(spots: list[Spot]) -> list[tuple[int, int]]:
    """For each spot the number of its cell (spots of a cell are neighbours), and how many spots the cell has."""
    cells: list[int] = []
    for number, spot in enumerate(spots):
        same = number > 0 and spot[1:] == spots[number - 1][1:]
        cells.append(cells[-1] if same else (cells[-1] + 1 if cells else 0))
    counts = Counter(cells)
    return [(cell, counts[cell]) for cell in cells]


def _draw_number(seed: bytes, purpose: str, name: str) -> int:
    """A draw from 0 to 2^64 - 1."""
    return int.from_bytes(canonical_json.rank_name(seed, purpose, name)[:8], "big")
