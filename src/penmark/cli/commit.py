"""Seal the promise: protocol.yaml, the card of each detector, the digest of the secret seed.

Everything that decides about later results is written down and sealed before anything is drawn, generated or scanned;
the authorities that the protocol names are asked for timestamps. An authority that gives none does not undo the seal:
run `penmark commit` again, and it is asked again. A change after that is an amendment (`penmark amend`) and binds a
later edition.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from penmark import amendments, canon, protocol, sealing, study, tokens
from penmark.errors import FaultsError, UsageError
from penmark.publish import foreseen
from penmark.records import Authority, Protocol
from penmark.standing import standing


def run(
    ctx: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    place = study.find(Path(ctx.obj))
    edition = place.edition()
    with study.locked(place.private / "lock", "penmark commit"):
        promised = protocol.load(edition.protocol_yaml)
        step = _again if edition.seal("promise").exists() else _first
        warnings = step(place, edition, promised)
    _show(edition, warnings, as_json)


def _first(place: study.Study, edition: study.Edition, promised: Protocol) -> tuple[str, ...]:
    found = standing(place, edition)
    if found.faults:  # whatever `penmark status` calls a fault would still be one when it is too late to mend
        raise FaultsError([*found.faults, *found.undecided])
    files = sealing.prepare(place, edition, promised)
    warnings: list[str] = []
    for path in amendments.carry(place.editions(), edition):
        warnings += sealing.stamp(path, promised.authorities).warnings
    now = tokens.now()

    def seal(where: study.Edition, authorities: tuple[Authority, ...]) -> sealing.Sealed:
        return sealing.seal(where, "promise", promised.study, files, authorities=authorities, now=now)

    foreseen.refuse(place, edition, "promise", lambda ahead: seal(ahead, ()))
    return (*warnings, *foreseen.hold_clock(seal(edition, promised.authorities)).warnings)


def _again(place: study.Study, edition: study.Edition, promised: Protocol) -> tuple[str, ...]:
    """The promise stands: only timestamps that are missing can be had."""
    sealing.check_same(edition, promised)
    also = amendments.own(place.editions(), edition)
    asked = sealing.retry_tokens(edition, promised.authorities, also=also)
    if not asked.written and not asked.warnings:
        raise UsageError(
            f"the promise of {edition.tag} is sealed already, and no timestamp is missing",
            place=str(edition.seal("promise")),
            remedy="`penmark status` says what is next. A change of rules is for a later edition: `penmark amend`.",
        )
    return asked.warnings


def _show(edition: study.Edition, warnings: tuple[str, ...], as_json: bool) -> None:
    newest = edition.seal(sealing.order(edition)[-1])
    data = study.read(newest)
    trust = tokens.Trust.load()
    held = {path: tokens.check(study.read(path), data, trust) for path in sealing.token_files(newest)}
    seal = newest.relative_to(edition.root).as_posix()
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if as_json:
        told = [{"file": p.relative_to(edition.root).as_posix(), **r._asdict()} for p, r in held.items()]
        values = {
            "edition": edition.tag,
            "seal": seal,
            "sha256": canon.sha256(data),
            "tokens": told,
            "warnings": warnings,
        }
        print(json.dumps(values, ensure_ascii=False, indent=1))
        return
    print(f"{edition.tag}: {seal} stands, SHA-256 {canon.sha256(data)}")
    for path, result in held.items():
        print(f"  {result.detail}")
        print(f"    {tokens.openssl_line(seal, path.relative_to(edition.root).as_posix(), at=result.at)}")
    if not held:
        print("  No timestamp from outside: its time is your word alone.")
    if newest == edition.seal("promise"):
        print("Make protocol.yaml public now, and have an archive capture it, before the corpus is frozen.")
    print("Next: penmark status")
