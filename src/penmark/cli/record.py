"""Import answers that exist elsewhere: typed from a screen, or kept by somebody in the past.

FILE is CSV, JSON (a list of objects) or JSON Lines. The sealed card says where score and verdict stand in a row, and the
row is kept as evidence, with every digit as it is. A table of typed readings has the columns document, displayed, date,
version and operator; map other names. All rows of a file are imported, or none. An answer that is older than the
promise, or has no date, makes the edition retrospective.
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
    file: Annotated[list[Path], typer.Argument(metavar="FILE...", help="The answers.")],
    detector: Annotated[str, typer.Option(help="Whose answers they are.")],
    maps: Annotated[
        list[str] | None,
        typer.Option(
            "--map", metavar="FIELD=POINTER", help=f"Where a field stands in a row: {', '.join(mapping.FIELDS)}."
        ),
    ] = None,
    mapping_file: Annotated[Path | None, typer.Option("--mapping", help="The same, in a YAML file.")] = None,
    arm: Annotated[
        list[str] | None, typer.Option(help="The only arm that the rows are about; once, or once for each file.")
    ] = None,
    by: Annotated[str | None, typer.Option(help="Who read the screens, where no field says so.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    if maps and mapping_file is not None:
        raise UsageError("--map and --mapping do not go together", remedy="Put everything in one of them.")
    place = study.find(Path(ctx.obj))
    edition = place.edition()
    wanted = mapping.load(mapping_file) if mapping_file is not None else mapping.parse(maps) if maps else None
    for path, only in zip(file, _arms(arm or [], len(file)), strict=True):
        done = record(place, edition, path, Import(detector, wanted, only, by))
        source = path.name if only is None else f"{path.name} ({only})"
        for note in done.notes:
            amendments.deviation(edition, f"recorded from {source}: {note}", detector, now=reading.now())
        if done.notes:
            study.write(place.changes, amendments.changes(place.editions()).encode())
        _show(done, source, as_json)
    for warning in _seal_heads(edition, done):
        print(f"warning: {warning}", file=sys.stderr)


def _arms(given: list[str], files: int) -> list[str | None]:
    if len(given) not in (0, 1, files):
        raise UsageError(
            f"{files} files and {len(given)} arms",
            remedy="Name one arm for all files, or one for each, in their order.",
        )
    return [None] * files if not given else [*given] if len(given) == files else [given[0]] * files


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


def _show(done: Recorded, source: str, as_json: bool) -> None:
    if as_json:
        values = {**done._asdict(), "heads": {name: head.model_dump() for name, head in done.heads.items()}}
        print(json.dumps(values, ensure_ascii=False))
        return
    print(f"{done.detector}: {done.readings} readings from {source}")
    for state, count in done.states.items():
        print(f"  {count} {state}")
    if done.undated:
        print(f"  {done.undated} answers have no date: the edition is retrospective, and every table says so.")
    for note in done.notes:
        print(f"  {note} (written to deviations.jsonl)")
