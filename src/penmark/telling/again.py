"""Check 8, again: page, README, CHANGES and catalogues follow from the rest of a bundle, so they are made once more.

What this release made must be the same bytes; of another release's work it says that it was not checked.
*Reads* a bundle whose files may be opened. *Writes* nothing. *Never*: a network, a subprocess, a plugin; a judgement over
files that an earlier check could not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from penmark import display, protocol, seals, study, tokens, verify
from penmark.errors import UsageError, installing
from penmark.records import Check
from penmark.telling import describe
from penmark.verify import differing
from penmark.verify.found import Found
from penmark.verify.pages import LARGEST

PAGE = "report/index.html"
WORDS = ("README.md", "CHANGES.md", "LICENSE", "CITATION.cff", "datapackage.json", "croissant.json")
MAYBE = ("tables/units.csv", "tables/warnings.csv")
"""Tables that a page has where they are there; all others it must have, and reads itself."""
_TOLD_FROM = (7,)
"""The check of what page and words are made from: of a table that is not what follows they can be made, at any length."""
_AGAIN = "Get the bundle again from where it was published."
_REMEDY = (
    "It follows from the other files alone: make it again with `penmark report` and `penmark publish` of the release that sealed "
    "the evidence, and do not edit it."
)


def check(root: Path, trust: tokens.Trust) -> list[Check]:
    """Every finding of the eight checks of the bundle in ``root``, by number, with what this release makes again."""
    return verify.check(root, trust, further=again)


def again(edition: study.Edition, found: list[Found]) -> None:
    """Make page and words again, and hold those in the bundle to them. ``found``: what the eight checks found so far."""
    eight = found[7]
    if not seals.by_our_rules(edition):
        why = f"they were made {seals.describe_rules(edition)}"
        eight.not_checked("page and words, made again", why, "Verify with the release that the evidence seal names.")
        return
    before = [one.number for one in found if not one.clean]
    if broken := [number for number in before if number in _TOLD_FROM]:
        why = f"cannot be held to tables that do not follow from the rest: see check {broken[0]}"
        eight.not_checked("page and words, made again", why, _AGAIN)
        return
    same = []
    for path, made in (_page(edition, before, eight) | _words(edition, before, eight)).items():
        if (edition.root / path).is_file():  # check 1 says where it is missing
            same.append(_same(path, study.read(edition.root / path, limit=LARGEST), made, eight))
    if same and all(same):
        eight.ok(
            "page and words, made again", f"{len(same)} files, byte for byte what this release makes of the others"
        )


def _page(edition: study.Edition, before: list[int], eight: Found) -> dict[str, bytes]:
    def made() -> dict[str, bytes]:
        from penmark.report import page

        there = (path for path in MAYBE if (edition.root / path).is_file())
        return {PAGE: page(edition, {path: study.read(edition.root / path) for path in there})}

    try:
        return _made([PAGE], made, before, eight)
    except (UsageError, ImportError):  # jinja2, or what it brings along
        eight.not_checked(PAGE, "to make it again needs jinja2, which is not installed", installing("report"))
        return {}


def _words(edition: study.Edition, before: list[int], eight: Found) -> dict[str, bytes]:
    def made() -> dict[str, bytes]:
        withheld = display.Sources(lambda path: study.read(edition.root / path)).table("tables/documents.csv")
        gone = edition.root / "withdrawn.jsonl"
        return describe.described(
            edition,
            protocol.read_sealed(edition),
            edition.root,
            withheld=withheld.filter(withheld["withheld"] != "").height,
            withdrawn=sum(1 for _ in study.lines(gone)) if gone.is_file() else 0,
        )

    return _made(WORDS, made, before, eight)


def _made(
    paths: Iterable[str], make: Callable[[], dict[str, bytes]], before: list[int], eight: Found
) -> dict[str, bytes]:
    """What ``make`` makes; nothing where that fails, and a check before says why."""
    try:
        return make()
    except (KeyboardInterrupt, SystemExit, UsageError, ImportError):
        raise
    except BaseException:  # of a damaged bundle; polars' own panics are no Exception
        if not before:
            raise
        why = f"cannot be made again from what is here: see check {before[0]}"
        eight.not_checked(", ".join(paths), why, _AGAIN)
        return {}


def _same(path: str, got: bytes, expected: bytes, eight: Found) -> bool:
    """Whether both are the same; a failure with the first line that differs, from near the first character that does."""
    if got == expected:
        return True
    eight.failed(*differing.first(path, got, expected), _REMEDY)
    return False
