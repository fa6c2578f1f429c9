"""Ask every detector about every document, once.

Needs a sealed promise and a frozen corpus. Detectors get texts only, in the sealed order. Each question is on the disk
before it is asked, and each answer as soon as it is there, so that a scan which was stopped goes on where it was: run
the same command again. Before the promise, `--pilot` tries the detectors on practice texts; pilots are counted.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from penmark import amendments, frozen, reading, sealing, study
from penmark.cli.progress import Progress
from penmark.errors import ServiceError, UsageError
from penmark.records import Head
from penmark.scan import opening, pilot, plan, ready
from penmark.scan.plan import Plan
from penmark.scan.run import Ended, Scan
from penmark.study import Edition, Study

NAMED = 5
"""So many documents in doubt are named; the journal has the others."""


def run(
    ctx: typer.Context,
    detector: Annotated[list[str] | None, typer.Option(help="Only this detector; may be repeated.")] = None,
    practise: Annotated[
        bool, typer.Option("--pilot", help="Read the practice texts instead of the documents.")
    ] = False,
    only_plan: Annotated[bool, typer.Option("--plan", help="Say what there is to ask, and ask nothing.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Say what stands in the way of asking each detector.")] = False,
    shard: Annotated[str, typer.Option(metavar="i/W", help="Ask about the i-th of W parts of the documents.")] = "1/1",
    as_json: Annotated[bool, typer.Option("--json", help="Print events and results as JSON, one a line.")] = False,
) -> int:
    if practise + only_plan + check > 1:
        raise UsageError("--pilot, --plan and --check do not go together", remedy="Give one of them.")
    place = study.find(Path(ctx.obj))
    edition, wanted = place.edition(), detector or []
    if practise:
        return _pilot(place, edition, wanted, as_json)
    if only_plan:
        return _plan(place, edition, wanted, shard, as_json)
    if check:
        return _check(place, edition, wanted, as_json)
    return _scan(place, edition, wanted, shard, as_json)


# --- the scan ------------------------------------------------------------------------------------------------------


def _scan(place: Study, edition: Edition, wanted: list[str], shard: str, as_json: bool) -> int:
    with opening.opened(place, edition, wanted, shard) as scan:
        if not scan.begun:
            print("nothing is left to ask", file=sys.stderr)
            ended = scan.run()
        else:
            _seal_heads(edition, scan, scan.heads)
            with Progress(scan.plan, as_json) as progress:
                ended = scan.run(progress.tell)
            _seal_heads(edition, scan, scan.heads)
        _deviations(place, edition, ended)
    for each in ended:
        _told(each, as_json)
    failed = any(each.tally.failed or isinstance(each.tally.error, ServiceError) for each in ended)
    left = any(each.counts["to_ask"] or each.tally.error is not None for each in ended)
    if left:
        print("Run the same command again to go on.", file=sys.stderr)
    return 3 if failed else 1 if left else 0


def _seal_heads(edition: Edition, scan: Scan, heads: Mapping[str, Head]) -> None:
    """Seal how the journals stand, unless a seal says so already: nobody can say later that they stood otherwise."""
    promised = scan.plan.ground.protocol
    with opening.briefly(edition, scan.plan.shard):
        known: dict[str, Head] = {}
        for name in sealing.order(edition):
            known |= sealing.read(edition, name).journals
        if all(known.get(path) == head for path, head in heads.items()):
            return
        sealed = sealing.seal(
            edition,
            "heads",
            promised.study,
            [],
            journals=heads,
            authorities=promised.authorities,
            now=reading.now(),
        )
    for warning in sealed.warnings:
        print(f"warning: {warning}", file=sys.stderr)


def _deviations(place: Study, edition: Edition, ended: list[Ended]) -> None:
    known = {(each.detector, each.what) for each in amendments.deviations(edition)}
    new = [(each.detector, what) for each in ended for what in each.changes if (each.detector, what) not in known]
    for name, what in new:
        amendments.deviation(edition, what, name, now=reading.now())
        print(f"deviation: {name}: {what}", file=sys.stderr)
    if new:
        study.write(place.changes, amendments.changes(place.editions()).encode())


def _told(each: Ended, as_json: bool) -> None:
    error = each.tally.error
    if as_json:
        value: dict[str, Any] = {"event": "ended", "detector": each.detector, **each.counts, "why": each.tally.ended}
        value |= {"in_doubt": each.in_doubt, "error": None if error is None else str(error)}
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
    if error is not None:
        print(f"  {error}")


# --- without asking about documents --------------------------------------------------------------------------------


def _pilot(place: Study, edition: Edition, wanted: list[str], as_json: bool) -> int:
    said = pilot.run(place, edition, wanted)
    for each in said:
        if as_json:
            print(json.dumps({"event": "practised", **each._asdict()}, ensure_ascii=False))
        else:
            print(f"{each.detector}  {each.text}: {each.displayed if each.reason is None else each.reason}")
    if not as_json:
        print(f"{len(said)} practice readings, journaled in {edition.tag}/pilot. They belong to no arm and to no rate.")
    return 3 if any(each.state == "failed" for each in said) else 0


def _plan(place: Study, edition: Edition, wanted: list[str], shard: str, as_json: bool) -> int:
    ground = frozen.ground(edition, verb="scan")
    made: Plan = plan.make(place, ground, plan.chosen(ground.protocol, ground.cards, wanted), shard)
    paces = pilot.paces(edition)
    for name, part in made.parts.items():
        counts, pace = made.counts(part), paces.get(name)
        seconds = None if pace is None else round(counts["to_ask"] * pace)
        if as_json:
            print(json.dumps({"detector": name, **counts, "expected_seconds": seconds, "skips": made.reasons(part)}))
            continue
        expected = "" if seconds is None else f" (about {seconds} s, by the pilot)"
        print(f"{name}: {counts['to_ask']} of {counts['documents']} documents to ask about{expected}")
        for reason, count in made.reasons(part).items():
            print(f"  {count} not scannable: {reason}")
        if (stopped := made.stopped(part)) is not None:
            print(f"  not asked any more: {stopped}")
    return 0


def _check(place: Study, edition: Edition, wanted: list[str], as_json: bool) -> int:
    promised = ready.promised(edition)
    names = plan.named(promised, wanted) or sorted(each.name for each in promised.detectors)
    found = [ready.check(place, edition, promised.detector(name)) for name in names]
    for each in found:
        if as_json:
            trouble = [fault._asdict() for fault in each.trouble]
            print(json.dumps({**vars(each), "trouble": trouble}, ensure_ascii=False))
            continue
        facts = [f"version {each.version}" if each.version else None, f"AI: {each.rule}" if each.rule else None]
        asked = each.plugin if each.plugin is not None else "asked by people"
        print(f"{'FAULT' if each.trouble else 'ok':<5} {each.detector}  {'; '.join(f for f in (*facts, asked) if f)}")
        for fault in each.trouble:
            print(f"      {fault}")
    return 1 if any(each.trouble for each in found) else 0
