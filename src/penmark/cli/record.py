"""Import answers that exist elsewhere: typed from a screen, or kept by somebody in the past.

FILE is CSV (with commas or semicolons), JSON (a list of objects) or JSON Lines. The sealed card says where score and
verdict stand in a row, and the row is kept as evidence, with every digit as it is. A table of typed readings has the
columns document (or number, from a work sheet), displayed, date, version and operator, and text where somebody kept what
was scanned: that is held against the document. --map says where a field stands that is not in the column of its name. Rows
that name no document go by position in the order that --order names, and in no other. All rows of a file are imported, or
none. An answer that is older than the promise, or has no date, makes the edition retrospective; that, a typed display that
comes to no call, numbers that say the contrary of their verdicts, and answers for a detector that is asked by a program are
refused unless an option says that they are meant.

For people who read a screen, --sheets DIR writes work sheets: blind numbers in the sealed order, the texts as .txt and
.docx, and a table to fill in. Where a second person typed the same screens (--second), every difference is listed, and
nothing is recorded until it is corrected or settled on the record (--settle).
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from penmark import cards, study
from penmark.cards import judge
from penmark.corpus import sealed_edition
from penmark.errors import Fault, UsageError, count_noun
from penmark.protocol import amendments
from penmark.records import Head
from penmark.stages.commit import make_seals
from penmark.stages.record import Import, Recorded, columns, record_answers, work_sheets
from penmark.study import Edition, Study

T = TypeVar("T")


Order = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        help="In whose order the texts were given, for --map document=position; one, or one for each file.",
    ),
]
Retrospective = Annotated[
    bool, typer.Option("--retrospective", help="The answers may be undated, or older than the promise.")
]
AsDisplayed = Annotated[
    bool,
    typer.Option(
        "--as-displayed", help="What comes to no call, or says the contrary of its verdict, was really shown."
    ),
]
Elsewhere = Annotated[
    bool, typer.Option("--elsewhere", help="A plugin or HTTP asks this detector; these answers were made elsewhere.")
]


def run(
    ctx: typer.Context,
    detector: Annotated[str, typer.Option(help="Whose answers they are.")],
    file: Annotated[list[Path] | None, typer.Argument(metavar="FILE...", help="The answers.")] = None,
    sheet: Annotated[
        Path | None, typer.Option("--sheets", metavar="DIR", help="Write work sheets to this new folder; no FILE then.")
    ] = None,
    second: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The same readings, typed again by somebody else.")
    ] = None,
    settle: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What counts where the two differ: number, displayed, by, why."),
    ] = None,
    screenshots: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Pictures named by number (0012.png), to keep by digest.")
    ] = None,
    maps: Annotated[
        list[str] | None,
        typer.Option(
            "--map", metavar="FIELD=POINTER", help=f"Where a field stands in a row: {', '.join(columns.FIELDS)}."
        ),
    ] = None,
    mapping_file: Annotated[Path | None, typer.Option("--mapping", help="The same, in a YAML file.")] = None,
    arm: Annotated[
        list[str] | None, typer.Option(help="The only arm that the rows are about; once, or once for each file.")
    ] = None,
    order: Order = None,
    by: Annotated[str | None, typer.Option(help="Who read the screens, where no field says so.")] = None,
    retrospective: Retrospective = False,
    as_displayed: AsDisplayed = False,
    elsewhere: Elsewhere = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    files = file or []
    typed = (second, settle, screenshots)
    _check_options(files, sheet, typed, maps is not None, mapping_file is not None)
    edition = (place := study.find_study(Path(ctx.obj))).edition()
    if sheet is not None:
        _write_sheets(place, edition, detector, sheet, as_json)
    else:
        fields = columns.load(mapping_file) if mapping_file is not None else columns.parse(maps) if maps else None
        wanted = Import(detector, fields, None, by, *typed, None, retrospective, as_displayed, elsewhere)
        arms, orders = (
            _repeat_for_files(arm or [], len(files), "arm"),
            _repeat_for_files(order or [], len(files), "order"),
        )
        _record_files(place, edition, list(zip(files, arms, orders, strict=True)), wanted, as_json)


def _record_files(
    place: Study,
    edition: Edition,
    files: list[tuple[Path, str | None, Path | None]],
    wanted: Import,
    as_json: bool,
) -> None:
    """Record one file after the other, each with its arm and its order."""
    for path, only, order in files:
        done = record_answers(place, edition, path, replace(wanted, arm=only, order=order))
        _print_recorded(place, edition, done, path.name if only is None else f"{path.name} ({only})", as_json)
    _seal_heads(edition, done.heads)


def _check_options(
    files: list[Path], sheet: Path | None, typed: tuple[Path | None, ...], maps: bool, mapped: bool
) -> None:
    """Raises UsageError where the options do not go together."""
    if maps and mapped:
        raise UsageError("--map and --mapping do not go together", remedy="Put everything in one of them.")
    if sheet is not None and (files or any(each is not None for each in typed)):
        raise UsageError(
            "--sheets writes work sheets and records nothing", remedy="Record the answers in a run of their own."
        )
    if sheet is None and not files:
        raise UsageError("no file of answers is named", remedy="Name it; or write work sheets with --sheets DIR.")
    if len(files) > 1 and any(each is not None for each in typed):
        raise UsageError(
            "--second, --settle and --screenshots belong to one file", remedy="Record each file in a run of its own."
        )


def _print_recorded(place: Study, edition: Edition, done: Recorded, source: str, as_json: bool) -> None:
    """Write down what went otherwise than promised, and tell what was recorded. A remark on an answer is in its reading: no
    promise says how a vendor quotes a text."""
    told = [f"recorded from {source}: {what}" for what in done.otherwise]
    told += [f"typed twice: {one}" for one in done.settled]
    for what in told:
        amendments.add_deviation(edition, what, done.detector, now=judge.get_time_now())
    if told:
        study.write_bytes(place.changes, amendments.render_changes(place.editions()).encode())
    _print_readings(done, source, as_json)


def _write_sheets(place: Study, edition: Edition, detector: str, out: Path, as_json: bool) -> None:
    made = work_sheets.make_work_sheets(place, edition, detector, out)
    if as_json:
        print(json.dumps({**made._asdict(), "folder": str(made.folder), "heads": _encode_heads(made.heads)}))
    elif made.texts:
        print(f"{made.detector}: work sheets for {made.texts} texts in {made.folder}; begin with its README.txt")
    if not as_json:
        for why, count in made.skipped.items():
            print(f"  {count} not scannable: {why}")
        if made.done:
            print(f"  {made.done} have their reading already")
        if made.plain:
            print(f"  only as .txt, for characters that no .docx can hold: {', '.join(made.plain)}")
    if made.heads:
        _seal_heads(edition, made.heads)


def _encode_heads(heads: dict[str, Head]) -> dict[str, object]:
    return {name: head.model_dump() for name, head in heads.items()}


def _repeat_for_files(given: list[T], files: int, what: str) -> list[T | None]:
    """What is given for each file: one for all of them, or one for each."""
    if len(given) not in (0, 1, files):
        raise UsageError(
            f"{files} files and {len(given)} {what}s",
            remedy=f"Name one {what} for all files, or one for each, in their order.",
        )
    return [None] * files if not given else [*given] if len(given) == files else [given[0]] * files


def _seal_heads(edition: Edition, heads: dict[str, Head]) -> None:
    """Seal how the journal stands, where an authority says when that was; without one a seal would add nothing."""
    promised = sealed_edition.open_sealed_edition(edition, verb="record").protocol
    if not promised.authorities:
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


_RETROSPECTIVE = (
    "the edition is retrospective. Its page, its README and both verifiers say so; of its tables table1, table2, readings "
    "and agreement in their column timing, and warnings for all of them."
)


_ONE_SIDED = "Look at a few answers: is their number what the card says of it, and does it run that way?"


def _print_readings(done: Recorded, source: str, as_json: bool) -> None:
    for miss in done.misses:
        print(f"warning: {Fault(done.detector, miss.message, cards.REMEDY)}", file=sys.stderr)
    if done.one_sided is not None:
        print(f"warning: {Fault(done.detector, done.one_sided, _ONE_SIDED)}", file=sys.stderr)
    if as_json:
        misses = [miss._asdict() for miss in done.misses]
        print(json.dumps({**done._asdict(), "heads": _encode_heads(done.heads), "misses": misses}, ensure_ascii=False))
        return
    print(f"{done.detector}: {done.readings} readings from {source}")
    for state, count in done.states.items():
        print(f"  {count} {state}")
    counts = ((done.undated, ("has", "have"), "no date"), (done.older, ("is", "are"), "older than the promise"))
    late = [f"{count_noun(count, 'answer')} {verbs[count != 1]} {what}" for count, verbs, what in counts if count]
    if late:
        print(f"  {' and '.join(late)}: {_RETROSPECTIVE}")
    if done.once:
        print(f"  {done.once} were typed once only: nobody would notice a slip of the finger.")
    if done.one_hand:
        print(f"  {done.one_hand} were typed twice by the same person.")
    if done.blank:
        print(f"  {done.blank} rows are not filled in yet; record them when they are.")
    if done.screenshots:
        print(f"  {done.screenshots} screenshots are kept in screenshots/ of the edition, and not published.")
    for note in done.notes:
        print(f"  {note} (each such reading has a remark)")
    for what in (*done.otherwise, *done.settled):
        print(f"  {what} (written to deviations.jsonl)")
