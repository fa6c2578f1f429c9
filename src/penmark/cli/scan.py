"""Ask every detector about every document, once.

Needs a sealed promise and a frozen corpus. Detectors get texts only, in the sealed order. Each question is on the disk
before it is asked, and each answer as soon as it is there, so that a scan which was stopped goes on where it was: run
the same command again. Before the promise, `--pilot` tries the detectors on practice texts; pilots are counted.

Vendors cost money: `--plan` says how much, and nothing is sent to them without `--budget`, which is never exceeded.
Their keys are read from the environment; `--check` shows what would be sent, without them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any

import typer

from penmark import cards, study
from penmark.cards import judge
from penmark.cli import preview
from penmark.cli.progress import Progress
from penmark.errors import Fault, PenmarkError, ServiceError, UsageError, suggest_name
from penmark.protocol import amendments
from penmark.records import Head, Pace
from penmark.stages.commit import make_seals
from penmark.stages.scan import budget, open_scan, scan_readiness
from penmark.stages.scan.run import Ended, Scan
from penmark.stages.scan.scan_readiness import ScanLimits
from penmark.study import Edition, Study, seal_files

NAMED = 5
"""So many documents in doubt are named; the journal has the others."""
ACCEPTED = "on {} the operator let stand what it answered without a result, texts in a row too (--accept-declined)"


def run(
    ctx: typer.Context,
    detector: Annotated[list[str] | None, typer.Option(help="Only this detector; may be repeated.")] = None,
    practise: Annotated[
        bool, typer.Option("--pilot", help="Read the practice texts instead of the documents.")
    ] = False,
    only_plan: Annotated[
        bool, typer.Option("--plan", help="Say what there is to ask, what it costs, how long it takes; ask nothing.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Say what stands in the way of asking, and show what would be sent.")
    ] = False,
    budget: Annotated[
        list[str] | None,
        typer.Option(metavar="[NAME=]AMOUNT", help="What a detector, or all together, may cost, over all scans."),
    ] = None,
    at_once: Annotated[
        list[str] | None, typer.Option(metavar="[NAME=]N", help="Requests to a vendor at once (8).")
    ] = None,
    pace: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=N/SECONDS", help="Another limit than its card's: N requests in so many seconds."),
    ] = None,
    accept_declined: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="What this detector answers without a result is final, in a row too; told as a deviation.",
        ),
    ] = None,
    shard: Annotated[str, typer.Option(metavar="i/W", help="Ask about the i-th of W parts of the documents.")] = "1/1",
    as_json: Annotated[bool, typer.Option("--json", help="Print events and results as JSON, one a line.")] = False,
) -> int:
    if practise + only_plan + check > 1:
        raise UsageError("--pilot, --plan and --check do not go together", remedy="Give one of them.")
    place = study.find_study(Path(ctx.obj))
    edition, wanted = place.edition(), detector or []
    if check:
        return preview.print_readiness(place, edition, wanted, as_json)
    budgets = dict(_parse_budget(each) for each in budget or [])
    if practise:
        return preview.print_pilot(place, edition, wanted, budgets, as_json)
    limits = _parse_limits(edition, at_once or [], pace or [])
    if only_plan:
        return preview.print_plan(place, edition, wanted, shard, limits, as_json)
    return _run_scan(place, edition, wanted, shard, budgets, limits, accept_declined or [], as_json)


# --- options -------------------------------------------------------------------------------------------------------


def _parse_budget(given: str) -> tuple[str, Decimal]:
    name, _, words = given.rpartition("=")
    try:
        amount = Decimal(words)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or amount < 0:
        raise UsageError(f"{given!r} is no budget", remedy="Write an amount, or NAME=AMOUNT: --budget gptzero=150000.")
    return name or budget.ALL, amount


def _parse_limits(edition: Edition, at_once: list[str], paces: list[str]) -> ScanLimits:
    """Raises UsageError for what is no limit, or of nobody."""
    known = [each.name for each in scan_readiness.load_promised_protocol(edition).detectors]
    connections: dict[str, int] = {}
    for given in at_once:
        name, _, words = given.rpartition("=")
        if not words.isdecimal() or not 1 <= int(words) <= 64:
            raise UsageError(f"{given!r} is no number of requests", remedy="Write 1 to 64, or NAME=1 to NAME=64.")
        connections |= dict.fromkeys([name] if name else known, int(words))
    given_paces: dict[str, Pace] = {}
    for given in paces:
        name, _, words = given.rpartition("=")
        requests, _, seconds = words.partition("/")
        if not (name and requests.isdecimal() and seconds.isdecimal() and int(requests) > 0 and int(seconds) > 0):
            raise UsageError(f"{given!r} is no pace", remedy="Write NAME=REQUESTS/SECONDS: --pace gptzero=60/60.")
        given_paces[name] = Pace(requests=int(requests), seconds=int(seconds))
    for name in (*connections, *given_paces):
        if name not in known:
            fact = f"there is no detector {name!r} in the promise{suggest_name(name, known)}"
            raise UsageError(fact, remedy=f"It has: {', '.join(sorted(known))}.")
    return ScanLimits(connections, given_paces)


# --- the scan ------------------------------------------------------------------------------------------------------


def _run_scan(
    place: Study,
    edition: Edition,
    wanted: list[str],
    shard: str,
    budgets: Mapping[str, Decimal],
    limits: ScanLimits,
    accepted: list[str],
    as_json: bool,
) -> int:
    trouble: PenmarkError | None = None
    with open_scan.begin_scan(place, edition, wanted, shard, budgets=budgets, limits=limits, accepted=accepted) as scan:
        if not scan.begun:
            print("nothing is left to ask", file=sys.stderr)
            ended = scan.run()
        else:
            _seal_heads(edition, scan, scan.heads)
            told = [(name, ACCEPTED.format(judge.get_time_now()[:10])) for name in accepted if scan.asks(name)]
            _write_deviations(place, edition, told)
            with Progress(scan, as_json) as progress:
                ended = scan.run(progress.tell)
            try:
                _seal_heads(edition, scan, scan.heads)
                _write_deviations(place, edition, [(each.detector, what) for each in ended for what in each.changes])
            except PenmarkError as error:  # what became of the documents is told all the same
                trouble = error
    for each in ended:
        _print_ended(each, as_json)
        for miss in each.misses:
            print(f"warning: {Fault(each.detector, miss.message, cards.REMEDY)}", file=sys.stderr)
    if trouble is not None:
        raise trouble
    failed = any(each.tally.failed or isinstance(each.tally.error, ServiceError) for each in ended)
    left = any(each.counts["to_ask"] or each.tally.error is not None for each in ended)
    for each in ended:
        if each.stopped is not None and each.counts["to_ask"]:
            fact = f"{each.detector}: {each.stopped}; what is left stays not run"
            print(f"{fact}. See `penmark status` for what is next.", file=sys.stderr)
    if any(e.stopped is None and (e.counts["to_ask"] or e.tally.error is not None) for e in ended):
        print("Run the same command again to go on.", file=sys.stderr)
    return 3 if failed else 1 if left else 0


def _seal_heads(edition: Edition, scan: Scan, heads: Mapping[str, Head]) -> None:
    """Seal how the journals stand, unless a seal says so already: nobody can say later that they stood otherwise."""
    promised = scan.plan.ground.protocol
    with open_scan.lock_briefly(edition, scan.plan.shard):
        known: dict[str, Head] = {}
        for name in make_seals.list_seal_order(edition):
            known |= seal_files.read_seal(edition, name).journals
        if all(known.get(path) == head for path, head in heads.items()):
            return
        sealed = make_seals.make_seal(
            edition,
            "heads",
            promised.study,
            [],
            journals=heads,
            authorities=promised.authorities,
            now=judge.get_time_now(),
        )
    for warning in sealed.warnings:
        print(f"warning: {warning}", file=sys.stderr)


def _write_deviations(place: Study, edition: Edition, told: list[tuple[str, str]]) -> None:
    """Write down what went otherwise, detector and sentence, unless it is written down already."""
    known = {(each.detector, each.what) for each in amendments.read_deviations(edition)}
    new = [each for each in told if each not in known]
    for name, what in new:
        amendments.add_deviation(edition, what, name, now=judge.get_time_now())
        print(f"deviation: {name}: {what}", file=sys.stderr)
    if new:
        study.write_bytes(place.changes, amendments.render_changes(place.editions()).encode())


def _print_ended(each: Ended, as_json: bool) -> None:
    error, account = each.tally.error, each.account
    if as_json:
        value: dict[str, Any] = {"event": "ended", "detector": each.detector, **each.counts, "why": each.tally.ended}
        value |= {"in_doubt": each.in_doubt, "error": None if error is None else str(error)}
        value["misses"] = [miss._asdict() for miss in each.misses]
        if account is not None:
            value["cost"] = {"sure": f"{account.sure:f}", "most": f"{account.due:f}", "currency": account.currency}
        print(json.dumps(value, ensure_ascii=False), flush=True)
        return
    counts = dict(each.counts)
    documents, left = counts.pop("documents"), counts.pop("to_ask")
    states = ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in counts.items() if count)
    print(f"{each.detector}: {documents} documents: {states or 'none answered'}" + (f", {left} left" if left else ""))
    if each.tally.ended != "done":
        print(f"  ended: {each.tally.ended}")
    if each.tally.recovered:
        print(f"  {each.tally.recovered} answers were on disk when the scan before was cut off; they are kept")
    if each.in_doubt:
        more = f" and {len(each.in_doubt) - NAMED} more" if len(each.in_doubt) > NAMED else ""
        print(f"  in doubt (sent, no answer on record, not asked again): {', '.join(each.in_doubt[:NAMED])}{more}")
    if account is not None:
        print(f"  {budget.describe_spend(account)}")
    if error is not None:
        print(f"  {error}")
