"""units.csv: where texts of one author, source or topic repeat, the interval on as many texts as they are worth."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal

from penmark import study
from penmark.intervals import six
from penmark.scoring import Scored, UnitRate, units

HEADER = (
    *("detector", "version", "arm", "unit", "documents", "n", "k", "units", "deff", "n_effective", "low", "high"),
    "reason",
)


def table(scored: Scored) -> bytes:
    """The CSV, by version, then arm; arms whose unit is the document have no rows."""
    return study.csv_bytes(HEADER, (_row(rate) for rate in units(scored)))


def _row(rate: UnitRate) -> list[str | int | None]:
    found, version = rate.effective, rate.version
    low, high = ("", "") if found.interval is None else (six(found.interval.low), six(found.interval.high))
    return [
        *(version.detector.name, version.version, rate.arm, rate.unit),
        *(rate.documents, rate.n, rate.k, found.units),
        *(_decimals(found.deff), _decimals(found.n), low, high, found.reason),
    ]


def _decimals(value: Decimal | None) -> str:
    return "" if value is None else f"{value.quantize(Decimal('0.000001'), rounding=ROUND_HALF_EVEN):f}"
