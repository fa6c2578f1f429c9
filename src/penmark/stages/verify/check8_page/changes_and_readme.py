"""Check 8, changes: CHANGES.md leaves out no amendment and no deviation, and README.md has no table but Table 1.

*Reads* CHANGES.md, earlier/, amendments/, deviations.jsonl, README.md and tables/table1.csv.
*Never* judges the words around them.
"""

from __future__ import annotations

import re
from pathlib import Path

from penmark import study
from penmark.errors import PenmarkError
from penmark.format import show_figures
from penmark.protocol import amendments
from penmark.stages.verify.check_findings import Findings

_LARGEST = 64 * 2**20
_MARKUP = re.compile(r"<[A-Za-z!/?]|^\s*(?:```|~~~)|^ {0,3}\[[^\]]*\]:")
"""What a reader of Markdown takes for HTML, for the fence of a block of code, or for an address that is not shown."""
_RULE = re.compile(r"\||^\s*:?-+:?\s*$")
"""What makes a table in README.md."""
_HEAD = re.compile(r" {0,3}#{1,6}(\s|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)\s*")
"""What makes a head of the words above it."""
_AMENDED = re.compile(r"Binds \S+ and later editions\. (.*)")
_CODE = re.compile(r"\\.|(?<!`)`(?!`)[^`]+`(?!`)")
"""What a backslash takes its meaning from, and spans of code; those between several backticks count for none."""
_GENERATED = "It is generated: publish again, and do not edit it."


def check_changes(edition: study.Edition, found: Findings) -> None:
    """What every amendment and deviation says stands in CHANGES.md as a line of its own, where it is seen; there are as many
    headings as these, and no markup that hides or adds one."""
    path = edition.root / "CHANGES.md"
    try:
        text = study.read_bytes(path, limit=2**26).decode("utf-8", "replace")
        told = {f"amendments/{a.number:04d}.json": a.what for a in amendments.announced([edition])}
        told |= {f"deviations.jsonl:{n}": d.what for n, d in enumerate(amendments.read_deviations(edition), 1)}
        differing = _list_differences(edition)
    except PenmarkError as error:
        found.error(error)
        return
    lines = text.split("\n")
    said = {line if (amended := _AMENDED.fullmatch(line)) is None else amended[1] for line in lines}
    for place, what in told.items():
        if show_figures.escape_markdown(what) not in said:
            found.failed("CHANGES.md", f"leaves out {place}", what, _GENERATED)
    for line in differing[1] if differing is not None else ():
        if line not in said:
            found.failed("CHANGES.md", "leaves out a difference from the promise before", line, _GENERATED)
    heads = sum(map(_is_head, lines, ["", *lines])) - 1  # but the title
    most = len(told) + (differing is not None)
    if heads > most:
        expected = f"{most}, one for each amendment and deviation, and for what differs from the promise before"
        found.failed("CHANGES.md", f"tells {heads} changes", expected, _GENERATED)
    for number, line in enumerate(lines, 1):
        if _MARKUP.search(_strip_code(line)):
            found.failed(f"CHANGES.md:{number}", line, "no HTML, fence or hidden address", _GENERATED)


def _list_differences(edition: study.Edition) -> tuple[tuple[str, str], list[str]] | None:
    """The lines about the promise before; none where one of the two cannot be read, which check 3 tells."""
    try:
        return amendments.differing(edition, amendments.announced([edition]))
    except PenmarkError:
        return ("", ""), []


def _is_head(line: str, above: str) -> bool:
    return _HEAD.match(line) is not None or (above.strip() != "" and _UNDERLINE.fullmatch(line) is not None)


def _strip_code(line: str) -> str:
    """A line without its code spans, and without what a backslash takes its meaning from."""
    return _CODE.sub("", line)


def check_readme(root: Path, found: Findings) -> None:
    """The one table of README.md is Table 1, and no markup stands around it that hides it or makes another."""
    if not (root / "README.md").exists():
        return  # check 1 says whether it should be there
    try:
        readme = study.read_bytes(root / "README.md", limit=_LARGEST).decode("utf-8", errors="replace")
        expected = show_figures.render_markdown_table1(study.read_bytes(root / "tables" / "table1.csv"))
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
        plain = _strip_code(line)
        made = _RULE.search(plain) if number > 1 else None  # the first is the title
        joined = number + 1 in held and line.strip() != ""
        if number not in held and (_MARKUP.search(plain) or made or joined):
            expected = "no table but Table 1, an empty line before it, and no HTML or fence around it"
            found.failed(f"README.md:{number}", line, expected, _GENERATED)
