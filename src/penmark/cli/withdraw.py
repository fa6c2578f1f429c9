"""Take a volunteer's text out: text and salt are destroyed wherever the study holds them, and a tombstone stays.

What was answered about it stays in sealed journals and tables, under a keyed fingerprint that without its salt says
nothing. What cannot be reached is named: copies, published bundles, the history of git. Publish the bundles of the
editions that held it again, and replace the old ones: they then say that the text was withdrawn, and still verify.
Exit code 1 where a file of the study still holds something of it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from penmark import study, timestamps
from penmark.stages import withdraw


def run(
    ctx: typer.Context,
    document: Annotated[str, typer.Argument(metavar="ID", help="The document's id.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> int:
    place = study.find_study(Path(ctx.obj))
    done = withdraw.withdraw_text(place, document, now=timestamps.format_time_now())
    holding = [trace for trace in done.left if trace.holds != "a digest of the text"]
    if as_json:
        value = done._asdict() | {"left": [trace._asdict() for trace in done.left]}
        print(json.dumps(value, ensure_ascii=False, indent=1))
        return 1 if holding else 0
    print(f"{done.document} of the arm {done.arm} is withdrawn since {done.at}")
    for path in done.changed:
        print(f"  changed or removed: {path}")
    for path, holds in done.left:
        print(f"  still there: {path} holds {holds}")
    print("Out of reach:")
    for told in done.beyond:
        print(f"  {told}")
    for tag in done.editions:
        print(f"Next: remove the old bundle of {tag}, `penmark publish --edition {tag}`, and replace what is public.")
    if not done.editions:
        print(f"Next: penmark collect {done.arm}, for another text in its place")
    return 1 if holding else 0
