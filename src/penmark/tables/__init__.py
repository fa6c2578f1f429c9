"""Tables: what an edition found, as CSV (docs/format.md, 9). The same input gives the same bytes on any machine.

*Reads* an edition by way of ``scoring``. *Writes* nothing; whoever calls writes. *Never*: a float in a table, a rank,
a winner, a row dropped because it failed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from penmark.scoring import Scored, score
from penmark.study import Edition
from penmark.tables import agreement, documents, rates, readings, settings, table1, table2, units, warnings
from penmark.tables.tally import tally

T = TypeVar("T")
WORKERS = 2
"""Tables that are made at a time; the work is polars', which leaves Python to others."""


def make(
    edition: Edition, departures: bytes | None = None, *, boundaries: Mapping[str, str] | None = None
) -> dict[str, bytes]:
    """Every table by its path in the edition: ``tables/rates.csv`` …

    ``departures``: the bytes of departures.csv, which follow from protocol and cards; ``boundaries``: for a what-if.
    Raises as ``scoring.score``.
    """
    return of(score(edition, boundaries), departures)


def of(scored: Scored, departures: bytes | None = None) -> dict[str, bytes]:
    """As ``make``, of what is scored already."""
    return each(scored, departures, lambda path, data: data)


def each(scored: Scored, departures: bytes | None, see: Callable[[str, bytes], T]) -> dict[str, T]:
    """What ``see`` makes of each table, by its path; the tables themselves are let go."""
    counted = tally(scored)
    makers: dict[str, Callable[[], bytes | None]] = {
        "agreement": lambda: agreement.table(scored),
        "departures": lambda: departures,
        "documents": lambda: documents.table(scored),
        "rates": lambda: rates.table(scored, counted, "k"),
        "rates_lenient": lambda: rates.table(scored, counted, "k_lenient"),
        "readings": lambda: readings.table(scored),
        "settings": lambda: settings.table(scored.protocol),
        "table1": lambda: table1.table(scored, counted),
        "table2": lambda: table2.table(scored, counted),
        "units": lambda: units.table(scored),
        "warnings": lambda: warnings.table(scored),
    }

    def made(name: str) -> dict[str, T]:
        path, data = f"tables/{name}.csv", makers[name]()
        return {} if data is None else {path: see(path, data)}

    with ThreadPoolExecutor(WORKERS) as workers:
        return {path: seen for one in workers.map(made, makers) for path, seen in one.items()}
