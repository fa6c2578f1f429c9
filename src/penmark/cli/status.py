"""Say where the study stands: arms, seals, answers, departures from its template, and the next command to run.

The last line says what comes next. Exit code 1 where something cannot be read or keeps the next step from working:
whatever is a fault here, `penmark commit` refuses.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from penmark import study
from penmark.protocol import Departure
from penmark.stages.status import JournalStanding, StudyStatus, describe_standing


def run(
    ctx: typer.Context,
    edition: Annotated[str | None, typer.Option("--edition", help="Which edition; the newest otherwise.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> int:
    place = study.find_study(Path(ctx.obj))
    found = describe_standing(place, place.edition(edition))
    if as_json:
        print(json.dumps(_make_standing_value(found), ensure_ascii=False, indent=1))
    else:
        for line in _describe_standing(found):
            print(line)
    return 1 if found.faults else 0


def _make_standing_value(found: StudyStatus) -> dict[str, Any]:
    value: dict[str, Any] = {each.name: getattr(found, each.name) for each in dataclasses.fields(found)}
    for name in ("arms", "seals", "journals", "departures", "guessed", "faults"):
        value[name] = [item._asdict() for item in value[name]] if value[name] is not None else None
    for journal in value["journals"]:
        journal["misses"] = [miss._asdict() for miss in journal["misses"]]
    del value["undecided"]
    value["placeholders"] = [{"path": path, "text": text} for path, text in found.placeholders]
    return value


def _describe_standing(found: StudyStatus) -> Iterator[str]:
    follows = f" (follows {found.template})" if found.template is not None else ""
    yield f"{found.study}, edition {found.edition}{follows}"
    yield from _describe_arms(found)
    yield from _describe_seals(found)
    yield from _describe_journals(found.journals, found.stops_on_change)
    yield f"departures from the template: {_format_count(found.departures)}"
    for number, each in enumerate(found.departures or [], 1):
        sides = f"{each.template}; here {each.study}. " if each.template else ""
        yield f"  {number}. {each.rule}: {sides}{each.explanation}"
    for guess in found.guessed:
        yield f"guessed in the card of {guess.detector}: {', '.join(guess.facts)}"
    if found.amendments:
        yield f"amendments announced: {found.amendments} (CHANGES.md)"
    if found.undecided:
        yield f"still to be decided, in protocol.yaml: {len(found.placeholders)}"
        for fault in found.undecided[len(found.undecided) > 1 :]:
            yield f"  line {(fault.place or '').rpartition(':')[2]}: {fault.fact}"
    for fault in found.faults:
        yield f"fault: {fault}"
    yield f"next: {found.next}"


def _format_count(departures: list[Departure] | None) -> str:
    return "not known" if departures is None else str(len(departures)) if departures else "none"


def _describe_arms(found: StudyStatus) -> Iterator[str]:
    if found.arms:
        yield "arms"
    for arm in found.arms:
        yield f"  {arm.arm:<4} {arm.documents} of {arm.promised} documents, {arm.truth}"
        if arm.short:
            yield f"       short: {'; '.join(arm.short)}"


def _describe_seals(found: StudyStatus) -> Iterator[str]:
    made = {seal.name: seal for seal in found.seals}
    yield "seals"
    for name in ("promise", "corpus", *sorted(made.keys() - {"promise", "corpus", "evidence"}), "evidence"):
        if name in made:
            seal = made[name]
            yield f"  {name:<10} {seal.sealed_at or 'unreadable'}, timestamps from outside: {seal.tokens or 'none'}"
        else:
            yield f"  {name:<10} not yet"


def _describe_journals(journals: list[JournalStanding], stops: bool) -> Iterator[str]:
    if journals:
        yield "answers"
    for each in journals:
        others = {
            "declined": each.declined,
            "failed": each.failed,
            "not scannable": each.not_scannable,
            "in doubt": each.in_doubt,
        }
        told = "".join(f", {count} {what}" for what, count in others.items() if count)
        yield f"  {each.detector:<16} {each.answered} answered{told}, {each.left} left"
        if each.changed is not None:
            before, seen = each.changed
            rest = "; what is left stays not run, as promised" if stops and each.left else ""
            yield f"    its version changed from {before} to {seen}{rest}"
        for miss in each.misses:
            yield f"    {miss.message}"
