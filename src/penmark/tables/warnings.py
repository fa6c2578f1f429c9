"""warnings.csv: what a careful reader of the answers wants to know before trusting the numbers; absent where nothing is."""

from __future__ import annotations

from penmark import study
from penmark.scoring import Scored, warnings

HEADER = ("rule", "detector", "arm", "message")


def table(scored: Scored) -> bytes | None:
    """The CSV, by rule; None where there is nothing to be warned of."""
    found = warnings(scored)
    return study.csv_bytes(HEADER, found) if found else None
