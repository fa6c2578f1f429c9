"""Check 4, parents: a text that was made of another text of the study was made of that very text, and has its truth.

*Reads* one document at a time. *Never* says how a text was made, or what a parent is that is not in the manifest.
"""

from __future__ import annotations

import bisect
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from penmark.records import Document, Protocol
from penmark.stages.verify.check_findings import Findings

TOLD = "contradictory-provenance"
"""The rule under which screening tells of a parent that is not the text whose digest is recorded."""
_FROZEN = "What it was made of decides what it is. Ask the publisher for the frozen corpus."


class _Child(NamedTuple):
    name: str
    arm: str
    parent: str
    sha256: str | None


class Parents:
    """The documents of kind ``transformed``, and where each arm begins: manifests are sorted by arm."""

    def __init__(self, promised: Protocol, found: Findings) -> None:
        self._truths = {arm.name: arm.truth for arm in promised.arms}
        self._found = found
        self._children: list[_Child] = []
        self._begins: list[int] = []
        self._arms: list[str] = []
        self._seen = 0

    def see(self, document: Document) -> None:
        """Take the next document."""
        if not self._arms or self._arms[-1] != document.arm:
            self._begins.append(self._seen)
            self._arms.append(document.arm)
        self._seen += 1
        own = document.provenance
        if own.kind == "transformed":
            self._children.append(_Child(document.id, document.arm, own.parent, own.parent_sha256))

    def hold(
        self,
        ids: Mapping[str, int],
        addresses: Sequence[str],
        attested: Sequence[int],
        told: Collection[tuple[str, str]],
    ) -> None:
        """Hold each against its parent, where that is in the manifest: ``ids`` are positions in ``addresses`` and
        ``attested``. ``told``: rule and document of each finding of screening."""
        for child in self._children:
            place = f"manifest.jsonl, {child.name}"
            if (at := ids.get(child.parent)) is None:
                continue
            if child.parent == child.name:
                self._found.failed(place, "was made of itself", "another text as parent", _FROZEN)
            of = self._arms[bisect.bisect_right(self._begins, at) - 1] if at < self._seen else child.arm
            if self._truths[child.arm] == "ai" and self._truths[of] != "ai":
                got = f"was made of {child.parent}, of truth {self._truths[of]}"
                self._found.failed(place, got, f"a parent of truth ai, as the arm {child.arm} says", _FROZEN)
            digests = child.sha256, addresses[at]
            if child.sha256 is not None and not attested[at] and (TOLD, child.name) not in told:
                self._found.equal(f"{place} (digest of {child.parent})", *digests, _FROZEN)
