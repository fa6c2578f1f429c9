"""Tables: what an edition found, as CSV (docs/format.md, 9). The same input gives the same bytes on any machine.

*Reads* an edition by way of ``scoring``. *Writes* nothing; whoever calls writes. *Never*: a float in a table, a rank,
a winner, a row dropped because it failed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from penmark.stages.score import Scored, score_edition
from penmark.stages.score.tables import agreement, documents, rates, readings, settings, table1, table2, units, warnings
from penmark.stages.score.tables.tally import count_pairs
from penmark.study import Edition

T = TypeVar("T")
WORKERS = 2
"""Tables that are made at a time; the work is polars', which leaves Python to others."""


def make_tables(
    edition: Edition, departures: bytes | None = None, *, boundaries: Mapping[str, str] | None = None
) -> dict[str, bytes]:
    """Every table by its path in the edition: ``tables/rates.csv`` …

    ``departures``: the bytes of departures.csv, which follow from protocol and cards; ``boundaries``: for a what-if.
    Raises as ``scoring.score``.
    """
    return compute_tables(score_edition(edition, boundaries), departures)


def compute_tables(scored: Scored, departures: bytes | None = None) -> dict[str, bytes]:
    """As ``make_tables``, of what is scored already."""
    return map_tables(scored, departures, lambda path, data: data)


def map_tables(scored: Scored, departures: bytes | None, see: Callable[[str, bytes], T]) -> dict[str, T]:
    """What ``see`` makes of each table, by its path; the tables themselves are let go."""
    counted = count_pairs(scored)
    makers: dict[str, Callable[[], bytes | None]] = {
        "agreement": lambda: agreement.make_agreement_table(scored),
        "departures": lambda: departures,
        "documents": lambda: documents.make_documents_table(scored),
        "rates": lambda: rates.make_rates_table(scored, counted, "k"),
        "rates_lenient": lambda: rates.make_rates_table(scored, counted, "k_lenient"),
        "readings": lambda: readings.make_readings_table(scored),
        "settings": lambda: settings.make_settings_table(scored.protocol),
        "table1": lambda: table1.make_table1(scored, counted),
        "table2": lambda: table2.make_table2(scored, counted),
        "units": lambda: units.make_units_table(scored),
        "warnings": lambda: warnings.make_warnings_table(scored),
    }

    def made(name: str) -> dict[str, T]:
        path, data = f"tables/{name}.csv", makers[name]()
        return {} if data is None else {path: see(path, data)}

    with ThreadPoolExecutor(WORKERS) as workers:
        return {path: seen for one in workers.map(made, makers) for path, seen in one.items()}
