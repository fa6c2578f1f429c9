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

from penmark import protocol, study, timestamps
from penmark.errors import FaultsError, UsageError
from penmark.format import canonical_json
from penmark.protocol import amendments
from penmark.records import Authority, Protocol
from penmark.stages.commit import make_seals
from penmark.stages.publish import foreseen
from penmark.stages.status import describe_standing


def run(
    ctx: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    place = study.find_study(Path(ctx.obj))
    edition = place.edition()
    with study.lock_file(place.private / "lock", "penmark commit"):
        promised = protocol.load_protocol(edition.protocol_yaml)
        step = _retry_promise if edition.seal("promise").exists() else _make_first_promise
        warnings = step(place, edition, promised)
    _print_seal(edition, warnings, as_json)


def _make_first_promise(place: study.Study, edition: study.Edition, promised: Protocol) -> tuple[str, ...]:
    found = describe_standing(place, edition)
    if found.faults:  # whatever `penmark status` calls a fault would still be one when it is too late to mend
        raise FaultsError([*found.faults, *found.undecided])
    files = make_seals.prepare_promise(place, edition, promised)
    warnings: list[str] = []
    for path in amendments.carry_amendments(place.editions(), edition):
        warnings += make_seals.request_tokens(path, promised.authorities).warnings
    now = timestamps.format_time_now()

    def seal(where: study.Edition, authorities: tuple[Authority, ...]) -> make_seals.SealResult:
        return make_seals.make_seal(where, "promise", promised.study, files, authorities=authorities, now=now)

    foreseen.refuse(place, edition, "promise", lambda ahead: seal(ahead, ()))
    return (*warnings, *foreseen.hold_clock(seal(edition, promised.authorities)).warnings)


def _retry_promise(place: study.Study, edition: study.Edition, promised: Protocol) -> tuple[str, ...]:
    """The promise stands: only timestamps that are missing can be had."""
    make_seals.check_same(edition, promised)
    also = amendments.list_own_amendments(place.editions(), edition)
    asked = make_seals.retry_tokens(edition, promised.authorities, also=also)
    if not asked.written and not asked.warnings:
        raise UsageError(
            f"the promise of {edition.tag} is sealed already, and no timestamp is missing",
            place=str(edition.seal("promise")),
            remedy="`penmark status` says what is next. A change of rules is for a later edition: `penmark amend`.",
        )
    return asked.warnings


def _print_seal(edition: study.Edition, warnings: tuple[str, ...], as_json: bool) -> None:
    newest = edition.seal(make_seals.list_seal_order(edition)[-1])
    data = study.read_bytes(newest)
    trust = timestamps.Trust.load()
    held = {
        path: timestamps.check_token(study.read_bytes(path), data, trust)
        for path in make_seals.list_token_files(newest)
    }
    seal = newest.relative_to(edition.root).as_posix()
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if as_json:
        told = [{"file": p.relative_to(edition.root).as_posix(), **r._asdict()} for p, r in held.items()]
        values = {
            "edition": edition.tag,
            "seal": seal,
            "sha256": canonical_json.sha256(data),
            "tokens": told,
            "warnings": warnings,
        }
        print(json.dumps(values, ensure_ascii=False, indent=1))
        return
    print(f"{edition.tag}: {seal} stands, SHA-256 {canonical_json.sha256(data)}")
    for path, result in held.items():
        print(f"  {result.detail}")
        print(f"    {timestamps.make_openssl_line(seal, path.relative_to(edition.root).as_posix(), at=result.at)}")
    if not held:
        print("  No timestamp from outside: its time is your word alone.")
    if newest == edition.seal("promise"):
        print("Make protocol.yaml public now, and have an archive capture it, before the corpus is frozen.")
    print("Next: penmark status")
