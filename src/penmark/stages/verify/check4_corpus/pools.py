"""Check 4, pools: arms that were drawn hold what the seed and the quotas draw from the sealed pool, and nothing else.

*Reads* pool.jsonl, and the documents of the manifest as they go by. *Never* judges who was let into a pool: that is a
choice, and is told.
"""

from __future__ import annotations

from typing import Any

from penmark import study
from penmark.corpus import draw
from penmark.errors import PenmarkError
from penmark.records import Arm, Document, Protocol
from penmark.stages.verify.check_findings import Findings

_KEYS = {"address", "arm", "cell", "document", "drawn", "eligible", "reason"}
_PLACE = "pool.jsonl"
_REMEDY = "The arm does not hold what the sealed seed draws. Ask the publisher for the frozen pool."


class Pools:
    """The pools of an edition; empty where no arm was drawn."""

    def __init__(self, edition: study.Edition, promised: Protocol, found: Findings) -> None:
        self._arms = {arm.name: arm for arm in promised.arms}
        self._lines: dict[str, dict[str, dict[str, Any]]] = {}
        self._here: dict[str, dict[str, tuple[str, draw.Cell, bool]]] = {}
        order = {name: at for at, name in enumerate(self._arms)}
        last: tuple[int, str] = (-1, "")
        number = 0
        try:
            for number, line in study.read_json_lines(edition.pool) if edition.pool.exists() else ():
                if not _is_candidate(line, self._arms) or (order[line["arm"]], line["document"]) <= last:
                    expected = "one candidate a line, sorted by arm and document"
                    found.failed(
                        f"{_PLACE}:{number}", "is no candidate, or stands here out of order", expected, _REMEDY
                    )
                    continue
                last = (order[line["arm"]], line["document"])
                self._lines.setdefault(line["arm"], {})[line["document"]] = line
            if edition.pool.exists() and number == 0:
                found.failed(_PLACE, "is empty", "no file where no arm was drawn", _REMEDY)
        except PenmarkError as error:
            found.error(error)

    def see(self, document: Document) -> None:
        """Take note of a document of an arm that was drawn."""
        if document.arm in self._lines:
            cell = draw.list_quota_values(document, self._arms[document.arm])
            self._here.setdefault(document.arm, {})[document.id] = (document.address, cell, bool(document.exposures))

    def replay(self, seed: bytes | None, found: Findings) -> None:
        """Draw again, and compare."""
        for name, lines in self._lines.items():
            here = self._here.get(name, {})
            for document in sorted(here.keys() - lines.keys()):
                if not here[document][2]:
                    got, expected = (
                        f"{document} is in the arm {name} and not in its pool",
                        "candidates, or texts that persist",
                    )
                    found.failed(_PLACE, got, expected, _REMEDY)
            self._check_candidates(name, lines, here, found)
            if seed is not None:
                self._check_draw(self._arms[name], seed, lines, here, found)

    def _check_candidates(
        self, name: str, lines: dict[str, dict[str, Any]], here: dict[str, tuple[str, draw.Cell, bool]], found: Findings
    ) -> None:
        for document, line in lines.items():
            place = f"{_PLACE}, {document}"
            found.equal(f"{place} (drawn)", line["drawn"], document in here, _REMEDY)
            if document in here:
                address, cell, _ = here[document]
                found.equal(f"{place} (cell)", line["cell"], cell, _REMEDY)
                if line["address"] is not None:
                    found.equal(f"{place} (address)", line["address"], address, _REMEDY)
            if line["eligible"] and draw.explain_unfit(line["cell"], self._arms[name]) is not None:
                found.failed(place, "is eligible", "not eligible: no quota asks for it", _REMEDY)
            if not line["eligible"] and (line["drawn"] or line["reason"] is None):
                found.failed(place, "is not eligible, and drawn or without a reason", "a reason", _REMEDY)

    def _check_draw(
        self,
        arm: Arm,
        seed: bytes,
        lines: dict[str, dict[str, Any]],
        here: dict[str, tuple[str, draw.Cell, bool]],
        found: Findings,
    ) -> None:
        eligible = {name: line["cell"] for name, line in lines.items() if line["eligible"]}
        kept = [cell for name, (_, cell, _) in here.items() if name not in lines]
        for document, reason in draw.draw_sample(arm, seed, eligible, kept).items():
            line = lines[document]
            got = (line["drawn"], line["reason"])
            found.equal(f"{_PLACE}, {document} (drawn, why not)", got, (reason is None, reason), _REMEDY)


def _is_candidate(line: dict[str, Any], arms: dict[str, Arm]) -> bool:
    """Whether a line is one of a candidate."""
    if set(line) != _KEYS or line["arm"] not in arms or not isinstance(line["document"], str):
        return False
    cell = line["cell"]
    values = (*cell.values(), line["reason"], line["address"]) if isinstance(cell, dict) else (1,)
    kinds = all(value is None or isinstance(value, str) for value in values)
    return (
        kinds
        and sorted(cell) == draw.list_quota_names(arms[line["arm"]])
        and {line["drawn"], line["eligible"]} <= {True, False}
    )
