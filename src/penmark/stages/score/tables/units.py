"""units.csv: where texts of one author, source or topic repeat, the interval on as many texts as they are worth."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal

from penmark import study
from penmark.stages.score import Scored, UnitRate, rate_units
from penmark.statistics.wilson import format_six

HEADER = (
    *("detector", "version", "arm", "unit", "documents", "n", "k", "units", "deff", "n_effective", "low", "high"),
    "reason",
)


def make_units_table(scored: Scored) -> bytes:
    """The CSV, by version, then arm; arms whose unit is the document have no rows."""
    return study.encode_csv(HEADER, (_make_row(rate) for rate in rate_units(scored)))


def _make_row(rate: UnitRate) -> list[str | int | None]:
    found, version = rate.effective, rate.version
    low, high = (
        ("", "") if found.interval is None else (format_six(found.interval.low), format_six(found.interval.high))
    )
    return [
        *(version.detector.name, version.version, rate.arm, rate.unit),
        *(rate.documents, rate.n, rate.k, found.units),
        *(_format_decimals(found.deff), _format_decimals(found.n), low, high, found.reason),
    ]


def _format_decimals(value: Decimal | None) -> str:
    return "" if value is None else f"{value.quantize(Decimal('0.000001'), rounding=ROUND_HALF_EVEN):f}"
