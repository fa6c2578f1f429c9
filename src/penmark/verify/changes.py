"""Check 8, changes: CHANGES.md leaves out no amendment and no deviation, and README.md has no table but Table 1.

*Reads* CHANGES.md, amendments/, deviations.jsonl, README.md and tables/table1.csv. *Never* judges the words around them.
"""

from __future__ import annotations

import re
from pathlib import Path

from penmark import amendments, display, study
from penmark.errors import PenmarkError
from penmark.verify.found import Found

_LARGEST = 64 * 2**20
_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_MARKUP = re.compile(r"<[A-Za-z!/?]|^\s*(?:```|~~~)")
"""What a reader of Markdown takes for HTML, or for the fence of a block of code."""
_CODE = re.compile(r"`[^`]+`")
_GENERATED = "It is generated: publish again, and do not edit it."


def changes(edition: study.Edition, found: Found) -> None:
    """What every amendment and deviation says stands in CHANGES.md, white space folded, where it is seen; there are as many
    headings as these."""
    path = edition.root / "CHANGES.md"
    try:
        text = study.read(path, limit=2**26).decode("utf-8", "replace")
        told = {f"amendments/{a.number:04d}.json": a.what for a in amendments.announced([edition])}
        told |= {f"deviations.jsonl:{n}": d.what for n, d in enumerate(amendments.deviations(edition), 1)}
    except PenmarkError as error:
        found.error(error)
        return
    said = " ".join(_HIDDEN.sub("", text).split())
    for place, what in told.items():
        if " ".join(what.split()) not in said:
            found.failed("CHANGES.md", f"leaves out {place}", what, _GENERATED)
    heads = sum(line.startswith("## ") for line in text.split("\n"))
    if heads > len(told):
        expected = f"{len(told)}, one for each amendment and deviation"
        found.failed("CHANGES.md", f"tells {heads} changes", expected, _GENERATED)


def readme(root: Path, found: Found) -> None:
    """The one table of README.md is Table 1, and no markup stands around it that hides it or makes another."""
    if not (root / "README.md").exists():
        return  # check 1 says whether it should be there
    try:
        readme = study.read(root / "README.md", limit=_LARGEST).decode("utf-8", errors="replace")
        expected = display.markdown_table1(study.read(root / "tables" / "table1.csv"))
    except PenmarkError as error:
        found.error(error)
        return
    except (ValueError, ArithmeticError, KeyError) as error:
        found.failed(
            "tables/table1.csv", f"cannot be shown ({error})", "the table of the format", "Get the bundle again."
        )
        return
    lines = readme.split("\n")
    got = [(number, line) for number, line in enumerate(lines, 1) if line.startswith("|")]
    wanted = expected.split("\n")
    for (number, line), right in zip(got, wanted, strict=False):
        found.equal(f"README.md:{number}", line, right, "The table is generated: publish again, and do not edit it.")
    if len(got) != len(wanted):
        found.failed("README.md", f"a table of {len(got)} lines", f"Table 1, {len(wanted)} lines", "Publish again.")
    held = {number for number, _ in got}
    for number, line in enumerate(lines, 1):
        plain = _CODE.sub("", line)
        if number > 1 and number not in held and (_MARKUP.search(plain) or "|" in plain):  # the first is the title
            remedy = "Publish again, and do not edit it."
            found.failed(f"README.md:{number}", line, "no table but Table 1, and no HTML or fence around it", remedy)
