"""Announce a change of the promise for a later edition, or tell what went otherwise than promised in this one.

The edition that is promised now stays as it is. The amendment is numbered, timestamped by the authorities of the
protocol, told in CHANGES.md, and binds the editions from the next quarter on, or from the one that you name.

  penmark amend --covers /arms/B/documents=60 --what "Arm B takes 60 writers." --why "75 could not be found."

`penmark commit` refuses a rule that changed since the promise before and that no amendment covers. Where the next edition is
begun, change its protocol and cards: `penmark amend` alone tells what differs, and --covers PLACE takes the values from there.

With --deviation nothing is changed: it writes one line into deviations.jsonl of the edition promised last, with the time,
for the page and CHANGES.md to tell. What penmark sees by itself (another version, late screens) it writes by itself.

  penmark amend --deviation "The vendor was down from 3 to 5 November." --detector gptzero
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from penmark import protocol, study, timestamps
from penmark.cli import covering
from penmark.errors import UsageError, suggest_name
from penmark.protocol import amendments, promise_chain
from penmark.stages.commit import make_seals

EXAMPLE = (
    'For example: penmark amend --what "Arm B takes 60 writers." --why "75 could not be found." '
    "--covers /arms/B/documents=60. Without --covers, say --before and --after in words."
)


def run(
    ctx: typer.Context,
    what: Annotated[str | None, typer.Option("--what", help="What changes, in a sentence. Required.")] = None,
    why: Annotated[str | None, typer.Option("--why", help="Why it changes. Required.")] = None,
    before: Annotated[
        str | None, typer.Option("--before", help="The rule as it stands; from --covers otherwise.")
    ] = None,
    after: Annotated[str | None, typer.Option("--after", help="The rule as it will be; likewise.")] = None,
    covers: Annotated[
        list[str] | None,
        typer.Option("--covers", metavar="PLACE[=VALUE]", help="What of the promise changes; give it for each place."),
    ] = None,
    binds_from: Annotated[
        str | None, typer.Option("--binds-from", metavar="TAG", help="The first edition that it binds.")
    ] = None,
    deviation: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What went otherwise than promised; changes no rule.")
    ] = None,
    detector: Annotated[str | None, typer.Option(help="The detector that the deviation is about.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    place = study.find_study(Path(ctx.obj))
    if deviation is not None:
        if any(each is not None for each in (what, why, before, after, binds_from, covers)):
            fact = "--deviation changes no rule; --what, --why, --before, --after, --covers, --binds-from are about one that does"
            raise UsageError(fact, remedy="Tell the deviation, and announce the amendment, in a run of its own each.")
        _record_deviation(place, deviation, detector, as_json)
        return
    if detector is not None:
        raise UsageError("--detector belongs to --deviation", remedy="Name the detector in --what.")
    if (
        covers is None
        and what is None
        and why is None
        and before is None
        and after is None
        and _print_open_changes(place, as_json)
    ):
        return
    if what is None or why is None or ((before is None or after is None) and not covers):
        given = {"--what": what, "--why": why, "--before": before, "--after": after}
        raise UsageError(
            f"missing: {', '.join(name for name, value in given.items() if value is None)}", remedy=EXAMPLE
        )
    _announce_amendment(place, what, why, (before, after), covers or [], binds_from, as_json)


def _announce_amendment(
    place: study.Study,
    what: str,
    why: str,
    rule: tuple[str | None, str | None],
    covers: list[str],
    binds_from: str | None,
    as_json: bool,
) -> None:
    """Write the amendment, ask for its timestamps, and tell it. ``rule``: as it stands and as it will be, where given."""
    before, after = rule
    now = timestamps.format_time_now()
    with study.lock_file(place.private / "lock", "penmark amend"):
        editions = place.editions()
        edition = amendments.find_promised_last(editions) or place.edition()
        changes = covering.covered(place, edition, covers) if covers and edition.seal("promise").is_file() else []
        path = amendments.announce_amendment(
            editions,
            edition,
            what=what,
            why=why,
            before=_describe_rule(before, [(each.at, each.was) for each in changes]),
            after=_describe_rule(after, [(each.at, each.becomes) for each in changes]),
            now=now,
            binds_from=binds_from,
            covers=changes,
        )
        asked = make_seals.request_tokens(path, protocol.read_sealed(edition).authorities)
        study.write_bytes(place.changes, amendments.render_changes(editions).encode())
    for warning in asked.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    amendment = promise_chain.read_amendment(path)
    file = path.relative_to(place.root).as_posix()
    if as_json:
        stamped = [p.relative_to(place.root).as_posix() for p in asked.written]
        values = {"file": file, **amendment.model_dump(mode="json"), "tokens": stamped, "warnings": asked.warnings}
        print(json.dumps(values, ensure_ascii=False, indent=1))
        return
    if not amendment.covers:
        print("warning: it covers no place of the promise; `penmark commit` lets nothing differ by it", file=sys.stderr)
    number, binds = amendment.number, amendment.binds_from
    print(f"Amendment {number}, announced {amendment.announced_at}, binds {binds} and later editions.")
    print(f"  {file}; CHANGES.md is up to date. Publish both now: what is announced after a promise does not bind it.")


def _describe_rule(given: str | None, values: list[tuple[str, str | None]]) -> str:
    """A rule in words: as given, or what stands at each place."""
    return given if given is not None else "; ".join(f"{at}: {value or 'nothing'}" for at, value in values)


def _print_open_changes(place: study.Study, as_json: bool) -> bool:
    """Tell what differs in the draft of the next edition and is not announced; False where there is no draft."""
    promised = amendments.find_promised_last(place.editions())
    changes = None if promised is None else covering.open_changes(place, promised)
    if promised is None or changes is None:
        return False
    if as_json:
        print(json.dumps({"open": [each.model_dump() for each in changes]}, ensure_ascii=False, indent=1))
    elif changes:
        print(f"Open in {place.edition().tag}: what changed since the promise of {promised.tag}, and is not announced")
        print("\n".join(covering.told(changes)))
    else:
        print(f"Every rule of {place.edition().tag} is that of {promised.tag}, or its change is announced.")
    return True


def _record_deviation(place: study.Study, what: str, detector: str | None, as_json: bool) -> None:
    """Write down what went otherwise than promised, in the edition promised last."""
    with study.lock_file(place.private / "lock", "penmark amend"):
        editions = place.editions()
        edition = amendments.find_promised_last(editions)
        if edition is None:
            raise UsageError(
                "nothing is promised yet, so nothing went otherwise", remedy="Seal the promise with `penmark commit`."
            )
        known = [each.name for each in protocol.read_sealed(edition).detectors]
        if detector is not None and detector not in known:
            fact = f"there is no detector {detector!r} in the promise{suggest_name(detector, known)}"
            raise UsageError(fact, remedy=f"It has: {', '.join(sorted(known))}.")
        if not what.strip():
            raise UsageError("nothing is said of the deviation", remedy="Say in a sentence what went otherwise.")
        told = amendments.add_deviation(edition, what, detector, now=timestamps.format_time_now())
        study.write_bytes(place.changes, amendments.render_changes(editions).encode())
    file = edition.deviations.relative_to(place.root).as_posix()
    if as_json:
        print(json.dumps({"file": file, **told.model_dump()}, ensure_ascii=False, indent=1))
        return
    print(f"Deviation in {edition.tag}, {told.at}: {told.what}")
    print(f"  {file}; CHANGES.md is up to date." + (" Next: penmark report" if edition.report.is_dir() else ""))
