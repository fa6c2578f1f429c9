"""Check a bundle, in eight numbered checks; all run always.

Without BUNDLE, that of the current folder. Exit code 1 when a check failed, 2 where there is no bundle. What cannot be
known here is "not checked", and counted in the last line; for the timestamps, --trust names whose word counts.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from penmark import study, timestamps
from penmark.format import versions
from penmark.records import Check
from penmark.stages.verify import find_bundle
from penmark.stages.verify.check8_page.remake import check_and_remake

_MARK = {"ok": "ok", "failed": "FAILED", "not checked": "not checked", "not applicable": "not applicable"}


def run(
    ctx: typer.Context,
    bundle: Annotated[Path | None, typer.Argument(help="The folder of the bundle.", show_default=False)] = None,
    trust: Annotated[
        list[Path] | None, typer.Option("--trust", help="Root certificates (PEM) of authorities that you trust.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print every finding as JSON.")] = False,
) -> int:
    folder = Path(ctx.obj) / (bundle if bundle is not None else Path())
    study.refuse_extract(folder)
    find_bundle.refuse_no_bundle(folder)
    versions.refuse_newer(folder)
    found = check_and_remake(folder, timestamps.Trust.load(trust or []))
    ok = all(c.state != "failed" for c in found)
    if as_json:
        print(json.dumps({"ok": ok, "checks": [c.model_dump() for c in found]}, indent=1))
    else:
        for line in render_checks(found):
            print(line)
    return 0 if ok else 1


def render_checks(found: list[Check]) -> list[str]:
    """The findings as lines for people; the last line counts them."""
    lines = []
    for c in found:
        lines.append(
            f"{c.number} {c.name:<13} {_MARK[c.state]:<12} {c.subject}" + (f": {c.got}" if c.got is not None else "")
        )
        if c.state == "failed":
            if c.expected is not None:
                lines.append(f"    expected {c.expected}")
            if c.remedy is not None:
                lines.append(f"    {c.remedy}")
    count = {state: sum(c.state == state for c in found) for state in _MARK}
    verdict = "FAILED" if count["failed"] else "nothing failed"
    lines.append(f"{verdict}: {count['ok']} ok, {count['failed']} failed, {count['not checked']} not checked")
    return lines
