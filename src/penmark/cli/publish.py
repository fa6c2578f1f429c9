"""Make the bundle that anyone can check: a folder and the same as a plain tar.

What was made is verified before it stands under its name; a bundle that would fail a check is not published, unless you
say --despite-failures (exit code 1 then): whoever verifies it is shown the same.

With --detector NAME, make an extract of the published bundle instead: what that detector's vendor needs who doubts its
row. An extract is not a bundle, and says how to check it against the bundle.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from penmark import study
from penmark.page import check_current
from penmark.stages.commit import make_seals
from penmark.stages.publish import describe_finding, publish_edition
from penmark.stages.publish.vendor_extract import make_extract
from penmark.study import seal_files


def run(
    ctx: typer.Context,
    out: Annotated[Path | None, typer.Option("--out", help="Where the bundle goes (a new folder).")] = None,
    detector: Annotated[
        str | None, typer.Option("--detector", metavar="NAME", help="Make the extract about this detector instead.")
    ] = None,
    bundle: Annotated[
        Path | None,
        typer.Option("--bundle", help="The bundle that an extract is of, where it is not at its usual place."),
    ] = None,
    edition: Annotated[str | None, typer.Option("--edition", help="Which edition; the newest otherwise.")] = None,
    tar: Annotated[bool, typer.Option("--tar/--no-tar", help="Also pack the folder as a tar.")] = True,
    despite: Annotated[
        bool, typer.Option("--despite-failures", help="Publish although the bundle fails its own verification.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> int:
    place = study.find_study(Path(ctx.obj))
    chosen = place.edition(edition)
    if detector is not None:
        folder = place.bundles / chosen.tag if bundle is None else bundle
        _write_extract(folder, detector, out or folder.with_name(f"{folder.name}-{detector}"), as_json)
        return 0
    if chosen.seal("evidence").exists():
        _require_publishable(chosen)
    made = publish_edition(place, chosen, out or place.bundles / chosen.tag, tar=tar, despite_failures=despite)
    counted = {state: sum(c.state == state for c in made.checks) for state in ("ok", "failed", "not checked")}
    if as_json:
        print(
            json.dumps(
                {
                    "bundle": str(made.folder),
                    "tar": str(made.tar) if made.tar else None,
                    "sums_sha256": made.sums_sha256,
                    "checks": counted,
                }
            )
        )
        return int(counted["failed"] > 0)
    gone = f", {made.withdrawn} withdrawn" if made.withdrawn else ""
    print(f"{made.folder}: {made.files} files, {made.texts} texts, {made.withheld} withheld{gone}")
    if made.tar is not None:
        print(f"{made.tar}: the same, packed")
    print(f"verified: {', '.join(f'{count} {state}' for state, count in counted.items())}")
    for failed in (c for c in made.checks if c.state == "failed"):
        print(f"  {failed.number} {failed.name} failed: {describe_finding(failed)}")
    print(f"SHA256SUMS has the digest {made.sums_sha256}: print it where you announce the bundle.")
    print(f"Next: penmark verify {made.folder}", file=sys.stderr)
    return int(counted["failed"] > 0)


def _require_publishable(chosen: study.Edition) -> None:
    """Before anything is made: whether tables and page are those that are to be published, and by whom they are."""
    make_seals.check_unchanged(chosen)  # a page of tables that are not the sealed ones is not worth a look
    check_current(chosen)
    if not seal_files.is_by_our_rules(chosen):
        print(
            f"warning: this edition's evidence was sealed {seal_files.describe_rules(chosen)}: whoever verifies the "
            f"bundle with that "
            "release makes page and words again, and is told where these are others. Publish with that release.",
            file=sys.stderr,
        )


def _write_extract(bundle: Path, detector: str, out: Path, as_json: bool) -> None:
    made = make_extract(bundle, detector, out)
    if as_json:
        print(json.dumps({**vars(made), "folder": str(made.folder)}))
        return
    print(f"{made.folder}: an extract about {detector}: {made.readings} readings, {made.texts} texts")
    if made.kept_back:
        print(f"  {made.kept_back} published texts are left out: their authors did not name this vendor")
    print("It is not a bundle; its README.md says how to check it against the bundle.")
