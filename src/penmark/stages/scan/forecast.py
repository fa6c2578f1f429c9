"""What a scan will cost, and how long it will take, as far as that is known before the first question.

*Reads* the plan, the limits and the pilots. *Writes* nothing. *Never* asks anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from penmark.records import Card, Pace
from penmark.stages.scan import canary, open_scan, scan_readiness
from penmark.stages.scan.plan import Part, Plan
from penmark.stages.scan.rate_limit import RateLimit as Pacing
from penmark.stages.scan.scan_readiness import CONNECTIONS, ScanLimits


@dataclass(frozen=True)
class Foresight:
    """One detector. ``price``: of all that is left, the canary too, rounded per text as the vendor does it; None where it
    costs nothing; ``known``: whether the card tells the price (else it is a number of texts). ``seconds``: the expected
    time; ``because``: what it hangs on. ``variables``: of its keys, and whether they are set."""

    detector: str
    counts: dict[str, int]
    skips: dict[str, int]
    stopped: str | None
    price: Decimal | None
    currency: str | None
    known: bool
    canaries: int
    seconds: float | None
    because: str | None
    variables: dict[str, bool]


def forecast_detector(made: Plan, part: Part, limits: ScanLimits, taken: float | None) -> Foresight:
    """What lies ahead for a detector. ``taken``: seconds for a text in the pilots, where there was one."""
    name, card = part.detector.name, part.sealed.card
    counts = made.counts(part)
    canaries = canary.TIMES if card.ask.by == "http" and counts["to_ask"] else 0
    seconds, because = _estimate_time(counts["to_ask"] + canaries, limits, name, card, taken)
    missing = scan_readiness.list_absent_keys(card)
    keys = {} if card.ask.request is None else card.ask.request.keys
    return Foresight(
        name,
        counts,
        made.reasons(part),
        made.stopped(part),
        None if part.tariff is None else open_scan.compute_scan_cost(made, part),
        None if part.tariff is None else part.tariff.currency,
        card.ask.request is not None and card.ask.request.price is not None,
        canaries,
        seconds,
        because,
        {key.env: key.env not in missing for key in keys.values()},
    )


def _estimate_time(
    texts: int, limits: ScanLimits, name: str, card: Card, taken: float | None
) -> tuple[float, str] | tuple[None, None]:
    """The longer of what the vendor's limit and what the pilot say."""
    ways: list[tuple[float, str]] = []
    if (pace := limits.pace(name, card)) is not None and (rate := Pacing(pace).rate) is not None:
        ways.append((texts * _count_requests(card) / rate, _describe_limit(pace)))
    if taken is not None:
        connections = limits.connections.get(name, CONNECTIONS) if card.ask.by == "http" else 1
        ways.append((texts * taken / connections, "by the pilot"))
    return max(ways, default=(None, None))


def _count_requests(card: Card) -> int:
    """How many requests a text takes at least."""
    request = card.ask.request
    return 1 if request is None else 1 + (request.upload is not None) + (request.poll is not None)


def _describe_limit(pace: Pace) -> str:
    return f"by its limit of {pace.requests} requests in {pace.seconds} s"
