"""Check 8, again: page, README, CHANGES and catalogues follow from the rest of a bundle, so they are made once more.

What this release made must be the same bytes; of another release's work it says that it was not checked.
*Reads* a bundle whose files may be opened. *Writes* nothing. *Never*: a network, a subprocess, a plugin; a judgement over
files that an earlier check could not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from penmark import protocol, study, timestamps
from penmark.errors import UsageError, describe_install
from penmark.format import show_figures
from penmark.page import descriptions
from penmark.records import Check
from penmark.stages import verify
from penmark.stages.verify import first_difference
from penmark.stages.verify.check8_page import LARGEST
from penmark.stages.verify.check_findings import Findings
from penmark.study import seal_files

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


def check_and_remake(root: Path, trust: timestamps.Trust) -> list[Check]:
    """Every finding of the eight checks of the bundle in ``root``, by number, with what this release makes again."""
    return verify.verify_bundle(root, trust, further=check_remade)


def check_remade(edition: study.Edition, found: list[Findings]) -> None:
    """Make page and words again, and hold those in the bundle to them. ``found``: what the eight checks found so far."""
    eight = found[7]
    if not seal_files.is_by_our_rules(edition):
        why = f"they were made {seal_files.describe_rules(edition)}"
        eight.not_checked("page and words, made again", why, "Verify with the release that the evidence seal names.")
        return
    before = [one.number for one in found if not one.clean]
    if broken := [number for number in before if number in _TOLD_FROM]:
        why = f"cannot be held to tables that do not follow from the rest: see check {broken[0]}"
        eight.not_checked("page and words, made again", why, _AGAIN)
        return
    same = []
    for path, made in (_remake_page(edition, before, eight) | _remake_words(edition, before, eight)).items():
        if (edition.root / path).is_file():  # check 1 says where it is missing
            same.append(_check_same_bytes(path, study.read_bytes(edition.root / path, limit=LARGEST), made, eight))
    if same and all(same):
        eight.ok(
            "page and words, made again", f"{len(same)} files, byte for byte what this release makes of the others"
        )


def _remake_page(edition: study.Edition, before: list[int], eight: Findings) -> dict[str, bytes]:
    def made() -> dict[str, bytes]:
        from penmark.page import render_page

        there = (path for path in MAYBE if (edition.root / path).is_file())
        return {PAGE: render_page(edition, {path: study.read_bytes(edition.root / path) for path in there})}

    try:
        return _try_remake([PAGE], made, before, eight)
    except (UsageError, ImportError):  # jinja2, or what it brings along
        eight.not_checked(PAGE, "to make it again needs jinja2, which is not installed", describe_install("report"))
        return {}


def _remake_words(edition: study.Edition, before: list[int], eight: Findings) -> dict[str, bytes]:
    def made() -> dict[str, bytes]:
        withheld = show_figures.Sources(lambda path: study.read_bytes(edition.root / path)).table(
            "tables/documents.csv"
        )
        gone = edition.root / "withdrawn.jsonl"
        return descriptions.make_descriptions(
            edition,
            protocol.read_sealed(edition),
            edition.root,
            withheld=withheld.filter(withheld["withheld"] != "").height,
            withdrawn=sum(1 for _ in study.read_lines(gone)) if gone.is_file() else 0,
        )

    return _try_remake(WORDS, made, before, eight)


def _try_remake(
    paths: Iterable[str], make: Callable[[], dict[str, bytes]], before: list[int], eight: Findings
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


def _check_same_bytes(path: str, got: bytes, expected: bytes, eight: Findings) -> bool:
    """Whether both are the same; a failure with the first line that differs, from near the first character that does."""
    if got == expected:
        return True
    eight.failed(*first_difference.find_first_difference(path, got, expected), _REMEDY)
    return False
