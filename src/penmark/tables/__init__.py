"""Tables: what an edition found, as CSV (docs/format.md, 9). The same input gives the same bytes on any machine.

*Reads* an edition by way of ``scoring``. *Writes* nothing; whoever calls writes. *Never*: a float in a table, a rank,
a winner, a row dropped because it failed.
"""

from __future__ import annotations

from collections.abc import Mapping

from penmark.scoring import Scored, score
from penmark.study import Edition
from penmark.tables import agreement, documents, rates, readings, settings, table1, table2, units, warnings
from penmark.tables.tally import tally


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
    counted = tally(scored)
    made = {
        "agreement": agreement.table(scored),
        "departures": departures,
        "documents": documents.table(scored),
        "rates": rates.table(scored, counted, "k"),
        "rates_lenient": rates.table(scored, counted, "k_lenient"),
        "readings": readings.table(scored),
        "settings": settings.table(scored.protocol),
        "table1": table1.table(scored, counted),
        "table2": table2.table(scored, counted),
        "units": units.table(scored),
        "warnings": warnings.table(scored),
    }
    return {f"tables/{name}.csv": data for name, data in made.items() if data is not None}
