"""warnings.csv: what a careful reader of the answers wants to know before trusting the numbers; absent where nothing is."""

from __future__ import annotations

from penmark import study
from penmark.stages.score import Scored, list_warnings

HEADER = ("rule", "detector", "arm", "message")


def make_warnings_table(scored: Scored) -> bytes | None:
    """The CSV, by rule; None where there is nothing to be warned of."""
    found = list_warnings(scored)
    return study.encode_csv(HEADER, found) if found else None
