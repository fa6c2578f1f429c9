"""Blind numbers: what a document is called where people read screens. Its number is its place in the sealed scan order.

*Reads* the secret seed and the frozen documents. *Writes* nothing. *Never* tells more of a document than a number does.
"""

from __future__ import annotations

import re

from penmark.corpus import sealed_edition
from penmark.corpus.sealed_edition import Documents, SealedEdition
from penmark.errors import PenmarkError
from penmark.format import canonical_json
from penmark.study import Study

_NUMBER = re.compile(r"0*([1-9][0-9]{0,8})")


class Numbers:
    """Numbers from 1 and positions in the manifest, each by the other. ``order``: positions in the sealed order."""

    def __init__(self, place: Study, ground: SealedEdition, documents: Documents) -> None:
        seed = sealed_edition.read_seed(place, ground.protocol)
        ranks = [canonical_json.rank_name(seed, "scan", name) for name in documents.ids]
        self.order = sorted(range(len(documents)), key=ranks.__getitem__)
        self._width = max(4, len(str(len(self.order))))

    def shown(self, number: int) -> str:
        """The number as work sheets have it: 0012."""
        return f"{number:0{self._width}d}"

    def read(self, given: str) -> str:
        """``given`` as work sheets have it, however many zeros a spreadsheet left. Raises PenmarkError where it is no number."""
        found = _NUMBER.fullmatch(given.strip())
        if found is None or int(found[1]) > len(self.order):
            raise PenmarkError(
                f"{given[:40]!r} is no number of this study",
                remedy=f"Work sheets have numbers from {self.shown(1)} to {self.shown(len(self.order))}.",
            )
        return self.shown(int(found[1]))

    def position(self, given: str) -> int:
        """The document of that number. Raises PenmarkError where it is no number."""
        return self.order[int(self.read(given)) - 1]
