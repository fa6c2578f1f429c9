"""Start a study, or a replication of somebody's bundle.

Writes study.yaml, a secret seed and editions/<tag>/protocol.yaml, full and commented; what you must decide stands
there as <...>. In a study whose newest edition is closed, --edition starts the next one. In any study, --card NAME writes
an example card of a detector, commented, to cards/NAME.yaml. Nothing is overwritten.
"""

from __future__ import annotations

import json
import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from penmark import study
from penmark.errors import UsageError
from penmark.stages import init
from penmark.stages.init import replicate


def run(
    ctx: typer.Context,
    folder: Annotated[Path | None, typer.Argument(help="The study's folder; made where it is not there.")] = None,
    template: Annotated[
        str | None, typer.Option("--template", help="humanflow (420 documents), or small (42).")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="The study's name; the folder's otherwise.")] = None,
    edition: Annotated[
        str | None, typer.Option("--edition", help="A tag like BENCH-2026-Q4; this quarter (UTC) otherwise.")
    ] = None,
    bundle: Annotated[
        Path | None, typer.Option("--from", metavar="BUNDLE", help="Replicate the study of this bundle.")
    ] = None,
    card: Annotated[
        str | None, typer.Option("--card", metavar="NAME", help="Write an example card into this study.")
    ] = None,
    arms: Annotated[str | None, typer.Option("--arms", help="Only these arms of the bundle: A,C.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> int:
    root = Path(ctx.obj) / (folder if folder is not None else Path())
    today = datetime.now(UTC).date()
    if card is not None:
        path = init.write_example_card(study.find_study(root), card, today)
        print(json.dumps({"wrote": [str(path)]}) if as_json else _told_card(path, card))
        return 0
    if arms is not None and bundle is None:
        raise UsageError(
            "--arms chooses from a bundle", remedy="Give --from BUNDLE too; else take arms out of protocol.yaml."
        )
    if template is not None and bundle is not None:
        raise UsageError(
            "--template and --from are two ways to start", remedy="Give one of them: a bundle brings its own protocol."
        )
    if folder is None:
        init.refuse_other_things(root)
    if bundle is not None:
        chosen = [arm.strip() for arm in arms.split(",")] if arms is not None else None
        made = replicate.start_replication(root, bundle=bundle, chosen=chosen, name=name, edition=edition, today=today)
    elif edition is not None and template is None and name is None and study.Study(root).marker.is_file():
        made = init.start_next_edition(study.find_study(root), edition, today)
    else:
        made = init.start_study(root, template=template or "humanflow", name=name, edition=edition, today=today)
    print(_as_json(made) if as_json else "\n".join(_describe_started(made)))
    return 0


def _told_card(path: Path, name: str) -> str:
    line = f"{{name: {name}, card: {name}, surface: web, tier: …, payer: …, relation: none}}"
    return f"wrote {path}\nFill in every <...>, and name it in protocol.yaml under detectors:\n  - {line}"


def _describe_started(made: init.Started) -> list[str]:
    lines = [f"wrote {path}" for path in made.wrote]
    for arm, missing in made.missing.items():
        shown = ", ".join(document for document, _ in missing[:10]) + (", …" if len(missing) > 10 else "")
        lines.append(
            f"missing in arm {arm}: {len(missing)} withheld texts ({shown}); see {made.study.arm(arm) / 'missing.csv'}"
        )
    lines += made.notes
    lines.append(f"Edition {made.edition.tag}. Fill in every <...> in {made.edition.protocol_yaml}.")
    here = made.study.root.resolve() == Path.cwd()
    lines.append(
        "Next: penmark status" if here else f"Next: cd {shlex.quote(str(made.study.root))}, and penmark status"
    )
    return lines


def _as_json(made: init.Started) -> str:
    value = {
        "study": str(made.study.root),
        "edition": made.edition.tag,
        "wrote": [str(path) for path in made.wrote],
        "missing": {arm: [{"id": i, "reason": why} for i, why in missing] for arm, missing in made.missing.items()},
        "notes": made.notes,
        "next": "penmark status",
    }
    return json.dumps(value, ensure_ascii=False, indent=1)
