"""What a scan would do, and what practice texts get. Not a verb; `penmark scan --plan`, `--check` and `--pilot` print with it."""

from __future__ import annotations

import dataclasses
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from penmark.corpus import sealed_edition
from penmark.plugins import Shown
from penmark.stages.scan import budget, forecast, pilot, plan, scan_readiness
from penmark.stages.scan.forecast import Foresight
from penmark.stages.scan.scan_readiness import ScanLimits
from penmark.study import Edition, Study


def print_pilot(
    place: Study, edition: Edition, wanted: list[str], budgets: Mapping[str, Decimal], as_json: bool
) -> int:
    """Run a pilot and print it."""
    said = pilot.run_pilot(place, edition, wanted, budgets=budgets)
    for each in said:
        if as_json:
            print(json.dumps({"event": "practised", **each._asdict()}, ensure_ascii=False))
        else:
            amiss = "" if each.miss is None else f" (it {each.miss})"
            print(f"{each.detector}  {each.text}: {each.displayed if each.reason is None else each.reason}{amiss}")
    if not as_json:
        if any(each.miss is not None for each in said):
            print(
                "Where a card makes nothing of an answer, correct it before `penmark commit`; after that, for the next edition."
            )
        print(f"{len(said)} practice readings, journaled in {edition.tag}/pilot. They belong to no arm and to no rate.")
    return 3 if any(each.state == "failed" for each in said) else 0


# --- the plan ------------------------------------------------------------------------------------------------------


def print_plan(place: Study, edition: Edition, wanted: list[str], shard: str, limits: ScanLimits, as_json: bool) -> int:
    """Print what there is to ask, what it will cost, and how long it will take."""
    ground = sealed_edition.open_sealed_edition(edition, verb="scan")
    made = plan.make_plan(place, ground, plan.choose_detectors(ground.protocol, ground.cards, wanted), shard)
    taken = pilot.average_paces(edition)
    found = [forecast.forecast_detector(made, part, limits, taken.get(name)) for name, part in made.parts.items()]
    for each in found:
        if as_json:
            print(json.dumps(_make_foresight_value(each), ensure_ascii=False))
        else:
            _print_plan(each)
    if not as_json:
        _print_costs(found)
    return 0


def _make_foresight_value(each: Foresight) -> dict[str, Any]:
    value = dataclasses.asdict(each)
    value |= value.pop("counts")
    price, seconds = each.price, value.pop("seconds")
    value["price"] = None if price is None else _format_amount(price)
    value["expected_seconds"] = None if seconds is None else round(seconds)
    return value


def _print_plan(each: Foresight) -> None:
    expected = "" if each.seconds is None else f" (about {_format_duration(each.seconds)}, {each.because})"
    print(f"{each.detector}: {each.counts['to_ask']} of {each.counts['documents']} documents to ask about{expected}")
    for reason, count in each.skips.items():
        print(f"  {count} not scannable: {reason}")
    if each.stopped is not None:
        print(f"  not asked any more: {each.stopped}")
    if each.price is not None:
        canaries = f", {each.canaries} canary texts among them" if each.canaries else ""
        how = "each text rounded as the vendor does it" if each.known else "its card tells no price"
        print(f"  costs {_format_amount(each.price)} {each.currency} ({how}{canaries}), and what is asked again")
    for variable, there in each.variables.items():
        print(f"  key in {variable}: {'set' if there else 'NOT SET'}")


def _print_costs(found: Iterable[Foresight]) -> None:
    sums: defaultdict[str, Decimal] = defaultdict(Decimal)
    options = []
    for each in found:
        if each.price is not None and each.currency is not None and each.price > 0:
            sums[budget.name_unit(each.detector, each.currency)] += each.price
            options.append(f"--budget {each.detector}={_format_amount(each.price)}")
    if options:
        print(
            "in all: " + ", ".join(f"{_format_amount(amount)} {currency}" for currency, amount in sorted(sums.items()))
        )
        print(f"To allow just that: penmark scan {' '.join(options)}")


def _format_amount(amount: Decimal) -> str:
    return f"{amount.normalize():f}"


def _format_duration(seconds: float) -> str:
    """As people say it."""
    if seconds < 120:
        return f"{round(seconds)} s"
    return f"{round(seconds / 60)} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


# --- the check -----------------------------------------------------------------------------------------------------


def print_readiness(place: Study, edition: Edition, wanted: list[str], as_json: bool) -> int:
    """Print the facts of each detector, what stands in the way of asking it, and what a vendor would be sent."""
    promised = scan_readiness.load_promised_protocol(edition)
    names = plan.check_named(promised, wanted) or sorted(each.name for each in promised.detectors)
    found = [scan_readiness.check_detector_ready(place, edition, promised.detector(name)) for name in names]
    for each in found:
        if as_json:
            trouble = [fault._asdict() for fault in each.trouble]
            value = {
                **vars(each),
                "trouble": trouble,
                "requests": [_make_request_value(shown) for shown in each.requests],
            }
            print(json.dumps(value, ensure_ascii=False))
            continue
        facts = [f"version {each.version}" if each.version else None, f"AI: {each.rule}" if each.rule else None]
        facts.append(each.plugin if each.plugin is not None else "asked over HTTP" if each.requests else None)
        asked = "; ".join(fact for fact in facts if fact) or "not known"
        people = "" if each.plugin is not None or each.requests or each.trouble else "; asked by people"
        print(f"{'FAULT' if each.trouble else 'ok':<5} {each.detector}  {asked}{people}")
        for fault in each.trouble:
            print(f"      {fault}")
        for shown in each.requests:
            _print_request(shown)
    return 1 if any(each.trouble for each in found) else 0


def _make_request_value(shown: Shown) -> dict[str, Any]:
    body = None if shown.body is None else shown.body.decode()
    return {"step": shown.step, "method": shown.method, "url": shown.url, "headers": shown.headers, "body": body}


def _print_request(shown: Shown) -> None:
    print(f"      {shown.step:<7}{shown.method} {shown.url}")
    for name, value in shown.headers.items():
        print(f"             {name}: {value}")
    if shown.body is not None:
        print(f"             {shown.body.decode()}")
