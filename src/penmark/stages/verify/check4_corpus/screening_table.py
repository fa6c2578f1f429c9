"""Check 4, findings: screening.csv is the one form of a table, and what it tells is about arms and documents that are here.

*Reads* screening.csv. *Never* says whether what was found is so, or all of it was told: that rests on the corpus seal.
"""

from __future__ import annotations

import bisect
import csv
import io
from dataclasses import dataclass, field
from itertools import accumulate

from penmark import study
from penmark.errors import PenmarkError
from penmark.records import Protocol
from penmark.stages.verify.check_findings import Findings as Found

_FROZEN = "The corpus was changed after the freeze. Ask the publisher for the frozen one."
_WITHDRAWN = "withdrawn"
"""The rule under which texts are named that were taken back before the freeze, and so are in no manifest."""


@dataclass(frozen=True)
class TableFindings:
    """``rules``: rule and document of each finding. ``about``: cells of arm (None where the table has no such column) and
    document, with the number of the first such row in the file; without documents that were taken back before."""

    rules: set[tuple[str, str]] = field(default_factory=set)
    about: dict[tuple[str | None, str], int] = field(default_factory=dict)


def read_screening_table(edition: study.Edition, found: Found) -> TableFindings:
    """Every finding; none where the table cannot be read."""
    told = TableFindings()
    try:
        data = study.read_bytes(edition.screening)
        rows = csv.reader(io.StringIO(data.decode("utf-8"), newline=""), strict=True)
        header = next(rows, [])
        rule, document = header.index("rule"), header.index("document")
        arm = header.index("arm") if "arm" in header else None
        held = list(rows)
        if len(set(header)) < len(header):
            raise ValueError("a column stands twice")
        if any(len(row) != len(header) for row in held):
            raise ValueError("a row has more or fewer cells than the header")
        if study.encode_csv(header, held) != data:
            found.failed(
                "screening.csv", "is written otherwise", "the one form of a table (docs/format.md, 1)", _FROZEN
            )
    except PenmarkError as error:
        found.error(error)
        return told
    except (csv.Error, ValueError, IndexError) as error:
        found.failed("screening.csv", f"is no table of findings ({error})", "rule, document, …", _FROZEN)
        return told
    for number, row in enumerate(held, 2):
        name = row[document]
        told.rules.update([(row[rule], name), (row[rule], study.unescape_cell(name))])
        of = None if arm is None else row[arm]
        told.about.setdefault((of, "" if row[rule] == _WITHDRAWN else name), number)
    return told


def check_finding_subjects(told: TableFindings, promised: Protocol, ids: dict[str, int], found: Found) -> None:
    """Hold what the findings are about against the promise and ``ids``: positions in the manifest, by document."""
    arms = {arm.name for arm in promised.arms}
    ends = list(accumulate(arm.documents for arm in promised.arms))
    names = [arm.name for arm in promised.arms] if ends and ends[-1] == len(ids) else []
    for (arm, cell), row in told.about.items():
        place, document = f"screening.csv:{row}", study.unescape_cell(cell)
        at = ids.get(document, ids.get(cell))
        if arm not in (None, "") and arm not in arms:
            found.failed(place, f"a finding about the arm {arm}", "an arm of the protocol, or none", _FROZEN)
        elif document != "" and at is None:
            found.failed(place, f"a finding about {document}", "a document of the manifest, or none", _FROZEN)
        elif at is not None and arm is not None and names:
            own = names[bisect.bisect_right(ends, at)]
            found.equal(place, f"a finding about {document} of {arm}", f"a finding about {document} of {own}", _FROZEN)
