"""Seal the corpus: from here on the documents stand, and the detectors may be asked.

Screens first; an error stops it. Writes manifest.jsonl and screening.csv (and pool.jsonl, where an arm was drawn), seals
them, and asks the authorities that
the protocol names for timestamps. If the readable protocol was public before, say where, with a third party's capture:

  penmark freeze --announced https://… --capture https://… --captured-at 2026-12-01T09:00:00Z

Without that, every page says "not publicly pre-registered". A later change of the corpus is for another edition.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from penmark import protocol, study, timestamps
from penmark.cli.screen import list_demonstrated, print_progress, render_findings, write_findings
from penmark.corpus import manifest
from penmark.corpus.manifest import Manifest
from penmark.errors import FaultsError, PenmarkError, UsageError, count_noun
from penmark.format import canonical_json
from penmark.records import Announcement, Authority
from penmark.stages import screen
from penmark.stages.collect import lock_corpus
from penmark.stages.commit import make_seals
from penmark.stages.commit.make_seals import SealResult
from penmark.stages.generate.holding import differing
from penmark.stages.publish import foreseen
from penmark.stages.verify.check2_seals.seal_tokens import CLOCK
from penmark.study import Edition, Study, seal_files


def run(
    ctx: typer.Context,
    announced: Annotated[str | None, typer.Option(metavar="URL", help="Where the protocol is public.")] = None,
    capture: Annotated[str | None, typer.Option(metavar="URL", help="An archive's capture of that page.")] = None,
    captured_at: Annotated[str | None, typer.Option(metavar="TIME", help="When it was captured (UTC).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    place = study.find_study(Path(ctx.obj))
    edition = place.edition()
    manifest.check_ready_to_freeze(edition)
    told_public = _parse_announcement(edition, announced, capture, captured_at)
    with lock_corpus(place, "`penmark freeze`"):
        frozen, sealed = _freeze_corpus(place, edition, told_public)
    for warning in sealed.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    digest = canonical_json.sha256(study.read_bytes(sealed.path))
    if as_json:
        values = {"edition": edition.tag, "seal": "seals/corpus.json", "sha256": digest, "arms": frozen.arms}
        print(
            json.dumps(values | {"documents": len(frozen.documents), "warnings": sealed.warnings}, ensure_ascii=False)
        )
        return
    parts = ", ".join(f"{name} {count}" for name, count in frozen.arms.items())
    print(f"{edition.tag}: {len(frozen.documents)} documents are frozen ({parts})")
    print(f"  seals/corpus.json stands, SHA-256 {digest}")
    if told_public is None:
        print('  No announcement: pages will say "not publicly pre-registered".')
    print("Next: `penmark scan`, or `penmark record FILE` for answers that exist.")


def _freeze_corpus(place: Study, edition: Edition, announced: Announcement | None) -> tuple[Manifest, SealResult]:
    promised = protocol.read_sealed(edition)
    make_seals.check_unchanged(edition)  # before anything is written: over a changed promise nothing can be sealed
    found = screen.screen_corpus(place, edition, promised, print_progress, list_demonstrated())
    write_findings(place, edition, found)
    errors = [finding for finding in found if finding.severity == "error"]
    if errors:
        for line in render_findings(errors):
            print(line, file=sys.stderr)
        raise PenmarkError(
            f"{count_noun(len(errors), 'error')} {'stops' if len(errors) == 1 else 'stop'} the freeze",
            place=str(edition.screening),
            remedy="Mend what is told above with `penmark collect`, and freeze again; `penmark screen` tells everything. "
            "Where the promise asks for what you do not have, promise anew: another study, in another folder.",
        )
    if edited := differing(place, promised):
        raise FaultsError(edited)
    frozen, now = manifest.freeze_manifest(place, edition, promised), timestamps.format_time_now()

    def seal(where: Edition, authorities: tuple[Authority, ...]) -> SealResult:
        files = manifest.list_sealed_files(where)
        return make_seals.make_seal(
            where, "corpus", promised.study, files, announced=announced, authorities=authorities, now=now
        )

    try:
        foreseen.refuse(place, edition, "corpus", lambda ahead: seal(ahead, ()))
    except PenmarkError:
        for path in (edition.manifest, edition.pool):
            path.unlink(missing_ok=True)  # nothing is frozen yet
        raise
    return frozen, foreseen.hold_clock(seal(edition, promised.authorities))


def _parse_announcement(
    edition: Edition, url: str | None, capture: str | None, captured_at: str | None
) -> Announcement | None:
    given = {"--announced": url, "--capture": capture, "--captured-at": captured_at}
    missing = [name for name, value in given.items() if value is None]
    if len(missing) == len(given):
        return None
    if url is None or capture is None or captured_at is None:
        raise UsageError(
            f"{' and '.join(missing)} missing: an announcement is an address, a third party's capture of it, and its time",
            remedy="Give all three, or none.",
        )
    try:
        found = Announcement(url=url, capture=capture, captured_at=captured_at)
        at = timestamps.parse_rfc3339(captured_at)
    except ValueError:  # of the record, or of the calendar
        raise UsageError(
            f"--captured-at {captured_at} is not a time in UTC", remedy="Write it like 2026-12-01T09:00:00Z."
        ) from None
    if at > timestamps.parse_rfc3339(timestamps.format_time_now()):
        raise UsageError(
            f"--captured-at {captured_at} lies in the future", remedy="Give the time that the archive shows."
        )
    made = seal_files.read_seal(edition, "promise").sealed_at
    if at + CLOCK < timestamps.parse_rfc3339(made):  # nobody could mend it once it is sealed
        raise UsageError(
            f"--captured-at {captured_at} lies before the promise, {made}: what was captured is not what was promised",
            remedy="Have the promised protocol captured, and give that time.",
        )
    return found
