"""Import answers that exist elsewhere: typed from a screen, or kept by somebody in the past.

FILE is CSV, JSON (a list of objects) or JSON Lines. The sealed card says where score and verdict stand in a row, and the
row is kept as evidence, with every digit as it is. A table of typed readings has the columns document, displayed, date,
version and operator; map other names. All rows are imported, or none. An answer that is older than the promise, or has
no date, makes the edition retrospective.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from penmark import amendments, frozen, reading, sealing, study
from penmark.errors import UsageError
from penmark.record import Import, Recorded, mapping, record
from penmark.study import Edition


def run(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The answers.")],
    detector: Annotated[str, typer.Option(help="Whose answers they are.")],
    maps: Annotated[
        list[str] | None,
        typer.Option(
            "--map", metavar="FIELD=POINTER", help=f"Where a field stands in a row: {', '.join(mapping.FIELDS)}."
        ),
    ] = None,
    mapping_file: Annotated[Path | None, typer.Option("--mapping", help="The same, in a YAML file.")] = None,
    arm: Annotated[str | None, typer.Option(help="The only arm that the rows are about.")] = None,
    by: Annotated[str | None, typer.Option(help="Who read the screens, where no field says so.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    if maps and mapping_file is not None:
        raise UsageError("--map and --mapping do not go together", remedy="Put everything in one of them.")
    place = study.find(Path(ctx.obj))
    edition = place.edition()
    wanted = mapping.load(mapping_file) if mapping_file is not None else mapping.parse(maps) if maps else None
    done = record(place, edition, file, Import(detector, wanted, arm, by))
    source = file.name if arm is None else f"{file.name} ({arm})"
    told = [f"recorded from {source}: {note}" for note in done.notes]
    for what in told:
        amendments.deviation(edition, what, detector, now=reading.now())
    if told:
        study.write(place.changes, amendments.changes(place.editions()).encode())
    warnings = _seal_heads(edition, done)
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if as_json:
        values = {**done._asdict(), "heads": {name: head.model_dump() for name, head in done.heads.items()}}
        print(json.dumps(values, ensure_ascii=False))
        return
    _show(done)


def _seal_heads(edition: Edition, done: Recorded) -> tuple[str, ...]:
    """Seal how the journal stands, where an authority says when that was; without one a seal would add nothing."""
    promised = frozen.ground(edition, verb="record").protocol
    if not promised.authorities:
        return ()
    return sealing.seal(
        edition,
        "heads",
        promised.study,
        [],
        journals=done.heads,
        authorities=promised.authorities,
        now=reading.now(),
    ).warnings


def _show(done: Recorded) -> None:
    print(f"{done.detector}: {done.readings} readings")
    for state, count in done.states.items():
        print(f"  {count} {state}")
    if done.undated:
        print(f"  {done.undated} answers have no date: the edition is retrospective, and every table says so.")
    for note in done.notes:
        print(f"  {note} (written to deviations.jsonl)")
