"""Make the bundle that anyone can check: a folder and the same as a plain tar."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from penmark import study
from penmark.publish import publish


def run(
    ctx: typer.Context,
    out: Annotated[Path | None, typer.Option("--out", help="Where the bundle goes (a new folder).")] = None,
    edition: Annotated[str | None, typer.Option("--edition", help="Which edition; the newest otherwise.")] = None,
    tar: Annotated[bool, typer.Option("--tar/--no-tar", help="Also pack the folder as a tar.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> int:
    place = study.find(Path(ctx.obj))
    chosen = place.edition(edition)
    made = publish(place, chosen, out or place.bundles / chosen.tag, tar=tar)
    if as_json:
        print(
            json.dumps(
                {
                    "bundle": str(made.folder),
                    "tar": str(made.tar) if made.tar else None,
                    "sums_sha256": made.sums_sha256,
                }
            )
        )
        return 0
    gone = f", {made.withdrawn} withdrawn" if made.withdrawn else ""
    print(f"{made.folder}: {made.files} files, {made.texts} texts, {made.withheld} withheld{gone}")
    if made.tar is not None:
        print(f"{made.tar}: the same, packed")
    print(f"SHA256SUMS has the digest {made.sums_sha256}: print it where you announce the bundle.")
    print(f"Next: penmark verify {made.folder}", file=sys.stderr)
    return 0
