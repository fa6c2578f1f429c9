"""Make tables and page, and seal the evidence, which closes the scan.

With `--boundary DETECTOR=VALUE` tables and page are made again at another boundary, in a folder of their own; each says
so, and nothing is sealed. Anyone may ask that of a published bundle, which is verified first and left as it is:

  penmark -C BUNDLE report --boundary zippy=0.1
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from penmark import cards, protocol, study, timestamps
from penmark.corpus import edition_departures
from penmark.errors import PenmarkError, UsageError, count_noun
from penmark.page import check_installed, render_page
from penmark.stages import score
from penmark.stages.commit import make_seals
from penmark.stages.publish import foreseen
from penmark.stages.score import tables
from penmark.stages.verify.check8_page.remake import check_and_remake


def run(
    ctx: typer.Context,
    close: Annotated[bool, typer.Option("--close", help="Close the edition although pairs were not asked.")] = False,
    boundary: Annotated[
        list[str] | None,
        typer.Option("--boundary", metavar="DETECTOR=VALUE", help="What if this were the boundary? May be repeated."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Where that is written (a new folder).")] = None,
    edition: Annotated[str | None, typer.Option("--edition", help="Which edition; the newest otherwise.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> int:
    if boundary:
        values = _parse_boundaries(boundary)
        folder = _what_if(*_choose_edition(Path(ctx.obj), edition, values, out), values)
        told = f"{folder}: tables and page at another boundary than the promised one; each says so"
        print(json.dumps({"folder": str(folder)}) if as_json else told)
        return 0
    if out is not None:
        raise UsageError("--out without --boundary", remedy="The tables of the edition itself have their own place.")
    chosen = study.find_study(Path(ctx.obj)).edition(edition)
    with _lock_scans(chosen):
        return _write_report(chosen, close, as_json)


@contextlib.contextmanager
def _lock_scans(edition: study.Edition) -> Iterator[None]:
    """Hold the locks of every scan: what is being scanned is not closed."""
    with contextlib.ExitStack() as held:
        for lock in sorted({edition.root / "scan.lock", *edition.root.glob("scan.*.lock")}):
            held.enter_context(study.lock_file(lock, "penmark report"))
        yield


def _write_report(chosen: study.Edition, close: bool, as_json: bool) -> int:
    sealed = chosen.seal("evidence").exists()
    if not sealed:
        make_seals.check_unchanged(chosen)  # before anything is written: closing is for good
    _check_frozen(chosen)
    check_installed()  # before the evidence is sealed
    made = tables.compute_tables(scored := score.score_edition(chosen), _encode_departures(chosen))
    if not sealed:
        _check_left(scored, close)
        _write_tables(chosen.root, made)
        _seal_evidence(chosen, scored, made)
    elif stale := [path for path, data in made.items() if study.read_bytes(chosen.root / path) != data]:
        raise PenmarkError(
            f"is not what the journals give ({count_noun(len(stale), 'table')} not the same)",
            place=str(chosen.root / stale[0]),
            remedy="The evidence is sealed: restore the tables, or find out who changed protocol, manifest or journals.",
        )
    study.write_bytes(chosen.report / "index.html", render_page(chosen, made))
    result = chosen.report / "index.html"
    if as_json:
        print(json.dumps({"page": str(result), "tables": sorted(made), "timing": scored.timing}))
    else:
        for line in _describe_warnings(scored):
            print(line)
        print(f"{chosen.tag}: {len(made)} tables in {chosen.tables}, page {result}")
        print("Next: penmark publish", file=sys.stderr)
    return 0


def _describe_warnings(scored: score.Scored) -> list[str]:
    """What there is to know before anyone trusts the numbers: the first of each kind and detector, and how many more."""
    kinds: dict[tuple[str, str], list[str]] = {}
    for notice in score.list_warnings(scored):
        told = notice.message if notice.arm is None else f"arm {notice.arm}: {notice.message}"
        kinds.setdefault((notice.rule, notice.detector), []).append(told)
    return [
        f"warning ({rule}){', ' if detector else ''}{detector}: {told[0]}"
        + (f"; and {len(told) - 1} more in tables/warnings.csv" if len(told) > 1 else "")
        for (rule, detector), told in kinds.items()
    ]


def _encode_departures(edition: study.Edition) -> bytes:
    promised = protocol.read_sealed(edition)
    known = {d.name: cards.read_sealed_card(edition, d.name).card for d in promised.detectors}
    return protocol.write_departures_csv(edition_departures.recompute_departures(edition, promised, known))


def _check_frozen(edition: study.Edition) -> None:
    """Before the corpus is sealed there is nothing to report: says which command comes next."""
    for name, command in (("promise", "commit"), ("corpus", "freeze")):
        if not edition.seal(name).exists():
            what = "is not promised yet" if name == "promise" else "has no frozen corpus yet"
            fact = f"{edition.tag} {what}, so there is nothing to report"
            raise UsageError(fact, place=str(edition.root), remedy=f"Run `penmark {command}` first.")


def _check_left(scored: score.Scored, close: bool) -> None:
    """Closing is for good: pairs that nobody asked about are said before, not after."""
    left = scored.pairs().filter((pl.col("state") == "not_run") & (pl.col("reason") == "not asked"))
    if left.is_empty() or close:
        return
    counts = ", ".join(f"{name} {n}" for name, n in sorted(left["detector"].value_counts().iter_rows()))
    raise PenmarkError(
        f"{count_noun(left.height, 'pair')} of detector and document {'was' if left.height == 1 else 'were'} not asked: {counts}",
        remedy="Finish with `penmark scan` or `penmark record`, or close the edition as it is with `penmark report --close`; "
        "they stay in the denominators as not run.",
    )


def _write_tables(root: Path, made: dict[str, bytes]) -> None:
    for path, data in made.items():
        study.write_bytes(root / path, data)


def _seal_evidence(edition: study.Edition, scored: score.Scored, made: dict[str, bytes]) -> None:
    promised = protocol.read_sealed(edition)
    sealed = make_seals.make_seal(
        edition,
        "evidence",
        promised.study,
        list(made),
        journals={f"journal/{name}": head for name, head in scored.heads.items()},
        authorities=promised.authorities,
        now=timestamps.format_time_now(),
    )
    for warning in foreseen.hold_clock(sealed).warnings:
        print(f"warning: {warning}", file=sys.stderr)


def _parse_boundaries(given: list[str]) -> dict[str, str]:
    """The boundary that is asked about, by detector. Raises UsageError for what is no pair, or a detector twice."""
    values: dict[str, str] = {}
    for each in given:
        name, _, value = each.partition("=")
        if name == "" or value == "" or name in values:
            raise UsageError(f"--boundary {each}", remedy="Write --boundary DETECTOR=VALUE, once for each detector.")
        values[name] = value
    return dict(sorted(values.items()))


def _choose_edition(
    folder: Path, tag: str | None, values: dict[str, str], out: Path | None
) -> tuple[study.Edition, Path]:
    """The edition, or the bundle, that the question is about, and the folder for the answer: never in a bundle.

    Raises UsageError for a folder that is taken, PenmarkError for a bundle that fails its checks.
    """
    name = "_".join(f"{detector}-{value}" for detector, value in values.items())
    if study.is_bundle(folder):
        chosen, usual = study.Edition(folder), folder.resolve()
        place = usual.with_name(f"{usual.name}-what-if") / name if out is None else out
        if place.resolve().is_relative_to(usual):
            remedy = "Name a folder beside it with --out: a file more in a bundle, and its sums fail."
            raise UsageError("lies inside the bundle", place=str(place), remedy=remedy)
        if failed := sum(c.state == "failed" for c in check_and_remake(folder, timestamps.Trust.load([]))):
            remedy = f"`penmark verify {folder}` says which; numbers that come from it would show nothing."
            raise PenmarkError(
                f"fails its verification ({count_noun(failed, 'finding')})", place=str(folder), remedy=remedy
            )
    else:
        chosen = study.find_study(folder).edition(tag)
        _check_frozen(chosen)
        place = chosen.root / "what-if" / name if out is None else out
    if out is not None and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError("is there already", place=str(out), remedy="Name a new folder with --out.")
    return chosen, place


def _what_if(edition: study.Edition, folder: Path, values: dict[str, str]) -> Path:
    scored = score.score_edition(edition, boundaries=values)
    several = ", ".join(f"{name} {value}" for name, value in values.items())
    told = f"recomputed at {several}; not the promised boundary"
    made = tables.compute_tables(scored, _encode_departures(edition))
    _write_tables(folder, {path: _add_what_if_column(data, told) for path, data in made.items()})
    study.write_bytes(folder / "report" / "index.html", render_page(edition, made, recomputed=list(values)))
    return folder


def _add_what_if_column(table: bytes, told: str) -> bytes:
    """The table with one more column that says, in each row, what was recomputed."""
    header, *rows = csv.reader(io.StringIO(table.decode("utf-8"), newline=""))
    return study.encode_csv([*header, "what_if"], [[*map(study.unescape_cell, row), told] for row in rows])
